//! Two runs side by side: what is matched, what is told, what is named as the reason.

use super::*;
use crate::shape::{EdgeShape, InputShape, JobTimes, OperatorShape, StageShape};
use report::{
    Cause, Engine, Finding, Impact, JobSummary, ProblemType, ReasonerKind, SCHEMA_VERSION,
};

fn report() -> Report {
    Report {
        schema_version: SCHEMA_VERSION,
        run_id: "01RUN".into(),
        job: JobSummary {
            id: None,
            name: Some("Daily".into()),
            path: "jobs/daily".into(),
            state: JobState::Succeeded,
            elapsed_seconds: Some(100.0),
            stages: Some(2),
            vertices: Some(20),
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
        verdict: Verdict::Healthy,
        problem_type: ProblemType::None,
        findings: Vec::new(),
        evidence: Vec::new(),
        missing_information: Vec::new(),
        suggestions: Vec::new(),
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

fn operator(id: &str, kind: &str, keys: &[&str]) -> OperatorShape {
    OperatorShape {
        id: id.into(),
        kind: kind.into(),
        keys: keys.iter().map(|k| (*k).to_owned()).collect(),
        partitions: None,
        rows: Some(1000.0),
        estimated_rows: Some(1000.0),
        lines: None,
    }
}

fn stage(name: &str, operators: Vec<OperatorShape>, seconds: f64) -> StageShape {
    StageShape {
        name: name.into(),
        operators,
        vertices: Some(10),
        span_ms: Some(seconds * 1000.0),
        busy_ms: Some(seconds * 8000.0),
        max_ms: Some(seconds * 900.0),
        max_over_mean: Some(1.2),
        wait_ms: Some(100.0),
        rows_in: Some(1000.0),
        rows_out: Some(500.0),
        bytes_read: Some(1e6),
        bytes_written: Some(1e5),
        critical: true,
        ..StageShape::default()
    }
}

fn edge(from: &str, to: &str, exchange: &str, partitions: u32) -> EdgeShape {
    EdgeShape {
        from: from.into(),
        to: to.into(),
        exchange: exchange.into(),
        keys: vec!["UserId".into()],
        partitions: Some(partitions),
        rows: Some(500.0),
        bytes: Some(1e5),
        columns: Some(3),
    }
}

fn side() -> Side {
    Side {
        report: report(),
        shape: JobShape {
            job: JobTimes {
                state: JobState::Succeeded,
                elapsed_seconds: Some(100.0),
                queued_seconds: Some(1.0),
                tokens: Some(20),
                ..JobTimes::default()
            },
            stages: vec![
                stage(
                    "SV1_Extract",
                    vec![operator("Extract_0", "extract", &[])],
                    40.0,
                ),
                stage(
                    "SV2_Combine",
                    vec![operator("Join_1", "join", &["UserId"])],
                    60.0,
                ),
            ],
            edges: vec![edge("SV1_Extract", "SV2_Combine", "hash", 10)],
            inputs: vec![InputShape {
                name: "/logs/2026/01/01/clicks.ss".into(),
                rows: Some(1000),
                bytes: Some(1_000_000),
                files: Some(1),
                layout: None,
                partitions: None,
            }],
            ..JobShape::default()
        },
        script: Some(ScriptText {
            file: "scope.script".into(),
            text: "a = EXTRACT x FROM \"p\";\nOUTPUT a TO \"q\";\n".into(),
        }),
        origin: Origin::Kept,
    }
}

/// The same job with its run `seconds` longer, most of it in the join.
fn slower(seconds: f64) -> Side {
    let mut slow = side();
    slow.shape.job.elapsed_seconds = Some(100.0 + seconds);
    slow.report.job.elapsed_seconds = Some(100.0 + seconds);
    let stage = &mut slow.shape.stages[1];
    stage.span_ms = stage.span_ms.map(|ms| ms + seconds * 1000.0);
    slow
}

fn finding(cause: &str, seconds: f64) -> Finding {
    Finding {
        id: "F1".into(),
        cause: Cause::from_code(cause).expect("a known cause"),
        problem_type: ProblemType::DataSkew,
        severity: Severity::High,
        confidence: 0.9,
        stage: Some("SV2_Combine".into()),
        script_lines: Some([1, 2]),
        summary: "one key".into(),
        evidence: Vec::new(),
        impact: Some(Impact {
            seconds_saved: seconds,
            share_of_elapsed: None,
            method: "replay".into(),
        }),
    }
}

fn first_reason(a: &Side, b: &Side) -> Reason {
    compare(a, b, Language::En).reasons.remove(0)
}

#[test]
fn the_same_run_twice_shows_no_difference() {
    let c = compare(&side(), &side(), Language::En);
    assert_eq!(c.reasons[0].kind, ReasonKind::NoDifference);
    assert!(c.plan.is_empty() && c.estimates.is_empty() && c.findings.is_empty());
    assert!(c.stages.iter().all(|s| !s.notable));
    assert_eq!(c.script, ScriptChange::Same);
    assert!(c.headline.contains("about the same"), "{}", c.headline);
}

#[test]
fn a_new_finding_that_explains_the_time_is_the_reason_in_both_directions() {
    let mut slow = slower(300.0);
    slow.report.findings = vec![finding("skew.join_hot_key", 280.0)];
    let reason = first_reason(&side(), &slow);
    assert_eq!(reason.kind, ReasonKind::Finding);
    assert_eq!(reason.cause.as_deref(), Some("skew.join_hot_key"));
    assert!(reason.share > Some(0.9), "{reason:?}");
    let c = compare(&slow, &side(), Language::Zh);
    assert_eq!(c.reasons[0].kind, ReasonKind::Finding);
    assert_eq!(c.findings[0].status, FindingStatus::Gone);
    assert!(c.headline.contains("短 5 min 0 s"), "{}", c.headline);
}

#[test]
fn twice_the_input_explains_twice_the_time() {
    let mut slow = slower(100.0);
    slow.shape.inputs[0].bytes = Some(2_000_000);
    slow.shape.inputs[0].name = "/logs/2026/01/02/clicks.ss".into();
    let c = compare(&side(), &slow, Language::En);
    assert_eq!(c.reasons[0].kind, ReasonKind::Data);
    assert_eq!(c.reasons[0].share, Some(1.0));
    assert_eq!(
        c.inputs[0].name_in_a.as_deref(),
        Some("/logs/2026/01/01/clicks.ss"),
        "the next day's log is the same input"
    );
}

#[test]
fn fewer_tokens_and_a_long_queue_are_told() {
    let mut slow = slower(300.0);
    slow.shape.job.tokens = Some(5);
    for stage in &mut slow.shape.stages {
        stage.busy_ms = Some(1_000_000.0);
    }
    assert_eq!(first_reason(&side(), &slow).kind, ReasonKind::Tokens);
    let mut late = side();
    late.shape.job.queued_seconds = Some(1200.0);
    assert_eq!(first_reason(&side(), &late).kind, ReasonKind::Queue);
}

#[test]
fn a_broadcast_that_became_a_shuffle_is_a_change_of_the_plan_or_of_the_script() {
    let mut good = side();
    good.shape.edges[0].exchange = "broadcast".into();
    let slow = slower(200.0);
    let c = compare(&good, &slow, Language::En);
    assert_eq!(c.plan[0].kind, PlanChangeKind::ExchangeChanged);
    assert_eq!(c.reasons[0].kind, ReasonKind::Plan);
    good.script = Some(ScriptText {
        file: "scope.script".into(),
        text: "a = EXTRACT x FROM \"p\";\n[BROADCASTRIGHT]\nOUTPUT a TO \"q\";\n".into(),
    });
    let c = compare(&good, &slow, Language::En);
    assert_eq!(c.reasons[0].kind, ReasonKind::Script);
    assert!(matches!(
        c.script,
        ScriptChange::Changed {
            added: 0,
            removed: 1,
            ..
        }
    ));
}

#[test]
fn a_failed_run_comes_before_everything() {
    let mut failed = slower(-50.0);
    failed.shape.job.state = JobState::Failed;
    failed.shape.error = Some("E_RUNTIME_USER: bad row".into());
    let c = compare(&side(), &failed, Language::En);
    assert_eq!(c.reasons[0].kind, ReasonKind::Failure);
    assert!(c.headline.contains("E_RUNTIME_USER"), "{}", c.headline);
}

#[test]
fn an_inserted_stage_shifts_names_and_stages_are_still_matched() {
    let mut b = side();
    b.shape.stages.insert(
        1,
        stage(
            "SV2_Aggregate",
            vec![operator("Agg_9", "aggregate", &["Day"])],
            10.0,
        ),
    );
    b.shape.stages[2].name = "SV3_Combine".into();
    b.shape.edges = vec![
        edge("SV1_Extract", "SV2_Aggregate", "hash", 4),
        edge("SV2_Aggregate", "SV3_Combine", "hash", 10),
    ];
    let c = compare(&side(), &b, Language::En);
    let join = c
        .stages
        .iter()
        .find(|s| s.b.as_deref() == Some("SV3_Combine"))
        .expect("the join");
    assert_eq!(join.a.as_deref(), Some("SV2_Combine"));
    assert_eq!(join.matched_by, Some(MatchedBy::Operators));
    assert!(join.confidence < 1.0);
    let appeared = c
        .plan
        .iter()
        .find(|p| p.kind == PlanChangeKind::StageAppeared);
    assert_eq!(appeared.map(|p| p.place.as_str()), Some("SV2_Aggregate"));
}

#[test]
fn worse_estimates_and_changed_partitions_are_listed() {
    let mut b = side();
    b.shape.stages[1].operators[0].estimated_rows = Some(10.0);
    b.shape.edges[0].partitions = Some(250);
    let c = compare(&side(), &b, Language::En);
    assert_eq!(c.estimates.len(), 1);
    assert_eq!(c.estimates[0].operator, "Join_1");
    assert_eq!(c.plan[0].kind, PlanChangeKind::PartitionsChanged);
    assert_eq!(c.plan[0].b.as_deref(), Some("250"));
}

#[test]
fn what_an_old_run_does_not_hold_is_named_and_no_difference() {
    let mut old = side();
    old.origin = Origin::Drawn;
    old.shape.inputs.clear();
    old.shape.drawn_only = true;
    for stage in &mut old.shape.stages {
        stage.operators.clear();
        stage.rows_in = None;
    }
    let c = compare(&old, &slower(50.0), Language::En);
    assert_eq!(c.not_compared[0].what, "plan");
    assert!(c.plan.is_empty(), "{:?}", c.plan);
    assert!(c.inputs.is_empty(), "{:?}", c.inputs);
}

#[test]
fn two_jobs_of_other_names_and_inputs_are_told_apart() {
    let mut other = side();
    assert!(compare(&side(), &other, Language::En).same_job);
    other.report.job.name = Some("Weekly".into());
    assert!(
        compare(&side(), &other, Language::En).same_job,
        "the input is common"
    );
    other.shape.inputs[0].name = "/users.ss".into();
    assert!(!compare(&side(), &other, Language::En).same_job);
}

#[test]
fn a_comparison_survives_json() {
    let mut slow = slower(300.0);
    slow.report.findings = vec![finding("skew.join_hot_key", 280.0)];
    let c = compare(&side(), &slow, Language::En);
    let text = serde_json::to_string(&c).expect("JSON");
    assert_eq!(serde_json::from_str::<Comparison>(&text).expect("back"), c);
}
