//! Outcome of each rule, and the verdict that follows.
//!
//! `Healthy` is a proof: every applicable rule was cleared by a measurement, or its undecided part
//! is too small to matter, and the run as a whole is known.

use std::collections::BTreeSet;

use job::info::Information;
use job::model::JobState;

use crate::account::Account;
use crate::diagnosis::Numbering;
use crate::impact::VertexWork;
use crate::rule::{Candidate, Examination, Undecided};
use crate::rules::is_local;
use crate::settings::MIN_SHARE;
use crate::view::View;
use crate::weigh;
use report::format::{PLACE, Share};
use report::{Cause, Evidence, Finding, RuleOutcome, RuleResult, SegmentKind, Text, Verdict, text};

/// Missing information about the run as a whole, without which the job can't be called healthy.
pub(crate) fn gaps(view: &View<'_>, account: Option<&Account>) -> Vec<Undecided> {
    let mut gaps = Vec::new();
    let mut lacks = |info: Information, reason: Text| {
        gaps.push(Undecided {
            info,
            stage: None,
            share_at_stake: 1.0,
            reason: reason.into(view.language),
        });
    };
    // vertex events of SCOPE show the time of the stages without the times of the job
    let mut stages = view.job.stages.iter();
    let of_stages = view.job.spark.is_none() && stages.any(|s| s.runs.is_some());
    if account.is_none() && !of_stages {
        let reason = if is_local(view) {
            text!(
                "本地运行不记录作业的运行时间，也没有排队、调度和多个顶点：要判断作业为什么慢，需要它在集群上运行后的文件",
                "a local run records no job run time and has no queue, no scheduler and few vertices: only the files of a run on the cluster show why the job is slow",
            )
        } else {
            text!(
                "不知道作业运行了多长时间，无法判断任何原因占多大比例",
                "the run time of the job is unknown, and with it the share of any cause",
            )
        };
        lacks(Information::JobTimes, reason);
    }
    let open = view.job.spark.as_ref().filter(|app| !app.complete);
    if let Some(app) = open.filter(|_| !view.failed()) {
        let reason = match app.left_unread {
            true => text!(
                "日志没有读完，不知道应用是否成功、何时结束",
                "the log was read in part: the application's result and its run time are unknown",
            ),
            false => text!(
                "日志中没有应用的结束，不知道它是否成功、何时结束",
                "the log lacks the end of the application: its result and its run time are unknown",
            ),
        };
        lacks(Information::JobTimes, reason);
    }
    if let Some(stage) = misdated_stage(view) {
        lacks(
            Information::JobTimes,
            text!(
                "{stage} 有任务的时间早于应用启动：日志中的时间互相矛盾",
                "{stage} has tasks from before the start of the application: the times of the log contradict each other",
                stage = view.name(stage),
            ),
        );
    }
    let unexplained = account.map(|a| {
        let seconds = a.seconds(SegmentKind::Unexplained) - unseen_seconds(view);
        seconds / a.run.to
    });
    if let Some(share) = unexplained.filter(|s| *s >= view.limit(&MIN_SHARE)) {
        lacks(
            Information::VertexEvents,
            text!(
                "从提交到结束的时间有 {share} 无法解释",
                "{share} of the time from submission to end is unexplained",
                share = Share(share),
            ),
        );
    }
    if view.job.info.state == JobState::Cancelled {
        lacks(
            Information::JobTimes,
            text!(
                "作业被取消，没有运行完",
                "the job was cancelled before its end",
            ),
        );
    }
    gaps
}

/// A stage with tasks that were launched long before the application was submitted; clocks differ by less than an hour.
fn misdated_stage(view: &View<'_>) -> Option<usize> {
    const HOUR_MS: i64 = 3_600_000;
    let app = view.job.spark.as_deref()?;
    let earliest = view.job.info.submitted_ms? - HOUR_MS;
    let mut stages = app.stages.iter();
    stages.position(|s| s.attempts.iter().any(|t| t.launched_ms < earliest))
}

/// The longest vertex outside the vertex events, by the totals of the stages: truncated
/// events lack the vertices that ended last.
fn unseen_seconds(view: &View<'_>) -> f64 {
    let stages = view.run.iter().flat_map(|r| &r.stages);
    let unseen = stages.zip(&view.job.stages).flat_map(|(work, stage)| {
        let seen = stage.runs.as_ref().map_or(usize::MAX, |r| {
            let indices: BTreeSet<u32> = r.runs.iter().map(|v| v.index).collect();
            indices.len()
        });
        work.vertices.iter().skip(seen)
    });
    unseen.map(VertexWork::total_s).fold(0.0, f64::max)
}

/// `Problem` with any finding; `Healthy` if no relevant cause or gap is open.
pub(crate) fn verdict(findings: &[Finding], rules: &[RuleOutcome], gaps: &[Undecided]) -> Verdict {
    let open = |r: &RuleOutcome| r.outcome == RuleResult::Abstained;
    if !findings.is_empty() {
        Verdict::Problem
    } else if !gaps.is_empty() || rules.iter().any(open) {
        Verdict::InsufficientInformation
    } else {
        Verdict::Healthy
    }
}

/// Undecided places of a rule with a relevant share at stake, the largest first.
pub(crate) fn open<'a>(e: &'a Examination, view: &View<'_>) -> Vec<&'a Undecided> {
    let matters = |u: &&Undecided| view.matters(u.share_at_stake);
    let mut open: Vec<&Undecided> = e.undecided.iter().filter(matters).collect();
    open.sort_by(|a, b| b.share_at_stake.total_cmp(&a.share_at_stake));
    open
}

/// The outcome of every rule. `explained` are the causes that need no fix of their own, each with
/// the position of the finding that fixes it.
pub(crate) fn outcomes(
    examined: Vec<Examination>,
    findings: &[Finding],
    explained: &[(Cause, usize)],
    view: &View<'_>,
    numbering: &mut Numbering,
) -> Vec<RuleOutcome> {
    let outcome = |e: Examination| {
        let fixed = explained.iter().find(|(c, _)| *c == e.cause);
        let fixed_by = fixed.and_then(|(_, by)| findings.get(*by));
        let (outcome, by, text) = end(&e, findings, fixed_by, view);
        let mut lacking: Vec<String> = Vec::new();
        if outcome == RuleResult::Abstained {
            let open = open(&e, view);
            lacking.extend(open.iter().map(|u| u.info.code().to_owned()));
            lacking.sort_unstable();
            lacking.dedup();
        }
        let measured = e.closest.into_iter().flat_map(|c| c.evidence);
        let seen = e.candidates.into_iter().flat_map(|c| c.evidence);
        let evidence: Vec<Evidence> = seen.chain(measured).collect();
        RuleOutcome {
            cause: e.cause,
            outcome,
            by,
            text: text.into(view.language),
            lacking,
            evidence: numbering.ids(evidence),
        }
    };
    examined.into_iter().map(outcome).collect()
}

/// Outcome, the finding that fired or explains, and the reason.
fn end(
    e: &Examination,
    findings: &[Finding],
    fixed_by: Option<&Finding>,
    view: &View<'_>,
) -> (RuleResult, Option<String>, Text) {
    let fired = findings.iter().find(|f| f.cause == e.cause);
    if let Some(finding) = fired {
        let count = findings.iter().filter(|f| f.cause == e.cause).count();
        let count = count.to_string();
        return (
            RuleResult::Fired,
            Some(finding.id.clone()),
            text!("{count}", "{count}"),
        );
    }
    if let Some(largest) = open(e, view).first() {
        let reason = &largest.reason;
        return (RuleResult::Abstained, None, text!("{reason}", "{reason}"));
    }
    if let Some(by) = fixed_by.or_else(|| explaining(e, findings)) {
        let (id, title) = (&by.id, by.cause.title());
        let stage = by
            .stage
            .as_deref()
            .map_or_else(Text::default, |stage| text!("{stage} ", " in {stage}"));
        let reason = text!(
            "{stage}看到的现象由 {id}（{title}）引起",
            "the symptoms{stage} are an effect of {id} ({title})",
            stage = stage,
            title = title,
        );
        return (RuleResult::Explained, Some(id.clone()), reason);
    }
    match e.candidates.first() {
        Some(candidate) if view.failed() => (RuleResult::NotApplicable, None, beside(candidate)),
        Some(candidate) => (RuleResult::Cleared, None, too_small(candidate)),
        None => without_candidate(e, view),
    }
}

/// The finding that explains every symptom of a rule.
fn explaining<'a>(e: &Examination, findings: &'a [Finding]) -> Option<&'a Finding> {
    let attributed = e.attributed.iter().find_map(|(cause, stage)| {
        let of_cause = || findings.iter().filter(|f| f.cause == *cause);
        let same = of_cause().find(|f| f.stage == *stage);
        same.or_else(|| of_cause().next())
    });
    let following = || {
        let stages = e.candidates.iter().map(|c| c.finding.stage.as_deref());
        stages
            .filter_map(|stage| weigh::origin(e.cause, stage, findings))
            .next()
    };
    attributed.or_else(following)
}

fn too_small(candidate: &Candidate) -> Text {
    if candidate.by_chance {
        return text!(
            "再次运行时不会如此：{summary}",
            "chance; another run would not have it: {summary}",
            summary = candidate.finding.summary,
        );
    }
    text!(
        "影响太小：{summary}",
        "costs too little: {summary}",
        summary = candidate.finding.summary,
    )
}

fn beside(candidate: &Candidate) -> Text {
    text!(
        "作业失败并非因此：{summary}",
        "not why the job failed: {summary}",
        summary = candidate.finding.summary,
    )
}

/// Clears a rule without candidates: by its measurements, or because its undecided places are
/// known to be small. With neither, the cause does not apply to the job.
fn without_candidate(e: &Examination, view: &View<'_>) -> (RuleResult, Option<String>, Text) {
    let stakes = e.undecided.iter().map(|u| u.share_at_stake);
    let at_most = stakes.fold(0.0, f64::max);
    let small = text!(
        "未能判断的部分最多占运行时间的 {share}",
        "the undecided part is at most {share} of the run",
        share = Share(at_most),
    );
    let measured = PLACE.count(e.in_order as f64);
    let (outcome, reason) = match &e.cleared {
        Some(reason) if e.in_order > 0 => (
            RuleResult::Cleared,
            text!(
                "{reason}（已检查 {measured}）",
                "{reason} ({measured} checked)",
                reason = reason,
                measured = measured,
            ),
        ),
        None if e.in_order > 0 => (
            RuleResult::Cleared,
            text!(
                "已检查 {measured}",
                "{measured} checked",
                measured = measured
            ),
        ),
        _ if !e.attributed.is_empty() => (
            RuleResult::Cleared,
            text!(
                "{places}另有原因，且影响太小",
                "{places} with another cause that costs too little",
                places = PLACE.count(e.attributed.len() as f64),
            ),
        ),
        _ if !e.undecided.is_empty() => (RuleResult::Cleared, small),
        _ if view.failed() => (
            RuleResult::NotApplicable,
            text!(
                "作业失败，没有跑完的运行不能说明这一点",
                "the job failed, and an unfinished run doesn't show this",
            ),
        ),
        _ => (
            RuleResult::NotApplicable,
            text!(
                "作业中没有可能出现这种情况的地方",
                "no part of the job can have this problem",
            ),
        ),
    };
    (outcome, None, reason)
}
