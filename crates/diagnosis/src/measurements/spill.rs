//! Cost of spilling to disk: the time of the spilling operators minus the time of the same rows in
//! memory, at the pace of this job's own sorts without spilling.

use job::facts::{OperatorFacts, Role, StageFacts, value};

use crate::view::View;

/// Milliseconds that an in-memory sort takes per row, and per byte of it: fitted to the sorts of
/// simulated jobs without spills (24 to 360 bytes a row, within 10 %).
const SORT_MS_PER_ROW: f64 = 0.68e-3;

const SORT_MS_PER_BYTE: f64 = 3.6e-6;

/// Milliseconds that the operators of a stage lose by spilling.
pub fn surplus_ms(view: &View<'_>, stage: usize) -> f64 {
    let facts = &view.facts[stage];
    if !facts.operators.iter().any(OperatorFacts::has_spilled) {
        return 0.0;
    }
    let machine = *view.sort_pace.get_or_init(|| own_pace(view));
    facts
        .operators
        .iter()
        .enumerate()
        .filter(|(_, o)| o.has_spilled())
        .map(|(i, o)| {
            let usual = usual_ms(facts, i) * machine;
            let spent = ms(o);
            match usual > 0.0 {
                true => (spent - usual).max(0.0),
                false => 0.0,
            }
        })
        .sum()
}

/// Whether spilling costs a stage much, but not all its vertices spill.
pub(crate) fn spills_in_part(view: &View<'_>, stage: usize) -> bool {
    let in_part = |o: &OperatorFacts| {
        value(&o.spilled_max).is_some_and(|m| m > 0.0)
            && value(&o.spilled_mean).is_some_and(|a| a < 1.0)
    };
    view.facts[stage].operators.iter().any(in_part)
        && surplus_ms(view, stage) > 0.1 * view.stage_ms(stage)
}

/// Whether spilling may be the reason why some vertices of a stage are slow, without counters that decide it.
pub(crate) fn may_spill_in_part(view: &View<'_>, stage: usize) -> bool {
    let operators = &view.facts[stage].operators;
    let is_open = |o: &OperatorFacts| match (value(&o.spilled_max), value(&o.spilled_mean)) {
        (None, None) => false,
        (Some(max), Some(_)) => max > 0.0 && (o.rows.is_none() || o.own_ms.is_none()),
        _ => true,
    };
    operators.iter().any(is_open)
}

pub(crate) fn ms(operator: &OperatorFacts) -> f64 {
    value(&operator.own_ms).unwrap_or(0.0)
}

/// Time of a sort or hash operator in memory, by its rows and their width. A hash table costs
/// about a third of a sort.
fn usual_ms(facts: &StageFacts, position: usize) -> f64 {
    let operator = &facts.operators[position];
    let Some(rows) = value(&operator.rows) else {
        return 0.0;
    };
    let per_row = SORT_MS_PER_ROW + SORT_MS_PER_BYTE * row_width(facts, position).unwrap_or(64.0);
    match operator.role {
        Role::Sort | Role::PartialSort => rows * per_row,
        _ => rows * per_row / 3.0,
    }
}

/// Bytes per row that come into an operator from the channels below it.
fn row_width(facts: &StageFacts, position: usize) -> Option<f64> {
    let mut bytes = 0.0;
    let mut rows = 0.0;
    for o in facts.below(position).map(|i| &facts.operators[i]) {
        if let (Role::ChannelReader, Some(b), Some(r)) = (o.role, value(&o.bytes), value(&o.rows)) {
            bytes += b;
            rows += r;
        }
    }
    (rows > 0.0).then(|| bytes / rows)
}

/// Time of this job's own sorts in relation to the usual time: the median over sorts without
/// spills, 1 if there are none.
fn own_pace(view: &View<'_>) -> f64 {
    let mut paces: Vec<f64> = view
        .facts
        .iter()
        .flat_map(|f| f.operators.iter().enumerate().map(move |(i, o)| (f, i, o)))
        .filter(|(_, _, o)| {
            o.role == Role::Sort && !o.has_spilled() && value(&o.rows).is_some_and(|r| r > 1e5)
        })
        .map(|(f, i, o)| ms(o) / usual_ms(f, i))
        .filter(|p| p.is_finite() && *p > 0.0)
        .collect();
    paces.sort_by(f64::total_cmp);
    paces.get(paces.len() / 2).copied().unwrap_or(1.0)
}
