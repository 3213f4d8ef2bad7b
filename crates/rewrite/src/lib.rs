//! Changes of a script: edits on spans, their diff, and its checks.
//!
//! A rewrite replaces text by text, so that comments and layout survive. Other modules decide on the
//! content; this one assembles and verifies it. A rewrite that fails a check is not
//! shown as a diff.

pub mod aggregate;
mod clauses;
pub mod filter;
pub mod hint;
pub mod layout;
pub mod names;
pub mod projection;
pub mod salted_join;
pub mod spark;
pub mod split;
#[cfg(test)]
mod tests;
mod types;
mod verify;
pub mod window;

use report::{SameResult, Verified};
use std::collections::BTreeSet;

use job::script::flow::ReadColumns;
use job::script::{Script, Span, TokenKind};

pub use verify::{changed, verify};

/// New text for a span of the script; an empty span inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Replaced text.
    pub span: Span,
    /// Replacement.
    pub text: String,
}

/// Edits that belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// Edits in any order; they do not overlap.
    pub edits: Vec<Edit>,
    /// Statements (indices) that it changes.
    pub touched: BTreeSet<usize>,
    /// Whether rows may come in another order than the script asks for.
    pub reorders: bool,
}

/// A rewrite that passed every check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Unified diff of the script.
    pub diff: String,
    /// Checks of the diff.
    pub verified: Verified,
}

impl Rewrite {
    /// Replaces a span inside a statement.
    pub fn replace(&mut self, statement: usize, span: Span, text: impl Into<String>) {
        self.touched.insert(statement);
        self.edits.push(Edit {
            span,
            text: text.into(),
        });
    }

    /// Inserts a line before a statement, at its indentation.
    pub fn line_before(&mut self, script: &Script, statement: usize, line: &str) {
        let Some(found) = script.statements.get(statement) else {
            return;
        };
        let start = found.span.start;
        let indent = indentation(&script.text, start);
        let end = line_end(&script.text);
        self.replace(statement, start..start, format!("{line}{end}{indent}"));
    }

    /// The text with the edits made; `None` if they overlap or cut a character.
    pub fn apply(&self, old: &str) -> Option<String> {
        let mut edits: Vec<&Edit> = self.edits.iter().collect();
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let mut text = String::with_capacity(old.len() + 256);
        let mut at = 0;
        for edit in edits {
            if edit.span.start < at {
                return None;
            }
            text.push_str(old.get(at..edit.span.start)?);
            text.push_str(&with_line_ends(&edit.text, line_end(old)));
            at = edit.span.end;
        }
        text.push_str(old.get(at..)?);
        Some(text)
    }

    /// Whether an edit replaces text of a statement with `#IF` branches in it: only one of them
    /// was read, and the others would be lost.
    fn cuts_branches(&self, script: &Script) -> bool {
        let tree = script.tree();
        let directives = tree.tokens().iter().enumerate();
        let mut directives = directives.filter(|(_, token)| token.kind == TokenKind::Directive);
        let replaced: Vec<Span> = self
            .touched
            .iter()
            .filter_map(|&index| script.statements.get(index))
            .map(|statement| statement.span.clone())
            .filter(|span| {
                let inside =
                    |edit: &&Edit| span.start <= edit.span.start && edit.span.end <= span.end;
                self.edits
                    .iter()
                    .filter(inside)
                    .any(|edit| !edit.span.is_empty())
            })
            .collect();
        directives.any(|(_, token)| {
            replaced
                .iter()
                .any(|span| span.contains(&(token.start as usize)))
        })
    }

    /// The diff, if the new script passes every check.
    pub fn checked(&self, script: &Script, reads: &ReadColumns<'_>) -> Option<Checked> {
        let text = self.apply(&script.text)?;
        if text == script.text || self.cuts_branches(script) {
            return None;
        }
        // A rewrite is only built where its conditions hold.
        let same_result = match self.reorders {
            true => SameResult::Unknown,
            false => SameResult::Proven,
        };
        let verified = Verified {
            same_result,
            ..verify(script, &text, &self.touched, reads)
        };
        let holds = verified.parses && verified.columns_preserved && verified.hints_known;
        holds.then(|| Checked {
            diff: script.diff(&text).text,
            verified,
        })
    }
}

/// How a text ends its lines: as its first line does.
pub fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn with_line_ends(text: &str, end: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if end == "\n" {
        plain
    } else {
        plain.replace('\n', end)
    }
}

/// Blanks between the start of the line and `at`; empty if other text is in between.
pub fn indentation(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
    let before = &text[start..at];
    let blank = before.chars().all(|c| c == ' ' || c == '\t');
    if blank { before } else { "" }
}
