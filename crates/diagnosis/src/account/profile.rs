//! Time of a stage's vertices by kind, from the counters of its operators.

use job::facts::{OperatorFacts, Role, value};
use job::model::Edge;
use report::{Evidence, SegmentKind};

use super::timeline::Timeline;

use crate::impact::slowest_of;
use crate::measurements::spill;
use crate::properties::dataflow::is_generated_class;
use crate::view::View;

/// Fewer vertices than this have no usual run time.
const MIN_PEERS: usize = 3;

/// A slice of some time: kind, seconds, and evidence.
pub(super) type Slice = (SegmentKind, f64, Option<Evidence>);

/// How the stages of a run spend the time of their vertices.
pub(super) struct Profiles<'a> {
    view: &'a View<'a>,
    /// Seconds of tokens that each stage spent on starting, on lost attempts, and on running.
    spent: Vec<[f64; 3]>,
}

impl<'a> Profiles<'a> {
    pub(super) fn of(view: &'a View<'a>, timeline: &Timeline) -> Profiles<'a> {
        let mut spent = vec![[0.0; 3]; view.job.stages.len()];
        for a in &timeline.attempts {
            let [starting, lost, running] = &mut spent[a.stage];
            if a.is_useful() {
                *starting += a.running - a.started;
                *running += a.ended - a.running;
            } else {
                *lost += a.ended - a.started;
            }
        }
        Profiles { view, spent }
    }

    /// Slices for earlier vertices of a stage that held tokens for `seconds`.
    pub(super) fn waves(&self, stage: usize, seconds: f64) -> Vec<Slice> {
        let [starting, lost, running] = self.spent[stage];
        let share = seconds / (starting + lost + running).max(f64::MIN_POSITIVE);
        let mut slices = vec![
            (SegmentKind::Startup, starting * share, None),
            (SegmentKind::Retry, lost * share, None),
        ];
        slices.extend(self.work(stage, running * share));
        slices
    }

    /// Slices for a vertex of a stage that ran `seconds`. Time beyond the expected slowest of as many like
    /// vertices is straggling.
    pub(super) fn vertex(&self, stage: usize, seconds: f64) -> Vec<Slice> {
        let usual = self.usual_s(stage).unwrap_or(seconds).min(seconds);
        let mut slices = self.work(stage, usual);
        slices.push((SegmentKind::Straggler, seconds - usual, None));
        slices
    }

    /// Seconds that the slowest vertex of a stage would run, were they all like its median one.
    fn usual_s(&self, stage: usize) -> Option<f64> {
        let vertices = &self.view.run.as_ref()?.stages[stage].vertices;
        let mut runs: Vec<f64> = vertices.iter().map(|v| v.run_s).collect();
        if runs.len() < MIN_PEERS {
            return None;
        }
        let middle = runs.len() / 2;
        let (_, median, _) = runs.select_nth_unstable_by(middle, f64::total_cmp);
        Some(*median * slowest_of(vertices.len()))
    }

    /// `seconds` of the stage's work, divided like the time of its operators. Time without a counter is
    /// computing.
    fn work(&self, stage: usize, seconds: f64) -> Vec<Slice> {
        use SegmentKind::{Compute, Exchange, Gc, Read, Sort, Spill, UserCode};
        let facts = &self.view.facts[stage];
        let ms = |kind| -> f64 {
            let operators = self.operators(stage, kind);
            operators.map(spill::ms).sum()
        };
        let run_ms = facts.counted.as_ref().and_then(|c| value(&c.run_ms));
        let whole = run_ms.unwrap_or(0.0).max(facts.own_ms());
        if whole <= 0.0 {
            return vec![(Compute, seconds, None)];
        }
        let managed = ms(UserCode);
        let of_managed = managed * facts.gc.mean_share().unwrap_or(0.0).clamp(0.0, 1.0);
        let collected = value(&facts.gc.ms).unwrap_or(of_managed);
        let spilled = spill::surplus_ms(self.view, stage);
        let sorted = ms(Sort);
        let of_sorts = spilled.min(sorted);
        let divided = [
            (Read, ms(Read)),
            (Exchange, ms(Exchange)),
            (Sort, sorted - of_sorts),
            (Spill, spilled),
            (UserCode, managed - of_managed),
            (Gc, collected),
        ];
        let counted: f64 = divided.iter().map(|(_, ms)| ms).sum();
        divided
            .into_iter()
            .chain([(Compute, (whole - counted).max(0.0))])
            .map(|(kind, ms)| (kind, seconds * ms / whole, self.evidence(stage, kind)))
            .collect()
    }

    /// Evidence for the stage's time of a kind: its largest operator of that kind.
    fn evidence(&self, stage: usize, kind: SegmentKind) -> Option<Evidence> {
        let facts = &self.view.facts[stage];
        let largest = |kind| {
            self.operators(stage, kind)
                .max_by(|a, b| spill::ms(a).total_cmp(&spill::ms(b)))
        };
        match kind {
            SegmentKind::Gc => {
                let percent = facts.gc.mean_percent.as_ref().or(facts.gc.percent.as_ref());
                self.view.measured(percent, "%")
            }
            SegmentKind::Spill => {
                let mut spilling = facts.operators.iter().filter(|o| o.has_spilled());
                self.view.measured(&spilling.next()?.spilled, "buckets")
            }
            _ => self.view.measured(&largest(kind)?.own_ms, "ms"),
        }
    }

    fn operators(&self, stage: usize, kind: SegmentKind) -> impl Iterator<Item = &OperatorFacts> {
        let counted = self.view.facts[stage].operators.iter();
        counted.filter(move |o| o.role != Role::Union && self.kind(stage, o) == kind)
    }

    fn kind(&self, stage: usize, operator: &OperatorFacts) -> SegmentKind {
        let is_edge = |e: &Edge| e.uid.is_some() && e.uid == operator.uid;
        let is_read = || self.view.inputs(stage).any(is_edge);
        let is_written = || self.view.outputs(stage).any(is_edge);
        match operator.role {
            Role::ChannelReader if is_read() => SegmentKind::Exchange,
            Role::ChannelWriter if is_written() => SegmentKind::Exchange,
            Role::ChannelReader | Role::StoredInput => SegmentKind::Read,
            Role::Sort | Role::PartialSort => SegmentKind::Sort,
            Role::ManagedCode if self.runs_user_code(stage, operator) => SegmentKind::UserCode,
            _ => SegmentKind::Compute,
        }
    }

    fn runs_user_code(&self, stage: usize, operator: &OperatorFacts) -> bool {
        let mut operators = self.view.job.stages[stage].operators.iter();
        let defined = operators.find(|o| o.uid.is_some() && o.uid == operator.uid);
        defined.is_none_or(|o| !is_generated_class(&o.class_name))
    }
}
