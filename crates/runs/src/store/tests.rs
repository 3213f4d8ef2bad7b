//! Runs survive kills, several writers and newer programs.

use super::*;
use crate::picture::Picture;
use crate::shape::JobShape;
use report::*;

fn report(run_id: &str) -> Report {
    Report {
        schema_version: SCHEMA_VERSION,
        run_id: run_id.to_owned(),
        job: JobSummary {
            id: None,
            name: Some("Daily".into()),
            path: "jobs/daily".into(),
            state: JobState::Succeeded,
            elapsed_seconds: Some(10.0),
            stages: Some(2),
            vertices: None,
            ..JobSummary::default()
        },
        question: None,
        answer: None,
        time: None,
        cost: None,
        language: Language::En,
        engine: Engine {
            reasoner: ReasonerKind::Offline,
            provider: None,
            model: None,
            fallback: None,
        },
        verdict: Verdict::Problem,
        problem_type: ProblemType::DataSkew,
        findings: vec![Finding {
            id: "F1".into(),
            cause: Cause::JoinHotKey,
            problem_type: ProblemType::DataSkew,
            severity: Severity::High,
            confidence: 0.9,
            stage: Some("SV3_Combine".into()),
            script_lines: Some([3, 9]),
            summary: "one key has most rows".into(),
            evidence: vec!["E1".into()],
            impact: None,
        }],
        evidence: Vec::new(),
        missing_information: Vec::new(),
        suggestions: vec![Suggestion {
            id: "S1".into(),
            finding: Some("F1".into()),
            kind: SuggestionKind::Hint,
            title: "add a hint".into(),
            steps: Vec::new(),
            diff: None,
            verified: None,
            gain: String::new(),
            pros: Vec::new(),
            cons: Vec::new(),
            sources: vec!["experience/a.md#fix".into(), "experience/b.md#fix".into()],
            origin: Origin::Rules,
            unverified: Vec::new(),
        }],
        experiences: Vec::new(),
        steps: Vec::new(),
        files_read: Vec::new(),
        diagnostics: Vec::new(),
        usage: None,
        checks: None,
        notes: Vec::new(),
        rules: Vec::new(),
        partial: false,
    }
}

fn finished(store: &mut Store, run_id: &str) -> Report {
    let run = store
        .begin(run_id, "jobs/daily", None, Language::En)
        .expect("begin");
    let report = report(run_id);
    store
        .finish(run, &report, &Picture::default(), &JobShape::default())
        .expect("finish");
    report
}

#[test]
fn a_finished_run_gives_its_report_back() {
    let folder = tempfile::tempdir().expect("folder");
    let mut store = Store::open(folder.path()).expect("open");
    let report = finished(&mut store, "01AAAA");
    assert_eq!(store.report("01A").expect("read"), Some(report));
    let row = store.run("01aaaa").expect("row");
    assert_eq!((row.status, row.findings), (RunStatus::Finished, 1));
    assert_eq!(row.top_cause.as_deref(), Some("skew.join_hot_key"));
}

#[test]
fn a_run_whose_process_is_gone_is_interrupted() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(folder.path()).expect("open");
    let alive = store
        .begin("01ALIVE", "a", None, Language::Zh)
        .expect("begin");
    let killed = store
        .begin("01KILLED", "b", None, Language::Zh)
        .expect("begin");
    drop(killed);
    let again = Store::open(folder.path()).expect("open again");
    assert_eq!(
        again.run("01ALIVE").expect("row").status,
        RunStatus::Running
    );
    assert_eq!(
        again.run("01KILLED").expect("row").status,
        RunStatus::Interrupted
    );
    drop(alive);
}

#[test]
fn a_prefix_must_name_one_run() {
    let folder = tempfile::tempdir().expect("folder");
    let mut store = Store::open(folder.path()).expect("open");
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
    let folder = tempfile::tempdir().expect("folder");
    let mut store = Store::open(folder.path()).expect("open");
    assert!(matches!(store.run("last"), Err(StoreError::UnknownRun(_))));
    finished(&mut store, "01AB");
    finished(&mut store, "01AC");
    assert_eq!(store.run("last").expect("newest").run_id, "01AC");
    assert_eq!(store.run("last~1").expect("before").run_id, "01AB");
    assert!(store.run("last~2").is_err() && store.run("last~x").is_err());
}

#[test]
fn a_store_of_the_first_version_is_brought_up_to_date() {
    let folder = tempfile::tempdir().expect("folder");
    let connection = Connection::open(folder.path().join(FILE_NAME)).expect("raw");
    schema::apply(&connection, 0..1).expect("first version");
    connection
        .execute_batch("INSERT INTO runs (run_id, job, language, status, created_at) VALUES ('01OLD', 'a', 'en', 'finished', '2026-01-01T00:00:00Z')")
        .expect("an old run");
    drop(connection);
    let mut store = Store::open(folder.path()).expect("open");
    assert_eq!(store.shape("01OLD").expect("read"), None);
    finished(&mut store, "01NEW");
    assert_eq!(
        store.shape("01NEW").expect("read"),
        Some(JobShape::default())
    );
}

#[test]
fn later_feedback_replaces_earlier_and_unknown_suggestions_are_named() {
    let folder = tempfile::tempdir().expect("folder");
    let mut store = Store::open(folder.path()).expect("open");
    finished(&mut store, "01AB");
    let opinion = |action, suggestion: &str| Feedback {
        action,
        suggestion: suggestion.into(),
        note: None,
        saved_seconds: Some(5.0),
    };
    store
        .give_feedback("01AB", &opinion(Action::Ignore, "S1"))
        .expect("first");
    let row = store
        .give_feedback("01AB", &opinion(Action::Accept, "S1"))
        .expect("second");
    assert_eq!(row.cause.as_deref(), Some("skew.join_hot_key"));
    assert_eq!(row.sources, ["experience/a.md#fix", "experience/b.md#fix"]);
    assert_eq!(store.feedback().expect("all").len(), 1);
    let error = store
        .give_feedback("01AB", &opinion(Action::Accept, "S7"))
        .expect_err("no S7");
    assert!(error.to_string().contains("it has S1"), "{error}");
}

#[test]
fn deleting_a_run_takes_everything_with_it() {
    let folder = tempfile::tempdir().expect("folder");
    let mut store = Store::open(folder.path()).expect("open");
    finished(&mut store, "01AB");
    store
        .give_feedback(
            "01AB",
            &Feedback {
                action: Action::Accept,
                suggestion: "S1".into(),
                note: None,
                saved_seconds: None,
            },
        )
        .expect("feedback");
    store.delete("01AB").expect("delete");
    assert!(store.runs(&RunFilter::default()).expect("list").is_empty());
    assert!(store.feedback().expect("feedback").is_empty());
}

#[test]
fn a_newer_store_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    drop(Store::open(folder.path()).expect("open"));
    let connection = Connection::open(folder.path().join(FILE_NAME)).expect("raw");
    connection
        .pragma_update(None, "user_version", 99)
        .expect("bump");
    drop(connection);
    assert!(matches!(
        Store::open(folder.path()),
        Err(StoreError::TooNew { found: 99, .. })
    ));
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
