//! Every cause gets something to do; what is known of the job gets into it.

use job::Job;
use job::model::{ColumnStatistics, Table, TopValue};
use job::script::Script;
use report::{
    Cause, Evidence, EvidenceValue, Finding, Impact, Language, Severity, Source, Suggestion,
    SuggestionKind,
};

use super::verify_script;
use crate::Suggested;
use crate::rule::Candidate;

const SCRIPT: &str = "#DECLARE In string = @\"/shares/team/log.ss\";\n\
    Raw = SSTREAM @In;\n\
    L = SELECT K, U, A FROM Raw;\n\
    R = SELECT K, B FROM (SSTREAM \"/shares/team/dim.ss\");\n\
    J = SELECT l.K, l.U, l.A, r.B FROM L AS l INNER JOIN R AS r ON l.K == r.K;\n\
    G = SELECT K, SUM(A) AS S FROM L GROUP BY K;\n\
    OUTPUT J TO SSTREAM @\"/o1.ss\";\nOUTPUT G TO SSTREAM @\"/o2.ss\";\n";

const JOIN_LINE: u32 = 5;
const GROUP_LINE: u32 = 6;

fn column(name: &str, distinct: u64, top: &[(&str, u64)]) -> ColumnStatistics {
    ColumnStatistics {
        name: name.to_owned(),
        type_name: Some("long?".to_owned()),
        distinct: Some(distinct),
        top_values: top
            .iter()
            .map(|(value, rows)| TopValue {
                value: (*value).to_owned(),
                rows: *rows,
            })
            .collect(),
        ..ColumnStatistics::default()
    }
}

fn table(name: &str, rows: u64, columns: Vec<ColumnStatistics>) -> Table {
    Table {
        name: name.to_owned(),
        path: Some(format!("/shares/team/{name}.ss")),
        rows: Some(rows),
        columns,
        ..Table::default()
    }
}

fn job(text: &str) -> Job {
    let hot = column("K", 50_000, &[("7", 400_000), ("8", 300_000), ("9", 1_000)]);
    Job {
        script: Some(Script::parse("scope.script", text.to_owned())),
        tables: vec![
            table(
                "log",
                1_000_000,
                vec![hot, column("U", 900_000, &[]), column("A", 9, &[])],
            ),
            table("dim", 50_000, vec![column("K", 50_000, &[("7", 1)])]),
        ],
        ..Job::default()
    }
}

fn finding(cause: Cause, line: Option<u32>) -> Candidate {
    let finding = Finding {
        id: String::new(),
        cause,
        problem_type: cause.problem_type(),
        severity: Severity::High,
        confidence: 0.9,
        stage: Some("SV3_Combine".to_owned()),
        script_lines: line.map(|line| [line, line]),
        summary: String::new(),
        evidence: Vec::new(),
        impact: Some(Impact {
            seconds_saved: 120.0,
            share_of_elapsed: Some(0.25),
            method: String::new(),
            vertex_hours_saved: None,
        }),
    };
    Candidate {
        finding,
        evidence: Vec::new(),
        strength: 1.0,
        fix: None,
    }
}

fn suggest(job: &Job, findings: &[Candidate]) -> Vec<Suggestion> {
    let found = super::suggest(job, findings, Language::En).into_iter();
    found.map(|s| s.suggestion).collect()
}

fn suggestions(cause: Cause, line: u32) -> Vec<Suggestion> {
    suggest(&job(SCRIPT), &[finding(cause, Some(line))])
}

fn diffs(suggestions: &[Suggestion]) -> Vec<&str> {
    suggestions
        .iter()
        .filter_map(|suggestion| suggestion.diff.as_deref())
        .collect()
}

#[test]
fn every_cause_gets_a_complete_suggestion_whatever_is_known() {
    let empty = Job::default();
    let full = job(SCRIPT);
    for &cause in Cause::ALL {
        for (job, line) in [
            (&empty, None),
            (&full, None),
            (&full, Some(JOIN_LINE)),
            (&full, Some(GROUP_LINE)),
        ] {
            for (language, gain) in [
                (Language::En, "2 min 0 s (25 %"),
                (Language::Zh, "2 分 0 秒（占运行时间的 25 %"),
            ] {
                let found = super::suggest(job, &[finding(cause, line)], language);
                assert!(!found.is_empty(), "{cause} gets none");
                for Suggested { suggestion: s, .. } in found {
                    let texts = [&s.title, &s.gain].into_iter().chain(&s.steps);
                    for text in texts.chain(&s.pros).chain(&s.cons) {
                        assert!(!text.is_empty(), "{cause}: {s:?}");
                        let chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
                        let wrong = language == Language::En && text.contains(chinese);
                        assert!(!wrong, "{cause}: {text}");
                    }
                    assert!(!s.steps.is_empty() && !s.pros.is_empty() && !s.cons.is_empty());
                    assert_eq!(s.diff.is_some(), s.verified.is_some());
                    assert!(s.gain.contains(gain), "{}", s.gain);
                }
            }
        }
    }
}

#[test]
fn a_hot_join_key_is_split_by_the_values_that_are_hot() {
    let found = suggestions(Cause::JoinHotKey, JOIN_LINE);
    let split = diffs(&found)[0];
    assert!(split.contains("+    WHERE K == 7 OR K == 8;"), "{split}");
    assert!(
        !split.contains("K == 9"),
        "a value with few rows is not hot"
    );
    assert!(split.contains("INNER BROADCASTRIGHT JOIN"), "{split}");
    assert!(diffs(&found)[1].contains("+[SKEWJOIN=(SKEW=FROMLEFT, REPARTITION=FULLJOIN)]"));
}

#[test]
fn a_hot_group_key_is_salted_by_the_column_with_most_values() {
    let found = suggestions(Cause::GroupHotKey, GROUP_LINE);
    assert!(
        diffs(&found)[0].contains("U % 32 AS SaltKey"),
        "{}",
        diffs(&found)[0]
    );
}

#[test]
fn the_side_with_fewer_rows_is_broadcast() {
    let found = suggestions(Cause::MissedBroadcast, JOIN_LINE);
    assert!(diffs(&found)[0].contains("INNER BROADCASTRIGHT JOIN"));
    let turned = SCRIPT.replace(
        "FROM L AS l INNER JOIN R AS r",
        "FROM R AS r INNER JOIN L AS l",
    );
    let found = suggest(
        &job(&turned),
        &[finding(Cause::MissedBroadcast, Some(JOIN_LINE))],
    );
    assert!(diffs(&found)[0].contains("INNER BROADCASTLEFT JOIN"));
}

#[test]
fn a_wrong_row_count_is_corrected_by_what_was_counted() {
    let text = SCRIPT.replace("L = SELECT", "[ROWCOUNT=5000]\nL = SELECT");
    let mut wrong = finding(Cause::Misestimate, Some(4));
    wrong.evidence.push(Evidence {
        id: String::new(),
        metric: "rowCount".to_owned(),
        value: EvidenceValue::Number(1_000_000.0),
        unit: Some("rows".to_owned()),
        expected: None,
        source: Source {
            file: "x".to_owned(),
            locator: None,
        },
        text: String::new(),
    });
    let found = suggest(&job(&text), &[wrong]);
    assert!(diffs(&found)[0].contains("-[ROWCOUNT=5000]\n+[ROWCOUNT=1000000]"));
}

#[test]
fn failures_and_queues_ask_for_no_rewrite() {
    for cause in [Cause::QueueWait, Cause::SlowMachine, Cause::UserCodeFailure] {
        let found = suggestions(cause, JOIN_LINE);
        assert!(diffs(&found).is_empty(), "{cause}");
    }
    let found = suggestions(Cause::QueueWait, JOIN_LINE);
    assert_eq!(found[0].kind, SuggestionKind::Parameter);
}

#[test]
fn suggestions_point_to_their_findings() {
    let findings = [
        finding(Cause::QueueWait, None),
        finding(Cause::JoinHotKey, Some(JOIN_LINE)),
    ];
    let found = super::suggest(&job(SCRIPT), &findings, Language::En);
    let of = |id: &str| {
        let fits = |s: &&Suggested| s.suggestion.finding.as_deref() == Some(id);
        found.iter().filter(fits).collect::<Vec<_>>()
    };
    assert!(!of("F1").is_empty());
    let of_join = of("F2");
    assert!(of_join.len() > 1);
    assert!(
        of_join
            .iter()
            .all(|s| s.topic.starts_with("skew.join_hot_key"))
    );
}

#[test]
fn scripts_of_others_are_checked_like_our_own() {
    let job = job(SCRIPT);
    let check = |from: &str, to: &str| {
        assert!(SCRIPT.contains(from));
        let verified = verify_script(&job, &SCRIPT.replace(from, to));
        (
            verified.parses,
            verified.columns_preserved,
            verified.hints_known,
        )
    };
    assert_eq!(
        check("INNER JOIN", "INNER BROADCASTRIGHT JOIN"),
        (true, true, true)
    );
    assert_eq!(check("l.U, l.A, r.B", "l.U, r.B"), (true, false, true));
    assert_eq!(
        check("L = SELECT", "[MAGIC=1]\nL = SELECT"),
        (true, true, false)
    );
    assert!(!check("GROUP BY K;", "GROUP BY;").0);
    let without = verify_script(&Job::default(), SCRIPT);
    assert!(!without.parses && !without.columns_preserved);
}
