//! A single step on the facts that a saved run kept: a question about it, or advice on one of its findings.

use std::sync::atomic::AtomicBool;

use job::Job;
use job::script::Script;
use report::{Checks, Engine, Usage};

use super::panel::Panel;
use super::retrieval::Retrieval;
use crate::conclusion::{Advice, Conclusion, Reply};
use crate::facts::StepInput;
use crate::progress::Observer;
use crate::request::{AnalyzeError, Request, Services};
use crate::step::StepId;

/// The conclusion of a single step, and how it came about.
#[derive(Debug, Clone)]
pub struct Concluded<C> {
    pub conclusion: C,
    pub engine: Engine,
    /// `None` without an LLM.
    pub usage: Option<Usage>,
    /// `None` without an LLM.
    pub checks: Option<Checks>,
    /// Parts of an LLM's answer that the check left out or marked.
    pub remarks: Vec<String>,
}

/// Answers the question of `input`.
///
/// # Errors
/// If the reasoner fails and there is no other, or the call is cancelled.
pub async fn reply(
    input: &StepInput,
    services: &Services<'_>,
    observer: &mut dyn Observer,
) -> Result<Concluded<Reply>, AnalyzeError> {
    let reply = |conclusion| match conclusion {
        Conclusion::Answer(reply) => Some(reply),
        _ => None,
    };
    let (panel, job) = (Panel::new(services), Job::default());
    conclude(StepId::Answer, input, &job, panel, reply, observer).await
}

/// Advises on the finding that `input` is about, in one call: faults of the answer are left out or marked, not repaired.
///
/// # Errors
/// If the reasoner fails and there is no other, or the call is cancelled.
pub async fn advise(
    mut input: StepInput,
    services: &Services<'_>,
    observer: &mut dyn Observer,
) -> Result<Concluded<Advice>, AnalyzeError> {
    let mut retrieval = Retrieval::new(&Request::default(), services);
    let found = retrieval.passages(&[StepId::Advice], &input.facts);
    // without experience the facts still count
    input.experiences = found.unwrap_or_default();
    let script = input.facts.outline.script.as_ref();
    let job = Job {
        script: script.map(|s| Script::parse(&s.file, s.text.clone())),
        ..Job::default()
    };
    let mut panel = Panel::new(services);
    (panel.repairs, panel.merges) = (AtomicBool::new(false), false);
    let advice = |conclusion| match conclusion {
        Conclusion::Advice(advice) => Some(advice),
        _ => None,
    };
    conclude(StepId::Advice, &input, &job, panel, advice, observer).await
}

async fn conclude<C: Default>(
    step: StepId,
    input: &StepInput,
    job: &Job,
    mut panel: Panel<'_>,
    read: impl FnOnce(Conclusion) -> Option<C>,
    observer: &mut dyn Observer,
) -> Result<Concluded<C>, AnalyzeError> {
    let outcome = panel.think(&[step], input, job, observer).await?;
    for failure in &outcome.failures {
        panel.fall_back(failure);
    }
    if outcome.check.is_some() {
        panel.note_answer();
    }
    let usage = panel.meter.total();
    let mut remarks = outcome.answer.remarks;
    let checks = outcome.check.map(|check| {
        remarks.extend(check.remarks);
        Checks {
            repaired: u32::from(outcome.answer.repaired),
            ..check.checks
        }
    });
    let conclusion = outcome.answer.conclusions.into_iter().next();
    Ok(Concluded {
        conclusion: conclusion.and_then(read).unwrap_or_default(),
        engine: panel.concluding(),
        usage: (usage.calls > 0).then_some(usage),
        checks,
        remarks,
    })
}
