//! Runs the sessions of `tests/sessions`, which the documentation shows, and compares the answers.
//! `TRYCMD=overwrite cargo test -p scopeagent --test program sessions` rewrites the answers; mask the
//! identifiers of runs by hand afterwards.

use std::fs;
use std::path::Path;

use crate::support::{index, root, small_knowledge, write_twins};

/// Runs one session in a temporary folder, with a good and a bad run of one job in `jobs`.
fn session(name: &str, prepare: impl FnOnce(&Path, &trycmd::TestCases)) {
    let home = tempfile::tempdir().expect("folder");
    let place = home.path().join(format!("{name}.in"));
    write_twins(&place.join("jobs/good"), &place.join("jobs/bad"));
    let kept = root().join("tests/sessions").join(format!("{name}.md"));
    let copy = home.path().join(format!("{name}.md"));
    fs::copy(&kept, &copy).expect("copied");

    let cases = trycmd::TestCases::new();
    let folder = |part: &str| home.path().join(part).display().to_string();
    cases
        .env("HOME", folder("home"))
        .env("XDG_CONFIG_HOME", folder("config"))
        .env("XDG_DATA_HOME", folder("data"))
        .env("NO_COLOR", "1");
    prepare(&place, &cases);
    cases.case(&copy);
    cases.run();
    if std::env::var("TRYCMD").is_ok_and(|v| v == "overwrite") {
        fs::copy(&copy, &kept).expect("written back");
    }
}

/// The whole knowledge base, read only.
fn with_the_knowledge_base(_: &Path, cases: &trycmd::TestCases) {
    let knowledge = root().join("knowledge");
    cases
        .env("SCOPEAGENT_KNOWLEDGE", knowledge.display().to_string())
        .env("SCOPEAGENT_INDEX", index().display().to_string());
}

#[test]
fn feedback_session() {
    session("feedback", with_the_knowledge_base);
}

#[test]
fn compare_session() {
    session("compare", with_the_knowledge_base);
}

#[test]
fn whatif_session() {
    session("whatif", with_the_knowledge_base);
}

/// Six runs of one job; the last one has half of the tokens.
fn write_days(folder: &Path) {
    let request = simulator::Request {
        tidy: true,
        ..simulator::Request::single(simulator::Cause::JoinHotKey, 7)
    };
    let day = |luck: u64| simulator::Rerun {
        luck,
        tokens: if luck == 6 { 0.3 } else { 1.0 },
        ..simulator::Rerun::default()
    };
    let days: Vec<simulator::Rerun> = (1..=6).map(day).collect();
    let runs = simulator::simulate_reruns(&request, &days).expect("runs");
    for (n, run) in runs.iter().enumerate() {
        run.write(&folder.join(format!("day-{}", n + 1)))
            .expect("written");
    }
}

#[test]
fn history_session() {
    session("history", |place, cases| {
        write_days(&place.join("jobs"));
        with_the_knowledge_base(place, cases);
    });
}

#[test]
fn cases_session() {
    session("cases", |place, _| {
        // The session writes into it.
        small_knowledge(&place.join("knowledge"));
    });
}
