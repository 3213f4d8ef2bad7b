use report::{Language, Source};
use serde_json::json;

use super::*;

#[test]
fn a_value_is_written_as_in_the_sentence_and_said_once() {
    for (value, unit, text, en, zh) in [
        (
            7_460_676.0,
            Some("rows"),
            "it is 7.5 M rows",
            "m",
            "m = 746 万行",
        ),
        (42.94, Some("s"), "it ran 43 s", "m", "m = 43 秒"),
        (
            2048.0,
            Some("bytes"),
            "it is large",
            "m = 2.0 KiB",
            "m = 2.0 KiB",
        ),
        (
            1.0,
            Some("vertices"),
            "it is small",
            "m = 1 vertex",
            "m = 1 个顶点",
        ),
        (
            3.58,
            Some("ratio"),
            "3.6 times the mean",
            "m = 3.58",
            "m = 3.58",
        ),
        (0.25, None, "", "m = 0.25", "m = 0.25"),
    ] {
        let item = Evidence {
            id: "E1".to_owned(),
            metric: "m".to_owned(),
            value: EvidenceValue::Number(value),
            unit: unit.map(str::to_owned),
            expected: None,
            source: Source {
                file: "f".to_owned(),
                locator: None,
            },
            text: text.to_owned(),
        };
        assert_eq!(Words::new(Language::En).measured(&item), en);
        assert_eq!(Words::new(Language::Zh).measured(&item), zh);
    }
}

#[test]
fn a_document_is_consulted_once_however_many_passages_of_it_are() {
    let of = |step: &str, chunk: &str, rank: u32| {
        json!({ "step": step, "chunk": chunk, "rank": rank, "title": "Skew › Fix", "score": null,
            "bm25_rank": null, "vector_rank": null })
    };
    let experiences = [
        of("think1", "experience/skew.md#cause", 1),
        of("think1", "experience/skew.md#fix", 2),
        of("think3", "experience/skew.md#fix", 1),
        of("think3", "cases/one.md#fix", 3),
    ];
    let report = json!({
        "schema_version": 1, "run_id": "01", "language": "en", "verdict": "healthy", "problem_type": "none",
        "job": { "path": "job", "state": "succeeded" }, "engine": { "reasoner": "offline" }, "findings": [],
        "evidence": [], "missing_information": [], "suggestions": [], "experiences": experiences, "steps": [],
        "files_read": [], "diagnostics": [],
    });
    let report: Report = serde_json::from_value(report).expect("a report");
    let all = consulted(&report, 2);
    let expected = Consulted {
        title: "Skew",
        document: "experience/skew.md",
        chunk: "experience/skew.md#cause",
    };
    assert_eq!(all, [expected]);
    assert_eq!(consulted(&report, 3).len(), 2);
}

mod security {
    use super::*;
    use report::{SuggestionKind, Verified};

    /// Only a diff with the same result is called checked; who made it is always shown.
    #[test]
    fn a_diff_is_called_checked_only_if_its_result_is_the_same() {
        for (same_result, is_checked) in [
            (SameResult::Proven, true),
            (SameResult::Tested, true),
            (SameResult::Different, false),
            (SameResult::Unknown, false),
        ] {
            let suggestion = Suggestion {
                id: "S1".to_owned(),
                finding: None,
                kind: SuggestionKind::Rewrite,
                title: String::new(),
                steps: Vec::new(),
                settings: Vec::new(),
                diff: None,
                verified: Some(Verified {
                    parses: true,
                    columns_preserved: true,
                    hints_known: true,
                    same_result,
                }),
                gain: String::new(),
                seconds_saved: None,
                pros: Vec::new(),
                cons: Vec::new(),
                sources: Vec::new(),
                origin: Origin::Llm,
                unverified: Vec::new(),
            };
            for (words, checked) in [
                (Words::new(Language::En), "checked"),
                (Words::new(Language::Zh), "已检查"),
            ] {
                let said = words.check_of(&suggestion);
                assert_eq!(said.contains(checked), is_checked, "{said}");
                assert!(words.kind_of(&suggestion).ends_with("· LLM"));
            }
        }
    }
}
