//! The trait that both reasoners fill: a task of the chain in, a structured conclusion out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;

use crate::conclusion::Conclusion;
use crate::facts::StepInput;
use crate::progress::Observer;
use crate::prompts::Prompts;
use crate::step::StepId;
use llm::{ToolCalls, ToolRound};
use report::{Engine, ReasonerKind, Usage};

/// Task of a reasoner.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The step, or THINK 1–3 at once.
    pub steps: &'a [StepId],
    /// Everything that the step may look at.
    pub input: &'a StepInput,
    pub prompts: &'a Prompts,
    /// The answer that was found faulty, for one turn of repair.
    pub faulty: Option<&'a Faulty>,
    /// Tool results so far in this step; empty without calls.
    pub rounds: &'a [ToolRound],
    /// Counts the usage of the run, with or without a conclusion.
    pub meter: &'a Meter,
}

impl Task<'_> {
    /// The step that progress is reported under.
    pub fn step(&self) -> StepId {
        self.steps.first().copied().unwrap_or(StepId::Classify)
    }
}

#[derive(Debug, Default)]
pub struct Meter(Mutex<Metered>);

#[derive(Debug, Default)]
struct Metered {
    usage: Usage,
    /// Maximum cost of requests under way.
    reserved: f64,
}

impl Meter {
    fn lock(&self) -> MutexGuard<'_, Metered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, usage: &Usage) {
        self.lock().usage.add(usage);
    }

    pub fn total(&self) -> Usage {
        self.lock().usage.clone()
    }

    /// The spent and the reserved cost.
    pub(crate) fn committed(&self) -> f64 {
        let metered = self.lock();
        metered.usage.cost.unwrap_or(0.0) + metered.reserved
    }

    /// Sets an amount aside unless the run would cost more than `cap` with it.
    pub(crate) fn reserve(&self, amount: f64, cap: f64) -> Option<Reservation<'_>> {
        let mut metered = self.lock();
        let spent = metered.usage.cost.unwrap_or(0.0);
        let fits = spent + metered.reserved + amount <= cap;
        fits.then(|| {
            metered.reserved += amount;
            Reservation {
                meter: self,
                amount,
            }
        })
    }
}

/// An amount that is set aside until this is dropped.
pub(crate) struct Reservation<'a> {
    meter: &'a Meter,
    amount: f64,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.meter.lock().reserved -= self.amount;
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faulty {
    pub answer: String,
    pub faults: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// One conclusion per step of the task, in its order.
    pub conclusions: Vec<Conclusion>,
    /// The answer as written, for a turn of repair; empty offline.
    pub raw: String,
    /// Whether it had to be repaired to be read.
    pub repaired: bool,
    /// What it cost; `None` offline.
    pub usage: Option<Usage>,
    /// Remarks for the reader of the report on how it came about.
    pub remarks: Vec<String>,
    /// Calls of tools that it wants served before it concludes; the conclusion says the same.
    pub calls: Option<ToolCalls>,
}

/// Why a reasoner gave no conclusion, sorted by what to do next.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReasonerError {
    /// The server could not answer now; retries are used up.
    #[error("{provider} could not answer: {reason}")]
    Transient { provider: String, reason: String },
    #[error("{provider} refused the request: {reason}")]
    Permanent {
        provider: String,
        reason: String,
        hint: String,
    },
    #[error("the prompt is too long for {provider}: {reason}")]
    TooLong { provider: String, reason: String },
    #[error("the answer of {provider} cannot be used: {reason}")]
    Unusable { provider: String, reason: String },
    #[error(
        "the next call may cost {needed:.4}, and the run has used {spent:.4} of the {cap:.4} that it may cost"
    )]
    CostCap { spent: f64, needed: f64, cap: f64 },
    /// The budget that several runs share allows no further call.
    #[error("{0}")]
    Budget(String),
    #[error("the prompt cannot be made: {0}")]
    Prompt(String),
    #[error("interrupted")]
    Cancelled,
}

impl ReasonerError {
    pub fn hint(&self) -> &str {
        match self {
            ReasonerError::Permanent { hint, .. } => hint,
            ReasonerError::Transient { .. } => {
                "try again later, or choose another profile with --llm NAME"
            }
            ReasonerError::TooLong { .. } => {
                "choose a model with a larger context, or --depth quick"
            }
            ReasonerError::Unusable { .. } => {
                "choose a model that follows JSON schemas, or --reasoner offline"
            }
            ReasonerError::CostCap { .. } => "raise the cost cap, or use --depth quick",
            ReasonerError::Budget(_) => "raise --max-cost or --max-calls",
            ReasonerError::Prompt(_) => {
                "fix the template in the prompts folder, or remove it to use the built-in one"
            }
            ReasonerError::Cancelled => "",
        }
    }
}

/// Draws the conclusions of the steps.
pub trait Reasoner: Send + Sync {
    /// Who it is, for the report.
    fn engine(&self) -> Engine;

    /// Whether it asks a model, or shows the requests to a model: each call then costs.
    fn asks_model(&self) -> bool {
        self.engine().reasoner == ReasonerKind::Llm
    }

    fn reason<'a>(
        &'a self,
        task: Task<'a>,
        observer: &'a mut dyn Observer,
    ) -> BoxFuture<'a, Result<Answer, ReasonerError>>;
}
