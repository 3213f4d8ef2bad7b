//! Resources of every batch command: the store, the identity of the program, and the analyst.

use std::sync::Arc;

use agent::Silent;
use batch::{Attempt, Batch, Blame, Entry, Opened, Store};
use server::{ErrorKind, Mode, ReasonerChoice, Result, Task};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::program::program;
use crate::args::{Engine, Thinking};
use crate::config::Config;
use crate::session;
use crate::sources::{explained, sources};
use crate::terminal::Terminal;
use crate::worker::{Pool, Unanswered};

/// A batch that can be run, until Ctrl-C cancels it.
pub(super) struct Session {
    pub(super) runtime: Runtime,
    pub(super) batch: Batch,
    pub(super) cancel: CancellationToken,
}

/// The workers of a machine that analyzes.
pub(super) fn pool(engine: &Engine, terminal: &Terminal) -> Pool {
    Pool::new(engine.budget(), terminal).at_most(usize::from(engine.workers))
}

/// Opens a store for analyses, also of jobs on these History Servers.
pub(super) fn open(
    store: &str,
    servers: &[String],
    thinking: &Thinking,
    pool: Pool,
    config: &Config,
    terminal: &Terminal,
) -> Result<Session> {
    let runtime = session::runtime()?;
    let session = session::open_resident(config, terminal, &runtime)?;
    session.index()?;
    let reasoner = reasoner(thinking);
    let announced = session.check_reasoner(&reasoner)?;
    let knowledge = session::knowledge(config)?;
    let sources = sources(servers.iter().map(String::as_str));
    let store = Store::open(sources.access(), store).map_err(explained)?;
    let cancel = CancellationToken::new();
    session::cancel_on_interrupt(runtime.handle(), cancel.clone());
    pool.was_shown(announced.clone());
    let batch = Batch {
        store,
        sources,
        program: program(config, thinking, &knowledge, &announced),
        analyze: Arc::new(analyzer(pool, thinking, reasoner, &cancel)),
    };
    Ok(Session {
        runtime,
        batch,
        cancel,
    })
}

/// Asking an LLM about every job of a batch must be explicit: facts come first, then advice by cluster (`batch advise`).
fn reasoner(thinking: &Thinking) -> ReasonerChoice {
    let mut choice = session::reasoner(thinking);
    if choice.mode == Mode::Auto && choice.profile.is_none() {
        choice.mode = Mode::Offline;
    }
    choice
}

/// Analyzes a job in a worker process, which may die alone.
fn analyzer(
    pool: Pool,
    thinking: &Thinking,
    reasoner: ReasonerChoice,
    cancel: &CancellationToken,
) -> impl Fn(&Opened, &Entry) -> Attempt + Send + Sync + use<> {
    let template = session::request(Default::default(), thinking);
    let cancel = cancel.clone();
    move |opened, entry| {
        if cancel.is_cancelled() {
            return Attempt::Interrupted;
        }
        let task = Task {
            request: agent::Request {
                job: opened.path.clone(),
                origin: Some(entry.uri.clone()),
                links: opened.links.clone(),
                ..template.clone()
            },
            reasoner: reasoner.clone(),
            save: false,
            // results must not depend on who has which opinions
            learned: false,
            cancel: cancel.clone(),
        };
        match pool.ask(task, &mut Silent) {
            _ if cancel.is_cancelled() => Attempt::Interrupted,
            Ok(Ok(analysis)) if analysis.report.partial => Attempt::Interrupted,
            Ok(Ok(analysis)) => Attempt::Done(Box::new((analysis.report, analysis.summary))),
            Ok(Err(error)) => {
                let blame = match error.kind {
                    ErrorKind::Input => Blame::Job,
                    ErrorKind::Other => Blame::Crash,
                    ErrorKind::Llm | ErrorKind::Usage => Blame::Surroundings,
                };
                failed(&error, blame)
            }
            Err(unanswered) => {
                let blame = match unanswered {
                    Unanswered::Died(_) | Unanswered::Slow => Blame::Crash,
                    Unanswered::Cancelled | Unanswered::Unsent(_) => Blame::Surroundings,
                };
                failed(&pool.error(unanswered), blame)
            }
        }
    }
}

fn failed(error: &server::Error, blame: Blame) -> Attempt {
    Attempt::Failed {
        reason: llm::hide(&error.one_line()).into_owned(),
        blame,
    }
}
