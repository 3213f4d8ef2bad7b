//! Mechanisms of wasted work: memory, estimates, joins, user code, parallelism, files.

use super::{Mechanism, Place, Spot};
use crate::cause::Cause;
use crate::data::{Clustering, TableKind};
use crate::plan::{Code, Hint, MemoryLow, NodeId, Op, Spec};
use crate::templates::Template;
use Template::*;

/// CPU a row of code that keeps its rows in lists or allocates much, its collections aside.
const HOARDER_CPU_US: f64 = 9.0;

pub(super) static ALL: &[Mechanism] = &[
    Mechanism::new(
        Cause::HeapPressure,
        "kept_rows",
        &[Sessions, Features],
        |p| {
            let gc = (p.rng.range(0.45, 0.6) * p.size.min(1.2)).min(0.8);
            let heap = p.rng.range(1.5e9, 2.3e9);
            let udo = p.udo()?;
            udo.gc = gc;
            udo.heap = heap;
            udo.cpu_us = udo.cpu_us.max(HOARDER_CPU_US);
            udo.hoards = true;
            Some(Spot::at(p.slots.udo?))
        },
    )
    .cured_by(without_collections),
    Mechanism::new(
        Cause::HeapPressure,
        "short_lived_objects",
        &[Sessions, Features, Union],
        |p| {
            let gc = (p.rng.range(0.36, 0.5) * p.size.min(1.2)).min(0.8);
            let udo = p.udo()?;
            udo.gc = gc;
            udo.cpu_us = udo.cpu_us.max(HOARDER_CPU_US);
            udo.churns = true;
            Some(Spot::at(p.slots.udo?))
        },
    )
    .cured_by(without_collections),
    Mechanism::new(
        Cause::HeapPressure,
        "condition_that_allocates",
        &[EnrichJoin, Chain, Totals],
        |p| {
            let code = Code {
                cpu_us: HOARDER_CPU_US,
                gc: p.rng.range(0.45, 0.6),
                heap: p.rng.range(6e8, 1.4e9),
            };
            condition(p, code)
        },
    )
    .cured_by(without_collections),
    Mechanism::new(Cause::Spill, "little_memory", &[Sessions, SameKey], |p| {
        p.spec.env.sort_memory = 2.2e8 / p.size.max(0.5);
        let (main, also) = (p.main(), p.slots.join.or(p.slots.by_key)?);
        Some(Spot::at(main).or(&[also]))
    }),
    Mechanism::new(
        Cause::Spill,
        "rows_wider_than_believed",
        &[Sessions, SameKey, Features],
        |p| {
            let wide = p.spec.tables[p.slots.fact].columns.last()?.name.clone();
            let factor = p.rng.range(7.0, 12.0) * p.size;
            let column = p.spec.tables[p.slots.fact].column_mut(&wide)?;
            column.width = (column.width * factor).round();
            column.believed_width = 1.0 / factor;
            let main = p.slots.by_key.or(p.slots.again)?;
            read_by(p.spec, p.slots.clean, main, &wide);
            Some(Spot::at(main).or(&[p.main()]))
        },
    )
    .cured_by(|spec| {
        let columns = spec.tables.iter_mut().flat_map(|t| &mut t.columns);
        columns.for_each(|c| c.believed_width = 1.0);
        // The rows that the optimizer expects may still not fit; then a script would request more
        // partitions by hand.
        spec.env.sort_memory = spec.env.sort_memory.max(1e10);
    }),
    Mechanism::new(
        Cause::Spill,
        "sorts_share_the_memory",
        &[SameKey, TwoLevels],
        |p| {
            p.spec.env.shared_memory = true;
            p.spec.env.sort_memory = 4.5e8 / p.size;
            Some(Spot::at(p.main()).or(&[p.slots.join?]))
        },
    ),
    Mechanism::new(
        Cause::EstimateTooLow,
        "every_vertex_once_or_twice",
        &[Sessions, EnrichJoin, SameKey],
        |p| memory_low(p, MemoryLow::Every),
    ),
    Mechanism::new(
        Cause::EstimateTooLow,
        "vertices_with_more_data",
        &[Sessions, EnrichJoin, TwoLevels, Union],
        |p| memory_low(p, MemoryLow::Large),
    ),
    Mechanism::new(
        Cause::EstimateTooLow,
        "every_vertex_three_times",
        &[Sessions, Chain, Distinct],
        |p| memory_low(p, MemoryLow::Thrice),
    ),
    Mechanism::new(
        Cause::Misestimate,
        "understated_input",
        &[Sessions, SameKey],
        understated_input,
    ),
    Mechanism::new(
        Cause::Misestimate,
        "filter_believed_selective",
        &[Sessions, Distinct, TwoLevels],
        |p| {
            let factor = p.rng.range(90.0, 400.0) * p.size;
            let clean = p.slots.clean;
            let Op::Select { filters, .. } = &mut p.spec.nodes[clean].op else {
                return None;
            };
            filters.first_mut()?.believed /= factor;
            for t in p.spec.tables.iter_mut().skip(1) {
                t.believed /= factor;
            }
            Some(Spot::at(p.main()).or(&[clean, 0]).or_writers())
        },
    ),
    Mechanism::new(
        Cause::Misestimate,
        "user_code_multiplies_rows",
        &[Tokens],
        |p| {
            // The optimizer takes a processor to emit one row for each that it reads.
            let process = p.slots.udo?;
            if let Op::Process { believed, .. } = &mut p.spec.nodes[process].op {
                *believed = 1.0 / p.size;
            }
            Some(
                Spot::at(p.main())
                    .or(&[process, p.slots.clean])
                    .or_writers(),
            )
        },
    )
    .in_usql(&[]),
    Mechanism::new(Cause::Explosion, "many_rows_a_key", &[EnrichJoin], |p| {
        let fan = p.rng.range(9.0, 16.0) * p.size;
        explode(p, fan, false)
    }),
    Mechanism::new(
        Cause::Explosion,
        "daily_snapshots",
        &[EnrichJoin, SameKey],
        |p| {
            let fan = p.rng.range(7.0, 12.0) * p.size;
            explode(p, fan, true)
        },
    ),
    Mechanism::new(
        Cause::Explosion,
        "forgotten_condition",
        &[SameKey, TwoLevels, Accounts],
        |p| {
            let fan = p.rng.range(6.0, 12.0) * p.size;
            explode(p, fan, false)
        },
    ),
    Mechanism::new(
        Cause::CpuBound,
        "busy_operator",
        &[Features, Sessions],
        busy,
    ),
    Mechanism::new(
        Cause::CpuBound,
        "costly_condition",
        &[EnrichJoin, Chain, Totals],
        |p| {
            let code = Code {
                cpu_us: p.rng.range(25.0, 45.0) * p.size,
                gc: 0.04,
                heap: 1.2e8,
            };
            condition(p, code)
        },
    ),
    Mechanism::new(
        Cause::CpuBound,
        "busy_operator_after_join_or_union",
        &[Tokens, Union, SameKey, Renamed],
        busy,
    ),
    Mechanism::new(
        Cause::TooLow,
        "few_partitions_or_files",
        &[Sessions, Distinct, EnrichJoin, DailyFiles],
        too_low,
    )
    .in_usql(&[DailyFiles]),
    Mechanism::new(
        Cause::TooLow,
        "few_stored_partitions",
        &[Sessions, Features, Star, Distinct],
        |p| {
            let count = p.rng.whole(2, 4) as u32;
            p.spec.tables[p.slots.fact].clustering = Clustering {
                partitions: count,
                ..Clustering::none()
            };
            Some(Spot::at(p.slots.clean).or(&[0]))
        },
    ),
    Mechanism::new(
        Cause::TooLow,
        "partitions_capped_for_the_job",
        &[Sessions, Distinct, EnrichJoin, TwoLevels, Pairs],
        |p| {
            p.spec.env.max_partitions = p.rng.whole(2, 4) as u32;
            Some(Spot::at(p.main()).or_writers())
        },
    ),
    Mechanism::new(
        Cause::TinyVertices,
        "many_partitions_by_hint",
        &[Sessions, EnrichJoin],
        |p| {
            let count = many(p, 150.0, 900.0, 1600.0);
            let main = p.main();
            p.spec.nodes[main].hints.push(Hint::PartitionCount(count));
            Some(Spot::at(main).or_writers())
        },
    )
    .in_usql(&[]),
    Mechanism::new(
        Cause::TinyVertices,
        "many_stored_partitions",
        &[Sessions, Features, Star, Totals],
        |p| {
            let count = many(p, 260.0, 1200.0, 2400.0);
            p.spec.tables[p.slots.fact].clustering = Clustering {
                partitions: count,
                ..Clustering::none()
            };
            Some(Spot::at(p.slots.clean).or(&[0]))
        },
    ),
    Mechanism::new(
        Cause::TinyVertices,
        "small_partitions_for_the_job",
        &[Sessions, EnrichJoin, TwoLevels, Union],
        |p| {
            let count = many(p, 150.0, 900.0, 1600.0);
            p.spec.env.partition_bytes /= 60.0;
            p.spec.env.max_partitions = count;
            Some(Spot::at(p.main()).or_writers())
        },
    ),
    Mechanism::new(
        Cause::SmallFiles,
        "many_files_in_one_input",
        &[DailyFiles],
        |p| {
            let (table, node) = p.slots.files?;
            p.spec.tables[table].files = many(p, 160.0, 700.0, 1300.0);
            Some(Spot::at(node))
        },
    ),
    Mechanism::new(
        Cause::SmallFiles,
        "many_small_streams",
        &[Sessions, EnrichJoin, Distinct, Totals],
        |p| {
            let files = many(p, 200.0, 800.0, 1500.0);
            let table = &mut p.spec.tables[p.slots.fact];
            if table.kind != TableKind::SStream {
                return None;
            }
            table.files = files;
            table.path = table.path.replace(".ss", "_{*}.ss");
            Some(Spot::at(p.slots.clean).or(&[0]))
        },
    )
    .in_usql(&[]),
    Mechanism::new(
        Cause::SmallFiles,
        "many_files_in_every_input",
        &[DailyFiles],
        |p| {
            let files = many(p, 70.0, 300.0, 600.0);
            p.spec.tables.iter_mut().for_each(|t| t.files = files);
            let reads: Vec<NodeId> = (0..p.spec.tables.len()).collect();
            Some(Spot::at(reads[0]).or(&reads))
        },
    ),
];

/// The same code without its collections: only they are the cause.
fn without_collections(spec: &mut Spec) {
    spec.each_udo(|u| u.gc = u.gc.min(0.04));
    for node in &mut spec.nodes {
        if let Op::Select { filters, .. } = &mut node.op {
            let codes = filters.iter_mut().filter_map(|f| f.code.as_mut());
            codes.for_each(|c| c.gc = c.gc.min(0.04));
        }
    }
}

/// Replaces the C# condition of the job.
fn condition(p: &mut Place<'_>, code: Code) -> Option<Spot> {
    let clean = p.slots.clean;
    let Op::Select { filters, .. } = &mut p.spec.nodes[clean].op else {
        return None;
    };
    filters.iter_mut().find(|f| f.managed)?.code = Some(code);
    Some(Spot::at(clean).or(&[0]))
}

/// Selects a column up to the user code that reads it, or the group that takes its maximum.
fn read_by(spec: &mut Spec, from: NodeId, to: NodeId, name: &str) {
    super::shuffle::carry(spec, from, to, &[name.to_owned()]);
    if let Op::Reduce { udo, .. } | Op::Process { udo, .. } = &mut spec.nodes[to].op {
        udo.reads.push(name.to_owned());
    }
}

fn memory_low(p: &mut Place<'_>, low: MemoryLow) -> Option<Spot> {
    let main = p.main();
    p.spec.env.memory_low = Some((main, low));
    Some(Spot::at(main))
}

/// The plan is made for far fewer rows than there are, by a hint or by statistics.
fn understated_input(p: &mut Place<'_>) -> Option<Spot> {
    let factor = p.rng.range(90.0, 400.0) * p.size;
    let (fact, clean) = (p.slots.fact, p.slots.clean);
    if p.rng.chance(0.5) {
        let rows = (p.spec.tables[fact].rows / factor).round();
        let rows = (rows / 1e4).ceil() * 1e4;
        p.spec.nodes[clean].hints.push(Hint::RowCount(rows));
    } else {
        p.spec.tables[fact].believed /= factor;
    }
    // Both sides of a join are believed to be small, or the larger side alone would decide.
    for t in p.spec.tables.iter_mut().skip(1) {
        t.believed /= factor;
    }
    Some(Spot::at(p.main()).or(&[clean, 0]).or_writers())
}

/// The right side holds several rows per key: the same number as before, or more.
pub(super) fn explode(p: &mut Place<'_>, fan: f64, grown: bool) -> Option<Spot> {
    let join = p.slots.join?;
    if let Op::Join { fan_out, .. } = &mut p.spec.nodes[join].op {
        *fan_out = fan;
    }
    for t in p.spec.tables.iter_mut().skip(1) {
        let rows = t.rows;
        if grown {
            t.rows = (rows * fan).round();
        } else if let Some(c) = t.column_mut(&p.slots.key) {
            c.distinct = (rows / fan).round();
        }
    }
    Some(Spot::at(join))
}

pub(super) fn busy(p: &mut Place<'_>) -> Option<Spot> {
    let cpu = p.rng.range(38.0, 70.0) * p.size;
    let udo = p.udo()?;
    udo.cpu_us = cpu;
    udo.busy = true;
    Some(Spot::at(p.slots.udo?))
}

fn too_low(p: &mut Place<'_>) -> Option<Spot> {
    let Some((table, node)) = p.slots.files else {
        let (count, main) = (p.rng.whole(2, 3) as u32, p.main());
        p.spec.nodes[main].hints.push(Hint::PartitionCount(count));
        return Some(Spot::at(main).or_writers());
    };
    // Compressed files cannot be split: one vertex each.
    let table = &mut p.spec.tables[table];
    table.gzip = true;
    table.files = p.rng.whole(2, 3) as u32;
    table.path = table.path.replace(".tsv", ".tsv.gz");
    Some(Spot::at(node))
}

/// A number of vertices, files or partitions that is far too large.
fn many(p: &mut Place<'_>, small: f64, low: f64, high: f64) -> u32 {
    let count = if p.small() {
        small
    } else {
        p.rng.range(low, high)
    };
    (count * p.size) as u32
}
