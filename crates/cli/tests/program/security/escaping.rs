//! Text of a job never acts: not on a terminal, not in a ticket, not on a page, not in a log.

use std::fs;

use pulldown_cmark::{Event, Parser, Tag};
use serde_json::json;

use crate::support::{User, case, copy};

/// An error text with every kind of attack.
const ATTACK: &str = "E_RUNTIME_USER_X \u{1b}[2J\u{1b}]8;;http://evil\u{7}click\u{1b}]8;;\u{7} \u{9b}31m \u{202e}txt.exe \
    <script>alert(1)</script> <img src=x onerror=alert(1)> ![x](http://evil/p.png) [a](javascript:alert(1)) \
    `` ``` ~~~\n\n```\n# F9 Fake heading\n| a | b |\r\nerror: fake\n";

/// Sections of a case.
const SECTIONS: usize = 6;

/// The job of a case with hostile error, table and file names.
pub(super) fn attacked(user: &User) -> std::path::PathBuf {
    let job = user.path("job");
    copy(&case("user-code-failure"), &job);
    let error = json!({
        "errorId": "E_RUNTIME_USER_EXPRESSIONEVALUATION", "source": "User", "message": ATTACK,
        "description": ATTACK, "details": format!("Failed vertex: SV2{ATTACK}"),
    });
    fs::write(job.join("Error"), error.to_string()).expect("written");
    if cfg!(unix) {
        let name = "tables\u{1b}[31m\u{202e}\n<b>.json";
        let tables = json!({ "tables": [{ "rows": 1 }, { "name": ATTACK, "rows": 5 }] });
        fs::write(job.join(name), tables.to_string()).expect("written");
    }
    job
}

#[track_caller]
fn harmless(what: &str, text: &str) {
    let acts = |c: &char| {
        c.is_control() && *c != '\n'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let found = text.chars().find(acts);
    assert_eq!(found, None, "{what}: {text}");
}

#[test]
fn no_form_of_a_report_lets_a_job_act() {
    let user = User::new();
    let job = attacked(&user);
    for format in ["text --verbose --explain-rules", "markdown", "html", "json"] {
        let answer = user.analyze(&job, &format!("--format {format} --log-level debug"));
        harmless(format, &answer.err);
        let text = answer.text();
        harmless(format, &text);
        assert!(text.contains("alert(1)"), "{format}: the error is quoted");
        let markups: &[&str] = match format {
            "html" => &["<script", "<img"],
            "markdown" => &["<script", "<img", "](http", "](javascript"],
            _ => &[],
        };
        for markup in markups {
            assert!(
                !text.replace(&format!("\\{markup}"), "").contains(markup),
                "{format}: {markup}"
            );
        }
        if format == "html" {
            assert!(
                text.contains("Content-Security-Policy") && text.contains("default-src 'none'")
            );
        }
        if format == "markdown" {
            assert!(!text.lines().any(|line| line.starts_with("# F9")), "{text}");
        }
    }
    let inspected = user.run("inspect job");
    harmless("inspect", &inspected.err);
    harmless("inspect", &inspected.text());
}

#[test]
fn errors_and_logs_of_either_form_are_harmless() {
    let user = User::new();
    for format in ["text", "json"] {
        let line = format!("--log-format {format} analyze a\u{1b}[31m\u{202e}b\u{9b}c");
        harmless(format, &user.run(&line).refused(3));
    }
}

#[test]
fn a_case_from_a_run_is_plain_markdown() {
    let user = User::new();
    let job = attacked(&user);
    user.analyze(&job, "").text();
    user.write("knowledge/experience/.keep", "");
    let path = user
        .run_plain("--knowledge knowledge case from last --no-redact")
        .text();
    let text = fs::read_to_string(user.path(path.trim())).expect("a case");
    harmless("case", &text);
    // Between the lines of the front matter is no Markdown.
    let body = text.splitn(3, "---\n").nth(2).expect("a front matter");
    let acts = |event: &Event<'_>| {
        use Tag::{HtmlBlock, Image, Link};
        let is_html = matches!(event, Event::Html(_) | Event::InlineHtml(_));
        is_html || matches!(event, Event::Start(HtmlBlock | Image { .. } | Link { .. }))
    };
    let found: Vec<_> = Parser::new(body).filter(acts).collect();
    assert_eq!(found, [], "{text}");
    let headings = Parser::new(body).filter(|e| matches!(e, Event::Start(Tag::Heading { .. })));
    assert_eq!(headings.count(), 1 + SECTIONS, "{text}");
    assert!(text.contains("alert(1)"), "the error is quoted");
}
