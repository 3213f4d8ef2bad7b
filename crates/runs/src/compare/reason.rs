//! Why the runs differ: each possible reason says how many seconds of the difference it would
//! explain; the ranking weighs them by how much such an estimate can be trusted.

use super::totals::{input_bytes, input_rows};
use super::wording::Said;
use super::{
    Comparison, FindingChange, Pair, PlanChangeKind, Reason, ReasonKind, ScriptChange, Side,
    StageChange,
};
use report::{JobState, Language};

/// Runs whose times differ by less than this share do not differ.
const SAME_TIME: f64 = 0.05;
/// Nor do runs that differ by less than this many seconds.
const SAME_SECONDS: f64 = 2.0;
/// Growth of the input below this explains nothing.
const GROWTH: f64 = 1.1;
/// A stage whose slowest vertex stands out by this factor more than in the other run.
const IMBALANCE: f64 = 1.3;
/// Rows that take this factor longer each.
const SLOWER_ROWS: f64 = 1.25;
/// Reasons shown; the rest explain little.
const SHOWN: usize = 5;

/// How much the estimate of each kind of reason can be trusted. A measured wait is certain; the
/// rules' replay of the DAG is good; that time grows in proportion to the input is a rule of thumb;
/// slower rows are what remains when nothing else is seen.
fn trust(kind: ReasonKind) -> f64 {
    match kind {
        ReasonKind::Failure | ReasonKind::NoDifference => 1.0,
        ReasonKind::Queue | ReasonKind::Finding => 0.95,
        ReasonKind::Script | ReasonKind::Plan | ReasonKind::Tokens => 0.85,
        ReasonKind::Data => 0.8,
        ReasonKind::LostWork | ReasonKind::Machines => 0.7,
        ReasonKind::Imbalance => 0.65,
        ReasonKind::WorkPerRow => 0.5,
        ReasonKind::Unknown => 0.2,
    }
}

/// Both runs, the slower one told apart.
struct Sides<'a> {
    slow: &'a Side,
    fast: &'a Side,
    slow_is_b: bool,
    /// Seconds by which the slower run took longer, queue included where both tell it.
    delta: Option<f64>,
    seen: &'a Comparison,
    said: Said,
}

impl Sides<'_> {
    /// The two values of a pair, the slower run's first.
    fn of(&self, pair: Pair) -> (Option<f64>, Option<f64>) {
        if self.slow_is_b {
            (pair.b, pair.a)
        } else {
            (pair.a, pair.b)
        }
    }

    fn both(&self, pair: Pair) -> Option<(f64, f64)> {
        let (slow, fast) = self.of(pair);
        Some((slow?, fast?))
    }

    /// By how much more the slower run has.
    fn more(&self, pair: Pair) -> Option<f64> {
        self.both(pair).map(|(slow, fast)| slow - fast)
    }

    fn name<'s>(&self, stage: &'s StageChange) -> Option<&'s String> {
        if self.slow_is_b {
            stage.b.as_ref().or(stage.a.as_ref())
        } else {
            stage.a.as_ref().or(stage.b.as_ref())
        }
    }

    /// Stages that could have made the run longer: those on the critical path, all where none is known.
    fn deciding(&self) -> impl Iterator<Item = &StageChange> {
        let known = self.seen.stages.iter().any(|s| s.critical);
        self.seen
            .stages
            .iter()
            .filter(move |s| s.critical || !known)
    }

    fn reason(
        &self,
        kind: ReasonKind,
        seconds: Option<f64>,
        stage: Option<&String>,
        text: String,
    ) -> Reason {
        let seconds = seconds.map(|s| self.delta.map_or(s, |delta| s.min(delta)));
        let share = seconds
            .zip(self.delta)
            .filter(|(_, delta)| *delta > 0.0)
            .map(|(s, delta)| s / delta);
        // Half of the trust for being seen at all, half for explaining the difference.
        let confidence = trust(kind) * (0.5 + 0.5 * share.unwrap_or(0.0));
        Reason {
            kind,
            seconds,
            share,
            confidence: (confidence * 100.0).round() / 100.0,
            stage: stage.cloned(),
            cause: None,
            text,
        }
    }
}

/// Reasons of the difference, the most probable first; at least one.
pub(crate) fn reasons(a: &Side, b: &Side, seen: &Comparison, language: Language) -> Vec<Reason> {
    let sides = oriented(a, b, seen, language);
    let mut found: Vec<Reason> = Vec::new();
    found.extend(failure(&sides));
    if let Some(same) = no_difference(&sides).filter(|_| found.is_empty()) {
        return vec![same];
    }
    found.extend(findings(&sides));
    found.extend(data(&sides));
    found.extend(tokens(&sides));
    found.extend(queue(&sides));
    found.extend(plan(&sides));
    found.extend(machines(&sides));
    found.extend(lost_work(&sides));
    found.extend(imbalance(&sides));
    found.extend(work_per_row(&sides));
    told_by_findings(&mut found);
    found.sort_by(|x, y| {
        let first = |r: &Reason| r.kind != ReasonKind::Failure;
        first(x)
            .cmp(&first(y))
            .then_with(|| y.confidence.total_cmp(&x.confidence))
    });
    if found.is_empty() {
        found.push(unknown(&sides));
    }
    found.truncate(SHOWN);
    found
}

fn oriented<'a>(a: &'a Side, b: &'a Side, seen: &'a Comparison, language: Language) -> Sides<'a> {
    let (x, y) = (&a.shape.job, &b.shape.job);
    let elapsed = Pair::new(x.elapsed_seconds, y.elapsed_seconds).difference();
    let queued = Pair::new(x.queued_seconds, y.queued_seconds).difference();
    let difference = elapsed.map(|e| e + queued.unwrap_or(0.0));
    // Without run times the work of the vertices decides which run is called the slower one.
    let work: f64 = seen.stages.iter().map(|s| s.weight_seconds).sum();
    let slow_is_b = difference.unwrap_or(work) >= 0.0;
    Sides {
        slow: if slow_is_b { b } else { a },
        fast: if slow_is_b { a } else { b },
        slow_is_b,
        delta: difference.map(f64::abs),
        seen,
        said: Said::new(language, slow_is_b),
    }
}

/// One run failed where the other did not.
fn failure(sides: &Sides<'_>) -> Option<Reason> {
    let ended = |side: &Side| side.shape.job.state;
    let broken = |state| matches!(state, JobState::Failed | JobState::Cancelled);
    let (failed, other) = match (broken(ended(sides.slow)), broken(ended(sides.fast))) {
        (true, false) => (sides.slow, sides.fast),
        (false, true) => (sides.fast, sides.slow),
        _ => return None,
    };
    let failed_is_b = std::ptr::eq(failed, sides.slow) == sides.slow_is_b;
    let text = sides.said.failure(
        failed_is_b,
        ended(failed),
        ended(other),
        failed.shape.error.as_deref(),
    );
    let cause = failed
        .report
        .findings
        .iter()
        .find(|f| f.cause.code().starts_with("failure."));
    Some(Reason {
        cause: cause.map(|f| f.cause.code().to_owned()),
        ..sides.reason(
            ReasonKind::Failure,
            None,
            cause.and_then(|f| f.stage.as_ref()),
            text,
        )
    })
}

fn no_difference(sides: &Sides<'_>) -> Option<Reason> {
    let delta = sides.delta?;
    let whole =
        sides.slow.shape.job.elapsed_seconds? + sides.slow.shape.job.queued_seconds.unwrap_or(0.0);
    (delta < SAME_SECONDS || delta < SAME_TIME * whole).then(|| {
        sides.reason(
            ReasonKind::NoDifference,
            None,
            None,
            sides.said.no_difference(),
        )
    })
}

/// Findings that only the slower run has, or that cost it more.
fn findings(sides: &Sides<'_>) -> Vec<Reason> {
    let of = |change: &FindingChange| {
        let (slow, fast) = sides.of(change.seconds);
        let slow_has_it = if sides.slow_is_b {
            change.id_b.is_some()
        } else {
            change.id_a.is_some()
        };
        let fast_has_it = change.id_a.is_some() && change.id_b.is_some();
        let seconds = slow? - fast.unwrap_or(0.0);
        if !slow_has_it || seconds <= 0.0 || (fast_has_it && !change.seconds.is_notable()) {
            return None;
        }
        let text = sides
            .said
            .finding(change, slow?, fast.filter(|_| fast_has_it));
        Some(Reason {
            cause: Some(change.cause.clone()),
            ..sides.reason(
                ReasonKind::Finding,
                Some(seconds),
                change.stage.as_ref(),
                text,
            )
        })
    };
    sides.seen.findings.iter().filter_map(of).collect()
}

/// Time is taken to grow in proportion to the input.
fn data(sides: &Sides<'_>) -> Option<Reason> {
    let bytes = input_bytes(&sides.slow.shape).zip(input_bytes(&sides.fast.shape));
    let rows = input_rows(&sides.slow.shape).zip(input_rows(&sides.fast.shape));
    let ratio = |pair: Option<(f64, f64)>| pair.filter(|(_, fast)| *fast > 0.0).map(|(s, f)| s / f);
    let by_bytes = ratio(bytes).filter(|r| *r >= GROWTH);
    let by_rows = ratio(rows).filter(|r| *r >= GROWTH);
    let grown = by_bytes.or(by_rows)?;
    let elapsed = sides.fast.shape.job.elapsed_seconds;
    let text = match (by_bytes, bytes, rows) {
        (Some(_), Some((slow, fast)), _) => sides.said.data_bytes(grown, slow, fast),
        (_, _, Some((slow, fast))) => sides.said.data_rows(grown, slow, fast),
        _ => return None,
    };
    Some(sides.reason(
        ReasonKind::Data,
        elapsed.map(|e| e * (grown - 1.0)),
        None,
        text,
    ))
}

/// Fewer tokens cost time as far as they were in use.
fn tokens(sides: &Sides<'_>) -> Option<Reason> {
    let (slow, fast) = (&sides.slow.shape.job, &sides.fast.shape.job);
    let (few, many) = (f64::from(slow.tokens?), f64::from(fast.tokens?));
    if few * GROWTH > many {
        return None;
    }
    let elapsed = slow.elapsed_seconds;
    let busy: Option<f64> = sides.slow.shape.stages.iter().map(|s| s.busy_ms).sum();
    let in_use = busy
        .zip(elapsed)
        .map(|(busy, e)| (busy / 1000.0 / (few * e).max(1.0)).min(1.0));
    let seconds = elapsed.map(|e| e * (1.0 - few / many) * in_use.unwrap_or(1.0));
    Some(sides.reason(
        ReasonKind::Tokens,
        seconds,
        None,
        sides.said.tokens(few, many),
    ))
}

fn queue(sides: &Sides<'_>) -> Option<Reason> {
    let (slow, fast) = (
        sides.slow.shape.job.queued_seconds?,
        sides.fast.shape.job.queued_seconds?,
    );
    let more = slow - fast;
    (more >= SAME_SECONDS && more > SAME_TIME * slow).then(|| {
        sides.reason(
            ReasonKind::Queue,
            Some(more),
            None,
            sides.said.queue(slow, fast),
        )
    })
}

/// What the changed stages and channels took longer; with the script's change where there is one.
fn plan(sides: &Sides<'_>) -> Option<Reason> {
    use PlanChangeKind as Kind;
    let script = match &sides.seen.script {
        ScriptChange::Changed { added, removed, .. } => Some((*added, *removed)),
        _ => None,
    };
    // Another count of partitions alone follows the size of the data.
    let changes: Vec<_> = sides
        .seen
        .plan
        .iter()
        .filter(|c| c.kind != Kind::PartitionsChanged)
        .collect();
    if changes.is_empty() {
        let (added, removed) = script?;
        let text = sides.said.script(added, removed, None);
        return Some(sides.reason(ReasonKind::Script, None, None, text));
    }
    let touches = |stage: &StageChange| {
        let names = [&stage.a, &stage.b].map(|n| n.as_deref());
        changes.iter().any(|c| {
            let mut places = c.place.split(['→', '/']).map(|p| p.trim());
            places.any(|p| names.contains(&Some(p)))
        })
    };
    let sign = if sides.slow_is_b { 1.0 } else { -1.0 };
    let grown: f64 = sides
        .deciding()
        .filter(|s| touches(s))
        .map(|s| s.weight_seconds * sign)
        .sum();
    let kind = if script.is_some() {
        ReasonKind::Script
    } else {
        ReasonKind::Plan
    };
    let text = match script {
        Some((added, removed)) => sides.said.script(added, removed, changes.first().copied()),
        None => sides.said.plan(changes.len(), changes.first().copied()),
    };
    Some(sides.reason(kind, Some(grown).filter(|s| *s > 0.0), None, text))
}

/// Vertices that waited longer, where neither tokens nor the number of vertices tell why.
fn machines(sides: &Sides<'_>) -> Option<Reason> {
    if sides.slow.shape.job.tokens != sides.fast.shape.job.tokens {
        return None;
    }
    let waits: f64 = sides
        .deciding()
        .filter(|s| !s.vertices.is_notable())
        .filter_map(|s| sides.more(s.wait_seconds))
        .sum();
    (waits >= SAME_SECONDS).then(|| {
        sides.reason(
            ReasonKind::Machines,
            Some(waits),
            None,
            sides.said.machines(waits),
        )
    })
}

/// Lost attempts cost their time divided by how many vertices ran at once.
fn lost_work(sides: &Sides<'_>) -> Option<Reason> {
    let lost = |side: &Side| -> Option<f64> {
        let ms: Option<f64> = side.shape.stages.iter().map(|s| s.wasted_ms).sum();
        ms.map(|ms| ms / 1000.0)
    };
    let (slow, fast) = (lost(sides.slow)?, lost(sides.fast)?);
    let busy: Option<f64> = sides.slow.shape.stages.iter().map(|s| s.busy_ms).sum();
    let at_once = busy? / 1000.0 / sides.slow.shape.job.elapsed_seconds?.max(1.0);
    let seconds = (slow - fast) / at_once.max(1.0);
    (seconds >= SAME_SECONDS).then(|| {
        sides.reason(
            ReasonKind::LostWork,
            Some(seconds),
            None,
            sides.said.lost_work(slow, fast),
        )
    })
}

/// The stage whose slowest vertex came to stand out most.
fn imbalance(sides: &Sides<'_>) -> Option<Reason> {
    let of = |stage: &StageChange| {
        let (ratio, before) = sides.both(stage.max_over_mean)?;
        let (longest, was) = sides.both(stage.max_seconds)?;
        if ratio < IMBALANCE * before {
            return None;
        }
        let above = |longest: f64, ratio: f64| longest * (1.0 - 1.0 / ratio.max(1.0));
        let seconds = above(longest, ratio) - above(was, before);
        let name = sides.name(stage)?;
        (seconds >= SAME_SECONDS).then(|| {
            let text = sides.said.imbalance(name, ratio, before);
            sides.reason(ReasonKind::Imbalance, Some(seconds), Some(name), text)
        })
    };
    strongest(sides.deciding().filter_map(of))
}

/// The stage in which the same rows took longer.
fn work_per_row(sides: &Sides<'_>) -> Option<Reason> {
    let of = |stage: &StageChange| {
        let (rows, rows_before) = sides.both(stage.rows_in)?;
        let (busy, busy_before) = sides.both(stage.busy_seconds)?;
        let (longest, was) = sides.both(stage.max_seconds)?;
        if rows <= 0.0 || rows_before <= 0.0 || busy_before <= 0.0 {
            return None;
        }
        let slower = (busy / rows) / (busy_before / rows_before);
        let seconds = (longest - was).min(longest * (1.0 - 1.0 / slower));
        let name = sides.name(stage)?;
        (slower >= SLOWER_ROWS && seconds >= SAME_SECONDS).then(|| {
            let text = sides.said.work_per_row(name, slower);
            sides.reason(ReasonKind::WorkPerRow, Some(seconds), Some(name), text)
        })
    };
    strongest(sides.deciding().filter_map(of))
}

fn strongest(reasons: impl Iterator<Item = Reason>) -> Option<Reason> {
    reasons.max_by(|x, y| x.confidence.total_cmp(&y.confidence))
}

/// Drops what a finding says better.
fn told_by_findings(reasons: &mut Vec<Reason>) {
    let told: Vec<(String, Option<String>)> = reasons
        .iter()
        .filter_map(|r| Some((r.cause.clone()?, r.stage.clone())))
        .collect();
    let about = |prefix: &str, stage: &Option<String>| {
        told.iter()
            .any(|(cause, place)| cause.starts_with(prefix) && (stage.is_none() || place == stage))
    };
    reasons.retain(|r| match r.kind {
        ReasonKind::Queue => !about("queue.", &None),
        ReasonKind::LostWork => !about("failure.", &None),
        ReasonKind::Imbalance => !about("skew.", &r.stage) && !about("failure.slow", &r.stage),
        ReasonKind::WorkPerRow => !about("", &r.stage),
        _ => true,
    });
}

/// Nothing explains the difference; the stage that grew most is the place to look at.
fn unknown(sides: &Sides<'_>) -> Reason {
    let sign = if sides.slow_is_b { 1.0 } else { -1.0 };
    let most = sides
        .seen
        .stages
        .iter()
        .max_by(|x, y| (x.weight_seconds * sign).total_cmp(&(y.weight_seconds * sign)))
        .filter(|s| s.weight_seconds * sign > 0.0);
    let name = most.and_then(|s| sides.name(s));
    let grown = most.map(|s| s.weight_seconds.abs());
    let text = sides.said.unknown(name.map(String::as_str), grown);
    sides.reason(ReasonKind::Unknown, grown, name, text)
}
