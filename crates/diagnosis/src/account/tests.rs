//! The account of small constructed jobs, and how findings share it.

use job::Job;
use job::model::JobState;
use job::runs::{RunState, VertexRun};
use report::SegmentKind::{
    CapacityWait, Compile, Driver, Exchange, Idle, Queue, Retry, Straggler, Unexplained,
};
use report::{Cause, Finding, Impact, Language, SegmentKind, Severity};

use super::{Account, Part, claim};
use crate::impact::{StageWork, scale_run};
use crate::rule::Candidate;
use crate::settings::Settings;
use crate::view::View;
use testkit::run::{aggregation, with_events};

const BEFORE_MS: i64 = 100_000;

/// The aggregation with the times of its submission, 100 s before it ran, and its end.
fn timed() -> Job {
    let mut job = with_events(aggregation());
    timed_until_last(&mut job);
    job
}

fn timed_until_last(job: &mut Job) {
    let runs = job.stages.iter().filter_map(|s| s.runs.as_ref());
    let last = runs.flat_map(|r| &r.runs).map(|r| r.ended_ms).max();
    let last = last.expect("an end");
    let info = &mut job.info;
    (info.submitted_ms, info.started_ms, info.ended_ms) = (Some(-BEFORE_MS), Some(0), Some(last));
    info.elapsed_seconds = Some(last as f64 / 1000.0);
    (info.compile_seconds, info.queued_seconds) = (Some(60.0), Some(40.0));
    for field in ["compile_seconds", "queued_seconds", "elapsed_seconds"] {
        let source = info.sources["state"].clone();
        info.sources.insert(field, source);
    }
}

fn runs(job: &mut Job, stage: usize) -> &mut Vec<VertexRun> {
    &mut job.stages[stage].runs.as_mut().expect("events").runs
}

fn account(job: &Job) -> Account {
    let settings = Settings::default();
    Account::of(&View::new(job, &settings, Language::En)).expect("an account")
}

#[test]
fn every_second_is_what_the_files_say() {
    type Change = fn(&mut Job);
    let cases: &[(&str, Change, SegmentKind, f64)] = &[
        ("compiling", |_| (), Compile, 60.0),
        ("queueing", |_| (), Queue, 40.0),
        (
            "states name the wait",
            |job| {
                let states = [
                    ("Compiling", 0),
                    ("WaitingForCapacity", 70),
                    ("Running", 100),
                ];
                let at = |(state, s): (&str, i64)| (state.to_owned(), s * 1000 - BEFORE_MS);
                job.info.states = states.map(at).to_vec();
            },
            CapacityWait,
            30.0,
        ),
        (
            "vertices that are ready and don't start wait for capacity",
            |job| {
                for run in runs(job, 1) {
                    run.started_ms += 300_000;
                    run.running_ms += 300_000;
                    run.ended_ms += 300_000;
                }
            },
            CapacityWait,
            299.6,
        ),
        (
            "without a vertex that waits or runs the job is idle",
            |job| {
                for run in runs(job, 1) {
                    run.created_ms += 300_000;
                    run.started_ms += 300_000;
                    run.running_ms += 300_000;
                    run.ended_ms += 300_000;
                }
            },
            Idle,
            300.4,
        ),
        (
            "an attempt before the one that is used is a retry",
            |job| {
                let first = runs(job, 1)[0];
                let useful = &mut runs(job, 1)[0];
                useful.created_ms = first.ended_ms;
                useful.started_ms += first.ended_ms - first.created_ms;
                useful.running_ms += first.ended_ms - first.created_ms;
                useful.ended_ms += first.ended_ms - first.created_ms;
                let state = RunState::Failed;
                runs(job, 1).push(VertexRun { state, ..first });
            },
            Retry,
            33.5,
        ),
        (
            "the excess of one vertex over all others is a straggler",
            |job| runs(job, 1)[0].ended_ms += 500_000,
            Straggler,
            483.0,
        ),
        ("writing and reading an exchange", |_| (), Exchange, 32.5),
        ("handing over", |_| (), Driver, 0.4),
        (
            "events that were cut off leave time unexplained",
            |job| {
                for stage in &mut job.stages {
                    let runs = stage.runs.as_mut().expect("events");
                    runs.completed -= 1;
                }
                for run in runs(job, 1) {
                    run.created_ms += 300_000;
                    run.started_ms += 300_000;
                    run.running_ms += 300_000;
                    run.ended_ms += 300_000;
                }
            },
            Unexplained,
            300.4,
        ),
        (
            "a failed job ends with the attempt that failed",
            |job| {
                job.info.state = JobState::Failed;
                let last = &mut runs(job, 1)[0];
                last.state = RunState::Failed;
                last.ended_ms += 200_000;
            },
            Retry,
            200.0,
        ),
    ];
    for (name, change, kind, seconds) in cases {
        let mut job = timed();
        change(&mut job);
        timed_until_last(&mut job);
        let account = account(&job);
        let mut at = 0.0;
        for part in &account.parts {
            assert!((part.span.from - at).abs() < 1e-9, "{name}: gap at {at}");
            assert!(!part.evidence.is_empty(), "{name}: {part:?}");
            at = part.span.to;
        }
        assert!((at - account.run.to).abs() < 1e-9, "{name}: ends at {at}");
        let is = account.seconds(*kind);
        let off = (is - seconds).abs();
        assert!(
            off < 0.03 * seconds + 0.1,
            "{name}: {is} {:?}",
            account.parts
        );
    }
}

#[test]
fn without_events_the_replay_shows_the_stages_and_without_a_total_there_is_no_account() {
    let mut job = timed();
    for stage in &mut job.stages {
        stage.runs = None;
    }
    let modeled = account(&job);
    let of_stages = modeled.parts.iter().filter(|p| p.stage.is_some());
    let of_stages: f64 = of_stages.map(|p| p.span.seconds()).sum();
    let run = modeled.run.seconds();
    assert!(of_stages > 0.8 * run, "{of_stages} of {run}");
    job.info.submitted_ms = None;
    job.info.compile_seconds = None;
    let settings = Settings::default();
    assert!(Account::of(&View::new(&job, &settings, Language::En)).is_none());
}

/// A candidate about the second stage.
fn candidate(
    view: &View<'_>,
    cause: Cause,
    edit: impl Fn(&mut StageWork) + Send + Sync + 'static,
) -> Candidate {
    let saved = view.saved(move |stages| edit(&mut stages[1]));
    let saved = saved.expect("a saving");
    Candidate {
        finding: Finding {
            id: String::new(),
            cause,
            problem_type: cause.problem_type(),
            severity: Severity::High,
            confidence: 0.9,
            stage: Some(view.name(1).to_owned()),
            script_lines: None,
            summary: String::new(),
            evidence: Vec::new(),
            impact: Some(Impact {
                seconds_saved: saved.seconds,
                share_of_elapsed: Some(saved.share),
                method: String::new(),
                vertex_hours_saved: None,
            }),
        },
        evidence: Vec::new(),
        strength: 1.0,
        certainty: 1.0,
        at_most: saved.share,
        fix: Some(saved.fix),
        by_chance: false,
        independent: false,
    }
}

/// A fix of an exchange makes both its ends faster; the time is claimed where the finding is.
#[test]
fn a_finding_claims_its_own_stage_before_the_other_end_of_an_exchange() {
    let (job, settings) = (timed(), Settings::default());
    let view = View::new(&job, &settings, Language::En);
    let mut account = Account::of(&view).expect("an account");
    let all = |parts: &[Part]| parts.iter().map(|p| p.span.seconds()).sum::<f64>();
    let before = all(&account.parts);
    let halves = |stages: &mut Vec<StageWork>| stages.iter_mut().for_each(|s| scale_run(s, 0.5));
    let mut found = candidate(&view, Cause::RedundantRepartition, |_| ());
    let saved = view.saved(halves).expect("a saving");
    let impact = found.finding.impact.as_mut().expect("an impact");
    (impact.seconds_saved, impact.share_of_elapsed) = (saved.seconds, Some(saved.share));
    found.fix = Some(saved.fix);
    let of = |parts: &[Part], stage: usize, claimed: Option<usize>| {
        let exchange = parts.iter().filter(|p| p.kind == Exchange);
        let parts = exchange.filter(|p| p.stage == Some(stage) && p.finding == claimed);
        parts.map(|p| p.span.seconds()).sum::<f64>()
    };
    let (own, other) = (of(&account.parts, 1, None), of(&account.parts, 0, None));
    claim(&view, vec![found], Some(&mut account));
    assert!(own > 1.0 && other > 1.0, "{own} {other}");
    assert!((of(&account.parts, 1, Some(0)) - own).abs() < 1e-6);
    let left = of(&account.parts, 0, None) + of(&account.parts, 0, Some(0));
    assert!((left - other).abs() < 1e-6);
    assert!((all(&account.parts) - before).abs() < 1e-6, "it adds up");
}

#[test]
fn no_second_is_claimed_twice() {
    let (job, settings) = (timed(), Settings::default());
    let view = View::new(&job, &settings, Language::En);
    let mut account = Account::of(&view).expect("an account");
    let half = |stage: &mut StageWork| scale_run(stage, 0.5);
    let usual = view.run.as_ref().expect("a model").stages[1].vertices[0].run_s;
    let limited = move |stage: &mut StageWork| {
        let vertices = stage.vertices.iter_mut();
        vertices.for_each(|v| v.run_s = v.run_s.min(0.8 * usual));
    };
    let found = vec![
        candidate(&view, Cause::CpuBoundUdo, half),
        candidate(&view, Cause::JoinExplosion, half),
        candidate(&view, Cause::Spill, limited),
    ];
    let alone = found[0]
        .finding
        .impact
        .clone()
        .expect("an impact")
        .seconds_saved;
    let claimed = claim(&view, found, Some(&mut account));
    let seconds: Vec<f64> = claimed
        .findings
        .iter()
        .filter_map(|c| Some(c.finding.impact.as_ref()?.seconds_saved))
        .collect();
    let avoidable = claimed.avoidable_s.expect("a joint saving");
    // half of the stage, then half of the rest
    assert!(
        (avoidable - 1.5 * alone).abs() < 0.05 * alone,
        "{avoidable} {alone}"
    );
    assert!(
        seconds.iter().sum::<f64>() <= avoidable + 1e-6,
        "{seconds:?}"
    );
    for (place, seconds) in seconds.iter().enumerate() {
        let parts = account.parts.iter().filter(|p| p.finding == Some(place));
        let parts: f64 = parts.map(|p| p.span.seconds()).sum();
        assert!((parts - seconds).abs() < 0.2, "{parts} {seconds}");
    }
    let explained: Vec<Cause> = claimed
        .explained
        .iter()
        .map(|(c, _)| c.finding.cause)
        .collect();
    assert_eq!(explained, [Cause::Spill], "the others make it faster still");
}
