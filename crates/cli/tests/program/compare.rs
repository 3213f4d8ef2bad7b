//! Two runs side by side, from folders and from the run store.

use std::path::Path;

use serde_json::Value;
use simulator::{Cause, Request, simulate_twins};

use crate::support::User;

/// A good and a bad run of one job under the user's home: `good`, `bad`.
fn twins(user: &User) {
    let request = Request {
        tidy: true,
        ..Request::single(Cause::JoinHotKey, 7)
    };
    let (good, bad) = simulate_twins(&request).expect("twins");
    good.write(&user.home.path().join("good")).expect("written");
    bad.write(&user.home.path().join("bad")).expect("written");
}

fn compared(user: &User, a: &str, b: &str, arguments: &[&str]) -> String {
    let output = user
        .expert()
        .args(["compare", a, b, "--color", "never"])
        .args(arguments)
        .output()
        .expect("runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(user: &User, a: &str, b: &str) -> Value {
    serde_json::from_str(&compared(user, a, b, &["--format", "json"])).expect("JSON")
}

#[test]
fn folders_and_kept_runs_compare_alike() {
    let user = User::new();
    twins(&user);
    let folders = json(&user, "good", "bad");
    assert_eq!(folders["reasons"][0]["cause"], "skew.join_hot_key");
    assert_eq!(folders["same_job"], true);
    assert_eq!(folders["findings"][0]["status"], "new");
    for job in ["good", "bad"] {
        user.report(&user.home.path().join(job), &["--lang", "en"]);
    }
    // The folders are gone; what was kept suffices.
    for job in ["good", "bad"] {
        std::fs::rename(
            user.home.path().join(job),
            user.home.path().join(format!("{job}-away")),
        )
        .expect("moved");
    }
    let kept = json(&user, "last~1", "last");
    for part in [
        "headline",
        "reasons",
        "totals",
        "stages",
        "plan",
        "inputs",
        "estimates",
        "script",
        "not_compared",
    ] {
        assert_eq!(kept[part], folders[part], "{part}");
    }
    let mixed = json(&user, "good-away", "last");
    assert_eq!(mixed["reasons"], folders["reasons"]);
}

#[test]
fn both_languages_and_forms_say_the_same_and_fit_the_width() {
    let user = User::new();
    twins(&user);
    let told = json(&user, "good", "bad");
    let cause = told["reasons"][0]["cause"].as_str().expect("cause");
    for language in ["zh", "en"] {
        let text = compared(&user, "good", "bad", &["--lang", language]);
        assert!(
            text.lines().next().is_some_and(|l| l.contains(cause)),
            "{text}"
        );
        let markdown = compared(
            &user,
            "good",
            "bad",
            &["--lang", language, "--format", "markdown"],
        );
        assert!(markdown.starts_with("# ") && markdown.contains(cause));
        for stage in told["stages"].as_array().expect("stages") {
            let name = stage["b"].as_str().or(stage["a"].as_str()).expect("a name");
            let notable = stage["notable"] == true;
            assert!(!notable || text.contains(name), "text lacks {name}");
            assert!(!notable || markdown.contains(name), "markdown lacks {name}");
        }
    }
    assert!(!compared(&user, "good", "bad", &["--lang", "zh"]).contains("most likely"));
}

#[test]
fn a_run_of_an_older_program_is_read_again_or_said_to_be_incomplete() {
    let user = User::new();
    twins(&user);
    for job in ["good", "bad"] {
        user.report(&user.home.path().join(job), &["--lang", "en"]);
    }
    keep_drawings_only(user.home.path());
    assert_eq!(json(&user, "last~1", "last")["a"]["origin"], "read_again");
    std::fs::remove_dir_all(user.home.path().join("good")).expect("removed");
    let told = json(&user, "last~1", "last");
    assert_eq!(
        (&told["a"]["origin"], &told["b"]["origin"]),
        (&Value::from("drawn"), &Value::from("read_again"))
    );
    assert_eq!(told["not_compared"][0]["what"], "plan");
    assert_eq!(
        told["plan"],
        Value::from(Vec::<Value>::new()),
        "what is unknown is no change"
    );
}

/// Reduces runs to what version 0.1.0 saved: drawings.
fn keep_drawings_only(home: &Path) {
    let path = home.join("data/scopeagent").join(runs::store::FILE_NAME);
    let connection = rusqlite::Connection::open(path).expect("the store");
    let mut statement = connection
        .prepare("SELECT run_id, summary FROM runs")
        .expect("prepared");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    for row in rows.expect("read") {
        let (run, summary): (String, String) = row.expect("a run");
        let mut picture: Value = serde_json::from_str(&summary).expect("JSON");
        for stage in picture["stages"].as_array_mut().expect("stages") {
            stage["bytes_read"] = stage["vertex_bytes_read"].take();
        }
        let update = "UPDATE runs SET summary = NULL, picture = ?2 WHERE run_id = ?1";
        connection
            .execute(update, [run, picture.to_string()])
            .expect("updated");
    }
}

#[test]
fn what_is_neither_folder_nor_run_is_named() {
    let user = User::new();
    twins(&user);
    let output = user
        .program()
        .args(["compare", "good", "nowhere"])
        .output()
        .expect("runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(
        errors.contains("nowhere") && errors.contains("hint:"),
        "{errors}"
    );
}
