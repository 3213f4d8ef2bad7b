//! Simulated jobs of seeds without any use in calibration.

use crate::support::{score_folder, summarize};
use simulator::{Scale, cases, job_of_set, simulate};

/// Seed of the held-out set; calibration uses others, see the example `accuracy`.
const HELD_OUT_SEED: u64 = 770_077;

#[test]
fn every_cause_is_found_and_what_resembles_it_is_not() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut failures = Vec::new();
    for case in cases() {
        let job = simulate(&case.request).expect("a case can be simulated");
        let folder = dir.path().join(case.name);
        job.write(&folder).expect("a case can be written");
        let scored = score_folder(&folder, &job.truth);
        let near = job.truth["near_miss"].as_str();
        let silent = near.is_none_or(|cause| !scored.wrong.iter().any(|c| c == cause));
        if !scored.verdict_ok || !scored.missed.is_empty() || !silent {
            failures.push(format!(
                "{}: missed {:?}, wrong {:?}",
                case.name, scored.missed, scored.wrong
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_set_of_two_hundred_reaches_the_floors() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut scored = Vec::new();
    for index in 0..200 {
        let Some(job) = job_of_set(HELD_OUT_SEED, index, None, Scale::Usual) else {
            continue;
        };
        let folder = dir.path().join(format!("job-{index:03}"));
        job.write(&folder).expect("a job can be written");
        scored.push(score_folder(&folder, &job.truth));
        std::fs::remove_dir_all(&folder).expect("a job can be removed");
    }
    assert!(scored.len() >= 190, "{} jobs", scored.len());
    summarize(&scored).assert_floors();
}
