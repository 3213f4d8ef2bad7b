//! Two-level aggregation: first by the keys and a salt, then by the keys.
//!
//! Only aggregates whose results can be aggregated again are taken; averages and lists are not,
//! because their types or their order would have to be guessed.

use job::script::{Aggregate, Query, Script, Statement, StatementKind};

use super::Rewrite;
use super::names::{fresh, hint_lines};

/// Groups that a hot key is spread over: enough for the largest share to fall below the mean of
/// a common stage, few enough that the second aggregation stays small.
pub(crate) const SALTS: u32 = 32;

/// Aggregates by keys and `salt` first. `salt` is an expression over the rows of the input.
pub(crate) fn two_level(script: &Script, statement: &Statement, salt: &str) -> Option<Rewrite> {
    let query = &statement.query;
    let target = statement.target.as_deref()?;
    if !is_plain_aggregation(query) {
        return None;
    }
    let source = script.slice(&query.inputs.first()?.span);
    let salt_name = fresh(script, "Salt", "Key");
    let (salted, partial) = (
        fresh(script, target, "Salted"),
        fresh(script, target, "Partial"),
    );
    let filter = query.filter_span.as_ref().map(|span| script.slice(span));
    let filter = filter
        .map(|text| format!("\n    {text}"))
        .unwrap_or_default();
    let (first, second) = columns(script, query)?;
    let keys: Vec<_> = query
        .group_by
        .iter()
        .map(|key| script.slice(&key.span))
        .collect();
    let keys = keys.join(", ");
    let having = having(script, query);
    let hints = hint_lines(script, statement);
    let text = format!(
        "{salted} =\n    SELECT *,\n           {salt} AS {salt_name}\n    FROM {source}{filter};\n\n\
         {partial} =\n    SELECT {},\n           {salt_name}\n    FROM {salted}\n    \
         GROUP BY {keys}, {salt_name};\n\n\
         {hints}{target} =\n    SELECT {}\n    FROM {partial}\n    GROUP BY {keys}{having};",
        first.join(",\n           "),
        second.join(",\n           "),
    );
    let mut rewrite = Rewrite::default();
    rewrite.replace(statement.index, statement.span.clone(), text);
    Some(rewrite)
}

/// Counts distinct values of everything: first by value, in parallel, then in one vertex.
pub(crate) fn distinct_first(script: &Script, statement: &Statement) -> Option<Rewrite> {
    let query = &statement.query;
    let target = statement.target.as_deref()?;
    let [aggregate] = query.aggregates.as_slice() else {
        return None;
    };
    let [column] = query.columns.as_slice() else {
        return None;
    };
    let [argument] = aggregate.arguments.as_slice() else {
        return None;
    };
    let alone = query.kind == StatementKind::Select
        && query.inputs.len() == 1
        && query.group_by.is_empty()
        && query.having.is_empty()
        && query.order_by.is_empty()
        && query.top.is_none();
    let counts = aggregate.function == "COUNT" && aggregate.distinct && !aggregate.over;
    let bare = column.expression.span == aggregate.span;
    let value = argument.as_column().filter(|_| alone && counts && bare)?;
    let source = script.slice(&query.inputs.first()?.span);
    let filter = query.filter_span.as_ref().map(|span| script.slice(span));
    let filter = filter
        .map(|text| format!("\n    {text}"))
        .unwrap_or_default();
    let values = fresh(script, target, "Values");
    let hints = hint_lines(script, statement);
    let text = format!(
        "{values} =\n    SELECT {name}\n    FROM {source}{filter}\n    GROUP BY {name};\n\n\
         {hints}{target} =\n    SELECT COUNT({name}) AS {alias}\n    FROM {values};",
        name = value.name,
        alias = column.name.as_deref()?,
    );
    let mut rewrite = Rewrite::default();
    rewrite.replace(statement.index, statement.span.clone(), text);
    Some(rewrite)
}

fn is_plain_aggregation(query: &Query) -> bool {
    query.kind == StatementKind::Select
        && query.branches.is_empty()
        && query.inputs.len() == 1
        && query.joins.is_empty()
        && !query.distinct
        && query.top.is_none()
        && query.order_by.is_empty()
        && !query.group_by.is_empty()
        && !query.aggregates.is_empty()
        && query.group_by.iter().all(|key| {
            key.as_column()
                .is_some_and(|column| column.qualifier.is_none())
        })
        && query.having.iter().all(|conjunct| {
            let own = |name: &str| {
                query
                    .columns
                    .iter()
                    .any(|c| c.name.as_deref() == Some(name))
            };
            conjunct.expression.calls.is_empty()
                && conjunct
                    .expression
                    .uses
                    .iter()
                    .all(|column| own(&column.name))
        })
}

/// Columns of the first and of the second aggregation.
fn columns(script: &Script, query: &Query) -> Option<(Vec<String>, Vec<String>)> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (position, column) in query.columns.iter().enumerate() {
        let name = column.name.as_deref()?;
        let text = script.slice(&column.expression.span);
        let aggregate = query.aggregates.iter().find(|a| a.column == Some(position));
        match aggregate {
            Some(aggregate) if aggregate.span == column.expression.span => {
                first.push(format!("{text} AS {name}"));
                second.push(format!("{}({name}) AS {name}", again(aggregate)?));
            }
            None if query
                .group_by
                .iter()
                .any(|key| script.slice(&key.span) == text) =>
            {
                let renamed = text != name;
                first.push(text.to_owned());
                second.push(if renamed {
                    format!("{text} AS {name}")
                } else {
                    text.to_owned()
                });
            }
            _ => return None,
        }
    }
    // Keys that are not among the columns have to pass all the same.
    for key in &query.group_by {
        let text = script.slice(&key.span).to_owned();
        if !first.contains(&text) {
            first.push(text);
        }
    }
    Some((first, second))
}

/// The aggregate that puts partial results of another together.
fn again(aggregate: &Aggregate) -> Option<&'static str> {
    match aggregate.function.as_str() {
        _ if aggregate.distinct || aggregate.over => None,
        "COUNT" | "COUNTIF" | "SUM" => Some("SUM"),
        "MIN" => Some("MIN"),
        "MAX" => Some("MAX"),
        _ => None,
    }
}

fn having(script: &Script, query: &Query) -> String {
    let parts: Vec<_> = query
        .having
        .iter()
        .map(|part| script.slice(&part.expression.span))
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("\n    HAVING {}", parts.join(" AND "))
    }
}
