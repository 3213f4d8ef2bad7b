//! Inputs of the job: sizes and layouts in both runs.

use report::measure::{Entity, book};

use super::{ComparedRun, InputChange, Pair, Pairs};
use crate::InputSummary;

/// Every input of either run, the biggest change of bytes (or rows) first.
pub(super) fn changes(a: &ComparedRun, b: &ComparedRun) -> Vec<InputChange> {
    if a.summary.inputs.is_empty() || b.summary.inputs.is_empty() {
        // Reported as a gap.
        return Vec::new();
    }
    let mut left: Vec<&InputSummary> = a.summary.inputs.iter().collect();
    let mut changes: Vec<InputChange> = Vec::new();
    for new in &b.summary.inputs {
        let exact = left.iter().position(|old| old.name == new.name);
        let at = exact.or_else(|| {
            let same = |old: &&InputSummary| undated(&old.name) == undated(&new.name);
            left.iter().position(same)
        });
        changes.push(change(at.map(|at| left.remove(at)), Some(new)));
    }
    changes.extend(left.into_iter().map(|old| change(Some(old), None)));
    let size = |c: &InputChange| {
        let of = |p: Pair| (p.b.unwrap_or(0.0) - p.a.unwrap_or(0.0)).abs();
        let bytes = c.numbers.get(&book::STORED_BYTES);
        match bytes.is_known() {
            true => of(bytes),
            false => of(c.numbers.get(&book::STORED_ROWS)),
        }
    };
    changes.sort_by(|x, y| size(y).total_cmp(&size(x)));
    changes
}

/// Whether the runs are of one job; assumed where names or inputs are unknown.
pub(super) fn same_job(a: &ComparedRun, b: &ComparedRun) -> bool {
    let name = |run: &ComparedRun| run.report.job.name.as_deref().map(undated);
    let (Some(x), Some(y)) = (name(a), name(b)) else {
        return true;
    };
    let (old, new) = (&a.summary.inputs, &b.summary.inputs);
    let is_common =
        |input: &InputSummary| new.iter().any(|n| undated(&n.name) == undated(&input.name));
    x == y || old.is_empty() || new.is_empty() || old.iter().any(is_common)
}

fn change(old: Option<&InputSummary>, new: Option<&InputSummary>) -> InputChange {
    let name = new.or(old).map(|i| i.name.clone()).unwrap_or_default();
    InputChange {
        name_in_a: old.map(|o| o.name.clone()).filter(|n| *n != name),
        name,
        in_a: old.is_some(),
        in_b: new.is_some(),
        numbers: Pairs::of(
            Entity::Input,
            old.map(|i| &i.values),
            new.map(|i| &i.values),
        ),
        layout_a: old.and_then(|i| i.layout.clone()),
        layout_b: new.and_then(|i| i.layout.clone()),
    }
}

/// A name without dates, numbers and identifiers: `/logs/2026/11/20/clicks.ss` and the next day's are one input.
pub(crate) fn undated(name: &str) -> String {
    let is_hex = |part: &str| part.len() >= 8 && part.chars().all(|c| c.is_ascii_hexdigit());
    let masked = |part: &str| {
        let mut out = String::with_capacity(part.len());
        for c in part.chars() {
            match c.is_ascii_digit() {
                true if out.ends_with('0') => {}
                true => out.push('0'),
                false => out.push(c),
            }
        }
        out
    };
    let parts = name.split_inclusive(|c: char| !c.is_alphanumeric());
    let parts = parts.map(|part| {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        match is_hex(word) {
            true => format!("0{}", &part[word.len()..]),
            false => masked(part),
        }
    });
    parts.collect()
}
