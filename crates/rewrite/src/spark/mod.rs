//! Changes of a PySpark program or of its queries. Each function makes one kind of change at one place, or none where the
//! program is written in another way than the function understands.

pub mod batches;
pub mod captured;
#[cfg(test)]
mod changed_tests;
pub mod columns;
mod declared;
pub mod either;
pub mod evaluated;
pub mod filters;
pub mod hints;
pub mod loops;
pub mod partitions;
pub mod rdd;
pub mod reuse;
pub mod schema;
pub mod semi;
pub mod settings;
pub mod streams;
#[cfg(test)]
mod tests;
mod texts;
pub mod udf;

use job::code::sql::SqlHint;
use job::code::{Call, Place, Program};
use report::{SameResult, Verified};

use super::{Checked, Rewrite, indentation};

impl Rewrite {
    /// The diff of a program, if the program and the changed one parse.
    pub fn checked_program(&self, program: &Program) -> Option<Checked> {
        let text = self.apply(&program.text)?;
        let changed = Program::parse(&program.file, &text);
        if text == program.text || !program.is_sound() || !changed.is_sound() {
            return None;
        }
        let same_result = match self.reorders {
            true => SameResult::Unknown,
            false => SameResult::Proven,
        };
        Some(Checked {
            diff: program.diff(&text).text,
            verified: Verified {
                parses: true,
                columns_preserved: true,
                hints_known: true,
                same_result,
            },
        })
    }
}

/// The call at a place.
fn call<'p>(program: &'p Program, place: &Place) -> Option<&'p Call> {
    program.calls.get(place.call?)
}

/// The program's name of a function of `pyspark.sql.functions`. Adds an import if it has none.
fn function(program: &Program, name: &str, rewrite: &mut Rewrite) -> Option<String> {
    let known = imports(program).find_map(|(module, own, known)| match (module, own) {
        ("pyspark.sql.functions", own) if own == name => Some(known.to_owned()),
        ("pyspark.sql.functions", "*") => Some(name.to_owned()),
        ("pyspark.sql", "functions") | ("", "pyspark.sql.functions") => {
            Some(format!("{known}.{name}"))
        }
        _ => None,
    });
    known.or_else(|| {
        add_import(program, "pyspark.sql", "functions as F", "F", rewrite)?;
        Some(format!("F.{name}"))
    })
}

/// The program's name of `pyspark.StorageLevel`. Adds an import if it has none.
fn storage_level(program: &Program, rewrite: &mut Rewrite) -> Option<String> {
    const NAME: &str = "StorageLevel";
    let known = imports(program).find_map(|(module, own, known)| match (module, own) {
        ("pyspark" | "pyspark.storagelevel", NAME) => Some(known.to_owned()),
        ("pyspark", "*") => Some(NAME.to_owned()),
        ("", "pyspark") => Some(format!("{known}.{NAME}")),
        _ => None,
    });
    known.or_else(|| {
        add_import(program, "pyspark", NAME, NAME, rewrite)?;
        Some(NAME.to_owned())
    })
}

fn import_statements(program: &Program) -> impl DoubleEndedIterator<Item = usize> + '_ {
    let syntax = &program.syntax;
    (0..syntax.nodes.len()).filter(|node| {
        matches!(
            syntax.kind(*node),
            "import_statement" | "import_from_statement"
        )
    })
}

/// The module of each imported name, empty for a module itself, its name there, and its name in the program. `*` stands for all names.
fn imports(program: &Program) -> impl Iterator<Item = (&str, &str, &str)> {
    let syntax = &program.syntax;
    import_statements(program).flat_map(move |node| {
        let module = syntax.child(node, "module_name");
        let module = module.map_or("", |at| program.text_of(at));
        let names = syntax.children(node);
        let names = names.filter(|at| syntax.nodes[*at].field == Some("name"));
        let named = names.map(move |imported| {
            let of = |field| syntax.child(imported, field).map(|at| program.text_of(at));
            let own = of("name").unwrap_or_else(|| program.text_of(imported));
            (module, own, of("alias").unwrap_or(own))
        });
        let all = program.text_of(node).trim_end().ends_with('*');
        named.chain(all.then_some((module, "*", "*")))
    })
}

/// Imports a name after the last import of the program; `None` if the program has no import, or another use of the name.
fn add_import(
    program: &Program,
    module: &str,
    item: &str,
    name: &str,
    rewrite: &mut Rewrite,
) -> Option<()> {
    let mut statements = program.statements.iter();
    let taken = statements.any(|s| s.reads.contains(name) || s.target.as_deref() == Some(name));
    let syntax = &program.syntax;
    let last = import_statements(program).rfind(|node| syntax.nodes[*node].parent == 0);
    let after = syntax.span(last.filter(|_| !taken)?).end;
    let line = format!("from {module} import {item}");
    if !rewrite.edits.iter().any(|edit| edit.text.ends_with(&line)) {
        rewrite.replace(0, after..after, format!("\n{line}"));
    }
    Some(())
}

/// Removes a hint of a query, with its comment if the comment has no other.
fn without_hint(program: &Program, statement: usize, hint: &SqlHint, rewrite: &mut Rewrite) {
    let blank = |c: char| c == ' ' || c == '\t';
    let text = &program.text;
    let mut span = if hint.of == 1 {
        hint.comment.clone()
    } else {
        hint.span.clone()
    };
    let after = text[span.end..].trim_start_matches(blank);
    let is_list = hint.of > 1 && after.starts_with(',');
    let after = if is_list {
        after[1..].trim_start_matches(blank)
    } else {
        after
    };
    span.end = text.len() - after.len();
    let before = text[..span.start].trim_end_matches(blank);
    match hint.of {
        1 if after.starts_with(['\r', '\n']) => span.start = before.len(),
        2.. if !is_list => {
            let kept = before.strip_suffix(',').unwrap_or(before);
            span = kept.len()..hint.span.end;
        }
        _ => {}
    }
    rewrite.replace(statement, span, "");
}

/// Replaces a call on rows by an expression that may name the rows several times; `None` if the program has no free name for them.
fn on_rows(
    program: &Program,
    call: &Call,
    rewrite: &mut Rewrite,
    expression: impl Fn(&str) -> String,
) -> Option<()> {
    let rows = call.receiver?;
    let (span, text) = match program.syntax.kind(rows) {
        "identifier" => (
            program.syntax.span(call.node),
            expression(program.text_of(rows)),
        ),
        _ => {
            let mut names = ["rows", "frame", "input"].into_iter();
            let name = names.find(|name| !has_identifier(program, name))?;
            let text = format!(".transform(lambda {name}: {})", expression(name));
            (call.span.clone(), text)
        }
    };
    rewrite.replace(call.statement, span, text);
    Some(())
}

fn has_identifier(program: &Program, name: &str) -> bool {
    let syntax = &program.syntax;
    (0..syntax.nodes.len()).any(|at| syntax.kind(at) == "identifier" && program.text_of(at) == name)
}

/// Inserts lines after a statement, at its indentation.
fn lines_after(
    program: &Program,
    statement: usize,
    lines: &[String],
    rewrite: &mut Rewrite,
) -> Option<()> {
    let span = &program.statements.get(statement)?.span;
    let indent = indentation(&program.text, span.start);
    let text: String = lines
        .iter()
        .map(|line| format!("\n{indent}{line}"))
        .collect();
    rewrite.replace(statement, span.end..span.end, text);
    Some(())
}
