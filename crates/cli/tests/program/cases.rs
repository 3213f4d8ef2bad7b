//! Resolved cases: written from a run, checked, taken in by the index, found.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{User, case, root};

/// A user with a small knowledge folder of his own and one analysed job.
fn curator() -> (User, PathBuf) {
    let user = User::new();
    let knowledge = user.home.path().join("knowledge");
    for folder in ["experience", "cases"] {
        fs::create_dir_all(knowledge.join(folder)).expect("folder");
    }
    for file in [
        "experience/skew-join-hot-key.md",
        "glossary.toml",
        "files.toml",
    ] {
        fs::copy(root().join("knowledge").join(file), knowledge.join(file)).expect("copied");
    }
    user.program()
        .arg("analyze")
        .arg(case("join-hot-key-skew"))
        .args(["--lang", "en", "--format", "json"])
        .assert()
        .success();
    (user, knowledge)
}

fn written(user: &User, arguments: &[&str]) -> (PathBuf, String) {
    let output = user
        .program()
        .args(["case", "from", "last"])
        .args(arguments)
        .output()
        .expect("runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let path = user
        .home
        .path()
        .join(String::from_utf8_lossy(&output.stdout).trim());
    let text = fs::read_to_string(&path).expect("the case");
    (path, text)
}

fn faults(user: &User, arguments: &[&str]) -> Vec<Value> {
    let output = user
        .program()
        .args(["case", "check", "--format", "json"])
        .args(arguments)
        .output()
        .expect("runs");
    let faults: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let expected = if faults.is_empty() { 0 } else { 10 };
    assert_eq!(output.status.code(), Some(expected));
    faults
}

#[test]
fn a_case_is_written_checked_indexed_and_found() {
    let (user, _) = curator();
    let (path, text) = written(&user, &["--id", "trips-hot-key"]);
    assert!(path.ends_with("knowledge/cases/trips-hot-key.md"));
    assert!(text.contains("causes: [skew.join_hot_key]") && text.contains("7,460,676"));
    let open: Vec<Value> = faults(&user, &[]);
    assert!(
        !open.is_empty() && open.iter().all(|f| f["code"] == "fill-in"),
        "{open:?}"
    );
    let line = open[0]["line"].as_u64().expect("a line") as usize;
    assert!(
        text.lines()
            .nth(line - 1)
            .is_some_and(|l| l.contains("FILL IN"))
    );

    user.program()
        .args([
            "feedback",
            "last",
            "accept",
            "S1",
            "--note",
            "in production since May",
            "--saved-seconds",
            "18",
        ])
        .assert()
        .success();
    let (_, text) = written(&user, &["--id", "trips-hot-key", "--force"]);
    assert!(
        text.contains("18 s saved") && text.contains("in production since May"),
        "{text}"
    );
    assert_eq!(
        faults(&user, &[path.to_str().expect("UTF-8")]),
        Vec::<Value>::new()
    );

    user.program().args(["index"]).assert().success();
    let output = user
        .program()
        .args([
            "search",
            "one vertex gets 22 % of the rows, production since May",
            "--format",
            "json",
        ])
        .output()
        .expect("runs");
    let hits: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(
        hits.iter()
            .any(|h| h["chunk"]["document"] == "cases/trips-hot-key.md"),
        "the new case is not among {} hits",
        hits.len()
    );
}

#[test]
fn names_paths_and_literals_are_masked_unless_that_is_declined() {
    let (user, _) = curator();
    user.program()
        .args(["feedback", "last", "accept", "S1"])
        .assert()
        .success();
    let private = [
        "TripId",
        "5880333575",
        "RouteQuality",
        "TripPoints",
        "psilva",
        "translate.quality",
        "补充维度信息",
    ];
    let (_, plain) = written(&user, &["--id", "plain", "--no-redact"]);
    assert!(plain.contains("TripId") && plain.contains("5880333575"));
    let (_, masked) = written(&user, &["--id", "masked"]);
    for name in private {
        assert!(!masked.contains(name), "{name} is left in\n{masked}");
    }
    assert!(
        masked.contains("SV3_Combine_Reduce"),
        "stages are the engine's names"
    );
    assert!(masked.contains("```diff"), "the change is still there");
}

#[test]
fn a_case_is_never_overwritten_by_accident_and_needs_a_finding() {
    let (user, _) = curator();
    written(&user, &["--id", "a"]);
    user.program()
        .args(["case", "from", "last", "--id", "a"])
        .assert()
        .code(3);
    user.program()
        .args(["case", "from", "last", "--id", "../a"])
        .assert()
        .code(2);
    user.program()
        .arg("analyze")
        .arg(case("healthy"))
        .assert()
        .success();
    user.program()
        .args(["case", "from", "last"])
        .assert()
        .code(3);
}

#[test]
fn a_later_run_measures_the_result() {
    let (user, _) = curator();
    user.program()
        .arg("analyze")
        .arg(case("near-join-hot-key-skew"))
        .assert()
        .success();
    let output = user
        .program()
        .args([
            "case", "from", "last~1", "--after", "last", "--id", "measured",
        ])
        .output()
        .expect("runs");
    assert!(output.status.success());
    let text =
        fs::read_to_string(user.home.path().join("knowledge/cases/measured.md")).expect("case");
    assert!(
        text.contains("measured)") && text.contains("1 min 47 s after it"),
        "{text}"
    );
}

#[test]
fn every_case_of_the_project_has_the_form() {
    let output = User::new()
        .expert()
        .args(["case", "check"])
        .output()
        .expect("runs");
    let faults = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{faults}");
}
