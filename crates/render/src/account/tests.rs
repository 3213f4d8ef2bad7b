use serde_json::json;

use super::*;
use report::{Language, Segment};

type Part = (SegmentKind, Option<&'static str>, f64, Option<&'static str>);

const PARTS: [Part; 8] = [
    (SegmentKind::Compile, None, 9.0, None),
    (SegmentKind::CapacityWait, None, 91.0, Some("F2")),
    (
        SegmentKind::Startup,
        Some("SV1_Extract_Partition_With_A_Long_Name"),
        1.0,
        None,
    ),
    (
        SegmentKind::Read,
        Some("SV1_Extract_Partition_With_A_Long_Name"),
        2.0,
        None,
    ),
    (
        SegmentKind::Read,
        Some("SV1_Extract_Partition_With_A_Long_Name"),
        98.0,
        None,
    ),
    (SegmentKind::Straggler, Some("SV2_点击"), 790.0, Some("F1")),
    (SegmentKind::Unexplained, None, 3.0, None),
    (SegmentKind::Idle, None, 6.0, None),
];

fn account(parts: &[Part]) -> TimeAccount {
    let mut start = 0.0;
    let segments = parts.iter().map(|(kind, stage, seconds, finding)| {
        start += seconds;
        Segment {
            kind: *kind,
            stage: stage.map(str::to_owned),
            start_seconds: start - seconds,
            seconds: *seconds,
            finding: finding.map(str::to_owned),
            ..Segment::default()
        }
    });
    TimeAccount {
        segments: segments.collect(),
        explained_share: 0.97,
        avoidable_seconds: Some(610.0),
        ..TimeAccount::default()
    }
}

fn report(language: Language) -> Report {
    let finding = json!({
        "id": "F1", "cause": "skew.join_hot_key", "problem_type": "data_skew", "severity": "high", "confidence": 0.9,
        "summary": "", "evidence": [],
    });
    let report = json!({
        "schema_version": 1, "run_id": "01", "language": language, "verdict": "problem", "problem_type": "data_skew",
        "job": { "path": "job", "state": "succeeded", "total_seconds": 1000.0 },
        "engine": { "reasoner": "offline" }, "findings": [finding], "evidence": [], "missing_information": [],
        "suggestions": [], "experiences": [], "steps": [], "files_read": [], "diagnostics": [],
        "time": account(&PARTS),
        "cost": { "vertex_hours": 41.23, "wasted_vertex_hours": 12.9, "unit": "AU-hour" },
    });
    serde_json::from_value(report).expect("a report")
}

fn titles(rows: &[Row]) -> Vec<String> {
    rows.iter()
        .map(|row| row.title(2, Words::new(Language::En)))
        .collect()
}

#[test]
fn the_smallest_neighbors_share_a_row_and_no_second_is_lost() {
    let account = account(&PARTS);
    for (most, expected) in [
        (
            11,
            "compilation|capacity wait|start-up|reading|straggler|idle, unexplained",
        ),
        (
            5,
            "compilation|capacity wait|reading, start-up|straggler|idle, unexplained",
        ),
        (3, ""),
    ] {
        let rows = short_rows(&account, most);
        if !expected.is_empty() {
            assert_eq!(titles(&rows).join("|"), expected);
        }
        assert!(rows.len() <= most);
        assert_eq!(rows.iter().map(|r| r.seconds).sum::<f64>(), 1000.0);
    }
}

#[test]
fn equal_uses_of_many_small_stages_share_a_row() {
    let names: Vec<&'static str> = (0..60).map(|n| format!("S{n}").leak() as &str).collect();
    let parts = names.iter().flat_map(|name| {
        [
            (SegmentKind::Compute, Some(*name), 1.0, Some("F1")),
            (SegmentKind::Driver, None, 3.0, None),
        ]
    });
    let account = account(&parts.collect::<Vec<_>>());
    let rows = short_rows(&account, ROWS);
    assert_eq!(titles(&rows), ["computing", "job manager"]);
    assert_eq!(rows[0].stages.len(), 60);
    assert_eq!(rows[0].seconds, 60.0);
}

#[test]
fn bars_lie_where_their_time_is_and_are_never_empty() {
    for (from, to, drawn) in [
        (0.0, 1.0, "████"),
        (0.25, 0.75, "·██·"),
        (0.125, 0.25, "▐···"),
        (0.5, 0.5, "··▌·"),
        (1.0, 1.0, "···▐"),
    ] {
        assert_eq!(bar([(from, to)].into_iter(), 4).concat(), drawn);
    }
}

#[test]
fn parts_of_a_stage_that_repeat_share_a_row_with_a_bar_for_each() {
    let parts = [
        (SegmentKind::Sort, Some("SV1"), 25.0, None),
        (SegmentKind::Exchange, Some("SV1"), 25.0, None),
        (SegmentKind::Sort, Some("SV1"), 25.0, None),
        (SegmentKind::Exchange, Some("SV1"), 25.0, Some("F1")),
    ];
    let account = account(&parts);
    let rows = short_rows(&account, ROWS);
    assert_eq!(titles(&rows), ["sorting", "exchange", "exchange"]);
    assert_eq!((rows[0].seconds, rows[0].start_seconds()), (50.0, 0.0));
    let spans = rows[0].spans.iter().map(|(a, b)| (a / 100.0, b / 100.0));
    assert_eq!(bar(spans, 4).concat(), "█·█·");
}

#[test]
fn the_waterfall_fits_the_terminal_and_names_each_share_and_claim() {
    for (language, total, straggler) in [
        (Language::Zh, "从提交到结束 16 分 40 秒", "长尾"),
        (
            Language::En,
            "16 min 40 s from submission to end",
            "straggler",
        ),
    ] {
        let report = report(language);
        for columns in [80, 140] {
            let lines = waterfall(&report, Words::new(language), columns);
            let plain = lines
                .iter()
                .map(|l| anstream::adapter::strip_str(l).to_string());
            let plain: Vec<String> = plain.collect();
            assert!(plain[0].starts_with(total), "{plain:#?}");
            assert!(lines.len() <= 14);
            assert!(plain.iter().all(|l| width(l) <= columns), "{plain:#?}");
            let row = plain.iter().find(|l| l.contains(straggler)).expect("a row");
            assert!(row.contains("79 %") && row.ends_with("F1"), "{row}");
        }
    }
}
