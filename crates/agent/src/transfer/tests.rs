use report::{Language, Report};
use serde_json::{Value, json};

use super::*;
use crate::outline::ScriptText;
use crate::saved::SavedRun;

/// Differences of a job from the others of its cluster.
struct Given {
    stage: &'static str,
    lines: [u32; 2],
    seconds: f64,
    gain: &'static str,
    rows: f64,
    key: &'static str,
    /// Ids of the evidence.
    ids: [&'static str; 2],
    suggests: bool,
}

const FIRST: Given = Given {
    stage: "SV3_Combine",
    lines: [12, 18],
    seconds: 840.0,
    gain: "saves 14 min 0 s",
    rows: 63_000_000.0,
    key: "cust-4711",
    ids: ["E1", "E2"],
    suggests: true,
};

const OTHER: Given = Given {
    stage: "SV5_Combine",
    lines: [14, 20],
    seconds: 95.0,
    gain: "saves 1 min 35 s",
    rows: 41_000_000.0,
    key: "cust-0815",
    ids: ["E4", "E7"],
    suggests: true,
};

/// The input of THINK 5.
fn input(of: &Given) -> StepInput {
    let [rows, key] = of.ids;
    let millions = of.rows / 1e6;
    let source = json!({ "file": "counters.xml", "locator": null });
    let suggestion = json!({
        "id": if of.suggests { "S1" } else { "S9" }, "finding": "F1", "kind": if of.suggests { "hint" } else { "layout" },
        "title": format!("Hint `{}` as skewed", of.stage), "steps": [], "diff": null, "verified": null,
        "gain": of.gain, "pros": [], "cons": [], "sources": [],
    });
    let report: Value = json!({
        "schema_version": report::SCHEMA_VERSION, "run_id": "", "question": null, "language": "en",
        "job": { "id": null, "name": "Daily", "path": "jobs/a", "state": "succeeded", "elapsed_seconds": of.seconds * 3.0, "stages": null, "vertices": null },
        "engine": { "reasoner": "offline", "provider": null, "model": null, "fallback": null },
        "verdict": "problem", "problem_type": "data_skew",
        "findings": [{
            "id": "F1", "cause": "skew.join_hot_key", "problem_type": "data_skew", "severity": "high", "confidence": 0.9,
            "stage": of.stage, "script_lines": of.lines, "evidence": of.ids,
            "summary": format!("`{}` is the hot key of {}", of.key, of.stage),
            "impact": { "seconds_saved": of.seconds, "share_of_elapsed": 0.33, "method": "replayed" },
        }],
        "evidence": [
            { "id": rows, "metric": "maxRowCount", "value": of.rows, "unit": "rows", "expected": null, "source": source, "text": format!("one vertex got {millions} M rows") },
            { "id": key, "metric": "hotKey", "value": of.key, "unit": null, "expected": null, "source": source, "text": format!("the key is {}", of.key) },
        ],
        "missing_information": [], "suggestions": [suggestion], "experiences": [], "steps": [], "files_read": [], "diagnostics": [],
    });
    let report: Report = serde_json::from_value(report).expect("a report");
    assert_eq!(report.language, Language::En);
    let script = format!("a = SELECT * FROM b WHERE Key != \"{}\";\n", of.key);
    SavedRun {
        report: &report,
        question: None,
        turns: Vec::new(),
        errors: Vec::new(),
        stages: Vec::new(),
        tables: Vec::new(),
        script: Some(ScriptText {
            file: "job.script".to_owned(),
            text: script,
        }),
        code: Vec::new(),
        names: Vec::new(),
        redact: false,
    }
    .about("F1")
}

fn recommended(why: &str) -> Advice {
    Advice {
        recommendations: vec![Recommendation {
            suggestion: "S1".to_owned(),
            why: why.to_owned(),
            trade_offs: String::new(),
            evidence: vec!["E1".to_owned()],
            experiences: Vec::new(),
        }],
        ..Advice::default()
    }
}

fn proposed(title: &str) -> Advice {
    Advice {
        additional: vec![Proposal {
            finding: Some("F1".to_owned()),
            title: title.to_owned(),
            steps: Vec::new(),
            diff: None,
            pros: Vec::new(),
            cons: Vec::new(),
            evidence: vec!["E1".to_owned()],
            experiences: Vec::new(),
        }],
        ..Advice::default()
    }
}

#[test]
fn names_lines_ids_and_values_become_those_of_the_other_job() {
    for (text, expected) in [
        (
            "`SV3_Combine` handles `cust-4711` [E2] in script lines 12–18.",
            "`SV5_Combine` handles `cust-0815` [E7] in script lines 14–20.",
        ),
        (
            "It saves 14 min 0 s, that is 840 s.",
            "It saves 1 min 35 s, that is 95 s.",
        ),
        (
            "One vertex got 63 M rows [E1].",
            "One vertex got 41 M rows [E4].",
        ),
        ("The hint needs 2 changes.", "The hint needs 2 changes."),
    ] {
        let given = transfer(&recommended(text), &input(&FIRST), &input(&OTHER));
        assert_eq!(given.withheld, [], "{text}");
        let [moved] = given.advice.recommendations.as_slice() else {
            panic!("one recommendation");
        };
        assert_eq!(moved.why, expected);
        assert_eq!(moved.evidence, ["E4"]);
    }
}

#[test]
fn the_job_that_was_asked_about_gets_all_of_its_advice() {
    let advice = recommended("`SV3_Combine` got 63 M rows [E1] and loses 840 s.");
    let given = transfer(&advice, &input(&FIRST), &input(&FIRST));
    assert_eq!(given.advice, advice);
    assert_eq!(given.withheld, []);
}

#[test]
fn what_does_not_hold_for_the_other_job_is_withheld_with_the_reason() {
    let without = Given {
        suggests: false,
        ..OTHER
    };
    let smaller = Given {
        rows: 2_000_000.0,
        ..OTHER
    };
    let cases = [
        (recommended("do it"), &without, "no rule suggests it"),
        // a fact of the first job only
        (recommended("`SV9_Ghost` is slow"), &OTHER, "SV9_Ghost"),
        (recommended("it reads 777 GB"), &OTHER, "777"),
        (
            recommended("it takes long [unverified]"),
            &OTHER,
            "not confirmed",
        ),
        // the proposal was not computed for a job with far fewer rows
        (
            proposed("Salt the key: 63 M rows are too many"),
            &smaller,
            "is 2 here, not 63",
        ),
    ];
    for (advice, to, reason) in cases {
        let given = transfer(&advice, &input(&FIRST), &input(to));
        assert_eq!(given.advice, Advice::default(), "{reason}");
        let [withheld] = given.withheld.as_slice() else {
            panic!("{reason}: {:?}", given.withheld);
        };
        assert!(withheld.reasons.join(" ").contains(reason), "{withheld:?}");
    }
    let alike = proposed("Salt the key: 63 M rows are too many");
    let given = transfer(&alike, &input(&FIRST), &input(&OTHER));
    assert_eq!(given.advice.additional.len(), 1, "{:?}", given.withheld);
}
