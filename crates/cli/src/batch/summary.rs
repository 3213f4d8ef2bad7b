//! Summary of a batch: verdicts, causes, potential savings.

use std::collections::BTreeMap;

use report::Verdict;
use serde::Serialize;

use super::{Line, Outcome};

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// Jobs with a report.
    pub(crate) done: usize,
    /// Jobs without one.
    pub(crate) failed: usize,
    pub(crate) problem: usize,
    pub(crate) healthy: usize,
    pub(crate) insufficient_information: usize,
    /// Total run time of the jobs that report it, in seconds.
    pub(crate) elapsed_seconds: f64,
    /// Seconds saved by fixing the costliest finding of each job.
    pub(crate) seconds_saved: f64,
    pub(crate) causes: BTreeMap<String, OfCause>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct OfCause {
    pub(crate) jobs: usize,
    pub(crate) findings: usize,
    /// Seconds saved by fixing each finding on its own.
    pub(crate) seconds_saved: f64,
}

impl Summary {
    pub(crate) fn add(&mut self, line: &Line) {
        let done = match &line.outcome {
            Outcome::Failed { .. } => {
                self.failed += 1;
                return;
            }
            Outcome::Done(done) => done,
        };
        self.done += 1;
        match done.verdict {
            Verdict::Problem => self.problem += 1,
            Verdict::Healthy => self.healthy += 1,
            Verdict::InsufficientInformation => self.insufficient_information += 1,
        }
        self.elapsed_seconds += done.elapsed_seconds.unwrap_or(0.0);
        // Savings of two findings overlap; only the costliest is safe to add up.
        let saved = done.findings.iter().filter_map(|f| f.seconds_saved);
        self.seconds_saved += saved.fold(0.0, f64::max);
        let mut seen: Vec<&str> = Vec::new();
        for found in &done.findings {
            let of = self.causes.entry(found.cause.clone()).or_default();
            of.findings += 1;
            of.seconds_saved += found.seconds_saved.unwrap_or(0.0);
            if !seen.contains(&found.cause.as_str()) {
                of.jobs += 1;
                seen.push(&found.cause);
            }
        }
    }

    /// Causes by seconds saved, most first.
    pub(crate) fn ranked(&self) -> Vec<(&str, &OfCause)> {
        let mut ranked: Vec<_> = self.causes.iter().map(|(c, of)| (c.as_str(), of)).collect();
        ranked.sort_by(|x, y| {
            y.1.seconds_saved
                .total_cmp(&x.1.seconds_saved)
                .then_with(|| y.1.jobs.cmp(&x.1.jobs))
        });
        ranked
    }
}
