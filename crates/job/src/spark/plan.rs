//! The plan of an execution: the kinds of its nodes, and the stages that ran them.
//!
//! A plan is cut at its exchanges into pieces; a piece runs in the stages with tasks that updated the
//! metrics of its nodes.

use std::collections::{BTreeSet, HashMap};

use super::plan_text::RawNode;
use super::tasks::Accumulated;
use crate::model::{NodeMetric, OperatorKind, SparkNode};

/// Accumulators by stage.
pub(super) struct Metrics<'a> {
    /// Additions of each stage's tasks.
    pub(super) of_stage: Vec<&'a HashMap<u64, Accumulated>>,
    /// Values set by the driver.
    pub(super) of_driver: &'a HashMap<u64, f64>,
    /// Stages by accumulator.
    pub(super) stages: HashMap<u64, Vec<usize>>,
}

impl<'a> Metrics<'a> {
    pub(super) fn new(
        of_stage: Vec<&'a HashMap<u64, Accumulated>>,
        of_driver: &'a HashMap<u64, f64>,
    ) -> Metrics<'a> {
        let mut stages: HashMap<u64, Vec<usize>> = HashMap::new();
        for (stage, accumulators) in of_stage.iter().enumerate() {
            for id in accumulators.keys() {
                stages.entry(*id).or_default().push(stage);
            }
        }
        Metrics {
            of_stage,
            of_driver,
            stages,
        }
    }

    fn stages_of(&self, id: u64) -> &[usize] {
        self.stages.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// A plan with its pieces.
pub(super) struct Pieces {
    pub(super) nodes: Vec<SparkNode>,
    /// Accumulators and units of each node.
    pub(super) raw: Vec<RawNode>,
    /// Piece of each node; an exchange is in the piece that reads it.
    pub(super) piece: Vec<usize>,
    /// Exchange above each piece, by its node; `None` for the last piece of the plan and for cached data.
    pub(super) written_by: Vec<Option<usize>>,
    /// Stages that run each piece.
    pub(super) stages: Vec<Vec<usize>>,
    /// Nodes of each piece, ascending.
    pub(super) own: Vec<Vec<usize>>,
    /// The exchange that each node reads: itself, or the one that it reuses.
    exchanges: Vec<Option<usize>>,
}

impl Pieces {
    pub(super) fn of(raw: Vec<RawNode>, first_uid: u32, metrics: &Metrics<'_>) -> Pieces {
        let mut piece = Vec::with_capacity(raw.len());
        let mut written_by = Vec::new();
        for node in &raw {
            let above = node.parent.filter(|p| *p < piece.len());
            let own = match above {
                Some(parent) if !is_boundary(&raw[parent].name) => piece[parent],
                Some(parent) => {
                    written_by.push(Some(parent).filter(|p| is_exchange(&raw[*p].name)));
                    written_by.len() - 1
                }
                None => {
                    written_by.push(None);
                    written_by.len() - 1
                }
            };
            piece.push(own);
        }
        let mut stages: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); written_by.len()];
        for (node, own) in raw.iter().zip(&piece) {
            let exchange = is_exchange(&node.name);
            for (name, id, _) in &node.metrics {
                if !exchange || is_read_side(name) {
                    stages[*own].extend(metrics.stages_of(*id));
                }
            }
        }
        for (own, exchange) in written_by.iter().enumerate() {
            let written = exchange.iter().flat_map(|e| &raw[*e].metrics);
            for (_, id, _) in written.filter(|(name, _, _)| !is_read_side(name)) {
                stages[own].extend(metrics.stages_of(*id));
            }
        }
        let stages: Vec<Vec<usize>> = stages
            .into_iter()
            .map(|s| s.into_iter().collect())
            .collect();
        let mut writers: HashMap<usize, usize> = HashMap::new();
        for (own, exchange) in written_by.iter().enumerate() {
            if let Some(exchange) = exchange {
                writers.entry(*exchange).or_insert(own);
            }
        }
        let mut own_nodes = vec![Vec::new(); written_by.len()];
        for (node, own) in piece.iter().enumerate() {
            own_nodes[*own].push(node);
        }
        let mut nodes: Vec<SparkNode> = Vec::with_capacity(raw.len());
        for (at, node) in raw.iter().enumerate() {
            let own = writers.get(&at).copied().unwrap_or(piece[at]);
            nodes.push(SparkNode {
                uid: first_uid + at as u32,
                name: node.name.clone(),
                text: node.text.clone(),
                parent: node.parent,
                metadata: node.metadata.clone(),
                metrics: node.metrics.iter().map(|m| metric(m, metrics)).collect(),
                stages: stages[own].clone(),
            });
        }
        Pieces {
            nodes,
            own: own_nodes,
            exchanges: exchanges(&raw),
            raw,
            piece,
            written_by,
            stages,
        }
    }

    /// The exchange that a node reads: itself, or the one that it reuses.
    pub(super) fn exchange(&self, node: usize) -> Option<usize> {
        self.exchanges[node]
    }

    /// The node that takes a node's rows; wrapper nodes are skipped.
    pub(super) fn consumer(&self, node: usize) -> Option<usize> {
        let above = |at: &usize| self.raw[*at].parent;
        let mut all = std::iter::successors(above(&node), above);
        all.find(|at| !is_wrapper(&self.raw[*at].name))
    }
}

/// The exchange that each node of a plan reads.
fn exchanges(raw: &[RawNode]) -> Vec<Option<usize>> {
    let mut by_text: HashMap<&str, usize> = HashMap::new();
    for (at, node) in raw.iter().enumerate().filter(|(_, n)| is_exchange(&n.name)) {
        by_text.entry(&node.text).or_insert(at);
    }
    let read = |(at, node): (usize, &RawNode)| {
        if is_exchange(&node.name) {
            return Some(at);
        }
        let reused = node.text.strip_prefix("ReusedExchange")?;
        by_text.get(reused.split_once("], ")?.1).copied()
    };
    raw.iter().enumerate().map(read).collect()
}

fn metric((name, id, unit): &(String, u64, String), metrics: &Metrics<'_>) -> NodeMetric {
    let scale = scale(unit);
    let stages = metrics.stages_of(*id).iter();
    let of_tasks: Vec<Accumulated> = stages
        .filter_map(|s| metrics.of_stage[*s].get(id).copied())
        .collect();
    let sum = of_tasks.iter().map(|a| a.sum).reduce(|a, b| a + b);
    let max = of_tasks.iter().map(|a| a.max).reduce(f64::max);
    let value = sum.or_else(|| metrics.of_driver.get(id).copied());
    // averages cannot be added up
    let value = value.filter(|_| unit != "average");
    NodeMetric {
        name: name.clone(),
        value: value.map(|v| v * scale),
        max: max.map(|v| v * scale),
    }
}

/// Milliseconds where the unit is nanoseconds.
pub(super) fn scale(unit: &str) -> f64 {
    match unit {
        "nsTiming" => 1e-6,
        _ => 1.0,
    }
}

/// Whether a metric of an exchange belongs to its readers.
pub(super) fn is_read_side(metric: &str) -> bool {
    ["read", "fetch", "merged", "reqs"]
        .iter()
        .any(|word| metric.contains(word))
}

pub(super) fn is_exchange(name: &str) -> bool {
    name.ends_with("Exchange") && !name.starts_with("Reused")
}

/// Whether the subtree below a node runs in other stages, or at another time.
fn is_boundary(name: &str) -> bool {
    is_exchange(name)
        || name.starts_with("InMemory")
        || name.contains("Subquery")
        || name.starts_with("TableCacheQueryStage")
}

/// Nodes that only wrap another node.
pub(super) fn is_wrapper(name: &str) -> bool {
    name.starts_with("WholeStageCodegen")
        || name.ends_with("QueryStage")
        || name.starts_with("AdaptiveSparkPlan")
        || name.ends_with("ShuffleRead")
        || name.ends_with("ShuffleReader")
        || [
            "InputAdapter",
            "ColumnarToRow",
            "InMemoryRelation",
            "WriteFiles",
        ]
        .contains(&name)
        || name.contains("Subquery")
}

/// Kind of a plan node.
pub(super) fn kind(name: &str, text: &str) -> OperatorKind {
    use OperatorKind as K;
    let has = |words: &[&str]| words.iter().any(|w| name.contains(w));
    match () {
        () if has(&["Scan"]) || name == "Range" => K::Extract,
        () if has(&["Join", "CartesianProduct"]) => K::Join,
        () if has(&[
            "Python",
            "InPandas",
            "InArrow",
            "MapPartitions",
            "MapElements",
            "FlatMapGroups",
            "CoGroup",
            "MapGroups",
        ]) =>
        {
            K::Process
        }
        () if has(&["Aggregate"]) && text.contains("partial_") => K::PartialAggregate,
        () if has(&["Aggregate"]) => K::Aggregate,
        () if has(&["TakeOrdered", "Limit"]) => K::Top,
        () if has(&["Sort"]) => K::Sort,
        () if name.starts_with("Union") => K::Union,
        () if has(&["Window"]) => K::Window,
        () if has(&["Filter", "Project"]) => K::Transform,
        () if has(&[
            "Execute ",
            "Insert",
            "Save",
            "Write",
            "AppendData",
            "Overwrite",
            "CreateTable",
            "ReplaceData",
        ]) =>
        {
            K::Output
        }
        () => K::Other,
    }
}
