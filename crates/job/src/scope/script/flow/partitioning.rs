//! How operators need their inputs spread, and how they leave their output.
//!
//! What the optimizer would choose is not known; only what the keys of the script imply.
//! User-defined operators may change the keys, so nothing is said about what they leave.

use super::{Partitioning, PartitioningKind};
use crate::script::model::{
    Aggregate, Expression, Join, JoinKind, OrderItem, Query, RowsetRef, RowsetSource, Statement,
    StatementKind,
};

type LeftBy<'a> = dyn Fn(usize) -> Option<Partitioning> + 'a;

/// Needs, one entry per input, and what the statement leaves behind.
pub(super) fn of_statement(
    statement: &Statement,
    left_by: &LeftBy<'_>,
) -> (Vec<Partitioning>, Partitioning) {
    if let Some(output) = &statement.output {
        let clustered: Vec<_> = names(&output.clustered_by);
        let need = match (clustered.is_empty(), output.sorted_by.is_empty()) {
            (false, _) => keyed(clustered),
            // A sorted text file is written by one vertex.
            (true, false) if !output.sstream => single(),
            _ => Partitioning::default(),
        };
        return (vec![need.clone()], need);
    }
    of_query(&statement.query, left_by)
}

fn of_query(query: &Query, left_by: &LeftBy<'_>) -> (Vec<Partitioning>, Partitioning) {
    match query.kind {
        StatementKind::Select => of_select(query, left_by),
        StatementKind::Reduce => {
            let keys: Vec<_> = query.on.iter().map(|key| key.name.clone()).collect();
            let need = if query.all || keys.is_empty() {
                single()
            } else {
                keyed(keys)
            };
            (vec![need], Partitioning::default())
        }
        StatementKind::Combine => (join_needs(query), Partitioning::default()),
        StatementKind::Rowset => {
            let left = query.inputs.first().map(|input| of_input(input, left_by));
            (vec![Partitioning::default()], left.unwrap_or_default())
        }
        _ => (
            vec![Partitioning::default(); query.inputs.len()],
            Partitioning::default(),
        ),
    }
}

fn of_select(query: &Query, left_by: &LeftBy<'_>) -> (Vec<Partitioning>, Partitioning) {
    let aggregated = query.aggregates.iter().any(|aggregate| !aggregate.over);
    let mut needs = join_needs(query);
    let alone = query.joins.is_empty() && needs.len() == 1;
    let grouped: Option<Vec<String>> = query.group_by.iter().map(column_name).collect();
    let before = match query.joins.first() {
        Some(join) => after_join(query, join, left_by),
        None => match query.inputs.as_slice() {
            [input] => of_input(input, left_by),
            _ => Partitioning::default(),
        },
    };
    let after = if !query.group_by.is_empty() {
        let need = grouped.map_or_else(Partitioning::default, keyed);
        if alone {
            needs[0] = need.clone();
        }
        need
    } else if aggregated || !query.order_by.is_empty() {
        if alone {
            needs[0] = single();
        }
        single()
    } else if let Some(keys) = window_keys(query) {
        let need = keyed(keys);
        if alone {
            needs[0] = need.clone();
        }
        need
    } else {
        before
    };
    (needs, renamed(query, after))
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

fn join_needs(query: &Query) -> Vec<Partitioning> {
    let mut needs = vec![Partitioning::default(); query.inputs.len()];
    for join in query.joins.iter().filter(|join| !is_broadcast(join)) {
        if join.keys.is_empty() {
            continue;
        }
        let side = |left: bool| {
            let names = join
                .keys
                .iter()
                .map(|(a, b)| if left { &a.name } else { &b.name });
            keyed(names.cloned().collect())
        };
        if let Some(need) = needs.get_mut(join.left) {
            *need = side(true);
        }
        if let Some(need) = needs.get_mut(join.right) {
            *need = side(false);
        }
    }
    needs
}

fn is_broadcast(join: &Join) -> bool {
    join.strategy
        .iter()
        .any(|word| word.starts_with("BROADCAST") || word == "FULLCROSS")
}

fn after_join(query: &Query, join: &Join, left_by: &LeftBy<'_>) -> Partitioning {
    if is_broadcast(join) || join.keys.is_empty() {
        let left = query.inputs.get(join.left);
        return left
            .map(|input| of_input(input, left_by))
            .unwrap_or_default();
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
        (RowsetSource::Query(inner), _) => of_query(inner, left_by).1,
        (_, Some(definition)) => left_by(definition).unwrap_or_default(),
        _ => Partitioning::default(),
    }
}

/// The partitioning in the names of the output; lost if a key is not among the columns.
fn renamed(query: &Query, before: Partitioning) -> Partitioning {
    let name = |key: &String| {
        let column = query.columns.iter().find(|column| {
            column.is_star()
                || column
                    .expression
                    .as_column()
                    .is_some_and(|used| used.name == *key)
        })?;
        if column.is_star() {
            Some(key.clone())
        } else {
            column.name.clone()
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

fn names(items: &[OrderItem]) -> Vec<String> {
    items
        .iter()
        .filter_map(|item| column_name(&item.expression))
        .collect()
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
