//! Partitioning of the output of operators.
//!
//! The optimizer's choice is unknown; the result covers only the partitioning that the script's keys
//! imply. User-defined operators may change the keys, so their output counts as unknown.

use super::{Partitioning, PartitioningKind};
use crate::script::model::{
    Aggregate, Expression, Join, JoinKind, OutputColumn, Query, RowsetRef, RowsetSource, Statement,
    StatementKind,
};

type LeftBy<'a> = dyn Fn(usize) -> Option<Partitioning> + 'a;

/// Partitioning of a statement's output.
pub(super) fn of_statement(statement: &Statement, left_by: &LeftBy<'_>) -> Partitioning {
    let Some(output) = &statement.output else {
        return of_query(&statement.query, left_by);
    };
    let clustered = output.clustered_by.iter();
    let clustered: Vec<_> = clustered
        .filter_map(|key| column_name(&key.expression))
        .collect();
    match (clustered.is_empty(), output.sorted_by.is_empty()) {
        (false, _) => keyed(clustered),
        // A sorted text file is written by one vertex.
        (true, false) if !output.sstream => single(),
        _ => Partitioning::default(),
    }
}

fn of_query(query: &Query, left_by: &LeftBy<'_>) -> Partitioning {
    match (query.kind, query.inputs.first()) {
        (StatementKind::Select, _) => renamed(query, of_select(query, left_by)),
        (StatementKind::Rowset, Some(input)) => of_input(input, left_by),
        _ => Partitioning::default(),
    }
}

fn of_select(query: &Query, left_by: &LeftBy<'_>) -> Partitioning {
    let aggregated = query.aggregates.iter().any(|aggregate| !aggregate.over);
    if !query.group_by.is_empty() {
        let keys: Option<Vec<String>> = query.group_by.iter().map(column_name).collect();
        keys.map_or_else(Partitioning::default, keyed)
    } else if aggregated || !query.order_by.is_empty() {
        single()
    } else if let Some(keys) = window_keys(query) {
        keyed(keys)
    } else {
        match (query.joins.first(), query.inputs.as_slice()) {
            (Some(join), _) => after_join(query, join, left_by),
            (None, [input]) => of_input(input, left_by),
            _ => Partitioning::default(),
        }
    }
}

/// Keys of the windows, if they all have the same.
fn window_keys(query: &Query) -> Option<Vec<String>> {
    let mut windows = query.aggregates.iter().filter(|aggregate| aggregate.over);
    let names = |aggregate: &Aggregate| -> Option<Vec<String>> {
        aggregate.partition_by.iter().map(column_name).collect()
    };
    let first = names(windows.next()?).filter(|keys| !keys.is_empty())?;
    windows
        .all(|window| names(window).as_ref() == Some(&first))
        .then_some(first)
}

fn is_broadcast(join: &Join) -> bool {
    let mut words = join.strategy.iter();
    words.any(|word| word.starts_with("BROADCAST") || word == "FULLCROSS")
}

fn after_join(query: &Query, join: &Join, left_by: &LeftBy<'_>) -> Partitioning {
    if is_broadcast(join) || join.keys.is_empty() {
        let left = query.inputs.get(join.left);
        return left.map_or_else(Partitioning::default, |input| of_input(input, left_by));
    }
    let keys = join.keys.iter();
    match join.kind {
        JoinKind::FullOuter | JoinKind::Cross => Partitioning::default(),
        JoinKind::RightOuter | JoinKind::RightSemi | JoinKind::RightAntiSemi => {
            keyed(keys.map(|(_, right)| right.name.clone()).collect())
        }
        _ => keyed(keys.map(|(left, _)| left.name.clone()).collect()),
    }
}

fn of_input(input: &RowsetRef, left_by: &LeftBy<'_>) -> Partitioning {
    match (&input.source, input.definition) {
        (RowsetSource::Query(inner), _) => of_query(inner, left_by),
        (_, Some(definition)) => left_by(definition).unwrap_or_default(),
        _ => Partitioning::default(),
    }
}

/// The partitioning in the names of the output; lost if a key is not among the columns.
fn renamed(query: &Query, before: Partitioning) -> Partitioning {
    let name = |key: &String| {
        let same = |column: &OutputColumn| match column.expression.as_column() {
            _ if column.is_star() => true,
            used => used.is_some_and(|used| used.name == *key),
        };
        let column = query.columns.iter().find(|column| same(column))?;
        match column.is_star() {
            true => Some(key.clone()),
            false => column.name.clone(),
        }
    };
    let keys: Option<Vec<String>> = before.keys.iter().map(name).collect();
    match keys {
        Some(keys) => Partitioning { keys, ..before },
        None => Partitioning::default(),
    }
}

fn column_name(expression: &Expression) -> Option<String> {
    expression.as_column().map(|column| column.name.clone())
}

fn keyed(keys: Vec<String>) -> Partitioning {
    Partitioning {
        kind: PartitioningKind::Keys,
        keys,
    }
}

fn single() -> Partitioning {
    Partitioning {
        kind: PartitioningKind::Single,
        keys: Vec::new(),
    }
}
