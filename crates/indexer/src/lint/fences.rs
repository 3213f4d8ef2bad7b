//! Checks fenced code: every fence is closed, and code in a known language parses.

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use serde::de::IgnoredAny;

use super::{Findings, Options};
use crate::chunk::events;
use crate::document::{Document, line_at, toml_table};

pub(super) fn check(document: &Document<'_>, options: &Options, out: &mut Findings) {
    let body = document.body();
    let mut fence: Option<(String, usize, String)> = None;
    for (event, range) in events(body) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(name))) => {
                let line = line_at(document.text.as_bytes(), document.body_start + range.start);
                if !is_closed(&body[range]) {
                    let message = "the code fence is not closed; end it with ``` on its own line";
                    out.error(document.path, line, "open-fence", message);
                }
                fence = Some((name.to_string(), line, String::new()));
            }
            Event::Text(text) => {
                if let Some((_, _, code)) = &mut fence {
                    code.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                let Some((name, line, code)) = fence.take() else {
                    continue;
                };
                if let Err((at, reason)) = parse(&name, &code, options) {
                    let message = format!("this is not valid {name}: {reason}");
                    out.error(document.path, line + at, "bad-code", message);
                }
            }
            _ => {}
        }
    }
}

/// Whether the text of a fenced block ends with a closing fence.
fn is_closed(block: &str) -> bool {
    let mut lines = block.trim().lines();
    let marks = lines.next().and_then(|opening| opening.get(..3));
    let last = lines.next_back().unwrap_or_default().trim();
    marks.is_some_and(|marks| last.starts_with(marks))
}

/// Languages without a parser here are not checked.
fn parse(language: &str, code: &str, options: &Options) -> Result<(), super::ScriptError> {
    match language.trim().to_lowercase().as_str() {
        "scope" | "usql" | "u-sql" => options.parse.map_or(Ok(()), |parse| parse(code)),
        "json" => serde_json::from_str::<IgnoredAny>(code)
            .map(drop)
            .map_err(|error| (error.line().max(1), error.to_string())),
        "toml" => toml_table(code)
            .map(drop)
            .map_err(|problem| (problem.line, problem.reason)),
        _ => Ok(()),
    }
}
