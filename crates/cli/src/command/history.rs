//! `scopeagent history`: the runs of a recurring job.

use report::Language;
use runs::store::StoreError;
use server::Result;

use super::runs::open;
use crate::args::{Format, History};
use crate::config::Config;
use crate::exit::Exit;
use crate::pipeline::Gate;
use crate::render;
use crate::terminal::Terminal;

pub(crate) fn run(args: &History, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let store = open(config)?;
    let language: Language = config.language.unwrap_or(report::interface());
    let mut history = match store.history(&args.job, &|_| true, language) {
        Err(StoreError::UnknownRun(_)) => {
            let run = super::runs::find(&store, &args.job)?.run_id;
            store.history(&run, &|_| true, language)?
        }
        history => history?,
    };
    let mut gate = Gate::default();
    if let Some(newest) = history.runs.last() {
        let report = super::runs::report(&store, &newest.run_id)?;
        gate.check(&args.gate, &report, Some(&history));
    }
    history
        .runs
        .drain(..history.runs.len().saturating_sub(args.limit));
    terminal.out(&args.target).write(&match args.format {
        Format::Json => super::json(&history)?,
        Format::Text => render::history::text(&history, language, render::layout::stdout_width()),
    })?;
    gate.finish(&args.gate, terminal)
}
