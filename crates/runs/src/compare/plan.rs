//! What changed in the plan: stages, channels, operators, and the estimates behind it.

use super::matching::{StagePair, partner};
use super::{EstimateChange, Pair, PlanChange, PlanChangeKind, Side};
use crate::shape::{EdgeShape, JobShape, OperatorShape, StageShape};

/// An estimate, or its error, that changed by less than this factor decides no plan.
const ESTIMATE_FACTOR: f64 = 2.0;

/// Every change, stages first, then channels, then operators.
pub(crate) fn changes(a: &Side, b: &Side, pairs: &[StagePair]) -> Vec<PlanChange> {
    let mut changes = Vec::new();
    stages(&a.shape, &b.shape, pairs, &mut changes);
    channels(&a.shape, &b.shape, pairs, &mut changes);
    for (old, new) in matched(a, b, pairs) {
        operators(old, new, &mut changes);
    }
    changes.sort_by_key(|change| change.kind);
    changes
}

/// Operators of both runs whose estimate, or its error, changed a lot; the worst error first.
pub(crate) fn estimates(a: &Side, b: &Side, pairs: &[StagePair]) -> Vec<EstimateChange> {
    let mut changes: Vec<EstimateChange> = Vec::new();
    for (old, new) in matched(a, b, pairs) {
        for (x, y) in same_operators(old, new) {
            let change = EstimateChange {
                stage: new.name.clone(),
                operator: y.id.clone(),
                rows: Pair::new(x.rows, y.rows),
                estimated: Pair::new(x.estimated_rows, y.estimated_rows),
            };
            if is_far(change.estimated.ratio()) || is_far(error_ratio(&change)) {
                changes.push(change);
            }
        }
    }
    let worst = |c: &EstimateChange| {
        [
            error(c.estimated.a, c.rows.a),
            error(c.estimated.b, c.rows.b),
        ]
        .into_iter()
        .flatten()
        .fold(1.0, f64::max)
    };
    changes.sort_by(|x, y| worst(y).total_cmp(&worst(x)));
    changes
}

fn is_far(ratio: Option<f64>) -> bool {
    ratio.is_some_and(|r| !(1.0 / ESTIMATE_FACTOR..=ESTIMATE_FACTOR).contains(&r))
}

/// Factor by which an estimate is wrong, at least 1.
fn error(estimated: Option<f64>, rows: Option<f64>) -> Option<f64> {
    let (estimated, rows) = (estimated?.max(1.0), rows?.max(1.0));
    Some((estimated / rows).max(rows / estimated))
}

fn error_ratio(change: &EstimateChange) -> Option<f64> {
    let old = error(change.estimated.a, change.rows.a)?;
    Some(error(change.estimated.b, change.rows.b)? / old)
}

fn stages(a: &JobShape, b: &JobShape, pairs: &[StagePair], out: &mut Vec<PlanChange>) {
    for pair in pairs {
        let (kind, stage) = match (pair.a, pair.b) {
            (None, Some(j)) => (PlanChangeKind::StageAppeared, &b.stages[j]),
            (Some(i), None) => (PlanChangeKind::StageGone, &a.stages[i]),
            _ => continue,
        };
        let does: Vec<&str> = stage.operators.iter().map(|o| o.kind.as_str()).collect();
        let does = Some(does.join(", ")).filter(|d| !d.is_empty());
        let is_new = kind == PlanChangeKind::StageAppeared;
        out.push(PlanChange {
            kind,
            place: stage.name.clone(),
            a: does.clone().filter(|_| !is_new),
            b: does.filter(|_| is_new),
        });
    }
}

/// Channels between stages that both runs have; those of a stage that came or went say nothing more.
fn channels(a: &JobShape, b: &JobShape, pairs: &[StagePair], out: &mut Vec<PlanChange>) {
    let index = |shape: &JobShape, name: &str| shape.stages.iter().position(|s| s.name == name);
    let ends_in_b = |edge: &EdgeShape| {
        let from = partner(pairs, index(a, &edge.from)?)?;
        let to = partner(pairs, index(a, &edge.to)?)?;
        Some((from, to))
    };
    let mut old: Vec<(&EdgeShape, (usize, usize))> = a
        .edges
        .iter()
        .filter_map(|e| Some((e, ends_in_b(e)?)))
        .collect();
    for edge in &b.edges {
        let (Some(from), Some(to)) = (index(b, &edge.from), index(b, &edge.to)) else {
            continue;
        };
        let between: Vec<usize> = (0..old.len()).filter(|n| old[*n].1 == (from, to)).collect();
        let same =
            |n: &&usize| old[**n].0.exchange == edge.exchange && old[**n].0.keys == edge.keys;
        let found = between.iter().find(same).or(between.first()).copied();
        match found {
            Some(n) => channel(old.remove(n).0, edge, out),
            None => {
                let known =
                    |stage: usize| pairs.iter().any(|p| p.b == Some(stage) && p.a.is_some());
                if known(from) && known(to) {
                    out.push(PlanChange {
                        kind: PlanChangeKind::ChannelAppeared,
                        place: place(edge),
                        a: None,
                        b: Some(described(edge)),
                    });
                }
            }
        }
    }
    for (edge, _) in old {
        out.push(PlanChange {
            kind: PlanChangeKind::ChannelGone,
            place: place(edge),
            a: Some(described(edge)),
            b: None,
        });
    }
}

fn channel(old: &EdgeShape, new: &EdgeShape, out: &mut Vec<PlanChange>) {
    let mut push = |kind, a: String, b: String| {
        out.push(PlanChange {
            kind,
            place: place(new),
            a: Some(a),
            b: Some(b),
        });
    };
    if old.exchange != new.exchange {
        push(
            PlanChangeKind::ExchangeChanged,
            described(old),
            described(new),
        );
    } else if old.keys != new.keys {
        push(
            PlanChangeKind::KeysChanged,
            old.keys.join(", "),
            new.keys.join(", "),
        );
    }
    if let (Some(was), Some(is)) = (old.partitions, new.partitions)
        && was != is
    {
        push(
            PlanChangeKind::PartitionsChanged,
            was.to_string(),
            is.to_string(),
        );
    }
}

fn place(edge: &EdgeShape) -> String {
    format!("{} → {}", edge.from, edge.to)
}

fn described(edge: &EdgeShape) -> String {
    if edge.keys.is_empty() {
        edge.exchange.clone()
    } else {
        format!("{} ({})", edge.exchange, edge.keys.join(", "))
    }
}

fn operators(old: &StageShape, new: &StageShape, out: &mut Vec<PlanChange>) {
    if old.operators.is_empty() || new.operators.is_empty() {
        // No file lists them in one of the runs.
        return;
    }
    let place = |o: &OperatorShape| format!("{}/{}", new.name, o.id);
    let same = same_operators(old, new);
    let mut gone: Vec<&OperatorShape> = left_over(&old.operators, same.iter().map(|(x, _)| *x));
    let came: Vec<&OperatorShape> = left_over(&new.operators, same.iter().map(|(_, y)| *y));
    for operator in came {
        let before = gone.iter().position(|o| o.kind == operator.kind);
        let (kind, a) = match before.map(|at| gone.remove(at)) {
            Some(was) => (PlanChangeKind::OperatorChanged, Some(worded(was))),
            None => (PlanChangeKind::OperatorAppeared, None),
        };
        out.push(PlanChange {
            kind,
            place: place(operator),
            a,
            b: Some(worded(operator)),
        });
    }
    for operator in gone {
        out.push(PlanChange {
            kind: PlanChangeKind::OperatorGone,
            place: place(operator),
            a: Some(worded(operator)),
            b: None,
        });
    }
}

fn worded(operator: &OperatorShape) -> String {
    if operator.keys.is_empty() {
        operator.kind.clone()
    } else {
        format!("{} ({})", operator.kind, operator.keys.join(", "))
    }
}

/// Operators that do the same on the same keys, paired in their order; ids may differ.
fn same_operators<'a>(
    old: &'a StageShape,
    new: &'a StageShape,
) -> Vec<(&'a OperatorShape, &'a OperatorShape)> {
    let mut left: Vec<&OperatorShape> = old.operators.iter().collect();
    let mut same = Vec::new();
    for operator in &new.operators {
        let alike = |o: &&OperatorShape| o.kind == operator.kind && o.keys == operator.keys;
        let exact = left.iter().position(|o| alike(o) && o.id == operator.id);
        if let Some(at) = exact.or_else(|| left.iter().position(alike)) {
            same.push((left.remove(at), operator));
        }
    }
    same
}

fn left_over<'a>(
    all: &'a [OperatorShape],
    used: impl Iterator<Item = &'a OperatorShape> + Clone,
) -> Vec<&'a OperatorShape> {
    all.iter()
        .filter(|o| !used.clone().any(|u| std::ptr::eq(*o, u)))
        .collect()
}

fn matched<'a>(
    a: &'a Side,
    b: &'a Side,
    pairs: &'a [StagePair],
) -> impl Iterator<Item = (&'a StageShape, &'a StageShape)> {
    pairs
        .iter()
        .filter_map(|pair| Some((a.shape.stages.get(pair.a?)?, b.shape.stages.get(pair.b?)?)))
}
