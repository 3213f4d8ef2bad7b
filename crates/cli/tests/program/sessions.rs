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

/// A page as the guide of the knowledge folder describes it, about a subject that no other page has.
const PAGE: &str = r#"---
id: month-end-closing
title: "On the last days of a month, jobs of the finance cluster wait hours for tokens"
language: en
engine: scope
problem_type: other
causes: []
operators: []
keywords: [month end, closing, ledger, lent tokens, finance virtual cluster, end of the month, last day, 31st]
questions: ["why is everything slow around the 30th?"]
source: ["general knowledge: the calendar of our own cluster"]
confidence: general knowledge
reviewed: 2026-11-28
---

# On the last days of a month, jobs of the finance cluster wait hours for tokens

## Symptom

From the 28th on, jobs wait two to five hours before their first vertex starts; during the rest of the month they wait a minute. People say: "it is only bad when the books are closed".

## Cause

The ledger pipelines borrow 80 % of the tokens of the finance virtual cluster from the 28th to the 1st.

## How to check

The queue time in `JobInfo.xml` of runs before and after the 28th, next to each other.

## Fix

### Run before the 28th, or after the 1st

Ask the owners of the schedule for a fixed share of tokens if the job can't move.

## Example

A job of 20 minutes waited 3 hours on the 30th and 1 minute on the 2nd.

## Trade-offs

A fixed share makes the closing slower.

## When this does not apply

If the job waits on other days too.
"#;

#[test]
fn curator_session() {
    session("curator", |place, _| {
        let folder = place.join("knowledge/experience");
        fs::create_dir_all(&folder).expect("made");
        fs::write(folder.join("month-end-closing.md"), PAGE).expect("written");
    });
}
