//! The part of a whole: an operator's share of the time of its stage.

use report::format::{Seconds, Share as Part};
use report::measure::book;
use report::text;

use crate::Asked;
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::*;

/// Says the share of a stage's time that an operator takes itself: "how much of SV1 is spent in the processor?".
pub(super) fn of_time(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let others = [
        Rows,
        Bytes,
        Data,
        Most,
        Least,
        Noun(crate::word::Thing::Vertex),
    ];
    let operators = intent.subjects.iter().filter_map(|s| match s {
        Subject::Operator(at, o) => Some((*at, *o)),
        _ => None,
    });
    let operators: Vec<(usize, usize)> = operators.collect();
    if !reading.has(Share) || reading.has_any(&others) || intent.asks_why() {
        return false;
    }
    let begun = said.len();
    for (at, o) in operators {
        let stage = &run.summary.stages[at];
        let own = &stage.operators[o];
        let all = stage
            .operators
            .iter()
            .filter_map(|o| o.get(&book::OWN_TIME));
        let total: f64 = all.sum();
        let Some(value) = own.values.value(&book::OWN_TIME).filter(|_| total > 0.0) else {
            continue;
        };
        let name = own.name_in(&stage.name);
        let ids = said.evidence_of(&book::OWN_TIME, value, &name, run.vertex());
        said.cite(
            text!(
                "{name} 占 {stage} 各算子总时间的 {share}：{own}，共 {total}",
                "{name} takes {share} of the time of all operators of {stage}: {own} of {total}",
                stage = stage.name,
                share = Part(value.number() / total),
                own = Seconds(value.number() / 1e3),
                total = Seconds(total / 1e3)
            ),
            &ids,
        );
    }
    said.len() > begun
}
