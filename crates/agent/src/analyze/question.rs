//! A question about a saved run: a separate step, on the facts that the run kept.

use job::Job;
use report::{Checks, Engine, Usage};

use super::Stop;
use super::panel::Panel;
use crate::conclusion::{Conclusion, Reply};
use crate::facts::StepInput;
use crate::progress::Observer;
use crate::reasoner::ReasonerError;
use crate::request::{AnalyzeError, Services};
use crate::step::StepId;

/// The answer to a question about a saved run, and how it came about.
#[derive(Debug, Clone)]
pub struct Replied {
    pub reply: Reply,
    pub engine: Engine,
    /// `None` without an LLM.
    pub usage: Option<Usage>,
    /// `None` without an LLM.
    pub checks: Option<Checks>,
    /// What the check of an LLM's answer marked.
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
) -> Result<Replied, AnalyzeError> {
    let mut panel = Panel::new(services);
    let job = Job::default();
    let outcome = panel
        .think(&[StepId::Answer], input, &job, observer)
        .await
        .map_err(|stop| match stop {
            Stop::Failed(error) => error,
            Stop::Cancelled => AnalyzeError::Reasoner {
                step: StepId::Answer.id(),
                source: ReasonerError::Cancelled,
            },
        })?;
    for failure in &outcome.failures {
        panel.fall_back(failure);
    }
    let reply = match outcome.answer.conclusions.into_iter().next() {
        Some(Conclusion::Answer(reply)) => reply,
        _ => Reply::default(),
    };
    let usage = panel.meter.total();
    let mut remarks = outcome.answer.remarks;
    let checks = outcome.check.map(|check| {
        remarks.extend(check.remarks);
        Checks {
            claims: check.claims,
            dropped: check.dropped,
            unverified: check.unverified,
            repaired: u32::from(outcome.answer.repaired),
        }
    });
    Ok(Replied {
        reply,
        engine: panel.engine,
        usage: (usage.calls > 0).then_some(usage),
        checks,
        remarks,
    })
}
