//! Answers that are not the JSON that was asked for, in thirty kinds: each is mended or asked for
//! again, and none costs the run.

use report::{ReasonerKind, Report};
use testkit::llm::{Server, Turn};

use crate::support::{self, Setting, about, agreeable_answer, asking, profile};

const GOOD: &str = r#"{"problem_type": "none", "also": [], "findings": [], "evidence": [], "experiences": [], "text": "class"}"#;

/// What a model wrote in place of `GOOD`, and what is wrong with it.
fn samples() -> Vec<(&'static str, String)> {
    let changed = |from: &str, to: &str| GOOD.replace(from, to);
    vec![
        ("a fence", format!("```json\n{GOOD}\n```")),
        (
            "a fence without a language, prose around",
            format!("Here it is:\n```\n{GOOD}\n```\nDone."),
        ),
        ("a fence that is never closed", format!("```json\n{GOOD}")),
        (
            "thoughts before",
            format!("<think>maybe {{}}</think>{GOOD}"),
        ),
        (
            "thoughts that quote a false answer",
            format!("<think>{}</think>\n{GOOD}", changed("class", "draft")),
        ),
        (
            "prose before and behind",
            format!("Sure! {GOOD} Hope this helps."),
        ),
        (
            "prose with braces before",
            format!("The set {{E1}} is decisive. {GOOD}"),
        ),
        (
            "a comma before the end of a list",
            changed("\"also\": []", "\"also\": [\"other\",]"),
        ),
        (
            "a comma before the end of the object",
            changed("\"class\"}", "\"class\",}"),
        ),
        (
            "a comma that is missing",
            changed("[], \"findings\"", "[] \"findings\""),
        ),
        ("single quotes", changed("\"", "'")),
        ("typographic quotes", changed("\"none\"", "“none”")),
        ("full-width punctuation", changed("\"none\",", "\"none\"，")),
        ("a full-width colon", changed("\"text\":", "\"text\"：")),
        ("names without quotes", changed("\"text\"", "text")),
        (
            "the last brace missing",
            GOOD.trim_end_matches('}').to_owned(),
        ),
        (
            "the last quote and brace missing",
            GOOD.trim_end_matches("\"}").to_owned(),
        ),
        ("a second brace at the end", format!("{GOOD}}}")),
        ("the answer twice", format!("{GOOD}{GOOD}")),
        ("the answer in a list", format!("[{GOOD}]")),
        ("a byte order mark", format!("\u{feff}{GOOD}")),
        ("comments", changed(", ", ",\n// note\n")),
        (
            "a block comment",
            changed("\"text\"", "/* at last */ \"text\""),
        ),
        ("spaces that do not break", changed(", ", ",\u{a0}")),
        (
            "Python's None and True",
            changed(
                "\"also\": []",
                "\"also\": [], \"sure\": True, \"why\": None",
            ),
        ),
        (
            "lists left out",
            r#"{"problem_type": "none", "text": "class"}"#.to_owned(),
        ),
        (
            "a field too many",
            changed("\"text\"", "\"mood\": \"fine\", \"text\""),
        ),
        (
            "JSON within a JSON string",
            serde_json::Value::String(GOOD.to_owned()).to_string(),
        ),
        ("quoted by the shell", GOOD.replace('"', "\\\"")),
        (
            "an ellipsis in a list",
            changed("\"also\": []", "\"also\": [...]"),
        ),
        ("a value of the wrong kind", changed("\"class\"", "5")),
        (
            "a class that does not exist",
            changed("\"none\"", "\"sunspots\""),
        ),
        ("null", "null".to_owned()),
        ("nothing but prose", "The job is fine.".to_owned()),
        ("nesting without end", "{\"a\":".repeat(5000)),
    ]
}

/// An analysis whose first answer is `sample`, with the number of requests.
async fn run(sample: &str) -> (Report, usize) {
    let first = std::sync::Mutex::new(Some(sample.to_owned()));
    let server = Server::start([]).rule(move |request| {
        let wrong = first.lock().expect("no test holds it").take();
        Some(match wrong {
            Some(text) => Turn::text(text).pieces(500),
            None => Turn::json(&agreeable_answer(request)),
        })
    });
    let setting = Setting::with(asking(&profile(&server.url()))).or_offline();
    let report = support::run(&about("healthy"), setting).await.0;
    (report.expect("a report"), server.requests().len())
}

#[tokio::test]
async fn thirty_kinds_of_malformed_json_cost_at_most_one_more_call() {
    let samples = samples();
    assert!(samples.len() >= 30);
    let mut mended = 0;
    for (name, sample) in &samples {
        let (report, requests) = run(sample).await;
        assert_eq!(
            report.engine.reasoner,
            ReasonerKind::Llm,
            "{name}: {:?}",
            report.engine
        );
        assert_eq!(report.steps[0].text, "class", "{name}");
        // Five steps, and at most one turn of repair.
        assert!((5..=6).contains(&requests), "{name}: {requests} requests");
        assert!(
            requests == 5 || report.steps[0].repaired,
            "{name} is not said to be repaired"
        );
        mended += usize::from(requests == 5);
    }
    assert!(
        mended >= 20,
        "only {mended} of {} were read without asking again",
        samples.len()
    );
}
