//! Counters of single operators and stages.

use super::*;

impl Writer<'_> {
    pub(super) fn managed(&self, x: &mut Xml) {
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

    pub(super) fn io(&self, bytes: Sum, ms: Sum) -> Attrs {
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
    pub(super) fn times(&self, exclusive: f64, below: f64) -> Attrs {
        vec![
            whole("exclusiveTime", exclusive),
            whole("inclusiveTime", exclusive + below),
        ]
    }

    pub(super) fn wait(&self, op: &PhysOp) -> Sum {
        let wait: Vec<f64> = op.ms.iter().zip(&op.cpu_ms).map(|(m, c)| m - c).collect();
        self.sum(&wait)
    }

    pub(super) fn special(&self, op: &PhysOp) -> Attrs {
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

    pub(super) fn sort(&self, op: &PhysOp) -> Attrs {
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

    pub(super) fn processing_group(&self, x: &mut Xml, op: &PhysOp) {
        let bytes = self.sum(&op.bytes);
        let mut attrs = vec![whole("bytes", bytes.total)];
        attrs.extend(self.io(bytes, self.wait(op)));
        attrs.push(a("dataCached", 0));
        attrs.push(whole("dataDisk", (bytes.total / BUFFER).ceil()));
        x.leaf("ProcessingGroup", &attrs);
    }

    pub(super) fn allocator(&self, x: &mut Xml, op: &PhysOp) {
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

    pub(super) fn totals(&self, x: &mut Xml, index: usize) {
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
