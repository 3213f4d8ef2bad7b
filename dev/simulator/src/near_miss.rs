//! Jobs that resemble a cause and must not be reported. Rules were tuned on the first near miss of each cause.

use crate::cause::Cause;
use crate::compile::compile;
use crate::data::{Clustering, TableKind};
use crate::decoy::{Decoy, decoy};
use crate::plan::{Dialect, Ending, Fails, Filter, Hint, Item, JoinKind, Op, Place, Slow, Spec};
use crate::request::Mechanisms;
use crate::rng::Rng;
use crate::templates::{Slots, Template};
use Template::*;

/// A way to resemble a cause.
pub(crate) struct NearMiss {
    pub(crate) cause: Cause,
    /// Unique name.
    pub(crate) name: &'static str,
    /// Jobs that can have it.
    pub(crate) templates: &'static [Template],
    apply: fn(&mut Spec, &Slots, &mut Rng) -> Option<()>,
}

impl NearMiss {
    /// Makes the job resemble the cause; `None` if it has no place for it.
    pub(crate) fn apply(&self, spec: &mut Spec, slots: &Slots) -> Option<()> {
        let mut rng = Rng::new(spec.seed ^ 0x9ea2);
        (self.apply)(spec, slots, &mut rng)
    }
}

/// Near misses of a cause that a request allows.
pub(crate) fn allowed(cause: Cause, mechanisms: &Mechanisms) -> Vec<&'static NearMiss> {
    let of_cause = ALL.iter().filter(|n| n.cause == cause).enumerate();
    let allowed = of_cause.filter(|(i, n)| mechanisms.allow(n.name, *i == 0));
    allowed.map(|(_, n)| n).collect()
}

const fn near(
    cause: Cause,
    name: &'static str,
    templates: &'static [Template],
    apply: fn(&mut Spec, &Slots, &mut Rng) -> Option<()>,
) -> NearMiss {
    NearMiss {
        cause,
        name,
        templates,
        apply,
    }
}

/// Needs no change of the job.
fn as_it_is(_: &mut Spec, _: &Slots, _: &mut Rng) -> Option<()> {
    Some(())
}

/// Every near miss; near misses of one cause are neighbors.
pub(crate) static ALL: &[NearMiss] = &[
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
    // A large heap that is hardly collected.
    near(
        Cause::HeapPressure,
        "large_heap",
        &[Sessions, Features],
        |s, at, r| {
            let (Op::Reduce { udo, .. } | Op::Process { udo, .. }) = &mut s.nodes[at.udo?].op
            else {
                return None;
            };
            udo.heap = r.range(1.2e9, 1.6e9);
            udo.gc = r.range(0.05, 0.08);
            Some(())
        },
    ),
    // Collections take a tenth of the time of code that takes little.
    near(
        Cause::HeapPressure,
        "some_collections",
        &[Union, Renamed, SameKey],
        |s, at, r| {
            let (Op::Reduce { udo, .. } | Op::Process { udo, .. }) = &mut s.nodes[at.udo?].op
            else {
                return None;
            };
            udo.gc = r.range(0.08, 0.12);
            Some(())
        },
    ),
    // Memory is nearly full, without a spill.
    near(
        Cause::Spill,
        "memory_nearly_full",
        &[Sessions, SameKey],
        |s, _, _| memory(s, 1.01),
    ),
    near(
        Cause::Spill,
        "largest_vertex_spills",
        &[Distinct, Accounts, TwoLevels],
        |s, _, _| memory(s, 0.97),
    ),
    near(
        Cause::EstimateTooLow,
        "few_retries_of_reducers",
        &[Sessions, SameKey],
        |s, at, _| decoy(s, at, Decoy::FewRetries).then_some(()),
    ),
    near(
        Cause::EstimateTooLow,
        "few_crashes",
        &[Chain, Union],
        |s, _, r| failing(s, r, Ending::Crash),
    ),
    // The estimate is off, and the partitions are given by hand.
    near(
        Cause::Misestimate,
        "wrong_estimate_right_partitions",
        &[Sessions, SameKey],
        |s, at, _| {
            let main = at.by_key.or(at.join)?;
            let physical = compile(s);
            let count = physical.stages[physical.stage_of(main)?].vertices as u32;
            s.nodes[main].hints.push(Hint::PartitionCount(count));
            s.tables[at.fact].believed /= 12.0;
            (s.dialect == Dialect::Scope).then_some(())
        },
    ),
    // A small table is estimated a hundred times too small, and broadcast as it should be.
    near(
        Cause::Misestimate,
        "wrong_estimate_of_a_small_table",
        &[Star, Snowflake],
        |s, _, r| {
            s.tables.get_mut(1)?.believed /= r.range(50.0, 200.0);
            Some(())
        },
    ),
    near(
        Cause::Explosion,
        "slightly_more_rows",
        &[EnrichJoin],
        |s, at, _| fan(s, at, 1.25),
    ),
    // User code that emits several rows for each is no join.
    near(
        Cause::Explosion,
        "user_code_emits_more_rows",
        &[Tokens],
        as_it_is,
    ),
    near(
        Cause::CpuBound,
        "code_that_never_runs",
        &[Sessions, Features],
        scary,
    ),
    // Code of ordinary cost takes much of a balanced stage that has little else to do.
    near(
        Cause::CpuBound,
        "ordinary_code",
        &[Renamed, Union],
        |s, _, r| {
            let cpu = r.range(1.6, 2.4);
            s.each_udo(|u| u.cpu_us = cpu);
            Some(())
        },
    ),
    // Few partitions, because there is little data.
    near(
        Cause::TooLow,
        "little_data",
        &[Distinct, Features],
        |s, at, _| {
            s.tables[at.fact].rows = (s.tables[at.fact].rows * 0.2).round();
            Some(())
        },
    ),
    // Few tokens, though enough vertices.
    near(
        Cause::TooLow,
        "few_tokens",
        &[Totals, Pairs, Chain],
        |s, _, r| {
            s.env.tokens = r.whole(4, 6) as u32;
            Some(())
        },
    ),
    near(
        Cause::TinyVertices,
        "small_last_stage",
        &[Star, DailyFiles],
        as_it_is,
    ),
    // Many vertices with enough to do.
    near(
        Cause::TinyVertices,
        "many_full_vertices",
        &[EnrichJoin, Totals],
        |s, _, _| {
            s.env.split_bytes *= 0.6;
            s.env.max_partitions *= 2;
            Some(())
        },
    ),
    near(
        Cause::SmallFiles,
        "a_few_more_files",
        &[DailyFiles],
        |s, at, _| {
            s.tables[at.files?.0].files += 6;
            Some(())
        },
    ),
    // As many files as a split would give vertices.
    near(
        Cause::SmallFiles,
        "files_of_split_size",
        &[Sessions, Totals],
        |s, at, _| {
            let split = s.env.split_bytes;
            let table = &mut s.tables[at.fact];
            table.files = (table.bytes() / split * 1.3).ceil() as u32;
            (table.kind == TableKind::SStream).then_some(())
        },
    ),
    near(
        Cause::VertexRetries,
        "few_retries",
        &[Star, EnrichJoin],
        |s, at, _| decoy(s, at, Decoy::FewRetries).then_some(()),
    ),
    near(
        Cause::VertexRetries,
        "few_preemptions",
        &[Chain, Distinct],
        |s, _, r| failing(s, r, Ending::Revoked),
    ),
    // One vertex is somewhat slow, and not alone on the critical path.
    near(
        Cause::SlowMachine,
        "slightly_slow_vertex",
        &[Star, EnrichJoin],
        |s, at, _| {
            let place = Place::Vertices(at.clean, 1);
            s.env.slow = Some(Slow {
                place,
                cpu: 1.35,
                wait: 1.35,
            });
            Some(())
        },
    ),
    near(
        Cause::SlowMachine,
        "slightly_slow_machines",
        &[Chain, Totals],
        |s, _, _| {
            s.env.slow = Some(Slow {
                place: Place::Machines(6),
                cpu: 1.3,
                wait: 1.3,
            });
            Some(())
        },
    ),
    near(
        Cause::UserCode,
        "suspicious_code_that_never_runs",
        &[Sessions, Features],
        scary,
    ),
    near(
        Cause::UserCode,
        "null_keys_that_code_expects",
        &[Union, Renamed],
        scary,
    ),
    near(Cause::Compile, "compiles", &[Star, Distinct], as_it_is),
    near(
        Cause::Compile,
        "compiles_with_many_joins",
        &[Chain, Snowflake],
        as_it_is,
    ),
    // A long vertex that stays below the limit.
    near(Cause::Limit, "below_the_limit", &[Sessions], as_it_is),
    near(
        Cause::Limit,
        "outer_join_below_the_limit",
        &[Accounts, TwoLevels],
        |s, at, _| {
            let Op::Join { kind, .. } = &mut s.nodes[at.join?].op else {
                return None;
            };
            *kind = JoinKind::LeftOuter;
            fan(s, at, 1.2)
        },
    ),
    near(
        Cause::QueueWait,
        "short_queue",
        &[Star, Distinct],
        |s, _, r| {
            s.env.queue_s = r.range(8.0, 12.0);
            Some(())
        },
    ),
    // Capacity is gone for a moment.
    near(
        Cause::QueueWait,
        "short_loss_of_capacity",
        &[Chain, Totals],
        |s, _, r| {
            let run = crate::trial::elapsed(s);
            let from = run * r.range(0.2, 0.6);
            s.env.grants = vec![(from, 0), (from + run * 0.012, s.env.tokens)];
            Some(())
        },
    ),
];

fn filter(text: &str, uses: &str, keeps: f64) -> Filter {
    Filter {
        text: text.to_owned(),
        uses: vec![uses.to_owned()],
        keeps,
        believed: keeps,
        ..Filter::default()
    }
}

fn uneven(s: &mut Spec, at: &Slots, r: &mut Rng, range: (f64, f64)) -> Option<()> {
    let split = s.env.split_bytes;
    let t = &mut s.tables[at.fact];
    let n = ((t.bytes() / split).ceil() as usize).max(6);
    let weights = (0..n).map(|_| r.range(range.0, range.1)).collect();
    t.clustering = Clustering {
        kind: "range",
        keys: vec!["EventTime".into()],
        partitions: n as u32,
        weights,
    };
    Some(())
}

/// Sets the memory to a factor of the largest vertex's need.
fn memory(s: &mut Spec, factor: f64) -> Option<()> {
    let physical = compile(s);
    let ops = physical.live().flat_map(|(_, s)| &s.ops);
    let held = ops.flat_map(|o| o.held.clone()).fold(0.0, f64::max);
    s.env.sort_memory = held * factor;
    Some(())
}

/// Two attempts in a hundred fail.
fn failing(s: &mut Spec, r: &mut Rng, ending: Ending) -> Option<()> {
    s.env.fails = Some(Fails {
        place: Place::Anywhere,
        rate: r.range(0.015, 0.025),
        ending,
    });
    Some(())
}

fn scary(s: &mut Spec, at: &Slots, _: &mut Rng) -> Option<()> {
    decoy(s, at, Decoy::ScaryCode).then_some(())
}

fn fan(s: &mut Spec, at: &Slots, rows: f64) -> Option<()> {
    let Op::Join { fan_out, .. } = &mut s.nodes[at.join?].op else {
        return None;
    };
    *fan_out = rows;
    Some(())
}
