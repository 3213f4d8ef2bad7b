//! `__AST.json`: the statements as the compiler parsed them. Of two forms, one with the kind, line
//! and rowset of each, and an older one with the kinds alone, which is no JSON. Several trees
//! follow each other if the script was compiled repeatedly; the last one counts.

use super::Input;
use crate::model::{CompileResult, Job, SyntaxStatement};
use crate::problem::Problem;
use crate::text::head;

/// Statements kept; real scripts have up to a few hundred.
const MAX_STATEMENTS: usize = 10_000;

/// Longest name kept, in bytes.
const MAX_NAME: usize = 200;

pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let statements = statements(input.text);
    if statements.is_empty() {
        job.note(input.name, None, &Problem::NoStatement);
        return;
    }
    let result = job.compile.get_or_insert_with(|| CompileResult {
        file: input.name.to_owned(),
        ..CompileResult::default()
    });
    result.syntax = statements;
}

fn statements(text: &str) -> Vec<SyntaxStatement> {
    let mut found: Vec<SyntaxStatement> = Vec::new();
    let mut before = "";
    for piece in quoted(text) {
        if piece == "Batch" && !matches!(before, "expressiontext" | "alias") {
            found.clear();
        }
        let is_statement = piece.ends_with("Statement") && found.len() < MAX_STATEMENTS;
        match (before, found.last_mut()) {
            // pieces of the script, whatever they look like
            ("expressiontext" | "alias", _) => {}
            ("offset", Some(last)) if last.line.is_none() => last.line = line_of(piece),
            ("variable", Some(last)) if last.rowset.is_none() => {
                last.rowset = Some(head(piece, MAX_NAME).to_owned());
            }
            ("offset" | "variable", _) => {}
            _ if is_statement => found.push(SyntaxStatement {
                kind: head(piece, MAX_NAME).to_owned(),
                ..SyntaxStatement::default()
            }),
            _ => {}
        }
        before = piece;
    }
    found
}

/// Texts between quotes, as written.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let open = rest.find('"')?;
        let inner = &rest[open + 1..];
        let mut escaped = false;
        let close = inner.bytes().position(|b| {
            let ends = b == b'"' && !escaped;
            escaped = b == b'\\' && !escaped;
            ends
        })?;
        rest = &inner[close + 1..];
        Some(&inner[..close])
    })
}

/// 1-based line of `14,309`, a line counted from 0 and a character.
fn line_of(offset: &str) -> Option<u32> {
    let (line, _) = offset.split_once(',')?;
    line.trim().parse::<u32>().ok()?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Job {
        let mut job = Job::default();
        read(&Input::new("a", text), &mut job);
        job
    }

    #[test]
    fn statements_have_kind_line_and_rowset() {
        let job = read_text(
            "{\"type\":\"Batch\",\"children\":[{\"type\":\"UseStatement\",\"offset\":\"6,0\"},\
             {\"type\":\"QueryStatement\",\"offset\":\"14,309\",\"children\":[{\"type\":\"Assignment\",\
             \"offset\":\"15,1\",\"variable\":\"@r\"},{\"expressiontext\":\"\\\"aStatement\"},\
             {\"type\":\"X\",\"variable\":\"@s\"}]}]}",
        );
        let statement = |kind: &str, line, rowset: Option<&str>| SyntaxStatement {
            kind: kind.to_owned(),
            line: Some(line),
            rowset: rowset.map(str::to_owned),
        };
        assert_eq!(
            job.compile.map(|c| c.syntax),
            Some(vec![
                statement("UseStatement", 7, None),
                statement("QueryStatement", 15, Some("@r"))
            ])
        );
    }

    #[test]
    fn the_last_compilation_counts() {
        let tree =
            |kind: &str| format!("{{\"type\":\"Batch\",\"children\":[{{\"type\":\"{kind}\"}}]}}\n");
        let job = read_text(&(tree("UseStatement") + &tree("QueryStatement")));
        let syntax = job.compile.map(|c| c.syntax).unwrap_or_default();
        assert_eq!(syntax.len(), 1);
        assert_eq!(syntax[0].kind, "QueryStatement");
    }

    #[test]
    fn the_older_form_has_kinds_alone() {
        let job = read_text(
            "{\n\"Batch\":\n{\n\"SqlScript\":\n{\n\"QueryStatement\":\n{\n\"Assignment\":\n}\n}\n{\n\"OutputStatement\":\n}",
        );
        let kinds: Vec<String> = job
            .compile
            .into_iter()
            .flat_map(|c| c.syntax)
            .map(|s| s.kind)
            .collect();
        assert_eq!(kinds, ["QueryStatement", "OutputStatement"]);
    }

    #[test]
    fn a_tree_without_statements_is_reported() {
        let job = read_text("{\"Batch\":{\"x\":\"y\\");
        assert_eq!((job.compile, job.diagnostics.len()), (None, 1));
    }
}
