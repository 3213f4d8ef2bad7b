//! Sums over jobs: the same that the page's script computes over the jobs that a filter leaves.

use super::collect::{Collected, Ending, Job};

/// Sums over all jobs.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub(super) jobs: usize,
    /// By [`Ending`].
    pub(super) endings: [usize; 4],
    /// Seconds of the runs.
    pub(super) run: f64,
    /// Seconds from submission to end; the run time if that is unknown.
    pub(super) total: f64,
    pub(super) avoidable: f64,
    /// Cost and the part of it that was wasted, by unit.
    pub(super) costs: Vec<(f64, f64)>,
}

/// Jobs that have something in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    /// Index of their common property; `None` if it is unknown.
    pub(super) of: Option<u32>,
    pub(super) jobs: usize,
    pub(super) run: f64,
    pub(super) avoidable: f64,
}

impl Totals {
    pub(super) fn of(collected: &Collected) -> Totals {
        let mut totals = Totals {
            costs: vec![(0.0, 0.0); collected.units.all.len()],
            ..Totals::default()
        };
        for job in &collected.jobs {
            totals.jobs += 1;
            totals.endings[job.ending as usize] += 1;
            totals.run += job.run.unwrap_or(0.0);
            totals.total += job.total.or(job.run).unwrap_or(0.0);
            totals.avoidable += job.avoidable.unwrap_or(0.0);
            if let Some(cost) = job.unit.and_then(|u| totals.costs.get_mut(u as usize)) {
                cost.0 += job.cost.unwrap_or(0.0);
                cost.1 += job.wasted.unwrap_or(0.0);
            }
        }
        totals
    }

    pub(super) fn count(&self, ending: Ending) -> usize {
        self.endings[ending as usize]
    }
}

/// Groups jobs by a property with at most one value per job.
pub(super) fn groups(jobs: &[Job], of: impl Fn(&Job) -> Option<u32>) -> Vec<Group> {
    let mut groups = Groups::default();
    for job in jobs {
        let group = groups.at(of(job));
        group.jobs += 1;
        group.run += job.run.unwrap_or(0.0);
        group.avoidable += job.avoidable.unwrap_or(0.0);
    }
    groups
        .known
        .into_iter()
        .chain(groups.unknown)
        .filter(|g| g.jobs > 0)
        .collect()
}

/// Jobs by cause: a job counts for each of its causes, and each of its avoidable seconds for one of them.
pub(super) fn causes(collected: &Collected) -> Vec<Group> {
    let mut groups = Groups::default();
    for job in &collected.jobs {
        let mut seen: Vec<u32> = Vec::new();
        for part in &job.findings {
            let Some(cluster) = collected.clusters.get(part.cluster as usize) else {
                continue;
            };
            let group = groups.at(Some(cluster.cause));
            group.avoidable += part.seconds.unwrap_or(0.0);
            if !seen.contains(&cluster.cause) {
                seen.push(cluster.cause);
                group.jobs += 1;
                group.run += job.run.unwrap_or(0.0);
            }
        }
    }
    groups.known
}

#[derive(Default)]
struct Groups {
    known: Vec<Group>,
    unknown: Option<Group>,
}

impl Groups {
    fn at(&mut self, of: Option<u32>) -> &mut Group {
        let Some(index) = of else {
            return self.unknown.get_or_insert_default();
        };
        let index = index as usize;
        while self.known.len() <= index {
            let of = Some(self.known.len() as u32);
            self.known.push(Group {
                of,
                ..Group::default()
            });
        }
        &mut self.known[index]
    }
}

/// Groups by avoidable seconds, then jobs, most first.
pub(super) fn ranked(mut groups: Vec<Group>) -> Vec<Group> {
    groups.sort_by(|a, b| {
        let by_jobs = b.jobs.cmp(&a.jobs);
        b.avoidable.total_cmp(&a.avoidable).then(by_jobs)
    });
    groups
}
