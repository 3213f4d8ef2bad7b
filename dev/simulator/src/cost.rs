//! The cost model: cost of each operator per vertex, in milliseconds of waiting and of CPU.
//!
//! The constants are our own. They reproduce the magnitudes of published job statistics (tens of megabytes per second
//! and vertex, a few tenths of a microsecond per row and operator), not a particular cluster.

use crate::data::TableKind;
use crate::physical::{Exchange, Kind, Physical, Source};
use crate::plan::{Code, Op, Spec};
use crate::rng::wobble;

const FILTER_US: f64 = 0.08;
const MANAGED_US: f64 = 0.55;
const SORT_US_PER_LEVEL: f64 = 0.032;
const MERGE_US: f64 = 0.22;
const PROBE_US: f64 = 0.30;
const HASH_AGG_US: f64 = 0.28;
const STREAM_AGG_US: f64 = 0.14;
const PARTITION_US: f64 = 0.06;
/// CPU of parsing text.
const PARSE_US_PER_BYTE: f64 = 0.011;
/// Opening one input of a channel.
const CONNECT_MS: f64 = 2.5;
/// Opening a file of the store.
const OPEN_MS: f64 = 60.0;
/// Rows in memory are larger than on the wire: pointers and alignment.
const IN_MEMORY: f64 = 1.45;
/// Spilled data is written and read again, in small pieces.
const SPILL_FACTOR: f64 = 1.8;

/// Charges every operator of every stage.
pub(crate) fn charge(spec: &Spec, physical: &mut Physical) {
    let channels = physical.channels.clone();
    let writers: Vec<usize> = channels
        .iter()
        .map(|c| physical.stages[c.from_stage].vertices)
        .collect();
    for stage in &mut physical.stages {
        let n = stage.vertices;
        let sorts = stage.ops.iter().filter(|o| o.kind == Kind::Sort).count();
        let sort_memory = if spec.env.shared_memory {
            spec.env.sort_memory / sorts.max(1) as f64
        } else {
            spec.env.sort_memory
        };
        stage.run_s = vec![0.0; n];
        stage.read = vec![0.0; n];
        stage.written = vec![0.0; n];
        for v in 0..n {
            let luck = wobble(
                spec.noise(),
                &luck_place(spec, stage.ops.first().map_or(0, |o| o.node)),
                v as u64,
                spec.env.jitter,
            );
            for i in 0..stage.ops.len() {
                let arriving: Vec<(f64, f64)> = stage.ops[i]
                    .sources
                    .iter()
                    .filter_map(|s| match s {
                        Source::Channel(c) => Some((
                            channels[*c].rows[v] * channels[*c].width,
                            writers[*c] as f64,
                        )),
                        _ => None,
                    })
                    .collect();
                let op = &mut stage.ops[i];
                let mut spent = Spent::default();
                for (bytes, sources) in arriving {
                    spent.wait += bytes / spec.env.net_mbs / 1e3 + sources * CONNECT_MS;
                    stage.read[v] += bytes.round();
                }
                own_cost(spec, op, v, sort_memory, &mut spent);
                if matches!(op.kind, Kind::Get | Kind::Extract) {
                    stage.read[v] += op.bytes[v];
                }
                if matches!(op.kind, Kind::Partition(_) | Kind::Output) {
                    stage.written[v] += op.bytes[v];
                }
                op.ms[v] = (spent.wait + spent.cpu) * luck;
                op.cpu_ms[v] = spent.cpu * luck;
                stage.run_s[v] += op.ms[v] / 1e3;
            }
        }
        for op in &stage.ops {
            if let Op::Reduce { udo, .. } | Op::Process { udo, .. } = &spec.nodes[op.node].op
                && matches!(op.kind, Kind::Reduce | Kind::Process)
            {
                stage.gc = stage.gc.max(udo.gc);
                stage.heap = stage.heap.max(udo.heap);
                stage.managed = true;
            }
            if op.kind == Kind::ManagedFilter {
                let code = filter_code(spec, op.node);
                stage.managed = true;
                stage.gc = stage.gc.max(code.map_or(0.02, |c| c.gc));
                stage.heap = stage.heap.max(code.map_or(4e7, |c| c.heap));
            }
        }
    }
}

/// Vertices that read the same data have the same luck with and without a cause.
fn luck_place(spec: &Spec, node: usize) -> String {
    let node = &spec.nodes[node];
    match &node.op {
        Op::Output { file, .. } => format!("luck {file}"),
        _ => format!("luck {}", node.name),
    }
}

/// The C# of the conditions of a SELECT, if it is not the usual cheap test.
fn filter_code(spec: &Spec, node: usize) -> Option<Code> {
    match &spec.nodes[node].op {
        Op::Select { filters, .. } => filters.iter().find_map(|f| f.code),
        _ => None,
    }
}

#[derive(Default)]
struct Spent {
    wait: f64,
    cpu: f64,
}

fn own_cost(
    spec: &Spec,
    op: &mut crate::physical::PhysOp,
    v: usize,
    sort_memory: f64,
    spent: &mut Spent,
) {
    let env = &spec.env;
    let (rows_in, rows) = (op.rows_in[v], op.rows[v]);
    let width = op.width();
    let us = |per_row: f64| rows_in * per_row * env.cpu / 1e3;
    match op.kind {
        Kind::Get | Kind::Extract => {
            let Some(Source::Table(t)) = op.sources.first() else {
                return;
            };
            let table = &spec.tables[*t];
            // A column store reads only used columns; text is read whole.
            let share = if table.kind == TableKind::Text {
                1.0
            } else {
                (width / table.row_bytes()).clamp(0.05, 1.0)
            };
            op.bytes[v] = (rows * table.row_bytes()).round();
            let stored = if table.gzip { 0.25 } else { 1.0 };
            spent.wait += op.bytes[v] * stored * (0.4 + 0.6 * share) / env.disk_mbs / 1e3 + OPEN_MS;
            spent.cpu += rows * 0.05 * env.cpu / 1e3;
            if table.kind == TableKind::Text {
                spent.cpu += op.bytes[v] * PARSE_US_PER_BYTE * env.cpu / 1e3;
            }
        }
        Kind::Filter => spent.cpu += us(FILTER_US),
        Kind::ManagedFilter => {
            spent.cpu += filter_code(spec, op.node)
                .map_or_else(|| us(MANAGED_US), |c| us(c.cpu_us) / (1.0 - c.gc));
        }
        Kind::Union => spent.cpu += us(0.02),
        Kind::Sort => {
            spent.cpu += us(SORT_US_PER_LEVEL * libm::log2(rows_in.max(2.0)));
            op.held[v] = rows_in * width * IN_MEMORY;
            if op.held[v] > sort_memory {
                op.spilled[v] = rows_in * width;
                spent.wait += op.spilled[v] * SPILL_FACTOR / env.disk_mbs / 1e3;
                op.held[v] = sort_memory;
            }
        }
        Kind::MergeJoin => spent.cpu += us(MERGE_US) + rows * 0.16 * env.cpu / 1e3,
        Kind::HashJoin => {
            spent.cpu += us(PROBE_US) + rows * 0.1 * env.cpu / 1e3;
            op.held[v] = op.distinct.get(v).copied().unwrap_or(0.0) * 64.0;
        }
        Kind::PartialAggregate => {
            spent.cpu += us(HASH_AGG_US);
            op.held[v] = (rows * width * 1.9 + 3.3e7).min(6e8);
        }
        Kind::Aggregate => spent.cpu += us(STREAM_AGG_US),
        Kind::Reduce | Kind::Process => {
            if let Op::Reduce { udo, .. } | Op::Process { udo, .. } = &spec.nodes[op.node].op {
                let clean = us(udo.cpu_us);
                spent.cpu += clean / (1.0 - udo.gc);
            }
        }
        Kind::Partition(exchange) => {
            spent.cpu += us(PARTITION_US);
            op.bytes[v] = (rows * width).round();
            let copies = if exchange == Exchange::Broadcast {
                1.0
            } else {
                1.1
            };
            spent.wait += op.bytes[v] * copies / env.disk_mbs / 1e3 + 5.0;
        }
        Kind::Output => {
            op.bytes[v] = (rows * width).round();
            // The store keeps three copies.
            spent.wait += op.bytes[v] * 1.6 / env.disk_mbs / 1e3 + 40.0;
        }
    }
}
