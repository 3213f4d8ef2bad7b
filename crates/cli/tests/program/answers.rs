//! A job in, the right answer out: simulated cases, real folders.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use testkit::shared;

use crate::support::{User, case, cases, items, root, texts};

fn causes(report: &Value) -> Vec<&str> {
    texts(&report["findings"], "cause")
}

#[test]
fn the_injected_cause_is_the_first_finding_and_everything_hangs_on_it() {
    let flags = "--question 'Why is this job so slow?'";
    let report = User::new().report(&case("join-hot-key-skew"), flags);
    assert_eq!(report["verdict"], "problem");
    assert_eq!(causes(&report)[0], "skew.join_hot_key");
    let first = &report["findings"][0];
    assert_eq!(first["stage"], "SV3_Combine_Reduce");
    let known = texts(&report["evidence"], "id");
    let cited = items(&first["evidence"]);
    let is_known = |id: &Value| id.as_str().is_some_and(|id| known.contains(&id));
    assert!(!cited.is_empty() && cited.iter().all(is_known));
    for step in ["think1", "think2", "think3", "think4", "think5"] {
        let mut given = items(&report["experiences"]).iter();
        let about_skew = given.any(|e| {
            let chunk = e["chunk"].as_str().unwrap_or_default();
            e["step"] == step
                && ["skew", "hot", "salting"]
                    .iter()
                    .any(|word| chunk.contains(word))
        });
        assert!(about_skew, "{step} has no fitting experience");
    }
    let suggestion = &report["suggestions"][0];
    assert_eq!(suggestion["finding"], "F1");
    let diff = suggestion["diff"].as_str();
    assert!(diff.is_some_and(|d| d.starts_with("--- ")));
    assert_eq!(suggestion["verified"]["parses"], true);
}

#[test]
fn a_script_beside_a_log_gives_the_line_and_the_diff() {
    let folder = root().join("tests/cases/spark-join-hot-key");
    let log = folder.join("app-20261122005702-0000.zstd");
    let user = User::new();
    for job in [&log, &folder] {
        let report = user.report(job, "");
        assert_eq!(
            report["findings"][0]["script_lines"],
            serde_json::json!([36, 36])
        );
        let diff = report["suggestions"][0]["diff"].as_str().expect("a diff");
        testkit::contains(
            diff,
            ["+spark.conf.set(\"spark.sql.adaptive.enabled\", \"true\")"],
        );
    }
    // alone, and among several scripts that could be of other logs
    let alone = user.path("alone.zstd");
    fs::copy(&log, &alone).expect("copied");
    let lines = || user.report(&alone, "")["findings"][0]["script_lines"].clone();
    assert!(lines().is_null());
    for name in ["one.py", "two.py"] {
        fs::copy(folder.join("visit_enrichment.py"), user.path(name)).expect("copied");
    }
    assert!(lines().is_null());
}

#[test]
fn evidence_is_in_the_files() {
    let job = case("join-hot-key-skew");
    let report = User::new().report(&job, "");
    let file = "__ScopeRuntimeStatistics__.xml";
    let statistics = fs::read_to_string(job.join(file)).expect("statistics");
    let mut looked_up = 0;
    for item in items(&report["evidence"]) {
        let locator = item["source"]["locator"].as_str().unwrap_or("");
        let derived = item["metric"].as_str().is_some_and(|m| m.contains(" / "));
        if item["source"]["file"] == file && !derived {
            let counter = locator.rsplit('@').next().expect("a counter");
            let written = format!("{counter}=\"{}\"", item["value"]).replace(".0\"", "\"");
            assert!(statistics.contains(&written), "no {written} in the file");
            looked_up += 1;
        }
    }
    assert!(looked_up >= 2, "only {looked_up} numbers were looked up");
}

#[test]
fn a_healthy_job_is_left_alone() {
    let report = User::new().report(&case("healthy"), "");
    assert_eq!(report["verdict"], "healthy");
    assert_eq!(report["problem_type"], "none");
    assert!(causes(&report).is_empty() && items(&report["suggestions"]).is_empty());
}

/// Every case with its true causes.
fn truths() -> Vec<(PathBuf, Value)> {
    let known = simulator::cases();
    let folders = known.iter().map(|c| cases().join(c.name));
    let with_truth = |folder: PathBuf| {
        let truth = fs::read_to_string(folder.join("truth.json")).expect("a truth");
        let truth = serde_json::from_str(&truth).expect("JSON");
        (folder.join("job"), truth)
    };
    folders.map(with_truth).collect()
}

/// The report finds the true causes, and no others except acceptable ones.
#[test]
fn section_1_every_case_gets_its_causes_and_no_others() {
    let user = User::new();
    let mut wrong = Vec::new();
    for (job, truth) in truths() {
        let report = user.report(&job, "--no-store");
        let found = causes(&report);
        let wanted = texts(&truth["causes"], "cause");
        let extra = items(&truth["acceptable_extra"]).iter();
        let allowed: Vec<&str> = extra
            .filter_map(Value::as_str)
            .chain(wanted.clone())
            .collect();
        let missed = wanted.iter().any(|c| !found.contains(c));
        let invented = found.iter().any(|c| !allowed.contains(c));
        if missed || invented || report["verdict"] != truth["verdict"] {
            let (job, verdict) = (job.display(), &report["verdict"]);
            wrong.push(format!(
                "{job}: wanted {wanted:?}, found {found:?} ({verdict})"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether the document of a chunk is a playbook of a cause.
fn is_playbook_of(cause: &str, chunk: &str) -> bool {
    let document = chunk.split('#').next().unwrap_or_default();
    let text = fs::read_to_string(root().join("knowledge").join(document)).unwrap_or_default();
    let front = text.split("\n---").next().unwrap_or_default();
    document.starts_with("experience/") && front.contains(cause)
}

/// At think3 and think5 a playbook of the cause is among the first three chunks, for a question in either language.
#[test]
fn each_cause_meets_its_own_experience() {
    let user = User::new();
    let mut poor = Vec::new();
    for (job, truth) in truths() {
        let Some(cause) = truth["causes"][0]["cause"].as_str() else {
            continue;
        };
        for question in [
            "这个作业为什么慢？应该怎么改？",
            "Why is this job slow, and what should I change?",
        ] {
            let report = user.report(&job, &format!("--no-store --question '{question}'"));
            for step in ["think3", "think5"] {
                let mut given = items(&report["experiences"]).iter();
                let fits = given.any(|e| {
                    e["step"] == step
                        && e["rank"].as_u64() <= Some(3)
                        && is_playbook_of(cause, e["chunk"].as_str().unwrap_or_default())
                });
                if !fits {
                    poor.push(format!("{cause} at {step} for {question}"));
                }
            }
        }
    }
    assert!(poor.is_empty(), "no playbook:\n{}", poor.join("\n"));
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
    let stages = items(&seen["stages"]);
    assert_eq!(stages.len(), 3);
    let mut operators = stages.iter().flat_map(|s| items(&s["operators"]));
    let join = operators.find(|o| o["id"] == "Join_5").expect("the join");
    assert_eq!(join["rows"], 535_621.0);
    assert_eq!(join["estimated_rows"], 1_047_020.0);
}
