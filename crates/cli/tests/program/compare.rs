//! Comparisons of two runs, from folders and from the run store.

use std::path::Path;

use serde_json::Value;
use testkit::contains;

use crate::support::{User, case, items, write_twins};

/// A user with a good and a bad run of one job: `good`, `bad`.
fn user() -> User {
    let user = User::new();
    write_twins(&user.path("good"), &user.path("bad"));
    user
}

fn compared(user: &User, arguments: &str) -> String {
    user.run(&format!("compare --color never {arguments}"))
        .text()
}

fn json(user: &User, arguments: &str) -> Value {
    serde_json::from_str(&compared(user, &format!("{arguments} --format json"))).expect("JSON")
}

#[test]
fn folders_and_kept_runs_compare_alike() {
    let user = user();
    let folders = json(&user, "good bad");
    assert_eq!(folders["reasons"][0]["cause"], "skew.join_hot_key");
    assert_eq!(folders["same_job"], true);
    assert_eq!(folders["findings"][0]["status"], "new");
    for job in ["good", "bad"] {
        user.report(&user.path(job), "--lang en");
    }
    // The folders are gone; the saved runs are enough.
    for job in ["good", "bad"] {
        std::fs::rename(user.path(job), user.path(&format!("{job}-away"))).expect("moved");
    }
    let kept = json(&user, "last~1 last");
    let parts = "headline reasons totals stages plan inputs estimates script not_compared";
    for part in parts.split(' ') {
        assert_eq!(kept[part], folders[part], "{part}");
    }
    let mixed = json(&user, "good-away last");
    assert_eq!(mixed["reasons"], folders["reasons"]);
}

#[test]
fn both_languages_and_formats_agree() {
    let user = user();
    let comparison = json(&user, "good bad");
    let cause = comparison["reasons"][0]["cause"].as_str().expect("cause");
    for language in ["zh", "en"] {
        let text = compared(&user, &format!("good bad --lang {language}"));
        contains(text.split("\n\n").next().expect("a headline"), [cause]);
        let line = format!("good bad --lang {language} --format markdown");
        let markdown = compared(&user, &line);
        assert!(markdown.starts_with("# ") && markdown.contains(cause));
        for stage in items(&comparison["stages"]) {
            let name = stage["b"].as_str().or(stage["a"].as_str()).expect("a name");
            if stage["notable"] == true {
                contains(&text, [name]);
                contains(&markdown, [name]);
            }
        }
    }
    assert!(!compared(&user, "good bad --lang zh").contains("most likely"));
}

#[test]
fn a_run_of_an_older_program_is_read_again_or_marked_incomplete() {
    let user = user();
    for job in ["good", "bad"] {
        user.report(&user.path(job), "--lang en");
    }
    keep_drawings_only(user.home.path());
    assert_eq!(json(&user, "last~1 last")["a"]["origin"], "read_again");
    std::fs::remove_dir_all(user.path("good")).expect("removed");
    let comparison = json(&user, "last~1 last");
    let origins = [&comparison["a"]["origin"], &comparison["b"]["origin"]];
    assert_eq!(origins, ["drawn", "read_again"]);
    assert_eq!(comparison["not_compared"][0]["what"], "plan");
    let plan = items(&comparison["plan"]);
    assert!(plan.is_empty(), "an unknown value is no change: {plan:?}");
}

/// Reduces runs to the data that version 0.1.0 saved: drawings.
fn keep_drawings_only(home: &Path) {
    let path = home.join("data/scopeagent").join(runs::store::FILE_NAME);
    let connection = rusqlite::Connection::open(path).expect("the store");
    let mut statement = connection
        .prepare("SELECT run_id, summary FROM documents")
        .expect("prepared");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    for row in rows.expect("read") {
        let (run, summary): (String, String) = row.expect("a run");
        let mut picture: Value = serde_json::from_str(&summary).expect("JSON");
        for stage in picture["stages"].as_array_mut().expect("stages") {
            stage["bytes_read"] = stage["vertex_bytes_read"].take();
            for value in stage.as_object_mut().expect("fields").values_mut() {
                if let Some(number) = value["n"].as_f64() {
                    *value = (number as u64).into();
                }
            }
        }
        let update = "UPDATE documents SET summary = NULL, picture = ?2 WHERE run_id = ?1";
        connection
            .execute(update, [run, picture.to_string()])
            .expect("updated");
    }
}

#[test]
fn what_is_neither_folder_nor_run_is_named() {
    let user = user();
    let errors = user.run_plain("compare good nowhere").refused(3);
    contains(errors, ["nowhere", "hint:"]);
}

#[test]
fn shares_of_the_difference_add_up_and_what_adds_nothing_is_left_out() {
    let user = User::new();
    for (a, b) in [
        ("near-join-hot-key-skew", "join-hot-key-skew"),
        ("healthy", "excessive-shuffle"),
    ] {
        let line = format!(
            "compare '{}' '{}' -f json",
            case(a).display(),
            case(b).display()
        );
        let comparison = user.run(&line).json();
        let reasons = items(&comparison["reasons"]);
        let shares: Vec<f64> = reasons.iter().filter_map(|r| r["share"].as_f64()).collect();
        assert!(
            shares.iter().sum::<f64>() <= 1.0 + 1e-9,
            "{a}, {b}: {shares:?}"
        );
        assert!(
            shares.iter().all(|share| *share >= 0.005),
            "{a}, {b}: {shares:?}"
        );
    }
}
