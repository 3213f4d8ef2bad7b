//! What the program and its workers say to each other: one JSON object per line.

use agent::{Event, Request, StepId};
use serde::{Deserialize, Serialize};
use server::{Analysis, Error, ReasonerChoice};

/// To a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    Analyze(Box<Job>),
    /// Ends the analysis early, with a partial report.
    Cancel,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) reasoner: ReasonerChoice,
    pub(super) save: bool,
    pub(super) learned: bool,
}

/// From a worker.
#[derive(Serialize, Deserialize)]
pub(super) enum Reply {
    Remark(String),
    Warning(String),
    /// A key that a command printed: nothing that the program writes may show it either.
    Secret(String),
    Event(Told),
    Done(Box<Result<Analysis, Error>>),
}

/// An [`Event`] that owns its texts. Pieces of thoughts and answers are not sent: nobody shows them.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Told {
    JobOpened {
        files: usize,
    },
    FileRead {
        file: String,
        round: u32,
    },
    Diagnosed {
        findings: usize,
        missing: usize,
    },
    StepStarted {
        step: StepId,
        title: String,
    },
    StepFinished {
        step: StepId,
        text: String,
        elapsed_ms: f64,
    },
    Retry {
        step: StepId,
        attempt: u32,
        reason: String,
        wait_ms: u64,
    },
    Fallback {
        reason: String,
    },
}

impl Told {
    pub(super) fn of(event: Event<'_>) -> Option<Told> {
        Some(match event {
            Event::JobOpened { files } => Told::JobOpened { files },
            Event::FileRead { file, round } => Told::FileRead {
                file: file.to_owned(),
                round,
            },
            Event::Diagnosed { findings, missing } => Told::Diagnosed { findings, missing },
            Event::StepStarted { step, title } => Told::StepStarted {
                step,
                title: title.to_owned(),
            },
            Event::StepFinished {
                step,
                text,
                elapsed_ms,
            } => Told::StepFinished {
                step,
                text: text.to_owned(),
                elapsed_ms,
            },
            Event::Retry {
                step,
                attempt,
                reason,
                wait_ms,
            } => Told::Retry {
                step,
                attempt,
                reason: reason.to_owned(),
                wait_ms,
            },
            Event::Fallback { reason } => Told::Fallback {
                reason: reason.to_owned(),
            },
            Event::Thinking { .. } | Event::Token { .. } => return None,
        })
    }

    pub(super) fn event(&self) -> Event<'_> {
        match self {
            Told::JobOpened { files } => Event::JobOpened { files: *files },
            Told::FileRead { file, round } => Event::FileRead {
                file,
                round: *round,
            },
            Told::Diagnosed { findings, missing } => Event::Diagnosed {
                findings: *findings,
                missing: *missing,
            },
            Told::StepStarted { step, title } => Event::StepStarted { step: *step, title },
            Told::StepFinished {
                step,
                text,
                elapsed_ms,
            } => Event::StepFinished {
                step: *step,
                text,
                elapsed_ms: *elapsed_ms,
            },
            Told::Retry {
                step,
                attempt,
                reason,
                wait_ms,
            } => Event::Retry {
                step: *step,
                attempt: *attempt,
                reason,
                wait_ms: *wait_ms,
            },
            Told::Fallback { reason } => Event::Fallback { reason },
        }
    }
}
