//! `scopeagent compare`: the changes between two runs.

use std::path::Path;

use runs::compare::{self, ComparedRun};
use server::{Error, ErrorKind, Result, Session};

use crate::args::{Compare, ReportFormat};
use crate::config::Config;
use crate::exit::Exit;
use crate::render;
use crate::session;
use crate::sources;
use crate::terminal::Terminal;

pub(crate) fn run(args: &Compare, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let session = session::open(config, terminal, &runtime)?;
    let (a, b) = (
        run_of(&session, config, &args.a)?,
        run_of(&session, config, &args.b)?,
    );
    let language = config.language.unwrap_or(a.report.language);
    let comparison = compare::compare(&a, &b, language);
    let columns = render::layout::stdout_width();
    terminal
        .out(&args.target)
        .write(&match ReportFormat::of(args.format, &args.target) {
            ReportFormat::Json => super::json(&comparison)?,
            ReportFormat::Markdown => render::comparison::markdown(&comparison, args.all),
            ReportFormat::Html => render::comparison::page(&comparison, args.all)
                .map_err(|e| Error::from_source(ErrorKind::Other, &e))?,
            ReportFormat::Text => render::comparison::text(&comparison, columns, args.all),
        })?;
    Ok(Exit::Success)
}

/// A run by its id, or a job, wherever it is.
fn run_of(session: &Session, config: &Config, name: &str) -> Result<ComparedRun> {
    let Some(opened) = sources::open(Path::new(name))? else {
        if Path::new(name).exists() {
            return session.compared_run(name);
        }
        let row = super::runs::find(&super::runs::open(config)?, name)?;
        return session.compared_run(&row.run_id);
    };
    let mut run = session.compared_run(&opened.path.to_string_lossy())?;
    if let Some(origin) = opened.origin {
        run.report.job.path = origin;
    }
    Ok(run)
}
