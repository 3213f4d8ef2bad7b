//! Early projection: unneeded columns are dropped from the lists that name them.

use job::script::flow::ReadColumns;
use job::script::{Query, Script, Span, Statement, StatementKind};

use super::Rewrite;

/// Columns dropped from the list of one statement.
#[derive(Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Name that the statement binds.
    pub rowset: String,
    pub columns: Vec<String>,
}

/// Drops unneeded columns from every `SELECT`; `None` if all columns are needed.
///
/// `EXTRACT` lists describe a file, and `PRODUCE` lists the output of user code; both stay. A
/// `SELECT DISTINCT` or a grouped one keeps its rows only with all its columns.
pub fn drop_columns(script: &Script, reads: &ReadColumns<'_>) -> Option<(Rewrite, Vec<Dropped>)> {
    let flow = script.flow_with(reads);
    let (mut rewrite, mut declared) = (Rewrite::default(), Vec::new());
    for rowset in &flow.rowsets {
        let statement = script.statements.get(rowset.statement);
        let Some(statement) = statement.filter(|statement| may_shrink(statement)) else {
            continue;
        };
        let unneeded = |name: &&str| {
            let dropped = *name != "*" && rowset.dropped.iter().any(|d| d == name);
            dropped && !names_own(&statement.query, name)
        };
        let columns = &statement.query.columns;
        let names = columns.iter().map(|c| c.name.as_deref().filter(unneeded));
        let gone: Vec<Option<&str>> = names.collect();
        let spans: Vec<Span> = columns.iter().map(|c| c.span.clone()).collect();
        let flags: Vec<bool> = gone.iter().map(Option::is_some).collect();
        let removed = removed(&flags, &spans);
        if removed.is_empty() {
            continue;
        }
        declared.push(Dropped {
            rowset: rowset.name.clone().unwrap_or_default(),
            columns: gone.into_iter().flatten().map(str::to_owned).collect(),
        });
        for span in removed {
            rewrite.replace(statement.index, span, "");
        }
    }
    (!rewrite.edits.is_empty()).then_some((rewrite, declared))
}

/// Whether clauses of the query itself use a column of its list: `HAVING Cnt > 5`.
fn names_own(query: &Query, name: &str) -> bool {
    let having = query.having.iter().map(|part| &part.expression);
    let ordered = query.order_by.iter().map(|item| &item.expression);
    having
        .chain(ordered)
        .flat_map(|expression| &expression.uses)
        .any(|used| used.name == name)
}

fn may_shrink(statement: &Statement) -> bool {
    statement.kind == StatementKind::Select && !statement.query.distinct
}

/// Spans to take out of a list so that the rest is a list again; empty if the list would be empty.
fn removed(flags: &[bool], spans: &[Span]) -> Vec<Span> {
    if flags.iter().all(|&flag| flag) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < flags.len() {
        if !flags[at] {
            at += 1;
            continue;
        }
        let run = flags[at..].iter().take_while(|&&flag| flag).count();
        let next = at + run;
        found.push(match spans.get(next) {
            Some(after) => spans[at].start..after.start,
            // the last columns are removed with the comma before them
            None => spans[at - 1].end..spans[next - 1].end,
        });
        at = next;
    }
    found
}
