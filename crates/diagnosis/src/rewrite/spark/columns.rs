//! Adds columns in one step; reads only the columns that the program uses.

use std::collections::BTreeSet;

use job::code::{Call, Program};

use super::Rewrite;

/// A loop of `df = df.withColumn(name, column)` as one `withColumns`, which the driver analyzes once.
pub(crate) fn at_once(program: &Program) -> Option<Rewrite> {
    let syntax = &program.syntax;
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    for call in program.calls.iter().filter(|c| c.name == "withColumn") {
        let Some((name, column)) = (match call.arguments.as_slice() {
            [name, column] => Some((name.node, column.node)),
            _ => None,
        }) else {
            continue;
        };
        let statement = &program.statements[call.statement];
        let frame = call.receiver.map(|at| program.text_of(at));
        let grown = statement.value == Some(call.node) && statement.target.as_deref() == frame;
        let uses_itself =
            |at: usize| syntax.kind(at) == "identifier" && Some(program.text_of(at)) == frame;
        let mut above = syntax.upward(call.node);
        let looped = above.find(|at| syntax.kind(*at) == "for_statement");
        let (Some(looped), Some(frame), true) = (looped, frame, grown) else {
            continue;
        };
        let parts = ["left", "right", "body"].map(|field| syntax.child(looped, field));
        let [Some(names), Some(values), Some(body)] = parts else {
            continue;
        };
        let single =
            syntax.children(body).count() == 1 && syntax.child(looped, "alternative").is_none();
        if !single
            || [name, column]
                .iter()
                .any(|at| syntax.subtree(*at).any(uses_itself))
        {
            continue;
        }
        let text = format!(
            "{frame} = {frame}.withColumns({{{}: {} for {} in {}}})",
            program.text_of(name),
            program.text_of(column),
            program.text_of(names),
            program.text_of(values)
        );
        rewrite.replace(call.statement, syntax.span(looped), text);
    }
    (!rewrite.edits.is_empty()).then_some(rewrite)
}

/// Selects the columns that the program reads of rows that it collects: `df.select("a", "b").collect()`.
pub(crate) fn needed(program: &Program) -> Option<Rewrite> {
    let mut rewrite = Rewrite::default();
    let by_rows = |c: &&Call| matches!(c.name.as_str(), "collect" | "toLocalIterator");
    for call in program.calls.iter().filter(by_rows) {
        let Some(columns) = read_of(program, call).filter(|columns| !columns.is_empty()) else {
            continue;
        };
        let receiver = call.receiver.map_or("", |at| program.text_of(at));
        let earlier = program.statements.get(..call.statement);
        let mut made = earlier.unwrap_or_default().iter().rev();
        let made = made.find(|s| s.target.as_deref() == Some(receiver));
        let made = made
            .and_then(|s| s.value)
            .map_or("", |at| program.text_of(at));
        let selects = |method: &str| receiver.contains(method) || made.contains(method);
        if [".rdd", ".select(", ".agg(", ".count()"]
            .into_iter()
            .any(selects)
        {
            continue;
        }
        let names: Vec<String> = columns.iter().map(|name| format!("\"{name}\"")).collect();
        let start = call.span.start;
        rewrite.replace(
            call.statement,
            start..start,
            format!(".select({})", names.join(", ")),
        );
    }
    (!rewrite.edits.is_empty()).then_some(rewrite)
}

/// Columns that loops read of collected rows; `None` if the rows are used in another way.
fn read_of<'p>(program: &'p Program, call: &Call) -> Option<BTreeSet<&'p str>> {
    let syntax = &program.syntax;
    let is_looped = |at: usize| {
        let parent = syntax.nodes[at].parent;
        let looped = matches!(syntax.kind(parent), "for_statement" | "for_in_clause");
        (looped && syntax.nodes[at].field == Some("right")).then_some(parent)
    };
    let mut loops: Vec<usize> = is_looped(call.node).into_iter().collect();
    let statement = program.statements.get(call.statement)?;
    if let Some(name) = statement
        .target
        .as_deref()
        .filter(|_| statement.value == Some(call.node))
    {
        for at in identifiers(program, 0, name) {
            let declared = syntax.nodes[at].field == Some("left");
            match is_looped(at) {
                Some(looped) => loops.push(looped),
                None if declared => {}
                None => return None,
            }
        }
    }
    let mut columns = BTreeSet::new();
    for looped in loops {
        let row = syntax
            .child(looped, "left")
            .filter(|at| syntax.kind(*at) == "identifier")?;
        let (name, declared) = (program.text_of(row), row);
        let scope = match syntax.kind(looped) {
            "for_in_clause" => syntax.nodes[looped].parent,
            _ => looped,
        };
        for at in identifiers(program, scope, name)
            .into_iter()
            .filter(|at| *at != declared)
        {
            columns.insert(column_of(program, at)?);
        }
    }
    Some(columns)
}

/// The column in `row["a"]` or `row.a`.
fn column_of(program: &Program, row: usize) -> Option<&str> {
    let syntax = &program.syntax;
    let above = syntax.nodes[row].parent;
    match syntax.kind(above) {
        "subscript" => program.string(syntax.child(above, "subscript")?),
        "attribute" if syntax.child(above, "object") == Some(row) => {
            let called = syntax.nodes[above].field == Some("function");
            let name = syntax.child(above, "attribute").filter(|_| !called)?;
            Some(program.text_of(name))
        }
        _ => None,
    }
}

fn identifiers(program: &Program, scope: usize, name: &str) -> Vec<usize> {
    let syntax = &program.syntax;
    let own = |at: &usize| {
        syntax.kind(*at) == "identifier"
            && syntax.nodes[*at].field != Some("attribute")
            && program.text_of(*at) == name
    };
    syntax.subtree(scope).filter(own).collect()
}
