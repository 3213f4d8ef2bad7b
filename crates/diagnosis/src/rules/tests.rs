//! Every kind of rule on small constructed jobs: it fires, is cleared, abstains.

use job::model::{ExchangeKind, JobError, JobState, OperatorKind};

use testkit::run::{ROWS, VERTICES, add, aggregation, operator, set, with_events};

use crate::fixture::{diagnosed, outcome};
use report::RuleResult::{Abstained, Cleared, Explained, Fired, NotApplicable};
use report::{Cause, JobEngine, Severity, Verdict};

#[test]
fn a_balanced_aggregation_is_healthy() {
    let diagnosis = diagnosed(&with_events(aggregation()));
    assert!(diagnosis.findings.is_empty(), "{:?}", diagnosis.findings);
    assert_eq!(
        diagnosis.verdict,
        Verdict::Healthy,
        "{:?}",
        diagnosis.missing
    );
    let unmeasured = |r: &&report::RuleOutcome| {
        r.outcome == Cleared && r.evidence.is_empty() && !r.text.contains("checked")
    };
    let unmeasured: Vec<_> = diagnosis.rules.iter().filter(unmeasured).collect();
    assert!(unmeasured.is_empty(), "{unmeasured:?}");
}

#[test]
fn without_events_or_run_time_nothing_is_healthy() {
    let job = aggregation();
    assert_eq!(diagnosed(&job).verdict, Verdict::InsufficientInformation);
    assert_eq!(outcome(&job, Cause::SlowMachine), Abstained);
    let mut job = with_events(aggregation());
    job.info.elapsed_seconds = None;
    for stage in &mut job.stages {
        stage.runs = None;
    }
    let missing = diagnosed(&job).missing;
    assert!(missing.iter().any(|m| m.information.info == "job_times"));
}

#[test]
fn a_cause_of_unknown_cost_is_a_finding_without_impact() {
    let mut job = aggregation();
    set(&mut job, 1, "Extractor", "maxRowCount", ROWS * 0.3);
    job.stages[1].summary = None;
    if let Some(tree) = &mut job.stages[1].counters {
        tree.nodes.retain(|n| *n.name != *"Time");
    }
    let diagnosis = diagnosed(&job);
    let finding = diagnosis.findings.first().expect("a finding");
    assert_eq!(finding.cause, Cause::GroupHotKey);
    assert_eq!(
        (finding.impact.as_ref(), finding.severity),
        (None, Severity::Medium)
    );
    assert!(finding.confidence < 0.5, "{}", finding.confidence);
    assert_eq!(diagnosis.verdict, Verdict::Problem);
}

#[test]
fn one_vertex_with_most_rows_is_a_hot_key() {
    let mut job = aggregation();
    set(&mut job, 1, "Extractor", "maxRowCount", ROWS * 0.6);
    job.stages[1].summary = None;
    assert_eq!(outcome(&job, Cause::GroupHotKey), Fired);
    assert_eq!(outcome(&job, Cause::JoinHotKey), NotApplicable, "no join");
    assert_eq!(outcome(&aggregation(), Cause::GroupHotKey), Cleared);
}

#[test]
fn skew_is_undecided_where_nothing_tells_how_rows_are_spread() {
    let mut job = aggregation();
    for stage in &mut job.stages {
        stage.counters = None;
        stage.summary = None;
    }
    assert_eq!(outcome(&job, Cause::GroupHotKey), Abstained);
    let diagnosis = diagnosed(&job);
    assert_eq!(diagnosis.verdict, Verdict::InsufficientInformation);
    assert!(
        diagnosis
            .missing
            .iter()
            .any(|m| m.information.info == "per_vertex_data" && !m.information.present)
    );
}

#[test]
fn a_stage_of_one_vertex_is_not_skewed() {
    let mut job = aggregation();
    set(&mut job, 1, "Extractor", "maxRowCount", ROWS);
    if let Some(summary) = &mut job.stages[1].summary {
        summary.values.insert("totalCount".to_owned(), 1.0);
        summary.values.insert("succeededCount".to_owned(), 1.0);
    }
    job.edges[0].partitions = Some(1);
    assert_eq!(outcome(&job, Cause::GroupHotKey), NotApplicable);
}

#[test]
fn spilling_counts_by_the_time_it_costs() {
    let mut job = aggregation();
    set(&mut job, 1, "Sort", "maxSpillBucketCount", 4.0);
    assert_eq!(outcome(&job, Cause::Spill), Cleared, "at the usual pace");
    set(&mut job, 1, "Sort", "exclusiveTime", 600e3);
    set(&mut job, 1, "Time", "elapsedTime", 1200e3);
    assert_eq!(outcome(&job, Cause::Spill), Fired);
}

#[test]
fn garbage_collection_needs_a_managed_stage_and_a_high_share() {
    let reducing = |gc: f64| {
        let mut job = aggregation();
        job.stages[1].native_only = None;
        job.stages[1].operators[1] = operator(
            "Reduce_3",
            5,
            OperatorKind::Reduce,
            "SessionReducer",
            "c2",
            "c3",
        );
        add(
            &mut job,
            1,
            "ManagedMemory",
            None,
            &[
                ("avgTimeInGCPercent", gc),
                ("maxTimeInGCPercent", gc + 10.0),
            ],
        );
        let tree = job.stages[1].counters.as_mut().expect("counters");
        tree.nodes[0].name = "ScopeReduce".into();
        set(&mut job, 1, "ScopeReduce", "exclusiveTime", 300e3);
        job
    };
    assert_eq!(outcome(&reducing(60.0), Cause::HeapPressure), Fired);
    assert_eq!(outcome(&reducing(4.0), Cause::HeapPressure), Cleared);
    let mut unknown = reducing(60.0);
    unknown.stages[1].counters = None;
    assert_eq!(outcome(&unknown, Cause::HeapPressure), Abstained);
    assert_eq!(outcome(&unknown, Cause::CpuBoundUdo), Abstained);
}

#[test]
fn user_code_is_slow_by_its_time_per_row() {
    let mut job = aggregation();
    job.stages[1].native_only = None;
    job.stages[1].operators[1] = operator(
        "Reduce_3",
        5,
        OperatorKind::Reduce,
        "SessionReducer",
        "c2",
        "c3",
    );
    job.stages[1].counters.as_mut().expect("counters").nodes[0].name = "ScopeReduce".into();
    set(&mut job, 1, "ScopeReduce", "exclusiveTime", 100e3);
    assert_eq!(
        outcome(&job, Cause::CpuBoundUdo),
        Cleared,
        "a microsecond a row"
    );
    set(&mut job, 1, "ScopeReduce", "exclusiveTime", 5000e3);
    assert_eq!(
        outcome(&job, Cause::CpuBoundUdo),
        Fired,
        "fifty microseconds a row"
    );
}

#[test]
fn a_second_repartition_on_the_same_keys_is_redundant() {
    let chain = |keys: &str| {
        let mut job = aggregation();
        let keys: Vec<String> = keys.split(',').map(str::to_owned).collect();
        let mut third = job.stages[1].clone();
        third.name = "SV3_Aggregate".to_owned();
        third.operators = vec![operator(
            "Aggregate_6",
            7,
            OperatorKind::Aggregate,
            "SqlGrouper_7",
            "c3",
            "c4",
        )];
        third.operators[0].keys = keys.clone();
        job.stages.push(third);
        let mut edge = job.edges[0].clone();
        edge.channel = "c3".to_owned();
        (edge.from, edge.to) = (1, 2);
        edge.keys = keys;
        job.edges.push(edge);
        job
    };
    for (keys, expected) in [("Key,Value", Fired), ("Value", Cleared)] {
        let found = outcome(&chain(keys), Cause::RedundantRepartition);
        assert_eq!(found, expected, "{keys}");
    }
}

#[test]
fn a_gather_counts_by_the_time_that_it_takes() {
    let gather = |seconds: f64| {
        let mut job = aggregation();
        job.edges[0].exchange = ExchangeKind::Gather;
        job.edges[0].partitions = Some(1);
        set(&mut job, 1, "Time", "elapsedTime", seconds * 1000.0);
        if let Some(summary) = &mut job.stages[1].summary {
            summary.values.insert("totalCount".to_owned(), 1.0);
            summary.values.insert("succeededCount".to_owned(), 1.0);
        }
        job
    };
    assert_eq!(outcome(&gather(650.0), Cause::SerialGather), Fired);
    assert_eq!(outcome(&gather(2.0), Cause::SerialGather), Cleared);
}

#[test]
fn waiting_is_measured_against_the_whole_time() {
    let queued = |seconds: Option<f64>| {
        let mut job = aggregation();
        job.info.queued_seconds = seconds;
        job
    };
    assert_eq!(outcome(&queued(Some(300.0)), Cause::QueueWait), Fired);
    assert_eq!(outcome(&queued(Some(8.0)), Cause::QueueWait), Cleared);
    assert_eq!(outcome(&queued(None), Cause::QueueWait), Abstained);
}

#[test]
fn retries_count_from_a_share_of_the_vertices_on() {
    let failing = |attempts: f64| {
        let mut job = aggregation();
        let summary = job.stages[1].summary.as_mut().expect("statistics");
        summary.values.insert("failedCount".to_owned(), attempts);
        summary
            .values
            .insert("totalFailedTime".to_owned(), attempts * 30_000.0);
        job
    };
    assert_eq!(outcome(&failing(1.0), Cause::VertexRetries), Cleared);
    assert!(matches!(
        outcome(&failing(VERTICES), Cause::VertexRetries),
        Fired
    ));
}

#[test]
fn few_partitions_are_too_few_where_each_is_heavy_and_tokens_are_idle() {
    let partitioned = |vertices: f64| {
        let mut job = aggregation();
        let summary = job.stages[1].summary.as_mut().expect("statistics");
        summary.values.insert("totalCount".to_owned(), vertices);
        summary.values.insert("succeededCount".to_owned(), vertices);
        summary
            .values
            .insert("maxVertexDataRead".to_owned(), 5e9 / vertices);
        job.edges[0].partitions = Some(vertices as u32);
        set(&mut job, 1, "Extractor", "maxRowCount", ROWS / vertices);
        let hts = Some("1".to_owned());
        job.stages[0].operators[0].signature = hts.clone();
        let node = job::model::PlanNode {
            hts,
            card: Some(ROWS),
            ..Default::default()
        };
        job.plan = Some(job::model::Plan {
            nodes: vec![node],
            ..Default::default()
        });
        job
    };
    assert_eq!(outcome(&partitioned(2.0), Cause::ParallelismTooLow), Fired);
    assert_eq!(
        outcome(&partitioned(20.0), Cause::ParallelismTooLow),
        Cleared
    );
    let mut without_plan = partitioned(2.0);
    without_plan.plan = None;
    assert_eq!(outcome(&without_plan, Cause::Misestimate), Abstained);
}

#[test]
fn failures_are_told_apart_by_their_error() {
    let failed = |id: Option<&str>| {
        let mut job = aggregation();
        job.info.state = JobState::Failed;
        if let Some(id) = id {
            job.errors.push(JobError {
                file: "Error".to_owned(),
                id: Some(id.to_owned()),
                ..JobError::default()
            });
        }
        job
    };
    let user = failed(Some("E_RUNTIME_USER_EXPRESSIONEVALUATION"));
    assert_eq!(outcome(&user, Cause::UserCodeFailure), Fired);
    assert_eq!(outcome(&user, Cause::LimitFailure), Explained);
    let limit = failed(Some("E_USER_JM_AM_TempDataHeldBytesPerTokenLimitExceeded"));
    assert_eq!(outcome(&limit, Cause::LimitFailure), Fired);
    assert_eq!(
        outcome(
            &failed(Some("E_CSC_USER_SYNTAXERROR")),
            Cause::CompileFailure
        ),
        Fired
    );
    assert_eq!(outcome(&failed(None), Cause::UserCodeFailure), Abstained);
    assert_eq!(outcome(&aggregation(), Cause::UserCodeFailure), Cleared);
}

#[test]
fn without_operators_the_rules_of_the_data_flow_abstain() {
    let mut job = aggregation();
    for stage in &mut job.stages {
        stage.operators.clear();
    }
    assert_eq!(outcome(&job, Cause::MissedBroadcast), Abstained);
    assert_eq!(diagnosed(&job).verdict, Verdict::InsufficientInformation);
}

#[test]
fn thresholds_are_set_by_name_and_unknown_names_are_refused() {
    let settings =
        crate::Settings::from_toml("min_share = 0.5\n[gc]\nmin_share = 0.3").expect("known names");
    assert_eq!(settings.get(&crate::MIN_SHARE), 0.5);
    let error = crate::Settings::from_toml("[queue]\nmin_shares = 1").expect_err("an unknown name");
    assert!(
        error.to_string().contains("did you mean `queue.min_share`"),
        "{error}"
    );
    assert!(crate::Settings::from_toml("min_share = -1").is_err());
    assert!(crate::Settings::from_toml("min_share = 5").is_err());
    assert!(crate::Settings::from_toml("min_share = \"much\"").is_err());
}

#[test]
fn every_cause_has_a_rule_that_says_what_it_needs() {
    let causes: Vec<Cause> = super::rules().iter().map(|r| r.cause).collect();
    let of_scope = Cause::ALL.iter().filter(|c| c.occurs_in(JobEngine::Scope));
    // a cause that only names an excess has no rule
    let of_rules = of_scope.filter(|c| **c != Cause::UnexplainedStraggler);
    let missing: Vec<&Cause> = of_rules.filter(|c| !causes.contains(c)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(causes.is_sorted(), "not in the order of the contract");
    for rule in super::rules() {
        assert!(
            !rule.needs.is_empty() && !rule.counter_evidence.is_empty(),
            "{}",
            rule.cause
        );
    }
}
