//! Books every stretch of the critical path under its kind of time.

use std::collections::BTreeMap;

use report::{Evidence, SegmentKind};

use super::before::{POLL_S, before, waits};
use super::profile::{Profiles, Slice};
use super::timeline::Timeline;
use super::walk::{Stretch, walk};
use super::{LEAST_S, Part, Span, details, shown};
use crate::impact::{Cover, MAX_DISPATCH_S};
use crate::view::View;

/// Error of a sum of seconds.
const ROUNDING_S: f64 = 1e-6;

/// Number of stretches with evidence: the longest ones.
const MOST_SHOWN: usize = 2_000;

/// The parts so far.
struct Ledger<'a> {
    view: &'a View<'a>,
    parts: Vec<Part>,
    /// Spans with open work, in seconds since submission, of an application that waits for others.
    open: Option<Cover>,
    /// Spans of stages that were left out.
    untold: Cover,
    /// Times in which lost attempts ran, each with a stage of theirs, first to last.
    lost: Vec<(Span, usize)>,
    /// Whether the current stretch gets evidence.
    shows: bool,
}

/// The time from submission to end, part by part.
pub(super) fn parts(view: &View<'_>, run: Span, timeline: Option<&Timeline>) -> Vec<Part> {
    let mut ledger = Ledger {
        view,
        parts: Vec::new(),
        open: open(view),
        untold: untold(view),
        lost: timeline.map_or_else(Vec::new, lost),
        shows: true,
    };
    let mut at = 0.0;
    for (kind, span) in before(&view.job.info, run.from) {
        ledger.silence(Span::new(at, span.from));
        ledger.book(kind, None, span, shown::stated(view, kind, span));
        at = span.to.max(at);
    }
    ledger.silence(Span::new(at, run.from));
    match timeline.filter(|t| !t.path.is_empty()) {
        Some(timeline) => ledger.run(run, timeline),
        None => ledger.silence(run),
    }
    details::detailed(view, ledger.parts)
}

impl Ledger<'_> {
    fn book(
        &mut self,
        kind: SegmentKind,
        stage: Option<usize>,
        span: Span,
        evidence: impl IntoIterator<Item = Evidence>,
    ) {
        if span.seconds() <= 0.0 {
            return;
        }
        let evidence = evidence.into_iter().filter(|_| self.shows);
        match self.parts.last_mut() {
            Some(last) if last.kind == kind && last.stage == stage => {
                last.span.to = span.to;
                last.evidence.extend(evidence);
            }
            _ => self.parts.push(Part {
                kind,
                detail: None,
                stage,
                span,
                evidence: evidence.collect(),
                finding: None,
            }),
        }
    }

    /// Divides a span into slices, one after the other. `seen` shows the whole span.
    fn divide(&mut self, stage: usize, span: Span, slices: Vec<Slice>, seen: &Option<Evidence>) {
        let (mut at, mut due) = (span.from, span.from);
        for (kind, seconds, evidence) in slices {
            due = (due + seconds).min(span.to);
            if due - at > LEAST_S - ROUNDING_S {
                let evidence = seen.iter().cloned().chain(evidence);
                self.book(kind, Some(stage), Span::new(at, due), evidence);
                at = due;
            }
        }
        match self.parts.last_mut() {
            Some(last) if at > span.from => last.span.to = span.to,
            _ => self.book(SegmentKind::Compute, Some(stage), span, seen.clone()),
        }
    }

    /// Time without a record in any file: the job manager's own time if it is short.
    fn silence(&mut self, span: Span) {
        let kind = match span.seconds() <= POLL_S {
            true => SegmentKind::Driver,
            false => SegmentKind::Unexplained,
        };
        let evidence = shown::stated(self.view, kind, span);
        self.book(kind, None, span, evidence);
    }

    fn run(&mut self, run: Span, timeline: &Timeline) {
        let stretches = walk(run, timeline);
        let stage = |index: usize| timeline.attempts[index].stage;
        let waiting = stretches.iter().filter_map(|(what, span)| match what {
            Stretch::Wait(_) => Some(*span),
            _ => None,
        });
        let held = timeline.held(&waiting.collect::<Vec<_>>(), MAX_DISPATCH_S);
        let mut held = held.into_iter();
        let waits = waits(&self.view.job.info, run);
        let waits = Cover::of(waits.iter().map(|s| (s.from, s.to)));
        let active = timeline.active();
        let profiles = Profiles::of(self.view, timeline);
        let least_s = least_shown(stretches.iter().map(|(_, span)| span.seconds()));
        for (what, span) in stretches {
            self.shows = span.seconds() >= least_s;
            let seen = what.attempt().map(|index| &timeline.attempts[index]);
            let seen = seen.filter(|_| self.shows);
            let seen = seen.and_then(|a| shown::attempt(self.view, a, what, span));
            match what {
                Stretch::Gap => self.gap(span, &active, &waits),
                Stretch::Wait(index) => {
                    let held = held.next().unwrap_or_default();
                    let capacity = capacity_s(timeline, span, held.values().sum());
                    let free = Span::new(span.from, span.from + capacity);
                    let wait = vec![(SegmentKind::CapacityWait, capacity, None)];
                    if capacity > 0.0 {
                        self.divide(stage(index), free, wait, &seen);
                    }
                    let rest = Span::new(free.to, span.to);
                    match held.is_empty() {
                        // nothing holds the tokens: the attempt is on its way to one
                        true => self.book(SegmentKind::Startup, Some(stage(index)), rest, seen),
                        false => self.waves(&profiles, rest, &held, &seen),
                    }
                }
                Stretch::Startup(index) => {
                    self.book(SegmentKind::Startup, Some(stage(index)), span, seen);
                }
                Stretch::Lost(index) => {
                    self.book(SegmentKind::Retry, Some(stage(index)), span, seen);
                }
                Stretch::Run(index) => {
                    let slices = profiles.vertex(stage(index), span.seconds());
                    self.divide(stage(index), span, slices, &seen);
                }
            }
        }
    }

    /// Books time during which the job's own vertices held its tokens on their stages, in proportion to the held tokens.
    fn waves(
        &mut self,
        profiles: &Profiles<'_>,
        span: Span,
        held: &BTreeMap<usize, f64>,
        seen: &Option<Evidence>,
    ) {
        let all: f64 = held.values().sum();
        let mut from = span.from;
        for (stage, seconds) in held.iter().filter(|_| span.seconds() > 0.0) {
            let to = from + span.seconds() * seconds / all;
            let own = Span::new(from, to);
            self.divide(*stage, own, profiles.waves(*stage, own.seconds()), seen);
            from = to;
        }
    }

    /// Time between the known stages of an application: computing if a left-out stage ran, else lost if lost attempts did, else the
    /// driver's.
    fn between(&mut self, span: Span) {
        let untold = self.untold.inside(span.from, span.to);
        let mut done = span.from;
        for (from, to) in untold.into_iter().chain([(span.to, span.to)]) {
            self.without_stages(Span::new(done, from));
            self.book(SegmentKind::Compute, None, Span::new(from, to), None);
            done = to;
        }
    }

    /// Time without a stage on the path: lost while lost attempts ran, as those of a stage that began again, else the driver's.
    fn without_stages(&mut self, span: Span) {
        let first = self.lost.partition_point(|(lost, _)| lost.to <= span.from);
        let inside = self.lost[first..].iter();
        let inside = inside.take_while(|(lost, _)| lost.from < span.to);
        let inside: Vec<(Span, usize)> = inside.copied().collect();
        let mut done = span.from;
        for (lost, stage) in inside {
            let lost = Span::new(lost.from.max(done), lost.to.min(span.to));
            self.driver(Span::new(done, lost.from));
            let evidence = shown::stated(self.view, SegmentKind::Retry, lost);
            self.book(SegmentKind::Retry, Some(stage), lost, evidence);
            done = lost.to.max(done);
        }
        self.driver(Span::new(done, span.to));
    }

    /// Time without a stage of an application: the driver's. For an interactive application,
    /// time without open work is idle.
    fn driver(&mut self, span: Span) {
        if span.seconds() <= 0.0 {
            return;
        }
        let opened = self.open.as_ref();
        let Some(opened) = opened.map(|open| open.inside(span.from, span.to)) else {
            let evidence = shown::stated(self.view, SegmentKind::Driver, span);
            return self.book(SegmentKind::Driver, None, span, evidence);
        };
        let mut done = span.from;
        for (from, to) in opened.into_iter().chain([(span.to, span.to)]) {
            for (kind, part) in [
                (SegmentKind::Idle, Span::new(done, from)),
                (SegmentKind::Driver, Span::new(from, to)),
            ] {
                let evidence = shown::stated(self.view, kind, part);
                self.book(kind, None, part, evidence);
            }
            done = done.max(to);
        }
    }

    /// Time without a ready vertex on the path.
    fn gap(&mut self, span: Span, active: &Cover, waits: &Cover) {
        let waited = waits.within(span.from, span.to);
        let rest = Span::new(span.from + waited, span.to);
        let wait = SegmentKind::CapacityWait;
        let waited = Span::new(span.from, rest.from);
        self.book(wait, None, waited, shown::stated(self.view, wait, waited));
        if self.view.job.spark.is_some() {
            return self.between(rest);
        }
        let ran = active.within(span.from, span.to) > 0.5 * span.seconds();
        if rest.seconds() <= POLL_S || ran || !has_all_events(self.view) {
            return self.silence(rest);
        }
        let idle = SegmentKind::Idle;
        self.book(idle, None, rest, shown::stated(self.view, idle, rest));
    }
}

/// Times in which lost attempts ran, without overlaps, each with the stage of the first of them.
fn lost(timeline: &Timeline) -> Vec<(Span, usize)> {
    let lost = timeline.attempts.iter().filter(|a| a.is_lost());
    let mut spans: Vec<(Span, usize)> = lost
        .map(|a| (Span::new(a.started, a.ended), a.stage))
        .collect();
    spans.sort_by(|a, b| a.0.from.total_cmp(&b.0.from));
    spans.dedup_by(|next, last| {
        let overlaps = next.0.from <= last.0.to;
        if overlaps {
            last.0.to = last.0.to.max(next.0.to);
        }
        overlaps
    });
    spans
}

/// Spans of stages that were left out.
fn untold(view: &View<'_>) -> Cover {
    let untold = view.job.spark.iter().flat_map(|app| &app.untold);
    since_submission(view, untold.copied())
}

/// Spans with open work of an interactive or streaming application; `None` for all others.
fn open(view: &View<'_>) -> Option<Cover> {
    let app = view.job.spark.as_ref();
    let app = app.filter(|app| app.waits_for_others())?;
    Some(since_submission(view, app.open_spans().into_iter()))
}

/// Spans in seconds since submission.
fn since_submission(view: &View<'_>, spans: impl Iterator<Item = (i64, i64)>) -> Cover {
    let origin = view.job.info.submitted_ms.unwrap_or(0);
    let at = |ms: i64| (ms - origin) as f64 / 1000.0;
    Cover::of(spans.map(|(from, to)| (at(from), at(to))))
}

/// Length of the shortest stretch with evidence; 0 unless there are too many stretches.
fn least_shown(seconds: impl Iterator<Item = f64>) -> f64 {
    let mut seconds: Vec<f64> = seconds.collect();
    if seconds.len() <= MOST_SHOWN {
        return 0.0;
    }
    let (_, least, _) = seconds.select_nth_unstable_by(MOST_SHOWN, |a, b| b.total_cmp(a));
    *least + f64::EPSILON
}

/// Whether no vertex is missing from the events, as from a file that was cut off.
fn has_all_events(view: &View<'_>) -> bool {
    let stages = view.job.stages.iter().enumerate();
    let mut observed = stages.map(|(s, stage)| (view.vertices(s), &stage.runs));
    observed.all(|(vertices, runs)| {
        runs.as_ref()
            .is_some_and(|r| vertices.is_none_or(|n| n <= r.completed))
    })
}

/// Seconds of a wait that count as missing tokens. `held` token-seconds of the job's own vertices count as their work instead.
fn capacity_s(timeline: &Timeline, span: Span, held: f64) -> f64 {
    let offered = (timeline.tokens * span.seconds()).max(held);
    let capacity = span.seconds() * (1.0 - held / offered);
    // a token is not handed on at once
    if capacity < MAX_DISPATCH_S {
        0.0
    } else {
        capacity
    }
}
