//! Questions about a run: understood, answered, or admitted to be unknown.

use std::collections::BTreeMap;

use agent::facts::MeasuredAnswer;
use ask::{Asked, answer};
use report::measure::book;
use report::*;
use runs::compare::{ComparedRun, Origin};
use runs::store::Turn;
use runs::{
    ColumnSummary, EdgeSummary, InputSummary, OperatorSummary, RunSummary, Script, StageSummary,
};

use crate::support::{self, set, values};

fn source(file: &str) -> Option<Source> {
    Some(Source {
        file: file.into(),
        locator: None,
    })
}

fn stage(name: &str, vertices: u64, seconds: f64, ratio: f64) -> StageSummary {
    StageSummary {
        name: name.into(),
        lines: vec![2],
        values: values(
            "profile",
            &[
                (&book::VERTICES, vertices as f64),
                (&book::SPAN, seconds * 1e3),
                (&book::BUSY, seconds * 5e3),
                (&book::MAX_RUN, seconds * 900.0),
                (&book::RUN_MAX_OVER_MEAN, ratio),
                (&book::ROWS_IN, 4e6),
                (&book::ROWS_OUT, 1e6),
                (&book::BYTES_READ, 3e9),
                (&book::GC_SHARE, 0.07),
                (&book::MEAN_RUN, seconds * 130.0),
                (&book::MEDIAN_RUN, seconds * 110.0),
                (&book::READ_MEAN, 75e6),
                (&book::READ_MEDIAN, 70e6),
                (&book::READ_MAX, 90e6),
                (&book::ROWS_MEAN, 1e5),
                (&book::BYTES_WRITTEN, 8e8),
                (&book::PLANNED, vertices as f64 + 2.0),
                (&book::FAILED, 3.0),
                (&book::REVOKED, 1.0),
                (&book::WAIT, 4000.0),
            ],
        ),
        ..StageSummary::default()
    }
}

fn summary() -> RunSummary {
    let mut join = stage("SV2_Combine", 40, 70.0, 6.5);
    join.operators.push(OperatorSummary {
        id: "Join_5".into(),
        kind: "join".into(),
        keys: vec!["UserId".into()],
        values: values(
            "x",
            &[(&book::OPERATOR_ROWS, 1e6), (&book::ESTIMATED_ROWS, 2e5)],
        ),
        ..OperatorSummary::default()
    });
    RunSummary {
        values: values(
            "JobInfo.xml",
            &[
                (&book::ELAPSED, 100.0),
                (&book::QUEUED, 12.0),
                (&book::TOKENS, 50.0),
                (&book::JOB_VERTICES, 20.0),
            ],
        ),
        stages: vec![stage("SV1_Extract", 8, 20.0, 1.1), join],
        edges: vec![EdgeSummary {
            from: 0,
            to: 1,
            exchange: "hash".into(),
            keys: vec!["UserId".into()],
            ..EdgeSummary::default()
        }],
        inputs: vec![InputSummary {
            name: "ClickLog".into(),
            values: values("tables.json", &[(&book::STORED_ROWS, 4e6)]),
            layout: Some("none".into()),
            columns: vec![ColumnSummary {
                name: "UserId".into(),
                is_key: true,
                top: Some(("42".into(), 3_000_000)),
                values: values("tables.json", &[(&book::DISTINCT, 900.0)]),
                ..ColumnSummary::default()
            }],
            ..InputSummary::default()
        }],
        script: Some(Script {
            file: "scope.script".into(),
            text: "A = SELECT * FROM ClickLog;\nB = SELECT * FROM A;\nOUTPUT B TO \"/b\";\n".into(),
        }),
        ..RunSummary::default()
    }
}

/// A run of 100 seconds with one finding about its second stage.
fn report(language: Language) -> Report {
    let evidence = |id: &str, text: &str| Evidence {
        id: id.into(),
        metric: "maxRowCount".into(),
        value: 3e6.into(),
        unit: Some("rows".into()),
        expected: None,
        source: source("counters.xml").expect("a source"),
        text: text.into(),
    };
    let segment = |kind, stage: &str, start_seconds, seconds| Segment {
        kind,
        stage: Some(stage.into()),
        start_seconds,
        seconds,
        ..Segment::default()
    };
    let rule = |cause, outcome, text: &str| RuleOutcome {
        cause,
        outcome,
        by: None,
        text: text.into(),
        lacking: Vec::new(),
        evidence: vec!["E1".into()],
    };
    Report {
        language,
        job: JobSummary {
            id: Some("job-7".into()),
            total_seconds: Some(120.0),
            submitted: Some("2026-05-02T00:00:00Z".into()),
            ..support::report().job
        },
        verdict: Verdict::Problem,
        findings: vec![Finding {
            evidence: vec!["E1".into()],
            ..support::finding("skew.join_hot_key", 40.0)
        }],
        evidence: vec![evidence("E1", "the largest vertex has 3.0 M rows")],
        suggestions: vec![Suggestion {
            gain: "40 s".into(),
            seconds_saved: None,
            ..support::suggestion()
        }],
        rules: vec![
            rule(Cause::JoinHotKey, RuleResult::Fired, "1 finding"),
            rule(
                Cause::HeapPressure,
                RuleResult::Cleared,
                "collection takes 7.0 %",
            ),
        ],
        time: Some(TimeAccount {
            segments: vec![
                segment(SegmentKind::Read, "SV1_Extract", 20.0, 20.0),
                segment(SegmentKind::Straggler, "SV2_Combine", 40.0, 60.0),
                segment(SegmentKind::Sort, "SV2_Combine", 100.0, 20.0),
            ],
            explained_share: 1.0,
            avoidable_seconds: Some(40.0),
            ..TimeAccount::default()
        }),
        ..support::report()
    }
}

fn ask_after(before: &[&str], question: &str, earlier: Option<ComparedRun>) -> MeasuredAnswer {
    let (report, summary) = (report(Language::of(question)), summary());
    let earlier = || earlier.clone();
    let run = Asked::new(&report, &summary, &earlier, &[]);
    let before: Vec<String> = before.iter().map(|q| (*q).to_owned()).collect();
    let answer = answer(question, &before, &run);
    for word in answer.text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let is_id = word
            .strip_prefix('E')
            .is_some_and(|n| n.parse::<u32>().is_ok());
        let mut known = answer.evidence.iter();
        assert!(
            !is_id || known.any(|e| e.id == word),
            "{question}: {word} is cited and not given"
        );
    }
    answer
}

pub(crate) fn answered(before: &[&str], question: &str) -> String {
    ask_after(before, question, None).text
}

#[track_caller]
pub(crate) fn check(before: &[&str], question: &str, said: &[&str], unsaid: &[&str]) {
    let text = ask_after(before, question, None).text;
    for part in said {
        assert!(text.contains(part), "{question}\nlacks {part:?}: {text}");
    }
    for part in unsaid {
        assert!(!text.contains(part), "{question}\nhas {part:?}: {text}");
    }
}

#[test]
fn each_quantity_is_answered_for_what_is_named() {
    for (question, said) in [
        ("How long did SV1_Extract take?", &["20 s", "[E2]"][..]),
        ("SV1_Extract 用了多长时间？", &["20 秒", "[E2]"]),
        (
            "how many vertices has sv2?",
            &["SV2_Combine has 42 vertices; 40 of them ran to their end [E2, E3]"],
        ),
        (
            "SV2_Combine 有多少个顶点？",
            &["有 42 个顶点", "40 个运行到结束"],
        ),
        ("how many rows does stage 1 read", &["4.0 M rows"]),
        ("Are the vertices of SV2_Combine even?", &["6.5×"]),
        ("SV2_Combine 均匀吗？", &["6.5 倍"]),
        (
            "Is SV1_Extract a problem?",
            &["No rule found a problem in SV1_Extract", "SV2_Combine"],
        ),
        (
            "SV1_Extract 是不是问题？",
            &["没有发现 SV1_Extract 本身的问题", "SV2_Combine"],
        ),
        (
            "Why is SV2_Combine so slow?",
            &["one key has most rows", "F1"],
        ),
        (
            "Which stage is the slowest?",
            &["SV2_Combine (1 min 20 s, 80 % of the whole time)"],
        ),
        (
            "哪个阶段最慢？",
            &["SV2_Combine（1 分 20 秒，占全程的 80 %）"],
        ),
        (
            "Where does the time go?",
            &["straggler in SV2_Combine (1 min 0 s, 60 %)"],
        ),
        (
            "时间都花在哪里？",
            &["SV2_Combine 的长尾（1 分 0 秒，占 60 %）"],
        ),
        ("How long does it sort?", &["sorting takes 20 s"]),
        (
            "Does garbage collection matter?",
            &["Ruled out: heavy garbage collection", "7.0 %"],
        ),
        ("是不是 GC 太多？", &["已排除“垃圾回收开销过高”"]),
        ("What feeds SV2_Combine?", &["SV1_Extract (hash on UserId)"]),
        (
            "How many distinct values has UserId?",
            &["900 distinct values", "75 %"],
        ),
        (
            "How big is ClickLog?",
            &["Input ClickLog (4.0 M rows), stored without a key"],
        ),
        (
            "What does Join_5 do?",
            &["SV2_Combine", "expected 200,000 rows"],
        ),
        ("Who runs line 2?", &["lines 2 (B)", "SV1_Extract"]),
        ("What should I change?", &["S1", "add a hint"]),
        ("怎么改？", &["S1", "add a hint"]),
        (
            "Could it finish in under 70 s?",
            &["about 1 min 0 s, which reaches 1 min 10 s"],
        ),
        ("能压到一半以内吗？", &["仍达不到 50 秒"]),
        (
            "Why is SV2_Combine not faster than SV1_Extract?",
            &[
                "40 vertices against 8 vertices",
                "The largest difference",
                "F1",
            ],
        ),
    ] {
        check(&[], question, said, &["did not understand", "没有理解"]);
    }
}

#[test]
fn names_that_the_run_lacks_come_with_their_neighbors() {
    for (question, said) in [
        (
            "Why is SV3_Combine slow?",
            &["no `SV3_Combine`; the nearest: `SV2_Combine`"][..],
        ),
        (
            "SV3_Combine 为什么慢？",
            &["没有 `SV3_Combine`；相近的有：`SV2_Combine`"],
        ),
        ("how long is stage 9?", &["no stage `stage 9`"]),
        (
            "How many rows has table ClickLogs?",
            &["no input `ClickLogs`", "`ClickLog`", "4.0 M rows"],
        ),
        (
            "What is in table Ghosts?",
            &["no input `Ghosts`; there are `ClickLog`"],
        ),
        (
            "Did you read runtime_stats.xml?",
            &["no `runtime_stats.xml`"],
        ),
    ] {
        check(&[], question, said, &[]);
    }
}

#[test]
fn a_conversation_goes_on_about_the_same_thing() {
    let about = ["How long did SV1_Extract take?"];
    check(
        &about,
        "and how many vertices?",
        &["SV1_Extract has 10 vertices"],
        &[],
    );
    check(
        &["哪个阶段最慢？"],
        "它有多少个顶点？",
        &["SV2_Combine 有 42 个顶点"],
        &[],
    );
    check(
        &about,
        "What should I change in this job?",
        &["S1"],
        &["SV1_Extract"],
    );
}

#[test]
fn what_is_not_understood_is_refused_in_one_line() {
    for (question, said) in [
        (
            "What is the weather tomorrow",
            "I did not understand the question; ask",
        ),
        ("今天天气如何", "没有理解这个问题；可以问"),
    ] {
        check(&[], question, &[said], &["F1"]);
        check(&["SV1_Extract?"], question, &[said], &["SV1_Extract"]);
    }
}

#[test]
fn the_last_run_of_the_job_is_compared_with() {
    let mut before = report(Language::En);
    before.job.elapsed_seconds = Some(50.0);
    before.job.total_seconds = Some(70.0);
    before.job.submitted = Some("2026-05-01T00:00:00Z".into());
    before.findings.clear();
    let mut earlier = summary();
    set(&mut earlier.stages[1].values, &book::SPAN, 20_000.0);
    let earlier = ComparedRun {
        report: before,
        summary: earlier,
        origin: Origin::Kept,
    };
    let text = ask_after(&[], "What changed since the last run?", Some(earlier)).text;
    assert!(
        text.contains("(2026-05-01) the run time went from 50 s to 1 min 40 s (+100 %)"),
        "{text}"
    );
    assert!(text.contains("Most likely reason"), "{text}");
    check(
        &[],
        "What changed since the last run?",
        &["No earlier run"],
        &["Most likely reason"],
    );
}

/// The ids of evidence in a text.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| {
        let number = word.strip_prefix('E').map(str::parse::<u32>);
        number.is_some_and(|n| n.is_ok())
    })
}

#[test]
fn an_id_means_one_thing_in_a_prompt_and_in_all_of_a_conversation() {
    let (report, summary) = (report(Language::En), summary());
    let mut turns: Vec<Turn> = Vec::new();
    let mut known: BTreeMap<String, Evidence> = BTreeMap::new();
    for question in [
        "How many rows does SV1_Extract read?",
        "And SV2_Combine?",
        "How long does SV1_Extract take?",
    ] {
        let cited: Vec<Evidence> = turns.iter().flat_map(|t| t.evidence.clone()).collect();
        let run = Asked::new(&report, &summary, &|| None, &cited);
        let before: Vec<String> = turns.iter().map(|t| t.question.clone()).collect();
        let measured = answer(question, &before, &run);
        let input = ask::input(question, measured.clone(), &turns, &run, false);
        let mut listed: BTreeMap<&str, &Evidence> = BTreeMap::new();
        for e in input.cited() {
            let other = listed.insert(&e.id, e);
            assert!(
                other.is_none_or(|other| other == e),
                "{question}: {e:?} {other:?}"
            );
        }
        let stages = input.facts.outline.stages.iter();
        let lines = stages.flat_map(|s| &s.measures.lines);
        let said: Vec<&String> = lines.chain(input.memory.iter().map(|m| &m.text)).collect();
        assert!(ids(said[0]).next().is_some(), "{said:?}");
        for id in said
            .iter()
            .flat_map(|text| ids(text))
            .chain(ids(&measured.text))
        {
            assert!(listed.contains_key(id), "{question}: {id} is not listed");
        }
        // Evidence saved with a turn keeps its id in later turns.
        let quoted = &input.facts.outline.stages[1].evidence[0];
        let evidence = measured.evidence.iter().chain([quoted]).cloned();
        turns.push(Turn {
            question: question.into(),
            text: format!("{} See [{}].", measured.text, quoted.id),
            evidence: evidence.collect(),
            reasoner: ReasonerKind::Llm,
            created_at: "2026-05-02T00:00:00Z".into(),
        });
        for e in input.cited() {
            if let Some(known) = known.get(&e.id) {
                assert_eq!(known, e, "{question}");
            }
        }
        let last = turns.iter().flat_map(|t| &t.evidence);
        known.extend(last.map(|e| (e.id.clone(), e.clone())));
    }
}

#[test]
fn every_stage_is_described_and_those_of_findings_matter_most() {
    let (report, mut summary) = (report(Language::En), summary());
    set(&mut summary.stages[1].values, &book::BUSY, 1.0);
    let more = (3..=90).map(|n| stage(&format!("SV{n}_Extract"), 4, f64::from(n), 1.2));
    summary.stages.extend(more);
    let run = Asked::new(&report, &summary, &|| None, &[]);
    let input = ask::input("why?", MeasuredAnswer::default(), &[], &run, false);
    let stages = &input.facts.outline.stages;
    assert!(stages.iter().all(|s| s.measures.lines.len() > 4));
    let ranks = [1, 89, 88, 0].map(|at| stages[at].rank);
    assert_eq!(ranks, [0, 1, 2, 71], "the finding's, then the longest");
}

#[test]
fn advice_may_only_cite_what_the_report_has() {
    let (report, summary) = (report(Language::En), summary());
    let input = ask::advice_input(&report, &summary, "F1", false);
    assert!(input.cited().all(|e| report.evidence.contains(e)));
    let lines = input
        .facts
        .outline
        .stages
        .iter()
        .flat_map(|s| &s.measures.lines);
    for line in lines {
        assert_eq!(ids(line).next(), None, "{line}");
    }
}

#[test]
fn a_part_of_the_time_is_no_claim_about_all_of_it() {
    let claim = "why did the job need 30 s?";
    check(&[], claim, &["not 30 s"], &[]);
    for question in [
        "what did the job do in the first 30 s?",
        "what did the job do from 30 s to 40 s?",
        "作业在第 30 秒做什么？",
    ] {
        check(&[], question, &[], &["not 30 s", "不是 30 秒"]);
    }
}
