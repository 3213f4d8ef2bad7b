//! Puts a cause into a healthy job, and remembers where.
//!
//! A cause changes the plan, the data or the cluster, never the times: what it costs comes out of the same model that
//! runs the job without it.

use crate::cause::Cause;
use crate::data::{Clustering, TableKind};
use crate::plan::{Dialect, Hint, JoinKind, NodeId, Op, Spec};
use crate::rng::Rng;
use crate::templates::{Slots, Template, helper_item};
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
        Cause::TooLow => &[Sessions, Distinct, EnrichJoin],
        Cause::TinyVertices => &[Sessions, EnrichJoin],
        Cause::SmallFiles => &[DailyFiles],
        Cause::VertexRetries => &[EnrichJoin, Sessions, Star],
        Cause::SlowMachine => &[Sessions, Features, Star],
        Cause::UserCode => &[Sessions, Features],
        Cause::Compile => &[EnrichJoin, Sessions, Star],
        Cause::Limit => &[Sessions],
        Cause::QueueWait => &[Paired, Star, Distinct, DailyFiles],
    }
}

/// Whether a cause can be written in a dialect (U-SQL has no PARTITION hints).
pub(crate) fn fits(cause: Cause, dialect: Dialect) -> bool {
    dialect == Dialect::Scope
        || !matches!(
            cause,
            Cause::RedundantRepartition
                | Cause::TooLow
                | Cause::TinyVertices
                | Cause::Spill
                | Cause::SmallFiles
        )
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
        Cause::TooLow => {
            spec.nodes[main]
                .hints
                .push(Hint::PartitionCount(rng.whole(2, 3) as u32));
            site(main, &[], true)
        }
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
        Cause::Limit => {
            heat(spec, slots, &mut rng, 0.55, false);
            user_code(spec, at(slots.udo), Cause::CpuBound, &mut rng, 1.0);
            site(main, &[], false)
        }
        Cause::Compile => Site {
            cause,
            node: Some(slots.clean),
            also: Vec::new(),
            writers: false,
        },
    }
}

/// Makes some values of the key frequent, or one null or default value.
fn heat(spec: &mut Spec, slots: &Slots, rng: &mut Rng, share: f64, empty: bool) {
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
        weights[place] = n as f64 * 0.16 * size.max(0.6);
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

/// The optimiser believes the small side to be large.
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
        udo.cpu_us = udo.cpu_us.max(9.0);
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

/// Things that look bad and are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decoy {
    Hints,
    ScaryCode,
    HotFiltered,
    SkewHandled,
    LightSpill,
    FewRetries,
    DataGrew,
    WideRows,
    Warnings,
    UnevenColumn,
}

/// All decoys with their names.
pub(crate) const DECOYS: [(Decoy, &str); 10] = [
    (Decoy::Hints, "hints"),
    (Decoy::ScaryCode, "scary_code"),
    (Decoy::HotFiltered, "hot_filtered"),
    (Decoy::SkewHandled, "skewjoin_handled"),
    (Decoy::LightSpill, "light_spill"),
    (Decoy::FewRetries, "few_retries"),
    (Decoy::DataGrew, "data_grew"),
    (Decoy::WideRows, "wide_rows"),
    (Decoy::Warnings, "warnings"),
    (Decoy::UnevenColumn, "uneven_column"),
];

/// Adds a decoy; false if the job has no place for it.
pub(crate) fn decoy(spec: &mut Spec, slots: &Slots, decoy: Decoy) -> bool {
    let mut rng = Rng::new(spec.seed ^ 0xdec0 ^ decoy as u64);
    let scope = spec.dialect == Dialect::Scope;
    match decoy {
        Decoy::Hints => {
            if scope {
                spec.nodes[slots.clean]
                    .hints
                    .push(Hint::RowSize(rng.whole(40, 90) as u32));
            } else {
                let keeps = if let Op::Select { filters, .. } = &spec.nodes[slots.clean].op {
                    filters.iter().map(|f| f.keeps).product::<f64>()
                } else {
                    1.0
                };
                let near = (spec.tables[slots.fact].rows * keeps * rng.range(0.8, 1.25) / 1e6)
                    .ceil()
                    * 1e6;
                spec.nodes[slots.clean].hints.push(Hint::RowCount(near));
            }
            true
        }
        Decoy::ScaryCode => {
            let Some(Op::Reduce { udo, .. } | Op::Process { udo, .. }) =
                slots.udo.map(|n| &mut spec.nodes[n].op)
            else {
                return false;
            };
            udo.scary = true;
            true
        }
        Decoy::HotFiltered => {
            if slots.join.or(slots.by_key).is_none() {
                return false;
            }
            hot_filtered(spec, slots, &mut rng)
        }
        Decoy::SkewHandled => {
            let Some(join) = slots
                .join
                .filter(|_| scope && slots.again.is_none() && slots.second.is_none())
            else {
                return false;
            };
            heat(spec, slots, &mut rng, 0.15, false);
            spec.nodes[join].hints.push(Hint::SkewJoin);
            true
        }
        Decoy::LightSpill => false,
        Decoy::FewRetries => {
            spec.env.fail_rate = rng.range(0.015, 0.025);
            true
        }
        Decoy::DataGrew => {
            spec.tables[slots.fact].previous = Some(rng.range(0.25, 0.45));
            true
        }
        Decoy::WideRows => {
            if slots.udo.is_none() || slots.by_key.is_some() || slots.again.is_some() {
                return false;
            }
            let t = &mut spec.tables[slots.fact];
            let wide = t.columns.len() - 1;
            t.columns[wide].width = rng.range(500.0, 900.0).round();
            true
        }
        Decoy::Warnings => true,
        Decoy::UnevenColumn => {
            // A frequent value in a column that nothing is partitioned by.
            let t = &mut spec.tables[slots.fact];
            let Some(c) = t
                .columns
                .iter_mut()
                .find(|c| c.name.ends_with("State") || c.name == "Verdict" || c.name == "Outcome")
            else {
                return false;
            };
            if let Some(first) = c.heavy.first_mut() {
                first.1 = 0.93;
            }
            c.heavy.truncate(1);
            true
        }
    }
}

/// A frequent key that is filtered out before the exchange.
fn hot_filtered(spec: &mut Spec, slots: &Slots, rng: &mut Rng) -> bool {
    let share = rng.range(0.2, 0.4);
    let key = slots.key.clone();
    let Some(c) = spec.tables[slots.fact].column_mut(&key) else {
        return false;
    };
    if !c.nullable {
        return false;
    }
    c.nulls = share;
    if let Op::Select { filters, .. } = &mut spec.nodes[slots.clean].op {
        filters.push(crate::plan::Filter {
            text: format!("{key} != null"),
            uses: vec![key.clone()],
            keeps: 1.0 - share,
            believed: 1.0 - share,
            drops_hot: Some(key),
            managed: false,
        });
    }
    true
}

/// Adds a helper call that does no harm.
pub(crate) fn harmless_helper(spec: &mut Spec, slots: &Slots) {
    let text = spec.tables[slots.fact]
        .columns
        .iter()
        .rev()
        .find(|c| c.width > 60.0)
        .map(|c| c.name.clone());
    if let (Some(uses), TableKind::SStream) = (text, spec.tables[slots.fact].kind)
        && let Op::Select { items, .. } = &mut spec.nodes[slots.clean].op
    {
        items.push(helper_item("ShortText", "TextUtil", &uses));
    }
}
