//! Near misses of causes in the distribution of rows over vertices and in their exchange.

use super::{NearMiss, as_it_is, filter, near, uneven};
use crate::cause::Cause;
use crate::data::Clustering;
use crate::decoy::Decoy;
use crate::decoy::decoy;
use crate::plan::{Item, Op};
use crate::templates::Template::*;

pub(super) static ALL: &[NearMiss] = &[
    // The job has the hot key, and the join already splits it.
    near(
        Cause::JoinHotKey,
        "hot_key_split_by_hint",
        &[EnrichJoin],
        |s, at, _| decoy(s, at, Decoy::SkewHandled).then_some(()),
    ),
    // A hot key of a broadcast join, which moves no row of the large side.
    near(
        Cause::JoinHotKey,
        "hot_key_of_broadcast_join",
        &[Star, Snowflake],
        |s, at, r| {
            let Op::Join { keys, .. } = s.nodes[at.small_join?].op.clone() else {
                return None;
            };
            let column = s.tables[at.fact].column_mut(&keys.0)?;
            column.heavy = vec![("1000000007".into(), r.range(0.2, 0.4))];
            Some(())
        },
    ),
    // A hot group key, but after partial aggregation every vertex sends one row per key.
    near(
        Cause::GroupHotKey,
        "hot_key_aggregated_before",
        &[Features, DailyFiles],
        |s, at, r| {
            let column = s.tables[at.fact].column_mut(&at.key)?;
            column.heavy.first_mut()?.1 = r.range(0.2, 0.35);
            Some(())
        },
    ),
    near(
        Cause::GroupHotKey,
        "hot_part_of_a_wider_key",
        &[Totals, Uniques],
        |s, at, r| {
            let column = s.tables[at.fact].column_mut(&at.key)?;
            column.heavy.first_mut()?.1 = r.range(0.1, 0.25);
            Some(())
        },
    ),
    // Nulls are frequent in the table and filtered before the exchange.
    near(
        Cause::NullOrDefaultKey,
        "nulls_filtered_before",
        &[EnrichJoin, Sessions],
        |s, at, _| decoy(s, at, Decoy::HotFiltered).then_some(()),
    ),
    // Nulls in a column that is no key.
    near(
        Cause::NullOrDefaultKey,
        "nulls_in_a_value",
        &[Sessions, Distinct, TwoLevels],
        |s, at, r| {
            let column = &mut s.tables[at.fact].columns[3];
            *column = column.clone().with_nulls(r.range(0.3, 0.6));
            Some(())
        },
    ),
    // Few groups, finished in one vertex after partial aggregation: as it should be.
    near(
        Cause::LowCardinalityKey,
        "few_groups",
        &[Star, DailyFiles],
        as_it_is,
    ),
    near(
        Cause::LowCardinalityKey,
        "few_groups_after_join",
        &[Chain, Accounts],
        as_it_is,
    ),
    // Stored partitions differ, but little.
    near(
        Cause::PartitionLayout,
        "slightly_uneven_ranges",
        &[EnrichJoin],
        |s, at, r| uneven(s, at, r, (0.85, 1.1)),
    ),
    near(
        Cause::PartitionLayout,
        "somewhat_uneven_partitions",
        &[Totals, Distinct],
        |s, at, r| {
            uneven(s, at, r, (0.7, 1.2))?;
            let stored = &mut s.tables[at.fact].clustering;
            // Not in any order, so that no other layout is called for.
            (stored.kind, stored.keys) = ("none", Vec::new());
            Some(())
        },
    ),
    // These jobs have no exchange to repartition, broadcast or realign.
    near(
        Cause::RedundantRepartition,
        "second_operator_on_the_key",
        &[SameKey],
        as_it_is,
    ),
    near(
        Cause::RedundantRepartition,
        "next_operator_on_another_key",
        &[Accounts, Chain],
        as_it_is,
    ),
    // Wide columns are selected, but never reach an exchange.
    near(
        Cause::UnusedColumns,
        "wide_columns_dropped_by_compiler",
        &[EnrichJoin, Distinct],
        |s, at, _| {
            let wide: Vec<String> = s.tables[at.fact]
                .columns
                .iter()
                .rev()
                .take(2)
                .map(|c| c.name.clone())
                .collect();
            let Op::Select { items, .. } = &mut s.nodes[at.clean].op else {
                return None;
            };
            items.extend(wide.into_iter().map(|name| Item { name, expr: None }));
            Some(())
        },
    ),
    // The user code reads what it gets.
    near(
        Cause::UnusedColumns,
        "wide_column_that_is_read",
        &[Sessions, Union],
        |s, at, _| {
            let wide = s.tables[at.fact].columns.last()?.name.clone();
            let reader = at.by_key?;
            for node in &mut s.nodes[..reader] {
                if let Op::Select { items, .. } = &mut node.op {
                    items.push(Item {
                        name: wide.clone(),
                        expr: None,
                    });
                }
            }
            if let Op::Reduce { udo, .. } = &mut s.nodes[reader].op {
                udo.reads.push(wide);
            }
            Some(())
        },
    ),
    // The filter after the join needs a column of the other side.
    near(
        Cause::LateFilter,
        "filter_on_the_other_side",
        &[EnrichJoin],
        |s, at, _| {
            let Op::Select { filters, .. } = &mut s.nodes[at.after_join?].op else {
                return None;
            };
            filters.push(filter("Segment != \"Test\"", "Segment", 0.9));
            Some(())
        },
    ),
    // The filter after the aggregation needs its result.
    near(
        Cause::LateFilter,
        "filter_on_an_aggregate",
        &[Totals],
        |s, at, _| {
            let after = at.after_join?;
            let Op::Select { items, filters, .. } = &mut s.nodes[after].op else {
                return None;
            };
            let total = items.last()?.name.clone();
            filters.push(filter(&format!("{total} > 10"), &total, 0.3));
            Some(())
        },
    ),
    near(
        Cause::MissedBroadcast,
        "both_sides_large",
        &[EnrichJoin, SameKey],
        as_it_is,
    ),
    // A side of more than a hundred megabytes, and a large one that is not much larger.
    near(
        Cause::MissedBroadcast,
        "smaller_side_not_small",
        &[EnrichJoin, TwoLevels],
        |s, at, r| {
            let rows = s.tables[at.fact].rows * r.range(0.1, 0.16);
            let table = s.tables.get_mut(1)?;
            table.rows = rows.round();
            s.env.broadcast_bytes = 2e7;
            Some(())
        },
    ),
    // A global order over a few rows.
    near(
        Cause::SerialGather,
        "order_of_few_rows",
        &[Star, DailyFiles],
        |s, at, _| {
            let is_small = |n: &usize| {
                matches!(s.nodes[*n].op, Op::Output { .. }) && Some(*n) != at.large_output
            };
            let small = (0..s.nodes.len()).rev().find(is_small)?;
            let Op::Output {
                order, clustered, ..
            } = &mut s.nodes[small].op
            else {
                return None;
            };
            *clustered = None;
            *order = Some("RowsSeen".into());
            Some(())
        },
    ),
    // A total over partial totals.
    near(
        Cause::SerialGather,
        "total_of_partial_totals",
        &[Uniques],
        as_it_is,
    ),
    near(
        Cause::UnalignedInput,
        "both_stored_on_the_key",
        &[Paired],
        as_it_is,
    ),
    // Stored on another key, and broadcast anyway.
    near(
        Cause::UnalignedInput,
        "small_side_on_another_key",
        &[Star, Snowflake],
        |s, _, _| {
            s.tables.get_mut(1)?.clustering = Clustering::hash("Title", 1);
            Some(())
        },
    ),
];
