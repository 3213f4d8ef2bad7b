//! The clusters of findings, in the form that the page needs.

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
    /// Parts of the jobs' avoidable seconds.
    pub(super) seconds: f64,
    /// The job with the costliest finding.
    pub(super) costliest: usize,
    highest: f64,
    /// Suggestion of the costliest finding.
    pub(super) suggestion: Option<u32>,
    /// The page's advice: the suggestion above, or the model's advice.
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
            seconds: 0.0,
            costliest: 0,
            highest: -1.0,
            suggestion: None,
            advice: None,
            last: None,
        }
    }

    /// Adds a finding; findings of one job must be consecutive.
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
