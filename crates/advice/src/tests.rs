//! Every cause gets a suggestion. Facts of the job decide about the suggestions, their sequence and
//! their gain.

use job::Job;
use job::model::{ColumnStatistics, Table, TopValue};
use job::script::Script;
use report::{
    Cause, Evidence, EvidenceValue, Finding, Impact, JobEngine, Language, Severity, Source,
    Suggestion,
};

use crate::verify_script;
use diagnosis::Candidate;
use diagnosis::Settings;
use diagnosis::Suggested;
use diagnosis::View;
use testkit::run::{self, aggregation};

const SCOPE: &str = "#DECLARE In string = @\"/shares/team/log.ss\";\n\
    Raw = SSTREAM @In;\n\
    L = SELECT K, U, A FROM Raw;\n\
    R = SELECT K, B FROM (SSTREAM \"/shares/team/dim.ss\");\n\
    J = SELECT l.K, l.U, l.A, r.B FROM L AS l INNER JOIN R AS r ON l.K == r.K;\n\
    G = SELECT K, SUM(A) AS S FROM L GROUP BY K;\n\
    P = REDUCE L ON K PRODUCE K, N USING Sessions();\n\
    W = SELECT TOP 9 K, A FROM L ORDER BY A DESC;\n\
    OUTPUT J TO SSTREAM @\"/o1.ss\";\nOUTPUT G TO SSTREAM @\"/o2.ss\";\n\
    OUTPUT P TO SSTREAM @\"/o3.ss\";\nOUTPUT W TO SSTREAM @\"/o4.ss\";\n";
const USQL: &str = "@Raw = EXTRACT K long?, U long, A long FROM @\"/shares/team/log.ss\" USING Extractors.Tsv();\n\n\
    @L = SELECT K, U, A FROM @Raw;\n\
    @R = EXTRACT K long?, B long FROM @\"/shares/team/dim.ss\" USING Extractors.Tsv();\n\
    @J = SELECT l.K, l.U, l.A, r.B FROM @L AS l INNER JOIN @R AS r ON l.K == r.K;\n\
    @G = SELECT K, SUM(A) AS S FROM @L GROUP BY K;\n\
    @P = REDUCE @L ON K PRODUCE K long?, N int USING new Demo.Sessions();\n\
    @W = SELECT K, A FROM @L ORDER BY A DESC FETCH 9 ROWS;\n\
    OUTPUT @J TO \"/o1.tsv\" USING Outputters.Tsv();\nOUTPUT @G TO \"/o2.tsv\" USING Outputters.Tsv();\n\
    OUTPUT @P TO \"/o3.tsv\" USING Outputters.Tsv();\nOUTPUT @W TO \"/o4.tsv\" USING Outputters.Tsv();\n";

const JOIN: u32 = 5;
const GROUP: u32 = 6;
const REDUCE: u32 = 7;
const TOP: u32 = 8;

/// Words of only one of the languages.
const ONLY_SCOPE: &[&str] = &[
    "SCOPE",
    "SKEWJOIN",
    "[PARTITION",
    "[ROW",
    "SSTREAM",
    "TOP N",
    "LOWDISTINCTNESS",
];
const ONLY_USQL: &[&str] = &[
    "U-SQL",
    "OPTION(",
    "DISTRIBUTED BY",
    "FETCH",
    "STATISTICS",
    "FeaturePreviews",
    "SqlUserDefined",
];

fn column(name: &str, distinct: u64, top: &[(&str, u64)]) -> ColumnStatistics {
    let value = |(value, rows): &(&str, u64)| TopValue {
        value: (*value).to_owned(),
        rows: *rows,
    };
    ColumnStatistics {
        name: name.to_owned(),
        type_name: Some("long?".to_owned()),
        distinct: Some(distinct),
        top_values: top.iter().map(value).collect(),
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

/// A run of two stages, the second skewed, with 20 vertices on 40 tokens; its script and tables.
fn job(text: &str) -> Job {
    let mut run = aggregation();
    run::set(&mut run, 1, "Extractor", "maxRowCount", run::ROWS * 0.4);
    let hot = column("K", 50_000, &[("7", 400_000), ("8", 300_000), ("9", 1_000)]);
    let name = if text.contains('#') {
        "scope.script"
    } else {
        "job.usql"
    };
    Job {
        script: Some(Script::parse(name, text.to_owned())),
        tables: vec![
            table(
                "log",
                1_000_000,
                vec![hot, column("U", 900_000, &[]), column("A", 9, &[])],
            ),
            table("dim", 50_000, vec![column("K", 50_000, &[("7", 1)])]),
        ],
        ..run
    }
}

fn finding(cause: Cause, line: Option<u32>) -> Candidate {
    Candidate {
        finding: Finding {
            id: String::new(),
            cause,
            problem_type: cause.problem_type(),
            severity: Severity::High,
            confidence: 0.9,
            stage: Some("SV2_Aggregate".to_owned()),
            script_lines: line.map(|line| [line, line]),
            summary: String::new(),
            evidence: Vec::new(),
            impact: Some(Impact {
                seconds_saved: 18.0,
                share_of_elapsed: Some(0.24),
                method: String::new(),
                vertex_hours_saved: None,
            }),
        },
        evidence: Vec::new(),
        strength: 1.0,
        certainty: 1.0,
        at_most: 1.0,
        fix: None,
        by_chance: false,
        independent: false,
    }
}

fn with_evidence(
    mut candidate: Candidate,
    metric: &str,
    value: EvidenceValue,
    unit: Option<&str>,
) -> Candidate {
    candidate.evidence.push(Evidence {
        id: String::new(),
        metric: metric.to_owned(),
        value,
        unit: unit.map(str::to_owned),
        expected: None,
        source: Source {
            file: "x".to_owned(),
            locator: None,
        },
        text: String::new(),
    });
    candidate
}

fn hot_value(value: &str, line: u32) -> Candidate {
    let value = EvidenceValue::Text(value.to_owned());
    with_evidence(
        finding(Cause::NullOrDefaultKey, Some(line)),
        "hot_key_value",
        value,
        None,
    )
}

fn in_language(job: &Job, findings: &[Candidate], language: Language) -> Vec<Suggested> {
    let settings = Settings::default();
    crate::suggest(&View::new(job, &settings, language), findings)
}

fn suggest(job: &Job, found: Candidate) -> Vec<Suggestion> {
    let all = in_language(job, &[found], Language::En).into_iter();
    all.map(|s| s.suggestion).collect()
}

/// All texts of a suggestion.
fn words(s: &Suggestion) -> String {
    let all: Vec<&str> = s.texts().map(String::as_str).collect();
    format!(
        "{:?} {}\n{}",
        s.kind,
        all.join("\n"),
        s.diff.as_deref().unwrap_or_default()
    )
}

#[test]
fn every_cause_gets_complete_advice_in_its_dialect_and_claims_its_gain_once() {
    let failed = Job {
        stages: Vec::new(),
        ..Job::default()
    };
    let wide = |job: Job| Job {
        tables: Vec::new(),
        ..job
    };
    let causes = Cause::ALL.iter().filter(|c| c.occurs_in(JobEngine::Scope));
    for &cause in causes {
        for (job, other) in [
            (&failed, ONLY_USQL),
            (&job(SCOPE), ONLY_USQL),
            (&wide(job(SCOPE)), ONLY_USQL),
            (&job(USQL), ONLY_SCOPE),
            (&wide(job(USQL)), ONLY_SCOPE),
        ] {
            for line in [None, Some(JOIN), Some(GROUP), Some(REDUCE), Some(TOP)] {
                for (language, whole) in [
                    (Language::En, "up to about 18 s (24 % of"),
                    (Language::Zh, "最多约 18 秒（占"),
                ] {
                    let found = in_language(job, &[finding(cause, line)], language);
                    assert!(!found.is_empty(), "{cause} gets none");
                    let claims = found.iter().filter(|s| s.suggestion.gain.contains(whole));
                    assert!(claims.count() <= 1, "{cause} {line:?}: {found:#?}");
                    for Suggested { suggestion: s, .. } in &found {
                        let said = words(s);
                        let chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
                        assert_eq!(language == Language::Zh, said.contains(chinese), "{said}");
                        assert!(
                            !s.steps.is_empty() && !s.pros.is_empty() && !s.cons.is_empty(),
                            "{said}"
                        );
                        assert!(s.texts().all(|text| !text.is_empty()));
                        assert_eq!(s.diff.is_some(), s.verified.is_some());
                        let foreign = other.iter().find(|word| said.contains(**word));
                        assert_eq!(foreign, None, "{cause} {line:?}: {said}");
                    }
                }
            }
        }
    }
}

#[test]
fn advice_follows_what_is_known_of_the_job() {
    let scope = || job(SCOPE);
    let with = |from: &str, to: &str| {
        assert!(SCOPE.contains(from));
        job(&SCOPE.replace(from, to))
    };
    let tokens = |tokens: Option<u32>| {
        let mut job = scope();
        job.info.tokens = tokens;
        job
    };
    let no_values = || {
        let mut job = scope();
        job.tables[0].columns[0].top_values.clear();
        job
    };
    let unread = job(&SCOPE.replace("l.U, l.A", "l.A").replace(
        "REDUCE L ON K PRODUCE K, N USING Sessions()",
        "SELECT K FROM L",
    ));
    let at = |cause, line| finding(cause, Some(line));
    let rows = |cause, line| {
        with_evidence(
            at(cause, line),
            "rowCount",
            EvidenceValue::Number(1e6),
            Some("rows"),
        )
    };
    // job, finding, and for each suggestion a text in it; `!` before a text that no suggestion has
    #[rustfmt::skip]
    let cases: Vec<(Job, Candidate, &[&str])> = vec![
        (scope(), at(Cause::JoinHotKey, JOIN), &["+[SKEWJOIN=(SKEW=FROMLEFT, REPARTITION=SPLITJOIN)]", "+    WHERE K == 7 OR K == 8;", "!K == 9"]),
        (no_values(), at(Cause::JoinHotKey, JOIN), &["SKEWJOIN", "ON l.K == r.K AND l.SaltKey == r.SaltKey", "!BROADCASTRIGHT"]),
        (job(USQL), at(Cause::JoinHotKey, JOIN), &["+OPTION(SKEWFACTOR(K)=0.8)", "K == 7 OR K == 8"]),
        (scope(), at(Cause::GroupHotKey, GROUP), &["U % 32 AS SaltKey", "+[SKEWFACTOR(K)=0.8]\n L = SELECT"]),
        (with("SUM(A)", "LIST(A)"), at(Cause::GroupHotKey, GROUP), &["finer key", "!SKEWFACTOR"]),
        (with("SUM(A)", "COUNT(DISTINCT U)"), at(Cause::GroupHotKey, GROUP), &["+GValues =", "!SKEWFACTOR"]),
        (scope(), at(Cause::GroupHotKey, REDUCE), &["override `IsRecursive`", "!SKEWFACTOR"]),
        (job(USQL), at(Cause::GroupHotKey, REDUCE), &["SqlUserDefinedReducer(IsRecursive = true)", "!SKEWFACTOR"]),
        (scope(), hot_value("NULL", GROUP), &["SaltKey", "`WHERE K != null`", "SKEWFACTOR"]),
        (scope(), hot_value("0", GROUP), &["SaltKey", "`WHERE K != 0`", "SKEWFACTOR", "!null"]),
        (scope(), hot_value("n/a", JOIN), &["`WHERE K != \"n/a\"`", "UNION ALL", "!`NULL`"]),
        (scope(), at(Cause::LowCardinalityKey, REDUCE), &["IsRecursive", "!LOWDISTINCTNESS"]),
        (scope(), at(Cause::LowCardinalityKey, GROUP), &["SaltKey", "+[LOWDISTINCTNESS(K)]"]),
        (scope(), at(Cause::MissedBroadcast, JOIN), &["INNER BROADCASTRIGHT JOIN"]),
        (with("FROM L AS l INNER JOIN R AS r", "FROM R AS r INNER JOIN L AS l"), at(Cause::MissedBroadcast, JOIN), &["INNER BROADCASTLEFT JOIN"]),
        (with("R = SELECT", "[ROWCOUNT=9000000]\nR = SELECT"), at(Cause::MissedBroadcast, JOIN + 1), &["+[ROWCOUNT=50000]", "one of them is enough"]),
        (tokens(Some(40)), at(Cause::ParallelismTooLow, REDUCE), &["(the job has 40 tokens)"]),
        (tokens(Some(20)), at(Cause::ParallelismTooLow, REDUCE), &["Investigate", "!PARTITIONCOUNT="]),
        (tokens(None), at(Cause::ParallelismTooLow, REDUCE), &["Investigate", "!PARTITIONCOUNT="]),
        (tokens(Some(40)), at(Cause::CpuBoundUdo, REDUCE), &["40 partitions", "`Sessions`", "fewer rows"]),
        (tokens(Some(20)), at(Cause::CpuBoundUdo, REDUCE), &["`Sessions`", "fewer rows", "!PARTITIONCOUNT="]),
        (scope(), at(Cause::Spill, REDUCE), &["PARTITIONCOUNT=40", "before the sort", "+[ROWSIZE=50]\n L = "]),
        (with("G = SELECT", "[ROWCOUNT=5000]\nG = SELECT"), rows(Cause::Misestimate, GROUP + 1), &["-[ROWCOUNT=5000]\n+[ROWCOUNT=1000000]"]),
        (scope(), rows(Cause::Misestimate, GROUP), &["+[ROWCOUNT=1000000]"]),
        (unread, at(Cause::UnusedColumns, GROUP), &["removes these columns: `L`: U"]),
        (scope(), at(Cause::SerialGather, TOP), &["FROM WLocal AS L ORDER BY A DESC;", "!CLUSTERED"]),
        (job(USQL), at(Cause::SerialGather, TOP), &["FROM @WLocal AS L ORDER BY A DESC FETCH 9 ROWS;", "!TOP"]),
        (scope(), at(Cause::SmallFiles, JOIN), &["merge the small files", "!InputFileGrouping"]),
        (job(USQL), at(Cause::SmallFiles, JOIN), &["+SET @@FeaturePreviews", "one of them is enough"]),
        (tokens(Some(400)), finding(Cause::QueueWait, None), &["of the total time", "instead of 400"]),
        (scope(), at(Cause::UserCodeFailure, JOIN), &["handle bad input"]),
    ];
    let mut wrong = Vec::new();
    for (job, found, expected) in cases {
        let about = format!(
            "{} on {:?}",
            found.finding.cause, found.finding.script_lines
        );
        let said: Vec<String> = suggest(&job, found).iter().map(words).collect();
        let (never, each): (Vec<&str>, Vec<&str>) =
            expected.iter().partition(|e| e.starts_with('!'));
        for (at, expected) in each.iter().enumerate() {
            if said.get(at).is_none_or(|said| !said.contains(expected)) {
                wrong.push(format!(
                    "{about}: {expected} is not said by\n{:#?}",
                    said.get(at)
                ));
            }
        }
        for never in never {
            let found = said.iter().find(|said| said.contains(&never[1..]));
            wrong.extend(found.map(|said| format!("{about}: {never} in\n{said}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_change_that_undoes_a_part_claims_a_part() {
    let mut whole = finding(Cause::GroupHotKey, Some(GROUP));
    whole.finding.impact = Some(Impact {
        seconds_saved: 1e6,
        share_of_elapsed: None,
        method: String::new(),
        vertex_hours_saved: None,
    });
    let found = suggest(&job(SCOPE), whole);
    let salted = found
        .iter()
        .find(|s| s.title.contains("salt"))
        .expect("two levels");
    assert!(
        salted.gain.starts_with("about ") && !salted.gain.starts_with("about 0"),
        "{}",
        salted.gain
    );
    assert!(salted.gain.contains("do not add"), "{}", salted.gain);
}

#[test]
fn suggestions_point_to_their_findings() {
    let findings = [
        finding(Cause::QueueWait, None),
        finding(Cause::JoinHotKey, Some(JOIN)),
    ];
    let found = in_language(&job(SCOPE), &findings, Language::En);
    let mut order = found.iter().map(|s| s.suggestion.finding.as_deref());
    assert!(order.next() == Some(Some("F1")) && order.next_back() == Some(Some("F2")));
    assert!(
        found
            .iter()
            .enumerate()
            .all(|(i, s)| s.suggestion.id == format!("S{}", i + 1))
    );
    let last = found.last().map(|s| s.topic.as_str()).unwrap_or_default();
    assert!(last.starts_with("skew.join_hot_key"), "{last}");
}

#[test]
fn scripts_of_others_are_checked_like_our_own() {
    let job = job(SCOPE);
    for (from, to, expected) in [
        (
            "INNER JOIN",
            "INNER BROADCASTRIGHT JOIN",
            (true, true, true),
        ),
        ("l.U, l.A, r.B", "l.U, r.B", (true, false, true)),
        ("L = SELECT", "[MAGIC=1]\nL = SELECT", (true, true, false)),
    ] {
        assert!(SCOPE.contains(from));
        let v = verify_script(&job, &SCOPE.replace(from, to));
        assert_eq!(
            (v.parses, v.columns_preserved, v.hints_known),
            expected,
            "{to}"
        );
    }
    assert!(!verify_script(&job, &SCOPE.replace("GROUP BY K;", "GROUP BY;")).parses);
    let without = verify_script(&Job::default(), SCOPE);
    assert!(!without.parses && !without.columns_preserved);
}
