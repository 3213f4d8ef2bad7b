//! An excess as a share of some kinds of time, in every stage with that excess.

use report::{Cause, Evidence, SegmentKind, Text};

use super::{Excess, Parts, Unclaimed};
use report::format::Seconds;

/// Kinds of task time on the critical path.
pub(super) const TASKS: [SegmentKind; 7] = [
    SegmentKind::Read,
    SegmentKind::Compute,
    SegmentKind::UserCode,
    SegmentKind::Sort,
    SegmentKind::Spill,
    SegmentKind::Gc,
    SegmentKind::Exchange,
];

/// Parts of stages, with the excess's share of each.
pub(super) struct Shares<'a> {
    unclaimed: &'a Unclaimed<'a>,
    pub(super) parts: Parts,
    /// The costliest first.
    pub(super) stages: Vec<usize>,
    /// Seconds of each stage.
    costs: Vec<f64>,
    /// The costliest stage, and its share.
    pub(super) worst: (usize, f64),
}

/// Takes a share of the given kinds of time in every stage that has one; `share` gets a stage and its seconds of these kinds.
pub(super) fn shares<'a>(
    unclaimed: &'a Unclaimed<'a>,
    kinds: &[SegmentKind],
    share: impl Fn(usize, f64) -> Option<f64>,
) -> Option<Shares<'a>> {
    let mut found: Vec<(usize, f64, f64)> = Vec::new();
    let mut parts = Vec::new();
    for (stage, own) in unclaimed.by_stage(kinds) {
        let seconds: f64 = own.iter().map(|(_, s)| s).sum();
        let Some(share) = share(stage, seconds).filter(|s| *s > 0.0) else {
            continue;
        };
        found.push((stage, share, seconds * share));
        parts.extend(own.into_iter().map(|(at, s)| (at, s * share)));
    }
    found.sort_by(|a, b| b.2.total_cmp(&a.2));
    let worst = found.first().map(|(stage, share, _)| (*stage, *share))?;
    let (stages, costs) = found.into_iter().map(|(stage, _, s)| (stage, s)).unzip();
    Some(Shares {
        unclaimed,
        parts,
        stages,
        costs,
        worst,
    })
}

impl Shares<'_> {
    /// Sorts the stages by group, the costliest group first. There are few groups.
    pub(super) fn lead_by<K: PartialEq>(&mut self, group: impl Fn(usize) -> K) {
        let mut groups: Vec<(K, f64, Vec<usize>)> = Vec::new();
        for (stage, cost) in std::mem::take(&mut self.stages)
            .into_iter()
            .zip(&self.costs)
        {
            let own = group(stage);
            match groups.iter_mut().find(|(known, ..)| *known == own) {
                Some((_, costs, stages)) => {
                    *costs += cost;
                    stages.push(stage);
                }
                None => groups.push((own, *cost, vec![stage])),
            }
        }
        groups.sort_by(|a, b| b.1.total_cmp(&a.1));
        self.stages = groups
            .into_iter()
            .flat_map(|(_, _, stages)| stages)
            .collect();
    }

    /// The excess; the account's evidence for its costliest parts follows `evidence`.
    pub(super) fn excess(
        self,
        cause: Cause,
        summary: Text,
        evidence: impl IntoIterator<Item = Evidence>,
        certainty: f64,
    ) -> Excess {
        let own = self.unclaimed.evidence(&self.parts);
        Excess {
            cause,
            parts: self.parts,
            stages: self.stages,
            summary,
            evidence: evidence.into_iter().chain(own).collect(),
            certainty,
            method: "time of the kind on the critical path, less the usual time",
        }
    }

    pub(super) fn seconds(&self) -> Seconds {
        Seconds(self.parts.iter().map(|(_, s)| s).sum())
    }
}
