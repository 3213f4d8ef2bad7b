//! The run store of version 0.1.0 is still read.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::User;

const SKEWED: &str = "01M80K13848C5DABFN2Q8XXBNR";
const EVEN: &str = "01M80K150MRVH9HEDEDQGB4M0D";

/// A user whose data folder holds the run store of version 0.1.0: two runs, and feedback on the first.
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
    let seen: Vec<_> = rows.iter().map(|r| (&r["run_id"], &r["verdict"])).collect();
    let expected = [
        (json!(EVEN), json!("healthy")),
        (json!(SKEWED), json!("problem")),
    ];
    assert_eq!(
        seen,
        expected.each_ref().map(|(run, verdict)| (run, verdict))
    );
    let report = user
        .run_plain(&format!("runs show {SKEWED} --format json"))
        .json();
    assert_eq!(report["question"], "Why is this job so slow?");
    assert_eq!(report["findings"][0]["cause"], "skew.join_hot_key");
    assert_eq!(report["findings"][0]["stage"], "SV3_Combine_Reduce");
    assert_eq!(report["findings"][0]["script_lines"], json!([31, 40]));
    assert_eq!(report["suggestions"].as_array().map(Vec::len), Some(3));
    assert_eq!(report["steps"].as_array().map(Vec::len), Some(5));
    let text = user.run_plain(&format!("runs show {SKEWED}")).text();
    assert!(
        text.contains("skew.join_hot_key") && text.contains("RouteQuality_V3"),
        "{text}"
    );
    let page = user
        .run_plain(&format!("runs show {EVEN} --format html"))
        .text();
    assert!(
        page.contains("VoiceUsage_Eu") && page.contains("健康"),
        "{page}"
    );
    let exported = user.run_plain("runs export").text();
    assert_eq!(exported.lines().count(), 2);
}

#[test]
fn runs_of_the_earlier_version_are_compared() {
    let user = user();
    let compared = user
        .run_plain(&format!("compare {EVEN} {SKEWED} --format json"))
        .json();
    assert!(
        compared.to_string().contains("skew.join_hot_key"),
        "{compared}"
    );
    let text = user
        .run_plain(&format!("compare {EVEN} {SKEWED} --lang en"))
        .text();
    for fact in [
        "skew.join_hot_key",
        "1 min 47 s",
        "2 min 12 s",
        "142,517,262",
    ] {
        assert!(text.contains(fact), "{fact} is missing:\n{text}");
    }
}

#[test]
fn feedback_of_the_earlier_version_is_kept() {
    let user = user();
    let kinds = || user.run_plain("feedback effect --format json").json()["kinds"].take();
    let taught = kinds();
    assert_eq!(taught.as_array().map(Vec::len), Some(1));
    assert_eq!(taught[0]["cause"], "skew.join_hot_key");
    assert_eq!(taught[0]["subject"], "rewrite");
    assert!(
        taught[0]["accepted"]
            .as_f64()
            .is_some_and(|weight| weight > 0.0)
    );

    // What was noted and saved goes into a resolved case.
    fs::create_dir_all(user.path("knowledge/cases")).expect("made");
    let line = format!("--knowledge knowledge case from {SKEWED} --id kept");
    user.run_plain(&line).text();
    let case = user.read("knowledge/cases/kept.md");
    assert!(
        case.contains("worked at once") && case.contains("21"),
        "{case}"
    );

    user.run_plain(&format!("feedback {SKEWED} ignore S2"))
        .text();
    assert_eq!(kinds().as_array().map(Vec::len), Some(2));
}
