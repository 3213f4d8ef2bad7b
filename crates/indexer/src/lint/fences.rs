//! Checks fenced code: every fence is closed, and code in a known language parses.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::{Findings, Options};
use crate::document::{Document, line_at, toml_table};

pub(super) fn check(document: &Document<'_>, options: &Options, out: &mut Findings) {
    let body = document.body();
    let mut fence: Option<(String, usize, String)> = None;
    for (event, range) in Parser::new(body).into_offset_iter() {
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
            Event::End(pulldown_cmark::TagEnd::CodeBlock) => {
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
    let mut lines = block.trim_end().lines();
    let opening = lines.next().unwrap_or_default().trim_start();
    let mark = if opening.starts_with('~') {
        "~~~"
    } else {
        "```"
    };
    lines
        .next_back()
        .is_some_and(|last| last.trim().starts_with(mark))
}

/// Languages without a parser here are not checked.
fn parse(language: &str, code: &str, options: &Options) -> Result<(), super::ScriptError> {
    match language.trim().to_lowercase().as_str() {
        "scope" | "usql" | "u-sql" => options.parse.map_or(Ok(()), |parse| parse(code)),
        "json" => match serde_json::from_str::<serde::de::IgnoredAny>(code) {
            Ok(_) => Ok(()),
            Err(error) => Err((error.line().max(1), error.to_string())),
        },
        "toml" => match toml_table(code) {
            Ok(_) => Ok(()),
            Err(problem) => Err((problem.line, problem.reason)),
        },
        _ => Ok(()),
    }
}
