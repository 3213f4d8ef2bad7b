//! Totals of results: verdicts, causes, potential savings.

use std::collections::BTreeMap;

use report::{Finding, Verdict};
use serde::Serialize;

use crate::result::JobResult;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Jobs with a report.
    pub done: usize,
    /// Jobs without one.
    pub failed: usize,
    pub problem: usize,
    pub healthy: usize,
    pub insufficient_information: usize,
    /// Total run time of the jobs that report it, in seconds.
    pub elapsed_seconds: f64,
    /// The same from submission to end.
    pub total_seconds: f64,
    /// Seconds saved by all fixes of each job, as on the page of the batch.
    pub seconds_saved: f64,
    pub causes: BTreeMap<String, OfCause>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct OfCause {
    pub jobs: usize,
    pub findings: usize,
    /// Seconds saved by fixing each finding on its own.
    pub seconds_saved: f64,
}

impl Summary {
    pub fn add(&mut self, result: &JobResult) {
        let Some(report) = &result.report else {
            self.failed += 1;
            return;
        };
        self.done += 1;
        match report.verdict {
            Verdict::Problem => self.problem += 1,
            Verdict::Healthy => self.healthy += 1,
            Verdict::InsufficientInformation => self.insufficient_information += 1,
        }
        let elapsed = report.job.elapsed_seconds.unwrap_or(0.0);
        self.elapsed_seconds += elapsed;
        self.total_seconds += report.job.total_seconds.unwrap_or(elapsed);
        let time = report.time.as_ref();
        self.seconds_saved += time.and_then(|t| t.avoidable_seconds).unwrap_or(0.0);
        let saved = |finding: &Finding| finding.impact.as_ref().map_or(0.0, |i| i.seconds_saved);
        let mut seen = Vec::new();
        for finding in &report.findings {
            let of = self
                .causes
                .entry(finding.cause.code().to_owned())
                .or_default();
            of.findings += 1;
            of.seconds_saved += saved(finding);
            if !seen.contains(&finding.cause) {
                of.jobs += 1;
                seen.push(finding.cause);
            }
        }
    }

    /// Causes by seconds saved, most first.
    pub fn ranked(&self) -> Vec<(&str, &OfCause)> {
        let mut ranked: Vec<_> = self.causes.iter().map(|(c, of)| (c.as_str(), of)).collect();
        ranked.sort_by(|x, y| {
            y.1.seconds_saved
                .total_cmp(&x.1.seconds_saved)
                .then_with(|| y.1.jobs.cmp(&x.1.jobs))
        });
        ranked
    }
}
