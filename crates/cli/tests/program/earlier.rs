//! The run store of version 0.1.0 is still read.

use std::fs;
use std::path::Path;

use serde_json::json;
use testkit::contains;

use crate::support::{User, items};

const SKEWED: &str = "01M80K13848C5DABFN2Q8XXBNR";
const EVEN: &str = "01M80K150MRVH9HEDEDQGB4M0D";

/// A user with a run store of version 0.1.0: two runs, and feedback on the first.
fn user() -> User {
    let user = User::new();
    let data = user.path("data/scopeagent");
    fs::create_dir_all(&data).expect("made");
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs-0.1.0.sqlite");
    fs::copy(store, data.join("runs.sqlite")).expect("copied");
    user
}

#[test]
fn runs_of_the_earlier_version_are_listed_and_shown() {
    let user = user();
    let rows = user.runs();
    let seen: Vec<_> = rows.iter().map(|r| [&r["run_id"], &r["verdict"]]).collect();
    assert_eq!(seen, [[EVEN, "healthy"], [SKEWED, "problem"]]);
    let run = |line: &str| user.run_plain(line);
    let report = run(&format!("runs show {SKEWED} --format json")).json();
    assert_eq!(report["question"], "Why is this job so slow?");
    assert_eq!(report["findings"][0]["cause"], "skew.join_hot_key");
    assert_eq!(report["findings"][0]["stage"], "SV3_Combine_Reduce");
    assert_eq!(report["findings"][0]["script_lines"], json!([31, 40]));
    assert_eq!(items(&report["suggestions"]).len(), 3);
    assert_eq!(items(&report["steps"]).len(), 5);
    let text = run(&format!("runs show {SKEWED}")).text();
    contains(text, ["skew.join_hot_key", "RouteQuality_V3"]);
    let page = run(&format!("runs show {EVEN} --format html")).text();
    contains(page, ["VoiceUsage_Eu", "健康"]);
    assert_eq!(run("runs export").text().lines().count(), 2);
}

#[test]
fn runs_of_the_earlier_version_are_compared() {
    let user = user();
    let compare = |format: &str| user.run_plain(&format!("compare {EVEN} {SKEWED} {format}"));
    contains(compare("--format json").text(), ["skew.join_hot_key"]);
    let facts = [
        "skew.join_hot_key",
        "1 min 47 s",
        "2 min 12 s",
        "142,517,262",
    ];
    contains(compare("--lang en").text(), facts);
}

#[test]
fn feedback_of_the_earlier_version_is_kept() {
    let user = user();
    let kinds = || user.run_plain("feedback effect --format json").json()["kinds"].take();
    let taught = kinds();
    assert_eq!(items(&taught).len(), 1);
    assert_eq!(taught[0]["cause"], "skew.join_hot_key");
    assert_eq!(taught[0]["subject"], "rewrite");
    assert!(taught[0]["accepted"].as_f64() > Some(0.0));

    // Saved notes go into a resolved case.
    fs::create_dir_all(user.path("knowledge/cases")).expect("made");
    let line = format!("--knowledge knowledge case from {SKEWED} --id kept");
    user.run_plain(&line).text();
    let case = user.read("knowledge/cases/kept.md");
    contains(case, ["worked at once", "21"]);

    let ignore = format!("feedback {SKEWED} ignore S2");
    user.run_plain(&ignore).text();
    assert_eq!(items(&kinds()).len(), 2);
}
