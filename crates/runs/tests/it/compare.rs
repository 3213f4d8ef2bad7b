//! Two runs compared: the matched stages, the reported changes and the named reason.

use report::measure::{Measure, Values, book};
use report::{JobState, Language};
use runs::compare::{
    ComparedRun, Comparison, FindingStatus, MatchedBy, Origin, PlanChangeKind, Reason, ReasonKind,
    ScriptChange, compare,
};
use runs::{EdgeSummary, InputSummary, OperatorSummary, RunSummary, Script, StageSummary};

use testkit::contains;

use crate::support::{finding, report, set, values};

fn operator(id: &str, kind: &str, keys: &[&str]) -> OperatorSummary {
    OperatorSummary {
        id: id.into(),
        kind: kind.into(),
        keys: keys.iter().map(|k| (*k).to_owned()).collect(),
        values: values(
            "x",
            &[
                (&book::OPERATOR_ROWS, 1000.0),
                (&book::ESTIMATED_ROWS, 1000.0),
            ],
        ),
        ..OperatorSummary::default()
    }
}

fn stage(name: &str, operators: Vec<OperatorSummary>, seconds: f64) -> StageSummary {
    StageSummary {
        name: name.into(),
        operators,
        values: values(
            "x",
            &[
                (&book::VERTICES, 10.0),
                (&book::SPAN, seconds * 1000.0),
                (&book::BUSY, seconds * 8000.0),
                (&book::MAX_RUN, seconds * 900.0),
                (&book::RUN_MAX_OVER_MEAN, 1.2),
                (&book::WAIT, 100.0),
                (&book::ROWS_IN, 1000.0),
                (&book::ROWS_OUT, 500.0),
                (&book::BYTES_READ, 1e6),
                (&book::BYTES_WRITTEN, 1e5),
            ],
        ),
        critical: true,
        ..StageSummary::default()
    }
}

fn edge(from: usize, to: usize, exchange: &str, partitions: u32) -> EdgeSummary {
    EdgeSummary {
        from,
        to,
        exchange: exchange.into(),
        keys: vec!["UserId".into()],
        values: values(
            "x",
            &[
                (&book::PARTITIONS, f64::from(partitions)),
                (&book::BYTES_CROSSING, 1e5),
            ],
        ),
    }
}

fn run() -> ComparedRun {
    let extract = vec![operator("Extract_0", "extract", &[])];
    let join = vec![operator("Join_1", "join", &["UserId"])];
    ComparedRun {
        report: report(),
        summary: RunSummary {
            values: values("x", &[(&book::QUEUED, 1.0), (&book::TOKENS, 20.0)]),
            stages: vec![
                stage("SV1_Extract", extract, 40.0),
                stage("SV2_Combine", join, 60.0),
            ],
            edges: vec![edge(0, 1, "hash", 10)],
            inputs: vec![InputSummary {
                name: "/logs/2026/01/01/clicks.ss".into(),
                values: values(
                    "x",
                    &[
                        (&book::STORED_ROWS, 1000.0),
                        (&book::STORED_BYTES, 1e6),
                        (&book::STORED_FILES, 1.0),
                    ],
                ),
                ..InputSummary::default()
            }],
            script: Some(script("")),
            ..RunSummary::default()
        },
        origin: Origin::Kept,
    }
}

fn script(hint: &str) -> Script {
    Script {
        file: "scope.script".into(),
        text: format!("a = EXTRACT x FROM \"p\";\n{hint}OUTPUT a TO \"q\";\n"),
    }
}

/// The same job with its run `seconds` longer, most of it in the join.
fn slower(seconds: f64) -> ComparedRun {
    let mut slow = run();
    slow.report.job.elapsed_seconds = Some(100.0 + seconds);
    let stage = &mut slow.summary.stages[1].values;
    let span = stage.get(&book::SPAN).expect("a span");
    set(stage, &book::SPAN, span + seconds * 1000.0);
    slow
}

fn first_reason(a: &ComparedRun, b: &ComparedRun) -> Reason {
    compare(a, b, Language::En).reasons.remove(0)
}

#[test]
fn the_same_run_twice_shows_no_difference() {
    let c = compare(&run(), &run(), Language::En);
    assert_eq!(c.reasons[0].kind, ReasonKind::NoDifference);
    assert!(c.plan.is_empty() && c.estimates.is_empty() && c.findings.is_empty());
    assert!(c.stages.iter().all(|s| !s.notable));
    assert_eq!(c.script, ScriptChange::Same);
    assert_eq!(c.headline, "B took 1 min 40 s, as long as A.");
    assert!(c.reasons[0].confidence > 0.99);
}

#[test]
fn a_new_finding_that_explains_the_time_is_the_reason_in_both_directions() {
    let mut slow = slower(300.0);
    slow.report.findings = vec![finding("skew.join_hot_key", 280.0)];
    let reason = first_reason(&run(), &slow);
    assert_eq!(reason.kind, ReasonKind::Finding);
    assert_eq!(reason.cause.as_deref(), Some("skew.join_hot_key"));
    assert!(reason.share > Some(0.9), "{reason:?}");
    let c = compare(&slow, &run(), Language::Zh);
    assert_eq!(c.reasons[0].kind, ReasonKind::Finding);
    assert_eq!(c.findings[0].status, FindingStatus::Gone);
    let expected = "B 用时 1 分 40 秒，比 A 少用 5 分 0 秒（−75 %）；最可能的原因：SV2_Combine 的“连接键存在热点值”（`skew.join_hot_key`）只在 A 中";
    assert!(c.headline.starts_with(expected), "{}", c.headline);
}

/// The same job with these measures of every stage times a factor, and its run time with them.
fn scaled(factor: f64, measures: &[&'static Measure]) -> ComparedRun {
    let mut scaled = run();
    scaled.report.job.elapsed_seconds = Some(100.0 * factor);
    for stage in &mut scaled.summary.stages {
        for measure in measures {
            let number = stage.values.get(measure).expect("a number");
            set(&mut stage.values, measure, number * factor);
        }
    }
    scaled
}

#[test]
fn twice_the_input_explains_twice_the_time() {
    let mut slow = scaled(
        2.0,
        &[&book::SPAN, &book::BUSY, &book::MAX_RUN, &book::ROWS_IN],
    );
    set(&mut slow.summary.inputs[0].values, &book::STORED_BYTES, 2e6);
    slow.summary.inputs[0].name = "/logs/2026/01/02/clicks.ss".into();
    let c = compare(&run(), &slow, Language::En);
    assert_eq!(c.reasons[0].kind, ReasonKind::Data);
    assert!(c.reasons[0].share > Some(0.99), "{:?}", c.reasons);
    // The next day's log is the same input.
    let before = c.inputs[0].name_in_a.as_deref();
    assert_eq!(before, Some("/logs/2026/01/01/clicks.ss"));
}

#[test]
fn fewer_tokens_and_a_long_queue_are_reasons() {
    let mut slow = scaled(3.0, &[&book::SPAN]);
    set(&mut slow.summary.values, &book::TOKENS, 3.0);
    // Slightly more input must not hide the tokens.
    set(
        &mut slow.summary.inputs[0].values,
        &book::STORED_BYTES,
        1.2e6,
    );
    let c = compare(&run(), &slow, Language::En);
    assert_eq!(c.reasons[0].kind, ReasonKind::Tokens, "{:?}", c.reasons);
    let shares = c.reasons.iter().filter_map(|r| r.share);
    assert!((shares.sum::<f64>() - 1.0).abs() < 0.05, "{:?}", c.reasons);
    let mut late = run();
    set(&mut late.summary.values, &book::QUEUED, 1200.0);
    assert_eq!(first_reason(&run(), &late).kind, ReasonKind::Queue);
    // A wait before the first task makes a run longer, although it ran for a shorter time.
    let [mut early, mut late] = [run(), run()];
    for (run, ran, total) in [(&mut early, 103.0, 105.0), (&mut late, 100.0, 130.0)] {
        run.report.job.elapsed_seconds = Some(ran);
        run.report.job.total_seconds = Some(total);
    }
    let compared = compare(&early, &late, Language::En);
    assert_eq!(compared.reasons[0].kind, ReasonKind::Queue);
    let headline = compared.headline;
    assert!(
        headline.starts_with("B took 2 min 10 s from submission to end, 25 s longer than A"),
        "{headline}"
    );
}

#[test]
fn a_broadcast_that_became_a_shuffle_is_a_change_of_the_plan_or_of_the_script() {
    let mut good = run();
    good.summary.edges[0].exchange = "broadcast".into();
    let slow = slower(200.0);
    let c = compare(&good, &slow, Language::En);
    assert_eq!(c.plan[0].kind, PlanChangeKind::ExchangeChanged);
    assert_eq!(c.reasons[0].kind, ReasonKind::Plan);
    good.summary.script = Some(script("[BROADCASTRIGHT]\n"));
    let c = compare(&good, &slow, Language::En);
    assert_eq!(c.reasons[0].kind, ReasonKind::Script);
    let ScriptChange::Changed { added, removed, .. } = c.script else {
        panic!("{:?}", c.script);
    };
    assert_eq!((added, removed), (0, 1));
}

#[test]
fn a_failed_run_comes_before_everything() {
    let mut failed = slower(-50.0);
    failed.report.job.state = JobState::Failed;
    failed.summary.error = Some("E_RUNTIME_USER: bad row".into());
    let c = compare(&run(), &failed, Language::En);
    assert_eq!(c.reasons[0].kind, ReasonKind::Failure);
    contains(&c.headline, ["E_RUNTIME_USER"]);
}

#[test]
fn an_inserted_stage_shifts_names_and_stages_are_still_matched() {
    let mut b = run();
    let aggregate = vec![operator("Agg_9", "aggregate", &["Day"])];
    let inserted = stage("SV2_Aggregate", aggregate, 10.0);
    b.summary.stages.insert(1, inserted);
    b.summary.stages[2].name = "SV3_Combine".into();
    b.summary.edges = vec![edge(0, 1, "hash", 4), edge(1, 2, "hash", 10)];
    let c = compare(&run(), &b, Language::En);
    let mut stages = c.stages.iter();
    let join = stages.find(|s| s.b.as_deref() == Some("SV3_Combine"));
    let join = join.expect("the join");
    assert_eq!(join.a.as_deref(), Some("SV2_Combine"));
    assert_eq!(join.matched_by, Some(MatchedBy::Operators));
    assert!(join.confidence < 1.0);
    let mut plan = c.plan.iter();
    let appeared = plan.find(|p| p.kind == PlanChangeKind::StageAppeared);
    assert_eq!(appeared.map(|p| p.place.as_str()), Some("SV2_Aggregate"));
}

#[test]
fn worse_estimates_and_changed_partitions_are_listed() {
    let mut b = run();
    let operator = &mut b.summary.stages[1].operators[0];
    set(&mut operator.values, &book::ESTIMATED_ROWS, 10.0);
    set(&mut b.summary.edges[0].values, &book::PARTITIONS, 250.0);
    let c = compare(&run(), &b, Language::En);
    assert_eq!(c.estimates.len(), 1);
    assert_eq!(c.estimates[0].operator, "Join_1");
    assert_eq!(c.plan[0].kind, PlanChangeKind::PartitionsChanged);
    assert_eq!(c.plan[0].b.as_deref(), Some("250"));
}

#[test]
fn what_an_old_run_does_not_hold_is_named_and_no_difference() {
    let mut old = run();
    old.origin = Origin::Drawn;
    old.summary.inputs.clear();
    old.summary.drawn_only = true;
    for stage in &mut old.summary.stages {
        stage.operators.clear();
        stage.values = Values::default();
    }
    let c = compare(&old, &slower(50.0), Language::En);
    assert_eq!(c.not_compared[0].what, "plan");
    assert!(c.plan.is_empty(), "{:?}", c.plan);
    assert!(c.inputs.is_empty(), "{:?}", c.inputs);
}

#[test]
fn two_jobs_of_other_names_and_inputs_are_told_apart() {
    let mut other = run();
    let same_job = |other: &ComparedRun| compare(&run(), other, Language::En).same_job;
    assert!(same_job(&other));
    other.report.job.name = Some("Weekly".into());
    assert!(same_job(&other), "the input is common");
    other.summary.inputs[0].name = "/users.ss".into();
    assert!(!same_job(&other));
}

#[test]
fn a_comparison_survives_json() {
    let mut slow = slower(300.0);
    slow.report.findings = vec![finding("skew.join_hot_key", 280.0)];
    let c = compare(&run(), &slow, Language::En);
    let text = serde_json::to_string(&c).expect("JSON");
    assert_eq!(serde_json::from_str::<Comparison>(&text).expect("back"), c);
}
