//! A job together with what every rule needs of it, computed once.

use job::Job;

use crate::settings::Settings;

/// What rules look at.
#[derive(Debug)]
pub struct View<'a> {
    /// The job.
    pub job: &'a Job,
    /// Thresholds in force.
    pub settings: &'a Settings,
}
