//! Runs survive kills, concurrent writers, and older and newer programs.

use report::Language;
use report::measure::book;
use runs::store::{
    Action, ClusterRow, FILE_NAME, Feedback, Listed, ListedFinding, RunFilter, RunOrder, RunStatus,
    Store, StoreError,
};
use runs::{RunSummary, StageSummary};
use rusqlite::Connection;
use testkit::contains;
use testkit::knowledge::root;

use crate::support::{self, Report};

/// A new store and its folder.
fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(folder.path()).expect("open");
    (folder, store)
}

fn opinion(action: Action, suggestion: &str) -> Feedback {
    Feedback {
        action,
        suggestion: suggestion.into(),
        note: None,
        saved_seconds: Some(5.0),
    }
}

fn finished(store: &mut Store, run_id: &str) -> Report {
    let run = store
        .begin(run_id, "jobs/daily", None, Language::En)
        .expect("begin");
    let report = Report {
        run_id: run_id.to_owned(),
        findings: vec![support::finding("skew.join_hot_key", 10.0)],
        suggestions: vec![support::suggestion()],
        ..support::report()
    };
    store
        .finish(run, &report, &RunSummary::default())
        .expect("finish");
    report
}

#[test]
fn a_finished_run_gives_its_report_back() {
    let (_folder, mut store) = store();
    let report = finished(&mut store, "01AAAA");
    assert_eq!(store.report("01A").expect("read"), Some(report));
    let row = store.run("01aaaa").expect("row");
    assert_eq!((row.status, row.findings), (RunStatus::Finished, 1));
    assert_eq!(row.top_cause.as_deref(), Some("skew.join_hot_key"));
}

#[test]
fn a_reader_sees_what_others_write_and_writes_nothing() {
    let (folder, mut store) = store();
    let reader = Store::reader(folder.path());
    let reader = reader.expect("open").expect("a store");
    let version = || reader.version().expect("read");
    let before = version();
    assert_eq!(version(), before);
    finished(&mut store, "01AB");
    assert_ne!(version(), before);
    assert_eq!(reader.run("01AB").expect("a row").findings, 1);
    assert!(reader.delete("01AB").is_err());
    let empty = tempfile::tempdir().expect("folder");
    assert!(Store::reader(empty.path()).expect("looked").is_none());
}

#[test]
fn listed_jobs_are_replaced_filtered_and_clustered() {
    let mut store = Store::temporary().expect("open");
    let finding = |cause, seconds| ListedFinding {
        cause,
        severity: report::Severity::High,
        confidence: 0.9,
        role: Some("Combine".to_owned()),
        seconds: Some(seconds),
        advice: Some(format!("save {seconds}")),
    };
    let job = |key: &str, name: &str, script: &str, findings: Vec<ListedFinding>| Listed {
        row: runs::store::RunRow {
            run_id: key.to_owned(),
            job: format!("jobs/{name}"),
            job_name: Some(name.to_owned()),
            question: None,
            status: RunStatus::Finished,
            verdict: Some("problem".to_owned()),
            problem_type: None,
            top_cause: findings.first().map(|f| f.cause.to_owned()),
            findings: findings.len() as u32,
            reasoner: None,
            model: None,
            created_at: String::new(),
            finished_at: None,
            failure: None,
            owner: None,
            script: Some(script.to_owned()),
            week: None,
            elapsed_seconds: Some(100.0),
            avoidable_seconds: findings.iter().map(|f| f.seconds).sum(),
            engine: None,
        },
        findings,
    };
    let skew = "skew.join_hot_key";
    let jobs = [
        job("k1", "a", "daily", vec![finding(skew, 90.0)]),
        job("k2", "a", "daily", vec![finding(skew, 5.0)]),
        job(
            "k3",
            "b",
            "daily",
            vec![finding(skew, 30.0), finding("gc.heap_pressure", 1.0)],
        ),
        job("k4", "c", "other", vec![finding(skew, 20.0)]),
    ];
    store.list(&jobs).expect("listed");
    let all = store.runs(&RunFilter::default()).expect("rows");
    assert_eq!(all.len(), 3, "k2 takes the place of k1");
    assert!(store.listed("k1").is_err());
    assert_eq!(store.listed("k3").expect("a row").findings, 2);
    let clusters = |filter| {
        let rows = store.clusters(&filter).expect("clusters").into_iter();
        let row = |c: ClusterRow| (c.cause, c.jobs, c.seconds, c.costliest, c.advice);
        rows.map(row).collect::<Vec<_>>()
    };
    let row = |cause: &str, jobs, seconds, key: &str, most| {
        let advice = Some(format!("save {most}"));
        (
            cause.to_owned(),
            jobs,
            Some(seconds),
            key.to_owned(),
            advice,
        )
    };
    let daily = row(skew, 2, 35.0, "k3", 30);
    let other = row(skew, 1, 20.0, "k4", 20);
    let heap = row("gc.heap_pressure", 1, 1.0, "k3", 1);
    assert_eq!(
        clusters(RunFilter::default()),
        [daily.clone(), other.clone(), heap]
    );
    let of_cause = RunFilter {
        cause: Some(skew.to_owned()),
        ..RunFilter::default()
    };
    assert_eq!(clusters(of_cause), [daily, other.clone()]);
    let of_script = RunFilter {
        script: Some("other".to_owned()),
        ..RunFilter::default()
    };
    assert_eq!(clusters(of_script), [other]);
}

#[test]
fn a_run_whose_process_is_gone_is_interrupted() {
    let (folder, store) = store();
    let begin = |run| store.begin(run, "a", None, Language::Zh).expect("begin");
    let alive = begin("01ALIVE");
    drop(begin("01KILLED"));
    let again = Store::open(folder.path()).expect("open again");
    let status = |run| again.run(run).expect("row").status;
    assert_eq!(status("01ALIVE"), RunStatus::Running);
    assert_eq!(status("01KILLED"), RunStatus::Interrupted);
    drop(alive);
}

#[test]
fn a_prefix_must_name_one_run() {
    let (_folder, mut store) = store();
    finished(&mut store, "01AB");
    finished(&mut store, "01ABC");
    assert!(matches!(
        store.run("01"),
        Err(StoreError::AmbiguousRun { count: 2, .. })
    ));
    assert_eq!(store.run("01AB").expect("exact").run_id, "01AB");
    assert!(matches!(store.run("02"), Err(StoreError::UnknownRun(_))));
}

#[test]
fn last_counts_back_from_the_newest_run() {
    let (_folder, mut store) = store();
    assert!(matches!(store.run("last"), Err(StoreError::UnknownRun(_))));
    finished(&mut store, "01AB");
    finished(&mut store, "01AC");
    assert_eq!(store.run("last").expect("newest").run_id, "01AC");
    assert_eq!(store.run("last~1").expect("before").run_id, "01AB");
    assert!(store.run("last~2").is_err() && store.run("last~x").is_err());
}

#[test]
fn runs_of_version_0_1_0_have_one_summary() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join(FILE_NAME);
    let fixture = root().join("crates/cli/tests/fixtures/runs-0.1.0.sqlite");
    std::fs::copy(fixture, &path).expect("copied");
    let mut store = Store::open(folder.path()).expect("open");
    let whole = store.summary("last").expect("read").expect("a summary");
    assert!(!whole.drawn_only && whole.timeline.is_some() && whole.script.is_some());
    assert!(whole.get(&book::TOKENS).is_some() && !whole.inputs.is_empty());
    assert!(
        whole
            .edges
            .iter()
            .any(|e| e.get(&book::PARTITIONS).is_some())
    );
    assert!(whole.stages.iter().any(|s| s.get(&book::ROWS_IN).is_some()));
    for stage in &whole.stages {
        assert!(!stage.operators.is_empty() && stage.run_ms.is_some());
    }

    let facets = store.facets().expect("facets");
    assert_eq!(facets.causes, [("skew.join_hot_key".to_owned(), 1)]);
    let newest = store.run("last").expect("listed");
    assert!(newest.elapsed_seconds.is_some() && newest.week.is_some());

    let raw = Connection::open(&path).expect("raw");
    let unread = "SELECT count(*) FROM sqlite_schema WHERE name IN ('steps', 'experiences')";
    let tables = raw.query_row(unread, [], |row| row.get(0));
    assert_eq!(tables, Ok(0), "unused tables are dropped");
    raw.execute("UPDATE documents SET shape = NULL", [])
        .expect("as the first stores were");
    let drawn = store.summary("last").expect("read").expect("a summary");
    assert!(drawn.drawn_only && drawn.inputs.is_empty());
    assert_eq!(drawn.get(&book::TOKENS), whole.get(&book::TOKENS));
    for (stage, known) in drawn.stages.iter().zip(&whole.stages) {
        let numbers = |s: &StageSummary| [&book::VERTICES, &book::BUSY].map(|m| s.get(m));
        let same = |s: &StageSummary| (s.name.clone(), numbers(s), s.run_ms.clone());
        assert_eq!(same(stage), same(known));
    }
    finished(&mut store, "01NEW");
    let saved = store.summary("01NEW").expect("read");
    assert_eq!(saved, Some(RunSummary::default()));
}

#[test]
fn runs_are_filtered_ordered_and_paged() {
    let (_folder, mut store) = store();
    for (run_id, name, cause, saved, submitted) in [
        (
            "01A",
            "Hourly",
            "skew.join_hot_key",
            10.0,
            "2026-02-09T08:00:00Z",
        ),
        (
            "01B",
            "Daily",
            "shuffle.redundant_repartition",
            300.0,
            "2026-02-09T08:00:00Z",
        ),
        (
            "01C",
            "Daily",
            "skew.join_hot_key",
            70.0,
            "2026-02-16T08:00:00Z",
        ),
    ] {
        let run = store.begin(run_id, "jobs", None, Language::En);
        let mut report = support::report();
        report.job.name = Some(name.to_owned());
        report.job.owner = Some(format!("{name} team"));
        report.job.submitted = Some(submitted.to_owned());
        report.findings = vec![support::finding(cause, saved)];
        let summary = RunSummary::default();
        let finished = store.finish(run.expect("begin"), &report, &summary);
        finished.expect("finish");
    }
    let some = |text: &str| Some(text.to_owned());
    let all = RunFilter {
        order: RunOrder::Avoidable,
        ..RunFilter::default()
    };
    for (filter, expected, count) in [
        (all.clone(), "01B 01C 01A", 3),
        (RunFilter::default(), "01C 01B 01A", 3),
        (
            RunFilter {
                skip: 1,
                limit: Some(1),
                ..all.clone()
            },
            "01C",
            3,
        ),
        (
            RunFilter {
                job: some("Dai"),
                ..all.clone()
            },
            "01B 01C",
            2,
        ),
        (
            RunFilter {
                cause: some("skew.join_hot_key"),
                ..all.clone()
            },
            "01C 01A",
            2,
        ),
        (
            RunFilter {
                owner: some("Hourly team"),
                ..all.clone()
            },
            "01A",
            1,
        ),
        (
            RunFilter {
                week: some("2026-W07"),
                ..all.clone()
            },
            "01B 01A",
            2,
        ),
        (
            RunFilter {
                week: some("2026-W07"),
                cause: some("shuffle.redundant_repartition"),
                ..all
            },
            "01B",
            1,
        ),
    ] {
        let rows = store.runs(&filter).expect("runs");
        let ids: Vec<&str> = rows.iter().map(|row| row.run_id.as_str()).collect();
        assert_eq!(ids.join(" "), expected, "{filter:?}");
        assert_eq!(store.count(&filter).expect("count"), count, "{filter:?}");
    }
    let facets = store.facets().expect("facets");
    assert_eq!(facets.causes[0], ("skew.join_hot_key".to_owned(), 2));
    assert_eq!(facets.weeks[0], ("2026-W08".to_owned(), 1));
    assert_eq!(facets.owners[0], ("Daily team".to_owned(), 2));
}

#[test]
fn later_feedback_replaces_earlier_and_unknown_suggestions_are_named() {
    let (_folder, mut store) = store();
    finished(&mut store, "01AB");
    let mut give = |action, to| store.give_feedback("01AB", &opinion(action, to));
    give(Action::Ignore, "S1").expect("first");
    let row = give(Action::Accept, "S1").expect("second");
    let error = give(Action::Accept, "S7").expect_err("no S7");
    contains(error.to_string(), ["it has S1"]);
    assert_eq!(row.cause.as_deref(), Some("skew.join_hot_key"));
    assert_eq!(row.sources, ["experience/a.md#fix", "experience/b.md#fix"]);
    assert_eq!(store.feedback().expect("all").len(), 1);
    store.undo_feedback("01AB", "S1").expect("undone");
    assert!(store.feedback().expect("none").is_empty());
}

#[test]
fn deleting_a_run_takes_everything_with_it() {
    let (_folder, mut store) = store();
    finished(&mut store, "01AB");
    let accept = opinion(Action::Accept, "S1");
    store.give_feedback("01AB", &accept).expect("feedback");
    store.delete("01AB").expect("delete");
    assert!(store.runs(&RunFilter::default()).expect("list").is_empty());
    assert!(store.feedback().expect("feedback").is_empty());
}

#[test]
fn a_newer_store_is_refused() {
    let (folder, _) = store();
    let connection = Connection::open(folder.path().join(FILE_NAME)).expect("raw");
    let bumped = connection.pragma_update(None, "user_version", 99);
    bumped.expect("bumped");
    drop(connection);
    let error = Store::open(folder.path()).err();
    assert!(matches!(error, Some(StoreError::TooNew { found: 99, .. })));
}

#[test]
fn eight_writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = folder.path();
            scope.spawn(move || {
                let mut store = Store::open(path).expect("open");
                for n in 0..5 {
                    finished(&mut store, &format!("01W{writer}N{n}"));
                }
            });
        }
    });
    let store = Store::open(folder.path()).expect("open");
    assert_eq!(store.runs(&RunFilter::default()).expect("list").len(), 40);
}
