//! The offline reasoner: fills the conclusions of the steps from findings, facts and experience.
//!
//! It draws no conclusion beyond the rules'; it adds order, wording and matching experience. Needs no network and always gives
//! the same answer to the same facts.

mod advice;
mod conditions;
mod hypotheses;
mod limits;
mod steps;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::conclusion::Conclusion;
use crate::facts::StepInput;
use crate::progress::Observer;
use crate::reasoner::{Answer, Reasoner, ReasonerError, Task};
use crate::step::StepId;
use report::{Engine, ReasonerKind};

/// Reasons without an LLM.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Reasoner for Offline {
    fn engine(&self) -> Engine {
        Engine {
            reasoner: ReasonerKind::Offline,
            provider: None,
            model: None,
            fallback: None,
        }
    }

    fn reason<'a>(
        &'a self,
        task: Task<'a>,
        _: &'a mut dyn Observer,
    ) -> BoxFuture<'a, Result<Answer, ReasonerError>> {
        let steps = task.steps.iter();
        let answer = Answer {
            conclusions: steps.map(|step| conclude(*step, task.input)).collect(),
            ..Answer::default()
        };
        std::future::ready(Ok(answer)).boxed()
    }
}

/// The program's own conclusion.
pub(crate) fn conclude(step: StepId, input: &StepInput) -> Conclusion {
    match step {
        StepId::Classify => Conclusion::Classify(steps::classify(input)),
        StepId::KeyCode => Conclusion::KeyCode(steps::key_code(input)),
        StepId::Experience => Conclusion::Experience(steps::causes(input)),
        StepId::Completeness => Conclusion::Completeness(crate::completeness::request(input)),
        StepId::Advice => Conclusion::Advice(advice::advice(input)),
        StepId::Hypotheses => Conclusion::Hypotheses(hypotheses::hypotheses(input)),
        StepId::Answer => Conclusion::Answer(advice::answer(input)),
    }
}
