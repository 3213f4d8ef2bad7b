//! Mechanisms of too much data on the wire.

use super::{Mechanism, Place, Spot};
use crate::cause::Cause;
use crate::data::Clustering;
use crate::plan::{Dialect, Hint, Item, NodeId, Op, Spec};
use crate::templates::Template;
use Template::*;

pub(super) static ALL: &[Mechanism] = &[
    Mechanism::new(
        Cause::RedundantRepartition,
        "required_count",
        &[SameKey],
        repartition,
    )
    .in_usql(&[]),
    Mechanism::new(
        Cause::RedundantRepartition,
        "required_after_rename",
        &[Renamed],
        repartition,
    )
    .in_usql(&[]),
    Mechanism::new(
        Cause::RedundantRepartition,
        "required_on_more_keys",
        &[TwoLevels],
        repartition,
    )
    .in_usql(&[]),
    Mechanism::new(
        Cause::UnusedColumns,
        "wide_columns_to_reducer",
        &[Sessions],
        |p| {
            let wide = wide_columns(p.spec, p.slots.fact);
            carry(p.spec, p.slots.clean, p.slots.clean, &wide);
            Some(Spot::at(p.slots.by_key?).or(&[p.slots.clean]).or_writers())
        },
    ),
    Mechanism::new(
        Cause::UnusedColumns,
        "wide_columns_through_join",
        &[SameKey, Renamed],
        |p| {
            let (join, reader) = (p.slots.join?, p.slots.again?);
            let wide = wide_columns(p.spec, p.slots.fact);
            carry(p.spec, p.slots.clean, reader, &wide[..1]);
            carry(p.spec, p.slots.right?, reader, &["Profile".to_owned()]);
            Some(Spot::at(reader).or(&[join, p.slots.clean]).or_writers())
        },
    ),
    Mechanism::new(
        Cause::UnusedColumns,
        "wide_columns_through_union",
        &[Union],
        |p| {
            let reader = p.slots.by_key?;
            for node in 0..reader {
                if matches!(p.spec.nodes[node].op, Op::Select { .. }) {
                    let wide = wide_columns(p.spec, 0);
                    carry(p.spec, node, node, &wide);
                }
            }
            Some(Spot::at(reader).or(&[p.slots.clean]).or_writers())
        },
    ),
    Mechanism::new(Cause::LateFilter, "filter_after_join", &[EnrichJoin], |p| {
        let (to, join) = (p.slots.after_join?, p.slots.join?);
        move_filter(p.spec, p.slots.clean, to);
        Some(Spot::at(to).or(&[join]).or_writers())
    }),
    Mechanism::new(
        Cause::LateFilter,
        "filter_after_aggregation",
        &[Totals],
        |p| {
            let to = p.slots.after_join?;
            let before = p.spec.inputs(to);
            move_filter(p.spec, p.slots.clean, to);
            Some(Spot::at(to).or(&before).or_writers())
        },
    ),
    Mechanism::new(Cause::LateFilter, "filter_after_two_joins", &[Chain], |p| {
        let (to, join, small) = (p.slots.after_join?, p.slots.join?, p.slots.small_join?);
        move_filter(p.spec, p.slots.clean, to);
        Some(Spot::at(to).or(&[join, small]).or_writers())
    }),
    Mechanism::new(
        Cause::MissedBroadcast,
        "overstated_row_count",
        &[Star],
        |p| {
            let join = p.slots.small_join?;
            if p.rng.chance(0.35) && p.spec.dialect == Dialect::Usql {
                p.spec.nodes[join].hints.push(Hint::Pair);
            } else {
                overstate(p)?;
            }
            Some(Spot::at(join).or(&[p.slots.right?]).or_writers())
        },
    ),
    Mechanism::new(
        Cause::MissedBroadcast,
        "broadcast_join_follows",
        &[Snowflake],
        |p| {
            overstate(p)?;
            Some(
                Spot::at(p.slots.small_join?)
                    .or(&[p.slots.right?])
                    .or_writers(),
            )
        },
    ),
    Mechanism::new(
        Cause::MissedBroadcast,
        "large_join_follows",
        &[Chain],
        |p| {
            overstate(p)?;
            Some(
                Spot::at(p.slots.small_join?)
                    .or(&[p.slots.right?])
                    .or_writers(),
            )
        },
    ),
    Mechanism::new(
        Cause::MissedBroadcast,
        "statistics_from_before_a_cleanup",
        &[Star, Snowflake, Chain],
        |p| {
            // The table had many more rows when its statistics were made.
            let factor = p.rng.range(8e6, 2e7);
            let table = p.spec.tables.get_mut(1)?;
            table.believed = factor / table.rows;
            Some(
                Spot::at(p.slots.small_join?)
                    .or(&[p.slots.right?])
                    .or_writers(),
            )
        },
    ),
    Mechanism::new(
        Cause::SerialGather,
        "global_order",
        &[Sessions, Features, Star],
        |p| {
            let out = p.slots.large_output?;
            let input = p.spec.inputs(out).first().copied().unwrap_or_default();
            if let Op::Output { order, .. } = &mut p.spec.nodes[out].op {
                *order = Some(p.slots.order_key.clone());
            }
            Some(Spot::at(out).or(&[input]).or_writers())
        },
    ),
    Mechanism::new(
        Cause::SerialGather,
        "serial_reduce",
        &[Sessions, SameKey, Union],
        |p| {
            let reduce = p.slots.by_key.or(p.slots.again)?;
            p.spec.nodes[reduce].hints.push(Hint::Serial);
            Some(Spot::at(reduce).or_writers())
        },
    )
    .in_usql(&[]),
    Mechanism::new(
        Cause::SerialGather,
        "global_distinct_count",
        &[Uniques],
        |p| {
            let key = p.slots.key.clone();
            let all = p.slots.by_key?;
            let Op::Group { input, aggs, .. } = &mut p.spec.nodes[all].op else {
                return None;
            };
            *input = p.slots.clean;
            *aggs = vec![("COUNTD", key.clone(), format!("Distinct{key}"))];
            Some(Spot::at(all).or_writers())
        },
    ),
    Mechanism::new(
        Cause::UnalignedInput,
        "both_stored_on_other_keys",
        &[Paired],
        |p| {
            store(p, p.slots.fact, Clustering::hash("RecordId", 0))?;
            store(p, p.slots.second?, Clustering::hash("CreatedOn", 0))?;
            unaligned_spot(p)
        },
    ),
    Mechanism::new(
        Cause::UnalignedInput,
        "larger_stored_on_another_key",
        &[Paired],
        |p| {
            store(p, p.slots.fact, Clustering::hash("RecordId", 0))?;
            unaligned_spot(p)
        },
    ),
    Mechanism::new(
        Cause::UnalignedInput,
        "both_stored_by_time",
        &[Paired],
        |p| {
            for (table, key) in [(p.slots.fact, "EventTime"), (p.slots.second?, "CreatedOn")] {
                let range = Clustering {
                    kind: "range",
                    ..Clustering::hash(key, 0)
                };
                store(p, table, range)?;
            }
            unaligned_spot(p)
        },
    ),
];

/// An exchange on keys that already partition the rows.
fn repartition(p: &mut Place<'_>) -> Option<Spot> {
    let count = p.rng.whole(3, 8) as u32 * 5;
    let node = p.slots.again?;
    p.spec.nodes[node].hints.push(Hint::Repartition(count));
    Some(Spot::at(node).or(&[p.slots.join?]).or_writers())
}

/// The hint on the small side claims millions of rows.
fn overstate(p: &mut Place<'_>) -> Option<()> {
    let rows = (p.rng.range(6.0, 20.0) * 1e6).round();
    let hint = Hint::RowCount((rows / 1e5).round() * 1e5);
    p.spec.nodes[p.slots.right?].hints.push(hint);
    Some(())
}

/// Stores a table otherwise, in as many partitions as before.
fn store(p: &mut Place<'_>, table: usize, clustering: Clustering) -> Option<()> {
    let table = p.spec.tables.get_mut(table)?;
    table.clustering = Clustering {
        partitions: table.clustering.partitions,
        ..clustering
    };
    Some(())
}

fn unaligned_spot(p: &Place<'_>) -> Option<Spot> {
    let also = [p.slots.clean, p.slots.right?, 0, 2];
    Some(Spot::at(p.slots.join?).or(&also).or_writers())
}

/// The two widest columns of a table of events.
fn wide_columns(spec: &Spec, table: usize) -> Vec<String> {
    let columns = spec.tables[table].columns.iter().rev();
    columns.take(2).map(|c| c.name.clone()).collect()
}

/// Selects columns at a statement and at the later statements that read them, up to `to`.
pub(super) fn carry(spec: &mut Spec, from: NodeId, to: NodeId, names: &[String]) {
    let mut with = vec![from];
    for node in from..=to {
        let inputs = spec.inputs(node);
        if node != from && !inputs.iter().any(|i| with.contains(i)) {
            continue;
        }
        match &mut spec.nodes[node].op {
            Op::Select { items, .. } => {
                let missing = names
                    .iter()
                    .filter(|n| !items.iter().any(|i| i.name == **n));
                let missing: Vec<Item> = missing
                    .map(|n| Item {
                        name: n.clone(),
                        expr: None,
                    })
                    .collect();
                items.extend(missing);
            }
            Op::Join { items, right, .. } => {
                let of_right = with.contains(right);
                let missing = names.iter().filter(|n| !items.iter().any(|i| i.1 == **n));
                let missing: Vec<_> = missing.map(|n| (of_right, n.clone())).collect();
                items.extend(missing);
            }
            _ => continue,
        }
        with.push(node);
    }
}

/// A filter runs after an exchange although it only needs columns from before it.
fn move_filter(spec: &mut Spec, from: NodeId, to: NodeId) {
    let mut moved = Vec::new();
    if let Op::Select { filters, .. } = &mut spec.nodes[from].op {
        moved = filters.split_off(1);
    }
    let uses: Vec<String> = moved.iter().flat_map(|f| f.uses.clone()).collect();
    carry(spec, from, to.saturating_sub(1), &uses);
    if let Op::Select { filters, .. } = &mut spec.nodes[to].op {
        filters.extend(moved);
    }
}
