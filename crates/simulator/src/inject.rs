//! Puts a cause into a healthy job, and remembers where.
//!
//! A cause changes the plan, the data or the cluster, never the times: what it costs comes out of the same model that
//! runs the job without it.

use crate::cause::Cause;
use crate::data::Clustering;
use crate::plan::{Dialect, Hint, JoinKind, NodeId, Op, Spec};
use crate::rng::Rng;
use crate::templates::{Slots, Template};
use crate::words::DEFAULTS;

/// Where a cause is.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) cause: Cause,
    /// The statement whose stage suffers; `None`: the whole job.
    pub(crate) node: Option<NodeId>,
    /// Statements that are right as well.
    pub(crate) also: Vec<NodeId>,
    /// Stages that write the exchange are right as well.
    pub(crate) writers: bool,
}

/// Templates that can show a cause.
pub(crate) fn templates(cause: Cause) -> &'static [Template] {
    use Template::*;
    match cause {
        Cause::JoinHotKey => &[EnrichJoin, SameKey],
        Cause::GroupHotKey => &[Sessions, Distinct],
        Cause::NullOrDefaultKey => &[Sessions, EnrichJoin],
        Cause::LowCardinalityKey => &[Sessions, Distinct],
        Cause::PartitionLayout => &[Star, Features, Sessions],
        Cause::RedundantRepartition => &[SameKey],
        Cause::UnusedColumns => &[Sessions],
        Cause::LateFilter => &[EnrichJoin],
        Cause::MissedBroadcast => &[Star],
        Cause::SerialGather => &[Sessions, Features, Star],
        Cause::UnalignedInput => &[Paired],
        Cause::HeapPressure => &[Sessions, Features],
        Cause::Spill => &[Sessions, SameKey],
        Cause::EstimateTooLow => &[Sessions, EnrichJoin, SameKey],
        Cause::Misestimate => &[Sessions, SameKey],
        Cause::Explosion => &[EnrichJoin],
        Cause::CpuBound => &[Features, Sessions],
        Cause::TooLow => &[Sessions, Distinct, EnrichJoin, DailyFiles],
        Cause::TinyVertices => &[Sessions, EnrichJoin],
        Cause::SmallFiles => &[DailyFiles],
        Cause::VertexRetries => &[EnrichJoin, Sessions, Star],
        Cause::SlowMachine => &[Sessions, Features, Star],
        Cause::UserCode => &[Sessions, Features],
        Cause::Compile => &[EnrichJoin, Sessions, Star],
        Cause::Limit => &[Sessions, EnrichJoin],
        Cause::QueueWait => &[Paired, Star, Distinct, DailyFiles],
    }
}

/// Whether a cause can be written in a dialect (U-SQL has no PARTITION hints).
pub(crate) fn fits(cause: Cause, dialect: Dialect, template: Template) -> bool {
    dialect == Dialect::Scope
        || match cause {
            Cause::RedundantRepartition | Cause::TinyVertices => false,
            Cause::TooLow => template == Template::DailyFiles,
            _ => true,
        }
}

fn at(slot: Option<NodeId>) -> NodeId {
    slot.unwrap_or_default()
}

/// Puts `cause` into the job.
pub(crate) fn inject(spec: &mut Spec, slots: &Slots, cause: Cause, size: f64) -> Site {
    let mut rng = Rng::new(spec.seed ^ crate::rng::hash_text(11, cause.code()));
    let site = |node: NodeId, also: &[NodeId], writers: bool| Site {
        cause,
        node: Some(node),
        also: also.to_vec(),
        writers,
    };
    let main = slots
        .by_key
        .or(slots.join)
        .or(slots.udo)
        .or(slots.small_join)
        .unwrap_or(slots.clean);
    match cause {
        Cause::JoinHotKey => {
            heat(spec, slots, &mut rng, 0.2 * size, false);
            site(at(slots.join), &[], false)
        }
        Cause::GroupHotKey => {
            heat(spec, slots, &mut rng, 0.22 * size, false);
            site(at(slots.by_key), &[], false)
        }
        Cause::NullOrDefaultKey => {
            heat(spec, slots, &mut rng, 0.26 * size, true);
            if let Some(Op::Join { kind, .. }) = slots.join.map(|j| &mut spec.nodes[j].op) {
                *kind = JoinKind::LeftOuter;
            }
            site(main, &[], false)
        }
        Cause::LowCardinalityKey => {
            if let Some(c) = spec.tables[slots.fact].column_mut(&slots.key) {
                c.heavy.clear();
                c.distinct = rng.whole(4, 9) as f64;
            }
            site(at(slots.by_key), &[], false)
        }
        Cause::PartitionLayout => layout(spec, slots, &mut rng, size),
        Cause::RedundantRepartition => {
            let count = rng.whole(3, 8) as u32 * 5;
            let n = at(slots.again);
            spec.nodes[n].hints.push(Hint::Repartition(count));
            site(n, &[at(slots.join)], true)
        }
        Cause::UnusedColumns => {
            unused(spec, slots);
            site(at(slots.by_key), &[slots.clean], true)
        }
        Cause::LateFilter => {
            let (from, to) = (slots.clean, at(slots.after_join));
            move_filter(spec, from, to, at(slots.join));
            site(to, &[at(slots.join)], true)
        }
        Cause::MissedBroadcast => {
            missed_broadcast(spec, slots, &mut rng);
            site(at(slots.small_join), &[at(slots.right)], true)
        }
        Cause::SerialGather => serial(spec, slots, &mut rng),
        Cause::UnalignedInput => {
            for table in [slots.fact, slots.second.unwrap_or(1)] {
                let count = spec.tables[table].clustering.partitions;
                let key = if table == slots.fact {
                    "RecordId"
                } else {
                    "CreatedOn"
                };
                spec.tables[table].clustering = Clustering::hash(key, count);
            }
            site(at(slots.join), &[slots.clean, at(slots.right), 0, 2], true)
        }
        Cause::HeapPressure | Cause::CpuBound => {
            user_code(spec, at(slots.udo), cause, &mut rng, size);
            site(at(slots.udo), &[], false)
        }
        Cause::Spill => {
            spec.env.sort_memory = 2.2e8 / size.max(0.5);
            site(main, &[at(slots.join.or(slots.by_key))], false)
        }
        Cause::EstimateTooLow => {
            spec.env.memory_low = Some(main);
            site(main, &[], false)
        }
        Cause::Misestimate => {
            misestimate(spec, slots, &mut rng, size);
            site(main, &[slots.clean, 0], true)
        }
        Cause::Explosion => {
            let fan = rng.range(9.0, 16.0) * size;
            explode(spec, slots, fan);
            site(at(slots.join), &[], false)
        }
        Cause::TooLow => match slots.files {
            // Compressed files cannot be split: one vertex each.
            Some((table, node)) => {
                spec.tables[table].gzip = true;
                spec.tables[table].files = rng.whole(2, 3) as u32;
                let path = spec.tables[table].path.replace(".tsv", ".tsv.gz");
                spec.tables[table].path = path;
                site(node, &[], false)
            }
            None => {
                let count = rng.whole(2, 3) as u32;
                spec.nodes[main].hints.push(Hint::PartitionCount(count));
                site(main, &[], true)
            }
        },
        Cause::TinyVertices => {
            let count = if spec.env.max_partitions < 40 {
                150.0
            } else {
                rng.range(900.0, 1600.0)
            };
            spec.nodes[main]
                .hints
                .push(Hint::PartitionCount((count * size) as u32));
            site(main, &[], true)
        }
        Cause::SmallFiles => {
            let (table, node) = slots.files.unwrap_or((0, 0));
            let many = if spec.env.max_partitions < 40 {
                160.0
            } else {
                rng.range(700.0, 1300.0)
            };
            spec.tables[table].files = (many * size) as u32;
            site(node, &[], false)
        }
        Cause::VertexRetries => {
            spec.env.fails = Some((slots.clean, rng.range(0.34, 0.46)));
            site(slots.clean, &[0], false)
        }
        Cause::SlowMachine => {
            let factor = rng.range(4.0, 6.5) * size.max(0.8);
            spec.env.slow = Some((main, rng.whole(1, 2) as u32, factor));
            site(main, &[], false)
        }
        Cause::QueueWait => {
            spec.env.queue_s = rng.range(500.0, 1800.0) * size;
            Site {
                cause,
                node: None,
                also: Vec::new(),
                writers: false,
            }
        }
        Cause::UserCode => site(at(slots.udo), &[], false),
        // Either one vertex runs too long, or the output of a join fills the temporary storage.
        Cause::Limit => match slots.join {
            None => {
                heat(spec, slots, &mut rng, 0.55, false);
                user_code(spec, at(slots.udo), Cause::CpuBound, &mut rng, 1.0);
                site(main, &[], false)
            }
            Some(join) => {
                explode(spec, slots, rng.range(60.0, 110.0));
                site(join, &[], false)
            }
        },
        Cause::Compile => Site {
            cause,
            node: Some(slots.clean),
            also: Vec::new(),
            writers: false,
        },
    }
}

/// Makes some values of the key frequent, or one null or default value.
pub(crate) fn heat(spec: &mut Spec, slots: &Slots, rng: &mut Rng, share: f64, empty: bool) {
    let Some(c) = spec.tables[slots.fact].column_mut(&slots.key) else {
        return;
    };
    let share = (share * rng.range(0.85, 1.2)).min(0.7);
    if empty {
        if c.nullable && rng.chance(0.5) {
            c.nulls = share;
        } else {
            let numbers = ["0", "-1"];
            let value = if c.ty == crate::data::Ty::Text {
                rng.pick(DEFAULTS)
            } else {
                rng.pick(&numbers)
            };
            c.heavy.insert(0, (value.to_owned(), share));
        }
        return;
    }
    let several = rng.whole(1, 3);
    for i in 0..several {
        let value = match c.ty {
            crate::data::Ty::Text => format!("{:08x}-{}", rng.next() >> 32, 11 + i),
            _ => rng.whole(1_000_000_000, 9_999_999_999).to_string(),
        };
        c.heavy.insert(
            i as usize,
            (value, share / several as f64 * (1.2 - 0.2 * i as f64)),
        );
    }
    c.heavy.sort_by(|a, b| b.1.total_cmp(&a.1));
}

/// Stored partitions of very different sizes.
fn layout(spec: &mut Spec, slots: &Slots, rng: &mut Rng, size: f64) -> Site {
    let split = spec.env.split_bytes;
    let t = &mut spec.tables[slots.fact];
    let n = ((t.bytes() / split).ceil() as usize).max(6);
    let mut weights = vec![1.0; n];
    let big = rng.whole(1, 2) as usize;
    for i in 0..big {
        let place = (rng.index(n) + i) % n;
        weights[place] = (n as f64 * 0.16 * size.max(0.6)).max(4.0);
    }
    weights.iter_mut().for_each(|w| *w *= rng.range(0.9, 1.1));
    t.clustering = Clustering {
        kind: "range",
        keys: vec!["EventTime".into()],
        partitions: n as u32,
        weights,
    };
    Site {
        cause: Cause::PartitionLayout,
        node: Some(slots.clean),
        also: vec![0],
        writers: false,
    }
}

/// Wide columns travel to a reducer that does not read them.
fn unused(spec: &mut Spec, slots: &Slots) {
    let wide: Vec<String> = spec.tables[slots.fact]
        .columns
        .iter()
        .rev()
        .take(2)
        .map(|c| c.name.clone())
        .collect();
    if let Op::Select { items, .. } = &mut spec.nodes[slots.clean].op {
        items.extend(
            wide.into_iter()
                .map(|name| crate::plan::Item { name, expr: None }),
        );
    }
}

/// A filter runs after the join although it only needs columns from before it.
fn move_filter(spec: &mut Spec, from: NodeId, to: NodeId, join: NodeId) {
    let mut moved = Vec::new();
    if let Op::Select { filters, .. } = &mut spec.nodes[from].op {
        moved = filters.split_off(1);
    }
    let uses: Vec<String> = moved.iter().flat_map(|f| f.uses.clone()).collect();
    if let Op::Join { items, .. } = &mut spec.nodes[join].op {
        for name in uses {
            if !items.iter().any(|i| i.1 == name) {
                items.push((false, name));
            }
        }
    }
    if let Op::Select { filters, .. } = &mut spec.nodes[to].op {
        filters.extend(moved);
    }
}

/// The optimizer believes the small side to be large.
fn missed_broadcast(spec: &mut Spec, slots: &Slots, rng: &mut Rng) {
    let join = at(slots.small_join);
    if rng.chance(0.35) && spec.dialect == Dialect::Usql {
        spec.nodes[join].hints.push(Hint::Pair);
        return;
    }
    let rows = (rng.range(6.0, 20.0) * 1e6).round();
    spec.nodes[at(slots.right)]
        .hints
        .push(Hint::RowCount((rows / 1e5).round() * 1e5));
}

/// A large rowset is gathered into one vertex.
fn serial(spec: &mut Spec, slots: &Slots, rng: &mut Rng) -> Site {
    let out = at(slots.large_output);
    let input = spec.inputs(out).first().copied().unwrap_or_default();
    let serial_reduce = slots
        .by_key
        .filter(|_| spec.dialect == Dialect::Scope && rng.chance(0.3));
    if let Some(reduce) = serial_reduce.filter(|&n| matches!(spec.nodes[n].op, Op::Group { .. })) {
        spec.nodes[reduce].hints.push(Hint::Serial);
        return Site {
            cause: Cause::SerialGather,
            node: Some(reduce),
            also: Vec::new(),
            writers: false,
        };
    }
    if let Op::Output { order, .. } = &mut spec.nodes[out].op {
        *order = Some(slots.order_key.clone());
    }
    Site {
        cause: Cause::SerialGather,
        node: Some(out),
        also: vec![input],
        writers: true,
    }
}

/// CPU a row of code that keeps its rows in lists, its collections aside.
pub(crate) const HOARDER_CPU_US: f64 = 9.0;

/// User code that burns time or holds memory.
fn user_code(spec: &mut Spec, node: NodeId, cause: Cause, rng: &mut Rng, size: f64) {
    let (Op::Reduce { udo, .. } | Op::Process { udo, .. }) = &mut spec.nodes[node].op else {
        return;
    };
    if cause == Cause::CpuBound {
        udo.cpu_us = rng.range(38.0, 70.0) * size;
        udo.busy = true;
    } else {
        udo.gc = (rng.range(0.45, 0.6) * size.min(1.2)).min(0.8);
        udo.heap = rng.range(1.5e9, 2.3e9);
        udo.cpu_us = udo.cpu_us.max(HOARDER_CPU_US);
        udo.hoards = true;
    }
}

/// The plan is made for far fewer rows than there are.
fn misestimate(spec: &mut Spec, slots: &Slots, rng: &mut Rng, size: f64) {
    let factor = rng.range(90.0, 400.0) * size;
    let read = spec
        .nodes
        .iter()
        .position(|n| matches!(n.op, Op::Read { .. }))
        .unwrap_or(0);
    if rng.chance(0.5) {
        let rows = (spec.tables[slots.fact].rows / factor).round();
        let rows = (rows / 1e4).ceil() * 1e4;
        spec.nodes[slots.clean].hints.push(Hint::RowCount(rows));
    } else {
        spec.tables[slots.fact].believed /= factor;
    }
    // Both sides of a join are believed to be small, or the larger side alone would decide.
    for t in spec.tables.iter_mut().skip(1) {
        t.believed /= factor;
    }
    let _ = read;
}

/// The right side holds several rows a key.
fn explode(spec: &mut Spec, slots: &Slots, fan: f64) {
    let join = at(slots.join);
    if let Op::Join { fan_out, .. } = &mut spec.nodes[join].op {
        *fan_out = fan;
    }
    let key = slots.key.clone();
    for t in spec.tables.iter_mut().skip(1) {
        let rows = t.rows;
        if let Some(c) = t.column_mut(&key) {
            c.distinct = (rows / fan).round();
        }
    }
}
