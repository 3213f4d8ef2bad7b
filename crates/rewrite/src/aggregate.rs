//! Two-level aggregation: first by the keys and a salt, or by the keys and the value of a
//! distinct count, then by the keys.
//!
//! Only aggregates with re-aggregatable results are rewritten; averages and lists are not,
//! because their types or their order would have to be guessed.

use job::script::{Aggregate, Query, Script, Statement, StatementKind};

use super::Rewrite;
use super::clauses::{Clauses, bind};
use super::names::fresh;

/// Groups that a hot key is spread over: enough for the largest share to fall below the mean of
/// a common stage, few enough that the second aggregation stays small.
pub const SALTS: u32 = 32;

/// Aggregates by keys and `salt` first. `salt` is an expression over the rows of the input.
pub fn two_level(script: &Script, statement: &Statement, salt: &str) -> Option<Rewrite> {
    let query = &statement.query;
    let of = Clauses::of(script, statement).filter(|of| is_simple(query) && !of.keys.is_empty())?;
    let salt_name = fresh(script, "Salt", "Key");
    let (salted, partial) = (of.fresh("Salted"), of.fresh("Partial"));
    let (mut first, second) = levels(script, query, None)?;
    first.push(salt_name.clone());
    let keys = of.keys.join(", ");
    let spread = bind(
        &salted,
        &["*", &format!("{salt} AS {salt_name}")],
        &format!("{}{}", of.source, of.filter),
    );
    let grouped = format!("{salted}\n    GROUP BY {keys}, {salt_name}");
    let last = format!("{partial}\n    GROUP BY {keys}{}", of.having);
    let before = spread + &bind(&partial, &first, &grouped);
    Some(of.replaced_by(&before, &bind(of.target, &second, &last)))
}

/// Counts distinct values in two levels: first one row for each key and value, then the counts.
///
/// The first level is spread by the value, even with few or hot keys; without keys it takes
/// most of the work off the last vertex.
pub fn distinct_first(script: &Script, statement: &Statement) -> Option<Rewrite> {
    let query = &statement.query;
    let of = Clauses::of(script, statement).filter(|_| is_simple(query))?;
    let value = distinct_value(query)?;
    let (first, second) = levels(script, query, Some(&value))?;
    let mut keys = of.keys.clone();
    let last = match keys.is_empty() {
        true => String::new(),
        false => format!("\n    GROUP BY {}", keys.join(", ")),
    };
    keys.push(&value);
    let values = of.fresh("Values");
    let grouped = format!(
        "{}{}\n    GROUP BY {}",
        of.source,
        of.filter,
        keys.join(", ")
    );
    let last = format!("{values}{last}{}", of.having);
    let before = bind(&values, &first, &grouped);
    Some(of.replaced_by(&before, &bind(of.target, &second, &last)))
}

/// Whether every aggregate of a grouping can be computed from partial results, like
/// the engine itself can do.
pub fn can_be_split(query: &Query) -> bool {
    let splits = |aggregate: &Aggregate| {
        !aggregate.distinct
            && !aggregate.over
            && matches!(
                aggregate.function.as_str(),
                "COUNT" | "COUNTIF" | "SUM" | "MIN" | "MAX" | "AVG" | "VAR" | "STDEV"
            )
    };
    !query.group_by.is_empty() && query.aggregates.iter().all(splits)
}

/// The only column of all distinct counts, if it is not a key.
fn distinct_value(query: &Query) -> Option<String> {
    let mut distinct = query.aggregates.iter().filter(|a| a.distinct).peekable();
    let first = distinct.peek()?.arguments.first()?.as_column()?;
    let counts = |aggregate: &Aggregate| {
        let argument = aggregate.arguments.first();
        let column = argument.and_then(|argument| argument.as_column());
        aggregate.function == "COUNT" && column.is_some_and(|column| column.name == first.name)
    };
    let all = distinct.all(counts);
    let mut keys = query.group_by.iter().filter_map(|key| key.as_column());
    let is_key = keys.any(|key| key.name == first.name);
    (all && !is_key && first.qualifier.is_none()).then(|| first.name.clone())
}

/// One input and only grouping: the query reads rows only by key.
fn is_simple(query: &Query) -> bool {
    let plain_key = |key: &job::script::Expression| {
        let column = key.as_column();
        column.is_some_and(|column| column.qualifier.is_none())
    };
    let own = |name: &str| {
        query
            .columns
            .iter()
            .any(|c| c.name.as_deref() == Some(name))
    };
    query.kind == StatementKind::Select
        && !query.distinct
        && query.top.is_none()
        && query.order_by.is_empty()
        && !query.aggregates.is_empty()
        && query.group_by.iter().all(plain_key)
        && query.having.iter().all(|conjunct| {
            let expression = &conjunct.expression;
            expression.calls.is_empty() && expression.uses.iter().all(|used| own(&used.name))
        })
}

/// Columns of the first and of the second level. `value` is the column of the distinct
/// counts; it is then a key of the first level.
fn levels(
    script: &Script,
    query: &Query,
    value: Option<&str>,
) -> Option<(Vec<String>, Vec<String>)> {
    let mut first: Vec<String> = value.map(str::to_owned).into_iter().collect();
    let mut second = Vec::new();
    for (position, column) in query.columns.iter().enumerate() {
        let name = column.name.as_deref()?;
        let aggregate = query.aggregates.iter().find(|a| a.column == Some(position));
        let whole = aggregate.filter(|a| a.span == column.expression.span);
        match (value, whole) {
            (Some(value), Some(whole)) if whole.distinct => {
                second.push(format!("COUNT({value}) AS {name}"));
            }
            // a partial result of the same name would hide the value itself
            _ if value == Some(name) => return None,
            _ => {
                let (one, two) = column_pair(script, query, position, name)?;
                first.push(one);
                second.push(two);
            }
        }
    }
    // keys outside the columns have to be passed on as well
    for key in &query.group_by {
        let text = script.slice(&key.span).to_owned();
        if !first.contains(&text) {
            first.push(text);
        }
    }
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
    let is_key = || (query.group_by.iter()).any(|key| script.slice(&key.span) == text);
    match query.aggregates.iter().find(|a| a.column == Some(position)) {
        Some(aggregate) if aggregate.span == expression.span => {
            let second = format!("{}({name}) AS {name}", again(aggregate)?);
            Some((format!("{text} AS {name}"), second))
        }
        None if is_key() && text == name => Some((text.to_owned(), text.to_owned())),
        None if is_key() => Some((text.to_owned(), format!("{text} AS {name}"))),
        _ => None,
    }
}

/// The aggregate that combines partial results of another.
fn again(aggregate: &Aggregate) -> Option<&'static str> {
    match aggregate.function.as_str() {
        _ if aggregate.distinct || aggregate.over => None,
        "COUNT" | "COUNTIF" | "SUM" => Some("SUM"),
        "MIN" => Some("MIN"),
        "MAX" => Some("MAX"),
        _ => None,
    }
}
