//! Findings that one change would fix: the same cause, in the same script, in stages that do the same.

/// What the findings of a cluster have in common; indexes of the collected texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ClusterKey {
    pub(super) cause: u32,
    /// `None` if neither script nor name of the job is known.
    pub(super) script: Option<u32>,
    pub(super) role: Option<String>,
}

#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) key: ClusterKey,
    pub(super) jobs: usize,
    /// Parts of the jobs' avoidable seconds.
    pub(super) seconds: f64,
    /// The job whose finding costs most.
    pub(super) costliest: usize,
    highest: f64,
    /// Suggestion of the costliest finding.
    pub(super) advice: Option<u32>,
    last: Option<usize>,
}

impl Cluster {
    pub(super) fn new(key: ClusterKey) -> Cluster {
        Cluster {
            key,
            jobs: 0,
            seconds: 0.0,
            costliest: 0,
            highest: -1.0,
            advice: None,
            last: None,
        }
    }

    /// Adds a finding; those of one job follow one another.
    pub(super) fn add(&mut self, job: usize, seconds: Option<f64>, advice: Option<u32>) {
        if self.last != Some(job) {
            self.jobs += 1;
            self.last = Some(job);
        }
        let seconds = seconds.unwrap_or(0.0);
        self.seconds += seconds;
        if seconds > self.highest {
            self.highest = seconds;
            self.costliest = job;
            self.advice = advice.or(self.advice);
        }
    }
}
