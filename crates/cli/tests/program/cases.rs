//! Resolved cases: written from a run, checked, indexed, found.

use std::fs;

use serde_json::Value;

use crate::support::{User, case, root};

/// A user with a small knowledge folder and one analyzed job.
fn curator() -> User {
    let user = User::new();
    for file in [
        "experience/skew-join-hot-key.md",
        "glossary.toml",
        "files.toml",
    ] {
        let text = fs::read_to_string(root().join("knowledge").join(file)).expect(file);
        user.write(&format!("knowledge/{file}"), &text);
    }
    fs::create_dir_all(user.path("knowledge/cases")).expect("made");
    analyze(&user, "join-hot-key-skew");
    user
}

fn analyze(user: &User, name: &str) {
    let line = format!("analyze '{}' --lang en", case(name).display());
    user.run_plain(&line).text();
}

/// Writes a case and returns its text.
fn written(user: &User, id: &str, arguments: &str) -> String {
    let line = format!("case from {arguments} --id {id}");
    let path = user.run_plain(&line).text();
    assert_eq!(path.trim(), format!("knowledge/cases/{id}.md"));
    user.read(path.trim())
}

fn faults(user: &User, files: &str) -> Vec<Value> {
    let answer = user.run_plain(&format!("case check --format json {files}"));
    let faults: Vec<Value> = serde_json::from_str(&answer.out).expect("JSON");
    let expected = if faults.is_empty() { 0 } else { 10 };
    answer.refused(expected);
    faults
}

#[test]
fn a_case_is_written_checked_indexed_and_found() {
    let user = curator();
    let text = written(&user, "trips-hot-key", "last");
    assert!(text.contains("causes: [skew.join_hot_key]") && text.contains("7.5 M rows"));
    let open = faults(&user, "");
    assert!(
        !open.is_empty() && open.iter().all(|f| f["code"] == "fill-in"),
        "{open:?}"
    );
    let line = open[0]["line"].as_u64().expect("a line") as usize;
    let line = text.lines().nth(line - 1).expect("the line");
    assert!(line.contains("FILL IN"), "{line}");

    let note = "in production since May";
    let feedback = format!("feedback last accept S1 --note '{note}' --saved-seconds 18");
    user.run_plain(&feedback).text();
    let text = written(&user, "trips-hot-key", "last --force");
    assert!(text.contains("18 s saved") && text.contains(note), "{text}");
    let path = "knowledge/cases/trips-hot-key.md";
    assert_eq!(faults(&user, path), Vec::<Value>::new());

    user.run_plain("index").text();
    let search = "search 'one vertex gets 22 % of the rows, production since May' --format json";
    let hits = user.run_plain(search).list();
    let is_new = |hit: &Value| hit["chunk"]["document"] == "cases/trips-hot-key.md";
    assert!(hits.iter().any(is_new), "not among {} hits", hits.len());
}

#[test]
fn names_paths_and_literals_are_masked_unless_that_is_declined() {
    let user = curator();
    user.run_plain("feedback last accept S1").text();
    let plain = written(&user, "plain", "last --no-redact");
    assert!(plain.contains("TripId") && plain.contains("5880333575"));
    let masked = written(&user, "masked", "last");
    for name in [
        "TripId",
        "5880333575",
        "RouteQuality",
        "TripPoints",
        "psilva",
        "translate.quality",
        "补充维度信息",
    ] {
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
    let user = curator();
    written(&user, "a", "last");
    user.run_plain("case from last --id a").refused(3);
    user.run_plain("case from last --id ../a").refused(2);
    analyze(&user, "healthy");
    user.run_plain("case from last").refused(3);
}

#[test]
fn a_later_run_measures_the_result() {
    let user = curator();
    analyze(&user, "near-join-hot-key-skew");
    let text = written(&user, "measured", "last~1 --after last");
    assert!(
        text.contains("measured)") && text.contains("1 min 47 s after it"),
        "{text}"
    );
}

#[test]
fn every_case_of_the_project_has_the_form() {
    User::new().run("case check").text();
}
