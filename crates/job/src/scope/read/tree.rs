//! `[n]_stdout.txt` of a local run: the counters of one vertex as lines indented by tabs, and lines of
//! the vertex host.

use std::collections::{HashMap, VecDeque};

use super::names::Names;
use super::{Input, StageIndex, number};
use crate::bounds::Quota;
use crate::counters::{CounterNode, CounterTree, Name};
use crate::model::Job;
use crate::problem::Problem;

/// Nodes kept of one vertex; real ones have some hundred.
const NODES_PER_VERTEX: usize = 5_000;

/// Deeper lines are attached at this depth, as a guard against malicious input.
const MAX_DEPTH: usize = 1_000;

/// Reads the tree and merges it with the trees of the stage's other vertices.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let room = job.room_for(Quota::Counters);
    let (tree, left) = parse(input, room);
    job.keeps(Quota::Counters, room - left, input.name);
    if left == 0 {
        job.left_out(Quota::Counters, room, input.name);
    }
    let Some(tree) = tree else {
        job.note(input.name, None, &Problem::NoCounters);
        return;
    };
    let Some(stage) = StageIndex::of(job, input.name).at(job, &tree.stage) else {
        return;
    };
    match &mut job.stages[stage].counters {
        // counters of a cluster run already cover all vertices
        Some(existing) if existing.merged_vertices.is_none() => {}
        Some(existing) => merge(existing, tree),
        none => *none = Some(tree),
    }
}

/// The tree, and the bytes left of `room`.
fn parse(input: &Input<'_>, room: usize) -> (Option<CounterTree>, usize) {
    let mut names = Names::within(room);
    let mut tree: Option<CounterTree> = None;
    let mut host = CounterNode {
        name: names.get("VertexHost"),
        ..CounterNode::default()
    };
    let (mut open, mut done): (Vec<usize>, bool) = (Vec::new(), false);
    for (number, line) in input.text.lines().enumerate() {
        let depth = line.bytes().take_while(|b| *b == b'\t').count();
        let content = line[depth..].trim_end();
        let head = content.split_once(':').filter(|(name, _)| is_name(name));
        match (&mut tree, head) {
            (None, Some((name, rest))) if depth == 0 && rest.contains("vertexGuid=") => {
                let mut vertex = CounterNode::default();
                fill(&mut names, &mut vertex, rest);
                vertex.line = u32::try_from(number + 1).ok();
                tree = Some(CounterTree {
                    stage: name.to_owned(),
                    file: input.name.to_owned(),
                    vertex,
                    nodes: Vec::new(),
                    merged_vertices: Some(1),
                });
            }
            (Some(tree), Some((name, rest))) if depth > 0 && !done => {
                open.truncate(depth.min(MAX_DEPTH) - 1);
                let mut node = CounterNode {
                    name: names.get(name),
                    parent: open.last().copied(),
                    line: u32::try_from(number + 1).ok(),
                    ..CounterNode::default()
                };
                fill(&mut names, &mut node, rest);
                if names.left() > 0 && tree.nodes.len() < NODES_PER_VERTEX {
                    open.push(tree.nodes.len());
                    tree.nodes.push(node);
                }
            }
            (_, _) => {
                // the first line at depth 0 after the tree ends it ("Overall memory usage …")
                done |= tree.is_some() && depth == 0;
                host_line(&mut names, &mut host, content);
            }
        }
    }
    if let Some(tree) = tree.as_mut().filter(|_| !host.values.is_empty()) {
        tree.nodes.push(host);
    }
    (tree, names.left())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// `k=v, k=v,` — values that are not numbers (a guid, a date) are left out.
fn fill(names: &mut Names, node: &mut CounterNode, text: &str) {
    names.charge();
    for pair in text.split(',') {
        if let Some((name, value)) = pair.trim().split_once('=') {
            names.add(node, name, value);
        }
    }
}

/// Reads execution time and managed heap limit from a line of the vertex host.
fn host_line(names: &mut Names, host: &mut CounterNode, line: &str) {
    let found = |before: &str, after: &str| {
        let rest = &line[line.find(before)? + before.len()..];
        let end = if after.is_empty() {
            rest.len()
        } else {
            rest.find(after)?
        };
        number(rest[..end].trim())
    };
    let values = [
        (
            "vertexExecutionMs",
            found("Vertex Execution done in ", "msec"),
        ),
        ("clrMemoryLimit", found("memory limit: ", "")),
        (
            "finishedSeconds",
            found("finished executing successfully in ", "sec"),
        ),
    ];
    for (name, value) in values {
        if let Some(value) = value {
            host.values.push(names.get(name), value);
        }
    }
}

/// Adds the counters of one more vertex: totals are summed, `max…` and `min…` compared, `avg…`
/// averaged over the vertices.
pub(crate) fn merge(tree: &mut CounterTree, other: CounterTree) {
    let (before, added) = (
        tree.merged_vertices.unwrap_or(1),
        other.merged_vertices.unwrap_or(1),
    );
    let weights = (f64::from(before), f64::from(added));
    merge_node(&mut tree.vertex, &other.vertex, weights);
    // nodes with the same name and number under the same parent, in file order
    type Key = (Option<usize>, Name, Option<u32>);
    let mut free: HashMap<Key, VecDeque<usize>> = HashMap::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        let key = (node.parent, node.name.clone(), node.op_id);
        free.entry(key).or_default().push_back(index);
    }
    let mut at: Vec<usize> = Vec::with_capacity(other.nodes.len());
    for mut node in other.nodes {
        let parent = node.parent.and_then(|p| at.get(p).copied());
        let key = (parent, node.name.clone(), node.op_id);
        if let Some(index) = free.get_mut(&key).and_then(VecDeque::pop_front) {
            merge_node(&mut tree.nodes[index], &node, weights);
            at.push(index);
        } else {
            node.parent = parent;
            at.push(tree.nodes.len());
            tree.nodes.push(node);
        }
    }
    tree.merged_vertices = Some(before.saturating_add(added));
}

fn merge_node(into: &mut CounterNode, from: &CounterNode, weights: (f64, f64)) {
    // a merged value comes from several files, so it has no line
    into.line = None;
    for (name, value) in from.values.iter() {
        match into.value(name) {
            Some(old) => into.values.set(name, merged(name, old, value, weights)),
            None => into.values.push(name.clone(), value),
        }
    }
}

fn merged(name: &str, old: f64, new: f64, weights: (f64, f64)) -> f64 {
    match name {
        _ if name.starts_with("max") => old.max(new),
        _ if name.starts_with("min") => old.min(new),
        _ if name.starts_with("avg") => {
            (old * weights.0 + new * weights.1) / (weights.0 + weights.1)
        }
        "userCode" | "clrMemoryLimit" => old.max(new),
        _ => old + new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "LocaVertexHost\nWed: Vertex Execution done in 318msec\nCLR started, memory limit: 5000\n\
        SV1_X: vertexGuid=FF, vertexStart=Wed Sep  5 16:50:30 2018, maxWorkingSetPeakSize=8,\n\
        \tOutput: opId=3, rowCount=10, maxRowCount=10, avgIoTime=2,\n\
        \t\tEmpty:\n\t\t\tExtractor: opId=1, rowCount=20,\n\
        Overall memory usage statistics\n\tAllocations = 10\n\tNot: a=1,\n";

    #[test]
    fn depth_is_nesting() {
        let tree = parse(&Input::new("f", ONE), 1 << 20).0.expect("tree");
        let names: Vec<&str> = tree.nodes.iter().map(|n| &*n.name).collect();
        assert_eq!(names, ["Output", "Empty", "Extractor", "VertexHost"]);
        assert_eq!(tree.nodes[2].parent, Some(1));
        assert_eq!(tree.nodes[2].line, Some(7));
        assert_eq!(tree.nodes[3].value("vertexExecutionMs"), Some(318.0));
        assert_eq!(tree.nodes[3].value("clrMemoryLimit"), Some(5000.0));
        assert_eq!(tree.vertex.value("maxWorkingSetPeakSize"), Some(8.0));
    }

    #[test]
    fn vertices_of_a_stage_are_merged() {
        let mut job = Job::default();
        let other = ONE.replace(
            "rowCount=10, maxRowCount=10, avgIoTime=2",
            "rowCount=5, maxRowCount=5, avgIoTime=4",
        );
        read(&Input::new("a", ONE), &mut job);
        read(&Input::new("b", &other), &mut job);
        let tree = job.stages[0].counters.as_ref().expect("counters");
        assert_eq!(tree.merged_vertices, Some(2));
        let output = tree.by_op_id(3).expect("output");
        assert_eq!(output.value("rowCount"), Some(15.0));
        assert_eq!(output.value("maxRowCount"), Some(10.0));
        assert_eq!(output.value("avgIoTime"), Some(3.0));
        assert_eq!(tree.nodes.len(), 4);
    }

    #[test]
    fn no_tree_is_reported() {
        let mut job = Job::default();
        read(
            &Input::new("a", "LocaVertexHost Runtime engine initialized\n"),
            &mut job,
        );
        assert!(job.stages.is_empty());
        assert_eq!(job.diagnostics.len(), 1);
    }
}
