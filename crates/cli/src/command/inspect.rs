//! `scopeagent inspect`: shows what a job folder holds, before anything is asked.

use std::path::Path;

use crate::args::{Format, Inspect};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::inspection::Inspection;
use crate::render;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Inspect, terminal: &Terminal) -> Result<Exit> {
    let progress = terminal.progress("reading");
    let inspection = inspection(&args.job, args.stage.as_deref());
    progress.finish();
    let inspection = inspection?;
    match args.format {
        Format::Json => terminal.print(&super::json(&inspection)?)?,
        Format::Text => {
            let columns = render::layout::terminal_width();
            terminal.print(&render::inspection::render(&inspection, columns))?;
        }
    }
    Ok(Exit::Success)
}

/// Reads a job folder; everything of it, or one stage.
pub(crate) fn inspection(job: &Path, stage: Option<&str>) -> Result<Inspection> {
    let job = job::load(job).map_err(|e| CliError::from_source(Exit::Input, &e).hint(e.hint()))?;
    let stage = stage.map(|name| stage_index(&job, name)).transpose()?;
    Ok(Inspection::of(&job, stage))
}

fn stage_index(job: &job::Job, name: &str) -> Result<usize> {
    job.stage_index(name).ok_or_else(|| {
        let names: Vec<&str> = job.stages.iter().map(|s| s.name.as_str()).collect();
        CliError::new(Exit::Usage, format!("the job has no stage `{name}`"))
            .hint(format!("its stages are {}", names.join(", ")))
    })
}
