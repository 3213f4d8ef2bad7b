//! The chain: open, read, diagnose, five THINK steps, report.
//!
//! The order of the steps and what passes between them is here; what a step concludes is the
//! reasoner's, what the facts say is the rules'.

pub(crate) mod files;
mod finish;
mod run;

use std::time::Instant;

use crate::progress::Observer;
use crate::reasoner::ReasonerError;
use crate::report::{ReasonerKind, Report};
use crate::request::{AnalyzeError, Depth, Request, Services};
use crate::step::StepId;

use files::Rounds;
use run::Run;

/// THINK 1–3, which rest on the same facts.
const FIRST_STEPS: [StepId; 3] = [StepId::Classify, StepId::KeyCode, StepId::Experience];

/// Why a chain stops before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The caller asked for it.
    Cancelled,
    /// No reasoner is left.
    Failed(AnalyzeError),
}

/// Analyses one job folder.
///
/// A cancelled analysis gives the report of what was done by then, marked `partial`.
///
/// # Errors
/// If the folder is no job, or the reasoner fails and there is no other.
pub async fn analyze(
    request: &Request,
    services: &Services<'_>,
    observer: &mut dyn Observer,
) -> Result<Report, AnalyzeError> {
    let mut run = Run::open(request, services, observer)?;
    match chain(&mut run, request, observer).await {
        Ok(()) => Ok(run.into_report(false, observer)),
        Err(Stop::Cancelled) => Ok(run.into_report(true, observer)),
        Err(Stop::Failed(error)) => Err(error),
    }
}

async fn chain(
    run: &mut Run<'_>,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<(), Stop> {
    let mut rounds = Rounds::new(run.language);
    if request.depth != Depth::Deep {
        // What the rules lack costs no call of a model, and conclusions drawn without it would have
        // to be drawn again.
        rounds.by_rules(run, observer)?;
    }
    first_steps(run, observer, request.depth == Depth::Quick).await?;
    let before = run.fingerprint();
    run.announce(&[StepId::Completeness], observer);
    rounds.by_rules(run, observer)?;
    if request.depth != Depth::Quick {
        rounds.by_reasoner(run, observer).await?;
    }
    rounds.finish(run, observer);
    if run.fingerprint() != before {
        // What was read changed the facts: the first conclusions are drawn again from them.
        first_steps(run, observer, request.depth != Depth::Deep).await?;
    }
    step(run, StepId::Advice, observer).await?;
    if request.hypotheses {
        step(run, StepId::Hypotheses, observer).await?;
    }
    Ok(())
}

async fn first_steps(
    run: &mut Run<'_>,
    observer: &mut dyn Observer,
    merged: bool,
) -> Result<(), Stop> {
    if merged && run.reasoner_kind() == ReasonerKind::Llm {
        return steps(run, &FIRST_STEPS, observer).await;
    }
    for id in FIRST_STEPS {
        step(run, id, observer).await?;
    }
    Ok(())
}

async fn step(run: &mut Run<'_>, id: StepId, observer: &mut dyn Observer) -> Result<(), Stop> {
    steps(run, &[id], observer).await
}

async fn steps(run: &mut Run<'_>, ids: &[StepId], observer: &mut dyn Observer) -> Result<(), Stop> {
    let started = Instant::now();
    run.announce(ids, observer);
    let answer = run.conclude(ids, observer).await?;
    run.remember(ids, answer, started.elapsed(), observer);
    Ok(())
}

impl Stop {
    pub(crate) fn of(step: StepId, error: ReasonerError) -> Stop {
        match error {
            ReasonerError::Cancelled => Stop::Cancelled,
            source => Stop::Failed(AnalyzeError::Reasoner {
                step: step.id(),
                source,
            }),
        }
    }
}
