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
pub(super) struct Shares {
    pub(super) parts: Parts,
    /// The costliest first.
    pub(super) stages: Vec<usize>,
    /// Seconds of each stage.
    costs: Vec<f64>,
    /// The costliest stage, and its share.
    pub(super) worst: (usize, f64),
}

/// Takes a share of the given kinds of time in every stage that has one; `share` gets a stage and its seconds of these kinds.
pub(super) fn shares(
    unclaimed: &Unclaimed<'_>,
    kinds: &[SegmentKind],
    share: impl Fn(usize, f64) -> Option<f64>,
) -> Option<Shares> {
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
        parts,
        stages,
        costs,
        worst,
    })
}

impl Shares {
    /// Moves the stages of one group to the front: the group that costs most as a whole.
    pub(super) fn lead_by<K: PartialEq>(&mut self, group: impl Fn(usize) -> K) {
        let groups: Vec<K> = self.stages.iter().map(|s| group(*s)).collect();
        let cost = |wanted: &K| -> f64 {
            let costs = groups.iter().zip(&self.costs);
            costs
                .filter(|(g, _)| *g == wanted)
                .map(|(_, cost)| cost)
                .sum()
        };
        let costs: Vec<f64> = groups.iter().map(cost).collect();
        let most = costs.iter().copied().fold(0.0, f64::max);
        let mut of_stages = std::mem::take(&mut self.stages).into_iter().zip(costs);
        let (mut first, rest): (Vec<_>, Vec<_>) =
            of_stages.by_ref().partition(|(_, cost)| *cost >= most);
        first.extend(rest);
        self.stages = first.into_iter().map(|(stage, _)| stage).collect();
    }

    /// The excess; the account's evidence for its costliest parts follows `evidence`.
    pub(super) fn into_excess(
        self,
        unclaimed: &Unclaimed<'_>,
        cause: Cause,
        summary: Text,
        evidence: impl IntoIterator<Item = Evidence>,
        certainty: f64,
        method: &'static str,
    ) -> Excess {
        let own = unclaimed.evidence(&self.parts);
        Excess {
            cause,
            parts: self.parts,
            stages: self.stages,
            summary,
            evidence: evidence.into_iter().chain(own).collect(),
            certainty,
            method,
        }
    }

    pub(super) fn seconds(&self) -> Seconds {
        Seconds(self.parts.iter().map(|(_, s)| s).sum())
    }
}
