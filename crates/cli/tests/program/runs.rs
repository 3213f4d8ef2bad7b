//! Runs that are kept, and feedback on them.

use serde_json::Value;

use crate::support::{User, case};

fn listed(user: &User) -> Vec<Value> {
    let output = user
        .program()
        .args(["runs", "list", "--format", "json"])
        .output()
        .expect("runs");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_run_is_kept_listed_shown_and_deleted() {
    let user = User::new();
    let report = user.report(&case("healthy"), &[]);
    let rows = listed(&user);
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&rows[0]["run_id"], &rows[0]["verdict"]),
        (&report["run_id"], &Value::from("healthy"))
    );
    let run = report["run_id"].as_str().expect("run");
    let output = user
        .program()
        .args(["runs", "show", run, "--format", "json"])
        .output()
        .expect("runs");
    assert_eq!(
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON"),
        report
    );
    user.program()
        .args(["runs", "delete", run])
        .assert()
        .success();
    assert!(listed(&user).is_empty());
    user.program().args(["runs", "show", run]).assert().code(3);
}

#[test]
fn a_run_that_fails_is_kept_with_its_reason() {
    let user = User::new();
    user.expert()
        .args(["analyze", "no/such/folder"])
        .assert()
        .code(3);
    let rows = listed(&user);
    assert_eq!(rows[0]["status"], "failed");
    assert!(
        rows[0]["failure"]
            .as_str()
            .is_some_and(|f| f.contains("no/such/folder"))
    );
}

#[test]
fn feedback_teaches_and_its_effect_is_shown() {
    let user = User::new();
    let report = user.report(&case("join-hot-key-skew"), &["--lang", "en"]);
    let run = report["run_id"].as_str().expect("run");
    user.program()
        .args([
            "feedback",
            run,
            "accept",
            "S1",
            "--note",
            "done",
            "--saved-seconds",
            "17",
        ])
        .assert()
        .success();
    let output = user
        .expert()
        .args(["feedback", "effect", "--format", "json"])
        .output()
        .expect("runs");
    let effect: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(effect["kinds"][0]["cause"], "skew.join_hot_key");
    assert!(effect["kinds"][0]["preference"].as_f64() > Some(0.0));
    let moved = effect["moved"].as_array().expect("moved");
    let rank = |m: &Value, when: &str| m[when].as_u64().unwrap_or(u64::MAX);
    assert!(!moved.is_empty());
    assert!(
        moved
            .iter()
            .all(|m| rank(m, "rank_after") <= rank(m, "rank_before")),
        "what was accepted does not fall: {moved:?}"
    );
    user.program()
        .args(["feedback", run, "accept", "S99"])
        .assert()
        .code(3);
    user.program()
        .args(["feedback", run, "accept"])
        .assert()
        .code(2);
}

#[test]
fn eight_processes_write_at_once() {
    let user = User::new();
    let statuses: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let mut command = user.expert();
                command.arg("analyze").arg(case("healthy"));
                scope.spawn(move || command.output().expect("runs").status.success())
            })
            .collect();
        threads
            .into_iter()
            .map(|t| t.join().expect("no panic"))
            .collect()
    });
    assert!(statuses.into_iter().all(|ok| ok));
    assert_eq!(
        listed(&user)
            .iter()
            .filter(|r| r["status"] == "finished")
            .count(),
        8
    );
}
