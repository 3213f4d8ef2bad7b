//! Many jobs in one call: lines, resumption, bad folders.

use serde_json::{Value, json};
use testkit::contains;

use crate::support::{User, case, copy};

/// A user with a folder of three jobs, one of them unreadable, and a foreign file.
fn user() -> User {
    let user = User::new();
    copy(&case("join-hot-key-skew"), &user.path("jobs/a"));
    copy(&case("healthy"), &user.path("jobs/b"));
    user.write("jobs/c/photo.png", "\u{89}P\0\u{1}");
    user.write("jobs/README.md", "# Old jobs\n");
    user
}

fn lines(text: &str) -> Vec<Value> {
    let line = |line| serde_json::from_str(line).expect("JSON");
    let mut lines: Vec<Value> = text.lines().map(line).collect();
    lines.sort_by_key(|l| l["job"].as_str().map(str::to_owned));
    lines
}

#[test]
fn every_job_has_a_line_and_a_bad_one_does_not_stop_the_rest() {
    let user = user();
    let answer = user.run("batch jobs");
    contains(&answer.err, ["3 jobs", "skew.join_hot_key"]);
    let lines = lines(&answer.text());
    let seen: Vec<&Value> = lines.iter().map(|l| &l["status"]).collect();
    assert_eq!(seen, ["done", "done", "failed"]);
    let finding = &lines[0]["findings"][0];
    assert_eq!(finding["cause"], "skew.join_hot_key");
    assert!(lines[0].get("report").is_none());
    assert_eq!(lines[1]["verdict"], "healthy");
    assert!(lines[2]["error"].as_str().is_some_and(|e| e.contains('c')));
    // The runs are saved, and a line agrees with the whole report.
    let run = lines[0]["run_id"].as_str().expect("run");
    let report = user.run(&format!("runs show {run} --format json")).json();
    assert_eq!(report["findings"][0]["confidence"], finding["confidence"]);
}

#[test]
fn a_call_resumes_where_the_last_one_stopped() {
    let user = user();
    let run = |jobs: &str| {
        let line = format!("batch --out lines.jsonl --no-store --format json {jobs}");
        user.run(&line).json()
    };
    run("jobs/a");
    let first = user.read("lines.jsonl");
    // A killed call leaves half a line.
    user.write("lines.jsonl", &format!("{first}{{\"job\": \"/half"));
    let summary = run("jobs --reports");
    assert_eq!(
        [&summary["done"], &summary["failed"]],
        [&json!(2), &json!(1)]
    );
    let text = user.read("lines.jsonl");
    assert!(text.starts_with(&first), "what was done is not done again");
    let lines = lines(&text);
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1]["report"]["verdict"], "healthy");
    run("jobs");
    assert_eq!(user.read("lines.jsonl"), text);
    run("jobs --retry-failed");
    assert_eq!(user.read("lines.jsonl").lines().count(), 4);
}

#[test]
fn nothing_readable_at_all_is_status_3_and_a_foreign_file_is_left_alone() {
    let user = user();
    user.run("batch jobs/c nowhere").refused(3);
    user.write("notes.txt", "hello\n");
    user.run("batch jobs/b --out notes.txt").refused(2);
    assert_eq!(user.read("notes.txt"), "hello\n");
}
