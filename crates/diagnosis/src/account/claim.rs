//! Findings claim parts of the time: each the seconds that it saves once the findings above it are fixed.
//!
//! The fixes are replayed one on top of the other, so that no second is saved twice and the
//! claims add up to the joint saving.

use report::format::Seconds;
use report::{Cause, Impact, SegmentDetail, SegmentKind, text};

use super::cost::hours_between;
use super::{Account, LEAST_S, Part};
use crate::impact::{Basis, Cover, Fix, RunModel, StageWork, replay};
use crate::rule::{Candidate, severity};
use crate::settings::{LEAST_SECONDS, MIN_SHARE};
use crate::view::View;
use crate::weigh;

/// Seconds of a part that are too few to stay unclaimed on their own.
const REST_S: f64 = 0.01;

/// Share of a part that is too little to stay unclaimed on its own.
const REST_SHARE: f64 = 0.01;

/// Findings, each with its saving on top of the findings before it.
pub(crate) struct Claimed {
    /// Failures first, then most seconds saved.
    pub(crate) findings: Vec<Candidate>,
    /// Candidates that another finding already fixes, with the position of that finding.
    pub(crate) explained: Vec<(Candidate, usize)>,
    /// Seconds that all findings save together; `None` if that cannot be estimated.
    pub(crate) avoidable_s: Option<f64>,
    /// The work with all findings fixed.
    pub(crate) fixed: Option<Vec<StageWork>>,
}

impl Claimed {
    /// Makes notes of the candidates that another finding already fixes; returns their causes, each
    /// with the position of that finding.
    pub(crate) fn explained(&mut self, notes: &mut Vec<Candidate>) -> Vec<(Cause, usize)> {
        let explained = std::mem::take(&mut self.explained);
        let causes = explained.iter().map(|(c, by)| (c.finding.cause, *by));
        let causes = causes.collect();
        notes.extend(explained.into_iter().map(|(c, _)| c));
        notes.sort_by(weigh::rank);
        causes
    }
}

/// The run with the fixes so far.
#[derive(Clone)]
struct Fixed<'a> {
    model: &'a RunModel,
    stages: Vec<StageWork>,
    tokens: usize,
    replayed_s: f64,
}

impl<'a> Fixed<'a> {
    fn none(model: &'a RunModel) -> Fixed<'a> {
        Fixed {
            model,
            stages: model.stages.clone(),
            tokens: model.tokens,
            replayed_s: model.replayed_s,
        }
    }

    /// The run with one more fix.
    fn with(&self, fix: &Fix) -> Fixed<'a> {
        let mut stages = self.stages.clone();
        fix.apply(&mut stages);
        let tokens = fix.tokens(self.tokens);
        Fixed {
            replayed_s: replay(&stages, tokens),
            stages,
            tokens,
            model: self.model,
        }
    }

    /// Seconds saved in comparison with `before`.
    fn saves(&self, before: &Fixed<'_>) -> f64 {
        self.model.seconds(before.replayed_s - self.replayed_s)
    }
}

/// Lets findings claim the time that they save. Findings about single vertices come first: an edit of
/// the whole stage would also claim the excess of its vertices. The others follow by seconds saved.
pub(crate) fn claim(
    view: &View<'_>,
    found: Vec<Candidate>,
    mut account: Option<&mut Account>,
) -> Claimed {
    let known = |c: &Candidate| c.fix.is_some() && c.finding.impact.is_some();
    let (mut open, unknown): (Vec<_>, Vec<_>) = found.into_iter().partition(known);
    let start = view.run.as_ref().map(Fixed::none);
    let mut now = start.clone();
    let mut findings: Vec<Candidate> = Vec::new();
    let mut explained: Vec<Candidate> = Vec::new();
    let mut avoidable_s = 0.0;
    let shape = view.job.spark.is_some();
    while let Some((index, seconds)) = largest(&open, now.as_ref(), findings.is_empty(), shape) {
        let mut candidate = open.remove(index);
        let next = apply(now.as_ref(), &candidate);
        let left = match (&start, &now) {
            (Some(start), Some(now)) => now.replayed_s / start.replayed_s,
            _ => 1.0,
        };
        let little = share(&candidate, seconds) < left * view.limit(&MIN_SHARE);
        if !findings.is_empty() && (little || seconds < LEAST_SECONDS) {
            explained.push(candidate);
            continue;
        }
        let unclaimed = account.as_ref().map(|a| a.parts.clone());
        let (before, after) = (works(now.as_ref()), works(next.as_ref()));
        let named = candidate.finding.stage.as_deref();
        let own = named.and_then(|name| view.job.stage_index(name));
        let changed = match candidate.fix {
            Some(Fix::Tokens(_)) => vec![true; after.len()],
            _ => changed(before, after),
        };
        let taken = account
            .as_mut()
            .map(|a| a.take(findings.len(), seconds, &candidate, own, &changed));
        if let Some((account, parts)) = account.as_mut().zip(unclaimed)
            && seconds >= LEAST_SECONDS
            && taken.is_some_and(|taken| taken < LEAST_SECONDS)
        {
            // almost all of the saving is off the critical path
            account.parts = parts;
            explained.push(candidate);
            continue;
        }
        let hours = hours_between(before, after);
        value(&mut candidate, taken.unwrap_or(seconds), hours);
        avoidable_s += seconds;
        findings.push(candidate);
        now = next;
    }
    let measured = |run: &RunModel| run.basis.iter().any(|b| *b != Basis::Unknown);
    let is_known = view.run.as_ref().is_some_and(measured) || !findings.is_empty();
    let by = |c: &Candidate| fixes(start.as_ref(), &findings, c);
    let explained = explained.into_iter().map(|c| (by(&c), c)).collect();
    Claimed {
        avoidable_s: (is_known && !view.failed()).then_some(avoidable_s),
        fixed: now.map(|n| n.stages),
        ..ranked(findings, unknown, explained, account)
    }
}

fn works<'a>(fixed: Option<&'a Fixed<'_>>) -> &'a [StageWork] {
    fixed.map_or(&[], |f| &f.stages)
}

/// The run with a candidate's fix on top.
fn apply<'a>(now: Option<&Fixed<'a>>, candidate: &Candidate) -> Option<Fixed<'a>> {
    Some(now?.with(candidate.fix.as_ref()?))
}

/// The next candidate, and its saving on top of the fixes so far, in seconds. The first candidate keeps its
/// rule's estimate. With `shape`, causes of idle slots come before causes of slow tasks: functions of an
/// application may just wait.
fn largest(
    open: &[Candidate],
    now: Option<&Fixed<'_>>,
    alone: bool,
    shape: bool,
) -> Option<(usize, f64)> {
    let stated = |c: &Candidate| c.finding.impact.as_ref().map_or(0.0, |i| i.seconds_saved);
    // work on the driver alone does not compete with the work of the replay
    let of_driver = |c: &Candidate| kinds(c.finding.cause).contains(&SegmentKind::Driver);
    let saves = |c: &Candidate| match (&c.fix, now) {
        (Some(fix), Some(now)) if !alone && fix.is_replayed() && !of_driver(c) => {
            apply(Some(now), c).map_or(0.0, |next| next.saves(now))
        }
        _ => stated(c),
    };
    let seconds: Vec<f64> = open.iter().map(saves).collect();
    let of_shape = |c: Cause| matches!(c, Cause::SerialGather | Cause::ParallelismTooLow);
    let of_vertices = |at: &usize| {
        let cause = open[*at].finding.cause;
        about_vertices(cause) || (shape && of_shape(cause))
    };
    // more machines speed up all work, so needless work is removed first
    let of_machines = |at: &usize| open[*at].buys_capacity();
    let order = |a: &usize, b: &usize| {
        let first = of_machines(b).cmp(&of_machines(a));
        first
            .then(of_vertices(a).cmp(&of_vertices(b)))
            .then(seconds[*a].total_cmp(&seconds[*b]))
            .then(b.cmp(a))
    };
    let next = (0..open.len()).max_by(order)?;
    Some((next, seconds[next]))
}

/// Converts seconds of a candidate to a share, by the candidate's own ratio.
fn share(candidate: &Candidate, seconds: f64) -> f64 {
    let Some(impact) = &candidate.finding.impact else {
        return 0.0;
    };
    let stated = impact.share_of_elapsed.unwrap_or(0.0);
    if impact.seconds_saved > 0.0 {
        stated * seconds / impact.seconds_saved
    } else {
        stated
    }
}

/// Stages with work that a fix changes.
fn changed(before: &[StageWork], after: &[StageWork]) -> Vec<bool> {
    before.iter().zip(after).map(|(a, b)| a != b).collect()
}

/// The finding with the fix that leaves the smallest saving to a candidate.
fn fixes(start: Option<&Fixed<'_>>, findings: &[Candidate], candidate: &Candidate) -> usize {
    let left = |other: &Candidate| {
        let first = apply(start, other)?;
        Some(apply(Some(&first), candidate)?.saves(&first))
    };
    let lefts = findings.iter().map(|f| left(f).unwrap_or(f64::INFINITY));
    let least = lefts.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    least.map_or(0, |(index, _)| index)
}

/// Sets the saving of a candidate, in seconds and vertex-hours.
fn value(candidate: &mut Candidate, seconds: f64, hours: f64) {
    let share = share(candidate, seconds);
    if let Some(impact) = &mut candidate.finding.impact {
        impact.seconds_saved = seconds;
        impact.share_of_elapsed = Some(share);
        impact.vertex_hours_saved = Some(hours.max(0.0));
        candidate.finding.severity = severity(Some(share), false);
    }
}

/// Adds the saving to the summary of a note. A finding has its saving beside its summary.
pub(crate) fn add_saving(view: &View<'_>, note: &mut Candidate) {
    let Some(Impact { seconds_saved, .. }) = note.finding.impact else {
        return;
    };
    let saving = text!(
        "；修复后约可节省 {time}{share}",
        "; fixing this would save about {time}{share}",
        time = Seconds(seconds_saved),
        share = view.saved_share(seconds_saved)
    );
    let saving: String = saving.into(view.language);
    note.finding.summary.push_str(&saving);
}

/// Sorts the findings for the report, and renumbers the claims on the parts.
fn ranked(
    findings: Vec<Candidate>,
    unknown: Vec<Candidate>,
    explained: Vec<(usize, Candidate)>,
    account: Option<&mut Account>,
) -> Claimed {
    let mut numbered: Vec<(usize, Candidate)> =
        findings.into_iter().chain(unknown).enumerate().collect();
    numbered.sort_by(|a, b| weigh::rank(&a.1, &b.1));
    let place = |claimed: usize| numbered.iter().position(|(n, _)| *n == claimed);
    if let Some(account) = account {
        account.renumber(place);
    }
    let by = |(by, c): (usize, Candidate)| (c, place(by).unwrap_or(0));
    Claimed {
        explained: explained.into_iter().map(by).collect(),
        findings: numbered.into_iter().map(|(_, c)| c).collect(),
        avoidable_s: None,
        fixed: None,
    }
}

impl Account {
    /// Claims up to `seconds` of the parts that fit a candidate: first parts of its kind in the
    /// stages that its fix changes, then other work of these stages, then waits while they were active.
    /// Its `own` stage comes first each time: a fix of an exchange changes both ends, and the finding
    /// names one. Returns the claimed seconds.
    fn take(
        &mut self,
        finding: usize,
        seconds: f64,
        of: &Candidate,
        own: Option<usize>,
        changed: &[bool],
    ) -> f64 {
        let run = self.run;
        let is_changed = |p: &Part| p.stage.is_some_and(|s| changed.get(s) == Some(&true));
        let is_own = |p: &Part| is_changed(p) && p.stage == own;
        let kinds = kinds(of.finding.cause);
        let mut left = seconds;
        if kinds.contains(&SegmentKind::Driver) {
            let commits = of.finding.cause == Cause::CommitOnDriver;
            let is_own = |p: &Part| (p.detail == Some(SegmentDetail::Commit)) == commits;
            let mut of_stages = self.parts.iter().filter(|p| p.stage.is_some());
            // before its first stage, the driver starts the application
            let begun = of_stages.next().map_or(run.from, |p| p.span.from);
            let fits = |p: &Part| kinds.contains(&p.kind) && p.span.from >= begun;
            self.take_where(finding, &mut left, |p| fits(p) && is_own(p));
            self.take_where(finding, &mut left, fits);
            return seconds - left;
        }
        if matches!(of.fix, Some(Fix::Capacity)) {
            self.take_where(finding, &mut left, |p| kinds.contains(&p.kind));
            return seconds - left;
        }
        let active = self.active_of(changed);
        let active = Cover::of(active.iter().map(|a| (a.from, a.to)));
        let waited = |p: &Part| {
            p.span.from >= run.from
                && (p.kind == SegmentKind::Unexplained || active.touches(p.span.from, p.span.to))
        };
        let is_kind = |p: &Part| kinds.contains(&p.kind);
        let is_work = |p: &Part| !matches!(p.kind, SegmentKind::Startup | SegmentKind::Retry);
        let is_any = |_: &Part| true;
        let parts: [&dyn Fn(&Part) -> bool; 3] = [&is_kind, &is_work, &is_any];
        for fits in parts {
            self.take_where(finding, &mut left, |p| is_own(p) && fits(p));
            self.take_where(finding, &mut left, |p| is_changed(p) && fits(p));
        }
        self.take_where(finding, &mut left, waited);
        seconds - left
    }

    /// Claims the given seconds of each part for a finding, at the part's end.
    pub(crate) fn take_parts(&mut self, finding: usize, parts: &[(usize, f64)]) {
        let mut claims = parts.to_vec();
        claims.retain(|(_, seconds)| *seconds > 0.0);
        claims.sort_by_key(|(at, _)| *at);
        let mut claims = claims.into_iter().peekable();
        let before = std::mem::take(&mut self.parts);
        self.parts.reserve_exact(before.len() + claims.len());
        for (at, mut part) in before.into_iter().enumerate() {
            let mut ends = Vec::new();
            while let Some((_, seconds)) = claims.next_if(|(of, _)| *of == at) {
                let mut claimed = part.clone();
                claimed.finding = Some(finding);
                if seconds + REST_S.min(REST_SHARE * part.span.seconds()) >= part.span.seconds() {
                    part = claimed;
                } else {
                    part.span.to -= seconds;
                    claimed.span.from = part.span.to;
                    ends.push(claimed);
                }
            }
            self.parts.push(part);
            self.parts.extend(ends.into_iter().rev());
        }
    }

    /// Changes the position of the finding that claims each part.
    pub(crate) fn renumber(&mut self, new: impl Fn(usize) -> Option<usize>) {
        for part in &mut self.parts {
            part.finding = part.finding.and_then(&new);
        }
    }

    /// Claims unclaimed parts, splitting the last one.
    fn take_where(&mut self, finding: usize, left: &mut f64, fits: impl Fn(&Part) -> bool) {
        let mut at = 0;
        while at < self.parts.len() && *left >= LEAST_S {
            let part = &mut self.parts[at];
            at += 1;
            if part.finding.is_some() || !fits(part) {
                continue;
            }
            let mut claimed = part.clone();
            claimed.finding = Some(finding);
            if part.span.seconds() <= *left + REST_S {
                *left = (*left - part.span.seconds()).max(0.0);
                *part = claimed;
            } else {
                part.span.to -= *left;
                claimed.span.from = part.span.to;
                *left = 0.0;
                self.parts.insert(at, claimed);
                at += 1;
            }
        }
    }
}

/// Whether a cause affects single vertices rather than the whole stage.
fn about_vertices(cause: Cause) -> bool {
    let of_vertices = [SegmentKind::Straggler, SegmentKind::Retry];
    kinds(cause).iter().any(|kind| of_vertices.contains(kind))
}

/// Kinds of time that a cause affects.
fn kinds(cause: Cause) -> &'static [SegmentKind] {
    use SegmentKind::{
        CapacityWait, Compute, Driver, Exchange, Gc, Queue, Read, Retry, Sort, Spill, Startup,
        Straggler, UserCode,
    };
    match cause {
        Cause::QueueWait => &[Queue, CapacityWait],
        Cause::JoinHotKey
        | Cause::GroupHotKey
        | Cause::NullOrDefaultKey
        | Cause::LowCardinalityKey
        | Cause::PartitionLayout
        | Cause::SlowMachine => &[Straggler],
        Cause::RedundantRepartition
        | Cause::UnusedColumns
        | Cause::MissedBroadcast
        | Cause::UnalignedInput => &[Exchange, Sort],
        Cause::HeapPressure => &[Gc],
        Cause::CpuBoundUdo => &[UserCode],
        Cause::Spill => &[Spill],
        Cause::VertexRetries | Cause::MemoryEstimateTooLow | Cause::ExecutorLost => &[Retry],
        Cause::DriverBottleneck | Cause::CommitOnDriver | Cause::BroadcastTooLarge => &[Driver],
        Cause::JoinExplosion | Cause::LateFilter => &[Compute, Exchange, Sort],
        Cause::TinyVertices => &[Startup],
        Cause::SmallFiles => &[Startup, Read],
        _ => &[],
    }
}
