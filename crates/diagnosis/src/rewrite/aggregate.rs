//! Two-level aggregation: first by the keys and a salt, then by the keys.
//!
//! Only aggregates whose results can be aggregated again are taken; averages and lists are not,
//! because their types or their order would have to be guessed.

use job::script::{Aggregate, Query, Script, Statement, StatementKind};

use super::Rewrite;
use super::names::{comments, fresh, hint_lines};

/// Groups that a hot key is spread over: enough for the largest share to fall below the mean of
/// a common stage, few enough that the second aggregation stays small.
pub(crate) const SALTS: u32 = 32;

/// Aggregates by keys and `salt` first. `salt` is an expression over the rows of the input.
pub(crate) fn two_level(script: &Script, statement: &Statement, salt: &str) -> Option<Rewrite> {
    let query = &statement.query;
    let target = statement.target.as_deref()?;
    if !is_simple(query) || query.group_by.is_empty() {
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
    let comments = comments(script, statement);
    let text = format!(
        "{comments}{salted} =\n    SELECT *,\n           {salt} AS {salt_name}\n    FROM {source}{filter};\n\n\
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

/// Counts distinct values in two levels: first one row for each key and value, then the counts.
///
/// The first level is spread by the value, however few or hot the keys are; without keys it takes
/// most of the work from the one vertex that ends it.
pub(crate) fn distinct_first(script: &Script, statement: &Statement) -> Option<Rewrite> {
    let query = &statement.query;
    let target = statement.target.as_deref()?;
    if !is_simple(query) {
        return None;
    }
    let value = distinct_value(query)?;
    let source = script.slice(&query.inputs.first()?.span);
    let filter = query.filter_span.as_ref().map(|span| script.slice(span));
    let filter = filter
        .map(|text| format!("\n    {text}"))
        .unwrap_or_default();
    let (first, second) = distinct_columns(script, query, &value)?;
    let keys: Vec<_> = query
        .group_by
        .iter()
        .map(|key| script.slice(&key.span))
        .collect();
    let first_keys: Vec<_> = keys.iter().copied().chain([value.as_str()]).collect();
    let last = match keys.is_empty() {
        true => String::new(),
        false => format!("\n    GROUP BY {}", keys.join(", ")),
    };
    let values = fresh(script, target, "Values");
    let hints = hint_lines(script, statement);
    let having = having(script, query);
    let comments = comments(script, statement);
    let text = format!(
        "{comments}{values} =\n    SELECT {}\n    FROM {source}{filter}\n    GROUP BY {};\n\n\
         {hints}{target} =\n    SELECT {}\n    FROM {values}{last}{having};",
        first.join(",\n           "),
        first_keys.join(", "),
        second.join(",\n           "),
    );
    let mut rewrite = Rewrite::default();
    rewrite.replace(statement.index, statement.span.clone(), text);
    Some(rewrite)
}

/// The one column whose distinct values are counted, if it is not a key.
fn distinct_value(query: &Query) -> Option<String> {
    let mut distinct = query
        .aggregates
        .iter()
        .filter(|aggregate| aggregate.distinct);
    let first = distinct.next()?.arguments.first()?.as_column()?;
    let counts = |aggregate: &Aggregate| {
        let column = aggregate
            .arguments
            .first()
            .and_then(|argument| argument.as_column());
        aggregate.function == "COUNT" && column.is_some_and(|column| column.name == first.name)
    };
    let all = query
        .aggregates
        .iter()
        .filter(|aggregate| aggregate.distinct)
        .all(counts);
    let is_key = query.group_by.iter().any(|key| {
        key.as_column()
            .is_some_and(|column| column.name == first.name)
    });
    (all && !is_key && first.qualifier.is_none()).then(|| first.name.clone())
}

/// Columns of both levels; those that count distinct values count rows of the first level.
fn distinct_columns(
    script: &Script,
    query: &Query,
    value: &str,
) -> Option<(Vec<String>, Vec<String>)> {
    let (mut first, mut second) = (vec![value.to_owned()], Vec::new());
    for (position, column) in query.columns.iter().enumerate() {
        let aggregate = query.aggregates.iter().find(|a| a.column == Some(position));
        match aggregate {
            Some(aggregate) if aggregate.distinct && aggregate.span == column.expression.span => {
                second.push(format!("COUNT({value}) AS {}", column.name.as_deref()?));
            }
            _ => {
                // The value itself would be hidden by a partial result of its name.
                let name = column.name.as_deref().filter(|name| *name != value)?;
                let (one, two) = column_pair(script, query, position, name)?;
                first.push(one);
                second.push(two);
            }
        }
    }
    add_keys(script, query, &mut first);
    Some((first, second))
}

/// One input, nothing but grouping: rows are only looked at by key.
fn is_simple(query: &Query) -> bool {
    query.kind == StatementKind::Select
        && query.branches.is_empty()
        && query.inputs.len() == 1
        && query.joins.is_empty()
        && !query.distinct
        && query.top.is_none()
        && query.order_by.is_empty()
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
        let (one, two) = column_pair(script, query, position, column.name.as_deref()?)?;
        first.push(one);
        second.push(two);
    }
    add_keys(script, query, &mut first);
    Some((first, second))
}

/// One column in the first and in the second level.
fn column_pair(
    script: &Script,
    query: &Query,
    position: usize,
    name: &str,
) -> Option<(String, String)> {
    let expression = &query.columns[position].expression;
    let text = script.slice(&expression.span);
    match query.aggregates.iter().find(|a| a.column == Some(position)) {
        Some(aggregate) if aggregate.span == expression.span => {
            let second = format!("{}({name}) AS {name}", again(aggregate)?);
            Some((format!("{text} AS {name}"), second))
        }
        None if query
            .group_by
            .iter()
            .any(|key| script.slice(&key.span) == text) =>
        {
            let second = if text == name {
                text.to_owned()
            } else {
                format!("{text} AS {name}")
            };
            Some((text.to_owned(), second))
        }
        _ => None,
    }
}

/// Keys that are not among the columns have to pass all the same.
fn add_keys(script: &Script, query: &Query, columns: &mut Vec<String>) {
    for key in &query.group_by {
        let text = script.slice(&key.span).to_owned();
        if !columns.contains(&text) {
            columns.push(text);
        }
    }
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
