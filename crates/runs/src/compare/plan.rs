//! Changes of the plan: stages, channels, operators, and estimates.

use report::measure::book;

use super::matching::{StagePair, partner};
use super::{EstimateChange, Pair, PlanChange, PlanChangeKind};
use crate::{EdgeSummary, OperatorSummary, RunSummary, StageSummary, with_keys};

/// A smaller change of an estimate, or of its error, does not change a plan.
const ESTIMATE_FACTOR: f64 = 2.0;

/// Every change: stages, then channels, then operators.
pub(super) fn changes(a: &RunSummary, b: &RunSummary, pairs: &[StagePair]) -> Vec<PlanChange> {
    let mut changes = Vec::new();
    stages(a, b, pairs, &mut changes);
    channels(a, b, pairs, &mut changes);
    for (old, new) in matched(a, b, pairs) {
        operators(old, new, &mut changes);
    }
    changes.sort_by_key(|change| change.kind);
    changes
}

/// Operators of both runs with a large change of the estimate or of its error; the worst error first.
pub(super) fn estimates(
    a: &RunSummary,
    b: &RunSummary,
    pairs: &[StagePair],
) -> Vec<EstimateChange> {
    let mut changes: Vec<EstimateChange> = Vec::new();
    for (old, new) in matched(a, b, pairs) {
        for (x, y) in same_operators(old, new) {
            let both = |measure| Pair::new(x.get(measure), y.get(measure));
            let change = EstimateChange {
                stage: new.name.clone(),
                operator: y.id.clone(),
                rows: both(&book::OPERATOR_ROWS),
                estimated: both(&book::ESTIMATED_ROWS),
            };
            if is_far(change.estimated.ratio()) || is_far(error_ratio(&change)) {
                changes.push(change);
            }
        }
    }
    let worst = |c: &EstimateChange| {
        let (old, new) = (
            error(c.estimated.a, c.rows.a),
            error(c.estimated.b, c.rows.b),
        );
        old.into_iter().chain(new).fold(1.0, f64::max)
    };
    changes.sort_by(|x, y| worst(y).total_cmp(&worst(x)));
    changes
}

fn is_far(ratio: Option<f64>) -> bool {
    ratio.is_some_and(|r| !(1.0 / ESTIMATE_FACTOR..=ESTIMATE_FACTOR).contains(&r))
}

/// Error of an estimate as a factor, at least 1.
fn error(estimated: Option<f64>, rows: Option<f64>) -> Option<f64> {
    let (estimated, rows) = (estimated?.max(1.0), rows?.max(1.0));
    Some((estimated / rows).max(rows / estimated))
}

fn error_ratio(change: &EstimateChange) -> Option<f64> {
    let old = error(change.estimated.a, change.rows.a)?;
    Some(error(change.estimated.b, change.rows.b)? / old)
}

fn change(kind: PlanChangeKind, place: &str, a: Option<String>, b: Option<String>) -> PlanChange {
    let place = place.to_owned();
    PlanChange { kind, place, a, b }
}

fn stages(a: &RunSummary, b: &RunSummary, pairs: &[StagePair], out: &mut Vec<PlanChange>) {
    for pair in pairs {
        let (kind, stage) = match (pair.a, pair.b) {
            (None, Some(j)) => (PlanChangeKind::StageAppeared, &b.stages[j]),
            (Some(i), None) => (PlanChangeKind::StageGone, &a.stages[i]),
            _ => continue,
        };
        let does: Vec<&str> = stage.operators.iter().map(|o| o.kind.as_str()).collect();
        let does = Some(does.join(", ")).filter(|d| !d.is_empty());
        let (was, is) = match kind {
            PlanChangeKind::StageAppeared => (None, does),
            _ => (does, None),
        };
        out.push(change(kind, &stage.name, was, is));
    }
}

/// Changed channels between stages of both runs; the channels of an added or removed stage follow from that change.
fn channels(a: &RunSummary, b: &RunSummary, pairs: &[StagePair], out: &mut Vec<PlanChange>) {
    let in_both = |stage: usize| pairs.iter().any(|p| p.b == Some(stage) && p.a.is_some());
    let ends_in_b =
        |edge: &EdgeSummary| Some((partner(pairs, edge.from)?, partner(pairs, edge.to)?));
    let old = a.edges.iter().filter_map(|e| Some((e, ends_in_b(e)?)));
    let mut old: Vec<(&EdgeSummary, (usize, usize))> = old.collect();
    for edge in &b.edges {
        let place = place(b, edge);
        let (from, to) = (edge.from, edge.to);
        let between: Vec<usize> = (0..old.len()).filter(|n| old[*n].1 == (from, to)).collect();
        let same =
            |n: &&usize| old[**n].0.exchange == edge.exchange && old[**n].0.keys == edge.keys;
        match between.iter().find(same).or(between.first()).copied() {
            Some(n) => channel(old.remove(n).0, edge, &place, out),
            None if in_both(from) && in_both(to) => {
                let is = Some(with_keys(&edge.exchange, &edge.keys));
                out.push(change(PlanChangeKind::ChannelAppeared, &place, None, is));
            }
            None => {}
        }
    }
    for (edge, _) in old {
        let was = Some(with_keys(&edge.exchange, &edge.keys));
        out.push(change(
            PlanChangeKind::ChannelGone,
            &place(a, edge),
            was,
            None,
        ));
    }
}

fn place(run: &RunSummary, edge: &EdgeSummary) -> String {
    let [from, to] = [edge.from, edge.to].map(|stage| &run.stages[stage].name);
    format!("{from} → {to}")
}

fn channel(old: &EdgeSummary, new: &EdgeSummary, place: &str, out: &mut Vec<PlanChange>) {
    let mut push = |kind, [was, is]: [String; 2]| {
        out.push(change(kind, place, Some(was), Some(is)));
    };
    if old.exchange != new.exchange {
        let exchanges = [old, new].map(|e| with_keys(&e.exchange, &e.keys));
        push(PlanChangeKind::ExchangeChanged, exchanges);
    } else if old.keys != new.keys {
        let keys = [old, new].map(|e| e.keys.join(", "));
        push(PlanChangeKind::KeysChanged, keys);
    }
    if let (Some(was), Some(is)) = (old.get(&book::PARTITIONS), new.get(&book::PARTITIONS))
        && was != is
    {
        let partitions = [was, is].map(|n| n.to_string());
        push(PlanChangeKind::PartitionsChanged, partitions);
    }
}

fn operators(old: &StageSummary, new: &StageSummary, out: &mut Vec<PlanChange>) {
    if old.operators.is_empty() || new.operators.is_empty() {
        // One of the runs has no file that lists them.
        return;
    }
    let place = |o: &OperatorSummary| format!("{}/{}", new.name, o.id);
    let described = |o: &OperatorSummary| with_keys(&o.kind, &o.keys);
    let same = same_operators(old, new);
    let mut gone: Vec<&OperatorSummary> = left_over(&old.operators, same.iter().map(|(x, _)| *x));
    let came: Vec<&OperatorSummary> = left_over(&new.operators, same.iter().map(|(_, y)| *y));
    for operator in came {
        let before = gone.iter().position(|o| o.kind == operator.kind);
        let (kind, was) = match before.map(|at| gone.remove(at)) {
            Some(was) => (PlanChangeKind::OperatorChanged, Some(described(was))),
            None => (PlanChangeKind::OperatorAppeared, None),
        };
        let is = Some(described(operator));
        out.push(change(kind, &place(operator), was, is));
    }
    for operator in gone {
        let was = Some(described(operator));
        let kind = PlanChangeKind::OperatorGone;
        out.push(change(kind, &place(operator), was, None));
    }
}

/// Operators that do the same on the same keys, paired in their order; ids may differ.
fn same_operators<'a>(
    old: &'a StageSummary,
    new: &'a StageSummary,
) -> Vec<(&'a OperatorSummary, &'a OperatorSummary)> {
    let mut left: Vec<&OperatorSummary> = old.operators.iter().collect();
    let mut same = Vec::new();
    for operator in &new.operators {
        let alike = |o: &&OperatorSummary| o.kind == operator.kind && o.keys == operator.keys;
        let exact = left.iter().position(|o| alike(o) && o.id == operator.id);
        if let Some(at) = exact.or_else(|| left.iter().position(alike)) {
            same.push((left.remove(at), operator));
        }
    }
    same
}

fn left_over<'a>(
    all: &'a [OperatorSummary],
    used: impl Iterator<Item = &'a OperatorSummary> + Clone,
) -> Vec<&'a OperatorSummary> {
    all.iter()
        .filter(|o| !used.clone().any(|u| std::ptr::eq(*o, u)))
        .collect()
}

fn matched<'a>(
    a: &'a RunSummary,
    b: &'a RunSummary,
    pairs: &'a [StagePair],
) -> impl Iterator<Item = (&'a StageSummary, &'a StageSummary)> {
    pairs
        .iter()
        .filter_map(|pair| Some((a.stages.get(pair.a?)?, b.stages.get(pair.b?)?)))
}
