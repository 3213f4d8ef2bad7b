//! The counts of a batch, its worst jobs, and the news since the report before it, for a short message.

use std::collections::HashSet;

use serde::Serialize;

use super::Page;
use super::collect::{Ending, Job};

/// Worst jobs in an overview.
const WORST: usize = 3;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Overview {
    pub problem: usize,
    pub healthy: usize,
    pub inconclusive: usize,
    /// Failed or cancelled on the cluster.
    pub broken: usize,
    /// Slower than the spread of the earlier runs of the same script.
    pub slow: usize,
    pub total_seconds: f64,
    pub avoidable_seconds: f64,
    /// Most avoidable time first.
    pub worst: Vec<Worst>,
    /// `None` if the folder had no earlier report.
    pub new: Option<New>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Worst {
    pub key: String,
    pub name: String,
    pub avoidable_seconds: f64,
    /// Share of the time from submission to end.
    pub avoidable_share: Option<f64>,
    pub suggestion: Option<String>,
}

/// Contents that the report before did not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct New {
    /// Results.
    pub jobs: usize,
    pub problem: usize,
    pub broken: usize,
    pub slow: usize,
    /// Clusters of findings.
    pub clusters: usize,
}

/// Keys of the results and clusters of an earlier report.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    pub(crate) jobs: HashSet<String>,
    pub(crate) clusters: HashSet<String>,
}

impl Page {
    /// Regressions must be marked.
    pub(crate) fn overview(&self, earlier: Option<&Earlier>) -> Overview {
        let collected = &self.collected;
        let count = |is: fn(&Job) -> bool| collected.jobs.iter().filter(|j| is(j)).count();
        let sum = |of: fn(&Job) -> Option<f64>| collected.jobs.iter().filter_map(of).sum();
        let worst = collected.ranked().into_iter().take(WORST);
        let worst = worst.filter_map(|job| {
            let avoidable_seconds = job.avoidable.filter(|s| *s > 0.0)?;
            let share = job.total.map(|total| avoidable_seconds / total);
            Some(Worst {
                key: job.key.clone(),
                name: job.name.as_ref().unwrap_or(&job.uri).clone(),
                avoidable_seconds,
                avoidable_share: share.filter(|s| s.is_finite()),
                suggestion: collected.suggestions.of(job.suggestion).map(str::to_owned),
            })
        });
        Overview {
            problem: count(|j| j.ending == Ending::Problem),
            healthy: count(|j| j.ending == Ending::Healthy),
            inconclusive: count(|j| j.ending == Ending::Inconclusive),
            broken: count(|j| j.is_broken),
            slow: count(|j| j.is_slow),
            total_seconds: sum(|j| j.total.or(j.run)),
            avoidable_seconds: sum(|j| j.avoidable),
            worst: worst.collect(),
            new: earlier.map(|earlier| self.new_since(earlier)),
        }
    }

    fn new_since(&self, earlier: &Earlier) -> New {
        let mut new = New::default();
        let jobs = self.collected.jobs.iter();
        for job in jobs.filter(|j| !earlier.jobs.contains(&j.key)) {
            new.jobs += 1;
            new.problem += usize::from(job.ending == Ending::Problem);
            new.broken += usize::from(job.is_broken);
            new.slow += usize::from(job.is_slow);
        }
        let clusters = self.collected.clusters.iter();
        new.clusters = clusters
            .filter(|c| !earlier.clusters.contains(&c.id))
            .count();
        new
    }
}
