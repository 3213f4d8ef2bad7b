//! `scopeagent runs`: the runs that were kept.

use report::Report;
use runs::store::{RunFilter, RunRow, Store};

use crate::args::{Format, Runs};
use crate::config::Config;
use crate::error::{CliError, Result};
use crate::exit::Exit;
pub(crate) use crate::keeper::{error, open};
use crate::render;
use crate::render::layout::shorten;
use crate::render::table::{Align, Table};
use crate::terminal::Terminal;

/// Characters of a job's name in the list.
const NAME: usize = 36;

/// Runs the command.
pub(crate) fn run(args: &Runs, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let store = open(config)?;
    match args {
        Runs::List { job, limit, format } => {
            let filter = RunFilter {
                job: job.clone(),
                limit: Some(*limit),
            };
            let rows = store.runs(&filter).map_err(error)?;
            terminal.print(&match format {
                Format::Json => super::json(&rows)?,
                Format::Text => list(&rows),
            })?;
        }
        Runs::Show {
            run,
            format,
            verbose,
        } => {
            let report = stored_report(&store, run)?;
            let picture = store.picture(run).map_err(error)?.unwrap_or_default();
            terminal.print(&render::report(&report, &picture, *format, *verbose)?)?;
        }
        Runs::Delete { run } => {
            let row = store.delete(run).map_err(error)?;
            terminal.remark(&format!("deleted run {} of {}", row.run_id, row.job));
        }
        Runs::Export { run } => match run {
            Some(run) => terminal.print(&super::json(&stored_report(&store, run)?)?)?,
            None => export_all(&store, terminal)?,
        },
    }
    Ok(Exit::Success)
}

/// The report of a run that has one.
pub(crate) fn stored_report(store: &Store, run: &str) -> Result<Report> {
    store.report(run).map_err(error)?.ok_or_else(|| {
        CliError::new(
            Exit::Input,
            format!("run `{run}` has no report: it failed or was interrupted"),
        )
        .hint("`scopeagent runs list` shows how each run ended; analyze the job again")
    })
}

/// One line of JSON a run, the oldest first.
fn export_all(store: &Store, terminal: &Terminal) -> Result<()> {
    let rows = store.runs(&RunFilter::default()).map_err(error)?;
    for row in rows.iter().rev() {
        if let Some(report) = store.report(&row.run_id).map_err(error)? {
            let line = serde_json::to_string(&report)
                .map_err(|e| CliError::from_source(Exit::Failure, &e))?;
            terminal.print(&(line + "\n"))?;
        }
    }
    Ok(())
}

fn list(rows: &[RunRow]) -> String {
    if rows.is_empty() {
        return "no run is kept yet; `scopeagent analyze JOB` makes one\n".to_owned();
    }
    let mut table = Table::new(&[
        ("run", Align::Left),
        ("when (UTC)", Align::Left),
        ("job", Align::Left),
        ("status", Align::Left),
        ("verdict", Align::Left),
        ("top cause", Align::Left),
    ]);
    for row in rows {
        let name = row.job_name.as_deref().unwrap_or(&row.job);
        table.row(vec![
            row.run_id.clone(),
            row.created_at
                .get(..19)
                .unwrap_or(&row.created_at)
                .replace('T', " "),
            shorten(name, NAME),
            format!("{:?}", row.status).to_lowercase(),
            row.verdict.clone().unwrap_or_default(),
            row.top_cause.clone().unwrap_or_default(),
        ]);
    }
    table.render("")
}
