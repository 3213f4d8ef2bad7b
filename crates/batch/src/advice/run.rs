//! Asks a model about the clusters of a store, several at a time.

use agent::conclusion::{Advice, Proposal};
use agent::facts::StepInput;
use agent::reasoner::ReasonerError;
use agent::{AnalyzeError, Services, Silent};
use ask::advice_input;
use futures::StreamExt;
use report::{Language, Suggestion};
use runs::RunSummary;
use tokio_util::sync::CancellationToken;

use super::clusters::{Cluster, clusters};
use super::ledger::Ledger;
use super::object::{self, ADVICE_VERSION, ClusterAdvice, key_of, path_of, to_json};
use crate::error::{Error, Result};
use crate::result::Program;
use crate::store::Store;

/// Calls that fail one after the other until no more are made: the server or the profile is at fault then.
const IN_A_ROW: usize = 10;

/// Configuration of one advising process.
pub struct Advising<'a> {
    pub store: &'a Store,
    /// The parts of program and configuration that affect the advice.
    pub program: Program,
    /// With the ledger as their budget.
    pub services: &'a Services<'a>,
    pub ledger: &'a Ledger,
    /// Clusters at a time: more than the budget of `services` has places for calls, so that prompts are made and answers read while
    /// others are under way.
    pub concurrency: usize,
    pub cancel: CancellationToken,
}

/// The outcome for a cluster.
#[derive(Debug)]
pub enum Outcome {
    /// There was advice already.
    Known,
    Advised(Box<ClusterAdvice>),
    /// There is no advice, and there will be none before failures are retried.
    Failed {
        cause: String,
        reason: String,
    },
    /// There is no advice for now.
    Postponed {
        cause: String,
        reason: String,
    },
    /// The budget is used up.
    Stopped(String),
    Interrupted,
}

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    pub clusters: usize,
    /// Why the run stopped early; `None` if all clusters were processed.
    pub stopped: Option<Stopped>,
}

/// Why clusters are left without having been asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// The budget is used up.
    Budget(String),
    /// Repeated calls failed, so further calls would probably fail too.
    Failures(String),
}

/// The state of a call.
struct Course<'a> {
    clusters: usize,
    report: &'a mut dyn FnMut(&Outcome, usize),
    /// Calls that failed since the last that did not.
    failed: usize,
    stopped: Option<Stopped>,
}

impl Course<'_> {
    fn note(&mut self, outcome: &Outcome) {
        (self.report)(outcome, self.clusters);
        match outcome {
            Outcome::Known | Outcome::Interrupted => {}
            Outcome::Advised(_) => self.failed = 0,
            Outcome::Stopped(reason) => self.stopped = Some(Stopped::Budget(reason.clone())),
            Outcome::Failed { reason, .. } | Outcome::Postponed { reason, .. } => {
                self.failed += 1;
                if self.failed >= IN_A_ROW {
                    self.stopped = Some(Stopped::Failures(reason.clone()));
                }
            }
        }
    }
}

impl Advising<'_> {
    /// Advises on all clusters without advice, the costliest first. Reports each outcome as it comes.
    ///
    /// # Errors
    /// If the store cannot be read or written, or another process advises on it; written advice stays.
    pub async fn run(
        &self,
        retry_failed: bool,
        report: &mut dyn FnMut(&Outcome, usize),
    ) -> Result<Totals> {
        let clusters = clusters(self.store).await?;
        self.ledger.open().await?;
        let stopped = self.all(&clusters, retry_failed, report).await;
        self.ledger.close().await?;
        Ok(Totals {
            clusters: clusters.len(),
            stopped: stopped?,
        })
    }

    /// Makes the prompt of each cluster without advice, for a reasoner that sends nothing.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn preview(&self, retry_failed: bool) -> Result<Totals> {
        let clusters = clusters(self.store).await?;
        for cluster in &clusters {
            let path = path_of(&key_of(&cluster.key, &self.program));
            let known = object::read(self.store, &path).await?;
            let is_asked = known.is_none_or(|known| retry_failed && known.advice.is_none());
            if is_asked && let Some((_, input)) = self.input(cluster).await? {
                // A cluster whose prompt cannot be made is not asked about either.
                let _ = agent::advise(input, self.services, &mut Silent).await;
            }
            if self.cancel.is_cancelled() {
                break;
            }
        }
        Ok(Totals {
            clusters: clusters.len(),
            stopped: None,
        })
    }

    async fn all(
        &self,
        clusters: &[Cluster],
        retry_failed: bool,
        report: &mut dyn FnMut(&Outcome, usize),
    ) -> Result<Option<Stopped>> {
        if retry_failed {
            for advice in object::all(self.store).await? {
                if advice.advice.is_none() {
                    self.store.delete(&path_of(&advice.key)).await?;
                }
            }
        }
        let mut course = Course {
            clusters: clusters.len(),
            report,
            failed: 0,
            stopped: None,
        };
        let is_over = CancellationToken::new();
        let mut outcomes = std::pin::pin!(
            futures::stream::iter(clusters)
                // calls under way are paid for: they come to their end
                .take_while(|_| std::future::ready(
                    !is_over.is_cancelled() && !self.cancel.is_cancelled()
                ))
                .map(|cluster| self.one(cluster))
                .buffer_unordered(self.concurrency.max(1))
        );
        let mut failed = None;
        while let Some(outcome) = outcomes.next().await {
            match outcome {
                Ok(outcome) => course.note(&outcome),
                Err(error) => failed = Some(error),
            }
            if failed.is_some() || course.stopped.is_some() {
                is_over.cancel();
            }
        }
        failed.map_or(Ok(course.stopped), Err)
    }

    async fn one(&self, cluster: &Cluster) -> Result<Outcome> {
        let key = key_of(&cluster.key, &self.program);
        let cause = cluster.key.cause.to_owned();
        if object::read(self.store, &path_of(&key)).await?.is_some() {
            return Ok(Outcome::Known);
        }
        let Some((job, input)) = self.input(cluster).await? else {
            let reason = "its result was replaced".to_owned();
            return Ok(Outcome::Postponed { cause, reason });
        };
        let (suggestions, language) = (input.suggestions.clone(), input.facts.language);
        let asked = ClusterAdvice {
            job,
            ..self.object(cluster, &key)
        };
        let error = match agent::advise(input, self.services, &mut Silent).await {
            Ok(advised) => {
                let advice = ClusterAdvice {
                    text: paragraph(&advised.conclusion, &suggestions, language),
                    advice: Some(advised.conclusion),
                    engine: Some(advised.engine),
                    usage: advised.usage.unwrap_or_default(),
                    remarks: advised.remarks,
                    ..asked
                };
                self.write(&advice).await?;
                return Ok(Outcome::Advised(Box::new(advice)));
            }
            Err(error) => error,
        };
        let reason = llm::hide(&report::with_causes(&error)).into_owned();
        use ReasonerError::{Budget, Cancelled, CostCap, Permanent, Transient};
        Ok(match error {
            AnalyzeError::Reasoner { source, .. } => match source {
                Budget(reason) => Outcome::Stopped(reason),
                Cancelled => Outcome::Interrupted,
                // the failure is not the cluster's fault
                CostCap { .. } | Permanent { .. } | Transient { .. } => {
                    Outcome::Postponed { cause, reason }
                }
                _ => {
                    self.write(&ClusterAdvice {
                        reason: Some(reason.clone()),
                        ..asked
                    })
                    .await?;
                    Outcome::Failed { cause, reason }
                }
            },
            _ => Outcome::Postponed { cause, reason },
        })
    }

    /// The name of a job and the input of THINK 5 for one of its findings; `None` if the result has no such finding.
    async fn input(&self, cluster: &Cluster) -> Result<Option<(String, StepInput)>> {
        let Some(result) = self.store.result(&cluster.result).await? else {
            return Ok(None);
        };
        let Some(report) = result.report.as_deref() else {
            return Ok(None);
        };
        let nothing = RunSummary::default();
        let summary = result.summary.as_deref().unwrap_or(&nothing);
        let (finding, redact) = (&cluster.finding, self.services.redact);
        let is_known = report.findings.iter().any(|f| f.id == *finding);
        let name = report.job.name.as_ref().unwrap_or(&result.uri).clone();
        Ok(is_known.then(|| (name, advice_input(report, summary, finding, redact))))
    }

    fn object(&self, cluster: &Cluster, key: &str) -> ClusterAdvice {
        ClusterAdvice {
            version: ADVICE_VERSION,
            key: key.to_owned(),
            cluster: cluster.key.id(),
            cause: cluster.key.cause.to_owned(),
            script: cluster.key.script.clone(),
            role: cluster.key.role.clone(),
            result: cluster.result.clone(),
            finding: cluster.finding.clone(),
            program: self.program.clone(),
            job: String::new(),
            advice: None,
            text: String::new(),
            reason: None,
            engine: None,
            usage: Default::default(),
            remarks: Vec::new(),
        }
    }

    async fn write(&self, advice: &ClusterAdvice) -> Result<()> {
        let path = path_of(&advice.key);
        let mut object = serde_json::to_value(advice).map_err(|source| Error::Unreadable {
            place: path.to_string(),
            source,
        })?;
        // a server may repeat its key
        llm::hide_in(&mut object);
        let bytes = to_json(path.as_ref(), &object)?;
        self.store.replace(&path, bytes).await
    }
}

/// Advice as one paragraph: the summary, then what to do and why.
fn paragraph(advice: &Advice, suggestions: &[Suggestion], language: Language) -> String {
    let (end, colon) = (language.select("。", ". "), language.select("：", ": "));
    let recommended = advice.recommendations.iter().filter_map(|r| {
        let suggestion = suggestions.iter().find(|s| s.id == r.suggestion)?;
        Some(sentence(&suggestion.title, colon, &r.why))
    });
    let proposed = advice.additional.iter().map(|p: &Proposal| {
        let steps = p.steps.join(language.select("；", "; "));
        sentence(&p.title, colon, &steps)
    });
    let parts = std::iter::once(advice.text.trim().to_owned());
    let parts = parts.chain(recommended).chain(proposed);
    let parts: Vec<String> = parts
        .map(|part| part.trim_end_matches(['.', '。']).to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => parts.join(end) + end.trim_end(),
    }
}

fn sentence(title: &str, colon: &str, rest: &str) -> String {
    match rest.trim().is_empty() {
        true => title.to_owned(),
        false => format!("{title}{colon}{}", rest.trim()),
    }
}
