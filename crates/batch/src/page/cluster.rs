//! The clusters of findings, as far as the page shows them.

#[derive(Debug)]
pub(super) struct Cluster {
    /// [`crate::cluster::ClusterKey::id`].
    pub(super) id: String,
    /// Index of the collected causes.
    pub(super) cause: u32,
    /// Index of the collected scripts; `None` if neither script nor name of the jobs is known.
    pub(super) script: Option<u32>,
    pub(super) role: Option<String>,
    pub(super) jobs: usize,
    pub(super) findings: usize,
    /// Findings for which some of a model's advice holds.
    pub(super) advised: usize,
    /// Parts of the jobs' avoidable seconds.
    pub(super) seconds: f64,
    /// The job whose finding costs most.
    pub(super) costliest: usize,
    highest: f64,
    /// Suggestion of the costliest finding.
    pub(super) suggestion: Option<u32>,
    /// What the page advises: that, or what a model says.
    pub(super) advice: Option<u32>,
    last: Option<usize>,
}

impl Cluster {
    pub(super) fn new(
        id: String,
        cause: u32,
        script: Option<u32>,
        role: Option<String>,
    ) -> Cluster {
        Cluster {
            id,
            cause,
            script,
            role,
            jobs: 0,
            findings: 0,
            advised: 0,
            seconds: 0.0,
            costliest: 0,
            highest: -1.0,
            suggestion: None,
            advice: None,
            last: None,
        }
    }

    /// Adds a finding; those of one job follow one another.
    pub(super) fn add(&mut self, job: usize, seconds: Option<f64>, suggestion: Option<u32>) {
        if self.last != Some(job) {
            self.jobs += 1;
            self.last = Some(job);
        }
        self.findings += 1;
        let seconds = seconds.unwrap_or(0.0);
        self.seconds += seconds;
        if seconds > self.highest {
            self.highest = seconds;
            self.costliest = job;
            self.suggestion = suggestion.or(self.suggestion);
            self.advice = self.suggestion;
        }
    }
}
