//! The digest of the optimizer's plan: estimated and actual values of each operator.

use job::facts::value;
use report::format::{ROW, Ratio};
use report::{Text, text};

use super::Look;
use crate::wording::Lines;

/// Operators of a digest, those with the largest errors first.
const OPERATORS: usize = 30;

/// Expected and actual rows of the operators, the worst estimates first.
pub(super) fn estimates(look: &Look<'_>, named: Option<&str>) -> Lines {
    let mut found: Vec<(f64, Text)> = Vec::new();
    for (at, stage) in look.job.stages.iter().enumerate() {
        let facts = look.job.stage_facts(at);
        for (index, operator) in stage.operators.iter().enumerate() {
            let is_wanted = Look::wants(named, &stage.name) || Look::wants(named, &operator.id);
            let estimate = look.job.estimate_of(at, index).filter(|_| is_wanted);
            let Some((estimate, node)) = estimate.and_then(|e| Some((e.value.card?, e.value)))
            else {
                continue;
            };
            let rows = facts.operator(index).and_then(|o| value(&o.rows));
            let error = rows.map_or(0.0, |rows| (rows.max(1.0) / estimate.max(1.0)).ln().abs());
            let actual = match rows {
                Some(rows) => text!(
                    "，实际 {rows}（估计的 {ratio}）",
                    ", actually {rows} ({ratio} the estimate)",
                    rows = ROW.count(rows),
                    ratio = Ratio(rows / estimate.max(1.0))
                ),
                None => text!("，实际行数未知", ", actual rows unknown"),
            };
            let (stage, operator, node) = (&stage.name, &operator.id, &node.name);
            let line = text!(
                "{stage}/{operator}（{node}）：估计 {estimate}{actual}",
                "{stage}/{operator} ({node}): estimated {estimate}{actual}",
                estimate = ROW.count(estimate),
                actual = actual
            );
            found.push((error, line));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut digest = Lines::new(look.language);
    let worst = found.into_iter().take(OPERATORS);
    worst.for_each(|(_, line)| digest.say(line));
    digest
}
