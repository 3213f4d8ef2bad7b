//! Early projection: columns that nobody needs are left out of the lists that name them.

use job::script::flow::ReadColumns;
use job::script::{Query, Script, Span, Statement, StatementKind};

use super::Rewrite;

/// Leaves unneeded columns out of every `SELECT`; `None` if there is none to leave out.
///
/// `EXTRACT` lists describe a file, and `PRODUCE` lists what user code makes; both stay. A
/// `SELECT DISTINCT` or a grouped one keeps its rows only with all its columns.
pub(crate) fn drop_columns(script: &Script, reads: &ReadColumns<'_>) -> Option<Rewrite> {
    let flow = script.flow_with(reads);
    let mut rewrite = Rewrite::default();
    for rowset in &flow.rowsets {
        let Some(statement) = script.statements.get(rowset.statement) else {
            continue;
        };
        if !may_shrink(statement) {
            continue;
        }
        let unneeded = |name: Option<&str>| {
            name.is_some_and(|name| {
                let dropped = name != "*" && rowset.dropped.iter().any(|d| d == name);
                dropped && !names_own(&statement.query, name)
            })
        };
        let columns = &statement.query.columns;
        let flags: Vec<bool> = columns
            .iter()
            .map(|c| unneeded(c.name.as_deref()))
            .collect();
        let spans: Vec<Span> = columns.iter().map(|c| c.span.clone()).collect();
        for span in removed(&flags, &spans) {
            rewrite.replace(statement.index, span, "");
        }
    }
    (!rewrite.edits.is_empty()).then_some(rewrite)
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

/// Spans to take out of a list so that the rest is a list again; none if nothing would be left.
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
            // The last ones go with the comma before them.
            None => spans[at - 1].end..spans[next - 1].end,
        });
        at = next;
    }
    found
}
