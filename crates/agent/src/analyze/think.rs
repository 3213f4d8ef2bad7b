//! Has steps concluded: asks the reasoners in order, checks what a model says, lets it mend its
//! faults once.
//!
//! A thought changes nothing of the run until it is taken in, so that two may be had side by side.

use std::time::{Duration, Instant};

use crate::check;
use crate::conclusion::Conclusion;
use crate::progress::{Event, Observer, Shared};
use crate::reasoner::{Answer, Faulty, Reasoner, ReasonerError, Task};
use crate::step::StepId;
use crate::view::View;
use llm::ToolRound;
use report::{Diagnostic, DiagnosticSeverity, Engine, ReasonerKind};

use super::Stop;
use super::run::Run;

/// What a reasoner concluded, and what the run has to note about it.
pub(super) struct Thought {
    answer: Answer,
    outcome: Option<check::Outcome>,
    failures: Vec<Failure>,
    elapsed: Duration,
}

/// A reasoner that gave up.
struct Failure {
    /// Which one, from 0.
    reasoner: usize,
    step: StepId,
    error: ReasonerError,
}

impl Run<'_> {
    /// Who reasons now.
    pub(super) fn reasoner_kind(&self) -> ReasonerKind {
        self.reasoner(self.failed).engine().reasoner
    }

    /// The reasoner that takes over after so many have failed.
    fn reasoner(&self, failed: usize) -> &dyn Reasoner {
        let fallback = failed
            .checked_sub(1)
            .and_then(|index| self.services.fallbacks.get(index));
        fallback.map_or(self.services.reasoner.as_ref(), |fallback| {
            fallback.as_ref()
        })
    }

    /// Has steps concluded in one task.
    pub(super) async fn conclude(
        &mut self,
        ids: &[StepId],
        observer: &mut dyn Observer,
    ) -> Result<(Answer, Duration), Stop> {
        let view = self.view(ids);
        let thought = self.think(ids, &view, observer).await?;
        Ok(self.take_in(thought))
    }

    /// Has two steps concluded side by side; neither sees what the other concludes.
    pub(super) async fn conclude_both(
        &mut self,
        ids: [StepId; 2],
        observer: &mut dyn Observer,
    ) -> Result<[(Answer, Duration); 2], Stop> {
        let [first, second] = ids;
        let views = [self.view(&[first]), self.view(&[second])];
        let shared = Shared::new(observer);
        let (mut one, mut other) = (shared.ear(), shared.ear());
        let (first, second) = ([first], [second]);
        let (a, b) = futures::future::join(
            self.think(&first, &views[0], &mut one),
            self.think(&second, &views[1], &mut other),
        )
        .await;
        let (a, b) = (a?, b?);
        Ok([self.take_in(a), self.take_in(b)])
    }

    /// Asks for a conclusion and checks it.
    async fn think(
        &self,
        ids: &[StepId],
        view: &View,
        observer: &mut dyn Observer,
    ) -> Result<Thought, Stop> {
        let started = Instant::now();
        let first = ids.first().copied().unwrap_or(StepId::Classify);
        let mut failed = self.failed;
        let mut failures: Vec<Failure> = Vec::new();
        let answer = loop {
            match self.try_ask(failed, ids, view, None, observer).await {
                Ok(answer) => break answer,
                Err(error)
                    if error == ReasonerError::Cancelled
                        || failed >= self.services.fallbacks.len() =>
                {
                    return Err(Stop::of(first, error));
                }
                Err(error) => {
                    let reason = format!("{}: {error}", first.id());
                    observer.event(Event::Fallback { reason: &reason });
                    failures.push(Failure {
                        reasoner: failed,
                        step: first,
                        error,
                    });
                    failed += 1;
                }
            }
        };
        let is_llm = self.reasoner(failed).engine().reasoner == ReasonerKind::Llm;
        let (answer, outcome) = if is_llm {
            let (answer, outcome) = self.check(failed, ids, view, answer, observer).await?;
            (answer, Some(outcome))
        } else {
            (answer, None)
        };
        Ok(Thought {
            answer,
            outcome,
            failures,
            elapsed: started.elapsed(),
        })
    }

    /// Checks what a model concluded; its faults are named to it once, then taken out or marked.
    async fn check(
        &self,
        failed: usize,
        ids: &[StepId],
        view: &View,
        mut answer: Answer,
        observer: &mut dyn Observer,
    ) -> Result<(Answer, check::Outcome), Stop> {
        let faults = check::faults(&answer.conclusions, view, self.reader.job());
        // Calls of tools are answered, not mended: what is wrong with them stands in the results.
        let can_repair = answer.calls.is_none() && self.reasoner(failed).can_repair();
        if !faults.is_empty() && can_repair {
            let faulty = Faulty {
                answer: answer.raw.clone(),
                faults,
            };
            // A failed repair leaves the first answer, whose faults are taken out below.
            match self
                .try_ask(failed, ids, view, Some(&faulty), observer)
                .await
            {
                Ok(mended) if mended.calls.is_none() => answer = join(answer, mended),
                Err(ReasonerError::Cancelled) => return Err(Stop::Cancelled),
                Ok(_) | Err(_) => {}
            }
        }
        let outcome = check::clean(&mut answer.conclusions, view, self.reader.job());
        Ok((answer, outcome))
    }

    async fn try_ask(
        &self,
        failed: usize,
        ids: &[StepId],
        view: &View,
        faulty: Option<&Faulty>,
        observer: &mut dyn Observer,
    ) -> Result<Answer, ReasonerError> {
        let rounds: &[ToolRound] = match ids {
            // What one provider signed is no use to another.
            [StepId::Completeness] if failed == self.failed => &self.tool_rounds,
            _ => &[],
        };
        let task = Task {
            steps: ids,
            view,
            prompts: &self.services.prompts,
            faulty,
            rounds,
            meter: &self.meter,
        };
        tokio::select! {
            biased;
            () = self.services.cancel.cancelled() => Err(ReasonerError::Cancelled),
            answer = self.reasoner(failed).reason(task, observer) => answer,
        }
    }

    /// Notes what a thought found out about reasoners and claims.
    fn take_in(&mut self, thought: Thought) -> (Answer, Duration) {
        for failure in thought.failures {
            self.fall_back(&failure);
        }
        let mut answer = thought.answer;
        self.checks.repaired += u32::from(answer.repaired);
        if let Some(outcome) = thought.outcome {
            self.checks.claims += outcome.claims;
            self.checks.dropped += outcome.dropped;
            self.checks.unverified += outcome.unverified;
            answer.remarks.extend(outcome.remarks);
            if answer.conclusions.iter().any(is_advice) {
                self.proposed = outcome.proposed;
            }
        }
        (answer, thought.elapsed)
    }

    fn fall_back(&mut self, failure: &Failure) {
        if failure.reasoner < self.failed {
            return; // A step that ran beside this one has said so.
        }
        let Failure { step, error, .. } = failure;
        self.failed = failure.reasoner + 1;
        self.tool_rounds.clear();
        self.remarks.push(Diagnostic {
            severity: DiagnosticSeverity::Warning,
            file: None,
            locator: None,
            message: format!(
                "from step `{}` on another reasoner was used: {error}",
                step.id()
            ),
            hint: Some(error.hint().to_owned()).filter(|h| !h.is_empty()),
        });
        let reason = format!("{}: {error}", step.id());
        let reasons: Vec<String> = self
            .engine
            .fallback
            .take()
            .into_iter()
            .chain([reason])
            .collect();
        self.engine = Engine {
            fallback: Some(reasons.join("; ")),
            ..self.reasoner(self.failed).engine()
        };
    }
}

/// Proposals stand in advice alone; what is drawn again takes their place.
fn is_advice(conclusion: &Conclusion) -> bool {
    matches!(conclusion, Conclusion::Advice(_))
}

/// The mended answer, with what both turns used and said.
fn join(first: Answer, mended: Answer) -> Answer {
    let mut usage = first.usage.unwrap_or_default();
    usage.add(&mended.usage.unwrap_or_default());
    let mut remarks = first.remarks;
    remarks.extend(mended.remarks);
    remarks.dedup();
    Answer {
        repaired: true,
        usage: Some(usage),
        remarks,
        ..mended
    }
}
