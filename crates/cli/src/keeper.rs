//! Analyses from their arguments to the run that is kept: one open store for any number of runs. A store that fails costs a run
//! its place there, not the user his answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use agent::{Observer, Request};
use runs::feedback::Preferences;
use runs::store::{FILE_NAME, OpenRun, Store, StoreError};

use crate::analysis::{self, Analyst, Made};
use crate::args::Analyze;
use crate::config::{self, Config};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::reasoners::{Asked, Reasoners};
use crate::terminal::Terminal;

/// The open run store, or none where runs are not kept.
pub(crate) struct Keeper<'a> {
    store: Option<Mutex<Store>>,
    keeps: bool,
    terminal: &'a Terminal,
}

impl<'a> Keeper<'a> {
    /// Opens the store. With `keeps` off, runs leave no trace, but what feedback has taught is
    /// still read where there is a store.
    pub(crate) fn open(config: &Config, keeps: bool, terminal: &'a Terminal) -> Keeper<'a> {
        let wanted = keeps || config::data_folder(config).join(FILE_NAME).is_file();
        let opened = wanted.then(|| open(config)).transpose();
        let store = opened.unwrap_or_else(|error| {
            if keeps {
                terminal.remark(&format!("the run is not kept: {error}"));
            }
            None
        });
        Keeper {
            store: store.map(Mutex::new),
            keeps,
            terminal,
        }
    }

    /// What all feedback has taught so far.
    pub(crate) fn learnt(&self) -> Preferences {
        let rows = self.store().map(|store| store.feedback());
        match rows.transpose() {
            Ok(rows) => Preferences::learn(&rows.unwrap_or_default(), jiff::Timestamp::now()),
            Err(error) => {
                self.terminal
                    .remark(&format!("feedback is left out of account: {error}"));
                Preferences::default()
            }
        }
    }

    /// Notes that a run begins; `None` where it is not kept.
    pub(crate) fn begin(&self, request: &Request) -> Option<OpenRun> {
        let store = self.store().filter(|_| self.keeps)?;
        // Whoever looks at the run later stands in another folder.
        let job = std::path::absolute(&request.job).unwrap_or_else(|_| request.job.clone());
        let job = job.display().to_string();
        let begun = store.begin(
            request.run_id.as_deref()?,
            &job,
            request.question.as_deref(),
            request.report_language(),
        );
        self.said(begun)
    }

    /// Notes how a run ended.
    pub(crate) fn finish(&self, run: Option<OpenRun>, made: &Result<Made>) {
        let (Some(run), Some(mut store)) = (run, self.store()) else {
            return;
        };
        let noted = match made {
            Ok(made) => store.finish(run, &made.report, &made.picture, &made.shape),
            Err(error) => store.fail(run, &error.to_string()),
        };
        self.said(noted);
    }

    /// The store; a thread that panicked while it held it left at most an open transaction behind,
    /// which SQLite rolls back.
    pub(crate) fn store(&self) -> Option<MutexGuard<'_, Store>> {
        let store = self.store.as_ref()?;
        Some(store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn said<T>(&self, outcome: std::result::Result<T, StoreError>) -> Option<T> {
        outcome
            .map_err(|error| {
                self.terminal
                    .remark(&format!("the run is not kept: {error}"));
            })
            .ok()
    }
}

/// One analysis from its arguments to the run that is kept. Every front that analyses a job goes
/// through here; `open` gives the analyst with what feedback has taught.
pub(crate) fn kept(
    args: &Analyze,
    config: &Config,
    keeper: &Keeper<'_>,
    open: impl FnOnce(Preferences) -> Result<Analyst>,
    observer: &mut dyn Observer,
) -> Result<Made> {
    let request = analysis::request(&args.job, &args.thinking, config);
    let run = keeper.begin(&request);
    let made = make(args, config, &request, keeper, open, observer);
    keeper.finish(run, &made);
    made
}

fn make(
    args: &Analyze,
    config: &Config,
    request: &Request,
    keeper: &Keeper<'_>,
    open: impl FnOnce(Preferences) -> Result<Analyst>,
    observer: &mut dyn Observer,
) -> Result<Made> {
    let reasoners = Reasoners::choose(&Asked::from(args), config)?;
    keeper.terminal.remark(&reasoners.said);
    let (transcript, replay) = (reasoners.transcript.clone(), reasoners.replay.clone());
    let analyst = open(keeper.learnt())?;
    let mut made = analyst.analyze(request, reasoners, observer)?;
    if let Some(replay) = replay {
        replay.restore(&mut made.report);
    }
    if let Some(Err(error)) = transcript.map(|t| t.finish(&made.report)) {
        keeper
            .terminal
            .remark(&format!("the transcript is not complete: {error}"));
    }
    Ok(made)
}

/// Opens the run store of the configured data folder.
pub(crate) fn open(config: &Config) -> Result<Store> {
    Store::open(&config::data_folder(config)).map_err(error)
}

/// A failure of the store as the user sees it.
pub(crate) fn error(error: StoreError) -> CliError {
    let hint = error.hint();
    CliError::from_source(Exit::Input, &error).hint(hint)
}
