//! The JSON report follows its schema; stdout carries only the report; exit statuses follow
//! `--fail-on`.

use serde_json::Value;

use crate::support::{User, case, root};

#[test]
fn reports_validate_against_the_schema_in_the_project() {
    let path = root().join("crates/report/report.schema.json");
    let schema = std::fs::read_to_string(path).expect("schema");
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
            let report = user.report(&case(name), &format!("--lang {language}"));
            let errors: Vec<_> = validator.iter_errors(&report).collect();
            assert!(errors.is_empty(), "{name} {language}: {errors:?}");
            assert_eq!(report["language"], language);
        }
    }
}

#[test]
fn piped_output_has_no_color_and_stdout_only_data() {
    let answer = User::new().analyze(&case("healthy"), "");
    assert!(!answer.out.contains('\u{1b}'), "escape sequences in a pipe");
    let remark = "offline reasoner: no LLM";
    assert!(!answer.out.contains(remark), "remarks belong on stderr");
}

#[test]
fn fail_on_ends_with_status_10() {
    let user = User::new();
    for (name, code) in [("join-hot-key-skew", 10), ("healthy", 0)] {
        user.analyze(&case(name), "--fail-on low").refused(code);
    }
}
