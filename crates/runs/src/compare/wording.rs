//! The headline of a comparison, and remarks on missing data.

use super::{ComparedRun, Comparison, Gap, Origin, ReasonKind, ScriptChange};
use report::format::{Change, Seconds, without_stop};
use report::measure::book;
use report::{JobEngine, JobState, Language, StaticText, Text, text};

pub(super) fn state(state: JobState) -> StaticText {
    let (zh, en) = match state {
        JobState::Succeeded => ("成功", "succeeded"),
        JobState::Failed => ("失败", "failed"),
        JobState::Cancelled => ("被取消", "was cancelled"),
        JobState::Unknown => ("结束状态未知", "ended in an unknown state"),
    };
    Text { zh, en }
}

/// The first line: whether the jobs differ, the difference of the runs, and its most likely reason.
pub(super) fn headline(comparison: &Comparison) -> String {
    let reason = comparison.reasons.first();
    let why = reason.map_or("", |r| without_stop(&r.text));
    let same = reason.is_some_and(|r| r.kind == ReasonKind::NoDifference);
    let text = match difference(comparison) {
        Some(times) if same && is_equal(comparison) => {
            text!("{times}。", "{times}.", times = times)
        }
        Some(times) if same => text!("{times}：{why}。", "{times}: {why}.", times = times),
        Some(times) => text!(
            "{times}；最可能的原因：{why}。",
            "{times}; most likely reason: {why}.",
            times = times
        ),
        None => text!(
            "至少一次运行的用时未知；最可能的差异：{why}。",
            "The run time of at least one run is unknown; most likely difference: {why}."
        ),
    };
    let scripts = match comparison.script {
        ScriptChange::Changed { added, removed, .. }
            if reason.is_none_or(|r| r.kind != ReasonKind::Script) =>
        {
            text!(
                "两次运行的脚本不同（+{added} −{removed} 行）。",
                " The scripts differ (+{added} −{removed} lines)."
            )
        }
        _ => Text::default(),
    };
    let other_job = match comparison.same_job {
        true => Text::default(),
        false => text!(
            "两次运行看起来是不同的作业（名称不同，也没有共同的输入），差异多半来自作业本身。",
            "These look like two different jobs (different names, no common input), so most differences come from the jobs themselves. "
        ),
    };
    let sentences =
        [other_job, text, scripts].map(|text| String::from(text.pick(comparison.language)));
    sentences.concat()
}

/// If the differences of two runs with and without their waits are so many seconds apart, the waits are part of the times.
const WAITED: f64 = 2.0;

/// The times to compare: run times, or the times from submission to end if the runs waited differently.
fn times(comparison: &Comparison) -> Option<(f64, f64, bool)> {
    let runs = [&comparison.a, &comparison.b];
    let [Some(a), Some(b)] = runs.map(|run| run.elapsed_seconds) else {
        return None;
    };
    let whole = runs.map(|run| run.total_seconds);
    Some(match whole {
        [Some(c), Some(d)] if ((d - c) - (b - a)).abs() >= WAITED => (c, d, true),
        _ => (a, b, false),
    })
}

/// Whether the times are shown as the same number.
fn is_equal(comparison: &Comparison) -> bool {
    times(comparison).is_some_and(|(a, b, _)| (a - b).abs() < 0.05)
}

fn difference(comparison: &Comparison) -> Option<Text> {
    let (a, b, with_waits) = times(comparison)?;
    if is_equal(comparison) {
        let took = Seconds(b);
        return Some(text!(
            "B 用时 {took}，与 A 相同",
            "B took {took}, as long as A",
            took = took
        ));
    }
    let by = Seconds((b - a).abs());
    let took = match with_waits {
        true => text!(
            "（从提交到结束）{b}",
            "{b} from submission to end",
            b = Seconds(b)
        ),
        false => text!("{b}", "{b}", b = Seconds(b)),
    };
    let change = Change::between(a, b);
    let (zh, en) = match b >= a {
        true => ("多用", "longer"),
        false => ("少用", "less"),
    };
    Some(text!(
        "B 用时 {took}，比 A {zh} {by}（{change}）",
        "B took {took}, {by} {en} than A ({change})",
        took = took,
        by = by,
        change = change
    ))
}

/// Missing data of a run, which must not be mistaken for "no difference".
pub(super) fn gaps(a: &ComparedRun, b: &ComparedRun, language: Language) -> Vec<Gap> {
    let of = |(name, run)| missing(name, run).into_iter();
    let all = [("A", a), ("B", b)].into_iter().flat_map(of);
    all.map(|(what, reason)| Gap {
        what: what.to_owned(),
        reason: reason.into(language),
    })
    .collect()
}

fn missing(name: &str, run: &ComparedRun) -> Vec<(&'static str, Text)> {
    if run.origin == Origin::Drawn {
        let reason = text!(
            "{name} 由旧版本保存，其目录已不存在或已是另一个作业：缺少行数、算子、估计和输入；请重新分析",
            "{name} was saved by an older version, and its folder is gone or holds another job: \
             rows, operators, estimates and inputs are missing; analyze the job again"
        );
        return vec![("plan", reason)];
    }
    let summary = &run.summary;
    let stages = &summary.stages;
    let is_spark = run.report.job.engine == Some(JobEngine::Spark);
    let mut operators = stages.iter().flat_map(|s| &s.operators);
    let gaps = [
        (
            "times",
            run.report.job.elapsed_seconds.is_none(),
            "作业用时",
            "run time of the job",
            "JobInfo.xml, profile",
        ),
        (
            "rows",
            stages.iter().all(|s| s.get(&book::ROWS_IN).is_none()),
            "运行时统计",
            "runtime counters",
            "__ScopeRuntimeStatistics__.xml",
        ),
        (
            "plan",
            stages.iter().all(|s| s.operators.is_empty()),
            "算子",
            "operators",
            "ScopeVertexDef.xml",
        ),
        (
            "estimates",
            // Spark logs none
            !is_spark && operators.all(|o| o.get(&book::ESTIMATED_ROWS).is_none()),
            "优化器估计",
            "estimates",
            "__ScopeInternalInfo__.xml",
        ),
        (
            "inputs",
            summary.inputs.is_empty(),
            "输入的元数据",
            "input metadata",
            "",
        ),
        ("script", summary.script.is_none(), "脚本", "script", ""),
    ];
    let lacking = gaps.into_iter().filter(|(_, is_missing, ..)| *is_missing);
    let text = |what: StaticText, file: &str| match file {
        file if !file.is_empty() && !is_spark => text!(
            "{name} 没有{what}（缺 {file}）",
            "{name} has no {what} (missing: {file})",
            what = what
        ),
        _ => text!("{name} 没有{what}", "{name} has no {what}", what = what),
    };
    lacking
        .map(|(what, _, zh, en, file)| (what, text(Text { zh, en }, file)))
        .collect()
}
