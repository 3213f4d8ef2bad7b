//! `__ScopeRuntimeStatistics__.xml`: counters per stage, totals and maxima over the vertices that completed.

mod counters;

use super::xml::{Attrs, Xml, a, whole};
use crate::outcome::Outcome;
use crate::physical::{Kind, PhysOp, Source, Stage};
use crate::plan::Op;

const BUFFER: f64 = 4_194_304.0;

/// Totals of a list over the completed vertices.
#[derive(Clone, Copy, Default)]
struct Sum {
    total: f64,
    max: f64,
    mean: f64,
}

struct Writer<'a> {
    o: &'a Outcome,
    stage: &'a Stage,
    done: Vec<usize>,
    /// Printed operators: writers nest their subtree, and each operator is printed once.
    printed: Vec<bool>,
}

/// Writes the file.
pub(crate) fn write(o: &Outcome) -> String {
    let mut x = Xml::new(o.spec.seed % 4 == 1);
    x.open("AggregatedStats", &Vec::new());
    for (i, stage) in o.physical.live() {
        let done = o.done(i);
        if done.is_empty() {
            continue;
        }
        let mut w = Writer {
            o,
            stage,
            done,
            printed: vec![false; stage.ops.len()],
        };
        w.write_stage(&mut x, i);
    }
    if o.spec.seed % 5 == 2 {
        x.leaf("Collector", &vec![a("build", "7.2"), a("lostSamples", 0)]);
    }
    x.close("AggregatedStats");
    x.text
}

impl Writer<'_> {
    fn sum(&self, values: &[f64]) -> Sum {
        let mut s = Sum::default();
        for &v in &self.done {
            let value = values.get(v).copied().unwrap_or(0.0);
            s.total += value;
            s.max = s.max.max(value);
        }
        s.mean = s.total / self.done.len().max(1) as f64;
        s
    }

    fn held(&self) -> (Sum, Sum) {
        let of = |kinds: &[Kind]| {
            let mut all = vec![0.0; self.stage.vertices];
            for op in self.stage.ops.iter().filter(|o| kinds.contains(&o.kind)) {
                for (slot, h) in all.iter_mut().zip(&op.held) {
                    *slot += h;
                }
            }
            self.sum(&all)
        };
        (
            of(&[Kind::Sort]),
            of(&[Kind::PartialAggregate, Kind::HashJoin]),
        )
    }

    fn write_stage(&mut self, x: &mut Xml, index: usize) {
        let (sort, hash) = self.held();
        let io = 3.36e7 + 8.4e6 * self.o.physical.parents(index).len().saturating_sub(1) as f64;
        let heap = if self.stage.managed {
            self.stage.heap
        } else {
            0.0
        };
        let mut attrs = Attrs::new();
        let mut add = |names: [&'static str; 2], mean: f64, max: f64| {
            attrs.push(whole(names[0], mean));
            attrs.push(whole(names[1], max));
        };
        let (em, ex) = (sort.mean + hash.mean, sort.max + hash.max);
        add(
            ["avgExecutionMemoryPeakSize", "maxExecutionMemoryPeakSize"],
            em,
            ex,
        );
        add(
            ["avgGlobalMemoryPeakSize", "maxGlobalMemoryPeakSize"],
            0.0,
            0.0,
        );
        add(
            ["avgHashMemoryPeakSize", "maxHashMemoryPeakSize"],
            hash.mean,
            hash.max,
        );
        add(["avgIOMemoryPeakSize", "maxIOMemoryPeakSize"], io, io);
        add(
            ["avgOverallMemoryPeakSize", "maxOverallMemoryPeakSize"],
            em + io,
            ex + io,
        );
        add(
            ["avgOverallReservedPeakSize", "maxOverallReservedPeakSize"],
            (em + io) * 1.4,
            (ex + io) * 1.4,
        );
        add(
            ["avgPrivateMemoryPeakSize", "maxPrivateMemoryPeakSize"],
            em + io + heap + 7e7,
            ex + io + heap * 1.1 + 8e7,
        );
        add(
            ["avgSortMemoryPeakSize", "maxSortMemoryPeakSize"],
            sort.mean,
            sort.max,
        );
        add(
            ["avgWorkingSetPeakSize", "maxWorkingSetPeakSize"],
            (em + io + heap) * 0.94 + 7e7,
            (ex + io + heap) * 0.94 + 8e7,
        );
        attrs.sort_by_key(|p| p.0);
        let name = self.stage.name.clone();
        x.open(&name, &attrs);
        if self.stage.managed {
            self.managed(x);
        }
        for w in super::vertex_def::writers(self.stage) {
            self.output(x, w);
        }
        self.totals(x, index);
        x.close(&name);
    }

    fn below(&self, op: &PhysOp) -> f64 {
        let own = |s: &Source| match s {
            Source::Op(i) => {
                let child = &self.stage.ops[*i];
                self.exclusive(child) + self.arrival_ms(child) + self.below(child)
            }
            _ => 0.0,
        };
        op.sources.iter().map(own).sum()
    }

    /// Reading channels is charged to the operator above; the tree shows it as a separate node.
    fn arrival_ms(&self, op: &PhysOp) -> f64 {
        if op.sources.iter().any(|s| matches!(s, Source::Channel(_))) {
            self.wait_on_channels(op)
        } else {
            0.0
        }
    }

    fn wait_on_channels(&self, op: &PhysOp) -> f64 {
        let reads = op.kind == Kind::Sort && self.sum(&op.spilled).total > 0.0;
        let wait = self.wait(op).total;
        if reads { wait * 0.45 } else { wait }
    }

    fn exclusive(&self, op: &PhysOp) -> f64 {
        let all = self.sum(&op.ms).total;
        all - self.arrival_ms(op)
    }

    fn output(&mut self, x: &mut Xml, index: usize) {
        let op = self.stage.ops[index].clone();
        let (rows, bytes) = (self.sum(&op.rows), self.sum(&op.bytes));
        let mut attrs = vec![
            a("opId", op.out_uid),
            whole("rowCount", rows.total),
            whole("maxRowCount", rows.max),
            whole("bytes", bytes.total),
        ];
        attrs.extend(self.io(bytes, self.wait(&op)));
        attrs.extend(self.times(self.exclusive(&op), self.below(&op)));
        x.open("Output", &attrs);
        x.leaf(
            "IOBuffers",
            &vec![
                a("avgBufferMemory", 25_165_824),
                a("maxBufferCount", 6),
                a("maxBufferMemory", 25_165_824),
                a("maxBufferSize", 4_194_304),
            ],
        );
        for source in &op.sources {
            self.source(x, *source, &op);
        }
        x.close("Output");
    }

    fn source(&mut self, x: &mut Xml, source: Source, parent: &PhysOp) {
        match source {
            Source::Op(i) => self.operator(x, i),
            Source::Channel(c) => self.extractor(x, c, parent),
            Source::Table(_) => {}
        }
    }

    fn head(&self, op: &PhysOp) -> Attrs {
        let rows = self.sum(&op.rows);
        vec![
            whole("rowCount", rows.total),
            whole("maxRowCount", rows.max),
            a("opId", op.uid),
        ]
    }

    fn operator(&mut self, x: &mut Xml, index: usize) {
        let op = self.stage.ops[index].clone();
        if std::mem::replace(&mut self.printed[index], true) {
            return;
        }
        let name = element(op.kind);
        let mut attrs = self.head(&op);
        attrs.extend(self.special(&op));
        attrs.extend(self.times(self.exclusive(&op), self.below(&op)));
        x.open(name, &attrs);
        let keyed = matches!(op.kind, Kind::MergeJoin | Kind::Aggregate);
        let user = match &self.o.spec.nodes[op.node].op {
            Op::Reduce { udo, .. } if op.kind == Kind::Reduce => {
                Some(("SqlIpReducer", udo.class.clone()))
            }
            Op::Process { udo, .. } if op.kind == Kind::Process => {
                Some(("SqlIpProcessor", udo.class.clone()))
            }
            _ if op.kind == Kind::ManagedFilter => Some(("SqlIpProcessor", String::new())),
            _ => None,
        };
        if matches!(op.kind, Kind::Get) {
            self.processing_group(x, &op);
        }
        if matches!(op.kind, Kind::Get | Kind::Extract | Kind::Filter) {
            self.allocator(x, &op);
        }
        if let Some((tag, class)) = &user {
            let mut attrs = vec![a("userCode", 1)];
            if !class.is_empty() {
                attrs.push(a("name", class));
            }
            x.open(tag, &attrs);
            x.open("SqlIpInputRowset", &Vec::new());
        }
        for (i, source) in op.sources.iter().enumerate() {
            if keyed {
                let keys = self.key_counts(&op, i);
                x.open(
                    "KeyIterator",
                    &vec![
                        whole("keyCount", keys.total),
                        whole("maxKeyCount", keys.max),
                    ],
                );
            }
            self.source(x, *source, &op);
            if keyed {
                x.close("KeyIterator");
            }
        }
        if let Some((tag, _)) = &user {
            x.close("SqlIpInputRowset");
            x.close(tag);
        }
        x.close(name);
    }

    /// Rows of an input of a join or group that pass its key iterator.
    fn key_counts(&self, op: &PhysOp, input: usize) -> Sum {
        match op.sources.get(input) {
            Some(Source::Op(i)) if op.kind == Kind::MergeJoin => self.sum(&self.stage.ops[*i].rows),
            _ => self.sum(&op.distinct),
        }
    }

    fn extractor(&self, x: &mut Xml, channel: usize, parent: &PhysOp) {
        let c = &self.o.physical.channels[channel];
        let from = &self.o.physical.stages[c.from_stage].ops[c.from_op];
        let rows = self.sum(&c.rows);
        let sent: Vec<f64> = c.rows.iter().map(|r| (r * c.width).round()).collect();
        let bytes = self.sum(&sent);
        // Channels of one operator share its waiting time by bytes.
        let all: f64 = parent
            .sources
            .iter()
            .filter_map(|s| match s {
                Source::Channel(i) => {
                    let other = &self.o.physical.channels[*i];
                    Some(self.sum(&other.rows).total * other.width)
                }
                _ => None,
            })
            .sum();
        let share = if all > 0.0 { bytes.total / all } else { 1.0 };
        let ms = self.wait_on_channels(parent) * share;
        let mut attrs = vec![
            a("opId", from.out_uid),
            whole("rowCount", rows.total),
            whole("maxRowCount", rows.max),
            whole("bytes", bytes.total),
        ];
        attrs.extend(self.io(
            bytes,
            Sum {
                total: ms,
                max: ms,
                mean: ms,
            },
        ));
        attrs.extend(self.times(ms, 0.0));
        x.leaf("Extractor", &attrs);
    }
}

/// Element of an operator.
fn element(kind: Kind) -> &'static str {
    match kind {
        Kind::Get => "SStreamExtract",
        Kind::Extract => "Extractor",
        Kind::Filter => "FilterTransform",
        Kind::ManagedFilter | Kind::Process => "ScopeProcess",
        Kind::Sort => "Sort",
        Kind::MergeJoin => "MergeJoin",
        Kind::HashJoin => "HashJoin",
        Kind::PartialAggregate => "LocalHashAggregatorV2",
        Kind::Aggregate => "StreamAggregate",
        Kind::Reduce => "ScopeReduce",
        Kind::Union => "ParallelUnionAll",
        Kind::Partition(_) | Kind::Output => "Output",
    }
}
