//! The runs of a recurring job: time, cost, input and plan, regressions beyond the job's own spread, and their likely reason.

mod spread;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use report::measure::book;
use report::{Language, Report};
use schemars::JsonSchema;
use serde::Serialize;

use crate::RunSummary;
use crate::compare::{ComparedRun, Origin, compare, undated};
use crate::store::{RunFilter, RunRow, RunStatus, Store, StoreError};

use spread::WINDOW;
pub use spread::{LEAST, Standing, standings};

/// Runs of a job that are read, the newest.
const MOST: usize = 200;
/// Runs of the store that are looked through for them.
const SEARCHED: usize = 5000;
/// Growth of the input, or of tokens, that is worth mentioning.
const NOTABLE: f64 = 1.25;
/// Recent good runs considered for a comparison; the one with the most usual time is used.
const RECENT: usize = 5;

/// The runs of one job, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JobHistory {
    /// Name of the newest run.
    pub job: String,
    /// Unit of the cost: `vertex-hour`, `AU-hour` or `executor-core-hour`.
    pub unit: Option<String>,
    pub runs: Vec<PastRun>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct PastRun {
    pub run_id: String,
    /// When the job was submitted, RFC 3339; empty if no file says.
    pub submitted: String,
    pub failed: bool,
    pub verdict: Option<String>,
    pub top_cause: Option<String>,
    /// Seconds of the run, without compilation and queue.
    pub elapsed_seconds: Option<f64>,
    pub queued_seconds: Option<f64>,
    /// Vertex-hours or core-hours.
    pub cost: Option<f64>,
    pub input_bytes: Option<f64>,
    pub input_rows: Option<f64>,
    pub tokens: Option<f64>,
    /// Hash of stages, operators and exchanges; the same for runs with the same plan.
    pub plan: Option<String>,
    pub script: Option<String>,
    /// Median seconds of the good runs before it.
    pub usual_seconds: Option<f64>,
    /// Whether it is slower than the job's own spread allows.
    pub is_regression: bool,
    /// Whether the run before it was no regression.
    pub is_first_regression: bool,
    /// What else differs from the good runs before it.
    pub signals: Vec<Signal>,
    /// For the first run of a regression: the likely reason, compared with the last good run.
    pub reason: Option<String>,
    /// The good run that it was compared with.
    pub compared_with: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Signal {
    PlanChanged,
    ScriptChanged,
    /// The input is this many times the usual one.
    DataGrew {
        ratio: f64,
    },
    /// The tokens are this part of the usual ones.
    CapacityFell {
        ratio: f64,
    },
}

impl Store {
    /// The history of a job: of the run with this identifier (or `last`), else of the job with this name, otherwise of the newest
    /// job with this text in its name or folder. Only runs of jobs in places that may be seen count.
    ///
    /// # Errors
    /// If no run matches, or the store cannot be read.
    pub fn history(
        &self,
        job: &str,
        may_be_seen: &dyn Fn(&str) -> bool,
        language: Language,
    ) -> Result<JobHistory, StoreError> {
        let newest = match self.run(job) {
            Ok(row) if may_be_seen(&row.job) => row,
            Ok(_) | Err(StoreError::UnknownRun(_)) => self.newest_of(job, may_be_seen)?,
            Err(error) => return Err(error),
        };
        let report = self.report(&newest.run_id)?;
        let report = report.ok_or_else(|| StoreError::UnknownRun(job.into()))?;
        let newest = self.saved(&newest, report)?;
        let runs = self.runs_like(&newest, may_be_seen)?;
        Ok(JobHistory::of(&runs, language))
    }

    fn newest_of(
        &self,
        job: &str,
        may_be_seen: &dyn Fn(&str) -> bool,
    ) -> Result<RunRow, StoreError> {
        let rows = self.runs(&RunFilter {
            job: Some(job.to_owned()),
            limit: Some(MOST),
            ..RunFilter::default()
        })?;
        let finished = || {
            rows.iter()
                .filter(|row| row.status == RunStatus::Finished && may_be_seen(&row.job))
        };
        let named = finished().find(|row| row.job_name.as_deref() == Some(job));
        let found = named.or(finished().next()).cloned();
        found.ok_or_else(|| StoreError::UnknownRun(job.into()))
    }

    fn saved(&self, row: &RunRow, report: Report) -> Result<ComparedRun, StoreError> {
        Ok(ComparedRun {
            summary: self.summary(&row.run_id)?.unwrap_or_default(),
            report,
            origin: Origin::Kept,
        })
    }

    /// The finished runs of a run's job, oldest first; of several analyses of one run the newest.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn runs_like(
        &self,
        newest: &ComparedRun,
        may_be_seen: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<ComparedRun>, StoreError> {
        let name = newest.report.job.name.as_deref().map(undated);
        let script = newest.summary.script.as_ref().map(|s| s.file.clone());
        let rows = self.runs(&RunFilter {
            limit: Some(SEARCHED),
            ..RunFilter::default()
        })?;
        let may_be = |row: &&RunRow| {
            let other = row.job_name.as_deref().map(undated);
            row.status == RunStatus::Finished
                && may_be_seen(&row.job)
                && (other == name || (script.is_some() && row.script == script))
        };
        let mut runs: Vec<ComparedRun> = Vec::new();
        for row in rows.iter().filter(may_be) {
            let Some(report) = self.report(&row.run_id)? else {
                continue;
            };
            if runs.iter().any(|known| is_same_run(&known.report, &report)) {
                continue;
            }
            let run = self.saved(row, report)?;
            if is_same_job(newest, &run) {
                runs.push(run);
            }
            if runs.len() == MOST {
                break;
            }
        }
        runs.sort_by_key(|run| order(&run.report));
        Ok(runs)
    }
}

/// Whether two reports are about the same run of a job.
pub fn is_same_run(a: &Report, b: &Report) -> bool {
    let (a, b) = (&a.job, &b.job);
    (&a.id, &a.submitted, a.elapsed_seconds) == (&b.id, &b.submitted, b.elapsed_seconds)
        && (a.id.is_some() || a.submitted.is_some() || a.path == b.path)
}

/// Whether two runs are of one recurring job. A common name suffices, unless neither inputs nor script and plan agree: many
/// applications are called `app`. Without it, two of script, plan and inputs must agree; with another name, the script and nothing may
/// disagree.
fn is_same_job(a: &ComparedRun, b: &ComparedRun) -> bool {
    let agrees = |a: Option<String>, b: Option<String>| Some(a? == b?);
    let name = |run: &ComparedRun| run.report.job.name.as_deref().map(undated);
    let shape = |run: &ComparedRun| run.report.job.script_shape.clone();
    let inputs = |run: &ComparedRun| -> Vec<String> {
        run.summary
            .inputs
            .iter()
            .map(|i| undated(&i.name))
            .collect()
    };
    let (read, also) = (inputs(a), inputs(b));
    let are_known = !read.is_empty() && !also.is_empty();
    let signs = [
        agrees(shape(a), shape(b)),
        agrees(plan(&a.summary), plan(&b.summary)),
        are_known.then(|| {
            let common = read.iter().filter(|i| also.contains(i)).count();
            common * 2 >= read.len().max(also.len())
        }),
    ];
    let count = |agree| signs.iter().filter(|sign| **sign == Some(agree)).count();
    match agrees(name(a), name(b)) {
        Some(true) => count(true) > 0 || count(false) < 2,
        // A plan without names is common to many jobs, so another name needs the same script, too.
        Some(false) => signs[0] == Some(true) && count(true) >= 2 && count(false) == 0,
        None => count(true) >= 2 || (count(true) == 1 && count(false) == 0),
    }
}

/// The time of submission, then the run id, as it starts with the time of the analysis.
fn order(report: &Report) -> (Option<String>, String) {
    (report.job.submitted.clone(), report.run_id.clone())
}

/// A hash of stages, operators and exchanges, without numbers and names.
fn plan(summary: &RunSummary) -> Option<String> {
    if summary.stages.iter().all(|s| s.operators.is_empty()) {
        return None;
    }
    let mut parts: Vec<String> = Vec::new();
    for stage in &summary.stages {
        let operators = stage
            .operators
            .iter()
            .map(|o| crate::with_keys(&o.kind, &o.keys));
        parts.push(operators.collect::<Vec<_>>().join(" "));
    }
    let exchanges = summary
        .edges
        .iter()
        .map(|e| crate::with_keys(&e.exchange, &e.keys));
    parts.extend(exchanges);
    parts.sort();
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    Some(format!("{:08x}", hasher.finish() >> 32))
}

impl PastRun {
    fn of(run: &ComparedRun) -> PastRun {
        let (report, summary) = (&run.report, &run.summary);
        let job = &report.job;
        let number = |measure| crate::compare::total(summary, measure);
        PastRun {
            run_id: report.run_id.clone(),
            submitted: job.submitted.clone().unwrap_or_default(),
            failed: job.state.is_bad(),
            verdict: crate::code(&report.verdict),
            top_cause: report.findings.first().map(|f| f.cause.code().to_owned()),
            elapsed_seconds: job.elapsed_seconds,
            queued_seconds: number(&book::QUEUED),
            cost: report.cost.as_ref().and_then(|cost| cost.vertex_hours),
            input_bytes: number(&book::INPUT_BYTES),
            input_rows: number(&book::INPUT_ROWS),
            tokens: number(&book::TOKENS),
            plan: plan(summary),
            script: job.script_hash.clone(),
            ..PastRun::default()
        }
    }

    fn is_good(&self) -> bool {
        !self.failed && !self.is_regression && self.has_data()
    }

    /// Whether the files of the run showed a time, a cost or an input.
    pub fn has_data(&self) -> bool {
        let measured = [self.elapsed_seconds, self.cost, self.input()];
        self.failed || measured.iter().any(Option::is_some)
    }

    fn input(&self) -> Option<f64> {
        self.input_bytes.or(self.input_rows)
    }
}

impl JobHistory {
    /// The history of runs of one job, oldest first.
    pub fn of(runs: &[ComparedRun], language: Language) -> JobHistory {
        let newest = runs.last().map(|run| &run.report);
        let mut history = JobHistory {
            job: newest
                .map(|report| report.job.label().to_owned())
                .unwrap_or_default(),
            unit: newest.and_then(|report| Some(report.cost.as_ref()?.unit.clone())),
            runs: runs.iter().map(PastRun::of).collect(),
        };
        history.mark();
        for at in 0..runs.len() {
            let past = &history.runs[at];
            let Some(good) = history.last_good(at).filter(|_| past.is_first_regression) else {
                continue;
            };
            let comparison = compare(&runs[good], &runs[at], language);
            let compared_with = history.runs[good].run_id.clone();
            let past = &mut history.runs[at];
            past.reason = comparison.reasons.into_iter().next().map(|r| r.text);
            past.compared_with = Some(compared_with);
        }
        history
    }

    /// Times of the runs that ended well.
    pub(crate) fn times(&self) -> impl Iterator<Item = Option<f64>> {
        self.runs
            .iter()
            .map(|run| run.elapsed_seconds.filter(|_| !run.failed))
    }

    /// Marks regressions and signals.
    pub fn mark(&mut self) {
        let standings = standings(self.times(), LEAST);
        for (run, standing) in self.runs.iter_mut().zip(standings) {
            run.usual_seconds = standing.usual;
            run.is_regression = standing.is_regression;
            run.is_first_regression = standing.is_first;
        }
        for at in 0..self.runs.len() {
            let (before, rest) = self.runs.split_at_mut(at);
            rest[0].signals = signals(before, &rest[0]);
        }
    }

    /// Among the last good runs before a run, the one with the most usual time.
    pub fn last_good(&self, at: usize) -> Option<usize> {
        let usual = self.runs[at].usual_seconds;
        let good = (0..at).rev().filter(|n| self.runs[*n].is_good());
        let distance = |n: &usize| {
            let (time, usual) = (
                self.runs[*n].elapsed_seconds.unwrap_or(0.0),
                usual.unwrap_or(0.0),
            );
            (time - usual).abs()
        };
        good.take(RECENT)
            .min_by(|x, y| distance(x).total_cmp(&distance(y)))
    }
}

/// Differences of a run from the good runs before it.
fn signals(before: &[PastRun], run: &PastRun) -> Vec<Signal> {
    let good: Vec<&PastRun> = before.iter().filter(|run| run.is_good()).collect();
    let Some(last) = good.last() else {
        return Vec::new();
    };
    let mut signals = Vec::new();
    let differs = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
    // A plan that an earlier good run had is one of the job's usual plans.
    let plan_is_new = good.iter().all(|g| differs(&g.plan, &run.plan));
    if differs(&last.script, &run.script) {
        signals.push(Signal::ScriptChanged);
    }
    if plan_is_new {
        signals.push(Signal::PlanChanged);
    }
    let ratio = |of: fn(&PastRun) -> Option<f64>| {
        let mut usual: Vec<f64> = good
            .iter()
            .rev()
            .filter_map(|g| of(g))
            .take(WINDOW)
            .collect();
        let value = of(run).filter(|v| spread::is_outside(*v, &usual))?;
        usual.sort_by(f64::total_cmp);
        Some(value / usual.get(usual.len() / 2)?)
    };
    if let Some(ratio) = ratio(PastRun::input).filter(|r| *r >= NOTABLE) {
        signals.push(Signal::DataGrew { ratio });
    }
    let tokens = good.iter().rev().find_map(|g| g.tokens);
    if let Some(ratio) = run
        .tokens
        .zip(tokens)
        .map(|(now, usual)| now / usual)
        .filter(|r| *r <= 1.0 / NOTABLE)
    {
        signals.push(Signal::CapacityFell { ratio });
    }
    signals
}
