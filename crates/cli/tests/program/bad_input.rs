//! Bad input: a clear error with a remedy and status 3, or a report with diagnostics; never a panic.

use std::fs;
use std::path::Path;

use crate::support::{User, case};

fn refused(job: &Path) -> String {
    let output = User::new()
        .expert()
        .arg("analyze")
        .arg(job)
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(output.stdout.is_empty(), "stdout carries data only");
    assert!(
        errors.contains("error:") && errors.contains("hint:"),
        "{errors}"
    );
    errors
}

/// A copy of a case in which one file was changed.
fn damaged(name: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    for entry in fs::read_dir(case("join-hot-key-skew")).expect("case") {
        let path = entry.expect("entry").path();
        fs::copy(&path, folder.path().join(path.file_name().expect("name"))).expect("copy");
    }
    let path = folder.path().join(name);
    let bytes = fs::read(&path).expect("file");
    fs::write(&path, change(bytes)).expect("write");
    folder
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
    let report = User::new().report(job.path(), &[]);
    let diagnostics = report["diagnostics"].as_array().expect("diagnostics");
    let named = diagnostics
        .iter()
        .find(|d| d["file"] == "__ScopeRuntimeStatistics__.xml")
        .expect("a diagnostic names the file");
    assert!(named["message"].as_str().is_some_and(|m| !m.is_empty()) && named["hint"].is_string());
    assert_eq!(
        report["job"]["stages"], 3,
        "the definition file was read all the same"
    );
}

#[test]
fn garbage_in_a_known_file_is_no_panic() {
    let job = damaged("ScopeVertexDef.xml", |bytes| {
        bytes
            .into_iter()
            .map(|b| if b == b'"' { 0 } else { b })
            .collect()
    });
    let report = User::new().report(job.path(), &[]);
    assert!(
        !report["diagnostics"]
            .as_array()
            .expect("diagnostics")
            .is_empty()
    );
}

#[test]
fn a_script_that_does_not_parse_is_a_diagnostic() {
    let job = damaged("scope.script", |mut bytes| {
        bytes.extend_from_slice(b"\nBroken = SELECT FROM WHERE GROUP (((;\n");
        bytes
    });
    let report = User::new().report(job.path(), &[]);
    let diagnostics = report["diagnostics"].as_array().expect("diagnostics");
    assert!(
        diagnostics.iter().any(|d| d["file"] == "scope.script"),
        "{diagnostics:?}"
    );
}

#[test]
fn wrong_usage_is_status_2() {
    let user = User::new();
    user.program().args(["analyze"]).assert().code(2);
    user.program()
        .args(["analyze", "x", "--format", "pdf"])
        .assert()
        .code(2);
    user.expert()
        .args(["analyze", "x", "--reasoner", "llm"])
        .assert()
        .code(2);
}

#[test]
fn a_typo_in_the_configuration_is_named() {
    let user = User::new();
    fs::write(
        user.home.path().join("scopeagent.toml"),
        "langauge = \"en\"\n",
    )
    .expect("write");
    let output = user
        .program()
        .args(["config", "show"])
        .output()
        .expect("runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("langauge") && errors.contains("scopeagent.toml"),
        "{errors}"
    );
}
