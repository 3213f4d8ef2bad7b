//! The time account of simulated jobs against the simulator's truth.

use diagnosis::Diagnosis;
use report::TimeAccount;
use serde_json::Value;
use simulator::{Scale, SimulatedJob, job_of_set, pair_of_set};

use crate::support::diagnose;

/// Seed without any use in calibration.
const SEED: u64 = 50_501;
const JOBS: usize = 60;

/// A simulated job and its diagnosis.
struct Diagnosed {
    truth: Value,
    has_events: bool,
    diagnosis: Diagnosis,
}

fn diagnosed(job: &SimulatedJob) -> Diagnosed {
    let dir = tempfile::tempdir().expect("a temporary folder");
    job.write(dir.path()).expect("a job can be written");
    let read = job::load(dir.path()).expect("a simulated job can be read");
    Diagnosed {
        truth: job.truth.clone(),
        has_events: job.files.contains_key("profile"),
        diagnosis: diagnose(&read),
    }
}

impl Diagnosed {
    fn account(&self) -> &TimeAccount {
        self.diagnosis.time.as_ref().expect("an account")
    }

    /// Seconds that the finding of a cause claims; `None` if it was not found.
    fn claimed(&self, cause: &str) -> Option<f64> {
        let mut findings = self.diagnosis.findings.iter();
        let finding = findings.find(|f| f.cause.code() == cause)?;
        let claims = self.account().segments.iter();
        let claims = claims.filter(|s| s.finding.as_ref() == Some(&finding.id));
        Some(claims.map(|s| s.seconds).sum())
    }

    fn assert_adds_up(&self) {
        let (account, name) = (self.account(), &self.truth["job"]);
        let total = self.truth["total_seconds"].as_f64().expect("a total");
        let mut at = 0.0;
        for s in &account.segments {
            assert!((s.start_seconds - at).abs() < 1e-6, "{name}: gap at {at}");
            assert!(!s.evidence.is_empty(), "{name}: {s:?} has no evidence");
            at += s.seconds;
        }
        assert!(
            (at - total).abs() <= 0.01 * total,
            "{name}: {at} of {total}"
        );
        for f in &self.diagnosis.findings {
            let saved = f.impact.as_ref().map_or(0.0, |i| i.seconds_saved);
            let claimed = self.claimed(f.cause.code()).unwrap_or(0.0);
            assert!(saved <= claimed + 1e-6, "{name}: {saved} of {claimed}");
        }
    }
}

/// Median deviation from the truth, as a share of the truth.
fn median_error(pairs: &[(f64, f64)]) -> f64 {
    let mut errors: Vec<f64> = pairs
        .iter()
        .map(|(is, truth)| (is / truth - 1.0).abs())
        .collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

#[test]
fn segments_claimed_by_a_cause_are_what_it_costs() {
    let mut pairs = Vec::new();
    for index in 0..JOBS {
        let Some(job) = job_of_set(SEED, index, None, Scale::Usual) else {
            continue;
        };
        let job = diagnosed(&job);
        if job.truth["state"] != "succeeded" || !job.has_events || job.diagnosis.time.is_none() {
            continue;
        }
        job.assert_adds_up();
        for cause in job.truth["causes"].as_array().into_iter().flatten() {
            let claimed = job.claimed(cause["cause"].as_str().expect("a code"));
            let truth = cause["seconds_saved"].as_f64();
            if job.truth["kind"] == "single" {
                pairs.extend(claimed.zip(truth));
            }
        }
    }
    assert!(pairs.len() >= 20, "{} pairs", pairs.len());
    let error = median_error(&pairs);
    assert!(
        error <= 0.2,
        "median error {error:.3} over {} jobs",
        pairs.len()
    );
}

#[test]
fn what_two_findings_save_together_is_what_both_causes_cost() {
    let mut pairs = Vec::new();
    for index in 0..JOBS {
        let Some(job) = pair_of_set(SEED, index, Scale::Usual) else {
            continue;
        };
        let job = diagnosed(&job);
        job.assert_adds_up();
        let truth = job.truth["avoidable_seconds"].as_f64();
        pairs.extend(job.account().avoidable_seconds.zip(truth));
    }
    assert!(pairs.len() >= 20, "{} pairs", pairs.len());
    let error = median_error(&pairs);
    assert!(
        error <= 0.2,
        "median error {error:.3} over {} jobs",
        pairs.len()
    );
}
