//! Thirty kinds of answers that are not the JSON that was asked for: each is fixed or requested again,
//! and none costs the run.

use report::ReasonerKind;
use serde_json::Value;
use testkit::llm::{Server, Turn};

use crate::support::*;

const GOOD: &str = r#"{"problem_type": "none", "also": [], "findings": [], "evidence": [], "experiences": [], "text": "class"}"#;

/// Parts of `GOOD` that a model wrote in another way.
const CHANGED: &[(&str, &str, &str)] = &[
    (
        "a comma before the end of a list",
        "\"also\": []",
        "\"also\": [\"other\",]",
    ),
    (
        "a comma before the end of the object",
        "\"class\"}",
        "\"class\",}",
    ),
    (
        "a comma that is missing",
        "[], \"findings\"",
        "[] \"findings\"",
    ),
    ("single quotes", "\"", "'"),
    ("typographic quotes", "\"none\"", "“none”"),
    ("full-width punctuation", "\"none\",", "\"none\"，"),
    ("a full-width colon", "\"text\":", "\"text\"："),
    ("names without quotes", "\"text\"", "text"),
    ("the last brace missing", "\"}", "\""),
    ("the last quote and brace missing", "\"}", ""),
    ("a second brace at the end", "}", "}}"),
    ("comments", ", ", ",\n// note\n"),
    ("a block comment", "\"text\"", "/* at last */ \"text\""),
    ("spaces that do not break", ", ", ",\u{a0}"),
    (
        "Python's None and True",
        "\"also\": []",
        "\"also\": [], \"sure\": True, \"why\": None",
    ),
    (
        "a field too many",
        "\"text\"",
        "\"mood\": \"fine\", \"text\"",
    ),
    ("quoted by the shell", "\"", "\\\""),
    ("an ellipsis in a list", "\"also\": []", "\"also\": [...]"),
    ("a value of the wrong kind", "\"class\"", "5"),
    ("a class that does not exist", "\"none\"", "\"sunspots\""),
];

/// Texts around `GOOD`, which takes the place of `@`.
const AROUND: &[(&str, &str)] = &[
    ("a fence", "```json\n@\n```"),
    (
        "a fence without a language, prose around",
        "Here it is:\n```\n@\n```\nDone.",
    ),
    ("a fence that is never closed", "```json\n@"),
    ("thoughts before", "<think>maybe {}</think>@"),
    ("prose before and behind", "Sure! @ Hope this helps."),
    ("prose with braces before", "The set {E1} is decisive. @"),
    ("the answer twice", "@@"),
    ("the answer in a list", "[@]"),
    ("a byte order mark", "\u{feff}@"),
    (
        "lists left out",
        "{\"problem_type\": \"none\", \"text\": \"class\"}",
    ),
    ("null", "null"),
    ("nothing but prose", "The job is fine."),
];

/// Faulty texts of a model in place of `GOOD`, with their fault.
fn samples() -> Vec<(&'static str, String)> {
    let false_answer = GOOD.replace("class", "draft");
    let thoughts = format!("<think>{false_answer}</think>\n{GOOD}");
    let changed = CHANGED
        .iter()
        .map(|(name, from, to)| (*name, GOOD.replace(from, to)));
    let around = AROUND
        .iter()
        .map(|(name, text)| (*name, text.replace('@', GOOD)));
    let others = [
        ("thoughts that quote a false answer", thoughts),
        ("JSON within a JSON string", Value::from(GOOD).to_string()),
        ("nesting without end", "{\"a\":".repeat(5000)),
    ];
    changed.chain(around).chain(others).collect()
}

#[tokio::test]
async fn thirty_kinds_of_malformed_json_cost_at_most_one_more_call() {
    let samples = samples();
    assert!(samples.len() >= 30);
    let mut read_at_once = 0;
    for (name, sample) in &samples {
        let server = Server::agreeing_after([Turn::text(sample).pieces(500)]);
        let report = run(&healthy(), Setting::asking(&server).or_offline()).await;
        let (engine, first) = (&report.engine, &report.steps[0]);
        assert_eq!(engine.reasoner, ReasonerKind::Llm, "{name}: {engine:?}");
        assert!(first.text.contains("class"), "{name}: {}", first.text);
        // Five steps, and at most one turn of repair.
        match server.requests().len() {
            5 => read_at_once += 1,
            6 => assert!(first.repaired, "{name} is not said to be repaired"),
            requests => panic!("{name}: {requests} requests"),
        }
    }
    assert!(read_at_once >= 20, "{read_at_once} of {}", samples.len());
}
