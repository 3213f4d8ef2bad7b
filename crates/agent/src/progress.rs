//! Events of a running analysis for its caller: one per step, file or piece of text. The program
//! decides about their display.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::step::StepId;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event<'a> {
    JobOpened {
        files: usize,
    },
    FileRead {
        /// Name relative to the job folder.
        file: Cow<'a, str>,
        /// 0 for the core files, then the round of THINK 4.
        round: u32,
    },
    /// The rules ran over the files read so far.
    Diagnosed {
        findings: usize,
        missing: usize,
    },
    StepStarted {
        step: StepId,
        /// Its title in the report's language.
        title: Cow<'a, str>,
    },
    /// The LLM is thinking; its thoughts are no part of the answer.
    Thinking {
        step: StepId,
        /// The next piece of its thoughts.
        text: Cow<'a, str>,
    },
    /// The LLM wrote a piece of its answer.
    Token {
        step: StepId,
        text: Cow<'a, str>,
    },
    Retry {
        step: StepId,
        /// Which repetition, from 1.
        attempt: u32,
        reason: Cow<'a, str>,
        /// Milliseconds until it is sent.
        wait_ms: u64,
    },
    /// A substitute is used, e.g. another reasoner.
    Fallback {
        reason: Cow<'a, str>,
    },
    StepFinished {
        step: StepId,
        text: Cow<'a, str>,
        /// Milliseconds that it took.
        elapsed_ms: f64,
    },
}

pub trait Observer: Send {
    fn event(&mut self, event: Event<'_>);

    /// Whether anybody hears the events; if not, none needs to be passed on.
    fn is_heard(&self) -> bool {
        true
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _: Event<'_>) {}

    fn is_heard(&self) -> bool {
        false
    }
}

impl<F: FnMut(Event<'_>) + Send> Observer for F {
    fn event(&mut self, event: Event<'_>) {
        self(event);
    }
}
