//! Facts computed from what the files hold, each with the places that it was computed from.
//!
//! No thresholds and no judgement here: a ratio of 40 is just a number.

mod path;
mod spread;

use crate::counters::{CounterNode, CounterTree};
use crate::model::{Edge, ExchangeKind, Job, Source, Stage};

pub use path::PathStep;
pub use spread::Spread;

/// A value computed from numbers of the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived<T> {
    /// The value.
    pub value: T,
    /// What it was computed from, the most telling first.
    pub sources: Vec<Source>,
}

/// Mean milliseconds per completed vertex in each phase.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimeSplit {
    /// From created to process started: waiting for a machine.
    pub queue_ms: f64,
    /// From process started to running: start-up.
    pub start_ms: f64,
    /// From running to ended.
    pub run_ms: f64,
}

/// Share of a stage's time that went into garbage collection, in 0..1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GcShare {
    /// Mean over the vertices.
    pub mean: Option<f64>,
    /// Worst vertex.
    pub max: Option<f64>,
}

/// A sort or hash table that went to disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Spill {
    /// Index into the stage's counter nodes.
    pub node: usize,
    /// The counter that shows it (`maxSpillBucketCount`).
    pub counter: String,
    /// Its value: buckets or levels, of the worst vertex where the counter is a maximum.
    pub value: f64,
}

/// Memory peak of a vertex against what was set aside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryUse {
    /// Largest private bytes, or working set, of one vertex.
    pub peak_bytes: f64,
    /// The compiler's limit for the process.
    pub limit_bytes: Option<f64>,
}

/// Time an operator spent itself, not in its inputs, summed over the vertices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExclusiveTime {
    /// Index into the stage's counter nodes.
    pub node: usize,
    /// Milliseconds.
    pub ms: f64,
    /// Share of the sum over all operators of the stage, in 0..1.
    pub share: f64,
}

impl Job {
    /// Edges on which rows are repartitioned (hash, range) or gathered.
    pub fn shuffle_edges(&self) -> impl Iterator<Item = &Edge> {
        use ExchangeKind as X;
        self.edges
            .iter()
            .filter(|e| matches!(e.exchange, X::Hash | X::Range | X::Gather))
    }

    /// Edges on which every reader gets all rows.
    pub fn broadcast_edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges
            .iter()
            .filter(|e| e.exchange == ExchangeKind::Broadcast)
    }

    /// Where rows and bytes of an edge were read: at the writer, then at the reader.
    pub fn edge_sources(&self, edge: &Edge) -> Vec<Source> {
        let side = |stage: usize, name: &str, counter: &str| {
            let tree = self.stages.get(stage)?.counters.as_ref()?;
            let node = tree
                .nodes
                .iter()
                .find(|n| n.name == *name && n.op_id == edge.uid)?;
            node.value(counter)?;
            Some(tree.source(node, counter))
        };
        let ends = [(edge.from, "Output"), (edge.to, "Extractor")];
        let all = ends.iter().flat_map(|(stage, name)| {
            ["bytes", "rowCount"].map(|counter| side(*stage, name, counter))
        });
        all.flatten().collect()
    }

    /// Queue, start and run time of the vertices of a stage, from its vertex events.
    pub fn time_split(&self, stage: usize) -> Option<Derived<TimeSplit>> {
        let runs = self.stages.get(stage)?.runs.as_ref()?;
        let completed = || {
            runs.runs
                .iter()
                .filter(|r| r.state == crate::runs::RunState::Completed)
        };
        let n = completed().count();
        if n == 0 {
            return None;
        }
        let mean = |ms: &dyn Fn(&crate::runs::VertexRun) -> i64| {
            completed().map(|r| ms(r).max(0) as f64).sum::<f64>() / n as f64
        };
        let value = TimeSplit {
            queue_ms: mean(&|r| r.started_ms.saturating_sub(r.created_ms)),
            start_ms: mean(&|r| r.running_ms.saturating_sub(r.started_ms)),
            run_ms: mean(&|r| r.ended_ms.saturating_sub(r.running_ms)),
        };
        Some(Derived {
            value,
            sources: vec![Source {
                file: runs.file.clone(),
                locator: None,
            }],
        })
    }

    /// Vertices of the stage divided by the tokens of the job: 3.2 means that its vertices run in
    /// four rounds, if nothing else runs beside it.
    pub fn waves(&self, stage: usize) -> Option<Derived<f64>> {
        let mut vertices = self.vertex_count(stage)?;
        let tokens = self.info.tokens.filter(|t| *t > 0)?;
        vertices
            .sources
            .extend(self.info.sources.get("tokens").cloned());
        let value = vertices.value as f64 / f64::from(tokens);
        Some(Derived {
            value,
            sources: vertices.sources,
        })
    }

    /// Garbage collection share of a stage; `None` for native stages and without counters.
    pub fn gc_share(&self, stage: usize) -> Option<Derived<GcShare>> {
        let tree = self.stages.get(stage)?.counters.as_ref()?;
        let node = tree.node("ManagedMemory")?;
        let names = [
            "avgTimeInGCPercent",
            "maxTimeInGCPercent",
            "TimeInGCPercent",
        ];
        let value = |name: &str| node.value(name).map(|percent| percent / 100.0);
        let plain = value(names[2]);
        let share = GcShare {
            mean: value(names[0]).or(plain),
            max: value(names[1]).or(plain),
        };
        let known = |name: &&&str| node.value(name).is_some();
        let sources: Vec<Source> = names
            .iter()
            .filter(known)
            .map(|name| tree.source(node, name))
            .collect();
        (!sources.is_empty()).then_some(Derived {
            value: share,
            sources,
        })
    }

    /// Spills of a stage; an empty list if there were none, `None` if no counter tells.
    pub fn spills(&self, stage: usize) -> Option<Derived<Vec<Spill>>> {
        let tree = self.stages.get(stage)?.counters.as_ref()?;
        let (mut spills, mut sources, mut told) = (Vec::new(), Vec::new(), false);
        for (at, node) in tree.nodes.iter().enumerate() {
            // the worst vertex tells more than the mean, so it is looked at first
            let counters = node.values.iter().filter(|(name, _)| is_spill(name));
            let best = counters.max_by(|a, b| a.1.total_cmp(&b.1));
            let Some((counter, value)) = best else {
                continue;
            };
            told = true;
            if value > 0.0 {
                sources.push(tree.source(node, counter));
                spills.push(Spill {
                    node: at,
                    counter: counter.to_string(),
                    value,
                });
            }
        }
        told.then_some(Derived {
            value: spills,
            sources,
        })
    }

    /// Memory of a stage: private bytes where they are counted, else the working set.
    pub fn memory_use(&self, stage: usize) -> Option<Derived<MemoryUse>> {
        let stage = self.stages.get(stage)?;
        let tree = stage.counters.as_ref()?;
        let names = ["maxPrivateMemoryPeakSize", "maxWorkingSetPeakSize"];
        let counted = |name: &&str| {
            tree.vertex
                .value(name)
                .map(|peak| (peak, tree.source(&tree.vertex, name)))
        };
        let (peak_bytes, source) = names.iter().find_map(counted)?;
        let limit = stage
            .memory_limit
            .and_then(|m| m.process_bytes)
            .map(|b| b as f64);
        let mut sources = vec![source];
        sources.extend(limit.and_then(|_| stage.definition("EstimatedLimitMemory/@processMemory")));
        Some(Derived {
            value: MemoryUse {
                peak_bytes,
                limit_bytes: limit,
            },
            sources,
        })
    }

    /// Exclusive times of a stage, largest first.
    pub fn exclusive_times(&self, stage: usize) -> Vec<Derived<ExclusiveTime>> {
        let Some(tree) = self.stages.get(stage).and_then(|s| s.counters.as_ref()) else {
            return Vec::new();
        };
        let own = |node: &CounterNode| node.value("exclusiveTime");
        let total: f64 = tree.nodes.iter().filter_map(own).sum();
        let of_node = |(at, node): (usize, &CounterNode)| {
            let ms = own(node)?;
            let share = if total > 0.0 { ms / total } else { 0.0 };
            let value = ExclusiveTime {
                node: at,
                ms,
                share,
            };
            Some(Derived {
                value,
                sources: vec![tree.source(node, "exclusiveTime")],
            })
        };
        let mut times: Vec<_> = tree.nodes.iter().enumerate().filter_map(of_node).collect();
        times.sort_by(|a, b| b.value.ms.total_cmp(&a.value.ms));
        times
    }
}

/// Counters of sorts (`maxSpillBucketCount`) and hash tables (`HtSpillLevel`, `BuffersSpilledCount`).
fn is_spill(counter: &str) -> bool {
    counter.contains("Spill") && !counter.starts_with("min")
}

impl Stage {
    /// A place in the definition of the stage.
    pub fn definition(&self, place: &str) -> Option<Source> {
        let file = self.defined_in.clone()?;
        Some(Source {
            file,
            locator: Some(format!("{}/{place}", self.name)),
        })
    }

    /// A place in the statistics of the stage, by the name of the number.
    pub fn summary_source(&self, name: &str) -> Option<Source> {
        let summary = self.summary.as_ref()?;
        let locator = Some(format!("{}/{}", summary.pointer, name.replace('.', "/")));
        Some(Source {
            file: summary.file.clone(),
            locator,
        })
    }
}

impl CounterTree {
    /// Index of the first node of that name and `opId`.
    pub fn position(&self, name: &str, op_id: Option<u32>) -> Option<usize> {
        self.nodes
            .iter()
            .position(|n| n.name == *name && n.op_id == op_id)
    }
}
