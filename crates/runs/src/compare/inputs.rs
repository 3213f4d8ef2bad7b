//! What the job reads: sizes and layouts side by side.

use super::{InputChange, Pair, Side};
use crate::shape::InputShape;

/// Every input of both runs once, the biggest change of bytes (or rows) first.
pub(crate) fn changes(a: &Side, b: &Side) -> Vec<InputChange> {
    if a.shape.inputs.is_empty() || b.shape.inputs.is_empty() {
        // One of the runs does not tell what it reads; that is named elsewhere.
        return Vec::new();
    }
    let mut left: Vec<&InputShape> = a.shape.inputs.iter().collect();
    let mut changes: Vec<InputChange> = Vec::new();
    for new in &b.shape.inputs {
        let exact = left.iter().position(|old| old.name == new.name);
        let at = exact.or_else(|| {
            let same = |old: &&InputShape| undated(&old.name) == undated(&new.name);
            left.iter().position(same)
        });
        changes.push(change(at.map(|at| left.remove(at)), Some(new)));
    }
    changes.extend(left.into_iter().map(|old| change(Some(old), None)));
    let size = |c: &InputChange| {
        let of = |p: Pair| (p.b.unwrap_or(0.0) - p.a.unwrap_or(0.0)).abs();
        if c.bytes.is_known() {
            of(c.bytes)
        } else {
            of(c.rows)
        }
    };
    changes.sort_by(|x, y| size(y).total_cmp(&size(x)));
    changes
}

/// Whether two runs are of one job. Where names or inputs are not known, they are taken to be.
pub(crate) fn same_job(a: &Side, b: &Side) -> bool {
    let name = |side: &Side| side.report.job.name.as_deref().map(undated);
    let (Some(x), Some(y)) = (name(a), name(b)) else {
        return true;
    };
    let common = a.shape.inputs.iter().any(|old| {
        b.shape
            .inputs
            .iter()
            .any(|new| undated(&old.name) == undated(&new.name))
    });
    let unknown = a.shape.inputs.is_empty() || b.shape.inputs.is_empty();
    x == y || common || unknown
}

fn change(old: Option<&InputShape>, new: Option<&InputShape>) -> InputChange {
    let both = |value: fn(&InputShape) -> Option<u64>| {
        let of = |input: Option<&InputShape>| input.and_then(value).map(|n| n as f64);
        Pair::new(of(old), of(new))
    };
    let name = new.or(old).map(|i| i.name.clone()).unwrap_or_default();
    InputChange {
        name_in_a: old.map(|o| o.name.clone()).filter(|n| *n != name),
        name,
        in_a: old.is_some(),
        in_b: new.is_some(),
        rows: both(|i| i.rows),
        bytes: both(|i| i.bytes),
        files: both(|i| i.files),
        layout_a: old.and_then(|i| i.layout.clone()),
        layout_b: new.and_then(|i| i.layout.clone()),
    }
}

/// A name with its digits masked: `/logs/2026/11/20/clicks.ss` and the next day's are one input.
fn undated(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect()
}
