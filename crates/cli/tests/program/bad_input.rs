//! Bad input: a clear error with a remedy and status 3, or a report with diagnostics; never a panic.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{User, case, copy};

fn refused(job: &Path) -> String {
    let answer = User::new().analyze(job, "");
    assert_eq!(answer.out, "", "stdout carries data only");
    let errors = answer.refused(3);
    assert!(
        errors.contains("error:") && errors.contains("hint:"),
        "{errors}"
    );
    errors
}

/// A copy of a case in which one file was changed.
fn damaged(name: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    copy(&case("join-hot-key-skew"), folder.path());
    let path = folder.path().join(name);
    let bytes = fs::read(&path).expect("file");
    fs::write(&path, change(bytes)).expect("write");
    folder
}

/// What the report says about the files of a damaged job.
fn diagnostics(job: &tempfile::TempDir) -> Vec<Value> {
    let report = User::new().report(job.path(), "");
    report["diagnostics"]
        .as_array()
        .expect("diagnostics")
        .clone()
}

#[test]
fn a_missing_folder_is_named() {
    assert!(refused(Path::new("no/such/folder")).contains("no/such/folder"));
}

#[test]
fn an_empty_folder_is_named() {
    let folder = tempfile::tempdir().expect("folder");
    assert!(refused(folder.path()).contains("empty"));
}

#[test]
fn a_folder_without_any_known_file_is_named() {
    let folder = tempfile::tempdir().expect("folder");
    fs::write(
        folder.path().join("holiday.png"),
        [0x89, b'P', b'N', b'G', 0, 1, 2],
    )
    .expect("write");
    refused(folder.path());
}

#[test]
fn a_file_is_no_job_folder() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("scope.script");
    fs::write(&file, "x = SELECT a FROM b;").expect("write");
    refused(&file);
}

#[test]
fn a_truncated_file_is_a_diagnostic_and_the_rest_is_read() {
    let job = damaged("__ScopeRuntimeStatistics__.xml", |mut bytes| {
        bytes.truncate(bytes.len() / 2);
        bytes
    });
    let report = User::new().report(job.path(), "");
    let diagnostics = report["diagnostics"].as_array().expect("diagnostics");
    let named = diagnostics
        .iter()
        .find(|d| d["file"] == "__ScopeRuntimeStatistics__.xml")
        .expect("a diagnostic names the file");
    assert!(named["message"].as_str().is_some_and(|m| !m.is_empty()) && named["hint"].is_string());
    assert_eq!(report["job"]["stages"], 3, "the definition file was read");
}

#[test]
fn garbage_in_a_known_file_is_no_panic() {
    let job = damaged("ScopeVertexDef.xml", |bytes| {
        bytes
            .into_iter()
            .map(|b| if b == b'"' { 0 } else { b })
            .collect()
    });
    assert!(!diagnostics(&job).is_empty());
}

#[test]
fn a_script_that_does_not_parse_is_a_diagnostic() {
    let job = damaged("scope.script", |mut bytes| {
        bytes.extend_from_slice(b"\nBroken = SELECT FROM WHERE GROUP (((;\n");
        bytes
    });
    let diagnostics = diagnostics(&job);
    assert!(
        diagnostics.iter().any(|d| d["file"] == "scope.script"),
        "{diagnostics:?}"
    );
}

#[test]
fn wrong_usage_is_status_2() {
    let user = User::new();
    user.run_plain("analyze").refused(2);
    user.run_plain("analyze x --format pdf").refused(2);
    user.run("analyze x --reasoner llm").refused(2);
}

#[test]
fn a_typo_in_the_configuration_is_named() {
    let user = User::new();
    user.write("scopeagent.toml", "langauge = \"en\"\n");
    let errors = user.run_plain("config show").refused(2);
    assert!(
        errors.contains("langauge") && errors.contains("scopeagent.toml"),
        "{errors}"
    );
}
