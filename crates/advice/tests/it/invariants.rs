//! What holds for the account and the findings of every log, whatever its verdict.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use diagnosis::Diagnosis;
use report::{SegmentKind, Verdict};
use testkit::shared;

use crate::support::diagnose;

/// Share of the total from which time without a finding needs a remark.
const LARGE: f64 = 0.2;

/// Seconds below which nothing is reported.
const LITTLE_S: f64 = 3.0;

/// Seconds that a claim may exceed its segments by, for each of them: shorter parts are not told apart.
const ROUNDING_S: f64 = 0.15;

/// Longest time between two segments.
const GAP_S: f64 = 0.02;

/// Every violation of a diagnosis, in words.
fn violations(d: &Diagnosis) -> Vec<String> {
    use SegmentKind::{CapacityWait, Gc, Idle, Queue, Retry, Spill, Startup, Straggler};
    let Some(time) = &d.time else {
        return Vec::new();
    };
    let total: f64 = time.segments.iter().map(|s| s.seconds).sum();
    let mut found = Vec::new();
    let ends = time.segments.iter().map(|s| s.start_seconds + s.seconds);
    for (end, next) in ends.zip(time.segments.iter().skip(1)) {
        if (next.start_seconds - end).abs() > GAP_S {
            found.push(format!(
                "the account has no time from {end} to {}",
                next.start_seconds
            ));
        }
    }
    for finding in &d.findings {
        let claims = time.segments.iter();
        let claims = claims.filter(|s| s.finding.as_ref() == Some(&finding.id));
        let seconds: Vec<f64> = claims.map(|s| s.seconds).collect();
        let saved = finding.impact.as_ref().map_or(0.0, |i| i.seconds_saved);
        let most = seconds.iter().sum::<f64>() + ROUNDING_S * seconds.len().max(1) as f64;
        if saved > most {
            found.push(format!("{:?} saves {saved} of {most}", finding.cause));
        }
        if !seconds.is_empty() && seconds.iter().sum::<f64>() > saved + ROUNDING_S {
            found.push(format!(
                "{:?} claims {seconds:?} and saves {saved}",
                finding.cause
            ));
        }
    }
    let mut unclaimed: BTreeMap<String, (SegmentKind, f64)> = BTreeMap::new();
    for s in time.segments.iter().filter(|s| s.finding.is_none()) {
        // loading an application comes before its first stage, and no change of the job makes it shorter
        if let Some(stage) = s.stage.as_ref() {
            let bar = unclaimed.entry(format!("{:?} of {stage}", s.kind));
            bar.or_insert((s.kind, 0.0)).1 += s.seconds;
        }
    }
    for (bar, (kind, seconds)) in unclaimed {
        let is_loss = matches!(kind, Straggler | Retry | Spill | Gc | Startup);
        let is_wait = matches!(kind, CapacityWait | Queue | Idle);
        if seconds < (LARGE * total).max(LITTLE_S) || !(is_loss || is_wait) {
            continue;
        }
        if is_loss && d.verdict == Verdict::Healthy {
            found.push(format!("healthy in spite of {seconds} s of {bar}"));
        } else if time.remarks.is_empty() && d.findings.is_empty() {
            found.push(format!("nothing says why {bar} takes {seconds} s"));
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of logs");
    entries.flatten().map(|e| e.path()).collect()
}

#[test]
fn no_healthy_report_hides_a_loss_and_no_finding_saves_more_than_its_parts() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut jobs = entries(&cases);
    for set in [
        "spark-dev/logs",
        "spark-dev2/logs",
        "cases/spark",
        "jobs-dev",
    ] {
        jobs.extend(shared(set).iter().flat_map(|folder| entries(folder)));
    }
    let mut wrong = Vec::new();
    for path in jobs {
        let Ok(job) = job::load(&path) else { continue };
        let name = path.display();
        wrong.extend(
            violations(&diagnose(&job))
                .iter()
                .map(|v| format!("{name}: {v}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
