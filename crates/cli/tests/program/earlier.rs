//! What version 0.1.0 wrote is still read: its run store, its index.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::User;

const SKEWED: &str = "01M80K13848C5DABFN2Q8XXBNR";
const EVEN: &str = "01M80K150MRVH9HEDEDQGB4M0D";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// A user whose data folder holds the run store of version 0.1.0: two runs, and feedback on the first.
fn user() -> User {
    let user = User::new();
    let data = user.home.path().join("data/scopeagent");
    fs::create_dir_all(&data).expect("made");
    fs::copy(
        fixtures().join("runs-0.1.0.sqlite"),
        data.join("runs.sqlite"),
    )
    .expect("copied");
    user
}

fn answer(user: &User, arguments: &[&str]) -> String {
    let output = user.program().args(arguments).output().expect("runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json_answer(user: &User, arguments: &[&str]) -> Value {
    serde_json::from_str(&answer(user, arguments)).expect("JSON")
}

#[test]
fn runs_of_the_earlier_version_are_listed_and_shown() {
    let user = user();
    let rows = json_answer(&user, &["runs", "list", "--format", "json"]);
    let seen: Vec<_> = rows
        .as_array()
        .expect("rows")
        .iter()
        .map(|r| (&r["run_id"], &r["verdict"]))
        .collect();
    assert_eq!(
        seen,
        [
            (&json!(EVEN), &json!("healthy")),
            (&json!(SKEWED), &json!("problem"))
        ]
    );
    let report = json_answer(&user, &["runs", "show", SKEWED, "--format", "json"]);
    assert_eq!(report["question"], "Why is this job so slow?");
    assert_eq!(report["findings"][0]["cause"], "skew.join_hot_key");
    assert_eq!(report["findings"][0]["stage"], "SV3_Combine_Reduce");
    assert_eq!(report["findings"][0]["script_lines"], json!([31, 40]));
    assert_eq!(report["suggestions"].as_array().map(Vec::len), Some(3));
    assert_eq!(report["steps"].as_array().map(Vec::len), Some(5));
    let text = answer(&user, &["runs", "show", SKEWED]);
    assert!(
        text.contains("skew.join_hot_key") && text.contains("RouteQuality_V3"),
        "{text}"
    );
    let page = answer(&user, &["runs", "show", EVEN, "--format", "html"]);
    assert!(
        page.contains("VoiceUsage_Eu") && page.contains("健康"),
        "{page}"
    );
    let exported = answer(&user, &["runs", "export"]);
    assert_eq!(exported.lines().count(), 2);
}

#[test]
fn runs_of_the_earlier_version_are_compared() {
    let user = user();
    let compared = json_answer(&user, &["compare", EVEN, SKEWED, "--format", "json"]);
    assert!(
        compared.to_string().contains("skew.join_hot_key"),
        "{compared}"
    );
    let text = answer(&user, &["compare", EVEN, SKEWED, "--lang", "en"]);
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
    let kinds = || json_answer(&user, &["feedback", "effect", "--format", "json"])["kinds"].take();
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
    fs::create_dir_all(user.home.path().join("knowledge/cases")).expect("made");
    answer(
        &user,
        &[
            "--knowledge",
            "knowledge",
            "case",
            "from",
            SKEWED,
            "--id",
            "kept",
        ],
    );
    let case =
        fs::read_to_string(user.home.path().join("knowledge/cases/kept.md")).expect("a case");
    assert!(
        case.contains("worked at once") && case.contains("21"),
        "{case}"
    );

    answer(&user, &["feedback", SKEWED, "ignore", "S2"]);
    assert_eq!(kinds().as_array().map(Vec::len), Some(2));
}

#[test]
fn an_index_of_the_earlier_version_is_searched() {
    let user = User::new();
    let index = user.home.path().join("index");
    copy(&fixtures().join("index-0.1.0"), &index);
    let index = index.display().to_string();
    let knowledge = fixtures().join("knowledge").display().to_string();
    for (query, document) in [
        ("SKEWJOIN", "experience/hot-key.md"),
        ("用户代码 异常", "experience/user-code-zh.md"),
    ] {
        let place = ["--knowledge", &knowledge, "--index", &index];
        let hits = json_answer(
            &user,
            &[&place[..], &["search", query, "--format", "json"]].concat(),
        );
        assert_eq!(hits[0]["chunk"]["document"], document);
        assert_eq!(
            (&hits[0]["bm25_rank"], &hits[0]["vector_rank"]),
            (&json!(1), &json!(1))
        );
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed") {
        let (path, target) = entry
            .map(|e| (e.path(), to.join(e.file_name())))
            .expect("an entry");
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(path, target).expect("copied");
        }
    }
}
