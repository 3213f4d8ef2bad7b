//! The chain: open, read, diagnose, five THINK steps, report.
//!
//! This module has the order of the steps and the data that they pass on. Conclusions come from the
//! reasoner, facts from the rules.

mod finish;
mod folder;
mod notebook;
mod panel;
mod question;
mod retrieval;
mod rounds;
mod run;
mod serve;

use job::Job;

use crate::facts::Facts;
use crate::progress::Observer;
use crate::request::{AnalyzeError, Depth, Request, Services};
use crate::step::StepId;
use job::model::CodeExcerpt;
use report::Report;

pub use question::{Concluded, advise, reply};

use rounds::Rounds;
use run::Run;

/// THINK 1–3, which rest on the same facts.
const FIRST_STEPS: [StepId; 3] = [StepId::Classify, StepId::KeyCode, StepId::Experience];

#[derive(Debug)]
pub struct Analysis {
    pub report: Report,
    /// The job as far as it was read.
    pub job: Job,
    /// C# that the findings are about.
    pub code: Vec<CodeExcerpt>,
}

/// Analyzes one job folder.
///
/// A cancelled analysis returns the report on the work done by then, marked `partial`.
///
/// # Errors
/// If the folder is no job, or the reasoner fails and there is no other.
pub async fn analyze(
    request: &Request,
    services: &Services<'_>,
    observer: &mut dyn Observer,
) -> Result<Analysis, AnalyzeError> {
    let mut run = Run::open(request, services, observer)?;
    let partial = match chain(&mut run, request, observer).await {
        Ok(()) => false,
        Err(error) if error.is_cancelled() => true,
        Err(error) => return Err(error),
    };
    let partial = partial || run.folder.reader.has_stopped();
    Ok(run.finish(partial))
}

async fn chain(
    run: &mut Run<'_>,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<(), AnalyzeError> {
    let mut rounds = Rounds::new(request.report_language());
    if request.depth != Depth::Deep {
        // Reading files for the rules needs no call of a model, and saves repeating the first steps.
        rounds.by_rules(run, observer)?;
    }
    if !run.services.asks_model() {
        // Without a model, the facts stay the same between the steps, so their searches are known
        // now.
        run.retrieval
            .look_ahead(&StepId::THINK, &run.folder.facts());
    }
    first_steps(run, observer, request.depth == Depth::Quick).await?;
    let before = run.folder.facts();
    run.notebook.announce(&[StepId::Completeness], observer);
    rounds.by_rules(run, observer)?;
    if request.depth != Depth::Quick {
        let asked = rounds.by_reasoner(run, observer).await;
        if let Err(error) = asked {
            if error.is_cancelled() && rounds.is_judged() {
                rounds.finish(run, observer);
            }
            return Err(error);
        }
    }
    rounds.finish(run, observer);
    if have_changed(&before, &run.folder.facts()) {
        // The files changed the facts that the first steps rest on.
        first_steps(run, observer, request.depth != Depth::Deep).await?;
    }
    if request.hypotheses {
        return last_steps(run, observer).await;
    }
    step(run, StepId::Advice, observer).await
}

/// Whether the files changed the facts that the first steps rest on.
fn have_changed(before: &Facts, now: &Facts) -> bool {
    let (a, b) = (&before.found, &now.found);
    a.findings != b.findings || a.evidence != b.evidence || a.cleared.len() != b.cleared.len()
}

/// THINK 5 and the appendix, which rest on the same four conclusions and not on each other.
async fn last_steps(run: &mut Run<'_>, observer: &mut dyn Observer) -> Result<(), AnalyzeError> {
    let ids = [StepId::Advice, StepId::Hypotheses];
    run.notebook.announce(&ids, observer);
    let mut open = Vec::new();
    let mut end = Ok(());
    // If one of them is interrupted, the other is kept.
    for (id, outcome) in ids.into_iter().zip(run.conclude_both(ids, observer).await) {
        match outcome {
            Ok((answer, took)) => {
                open.extend(rounds::open_files(&answer));
                run.notebook.record_answer(&[id], answer, took, observer);
            }
            Err(stop) => end = Err(stop),
        }
    }
    end?;
    let before = run.folder.facts();
    if rounds::check_files(run, &open, observer) {
        // The files decide hypotheses, and may change the facts under the advice.
        step(run, StepId::Hypotheses, observer).await?;
        if have_changed(&before, &run.folder.facts()) {
            step(run, StepId::Advice, observer).await?;
        }
    }
    Ok(())
}

async fn first_steps(
    run: &mut Run<'_>,
    observer: &mut dyn Observer,
    merged: bool,
) -> Result<(), AnalyzeError> {
    if merged && run.panel.asks_model() {
        return steps(run, &FIRST_STEPS, observer).await;
    }
    for id in FIRST_STEPS {
        step(run, id, observer).await?;
    }
    Ok(())
}

async fn step(
    run: &mut Run<'_>,
    id: StepId,
    observer: &mut dyn Observer,
) -> Result<(), AnalyzeError> {
    steps(run, &[id], observer).await
}

async fn steps(
    run: &mut Run<'_>,
    ids: &[StepId],
    observer: &mut dyn Observer,
) -> Result<(), AnalyzeError> {
    run.notebook.announce(ids, observer);
    let (answer, elapsed) = run.conclude(ids, observer).await?;
    run.notebook.record_answer(ids, answer, elapsed, observer);
    Ok(())
}
