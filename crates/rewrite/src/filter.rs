//! Early filter: conditions that need one side of a join only run before it.
//!
//! A condition moves from the statement behind the join to a new one before it. It may move to
//! a side without rows added by the join: any side of an inner join, the left one of
//! a left outer join.

use job::script::{
    ColumnRef, Conjunct, JoinKind, Query, RowsetRef, RowsetSource, Script, Statement, StatementKind,
};

use super::Rewrite;
use super::clauses::bind;
use super::names::{aliased, fresh, source_text};

/// Moves the movable conditions of `statement` before the join that feeds it; the join may
/// be in the statement itself.
pub fn push_down(script: &Script, statement: &Statement) -> Option<Rewrite> {
    let query = &statement.query;
    if query.kind != StatementKind::Select || query.filter.is_empty() {
        return None;
    }
    if !query.joins.is_empty() {
        return push_into(script, statement, statement);
    }
    let [input] = query.inputs.as_slice() else {
        return None;
    };
    let definition = script.statements.get(input.definition?)?;
    let readers = script
        .statements
        .iter()
        .filter(|s| reads(&s.query, definition.index))
        .count();
    // Another reader would lose rows.
    (readers == 1)
        .then(|| push_into(script, statement, definition))
        .flatten()
}

fn reads(query: &Query, definition: usize) -> bool {
    query
        .branches
        .iter()
        .any(|branch| reads(branch, definition))
        || query.inputs.iter().any(|input| match &input.source {
            RowsetSource::Query(inner) => reads(inner, definition),
            _ => input.definition == Some(definition),
        })
}

fn push_into(script: &Script, from: &Statement, join: &Statement) -> Option<Rewrite> {
    let query = &join.query;
    let simple = query.kind == StatementKind::Select
        && !query.joins.is_empty()
        && query.group_by.is_empty()
        && query.aggregates.is_empty()
        && !query.distinct
        && query.top.is_none();
    if !simple {
        return None;
    }
    let moves: Vec<(usize, usize, String)> = from
        .query
        .filter
        .iter()
        .enumerate()
        .filter_map(|(number, conjunct)| {
            let (input, text) = before_join(script, from, join, conjunct)?;
            Some((number, input, text))
        })
        .collect();
    let input = moves.first()?.1;
    let moved: Vec<_> = moves.iter().filter(|(_, to, _)| *to == input).collect();
    let mut rewrite = Rewrite::default();
    let numbers: Vec<usize> = moved.iter().map(|(number, _, _)| *number).collect();
    shorten_filter(script, from, &numbers, &mut rewrite)?;
    let source = query.inputs.get(input)?;
    let name = fresh(script, &base_name(source, join)?, "Filtered");
    let conditions: Vec<_> = moved.iter().map(|(_, _, text)| text.as_str()).collect();
    let conditions = conditions.join(" AND ");
    let rest = format!("{}\n    WHERE {conditions}", source_text(script, source)?);
    let text = bind(&name, &["*"], &rest);
    rewrite.replace(join.index, join.span.start..join.span.start, text);
    rewrite.replace(join.index, source.span.clone(), aliased(&name, source)?);
    Some(rewrite)
}

fn base_name(source: &RowsetRef, join: &Statement) -> Option<String> {
    match source.source {
        RowsetSource::Name if !source.name.contains(['.', '[']) => Some(source.name.clone()),
        _ => join.target.clone(),
    }
}

/// The input of the join that a condition needs, and the condition in its columns.
fn before_join(
    script: &Script,
    from: &Statement,
    join: &Statement,
    conjunct: &Conjunct,
) -> Option<(usize, String)> {
    let uses = &conjunct.expression.uses;
    let columns: Option<Vec<ColumnRef>> = uses
        .iter()
        .map(|used| match from.index == join.index {
            true => Some(used.clone()),
            false => origin(&join.query, &used.name),
        })
        .collect();
    let columns = columns?;
    let input = input_of(&join.query, columns.first()?)?;
    let same = columns
        .iter()
        .all(|column| input_of(&join.query, column) == Some(input));
    if !same || !keeps_rows(&join.query, input) {
        return None;
    }
    let mut text = String::new();
    let mut at = conjunct.expression.span.start;
    for (used, column) in uses.iter().zip(&columns) {
        text.push_str(script.text.get(at..used.span.start)?);
        text.push_str(&column.name);
        at = used.span.end;
    }
    text.push_str(script.text.get(at..conjunct.expression.span.end)?);
    Some((input, text))
}

/// The column of an input that a column of the join's list copies.
fn origin(query: &Query, name: &str) -> Option<ColumnRef> {
    let column = query
        .columns
        .iter()
        .find(|column| column.name.as_deref() == Some(name))?;
    column
        .expression
        .as_column()
        .filter(|column| column.name != "*")
        .cloned()
}

fn input_of(query: &Query, column: &ColumnRef) -> Option<usize> {
    let qualifier = column.qualifier.as_deref()?;
    query
        .inputs
        .iter()
        .position(|input| input.label() == qualifier)
}

/// Whether dropping a row of that input before the join only removes the output rows of this
/// row.
fn keeps_rows(query: &Query, input: usize) -> bool {
    query.joins.iter().all(|join| match join.kind {
        JoinKind::Inner | JoinKind::Cross => true,
        JoinKind::LeftOuter | JoinKind::LeftSemi | JoinKind::LeftAntiSemi => join.right != input,
        JoinKind::RightOuter | JoinKind::RightSemi | JoinKind::RightAntiSemi => join.right == input,
        JoinKind::FullOuter => false,
    })
}

/// Removes conjuncts from a `WHERE`, or the whole clause if none is left.
fn shorten_filter(
    script: &Script,
    statement: &Statement,
    moved: &[usize],
    rewrite: &mut Rewrite,
) -> Option<()> {
    let span = statement.query.filter_span.clone()?;
    let kept: Vec<&str> = statement
        .query
        .filter
        .iter()
        .enumerate()
        .filter(|(number, _)| !moved.contains(number))
        .map(|(_, conjunct)| script.slice(&conjunct.expression.span))
        .collect();
    if kept.is_empty() {
        let start = script.text[..span.start].trim_end().len();
        rewrite.replace(statement.index, start..span.end, "");
    } else {
        rewrite.replace(
            statement.index,
            span,
            format!("WHERE {}", kept.join(" AND ")),
        );
    }
    Some(())
}
