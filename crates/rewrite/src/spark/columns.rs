//! Adds columns in one step; reads only the columns that the program uses.

use std::collections::BTreeSet;

use job::code::{Call, Program, Scope};

use super::Rewrite;

/// Most calls that are followed from an action to its source.
const MOST_CALLS: usize = 100;

/// A loop of `df = df.withColumn(name, column)` as one `withColumns`, which the driver analyzes once.
pub fn at_once(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let syntax = &program.syntax;
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    let calls = program.calls.iter().filter(|c| c.name == "withColumn");
    for call in calls.filter(|c| scope.contains(c.statement)) {
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
            || reads_new(program, name, column, values, call.statement)
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

/// Whether a column may read one that an earlier step of its loop adds: by the texts in the names and in the columns, in
/// the loop and in the dictionary that it goes through.
fn reads_new(
    program: &Program,
    name: usize,
    column: usize,
    values: usize,
    statement: usize,
) -> bool {
    let syntax = &program.syntax;
    let items = program.call_of(values).and_then(|call| call.receiver);
    let dictionary = program.bound(items.unwrap_or(values), statement);
    let of_dictionary = |field: &'static str| {
        let nodes = syntax.subtree(dictionary);
        nodes.filter(move |at| syntax.nodes[*at].field == Some(field))
    };
    let texts = |nodes: Vec<usize>| -> BTreeSet<&str> {
        let all = nodes.into_iter().flat_map(|at| syntax.subtree(at));
        let strings = all.filter(|at| syntax.kind(*at) == "string");
        strings.map(|at| program.text_of(at)).collect()
    };
    let names = texts(of_dictionary("key").chain([name]).collect());
    let columns = texts(of_dictionary("value").chain([column]).collect());
    // a name that is computed without a text may be any
    let is_computed = !matches!(syntax.kind(name), "identifier" | "string") && names.is_empty();
    let inside = |text: &&str| {
        let own = text.trim_matches(|c: char| matches!(c, '"' | '\'' | 'f'));
        columns.iter().any(|column| column.contains(own))
    };
    is_computed || names.iter().any(inside)
}

/// Selects the columns that the program reads of rows that it collects, if they are fewer than half of the `read` ones:
/// `df.select("a", "b").collect()`.
pub fn needed(program: &Program, scope: &Scope, read: Option<usize>) -> Option<Rewrite> {
    let mut rewrite = Rewrite::default();
    let by_rows = |c: &&Call| {
        matches!(c.name.as_str(), "collect" | "toLocalIterator") && scope.contains(c.statement)
    };
    for call in program.calls.iter().filter(by_rows) {
        let Some(columns) = read_of(program, call).filter(|columns| !columns.is_empty()) else {
            continue;
        };
        let is_most = read.is_some_and(|read| columns.len() * 2 > read);
        if is_most || is_selected(program, call) {
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

/// Whether the rows of a call have few columns already, or are no longer those of a DataFrame: by the calls before it, also
/// those of the names that it reads.
fn is_selected(program: &Program, call: &Call) -> bool {
    let mut receiver = call.receiver;
    for _ in 0..MOST_CALLS {
        let Some(at) = receiver else { return false };
        let at = program.bound(at, call.statement);
        let syntax = &program.syntax;
        if syntax.kind(at) == "parenthesized_expression" {
            receiver = syntax.children(at).next();
            continue;
        }
        let Some(before) = program.call_of(at) else {
            return program.text_of(at).ends_with(".rdd");
        };
        if matches!(
            before.name.as_str(),
            "select" | "selectExpr" | "agg" | "count" | "distinct" | "map"
        ) {
            return true;
        }
        receiver = before.receiver;
    }
    true
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

pub(super) fn identifiers(program: &Program, scope: usize, name: &str) -> Vec<usize> {
    let syntax = &program.syntax;
    let own = |at: &usize| {
        syntax.kind(*at) == "identifier"
            && syntax.nodes[*at].field != Some("attribute")
            && program.text_of(*at) == name
    };
    syntax.subtree(scope).filter(own).collect()
}
