//! Asks a model about the clusters of a store, several at a time.

use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::reasoner::ReasonerError;
use agent::{AnalyzeError, Services, Silent};
use futures::StreamExt;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::claims::{Claimed, Claims};
use super::clusters::{Cluster, clusters};
use super::members::input;
use super::object::{self, ADVICE_VERSION, ClusterAdvice, key_of, path_of, to_json};
use crate::error::{Error, Result};
use crate::result::Program;
use crate::store::Store;

/// Calls that fail one after the other until no more are made: the server or the profile is at fault then.
const IN_A_ROW: usize = 10;

/// Threads on which clusters are worked on; calls themselves take hardly any time of them.
const THREADS: usize = 2;

/// Until clusters that others claimed are looked at again.
const PAUSE: Duration = Duration::from_secs(2);

/// Configuration of one advising process.
pub struct Advising<'a> {
    pub store: &'a Store,
    /// The parts of program and configuration that affect the advice.
    pub program: Program,
    pub services: &'a Services<'a>,
    /// Clusters at a time: more than the budget of `services` has places for calls, so that prompts are made and answers read while
    /// others are under way.
    pub concurrency: usize,
    /// How long another process may be silent until its claims are taken over.
    pub patience: Duration,
    pub cancel: CancellationToken,
}

/// The outcome for a cluster.
#[derive(Debug)]
pub enum Outcome {
    /// There was advice already, or another process wrote it.
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
    /// Another process is asking.
    Others,
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

/// How far a call is, for all its threads.
struct Course<'a> {
    clusters: usize,
    report: &'a mut (dyn FnMut(&Outcome, usize) + Send),
    /// Calls that failed since the last that did not.
    failed: usize,
    stopped: Option<Stopped>,
}

impl Course<'_> {
    fn note(&mut self, outcome: &Outcome) {
        (self.report)(outcome, self.clusters);
        match outcome {
            Outcome::Known | Outcome::Others | Outcome::Interrupted => {}
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

fn locked<'m, 'a>(course: &'m Mutex<Course<'a>>) -> MutexGuard<'m, Course<'a>> {
    course.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Advising<'_> {
    /// Advises on all clusters without advice, the costliest first, until other processes have done so with those that they claimed.
    /// Reports each outcome as it comes.
    ///
    /// # Errors
    /// If the store cannot be read or written; written advice stays.
    pub fn run(
        &self,
        runtime: &Handle,
        retry_failed: bool,
        report: &mut (dyn FnMut(&Outcome, usize) + Send),
    ) -> Result<Totals> {
        let clusters = runtime.block_on(clusters(self.store))?;
        let claims = Claims::new(self.store, self.patience);
        runtime.block_on(claims.begin())?;
        let over = CancellationToken::new();
        let stopped = std::thread::scope(|scope| {
            scope.spawn(|| runtime.block_on(over.run_until_cancelled(claims.keep())));
            let _over = over.clone().drop_guard();
            if retry_failed {
                runtime.block_on(self.forget_failures(&claims))?;
            }
            self.all(runtime, &claims, &clusters, report)
        });
        runtime.block_on(claims.end())?;
        Ok(Totals {
            clusters: clusters.len(),
            stopped: stopped?,
        })
    }

    async fn forget_failures(&self, claims: &Claims<'_>) -> Result<()> {
        for advice in object::all(self.store).await? {
            if advice.advice.is_none() {
                claims.forget(&advice.key).await?;
                self.store.delete(&path_of(&advice.key)).await?;
            }
        }
        Ok(())
    }

    /// Uses all threads for prompts and answers, so that a call never waits for the prompts of others.
    fn all(
        &self,
        runtime: &Handle,
        claims: &Claims<'_>,
        clusters: &[Cluster],
        report: &mut (dyn FnMut(&Outcome, usize) + Send),
    ) -> Result<Option<Stopped>> {
        let course = Mutex::new(Course {
            clusters: clusters.len(),
            report,
            failed: 0,
            stopped: None,
        });
        let threads = THREADS.min(self.concurrency).max(1);
        let ended: Vec<Result<()>> = std::thread::scope(|scope| {
            let (course, shares) = (&course, 0..threads);
            let started = shares.map(|first| {
                let share = clusters.iter().skip(first).step_by(threads).collect();
                let places = (self.concurrency / threads).max(1);
                scope.spawn(move || runtime.block_on(self.share(claims, share, places, course)))
            });
            let started: Vec<_> = started.collect();
            let ended = started.into_iter().map(|thread| thread.join());
            let ended = ended.map(|end| end.unwrap_or_else(|panic| resume_unwind(panic)));
            ended.collect()
        });
        ended.into_iter().collect::<Result<()>>()?;
        Ok(locked(&course).stopped.take())
    }

    /// Advises on clusters, `places` at a time.
    async fn share(
        &self,
        claims: &Claims<'_>,
        mut open: Vec<&Cluster>,
        places: usize,
        course: &Mutex<Course<'_>>,
    ) -> Result<()> {
        let is_over = || self.cancel.is_cancelled() || locked(course).stopped.is_some();
        while !open.is_empty() && !is_over() {
            let round = std::mem::take(&mut open);
            let mut outcomes = std::pin::pin!(
                futures::stream::iter(&round)
                    // calls under way are paid for: they come to their end
                    .take_while(|_| std::future::ready(!is_over()))
                    .map(|cluster| async move { (*cluster, self.one(claims, cluster).await) })
                    .buffer_unordered(places)
            );
            let mut has_moved = false;
            while let Some((cluster, outcome)) = outcomes.next().await {
                let outcome = outcome.inspect_err(|error| {
                    // the store is unusable: the other threads start no further call
                    locked(course).stopped = Some(Stopped::Failures(error.one_line()));
                })?;
                has_moved |= matches!(outcome, Outcome::Known | Outcome::Advised(_));
                if matches!(outcome, Outcome::Others) {
                    open.push(cluster);
                }
                locked(course).note(&outcome);
            }
            if !open.is_empty() && !has_moved {
                tokio::select! {
                    () = tokio::time::sleep(PAUSE.min(self.patience / 3)) => {}
                    () = self.cancel.cancelled() => {}
                }
            }
        }
        Ok(())
    }

    async fn one(&self, claims: &Claims<'_>, cluster: &Cluster) -> Result<Outcome> {
        let key = key_of(&cluster.key, &self.program);
        let cause = cluster.key.cause.to_owned();
        let n = match claims.claim(&key).await? {
            Claimed::Done => return Ok(Outcome::Known),
            Claimed::Others => return Ok(Outcome::Others),
            Claimed::Hopeless(reason) => {
                let advice = ClusterAdvice {
                    reason: Some(reason.clone()),
                    ..self.object(cluster, &key)
                };
                self.write(&advice).await?;
                return Ok(Outcome::Failed { cause, reason });
            }
            Claimed::Mine(n) => n,
        };
        let result = self.store.result(&cluster.result).await?;
        let redact = self.services.redact;
        let Some(input) = result.and_then(|r| input(&r, &cluster.finding, redact)) else {
            claims.give_back(&key, n).await?;
            let reason = "its result was replaced".to_owned();
            return Ok(Outcome::Postponed { cause, reason });
        };
        let error = match agent::advise(input, self.services, &mut Silent).await {
            Ok(advised) => {
                let advice = ClusterAdvice {
                    advice: Some(advised.advice),
                    engine: Some(advised.engine),
                    usage: advised.usage,
                    remarks: advised.remarks,
                    ..self.object(cluster, &key)
                };
                return Ok(match self.write(&advice).await? {
                    true => Outcome::Advised(Box::new(advice)),
                    false => Outcome::Known,
                });
            }
            Err(error) => error,
        };
        let reason = llm::hide(&report::with_causes(&error)).into_owned();
        let AnalyzeError::Reasoner { source, .. } = error else {
            claims.fail(&key, n, &reason).await?;
            return Ok(Outcome::Postponed { cause, reason });
        };
        use ReasonerError::{Budget, Cancelled, CostCap, Permanent, Transient};
        match &source {
            // the failure is not the cluster's fault
            Budget(_) | Cancelled | CostCap { .. } | Permanent { .. } | Transient { .. } => {
                claims.give_back(&key, n).await?;
            }
            _ => claims.fail(&key, n, &reason).await?,
        }
        Ok(match source {
            Budget(reason) => Outcome::Stopped(reason),
            Cancelled => Outcome::Interrupted,
            _ => Outcome::Postponed { cause, reason },
        })
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
            advice: None,
            reason: None,
            engine: None,
            usage: Default::default(),
            remarks: Vec::new(),
        }
    }

    async fn write(&self, advice: &ClusterAdvice) -> Result<bool> {
        let path = path_of(&advice.key);
        let mut object = serde_json::to_value(advice).map_err(|source| Error::Unreadable {
            place: path.to_string(),
            source,
        })?;
        // a server may repeat its key
        llm::hide_in(&mut object);
        let bytes = to_json(path.as_ref(), &object)?;
        self.store.create(&path, bytes).await
    }
}
