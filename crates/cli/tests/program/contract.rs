//! The JSON report follows its schema, and every front shows the same report.

use serde_json::Value;

use crate::support::{User, case, root};

#[test]
fn reports_validate_against_the_schema_in_the_project() {
    let schema =
        std::fs::read_to_string(root().join("crates/agent/report.schema.json")).expect("schema");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let user = User::new();
    for name in [
        "join-hot-key-skew",
        "excessive-shuffle",
        "healthy",
        "user-code-failure",
    ] {
        for language in ["zh", "en"] {
            let report = user.report(&case(name), &["--lang", language]);
            let errors: Vec<String> = validator
                .iter_errors(&report)
                .map(|e| e.to_string())
                .collect();
            assert!(errors.is_empty(), "{name} {language}: {errors:?}");
            assert_eq!(report["language"], language);
        }
    }
}

#[test]
fn text_markdown_and_html_show_what_json_holds() {
    let user = User::new();
    let report = user.report(&case("join-hot-key-skew"), &["--lang", "en"]);
    let run = report["run_id"].as_str().expect("run");
    for format in ["text", "markdown", "html"] {
        let output = user
            .program()
            .args(["runs", "show", run, "--format", format, "--color", "never"])
            .output()
            .expect("runs");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let flat: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        for finding in report["findings"].as_array().expect("findings") {
            assert!(
                shown.contains(finding["cause"].as_str().expect("cause")),
                "{format} lacks a cause"
            );
            assert!(
                shown.contains(finding["stage"].as_str().expect("stage")),
                "{format} lacks a stage"
            );
        }
        for suggestion in report["suggestions"].as_array().expect("suggestions") {
            let title = suggestion["title"].as_str().expect("title");
            let word = title.split(' ').next().expect("a word");
            assert!(flat.contains(word), "{format} lacks `{title}`");
            if let Some(diff) = suggestion["diff"].as_str() {
                let added = diff
                    .lines()
                    .find(|l| l.starts_with("+[") || l.starts_with("+Joined"))
                    .expect("an added line");
                assert!(
                    shown.contains(added.trim_start_matches('+')),
                    "{format} lacks {added}"
                );
            }
        }
        assert!(shown.contains(run), "{format} lacks the run");
    }
}

#[test]
fn piped_output_has_no_colour_and_stdout_only_data() {
    let output = User::new()
        .expert()
        .arg("analyze")
        .arg(case("healthy"))
        .output()
        .expect("runs");
    assert!(
        !output.stdout.contains(&0x1b),
        "escape sequences in piped output"
    );
    assert!(
        !String::from_utf8_lossy(&output.stdout).contains("offline reasoner: no LLM"),
        "remarks belong on stderr"
    );
}

#[test]
fn fail_on_ends_with_status_10() {
    let user = User::new();
    user.expert()
        .arg("analyze")
        .arg(case("join-hot-key-skew"))
        .args(["--fail-on", "low"])
        .assert()
        .code(10);
    user.expert()
        .arg("analyze")
        .arg(case("healthy"))
        .args(["--fail-on", "low"])
        .assert()
        .code(0);
}
