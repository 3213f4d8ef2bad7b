//! A job that takes too much costs only its own report.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use testkit::llm::{Server, Turn};

use crate::batch::results;
use crate::llm::configured;
use crate::support::{User, case, copy};

/// A job with a name of 120 MB, which takes several times as much in memory.
fn hungry(folder: &Path) {
    std::fs::create_dir_all(folder).expect("made");
    let file = File::create(folder.join("tables.json")).expect("created");
    let mut file = BufWriter::new(file);
    file.write_all(b"{\"tables\":[{\"name\":\"")
        .expect("written");
    for _ in 0..120 {
        file.write_all(&[b'x'; 1_000_000]).expect("written");
    }
    file.write_all(b"\"}]}").expect("written");
}

#[cfg(target_os = "linux")]
#[test]
fn a_job_that_needs_too_much_memory_fails_alone_and_is_not_tried_again() {
    let user = User::new();
    copy(&case("healthy"), &user.path("jobs/a"));
    hungry(&user.path("jobs/b"));
    copy(&case("healthy"), &user.path("jobs/c"));
    let batch = "batch run --out store --workers 1 --job-memory 300000000 --format json jobs";
    let summary = user.run(batch).json();
    assert_eq!(
        [&summary["done"], &summary["failed"]],
        [&json!(2), &json!(1)]
    );
    let found = results(&user.path("store"));
    let error = found[1]["reason"].as_str().expect("an error");
    assert!(error.contains("was ended by signal"), "{error}");
    user.run(batch).json();
    assert_eq!(
        results(&user.path("store")),
        found,
        "resuming does not try it again"
    );
    let answer = user.analyze(&user.path("jobs/b"), "--no-store --job-memory 300000000");
    assert!(answer.refused(3).contains("--job-memory"));
}

#[test]
fn a_job_that_takes_too_long_fails_alone() {
    let slow = Turn::text("later").delay(Duration::from_secs(600));
    let server = Server::start([]).rule(move |_| Some(slow.clone()));
    let user = configured(&server);
    copy(&case("healthy"), &user.path("jobs/a"));
    let batch = "batch run --reasoner llm --out store --job-timeout 2 --format json jobs";
    assert_eq!(user.run(batch).code, Some(3));
    let error = results(&user.path("store"))[0]["reason"].to_string();
    assert!(error.contains("longer than 2 s"), "{error}");
}
