//! Where the time went: every second from submission to end, along the critical path.
//!
//! The parts are consecutive and add up to the total by construction. Time without an explanation
//! is `unexplained`, never dropped. Knows no rules; findings claim parts afterwards.

mod before;
mod claim;
mod cost;
mod details;
mod driver;
mod fold;
mod ledger;
mod outlook;
mod profile;
mod remark;
mod shown;
mod slots;
mod streams;
#[cfg(test)]
mod tests;
mod timeline;
mod tokens;
mod walk;

use job::model::JobInfo;
use report::{Evidence, Finding, Segment, SegmentDetail, SegmentKind, TimeAccount};

use crate::diagnosis::Numbering;
use crate::view::View;
use timeline::Timeline;

pub(crate) use claim::{Claimed, add_saving, claim};
pub(crate) use cost::cost;

/// How far off an estimated saving may be, as a factor: the median error on real runs.
const ERROR: f64 = 1.35;

/// Shorter parts, in seconds, are merged into the next part.
const LEAST_S: f64 = 0.1;

/// A stretch of time in seconds since submission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Span {
    fn new(from: f64, to: f64) -> Span {
        Span { from, to }
    }

    pub(crate) fn seconds(self) -> f64 {
        (self.to - self.from).max(0.0)
    }

    fn until(self, limit: f64) -> Span {
        Span::new(self.from, self.to.min(limit))
    }
}

/// A part of the time, before it has ids.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) kind: SegmentKind,
    pub(crate) detail: Option<SegmentDetail>,
    pub(crate) stage: Option<usize>,
    pub(crate) span: Span,
    pub(crate) evidence: Vec<Evidence>,
    /// Position of the finding that claims it.
    pub(crate) finding: Option<usize>,
}

impl Part {
    /// Bounds of the seconds that the same work needs. Claimed time is needless, within the error of the estimated saving.
    fn needed_s(&self) -> [f64; 2] {
        let seconds = self.span.seconds();
        match self.finding {
            Some(_) => [0.0, seconds * (1.0 - 1.0 / ERROR)],
            None => [seconds, seconds],
        }
    }
}

/// The time from submission to end.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    /// Ascending, without gaps.
    pub(crate) parts: Vec<Part>,
    /// The run; compiling and queueing come before it.
    pub(crate) run: Span,
    /// Seconds that the job lost to missing tokens while some of its vertices ran;
    /// `None` without vertex events.
    pub(crate) short_s: Option<f64>,
    /// From the first vertex of each stage to its last.
    active: Vec<Option<Span>>,
}

impl Account {
    /// The account of a job; `None` if no file tells how long it took from submission to end.
    pub(crate) fn of(view: &View<'_>) -> Option<Account> {
        let info = &view.job.info;
        let total = info.total_seconds().filter(|s| *s > 0.0)?;
        let run = Span::new(start(info, total), total);
        let timeline = Timeline::of(view, run);
        Some(Account {
            parts: ledger::parts(view, run, timeline.as_ref()),
            run,
            short_s: timeline.as_ref().and_then(|t| short_seconds(view, t)),
            active: timeline.map_or_else(Vec::new, |t| t.active_of_stages(view.job.stages.len())),
        })
    }

    /// When the given stages were active.
    fn active_of(&self, stages: &[bool]) -> Vec<Span> {
        let chosen = self
            .active
            .iter()
            .zip(stages)
            .filter(|(_, chosen)| **chosen);
        chosen.filter_map(|(span, _)| *span).collect()
    }

    pub(crate) fn seconds(&self, kind: SegmentKind) -> f64 {
        let parts = self.parts.iter().filter(|p| p.kind == kind);
        parts.map(|p| p.span.seconds()).sum()
    }

    pub(crate) fn report(
        self,
        view: &View<'_>,
        findings: &[Finding],
        avoidable_seconds: Option<f64>,
        numbering: &mut Numbering,
    ) -> TimeAccount {
        let total = self.run.to;
        let explained = total - self.seconds(SegmentKind::Unexplained);
        let (curve, resources) = outlook::outlook(view).unzip();
        let remarks = remark::remarks(view, &self).into_iter().chain(resources);
        let remarks = remarks.map(|said| said.into(view.language)).collect();
        let needed: Vec<[f64; 2]> = self.parts.iter().map(Part::needed_s).collect();
        let least: f64 = needed.iter().map(|n| n[0]).sum();
        let most: f64 = needed.iter().map(|n| n[1]).sum();
        let mut segment = |part: Part| Segment {
            group: part.kind.group(),
            needed_seconds: part.kind.group().map(|_| part.needed_s()),
            kind: part.kind,
            detail: part.detail,
            stage: part.stage.map(|s| view.name(s).to_owned()),
            start_seconds: part.span.from,
            seconds: part.span.seconds(),
            finding: part.finding.and_then(|f| Some(findings.get(f)?.id.clone())),
            evidence: numbering.ids(part.evidence),
        };
        TimeAccount {
            segments: fold::fold(self.parts)
                .into_iter()
                .map(&mut segment)
                .collect(),
            explained_share: (explained / total).clamp(0.0, 1.0),
            avoidable_seconds,
            at_best_seconds: avoidable_seconds.map(|_| [least, most]),
            remarks,
            curve: curve.unwrap_or_default(),
        }
    }
}

/// Seconds lost to missing tokens while some vertices ran. While none runs, the loss shows as
/// waiting in the states of the job or as a gap. `None` without vertex events.
fn short_seconds(view: &View<'_>, timeline: &Timeline) -> Option<f64> {
    if !timeline.attempts.iter().all(|a| a.line.is_some()) {
        return None;
    }
    let stages = view.job.stages.iter().enumerate();
    let unseen = stages.map(|(s, stage)| {
        let runs = stage.runs.as_ref();
        let completed = runs.map_or(0, |r| r.completed);
        let failed = runs.map_or(0, |r| r.failed);
        let stated = view.stated_failures(s) as u64;
        view.vertices(s).unwrap_or(0).saturating_sub(completed) + stated.saturating_sub(failed)
    });
    let slots = view.job.spark.as_ref().map(|app| app.slots_over_time());
    let slots = slots.unwrap_or_default();
    let origin = view.job.info.submitted_ms.unwrap_or(0);
    let offered = |at: f64| f64::from(slots.at(origin + (at * 1000.0) as i64));
    Some(tokens::short_s(
        timeline,
        unseen.sum::<u64>() as f64,
        offered,
    ))
}

/// Seconds from submission to the start of the run.
fn start(info: &JobInfo, total: f64) -> f64 {
    let stated = info.submitted_ms.zip(info.started_ms);
    let by_times = stated.map(|(from, to)| (to - from) as f64 / 1000.0);
    let by_elapsed = || info.elapsed_seconds.map(|elapsed| total - elapsed);
    let start = by_times
        .filter(|s| (0.0..=total).contains(s))
        .or_else(by_elapsed);
    start.unwrap_or(total).clamp(0.0, total)
}
