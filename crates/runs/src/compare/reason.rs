//! Why the runs differ. Each candidate states how many seconds of the difference it would explain;
//! the ranking weighs candidates by how reliable such an estimate is.

use super::totals::total;
use super::{
    ComparedRun, Comparison, FindingChange, Pair, PlanChange, PlanChangeKind, Reason, ReasonKind,
    ScriptChange, StageChange, wording,
};
use report::format::{Bytes, PLACE, ROW, Ratio, Seconds, TOKEN};
use report::measure::{Measure, book};
use report::{Cause, JobState, Language, Text, text};

/// Runs whose times differ by less than this share, or by less than [`SAME_SECONDS`], count as equal.
const SAME_TIME: f64 = 0.05;
const SAME_SECONDS: f64 = 2.0;
/// Smaller growth of the input explains nothing.
const GROWTH: f64 = 1.1;
/// The slowest vertex of a stage stands out by this factor more than in the other run.
const IMBALANCE: f64 = 1.3;
/// Each row takes this factor longer.
const SLOWER_ROWS: f64 = 1.25;
/// Inputs that changed explain the difference if it follows from their growth to this share.
const EXPLAINS: f64 = 0.8;
/// A smaller share is shown as 0 %.
const NOTHING: f64 = 0.005;
/// Reasons shown; the rest explain little.
const SHOWN: usize = 5;

/// How reliable the estimate of each kind of reason is. A measured wait is certain; the rules'
/// replay of the DAG is good; that time grows in proportion to the input is a rule of thumb; slower
/// rows are what remains if nothing else is found.
fn reliability(kind: ReasonKind) -> f64 {
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

struct Contrast<'a> {
    slow: &'a ComparedRun,
    fast: &'a ComparedRun,
    slow_is_b: bool,
    /// Seconds by which the slower run took longer, including the queue if both runs have it.
    delta: Option<f64>,
    seen: &'a Comparison,
    language: Language,
}

impl Contrast<'_> {
    /// `A` and `B`, the slower run first.
    fn names(&self) -> (&'static str, &'static str) {
        self.slower_first("A", "B")
    }

    /// What belongs to A and to B, the slower run's first.
    fn slower_first<T>(&self, a: T, b: T) -> (T, T) {
        if self.slow_is_b { (b, a) } else { (a, b) }
    }

    fn both(&self, pair: Pair) -> Option<(f64, f64)> {
        Some(self.slower_first(pair.a?, pair.b?))
    }

    /// A time of a stage in seconds, the slower run's first.
    fn seconds(&self, stage: &StageChange, measure: &Measure) -> Option<(f64, f64)> {
        let (slow, fast) = self.both(stage.numbers.get(measure))?;
        Some((slow / 1e3, fast / 1e3))
    }

    /// The direction in which the slower run has more: 1 from A to B, else −1.
    fn sign(&self) -> f64 {
        if self.slow_is_b { 1.0 } else { -1.0 }
    }

    /// By how much more the slower run has.
    fn more(&self, pair: Pair) -> Option<f64> {
        self.both(pair).map(|(slow, fast)| slow - fast)
    }

    fn name<'s>(&self, stage: &'s StageChange) -> Option<&'s String> {
        let (slow, fast) = self.slower_first(stage.a.as_ref(), stage.b.as_ref());
        slow.or(fast)
    }

    /// Stages that could have made the run longer: those on the critical path, all where none is known.
    fn deciding(&self) -> impl Iterator<Item = &StageChange> {
        let stages = self.seen.stages.iter();
        let known = stages.clone().any(|s| s.critical);
        stages.filter(move |s| s.critical || !known)
    }

    fn reason(
        &self,
        kind: ReasonKind,
        seconds: Option<f64>,
        stage: Option<&String>,
        text: Text,
    ) -> Reason {
        let seconds = seconds.map(|s| self.delta.map_or(s, |delta| s.min(delta)));
        let delta = self.delta.filter(|delta| *delta > 0.0);
        let share = seconds.zip(delta).map(|(s, delta)| s / delta);
        // Half for being found at all, half for explaining the difference; what is plain to see needs no share.
        let explained = match kind {
            ReasonKind::Failure | ReasonKind::NoDifference => 1.0,
            _ => share.unwrap_or(0.0),
        };
        let confidence = reliability(kind) * (0.5 + 0.5 * explained);
        Reason {
            kind,
            seconds,
            share,
            confidence: (confidence * 100.0).round() / 100.0,
            stage: stage.cloned(),
            cause: None,
            text: text.into(self.language),
        }
    }
}

/// Reasons of the difference, the most probable first; at least one.
pub(super) fn reasons(
    a: &ComparedRun,
    b: &ComparedRun,
    seen: &Comparison,
    language: Language,
) -> Vec<Reason> {
    let runs = oriented(a, b, seen, language);
    let mut found: Vec<Reason> = Vec::new();
    found.extend(failure(&runs));
    if let Some(same) = no_difference(&runs).filter(|_| found.is_empty()) {
        return vec![same];
    }
    found.extend(findings(&runs));
    found.extend(
        [data(&runs), tokens(&runs), queue(&runs), plan(&runs)]
            .into_iter()
            .flatten(),
    );
    found.extend([machines(&runs), lost_work(&runs)].into_iter().flatten());
    found.extend(
        [imbalance(&runs), work_per_row(&runs)]
            .into_iter()
            .flatten(),
    );
    drop_explained(&mut found);
    rank(&mut found);
    if found.is_empty() {
        found.push(unknown(&runs));
    }
    found.truncate(SHOWN);
    found
}

/// A failure first, then inputs that explain the difference, then by confidence; no second is explained twice.
fn rank(reasons: &mut Vec<Reason>) {
    reasons.sort_by(|x, y| y.confidence.total_cmp(&x.confidence));
    reasons.sort_by_key(|r| (r.kind != ReasonKind::Failure, !is_changed_input(r)));
    share_out(reasons);
}

/// Whether the inputs changed by so much that the rest follows from it.
fn is_changed_input(reason: &Reason) -> bool {
    reason.kind == ReasonKind::Data && reason.share.is_some_and(|share| share >= EXPLAINS)
}

/// Each reason keeps what those before it leave, and one for which nothing is left goes.
fn share_out(reasons: &mut Vec<Reason>) {
    let mut left = 1.0;
    reasons.retain_mut(|reason| {
        let (Some(share), Some(seconds)) = (reason.share, reason.seconds) else {
            return true;
        };
        let kept = share.min(left);
        left -= kept;
        reason.seconds = Some(if share > 0.0 {
            seconds * kept / share
        } else {
            0.0
        });
        reason.share = Some(kept);
        kept >= NOTHING
    });
}

fn oriented<'a>(
    a: &'a ComparedRun,
    b: &'a ComparedRun,
    seen: &'a Comparison,
    language: Language,
) -> Contrast<'a> {
    let elapsed = |run: &ComparedRun| run.report.job.elapsed_seconds;
    let elapsed = Pair::new(elapsed(a), elapsed(b)).difference();
    let queued = Pair::new(a.summary.get(&book::QUEUED), b.summary.get(&book::QUEUED)).difference();
    let difference = elapsed.map(|e| e + queued.unwrap_or(0.0));
    // Without run times, the work of the vertices decides which run is the slower one.
    let work: f64 = seen.stages.iter().map(|s| s.weight_seconds).sum();
    let slow_is_b = difference.unwrap_or(work) >= 0.0;
    let (slow, fast) = if slow_is_b { (b, a) } else { (a, b) };
    Contrast {
        slow,
        fast,
        slow_is_b,
        delta: difference.map(f64::abs),
        seen,
        language,
    }
}

fn failure(runs: &Contrast<'_>) -> Option<Reason> {
    let ended = |run: &ComparedRun| run.report.job.state;
    let broken = |run| matches!(ended(run), JobState::Failed | JobState::Cancelled);
    let (slow, fast) = runs.names();
    let ((failed, name), (other, other_name)) = match (broken(runs.slow), broken(runs.fast)) {
        (true, false) => ((runs.slow, slow), (runs.fast, fast)),
        (false, true) => ((runs.fast, fast), (runs.slow, slow)),
        _ => return None,
    };
    let error = failed.summary.error.as_ref();
    let text = text!(
        "{name} {failed_state}，{other_name} {other_state}{because}",
        "{name} {failed_state}, {other_name} {other_state}{because}",
        failed_state = wording::state(ended(failed)),
        other_state = wording::state(ended(other)),
        because = error.map_or_else(Text::default, |e| text!("：{e}", ": {e}"))
    );
    let mut findings = failed.report.findings.iter();
    let cause = findings.find(|f| f.cause.code().starts_with("failure."));
    let stage = cause.and_then(|f| f.stage.as_ref());
    Some(Reason {
        cause: cause.map(|f| f.cause.code().to_owned()),
        ..runs.reason(ReasonKind::Failure, None, stage, text)
    })
}

fn no_difference(runs: &Contrast<'_>) -> Option<Reason> {
    let delta = runs.delta?;
    let slow = runs.slow;
    let whole = slow.report.job.elapsed_seconds? + slow.summary.get(&book::QUEUED).unwrap_or(0.0);
    let text = text!("两次运行用时相近", "both took about the same time");
    (delta < SAME_SECONDS || delta < SAME_TIME * whole)
        .then(|| runs.reason(ReasonKind::NoDifference, None, None, text))
}

/// Findings that only the slower run has, or that cost it more.
fn findings(runs: &Contrast<'_>) -> Vec<Reason> {
    let (slow, fast) = runs.names();
    let of = |change: &FindingChange| {
        let (more, less) = runs.slower_first(change.seconds.a, change.seconds.b);
        let (slow_id, fast_id) = runs.slower_first(&change.id_a, &change.id_b);
        let in_both = slow_id.is_some() && fast_id.is_some();
        let seconds = more? - less.unwrap_or(0.0);
        if slow_id.is_none() || seconds <= 0.0 || (in_both && !change.seconds.is_notable()) {
            return None;
        }
        let cause = &change.cause;
        let stage = change.stage.as_ref();
        let place = stage.map_or_else(Text::default, |s| text!("{s} 的", " in {s}"));
        let named = named(cause);
        let text = match less.filter(|_| in_both) {
            None => text!(
                "{place}{named}只在 {slow} 中出现，约耗时 {time}",
                "{named}{place} occurs only in {slow} and costs about {time}",
                named = named,
                place = place,
                time = Seconds(more?)
            ),
            Some(less) => text!(
                "{place}{named}在 {slow} 中约耗时 {time}，在 {fast} 中约 {before}",
                "{named}{place} costs about {time} in {slow} and {before} in {fast}",
                named = named,
                place = place,
                time = Seconds(more?),
                before = Seconds(less)
            ),
        };
        Some(Reason {
            cause: Some(change.cause.clone()),
            ..runs.reason(ReasonKind::Finding, Some(seconds), stage, text)
        })
    };
    runs.seen.findings.iter().filter_map(of).collect()
}

/// A cause by its title and its code; one of another version by its code.
fn named(code: &str) -> Text {
    match Cause::from_code(code) {
        Some(cause) => text!(
            "“{title}”（`{code}`）",
            "{title} (`{code}`)",
            title = cause.title()
        ),
        None => text!("`{code}`", "`{code}`"),
    }
}

/// Time is assumed to grow in proportion to the input.
fn data(runs: &Contrast<'_>) -> Option<Reason> {
    let both = |measure| {
        let (more, less) = (
            total(&runs.slow.summary, measure)?,
            total(&runs.fast.summary, measure)?,
        );
        (less > 0.0 && more / less >= GROWTH).then_some((more, less))
    };
    let (slow, fast) = runs.names();
    let by_bytes = both(&book::INPUT_BYTES);
    let (more, less) = by_bytes.or_else(|| both(&book::INPUT_ROWS))?;
    let amount = |n: f64| match by_bytes {
        Some(_) => text!("{n}", "{n}", n = Bytes(n)),
        None => text!("{n}", "{n}", n = ROW.count(n)),
    };
    let text = text!(
        "{slow} 的输入是 {fast} 的 {ratio}（{more} 对 {less}）",
        "{slow} read {ratio} the input of {fast} ({more} vs. {less})",
        ratio = Ratio(more / less),
        more = amount(more),
        less = amount(less)
    );
    let elapsed = runs.fast.report.job.elapsed_seconds;
    let seconds = elapsed.map(|e| e * (more / less - 1.0));
    Some(runs.reason(ReasonKind::Data, seconds, None, text))
}

/// Fewer tokens cost time as far as they were in use.
fn tokens(runs: &Contrast<'_>) -> Option<Reason> {
    let few = runs.slow.summary.get(&book::TOKENS)?;
    let many = runs.fast.summary.get(&book::TOKENS)?;
    if few * GROWTH > many {
        return None;
    }
    let elapsed = runs.slow.report.job.elapsed_seconds;
    let in_use = busy_seconds(runs.slow)
        .zip(elapsed)
        .map(|(busy, e)| (busy / (few * e).max(1.0)).min(1.0));
    let seconds = elapsed.map(|e| e * (1.0 - few / many) * in_use.unwrap_or(1.0));
    let (slow, fast) = runs.names();
    let text = text!(
        "{slow} 只有 {few}，{fast} 有 {many}",
        "{slow} ran with {few}, {fast} with {many}",
        few = TOKEN.count(few),
        many = TOKEN.count(many)
    );
    Some(runs.reason(ReasonKind::Tokens, seconds, None, text))
}

fn queue(runs: &Contrast<'_>) -> Option<Reason> {
    let longer = runs.slow.summary.get(&book::QUEUED)?;
    let shorter = runs.fast.summary.get(&book::QUEUED)?;
    let more = longer - shorter;
    let (slow, fast) = runs.names();
    let text = text!(
        "{slow} 排队 {longer}，{fast} 排队 {shorter}",
        "{slow} queued for {longer}, {fast} for {shorter}",
        longer = Seconds(longer),
        shorter = Seconds(shorter)
    );
    (more >= SAME_SECONDS && more > SAME_TIME * longer)
        .then(|| runs.reason(ReasonKind::Queue, Some(more), None, text))
}

/// By how much the changed stages and channels took longer; with the script's change if there is one.
fn plan(runs: &Contrast<'_>) -> Option<Reason> {
    let script = match &runs.seen.script {
        ScriptChange::Changed { added, removed, .. } => Some((*added, *removed)),
        _ => None,
    };
    // The number of partitions alone follows the size of the data.
    let plan = runs.seen.plan.iter();
    let changes: Vec<&PlanChange> = plan
        .filter(|c| c.kind != PlanChangeKind::PartitionsChanged)
        .collect();
    let first = changes.first().map(|change| described(change));
    let text = match (script, first) {
        (None, None) => return None,
        (None, Some(first)) => text!(
            "脚本未变，执行计划有 {places}变化：{first}",
            "the script is unchanged, but the plan changed in {places}: {first}",
            places = PLACE.count(changes.len() as f64),
            first = first
        ),
        (Some((added, removed)), first) => text!(
            "脚本有改动（+{added} −{removed} 行）{plan}",
            "the script changed (+{added} −{removed} lines){plan}",
            plan = first.map_or_else(Text::default, |first| text!(
                "，执行计划随之改变：{first}",
                ", and the plan with it: {first}",
                first = first
            ))
        ),
    };
    let touches = |stage: &StageChange| {
        let names = [&stage.a, &stage.b].map(|n| n.as_deref());
        changes.iter().any(|c| {
            let mut places = c.place.split(['→', '/']).map(|p| p.trim());
            places.any(|p| names.contains(&Some(p)))
        })
    };
    let touched = runs.deciding().filter(|s| touches(s));
    let grown: f64 = touched.map(|s| s.weight_seconds * runs.sign()).sum();
    let kind = match script {
        Some(_) => ReasonKind::Script,
        None => ReasonKind::Plan,
    };
    Some(runs.reason(kind, Some(grown).filter(|s| *s > 0.0), None, text))
}

fn described(change: &PlanChange) -> Text {
    let place = &change.place;
    match (&change.a, &change.b) {
        (Some(a), Some(b)) => text!("{place} 由 {a} 变为 {b}", "{place} changed from {a} to {b}"),
        _ => {
            let run = match change.kind {
                PlanChangeKind::StageAppeared
                | PlanChangeKind::ChannelAppeared
                | PlanChangeKind::OperatorAppeared => "B",
                _ => "A",
            };
            text!("{place} 只出现在 {run} 中", "{place} exists only in {run}")
        }
    }
}

/// Vertices that waited longer although tokens and number of vertices are the same.
fn machines(runs: &Contrast<'_>) -> Option<Reason> {
    let tokens = |run: &ComparedRun| run.summary.get(&book::TOKENS);
    if tokens(runs.slow) != tokens(runs.fast) {
        return None;
    }
    let stages = runs
        .deciding()
        .filter(|s| !s.numbers.get(&book::VERTICES).is_notable());
    let waits: f64 = stages
        .filter_map(|s| runs.more(s.numbers.get(&book::WAIT)))
        .sum();
    let waits = waits / 1e3;
    let (slow, _) = runs.names();
    let text = text!(
        "{slow} 的顶点等待机器的时间更长（关键路径上约多 {time}）",
        "vertices in {slow} waited longer for machines (about {time} on the critical path)",
        time = Seconds(waits)
    );
    (waits >= SAME_SECONDS).then(|| runs.reason(ReasonKind::Machines, Some(waits), None, text))
}

/// Lost attempts cost their time divided by the number of vertices that ran concurrently.
fn lost_work(runs: &Contrast<'_>) -> Option<Reason> {
    let lost = |run: &ComparedRun| total(&run.summary, &book::LOST_TIME);
    let (more, less) = (lost(runs.slow)?, lost(runs.fast)?);
    let concurrent = busy_seconds(runs.slow)? / runs.slow.report.job.elapsed_seconds?.max(1.0);
    let seconds = (more - less) / concurrent.max(1.0);
    let (slow, fast) = runs.names();
    let text = text!(
        "失败和重跑的尝试在 {slow} 中耗时 {more}，在 {fast} 中耗时 {less}",
        "lost attempts took {more} in {slow} and {less} in {fast}",
        more = Seconds(more),
        less = Seconds(less)
    );
    (seconds >= SAME_SECONDS).then(|| runs.reason(ReasonKind::LostWork, Some(seconds), None, text))
}

fn busy_seconds(run: &ComparedRun) -> Option<f64> {
    total(&run.summary, &book::VERTEX_TIME)
}

/// The stage whose slowest vertex stands out most, compared with the other run.
fn imbalance(runs: &Contrast<'_>) -> Option<Reason> {
    let (slow, fast) = runs.names();
    let of = |stage: &StageChange| {
        let (ratio, before) = runs.both(stage.numbers.get(&book::RUN_MAX_OVER_MEAN))?;
        let (longest, was) = runs.seconds(stage, &book::MAX_RUN)?;
        if ratio < IMBALANCE * before {
            return None;
        }
        let above = |longest: f64, ratio: f64| longest * (1.0 - 1.0 / ratio.max(1.0));
        let seconds = above(longest, ratio) - above(was, before);
        let name = runs.name(stage)?;
        let text = text!(
            "{name} 最慢的顶点在 {slow} 中是均值的 {ratio}，在 {fast} 中是 {before}",
            "the slowest vertex of {name} took {ratio} the mean in {slow}, {before} in {fast}",
            ratio = Ratio(ratio),
            before = Ratio(before)
        );
        (seconds >= SAME_SECONDS)
            .then(|| runs.reason(ReasonKind::Imbalance, Some(seconds), Some(name), text))
    };
    strongest(runs.deciding().filter_map(of))
}

/// The stage in which each row took longer.
fn work_per_row(runs: &Contrast<'_>) -> Option<Reason> {
    let (slow, fast) = runs.names();
    let of = |stage: &StageChange| {
        let (rows, rows_before) = runs.both(stage.numbers.get(&book::ROWS_IN))?;
        let (busy, busy_before) = runs.both(stage.numbers.get(&book::BUSY))?;
        let (longest, was) = runs.seconds(stage, &book::MAX_RUN)?;
        if rows <= 0.0 || rows_before <= 0.0 || busy_before <= 0.0 {
            return None;
        }
        let slower = (busy / rows) / (busy_before / rows_before);
        let seconds = (longest - was).min(longest * (1.0 - 1.0 / slower));
        let name = runs.name(stage)?;
        let text = text!(
            "{name} 处理每行的时间在 {slow} 中是 {fast} 的 {slower}",
            "each row of {name} took {slower} as long in {slow} as in {fast}",
            slower = Ratio(slower)
        );
        (slower >= SLOWER_ROWS && seconds >= SAME_SECONDS)
            .then(|| runs.reason(ReasonKind::WorkPerRow, Some(seconds), Some(name), text))
    };
    strongest(runs.deciding().filter_map(of))
}

fn strongest(reasons: impl Iterator<Item = Reason>) -> Option<Reason> {
    reasons.max_by(|x, y| x.confidence.total_cmp(&y.confidence))
}

/// Drops reasons that a finding explains better.
fn drop_explained(reasons: &mut Vec<Reason>) {
    let causes = reasons
        .iter()
        .filter_map(|r| Some((r.cause.clone()?, r.stage.clone())));
    let causes: Vec<(String, Option<String>)> = causes.collect();
    let found = |prefix: &str, stage: &Option<String>| {
        let is_same = |place: &Option<String>| stage.is_none() || place == stage;
        let mut causes = causes.iter();
        causes.any(|(cause, place)| cause.starts_with(prefix) && is_same(place))
    };
    reasons.retain(|r| match r.kind {
        ReasonKind::Queue => !found("queue.", &None),
        ReasonKind::LostWork => !found("failure.", &None),
        ReasonKind::Imbalance => !found("skew.", &r.stage) && !found("failure.slow", &r.stage),
        ReasonKind::WorkPerRow => !found("", &r.stage),
        _ => true,
    });
}

/// Nothing explains the difference; the stage that grew the most is where to look.
fn unknown(runs: &Contrast<'_>) -> Reason {
    let grown = |s: &StageChange| s.weight_seconds * runs.sign();
    let stages = runs.seen.stages.iter();
    let most = stages.max_by(|x, y| grown(x).total_cmp(&grown(y)));
    let most = most.filter(|s| grown(s) > 0.0);
    let name = most.and_then(|s| runs.name(s));
    let seconds = most.map(grown);
    let text = match name.zip(seconds) {
        Some((stage, seconds)) => text!(
            "没有单一原因；{stage} 的用时增加最多（{by}）",
            "no single cause; {stage} grew the most (by {by})",
            by = Seconds(seconds)
        ),
        None => text!(
            "保存的数据不足以判断原因",
            "the saved data does not show why"
        ),
    };
    runs.reason(ReasonKind::Unknown, seconds, name, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(kind: ReasonKind, share: f64, confidence: f64) -> Reason {
        Reason {
            kind,
            seconds: Some(share * 100.0),
            share: Some(share),
            confidence,
            stage: None,
            cause: None,
            text: String::new(),
        }
    }

    #[test]
    fn inputs_that_explain_the_change_come_first_and_shares_add_up() {
        use ReasonKind as Kind;
        for (growth, expected) in [
            // The finding follows from the larger input: nothing is left for it.
            (1.0, vec![(Kind::Data, 100.0)]),
            (0.85, vec![(Kind::Data, 85.0), (Kind::Finding, 15.0)]),
            (0.4, vec![(Kind::Finding, 90.0), (Kind::Data, 10.0)]),
        ] {
            let mut reasons = vec![
                reason(Kind::Finding, 0.9, 0.9),
                reason(Kind::Data, growth, 0.8),
                reason(Kind::Tokens, 0.7, 0.5),
            ];
            rank(&mut reasons);
            let seconds = |r: &Reason| (r.seconds.unwrap_or_default() * 10.0).round() / 10.0;
            let ranked: Vec<_> = reasons.iter().map(|r| (r.kind, seconds(r))).collect();
            assert_eq!(ranked, expected, "{growth}");
        }
    }
}
