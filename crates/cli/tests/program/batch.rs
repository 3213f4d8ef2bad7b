//! Many jobs in one call: lines, resumption, bad folders.

use std::fs;

use serde_json::Value;

use crate::support::{User, case};

/// A folder with three jobs, one of them unreadable, and a foreign file.
fn jobs(user: &User) {
    let root = user.home.path().join("jobs");
    for (name, from) in [("a", "join-hot-key-skew"), ("b", "healthy")] {
        let folder = root.join(name);
        fs::create_dir_all(&folder).expect("folder");
        for entry in fs::read_dir(case(from)).expect("case") {
            let path = entry.expect("entry").path();
            fs::copy(&path, folder.join(path.file_name().expect("name"))).expect("copy");
        }
    }
    fs::create_dir_all(root.join("c")).expect("folder");
    fs::write(root.join("c/photo.png"), [0x89, b'P', 0, 1]).expect("file");
    fs::write(root.join("README.md"), "# Old jobs\n").expect("file");
}

fn lines(text: &str) -> Vec<Value> {
    let mut lines: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    lines.sort_by_key(|l| l["job"].as_str().map(str::to_owned));
    lines
}

#[test]
fn every_job_has_a_line_and_a_bad_one_does_not_stop_the_rest() {
    let user = User::new();
    jobs(&user);
    let output = user
        .expert()
        .args(["batch", "jobs"])
        .output()
        .expect("runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let lines = lines(&String::from_utf8_lossy(&output.stdout));
    let seen: Vec<&str> = lines
        .iter()
        .map(|l| l["status"].as_str().unwrap_or(""))
        .collect();
    assert_eq!(seen, ["done", "done", "failed"]);
    assert_eq!(lines[0]["findings"][0]["cause"], "skew.join_hot_key");
    assert!(lines[0].get("report").is_none());
    assert_eq!(lines[1]["verdict"], "healthy");
    assert!(lines[2]["error"].as_str().is_some_and(|e| e.contains('c')));
    assert!(
        errors.contains("3 jobs") && errors.contains("skew.join_hot_key"),
        "{errors}"
    );
    // The runs are kept, and the gist is that of the whole report.
    let run = lines[0]["run_id"].as_str().expect("run");
    let shown = user
        .program()
        .args(["runs", "show", run, "--format", "json"])
        .output()
        .expect("runs");
    let report: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!(
        report["findings"][0]["confidence"],
        lines[0]["findings"][0]["confidence"]
    );
}

#[test]
fn a_call_goes_on_where_the_last_one_stopped() {
    let user = User::new();
    jobs(&user);
    let run = |arguments: &[&str]| {
        let output = user
            .expert()
            .args([
                "batch",
                "--out",
                "lines.jsonl",
                "--no-store",
                "--format",
                "json",
            ])
            .args(arguments)
            .output()
            .expect("runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        serde_json::from_slice::<Value>(&output.stdout).expect("a summary")
    };
    run(&["jobs/a"]);
    let path = user.home.path().join("lines.jsonl");
    let first = fs::read_to_string(&path).expect("lines");
    // A killed call leaves half a line.
    fs::write(&path, format!("{first}{{\"job\": \"/half")).expect("write");
    let summary = run(&["jobs", "--reports"]);
    assert_eq!(
        (&summary["done"], &summary["failed"]),
        (&Value::from(2), &Value::from(1))
    );
    let text = fs::read_to_string(&path).expect("lines");
    assert!(text.starts_with(&first), "what was done is not done again");
    let lines = lines(&text);
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1]["report"]["verdict"], "healthy");
    run(&["jobs"]);
    assert_eq!(fs::read_to_string(&path).expect("lines"), text);
    run(&["jobs", "--retry-failed"]);
    assert_eq!(fs::read_to_string(&path).expect("lines").lines().count(), 4);
}

#[test]
fn nothing_readable_at_all_is_status_3_and_a_foreign_file_is_left_alone() {
    let user = User::new();
    jobs(&user);
    user.expert()
        .args(["batch", "jobs/c", "nowhere"])
        .assert()
        .code(3);
    fs::write(user.home.path().join("notes.txt"), "hello\n").expect("write");
    user.expert()
        .args(["batch", "jobs/b", "--out", "notes.txt"])
        .assert()
        .code(2);
    let kept = fs::read_to_string(user.home.path().join("notes.txt")).expect("read");
    assert_eq!(kept, "hello\n");
}
