//! Fills in the facts of a SCOPE stage from its counters and statistics. No other module knows
//! SCOPE's names for them.

use std::sync::Arc;

use super::counters::{CounterNode, CounterTree};
use crate::bounds;
use crate::facts::{
    Account, Derived, Gc, Measured, OperatorFacts, Place, Role, Spread, StageFacts, TimeSplit,
    value,
};
use crate::model::{
    Channel, Edge, ExchangeKind, Job, JobState, Operator, OperatorKind, Source, Stage, StageSummary,
};

/// Counters that show that a sort or hash table went to disk, the most significant first.
const SPILLS: [&str; 5] = [
    "maxSpillBucketCount",
    "avgSpillBucketCount",
    "HtSpillLevel",
    "maxHtSpillLevel",
    "SpillLevel",
];

impl Job {
    /// Facts of every stage, in the order of [`Job::stages`].
    pub fn facts(&self) -> Vec<Arc<StageFacts>> {
        let stages = 0..self.stages.len();
        stages.map(|stage| self.stage_facts(stage)).collect()
    }

    pub fn stage_facts(&self, index: usize) -> Arc<StageFacts> {
        let stage = &self.stages[index];
        if let Some(facts) = &stage.facts {
            return Arc::clone(facts);
        }
        let mut facts = match &stage.counters {
            Some(tree) => of_counters(tree),
            None => StageFacts::default(),
        };
        facts.of_operator = of_operators(stage, &facts);
        facts.stated = stage
            .summary
            .as_ref()
            .map(|s| Box::new(stated(&stage.name, s)));
        facts.vertices = self.vertex_count(index);
        facts.memory_limit = stage.memory_limit.map(|bytes| bytes as f64);
        facts.run_ms = self.run_ms_per_vertex(index);
        facts.bytes_read = self.bytes_read_per_vertex(index);
        if let Some(runs) = &stage.runs {
            facts.waits = TimeSplit::of_runs(runs);
            facts.bytes_written =
                Spread::of_runs(runs, &runs.bytes_written, |run| run.bytes_written as i64);
        }
        Arc::new(facts)
    }

    /// Milliseconds that the completed vertices of a stage ran, from vertex events.
    pub fn run_ms_per_vertex(&self, stage: usize) -> Option<Derived<Spread>> {
        let runs = self.stages.get(stage)?.runs.as_ref()?;
        Spread::of_runs(runs, &runs.run_ms, |run| {
            run.ended_ms.saturating_sub(run.running_ms)
        })
    }

    /// Whether no vertex of a stage began: the statistics count none, and there are no events. Of such a stage only the plan is known.
    pub fn never_ran(&self, index: usize) -> bool {
        let Some((stage, summary)) = self
            .stages
            .get(index)
            .and_then(|stage| Some((stage, stage.summary.as_ref()?)))
        else {
            return false;
        };
        let stated = stated(&stage.name, summary);
        let none = |n: &Option<Measured>| value(n).is_none_or(|n| n == 0.0);
        let attempts = [&stated.succeeded, &stated.failed, &stated.revoked];
        let has_events = stage.runs.as_ref().is_some_and(|r| !r.runs.is_empty());
        stated.succeeded.is_some() && attempts.into_iter().all(none) && !has_events
    }

    /// Bytes that the vertices of a stage read: from vertex events, else from the stage statistics. `None` for a stage that
    /// never ran; its statistics have zeros.
    pub fn bytes_read_per_vertex(&self, index: usize) -> Option<Derived<Spread>> {
        let stage = self.stages.get(index).filter(|_| !self.never_ran(index))?;
        let runs = stage.runs.as_ref();
        let of_events = runs
            .and_then(|runs| Spread::of_runs(runs, &runs.bytes_read, |run| run.bytes_read as i64));
        of_events.or_else(|| {
            let stated = stated(&stage.name, stage.summary.as_ref()?);
            let (total, max) = (stated.bytes_read?, stated.bytes_read_max?);
            let vertices = self.vertex_count(index)?;
            let spread = Spread::new(total.value, max.value, vertices.value)?;
            let mut sources = vec![max.source(), total.source()];
            sources.extend(vertices.sources);
            Some(Derived {
                value: Spread {
                    min: value(&stated.bytes_read_min),
                    ..spread
                },
                sources,
            })
        })
    }

    /// Vertices of a stage that ran to their end: vertex events count them; else the stage
    /// statistics, the vertices of a local run, or the pieces that a reader of the stage takes.
    pub fn vertex_count(&self, index: usize) -> Option<Derived<u64>> {
        let stage = self.stages.get(index)?;
        if let Some(of_log) = &stage.facts {
            return of_log.vertices.clone();
        }
        let one = |value: u64, source: Option<Source>| {
            let sources = source.into_iter().collect();
            (value > 0).then_some(Derived { value, sources })
        };
        let file = |file: &str| {
            let (file, locator) = (file.to_owned(), None);
            Some(Source { file, locator })
        };
        let stated = stage.summary.as_ref().map(|s| stated(&stage.name, s));
        let of_statistics = |of: fn(&Account) -> &Option<Measured>| {
            let number = of(stated.as_ref()?).as_ref()?;
            one(number.value as u64, Some(number.source()))
        };
        let planned = || of_statistics(|s| &s.vertices);
        // planned vertices run unless the job fails
        let all_run = self.info.state == JobState::Succeeded;
        let succeeded = of_statistics(|s| &s.succeeded).or_else(|| planned().filter(|_| all_run));
        let runs = stage.runs.as_ref();
        let events = runs.and_then(|r| one(r.completed, file(&r.file)));
        // a truncated profile counts too few
        let better = match (&events, &succeeded) {
            (Some(events), Some(stated)) if stated.value > events.value => succeeded,
            (Some(_), _) => events,
            _ => succeeded,
        };
        better
            .or_else(planned)
            .or_else(|| {
                let tree = stage.counters.as_ref()?;
                one(u64::from(tree.merged_vertices?), file(&tree.file))
            })
            .or_else(|| self.vertices_by_pieces(index))
    }

    /// Vertices by pieces: a reader that takes one piece from each of n vertices shows n; a stage that reads hash or
    /// range partitions has one vertex per partition.
    fn vertices_by_pieces(&self, stage: usize) -> Option<Derived<u64>> {
        let reader_count = |(stage, input): (&Stage, &Channel)| {
            let count = input.count.filter(|n| *n > 1)?;
            let place = format!("input[@id={}]/@numberOfInputs", input.id);
            Some((u64::from(count), stage.definition(&place)))
        };
        let by_reader = self.inputs_fed_by(stage).find_map(reader_count);
        let by_writer = || {
            use ExchangeKind as X;
            let splits = |e: &&Edge| matches!(e.exchange, X::Hash | X::Range | X::Gather);
            let edge = self.edges_into(stage).find(splits)?;
            let n = match edge.exchange {
                X::Gather => 1,
                _ => u64::from(edge.partitions?),
            };
            let place = format!("output[@id={}]/@numberOfOutputs", edge.channel);
            Some((n, self.stages.get(edge.from)?.definition(&place)))
        };
        let (value, source) = by_reader.or_else(by_writer)?;
        let sources = source.into_iter().collect();
        Some(Derived { value, sources })
    }
}

/// Makes facts of one node's numbers, with their places.
struct Node<'a> {
    node: &'a CounterNode,
    place: Arc<Place>,
}

fn node_at<'a>(node: &'a CounterNode, file: &Arc<str>, stage: &Arc<str>) -> Node<'a> {
    let place = Place::Node {
        file: Arc::clone(file),
        stage: Arc::clone(stage),
        name: node.name.clone(),
        uid: node.op_id,
    };
    Node {
        node,
        place: Arc::new(place),
    }
}

impl Node<'_> {
    fn get(&self, metric: &'static str) -> Option<Measured> {
        Some(Measured {
            value: self.node.value(metric).filter(|value| *value >= 0.0)?,
            metric,
            place: Arc::clone(&self.place),
        })
    }

    fn spilled(&self) -> Option<Measured> {
        let known = || SPILLS.iter().filter_map(|name| self.get(name));
        known().find(|m| m.value > 0.0).or_else(|| known().next())
    }
}

fn of_counters(tree: &CounterTree) -> StageFacts {
    let (file, stage): (Arc<str>, Arc<str>) =
        (tree.file.as_str().into(), tree.stage.as_str().into());
    let at = |node| node_at(node, &file, &stage);
    let named = |name: &str| tree.node(name).map(at);
    let get = |node: &Option<Node<'_>>, metric| node.as_ref()?.get(metric);
    let (time, gc) = (named("Time"), named("ManagedMemory"));
    let input = named("InputStatistics");
    let vertex = at(&tree.vertex);
    StageFacts {
        operators: operators(tree, at),
        counted: Some(Box::new(Account {
            run_ms: get(&time, "elapsedTime"),
            cpu_ms: get(&time, "totalCpuTime"),
            bytes_read: get(&input, "totalBytes"),
            ..Account::default()
        })),
        gc: Gc {
            mean_percent: get(&gc, "avgTimeInGCPercent"),
            max_percent: get(&gc, "maxTimeInGCPercent"),
            percent: get(&gc, "TimeInGCPercent"),
            full_collections: get(&gc, "avgGen2CollectionsCount"),
            ms: None,
        },
        private_peak: vertex.get("maxPrivateMemoryPeakSize"),
        working_set_peak: vertex.get("maxWorkingSetPeakSize"),
        ..StageFacts::default()
    }
}

/// Operators and channels; allocators, buffers and the like are left out.
fn operators<'a>(
    tree: &'a CounterTree,
    at: impl Fn(&'a CounterNode) -> Node<'a>,
) -> Vec<OperatorFacts> {
    let mut operators: Vec<OperatorFacts> = Vec::new();
    // for each node the nearest operator above it, itself included
    let mut kept: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let parent = node.parent.and_then(|parent| *kept.get(parent)?);
        let known = |name: &str| name == "rowCount" || name == "exclusiveTime" || is_spill(name);
        if node.op_id.is_some() || node.values.iter().any(|(name, _)| known(name)) {
            kept.push(Some(operators.len()));
            operators.push(operator(&at(node), parent));
            continue;
        }
        // stored data is counted in a separate node
        if let Some(reader) =
            parent.filter(|_| *node.name == *"ProcessingGroup" && node.parent.is_some())
        {
            let bytes = &mut operators[reader].bytes;
            *bytes = bytes.take().or_else(|| at(node).get("bytes"));
        }
        kept.push(parent);
    }
    operators
}

fn operator(node: &Node<'_>, parent: Option<usize>) -> OperatorFacts {
    let spills = node.node.values.iter().filter(|(name, _)| is_spill(name));
    OperatorFacts {
        uid: node.node.op_id,
        name: node.node.name.clone(),
        role: role(&node.node.name),
        parent,
        rows: node.get("rowCount"),
        rows_max: node.get("maxRowCount"),
        build_rows: node.get("SpBuildRowCount"),
        probe_rows: node.get("SpProbeRowCount"),
        bytes: node.get("bytes"),
        own_ms: node.get("exclusiveTime"),
        spilled: node.spilled(),
        spilled_max: node.get("maxSpillBucketCount"),
        spilled_mean: node.get("avgSpillBucketCount"),
        most_spilled: spills.map(|(_, value)| value).reduce(f64::max),
        ..OperatorFacts::default()
    }
}

/// Counters of sorts (`maxSpillBucketCount`) and hash tables (`HtSpillLevel`, `BuffersSpilledCount`).
fn is_spill(counter: &str) -> bool {
    counter.contains("Spill") && !counter.starts_with("min")
}

fn role(name: &str) -> Role {
    match name {
        "Extractor" => Role::ChannelReader,
        "Output" => Role::ChannelWriter,
        "SStreamExtract" | "SStreamExtractor" => Role::StoredInput,
        "ScopeProcess" | "ScopeReduce" | "ScopeCombine" => Role::ManagedCode,
        "Sort" => Role::Sort,
        _ if name.contains("UnionAll") => Role::Union,
        _ if name.contains("Sort") => Role::PartialSort,
        _ => Role::Other,
    }
}

/// For each operator of a stage, the position of its counters.
fn of_operators(stage: &Stage, facts: &StageFacts) -> Vec<Option<usize>> {
    let channel = |uid: Option<u32>, role: Role| {
        let fits = |o: &OperatorFacts| o.role == role && o.uid == uid;
        uid.and_then(|_| facts.operators.iter().position(fits))
    };
    let find = |operator: &Operator| {
        facts.position(operator.uid).or_else(|| {
            // an output is only identified by the number of its channel
            let uid = |channels: &[Channel]| channels.first()?.uid;
            match operator.kind {
                OperatorKind::Extract => channel(uid(&operator.inputs), Role::ChannelReader),
                _ => channel(uid(&operator.outputs), Role::ChannelWriter),
            }
        })
    };
    stage.operators.iter().map(find).collect()
}

fn stated(stage: &str, summary: &StageSummary) -> Account {
    let place = Arc::new(Place::Statistics {
        file: summary.file.clone(),
        pointer: summary.pointer.clone(),
        stage: stage.to_owned(),
    });
    let get = |metric: &'static str| {
        let value = summary.values.get(metric).copied();
        Some(Measured {
            value: value.filter(|value| *value >= 0.0)?,
            metric,
            place: Arc::clone(&place),
        })
    };
    let vertices = |metric| get(metric).filter(|m| bounds::parts_of(m.value).is_some());
    Account {
        vertices: vertices("totalCount"),
        succeeded: vertices("succeededCount"),
        failed: vertices("failedCount"),
        revoked: vertices("revocationCount"),
        run_ms: get("totalSucceededTime"),
        failed_ms: get("totalFailedTime"),
        cpu_ms: None,
        cross_pod: get("dataReadCrossPod"),
        bytes_read: get("dataRead"),
        bytes_read_max: get("maxVertexDataRead"),
        bytes_read_min: get("minVertexDataRead"),
        bytes_written: get("dataWritten"),
        temp_written: get("tempDataWritten"),
    }
}
