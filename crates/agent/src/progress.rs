//! What a caller hears while an analysis runs: one event a step, file or piece of text.
//!
//! Nothing here prints; the program decides what to show and where.

use std::sync::Mutex;

use crate::step::StepId;

/// Something that happened during an analysis.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The folder was listed.
    JobOpened {
        /// Files in it.
        files: usize,
    },
    /// A file was read.
    FileRead {
        /// Name relative to the job folder.
        file: &'a str,
        /// 0 for the core files, then the round of THINK 4.
        round: u32,
    },
    /// The rules ran over what has been read.
    Diagnosed {
        /// Findings so far.
        findings: usize,
        /// Pieces of information still missing.
        missing: usize,
    },
    /// A THINK step begins.
    StepStarted {
        /// Which one.
        step: StepId,
        /// Its title in the report's language.
        title: &'a str,
    },
    /// The LLM is thinking; its thoughts are no part of the answer.
    Thinking {
        /// The step.
        step: StepId,
        /// The next piece of its thoughts.
        text: &'a str,
    },
    /// The LLM wrote a piece of its answer.
    Token {
        /// The step.
        step: StepId,
        /// The piece.
        text: &'a str,
    },
    /// A request is repeated.
    Retry {
        /// The step.
        step: StepId,
        /// Which repetition, from 1.
        attempt: u32,
        /// Why, in words.
        reason: &'a str,
        /// Milliseconds until it is sent.
        wait_ms: u64,
    },
    /// Something is used instead of what was asked for.
    Fallback {
        /// What and why.
        reason: &'a str,
    },
    /// A THINK step is over.
    StepFinished {
        /// Which one.
        step: StepId,
        /// Its conclusion in words.
        text: &'a str,
        /// Milliseconds that it took.
        elapsed_ms: f64,
    },
}

/// Listens to an analysis.
pub trait Observer: Send {
    /// Takes the next event.
    fn event(&mut self, event: Event<'_>);
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _: Event<'_>) {}
}

impl<F: FnMut(Event<'_>) + Send> Observer for F {
    fn event(&mut self, event: Event<'_>) {
        self(event);
    }
}

/// One observer for steps that run side by side.
pub(crate) struct Shared<'a>(Mutex<&'a mut dyn Observer>);

impl<'a> Shared<'a> {
    pub(crate) fn new(observer: &'a mut dyn Observer) -> Shared<'a> {
        Shared(Mutex::new(observer))
    }

    /// The ear of one step.
    pub(crate) fn ear(&self) -> Ear<'_, 'a> {
        Ear(self)
    }
}

/// Tells a shared observer.
pub(crate) struct Ear<'s, 'a>(&'s Shared<'a>);

impl Observer for Ear<'_, '_> {
    fn event(&mut self, event: Event<'_>) {
        if let Ok(mut observer) = self.0.0.lock() {
            observer.event(event);
        }
    }
}
