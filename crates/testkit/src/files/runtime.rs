//! `__ScopeRuntimeStatistics__.xml`: counters per stage, totals and maxima over the vertices that completed.

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
    /// Writers nest their subtree; what was printed once is not printed again.
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

    fn managed(&self, x: &mut Xml) {
        let (gc, heap) = (self.stage.gc * 100.0, self.stage.heap);
        let run = self.sum(&self.stage.run_s).mean;
        let gen2 = (gc / 100.0 * run / 6.0).floor();
        let pairs: [(&'static str, &'static str, f64, f64); 9] = [
            (
                "avgGen0CollectionsCount",
                "maxGen0CollectionsCount",
                gen2 * 5.0 + 2.0,
                gen2 * 5.6 + 3.0,
            ),
            (
                "avgGen1CollectionsCount",
                "maxGen1CollectionsCount",
                gen2 * 1.2,
                gen2 * 1.4 + 1.0,
            ),
            (
                "avgGen2CollectionsCount",
                "maxGen2CollectionsCount",
                gen2,
                (gen2 * 1.25).ceil(),
            ),
            (
                "avgGen2HeapSize",
                "maxGen2HeapSize",
                heap * 0.8,
                heap * 0.86,
            ),
            ("avgInducedGCCount", "maxInducedGCCount", 0.0, 0.0),
            (
                "avgLargeObjectHeapSize",
                "maxLargeObjectHeapSize",
                heap * 0.1,
                heap * 0.12,
            ),
            (
                "avgManagedMemoryPeakSize",
                "maxManagedMemoryPeakSize",
                heap,
                heap * 1.08,
            ),
            (
                "avgTimeInGCPercent",
                "maxTimeInGCPercent",
                gc,
                (gc * 1.25).min(96.0),
            ),
            ("avgTimeInGCPercentHost", "maxTimeInGCPercentHost", 0.0, 0.0),
        ];
        let mut attrs = Attrs::new();
        for (mean, max, m, n) in pairs {
            attrs.push(whole(mean, m));
            attrs.push(whole(max, n));
        }
        x.leaf("ManagedMemory", &attrs);
    }

    fn io(&self, bytes: Sum, ms: Sum) -> Attrs {
        let operations = (bytes.total / BUFFER).ceil().max(1.0) + self.done.len() as f64 - 1.0;
        let mean = ms.total * 0.93 / operations;
        vec![
            whole("operations", operations),
            whole("avgIoTime", mean),
            whole("maxIoTime", mean * 3.2),
            whole("minIoTime", 0.0),
            whole("maxIoTimeSize", BUFFER),
            whole("minIoTimeSize", 65_536.0),
            whole("totalIoTime", ms.total * 0.93),
            whole("totalWaitTime", ms.total * 0.28),
            whole("totalThrottlingTime", 0.0),
            whole("IoStreamInclusiveTime", ms.total * 0.93),
            whole("OperatorWaitOnIOTime", ms.total * 0.74),
            whole("openTime", self.done.len() as f64 * 3.0),
            whole("closeTime", self.done.len() as f64 * 2.0),
        ]
    }

    /// Own and inclusive time of an operator.
    fn times(&self, exclusive: f64, below: f64) -> Attrs {
        vec![
            whole("exclusiveTime", exclusive),
            whole("inclusiveTime", exclusive + below),
        ]
    }

    fn wait(&self, op: &PhysOp) -> Sum {
        let wait: Vec<f64> = op.ms.iter().zip(&op.cpu_ms).map(|(m, c)| m - c).collect();
        self.sum(&wait)
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

    /// Reading channels is charged to the operator above them; the tree shows it in its own node.
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

    fn special(&self, op: &PhysOp) -> Attrs {
        match op.kind {
            Kind::Sort => self.sort(op),
            Kind::MergeJoin => {
                let keys = self.sum(&op.distinct);
                let product = self.sum(&op.rows).total / keys.total.max(1.0);
                vec![
                    whole("keyCount", keys.total),
                    whole("maxKeyCount", keys.max),
                    a("maxAvgJoinProduct", format!("{:.3}", product.max(1.0))),
                    a("goodFlips", 0),
                    a("badFlips", 0),
                ]
            }
            Kind::HashJoin => {
                let probe = match op.sources.first() {
                    Some(Source::Op(i)) => self.sum(&self.stage.ops[*i].rows),
                    _ => Sum::default(),
                };
                let build = self.sum(&op.distinct);
                vec![
                    whole("SpBuildRowCount", build.total),
                    whole("SpProbeRowCount", probe.total),
                    whole(
                        "NoMatchProbeRowCount",
                        (probe.total - self.sum(&op.rows).total).max(0.0),
                    ),
                    whole("avgHtTotalMemory", self.sum(&op.held).mean),
                    a("HtSpillLevel", 0),
                ]
            }
            Kind::PartialAggregate => {
                let (out, into) = (self.sum(&op.rows), self.sum(&op.rows_in));
                let held = self.sum(&op.held);
                vec![
                    whole("avgHtInsertCount", out.mean),
                    whole("maxHtInsertCount", out.max),
                    whole("avgHtUpdateCount", into.mean - out.mean),
                    whole("maxHtUpdateCount", into.max - out.max),
                    a("avgHtResetCount", 0),
                    a("maxHtResetCount", 0),
                    whole("avgHtTotalMemory", held.mean),
                    whole("maxHtTotalMemory", held.max),
                ]
            }
            Kind::Union => vec![
                a("avgInputCount", op.sources.len()),
                a("maxInputCount", op.sources.len()),
            ],
            Kind::Get => vec![a("avgInputCount", 1), a("maxInputCount", 1)],
            Kind::Extract => {
                let bytes = self.sum(&op.bytes);
                let mut attrs = vec![whole("bytes", bytes.total)];
                attrs.extend(self.io(bytes, self.wait(op)));
                attrs
            }
            _ => Attrs::new(),
        }
    }

    fn sort(&self, op: &PhysOp) -> Attrs {
        let (held, spilled) = (self.sum(&op.held), self.sum(&op.spilled));
        let memory = self.o.spec.env.sort_memory;
        let new = |bytes: f64| (bytes / 2.6e8).ceil().max(1.0);
        let buckets = |bytes: f64| {
            if bytes > 0.0 {
                (bytes * 1.45 / memory * 2.0).ceil()
            } else {
                0.0
            }
        };
        let spill_wait = if spilled.total > 0.0 {
            self.wait(op).total * 0.55
        } else {
            0.0
        };
        let each: Vec<f64> = op.spilled.iter().map(|b| buckets(*b)).collect();
        let each = self.sum(&each);
        vec![
            whole("OperatorWaitOnIOTime", spill_wait),
            whole("avgFillNewBucketCount", new(held.mean)),
            whole("maxFillNewBucketCount", new(held.max)),
            a("avgFinalBucketCount", 1),
            a("maxFinalBucketCount", 1),
            whole("avgMergeBucketCount", (each.mean / 3.0).floor()),
            whole("maxMergeBucketCount", (each.max / 2.0).ceil()),
            whole("avgSpillBucketCount", each.mean),
            whole("maxSpillBucketCount", each.max),
            whole("maxNewInMemoryBucketCount", new(held.max)),
            whole("avgPeakInMemorySizeFetch", held.mean),
            whole("maxPeakInMemorySizeFetch", held.max),
            whole("avgPeakInMemorySizeRead", held.mean),
            whole("maxPeakInMemorySizeRead", held.max),
        ]
    }

    fn processing_group(&self, x: &mut Xml, op: &PhysOp) {
        let bytes = self.sum(&op.bytes);
        let mut attrs = vec![whole("bytes", bytes.total)];
        attrs.extend(self.io(bytes, self.wait(op)));
        attrs.push(a("dataCached", 0));
        attrs.push(whole("dataDisk", (bytes.total / BUFFER).ceil()));
        x.leaf("ProcessingGroup", &attrs);
    }

    fn allocator(&self, x: &mut Xml, op: &PhysOp) {
        let name = match op.kind {
            Kind::Get => "Allocator_SStreamExtractor",
            Kind::Extract => "Allocator_Extractor",
            _ => "Allocator_FilterTransformer",
        };
        let text: f64 = op
            .columns
            .iter()
            .filter(|c| c.ty == crate::data::Ty::Text)
            .map(|c| c.width)
            .sum();
        let attrs = vec![
            whole("avgRowDataSize", op.width()),
            whole("maxRowDataSize", op.width() * 1.7),
            whole("maxFixedRowDataSize", op.width() - text),
            whole("avgStringSize", text),
            whole("maxStringSize", text * 1.9),
            whole("maxResetCount", self.sum(&op.rows).max + 1.0),
        ];
        x.leaf(name, &attrs);
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

    fn totals(&self, x: &mut Xml, index: usize) {
        let run = self.sum(&self.stage.run_s).total * 1e3;
        let cpu: f64 = self
            .stage
            .ops
            .iter()
            .map(|o| self.sum(&o.cpu_ms).total)
            .sum();
        let elapsed: f64 = self
            .done
            .iter()
            .map(|&v| self.o.seconds(index, v))
            .sum::<f64>()
            * 1e3;
        x.leaf(
            "Time",
            &vec![
                whole("inclusiveTime", run),
                whole("elapsedTime", elapsed),
                whole("executeElapsedTime", run),
                whole("executeTotalCpuTime", cpu),
                whole("executeUserCpuTime", cpu * 0.91),
                whole("executeKernelCpuTime", cpu * 0.09),
                whole("totalCpuTime", cpu * 1.02 + 30.0 * self.done.len() as f64),
            ],
        );
        let read = self.sum(&self.stage.read).total;
        x.leaf(
            "InputStatistics",
            &vec![
                whole("totalBytes", read),
                whole("totalCompressedBytes", read * 0.41),
                whole("totalDecompressedBytes", read),
            ],
        );
        let written = self.sum(&self.stage.written).total;
        let temp: f64 = self
            .stage
            .ops
            .iter()
            .filter(|o| o.channel.is_some())
            .map(|o| self.sum(&o.bytes).total)
            .sum();
        x.leaf(
            "OutputStatistics",
            &vec![
                whole("totalBytes", written),
                whole("totalCompressedBytes", written * 0.43),
                whole("tempBytes", temp),
            ],
        );
        x.leaf(
            "ExceptionCounts",
            &vec![
                a("cppExceptionCount", 0),
                a("csharpExceptionCount", 0),
                a("otherExceptionCount", 0),
            ],
        );
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
