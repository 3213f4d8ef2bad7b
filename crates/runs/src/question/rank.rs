//! How stages compare: the first by some quantity, and two with their largest difference.

use report::format::{Ratio, Seconds, with_unit};
use report::{Text, Verdict, text};

use super::intent::Intent;
use super::names::Subject;
use super::order::{Order, ranked};
use super::said::{Said, names};
use super::stage::{findings, judge, memory, spread};
use super::{Asked, found};
use crate::StageSummary;

/// Stages listed by rank.
const RANKED: usize = 3;

/// Spread over vertices from which a stage is uneven.
const UNEVEN: f64 = 2.0;

/// Names the first of the ranked stages.
pub(super) fn rank(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let order = Order::of(&intent.asked);
    let ranked = ranked(run, &intent.asked);
    let language = said.language();
    let shown = ranked.iter().take(RANKED).map(|(n, at)| {
        let n = with_unit(*n, order.unit, language);
        let name = &run.summary.stages[*at].name;
        text!("{name}（{n}）", "{name} ({n})").into(language)
    });
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() {
        return said.say(text!(
            "没有文件可以比较各阶段",
            "No file allows comparing the stages"
        ));
    }
    let path = match order.unit == "s" && !run.on_path().is_empty() {
        true => text!("在关键路径上", " on the critical path"),
        false => Text::default(),
    };
    let sentence = text!(
        "{path}{what}的阶段：{shown}",
        "Stages with the {what}{path}: {shown}",
        path = path,
        what = order.what,
        shown = names(&shown, language)
    );
    said.say(sentence);
    if let Some((_, at)) = ranked.first() {
        judge(said, run, *at);
    }
}

/// The stage that is spread least evenly.
pub(super) fn widest(said: &mut Said<'_>, run: &Asked<'_>) {
    let stages = run.summary.stages.iter();
    let ratio = |s: &StageSummary| s.rows_max_over_mean.or(s.max_over_mean).unwrap_or(0.0);
    let Some(stage) = stages.max_by(|a, b| ratio(a).total_cmp(&ratio(b))) else {
        return;
    };
    if ratio(stage) < UNEVEN && run.report.verdict != Verdict::Problem {
        let most = Ratio(ratio(stage));
        let name = &stage.name;
        return said.say(text!("各阶段的数据都均匀：最不均匀的是 {name}，最大的顶点是平均的 {most}", "The stages are even: the least even is {name}, whose largest vertex has {most} the mean", most = most));
    }
    spread(said, run, stage);
}

pub(super) fn most_memory(said: &mut Said<'_>, run: &Asked<'_>) {
    let stages = run.summary.stages.iter();
    let peak = |s: &StageSummary| s.memory_peak.unwrap_or(0.0);
    match stages.max_by(|a, b| peak(a).total_cmp(&peak(b))) {
        Some(stage) => memory(said, stage),
        None => said.say(text!("没有文件给出内存", "No file gives memory")),
    }
}

/// A quantity: its name, its values of two stages, and its unit.
type Pair = (Text, Option<(f64, f64)>, &'static str);

/// Compares the first two stages that a question names, and gives their largest difference.
pub(super) fn compare(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let stages = intent.subjects.iter().filter_map(|s| match s {
        Subject::Stage(at) => Some(&run.summary.stages[*at]),
        _ => None,
    });
    let [a, b, ..] = stages.collect::<Vec<_>>()[..] else {
        return;
    };
    let per_vertex = |s: &StageSummary| Some(s.rows_in? / s.vertices.filter(|n| *n > 0)? as f64);
    let language = said.language();
    let metrics: [Pair; 6] = [
        (text!("用时", "wall time"), a.span_ms.zip(b.span_ms), "ms"),
        (
            text!("顶点数", "vertices"),
            a.vertices
                .zip(b.vertices)
                .map(|(a, b)| (a as f64, b as f64)),
            "count",
        ),
        (
            text!("读入行数", "rows in"),
            a.rows_in.zip(b.rows_in),
            "rows",
        ),
        (
            text!("每个顶点的行数", "rows per vertex"),
            per_vertex(a).zip(per_vertex(b)),
            "rows",
        ),
        (
            text!("读取字节", "bytes read"),
            a.bytes_read.zip(b.bytes_read),
            "bytes",
        ),
        (
            text!("最慢顶点与平均之比", "slowest vertex over the mean"),
            a.max_over_mean.zip(b.max_over_mean),
            "ratio",
        ),
    ];
    let (one, other) = (&a.name, &b.name);
    let shown = metrics.iter().filter_map(|(what, values, unit)| {
        let (x, y) = (*values)?;
        let [x, y] = [x, y].map(|v| with_unit(v, unit, language));
        Some(text!("{what} {x} 对 {y}", "{what} {x} against {y}", what = what).into(language))
    });
    let shown = shown.collect::<Vec<_>>().join(language.select("；", "; "));
    if shown.is_empty() {
        return said.say(text!(
            "没有文件可以比较 {one} 和 {other}",
            "No file allows comparing {one} with {other}"
        ));
    }
    let mut ids = Vec::new();
    for (stage, span) in [(a, a.span_ms), (b, b.span_ms)] {
        let Some(span) = span.map(|ms| ms / 1e3) else {
            continue;
        };
        let name = &stage.name;
        let text = text!(
            "{name} 用时 {span}",
            "{name} takes {span}",
            span = Seconds(span)
        );
        ids.extend(said.measured(("wall time", span, "s"), stage.sources.times.as_ref(), text));
    }
    said.cite(
        text!(
            "{one} 与 {other} 相比：{shown}",
            "{one} compared with {other}: {shown}"
        ),
        &ids,
    );
    let ratio = |values: &Option<(f64, f64)>| {
        values
            .filter(|(x, y)| *x > 0.0 && *y > 0.0)
            .map(|(x, y)| x / y)
    };
    let reasons = metrics[1..]
        .iter()
        .filter_map(|(what, values, _)| Some((what, ratio(values)?)));
    let away = |r: f64| r.max(1.0 / r);
    if let Some((what, ratio)) = reasons.max_by(|a, b| away(a.1).total_cmp(&away(b.1))) {
        let (bigger, smaller, by) = match ratio >= 1.0 {
            true => (one, other, ratio),
            false => (other, one, 1.0 / ratio),
        };
        if by > 1.1 {
            let sentence = text!(
                "差别最大的是{what}：{bigger} 是 {smaller} 的 {by}",
                "The largest difference is {what}: {bigger} has {by} that of {smaller}",
                what = what,
                by = Ratio(by)
            );
            said.say(sentence);
        }
    }
    for stage in [a, b] {
        findings(run, stage).for_each(|f| found::finding(said, f, false));
    }
}
