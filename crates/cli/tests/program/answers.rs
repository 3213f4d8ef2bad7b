//! A job in, the right answer out: simulated cases, real folders.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use testkit::shared;

use crate::support::{User, case, cases, root};

fn causes(report: &Value) -> Vec<&str> {
    report["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter_map(|f| f["cause"].as_str())
        .collect()
}

#[test]
fn the_injected_cause_is_the_first_finding_and_everything_hangs_on_it() {
    let report = User::new().report(
        &case("join-hot-key-skew"),
        "--question 'Why is this job so slow?'",
    );
    assert_eq!(report["verdict"], "problem");
    assert_eq!(causes(&report)[0], "skew.join_hot_key");
    let first = &report["findings"][0];
    assert_eq!(first["stage"], "SV3_Combine_Reduce");
    let known: Vec<&Value> = report["evidence"]
        .as_array()
        .expect("evidence")
        .iter()
        .map(|e| &e["id"])
        .collect();
    let cited = first["evidence"].as_array().expect("cited");
    assert!(!cited.is_empty() && cited.iter().all(|id| known.contains(&id)));
    for step in ["think1", "think2", "think3", "think4", "think5"] {
        let about_skew = report["experiences"]
            .as_array()
            .expect("experiences")
            .iter()
            .any(|e| {
                e["step"] == step
                    && e["chunk"]
                        .as_str()
                        .is_some_and(|c| c.contains("skew") || c.contains("hot"))
            });
        assert!(about_skew, "{step} has no fitting experience");
    }
    let suggestion = &report["suggestions"][0];
    assert_eq!(suggestion["finding"], "F1");
    assert!(
        suggestion["diff"]
            .as_str()
            .is_some_and(|d| d.starts_with("--- "))
    );
    assert_eq!(suggestion["verified"]["parses"], true);
}

#[test]
fn evidence_is_in_the_files() {
    let job = case("join-hot-key-skew");
    let report = User::new().report(&job, "");
    let statistics =
        fs::read_to_string(job.join("__ScopeRuntimeStatistics__.xml")).expect("statistics");
    let mut looked_up = 0;
    for item in report["evidence"].as_array().expect("evidence") {
        let locator = item["source"]["locator"].as_str().unwrap_or("");
        let derived = item["metric"].as_str().is_some_and(|m| m.contains(" / "));
        if item["source"]["file"] == "__ScopeRuntimeStatistics__.xml" && !derived {
            let counter = locator.rsplit('@').next().expect("a counter");
            let written = format!("{counter}=\"{}\"", item["value"]).replace(".0\"", "\"");
            assert!(
                statistics.contains(&written),
                "{written} is not in the file"
            );
            looked_up += 1;
        }
    }
    assert!(
        looked_up >= 2,
        "only {looked_up} numbers could be looked up"
    );
}

#[test]
fn a_healthy_job_is_left_alone() {
    let report = User::new().report(&case("healthy"), "");
    assert_eq!(report["verdict"], "healthy");
    assert_eq!(report["problem_type"], "none");
    assert!(
        causes(&report).is_empty() && report["suggestions"].as_array().is_some_and(Vec::is_empty)
    );
}

/// Every case with what is true about it.
fn truths() -> Vec<(PathBuf, Value)> {
    simulator::cases()
        .iter()
        .map(|case| cases().join(case.name))
        .map(|folder| {
            let truth = fs::read_to_string(folder.join("truth.json")).expect("a truth");
            (folder, serde_json::from_str(&truth).expect("JSON"))
        })
        .collect()
}

/// Its causes are found, and nothing else but what may be named as well.
#[test]
fn every_case_gets_its_causes_and_no_others() {
    let user = User::new();
    let mut wrong = Vec::new();
    for (folder, truth) in truths() {
        let report = user.report(&folder.join("job"), "--no-store");
        let wanted: Vec<&str> = truth["causes"]
            .as_array()
            .expect("causes")
            .iter()
            .filter_map(|c| c["cause"].as_str())
            .collect();
        let extra: Vec<&str> = truth["acceptable_extra"]
            .as_array()
            .expect("extra")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let found = causes(&report);
        let missed = wanted.iter().any(|c| !found.contains(c));
        let invented = found
            .iter()
            .any(|c| !wanted.contains(c) && !extra.contains(c));
        if missed || invented || report["verdict"] != truth["verdict"] {
            wrong.push(format!(
                "{}: wanted {wanted:?}, found {found:?} ({})",
                folder.display(),
                report["verdict"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// At think3 and think5 a playbook of the cause is among the first three chunks, for a question in either language.
#[test]
fn each_cause_meets_its_own_experience() {
    let user = User::new();
    let mut poor = Vec::new();
    for (folder, truth) in truths() {
        let Some(cause) = truth["causes"][0]["cause"].as_str() else {
            continue;
        };
        for question in [
            "这个作业为什么慢？应该怎么改？",
            "Why is this job slow, and what should I change?",
        ] {
            let flags = format!("--no-store --question '{question}'");
            let report = user.report(&folder.join("job"), &flags);
            for step in ["think3", "think5"] {
                let fits = report["experiences"]
                    .as_array()
                    .expect("experiences")
                    .iter()
                    .any(|e| {
                        let document = e["chunk"]
                            .as_str()
                            .unwrap_or("")
                            .split('#')
                            .next()
                            .unwrap_or("");
                        let text = fs::read_to_string(root().join("knowledge").join(document))
                            .unwrap_or_default();
                        let front = text.split("\n---").next().unwrap_or("");
                        e["step"] == step
                            && e["rank"].as_u64() <= Some(3)
                            && document.starts_with("experience/")
                            && front.contains(cause)
                    });
                if !fits {
                    poor.push(format!("{cause} at {step} for {question}"));
                }
            }
        }
    }
    assert!(
        poor.is_empty(),
        "{} without a playbook of the cause:\n{}",
        poor.len(),
        poor.join("\n")
    );
}

#[test]
fn real_folders_are_read_and_only_the_failed_one_has_a_finding() {
    let Some(jobs) = shared("real/jobs") else {
        return;
    };
    let user = User::new();
    for entry in fs::read_dir(jobs).expect("jobs") {
        let folder = entry.expect("entry").path();
        let report = user.report(&folder, "--no-store");
        let failed = folder.ends_with("usql-runtime-failure");
        let expected: &[&str] = if failed { &["failure.user_code"] } else { &[] };
        assert_eq!(causes(&report), expected, "{}", folder.display());
    }
}

#[test]
fn the_antisemijoin_shows_its_stages_and_the_estimate_next_to_the_count() {
    let Some(jobs) = shared("real/jobs") else {
        return;
    };
    let job = jobs.join("usql-antisemijoin");
    let line = format!("inspect '{}' --format json", job.display());
    let seen = User::new().run_plain(&line).json();
    let stages = seen["stages"].as_array().expect("stages");
    assert_eq!(stages.len(), 3);
    let operators = stages
        .iter()
        .flat_map(|s| s["operators"].as_array().expect("operators"));
    let join = operators
        .into_iter()
        .find(|o| o["id"] == "Join_5")
        .expect("the join");
    assert_eq!(join["rows"], 535_621.0);
    assert_eq!(join["estimated_rows"], 1_047_020.0);
}
