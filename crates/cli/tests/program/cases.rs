//! Resolved cases: written from a run, checked, indexed, found.

use serde_json::Value;
use testkit::contains;

use crate::support::{User, case, root, small_knowledge};

/// A user with a small knowledge folder and one analyzed job.
fn curator() -> User {
    let user = User::new();
    small_knowledge(&user.path("knowledge"));
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
    contains(&text, ["causes: [skew.join_hot_key]", "7.5 M rows"]);
    let open = faults(&user, "");
    let to_fill_in = open.iter().all(|f| f["code"] == "fill-in");
    assert!(!open.is_empty() && to_fill_in, "{open:?}");
    let line = open[0]["line"].as_u64().expect("a line") as usize;
    contains(text.lines().nth(line - 1).expect("the line"), ["FILL IN"]);

    let note = "in production since May";
    let feedback = format!("feedback last accept S1 --note '{note}' --saved-seconds 18");
    user.run_plain(&feedback).text();
    let text = written(&user, "trips-hot-key", "last --force");
    contains(&text, ["18 s saved", note]);
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
    contains(plain, ["TripId", "5880333575"]);
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
    // Stages are the engine's names, and the change is still there.
    contains(masked, ["SV3_Combine_Reduce", "```diff"]);
}

#[test]
fn a_case_of_an_application_has_its_words_and_masked_columns() {
    let user = curator();
    let job = root().join("tests/cases/spark-join-hot-key");
    user.analyze(&job, "--lang en").text();
    user.run_plain("feedback last accept S1").text();
    let plain = written(&user, "plain", "last --no-redact");
    contains(plain, ["user_id", "customer_id", "tasks, "]);
    let masked = written(&user, "masked", "last");
    for name in ["user_id", "customer_id", "visit", "vertices", "tokens"] {
        assert!(!masked.contains(name), "{name} is left in\n{masked}");
    }
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
    contains(text, ["measured)", "1 min 47 s after it"]);
}

#[test]
fn every_case_of_the_project_has_the_form() {
    User::new().run("case check").text();
}
