//! The reasoners by preference: asks them, checks a model's conclusion, has it repaired once.
//!
//! A step's outcome changes the run only when the run accepts it, so two steps may be reasoned
//! about concurrently.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use job::Job;

use crate::check::{self, Checker};
use crate::conclusion::Conclusion;
use crate::facts::StepInput;
use crate::merge;
use crate::offline::{self, Offline};
use crate::progress::{Event, Observer};
use crate::reasoner::{Answer, Faulty, Meter, Reasoner, ReasonerError, Task};
use crate::request::{AnalyzeError, Services};
use crate::step::StepId;
use llm::ToolRound;
use report::{Engine, Language, ReasonerKind, text};

pub(super) struct Panel<'a> {
    services: &'a Services<'a>,
    pub(super) engine: Engine,
    failed: usize,
    /// The conversation of THINK 4 with the reasoner that leads it.
    pub(super) tool_rounds: Vec<ToolRound>,
    pub(super) meter: Meter,
    /// Whether a model may fix the faults of an answer in another call: once in an analysis, as it costs as much as a step.
    pub(super) repairs: AtomicBool,
    /// Whether a model's conclusion is added to the program's.
    pub(super) merges: bool,
    /// Whether a model's answer to any step could be used.
    has_answered: bool,
    /// Steps without a usable answer, with the reason.
    unusable: Vec<String>,
}

/// A reasoner's conclusion, with the faults and fallbacks on the way.
pub(super) struct StepOutcome {
    pub(super) answer: Answer,
    /// `None` if no model concluded.
    pub(super) check: Option<check::Outcome>,
    pub(super) failures: Vec<Failure>,
    pub(super) elapsed: Duration,
}

pub(super) struct Failure {
    /// Which one, from 0.
    reasoner: usize,
    pub(super) step: StepId,
    pub(super) error: ReasonerError,
}

impl<'a> Panel<'a> {
    pub(super) fn new(services: &'a Services<'a>) -> Panel<'a> {
        Panel {
            services,
            engine: services.reasoner.engine(),
            failed: 0,
            tool_rounds: Vec::new(),
            meter: Meter::default(),
            repairs: AtomicBool::new(true),
            merges: true,
            has_answered: false,
            unusable: Vec::new(),
        }
    }

    pub(super) fn asks_model(&self) -> bool {
        self.reasoner(self.failed).asks_model()
    }

    /// The reasoner that takes over after `failed` reasoners have failed.
    fn reasoner(&self, failed: usize) -> &dyn Reasoner {
        let (first, others) = (&self.services.reasoner, &self.services.fallbacks);
        let fallback = failed.checked_sub(1).and_then(|index| others.get(index));
        fallback.unwrap_or(first).as_ref()
    }

    pub(super) async fn think(
        &self,
        ids: &[StepId],
        input: &StepInput,
        job: &Job,
        observer: &mut dyn Observer,
    ) -> Result<StepOutcome, AnalyzeError> {
        let started = Instant::now();
        let first = ids.first().copied().unwrap_or(StepId::Classify);
        let mut failed = self.failed;
        let mut failures: Vec<Failure> = Vec::new();
        let answer = loop {
            match self.ask(failed, ids, input, None, observer).await {
                Ok(answer) => break answer,
                Err(error)
                    if error == ReasonerError::Cancelled
                        || failed >= self.services.fallbacks.len() =>
                {
                    return Err(AnalyzeError::of(first, error));
                }
                Err(error) => {
                    let reason = format!("{}: {error}", first.id());
                    observer.event(Event::Fallback {
                        reason: reason.as_str().into(),
                    });
                    failures.push(Failure {
                        reasoner: failed,
                        step: first,
                        error,
                    });
                    failed += 1;
                }
            }
        };
        let mut outcome = StepOutcome {
            answer,
            check: None,
            failures,
            elapsed: Duration::ZERO,
        };
        if self.reasoner(failed).engine().reasoner == ReasonerKind::Llm {
            self.check(failed, ids, input, job, &mut outcome, observer)
                .await;
        }
        outcome.elapsed = started.elapsed();
        Ok(outcome)
    }

    /// Checks a model's conclusion; faults that remain after a repair are removed or marked.
    async fn check(
        &self,
        failed: usize,
        ids: &[StepId],
        input: &StepInput,
        job: &Job,
        outcome: &mut StepOutcome,
        observer: &mut dyn Observer,
    ) {
        let answer = &mut outcome.answer;
        let program: Vec<Conclusion> = ids.iter().map(|id| offline::conclude(*id, input)).collect();
        let mut checker = Checker::new(input, job).accepting(&program);
        let faults = checker.faults(&answer.conclusions);
        // Tool calls get results, not repairs: a result names the fault of its call.
        let has_calls = answer.calls.is_some();
        if !faults.is_empty() && !has_calls && self.repairs.swap(false, Ordering::Relaxed) {
            let faulty = Faulty {
                answer: answer.raw.clone(),
                faults,
            };
            // If the repair fails or is interrupted, the first answer remains; its faults are removed below.
            let fixed = self.ask(failed, ids, input, Some(&faulty), observer).await;
            if let Ok(fixed) = fixed
                && fixed.calls.is_none()
            {
                repair(answer, fixed);
            }
        }
        outcome.check = Some(checker.check(&mut answer.conclusions));
        if self.merges {
            merge(program, answer, input.facts.language);
        }
    }

    async fn ask(
        &self,
        failed: usize,
        ids: &[StepId],
        input: &StepInput,
        faulty: Option<&Faulty>,
        observer: &mut dyn Observer,
    ) -> Result<Answer, ReasonerError> {
        let rounds: &[ToolRound] = match ids {
            // A provider's signature is useless to another provider.
            [StepId::Completeness] if failed == self.failed => &self.tool_rounds,
            _ => &[],
        };
        let task = Task {
            steps: ids,
            input,
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

    /// Notes that a model concluded a step.
    pub(super) fn note_answer(&mut self) {
        self.has_answered = true;
    }

    /// Moves on from a reasoner that failed; false if a concurrent step has done so already, or if only this step is lost.
    pub(super) fn fall_back(&mut self, failure: &Failure) -> bool {
        if !failure.lasts() {
            let (step, error) = (failure.step.id(), &failure.error);
            self.unusable.push(format!("{step}: {error}"));
            return false;
        }
        if failure.reasoner < self.failed {
            return false;
        }
        self.failed = failure.reasoner + 1;
        self.tool_rounds.clear();
        let reason = format!("{}: {}", failure.step.id(), failure.error);
        let earlier = self.engine.fallback.take();
        let reasons: Vec<String> = earlier.into_iter().chain([reason]).collect();
        self.engine = Engine {
            fallback: Some(reasons.join("; ")),
            ..self.reasoner(self.failed).engine()
        };
        true
    }
}

impl Panel<'_> {
    /// Who concluded the steps: the program, if no answer of the model could be used.
    pub(super) fn concluding(&self) -> Engine {
        let is_model = self.engine.reasoner == ReasonerKind::Llm;
        if !is_model || self.has_answered || self.unusable.is_empty() {
            return self.engine.clone();
        }
        Engine {
            fallback: Some(self.unusable.join("; ")),
            ..Offline.engine()
        }
    }
}

impl Failure {
    /// Whether later steps would fail too. An answer that cannot be used, or a prompt that is too long, is a matter of its step; the
    /// appendix comes after all others.
    pub(super) fn lasts(&self) -> bool {
        let is_of_step = matches!(
            self.error,
            ReasonerError::Unusable { .. } | ReasonerError::TooLong { .. }
        );
        !is_of_step && self.step != StepId::Hypotheses
    }
}

/// Merges a model's conclusions into the program's, with a remark where a model adds no valid statement.
fn merge(program: Vec<Conclusion>, answer: &mut Answer, language: Language) {
    let conclusions = std::mem::take(&mut answer.conclusions);
    for (own, conclusion) in program.into_iter().zip(conclusions) {
        let title = own.step().title(language);
        let agrees = conclusion.agrees_with(&own);
        let (whole, adds) = merge::merged(own, conclusion, language);
        let remark = match agrees {
            true => text!(
                "{title}：模型的选择与程序一致，没有站得住的补充",
                "{title}: the model chose as the program did, and its additions were not confirmed"
            ),
            false => text!(
                "{title}：模型没有给出站得住的补充，采用程序的结论",
                "{title}: no addition of the model was confirmed; this is the program's conclusion"
            ),
        };
        if !adds {
            answer.remarks.push(remark.into(language));
        }
        answer.conclusions.push(whole);
    }
}

/// Replaces an answer by the repaired one, with the usage and remarks of both turns.
fn repair(answer: &mut Answer, fixed: Answer) {
    let first = std::mem::replace(answer, fixed);
    answer.repaired = true;
    let usage = first.usage.unwrap_or_default();
    answer.usage.get_or_insert_default().add(&usage);
    answer.remarks.splice(0..0, first.remarks);
    answer.remarks.dedup();
}
