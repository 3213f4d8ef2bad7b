//! Data of the page from each result: a row per job in columns, equal texts stored once, and the clusters of findings.

use std::collections::{HashMap, HashSet};

use report::measure::book;
use report::{JobEngine, JobState, Verdict, visible_line};
use runs::history::{LEAST, standings};

use super::cluster::Cluster;
use crate::cluster::{ClusterKey, script_of, without_numbers};
use crate::result::Status;
use crate::tables::{FindingRow, JobRow, Rows};

/// Distinct texts, by first appearance.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) all: Vec<String>,
    at: HashMap<String, u32>,
}

impl Texts {
    pub(super) fn index(&mut self, text: &str) -> u32 {
        if let Some(index) = self.at.get(text) {
            return *index;
        }
        let index = self.all.len() as u32;
        self.all.push(shown(text));
        self.at.insert(text.to_owned(), index);
        index
    }

    fn maybe(&mut self, text: Option<&str>) -> Option<u32> {
        text.map(|text| self.index(text))
    }

    pub(super) fn of(&self, index: Option<u32>) -> Option<&str> {
        self.all.get(index? as usize).map(String::as_str)
    }
}

/// Outcome of a job, for the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Problem,
    Healthy,
    Inconclusive,
    /// There is no report.
    Failed,
}

/// A job; indexes point into the texts of [`Collected`].
#[derive(Debug)]
pub(super) struct Job {
    pub(super) key: String,
    pub(super) name: Option<String>,
    pub(super) uri: String,
    pub(super) id: Option<String>,
    pub(super) ending: Ending,
    /// Whether it failed or was cancelled on its cluster.
    pub(super) is_broken: bool,
    /// Usual seconds of the good runs of its script before it.
    pub(super) usual: Option<f64>,
    /// Whether it is slower than the spread of those runs allows.
    pub(super) is_slow: bool,
    pub(super) reason: Option<u32>,
    pub(super) owner: Option<u32>,
    pub(super) queue: Option<u32>,
    pub(super) script: Option<u32>,
    pub(super) week: Option<u32>,
    /// Seconds since 1970.
    pub(super) submitted: Option<i64>,
    pub(super) run: Option<f64>,
    pub(super) total: Option<f64>,
    pub(super) avoidable: Option<f64>,
    pub(super) cost: Option<f64>,
    pub(super) wasted: Option<f64>,
    pub(super) unit: Option<u32>,
    pub(super) suggestion: Option<u32>,
    pub(super) missing: Option<u32>,
    pub(super) lines: Option<[u32; 2]>,
    pub(super) findings: Vec<Part>,
}

/// A finding: the cluster that it belongs to, and its part of the avoidable seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) cluster: u32,
    pub(super) seconds: Option<f64>,
}

/// Scripts. Recurring jobs count as one script if only literals differ.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    at: HashMap<String, u32>,
    pub(super) all: Vec<Script>,
}

#[derive(Debug)]
pub(super) struct Script {
    /// Hash of the shape; `None` if only the name is known.
    shape: Option<String>,
    /// The common name of all its jobs, with differing numbers replaced by `#`.
    name: Option<String>,
}

/// All results, in the form that the page needs.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// Common start of the links to results.
    pub(super) base: String,
    /// Jobs that have no result yet.
    pub(super) pending: usize,
    /// Sign before amounts of money, and the price of an hour by unit.
    pub(super) currency: String,
    pub(super) prices: HashMap<&'static str, f64>,
    /// Keys of the jobs with a page of their own.
    pub(super) paged: HashSet<String>,
    pub(super) jobs: Vec<Job>,
    pub(super) owners: Texts,
    pub(super) queues: Texts,
    pub(super) weeks: Texts,
    pub(super) units: Texts,
    pub(super) causes: Texts,
    /// The engine of a cause's jobs, if it is the same.
    pub(super) engines: HashMap<u32, Option<JobEngine>>,
    pub(super) suggestions: Texts,
    pub(super) files: Texts,
    pub(super) reasons: Texts,
    pub(super) scripts: Scripts,
    pub(super) clusters: Vec<Cluster>,
    cluster_at: HashMap<ClusterKey, u32>,
}

impl Collected {
    pub(super) fn new(base: &str) -> Collected {
        Collected {
            base: base.to_owned(),
            ..Collected::default()
        }
    }

    pub(super) fn add(&mut self, rows: &Rows) {
        let row = &*rows.job;
        let script = self.scripts.index(row);
        let at = self.jobs.len();
        let findings = rows.findings.iter();
        let findings = findings.map(|f| self.part(f, script, at)).collect();
        let job = Job {
            key: shown(&row.key),
            name: row.name.as_deref().map(shown),
            uri: shown(&row.uri),
            id: row.job_id.as_deref().map(shown),
            ending: ending(row),
            is_broken: row.state.is_some_and(JobState::is_bad),
            usual: None,
            is_slow: false,
            reason: self.reasons.maybe(row.reason.as_deref()),
            owner: self.owners.maybe(row.owner.as_deref()),
            queue: self.queues.maybe(row.queue.as_deref()),
            script,
            week: self.weeks.maybe(row.week.map(|w| w.to_string()).as_deref()),
            submitted: row.submitted.map(|at| at.as_second()),
            run: row.values.get(&book::ELAPSED),
            total: row.total_seconds,
            avoidable: row.avoidable_seconds,
            cost: row.cost_hours,
            wasted: row.wasted_hours,
            unit: self.units.maybe(row.cost_unit.as_deref()),
            suggestion: self.suggestions.maybe(row.suggestion.as_deref()),
            missing: self.files.maybe(row.missing_file.as_deref()),
            lines: row.script_lines,
            findings,
        };
        self.jobs.push(job);
    }

    fn part(&mut self, row: &FindingRow, script: Option<u32>, job: usize) -> Part {
        let advice = row.suggestion.as_ref().map(|s| s.title.as_str());
        let advice = self.suggestions.maybe(advice);
        let next = self.clusters.len() as u32;
        let index = *self.cluster_at.entry(row.cluster.clone()).or_insert(next);
        if index == next {
            let cause = self.causes.index(row.cluster.cause);
            let engine = self.engines.entry(cause).or_insert(row.job.engine);
            *engine = engine.filter(|engine| Some(*engine) == row.job.engine);
            let role = row.cluster.role.as_deref().map(shown);
            let id = row.cluster.id();
            self.clusters.push(Cluster::new(id, cause, script, role));
        }
        let seconds = row.avoidable_seconds;
        if let Some(cluster) = self.clusters.get_mut(index as usize) {
            cluster.add(job, seconds, advice);
        }
        Part {
            cluster: index,
            seconds,
        }
    }

    /// Compares each run with the earlier runs of its script.
    pub(super) fn mark_regressions(&mut self) {
        let mut by_script: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, job) in self.jobs.iter().enumerate() {
            if let (Some(script), Some(_), Some(_)) = (job.script, job.submitted, job.run) {
                by_script.entry(script).or_default().push(at);
            }
        }
        for mut runs in by_script.into_values().filter(|runs| runs.len() > LEAST) {
            runs.sort_by_key(|at| self.jobs[*at].submitted);
            let time = |at: &usize| self.jobs[*at].run.filter(|_| !self.jobs[*at].is_broken);
            let standings = standings(runs.iter().map(time), LEAST);
            for (at, standing) in runs.into_iter().zip(standings) {
                self.jobs[at].usual = standing.usual;
                self.jobs[at].is_slow = standing.is_regression;
            }
        }
    }

    /// Clusters by priority.
    pub(super) fn ranked_clusters(&self) -> Vec<&Cluster> {
        let mut clusters: Vec<&Cluster> = self.clusters.iter().collect();
        clusters.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(b.jobs.cmp(&a.jobs)));
        clusters
    }

    /// Jobs by priority.
    pub(super) fn ranked(&self) -> Vec<&Job> {
        let mut jobs: Vec<&Job> = self.jobs.iter().collect();
        let seconds = |job: &Job| job.avoidable.unwrap_or(-1.0);
        jobs.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
        jobs
    }
}

impl Scripts {
    fn index(&mut self, row: &JobRow) -> Option<u32> {
        let shape = row.script_shape.as_deref();
        let name = row.name.as_deref().map(shown);
        let key = script_of(shape, row.name.as_deref())?;
        let next = self.all.len() as u32;
        let index = *self.at.entry(key).or_insert(next);
        match self.all.get_mut(index as usize) {
            Some(script) => script.widen(name),
            None => self.all.push(Script {
                shape: shape.map(shown),
                name,
            }),
        }
        Some(index)
    }

    /// Names of the scripts for people: distinct, if necessary by the hash.
    pub(super) fn labels(&self) -> Vec<String> {
        let mut used: HashMap<&str, usize> = HashMap::new();
        for name in self.all.iter().filter_map(|s| s.name.as_deref()) {
            *used.entry(name).or_default() += 1;
        }
        let label = |script: &Script| match (&script.name, &script.shape) {
            (Some(name), Some(shape)) if used.get(name.as_str()).is_some_and(|n| *n > 1) => {
                format!("{name} ({})", report::format::cut(shape, 6))
            }
            (Some(name), _) => name.clone(),
            (None, shape) => shape.clone().unwrap_or_default(),
        };
        self.all.iter().map(label).collect()
    }
}

impl Script {
    /// Makes the name fit one more job.
    fn widen(&mut self, name: Option<String>) {
        match (&self.name, name) {
            (Some(known), Some(name)) if *known != name => {
                let pattern = without_numbers(known);
                // if the names of the jobs share no pattern, the first one names the script
                if pattern == without_numbers(&name) {
                    self.name = Some(pattern);
                }
            }
            (None, name) => self.name = name,
            _ => {}
        }
    }
}

fn ending(row: &JobRow) -> Ending {
    match (row.status, row.verdict) {
        (Status::Done, Some(Verdict::Problem)) => Ending::Problem,
        (Status::Done, Some(Verdict::Healthy)) => Ending::Healthy,
        (Status::Done, Some(Verdict::InsufficientInformation)) => Ending::Inconclusive,
        (Status::Failed, _) | (_, None) => Ending::Failed,
    }
}

fn shown(text: &str) -> String {
    visible_line(text).into_owned()
}
