//! Runs the sessions of `tests/sessions`, which the documentation shows, and compares the answers.
//! `TRYCMD=overwrite cargo test -p scopeagent --test program sessions` rewrites the answers; mask the
//! identifiers of runs by hand afterwards.

use std::fs;
use std::path::Path;

use simulator::{Cause, Request, simulate_twins};

use crate::support::{index, root};

/// Runs one session in a temporary folder, with a good and a bad run of one job in `jobs`.
fn session(name: &str, prepare: impl FnOnce(&Path, &trycmd::TestCases)) {
    let home = tempfile::tempdir().expect("folder");
    let place = home.path().join(format!("{name}.in"));
    let request = Request {
        tidy: true,
        ..Request::single(Cause::JoinHotKey, 7)
    };
    let (good, bad) = simulate_twins(&request).expect("twins");
    good.write(&place.join("jobs/good")).expect("written");
    bad.write(&place.join("jobs/bad")).expect("written");
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
    cases
        .env(
            "SCOPEAGENT_KNOWLEDGE",
            root().join("knowledge").display().to_string(),
        )
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
fn cases_session() {
    session("cases", |place, _| {
        // A small knowledge folder, which the session writes into.
        for folder in ["experience", "cases"] {
            fs::create_dir_all(place.join("knowledge").join(folder)).expect("folder");
        }
        for file in [
            "experience/skew-join-hot-key.md",
            "glossary.toml",
            "files.toml",
        ] {
            let to = place.join("knowledge").join(file);
            fs::copy(root().join("knowledge").join(file), to).expect("copied");
        }
    });
}
