//! What spilling to disk costs: the time of the spilling operators beyond what the same rows take
//! in memory, by the pace of this job's own sorts that did not spill.

use job::counters::{CounterNode, CounterTree};

use crate::settings::Threshold;
use crate::view::View;

/// Milliseconds that an in-memory sort takes per row, and per byte of it: fitted to the sorts of
/// simulated jobs without spills (24 to 360 bytes a row, within 10 %).
const SORT_MS_PER_ROW: f64 = 0.68e-3;

const SORT_MS_PER_BYTE: f64 = 3.6e-6;

/// How many times its pace in memory an operator must take before its spilling counts.
pub(crate) static MIN_SLOWDOWN: Threshold = Threshold {
    name: "spill.min_slowdown",
    default: 1.3,
    unit: "ratio",
    reason_zh: "内存排序的速度在同类行上波动约 ±15 %，低于 1.3 倍看不出溢出的代价",
    reason_en: "sorts in memory vary by about 15 % on like rows; under 1.3 times nothing can be told",
    source: "spill-free sorts of simulated jobs",
};

/// Milliseconds that the operators of a stage lose by spilling.
pub(crate) fn surplus_ms(view: &View<'_>, stage: usize) -> f64 {
    let Some(tree) = &view.job.stages[stage].counters else {
        return 0.0;
    };
    let slowdown = view.limit(&MIN_SLOWDOWN);
    let machine = own_pace(view);
    tree.nodes
        .iter()
        .enumerate()
        .filter(|(_, n)| spill_counter(n).is_some())
        .map(|(i, n)| {
            let usual = usual_ms(tree, i) * machine;
            let spent = ms(n);
            if usual > 0.0 && spent > usual * slowdown {
                spent - usual
            } else {
                0.0
            }
        })
        .sum()
}

/// Whether spilling costs a stage much, but not all its vertices spill.
pub(crate) fn spills_in_part(view: &View<'_>, stage: usize) -> bool {
    let Some(tree) = &view.job.stages[stage].counters else {
        return false;
    };
    let in_part = |n: &CounterNode| {
        n.value("maxSpillBucketCount").is_some_and(|m| m > 0.0)
            && n.value("avgSpillBucketCount").is_some_and(|a| a < 1.0)
    };
    tree.nodes.iter().any(in_part) && surplus_ms(view, stage) > 0.1 * view.stage_ms(stage)
}

pub(crate) fn ms(node: &CounterNode) -> f64 {
    node.value("exclusiveTime").unwrap_or(0.0)
}

/// The counter that shows that a node spilled.
pub(crate) fn spill_counter(node: &CounterNode) -> Option<&'static str> {
    [
        "maxSpillBucketCount",
        "avgSpillBucketCount",
        "HtSpillLevel",
        "maxHtSpillLevel",
        "SpillLevel",
    ]
    .into_iter()
    .find(|name| node.value(name).is_some_and(|v| v > 0.0))
}

/// What a sort or hash operator takes in memory, by its rows and their width. A hash table costs
/// about a third of a sort.
fn usual_ms(tree: &CounterTree, node: usize) -> f64 {
    let n = &tree.nodes[node];
    let Some(rows) = n.value("rowCount") else {
        return 0.0;
    };
    let per_row = SORT_MS_PER_ROW + SORT_MS_PER_BYTE * row_width(tree, node).unwrap_or(64.0);
    if n.name.contains("Sort") {
        rows * per_row
    } else {
        rows * per_row / 3.0
    }
}

/// Bytes per row that come into a node, from the channels or extractors below it.
fn row_width(tree: &CounterTree, node: usize) -> Option<f64> {
    let mut bytes = 0.0;
    let mut rows = 0.0;
    for (i, n) in tree.nodes.iter().enumerate().skip(node + 1) {
        if !below(tree, i, node) {
            break;
        }
        if let (true, Some(b), Some(r)) =
            (n.name == "Extractor", n.value("bytes"), n.value("rowCount"))
        {
            bytes += b;
            rows += r;
        }
    }
    (rows > 0.0).then(|| bytes / rows)
}

/// Whether node `child` is in the subtree of `top`; children follow their parents.
fn below(tree: &CounterTree, child: usize, top: usize) -> bool {
    let mut at = tree.nodes[child].parent;
    while let Some(parent) = at {
        if parent == top {
            return true;
        }
        at = tree.nodes[parent].parent;
    }
    false
}

/// How much slower or faster than usual this job's own sorts are: the median over those without
/// spills, 1 if there are none.
fn own_pace(view: &View<'_>) -> f64 {
    let mut paces: Vec<f64> = view
        .job
        .stages
        .iter()
        .filter_map(|s| s.counters.as_ref())
        .flat_map(|t| t.nodes.iter().enumerate().map(move |(i, n)| (t, i, n)))
        .filter(|(_, _, n)| {
            n.name == "Sort"
                && spill_counter(n).is_none()
                && n.value("rowCount").is_some_and(|r| r > 1e5)
        })
        .map(|(t, i, n)| ms(n) / usual_ms(t, i))
        .filter(|p| p.is_finite() && *p > 0.0)
        .collect();
    paces.sort_by(f64::total_cmp);
    paces.get(paces.len() / 2).copied().unwrap_or(1.0)
}
