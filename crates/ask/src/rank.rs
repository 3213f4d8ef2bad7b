//! How stages compare: the first by some measure, and two with their largest difference.

use report::format::{Change, Ratio, STAGE, Seconds, Share};
use report::measure::{Entity, Measure, Value, book};
use report::{ProblemType, Text, Verdict, text};

use crate::intent::Intent;
use crate::order::{measure, ranked, superlative};
use crate::said::{Said, names};
use crate::stage::{findings, judge};
use crate::subject::Subject;
use crate::{Asked, found, record};
use runs::{EdgeSummary, StageSummary};

/// Stages listed by rank.
const RANKED: usize = 3;

/// Stages listed with their parts of a sum.
const SUMMED: usize = 6;

/// Stages with one vertex that are listed.
const SINGLE: usize = 8;

/// A stage is uneven from this spread over vertices.
const UNEVEN: f64 = 2.0;

/// Measures of how evenly a stage is spread.
#[rustfmt::skip]
pub(crate) const SPREAD: [&Measure; 5] = [
    &book::MAX_RUN, &book::RUN_MAX_OVER_MEAN, &book::ROWS_MAX, &book::ROWS_MAX_OVER_MEAN,
    &book::READ_MAX_OVER_MEAN,
];

/// Measures that compare two stages; the first is the result of the others.
#[rustfmt::skip]
const COMPARED: [&Measure; 6] = [
    &book::SPAN, &book::VERTICES, &book::ROWS_IN, &book::BYTES_READ, &book::MEAN_RUN,
    &book::RUN_MAX_OVER_MEAN,
];

/// Names the first of the ranked stages.
pub(crate) fn rank(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let order = measure(&intent.measures);
    let ranked = ranked(run, &intent.measures);
    let language = said.language();
    let mut ids = Vec::new();
    let is_path = *order == book::SPAN && !run.on_path().is_empty();
    let mut shown: Vec<String> = Vec::new();
    let total = run.report.time.as_ref().map(|time| time.total_seconds());
    for (number, at) in ranked.iter().take(RANKED) {
        let stage = &run.summary.stages[*at];
        let (name, n) = (&stage.name, order.shown(*number, run.vertex()));
        let share = match total.filter(|total| is_path && *total > 0.0) {
            Some(total) => text!(
                "，占全程的 {share}",
                ", {share} of the whole time",
                share = Share(number / 1e3 / total)
            ),
            None => Text::default(),
        };
        let part = text!(
            "{name}（{n}{share}）",
            "{name} ({n}{share})",
            n = n,
            share = share
        );
        shown.push(part.into(language));
        if let Some(value) = stage.values.value(order).filter(|_| !is_path) {
            ids.extend(said.evidence_of(order, value, name, run.vertex()));
        }
    }
    if shown.is_empty() {
        return said.say(text!(
            "没有文件可以比较各阶段",
            "No file allows comparing the stages"
        ));
    }
    let path = match is_path {
        true => text!("在关键路径上", " on the critical path"),
        false => Text::default(),
    };
    let sentence = text!(
        "{path}{what}的阶段：{shown}",
        "Stages with the {what}{path}: {shown}",
        path = path,
        what = superlative(order),
        shown = names(&shown, language)
    );
    said.cite(sentence, &ids);
    let is_found = |at: usize| findings(run, &run.summary.stages[at]).next().is_some();
    if let Some((_, at)) = ranked.first()
        && (intent.asks_why || is_found(*at))
    {
        judge(said, run, *at);
    }
}

/// The stage that is spread least evenly.
pub(crate) fn widest(said: &mut Said<'_>, run: &Asked<'_>) {
    let stages = run.summary.stages.iter();
    let ratio = |s: &StageSummary| {
        let data = [&book::ROWS_MAX_OVER_MEAN, &book::READ_MAX_OVER_MEAN];
        let data = data.into_iter().filter_map(|m| s.get(m)).reduce(f64::max);
        data.or_else(|| s.get(&book::RUN_MAX_OVER_MEAN))
            .unwrap_or(0.0)
    };
    // the stage of a finding about skew, else the least even one
    let mut found = run.report.findings.iter();
    let found = found.find(|f| f.cause.problem_type() == ProblemType::DataSkew);
    let found = found.and_then(|f| run.summary.stage_named(f.stage.as_deref()?));
    let found = found.map(|at| &run.summary.stages[at]);
    let least_even = || stages.max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let Some(stage) = found.or_else(least_even) else {
        return;
    };
    if ratio(stage) < UNEVEN && run.report.verdict != Verdict::Problem {
        said.say(text!(
            "各阶段的数据都均匀，最不均匀的是 {name}",
            "The stages are even; the least even is {name}",
            name = stage.name.as_str()
        ));
    }
    for measure in SPREAD {
        if let Some(value) = stage.values.value(measure) {
            said.say_value(measure, value, &stage.name, run.vertex());
        }
    }
}

/// Measures with values that add up over stages.
#[rustfmt::skip]
pub(crate) const SUMS: [&Measure; 15] = [
    &book::CROSS_POD, &book::SPILLED, &book::MEMORY_SPILLED, &book::ABANDONED, &book::TEMPORARY, &book::GC_TIME, &book::REVOKED, &book::SPILLS,
    &book::BYTES_READ, &book::BYTES_WRITTEN, &book::FETCH_WAIT, &book::CPU_TIME, &book::LOST_WORK,
    &book::FAILED, &book::NETWORK,
];

/// The stages with most of the measures that one question is about, and their sum.
pub(crate) fn most(said: &mut Said<'_>, run: &Asked<'_>, measures: &[&'static Measure]) {
    let mut is_known = false;
    if *measures[0] == book::CACHED {
        is_known = record::cache(said, run);
    }
    for measure in measures {
        if let Some(value) = run.summary.values.value(measure) {
            is_known = true;
            said.say_value(measure, value, run.report.job.label(), run.vertex());
        }
        let mut known = known(run, measure);
        let is_measured = !known.is_empty();
        known.retain(|(_, value)| value.number() > 0.0);
        known.sort_by(|a, b| b.1.number().total_cmp(&a.1.number()));
        match known.is_empty() {
            // another measure of the same question says "none"
            true if is_known => {}
            true if is_measured => said.say(text!(
                "{title}：没有",
                "{title}: none",
                title = measure.title(run.vertex())
            )),
            true => continue,
            false => over_stages(said, run, measure, &known),
        }
        is_known |= is_measured;
    }
    if measures.contains(&&book::FAILED) {
        let stages = run.summary.stages.iter().filter(|s| !s.lost.is_empty());
        stages.take(RANKED).for_each(|s| record::attempts(said, s));
    }
    if !is_known {
        said.say(text!(
            "没有文件给出{title}",
            "No file gives {title}",
            title = measures[0].title(run.vertex())
        ));
    }
}

/// The values of a measure over stages, or over the channels between them.
fn known<'a>(run: &'a Asked<'_>, measure: &'static Measure) -> Vec<(String, &'a Value)> {
    let stages = &run.summary.stages;
    let name = |at: usize| stages.get(at).map_or("", |s| s.name.as_str());
    match measure.entity {
        Entity::Exchange => {
            let edges = run.summary.edges.iter();
            let between = |e: &EdgeSummary| format!("{} → {}", name(e.from), name(e.to));
            edges
                .filter_map(|e| Some((between(e), e.values.value(measure)?)))
                .collect()
        }
        _ => stages
            .iter()
            .filter_map(|s| Some((s.name.clone(), s.values.value(measure)?)))
            .collect(),
    }
}

/// Says the things with a measure, most first.
fn over_stages(
    said: &mut Said<'_>,
    run: &Asked<'_>,
    measure: &'static Measure,
    known: &[(String, &Value)],
) {
    let (language, vertex) = (said.language(), run.vertex());
    let mut ids = Vec::new();
    let is_sum = SUMS.contains(&measure);
    let listed = if is_sum { SUMMED } else { RANKED };
    let shown = known.iter().take(listed).map(|(name, value)| {
        ids.extend(said.evidence_of(measure, value, name, vertex));
        let n = measure.shown(value.number(), vertex);
        text!("{name}（{n}）", "{name} ({n})", n = n).into(language)
    });
    let mut shown: Vec<String> = shown.collect();
    if let (true, more @ 1..) = (is_sum, known.len().saturating_sub(listed)) {
        shown.push(text!("另外 {more} 个阶段", "{more} more stages").into(language));
    }
    let total: f64 = known.iter().map(|(_, value)| value.number()).sum();
    let total = match is_sum && known.len() > 1 {
        true => text!(
            "共 {total}，最多的阶段：",
            "{total} in all, most in ",
            total = measure.shown(total, vertex)
        ),
        false => Text::default(),
    };
    let sentence = text!(
        "{title}：{total}{shown}",
        "{title}: {total}{shown}",
        title = measure.title(vertex),
        total = total,
        shown = names(&shown, language)
    );
    said.cite(sentence, &ids);
}

/// The stages with one vertex, the longest first.
pub(crate) fn single(said: &mut Said<'_>, run: &Asked<'_>) {
    let stages = run.summary.stages.iter();
    let mut single: Vec<_> = stages
        .filter(|s| s.get(&book::VERTICES) == Some(1.0))
        .collect();
    let span = |s: &StageSummary| s.get(&book::SPAN).unwrap_or(0.0);
    single.sort_by(|a, b| span(b).total_cmp(&span(a)));
    let (language, one) = (said.language(), run.vertex().count(1.0));
    if single.is_empty() {
        return said.say(text!(
            "没有哪个阶段只有 {one}",
            "No stage has just {one}",
            one = one
        ));
    }
    let mut ids = Vec::new();
    let shown = single.iter().take(SINGLE).map(|stage| {
        let value = stage.values.value(&book::VERTICES);
        ids.extend(value.map(|v| said.evidence_of(&book::VERTICES, v, &stage.name, run.vertex())));
        let (name, time) = (&stage.name, Seconds(span(stage) / 1e3));
        text!("{name}（{time}）", "{name} ({time})", time = time).into(language)
    });
    let shown: Vec<String> = shown.collect();
    let ids: Vec<String> = ids.into_iter().flatten().collect();
    let sentence = text!(
        "有 {n}只有 {one}：{shown}",
        "{n} with just {one}: {shown}",
        n = STAGE.count(single.len() as f64),
        one = one,
        shown = names(&shown, language)
    );
    said.cite(sentence, &ids);
}

/// Says which of two stages takes longer.
fn slower(said: &mut Said<'_>, a: &StageSummary, b: &StageSummary) {
    let Some((x, y)) = a.get(&book::SPAN).zip(b.get(&book::SPAN)) else {
        return;
    };
    let (slow, fast, long, short) = match x >= y {
        true => (a, b, x, y),
        false => (b, a, y, x),
    };
    said.say(text!(
        "{slow} 更慢：用时 {long}，{fast} 为 {short}（{change}）",
        "{slow} is slower: it takes {long}, {fast} {short} ({change})",
        slow = slow.name,
        fast = fast.name,
        long = Seconds(long / 1e3),
        short = Seconds(short / 1e3),
        change = Change::between(short, long)
    ));
}

/// Compares the first two stages that a question names, and gives their largest difference.
pub(crate) fn compare(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let stages = intent.subjects.iter().filter_map(|s| match s {
        Subject::Stage(at) => Some(&run.summary.stages[*at]),
        _ => None,
    });
    let [a, b, ..] = stages.collect::<Vec<_>>()[..] else {
        return;
    };
    let (language, vertex) = (said.language(), run.vertex());
    let (one, other) = (&a.name, &b.name);
    let asked = intent.measures.iter().copied();
    let asked: Vec<&Measure> = asked.filter(|m| m.entity == Entity::Stage).collect();
    let is_general = asked.is_empty();
    if is_general {
        slower(said, a, b);
    }
    let measures = if is_general {
        &COMPARED[..]
    } else {
        &asked[..]
    };
    let (mut ids, mut shown) = (Vec::new(), Vec::new());
    let mut furthest: Option<(&Measure, f64)> = None;
    for measure in measures.iter().copied() {
        let Some((x, y)) = a.values.value(measure).zip(b.values.value(measure)) else {
            continue;
        };
        ids.extend(said.evidence_of(measure, x, one, vertex));
        ids.extend(said.evidence_of(measure, y, other, vertex));
        let part = text!(
            "{what} {x} 对 {y}",
            "{what} {x} against {y}",
            what = measure.title(vertex),
            x = measure.shown(x.number(), vertex),
            y = measure.shown(y.number(), vertex)
        );
        shown.push(part.into(language));
        let ratio = x.number() / y.number();
        let away = |r: f64| r.max(1.0 / r);
        let is_further = furthest.is_none_or(|(_, known)| away(ratio) > away(known));
        if *measure != book::SPAN && ratio.is_finite() && ratio > 0.0 && is_further {
            furthest = Some((measure, ratio));
        }
    }
    let shown = shown.join(language.select("；", "; "));
    if shown.is_empty() {
        return said.say(text!(
            "没有文件可以比较 {one} 和 {other}",
            "No file allows comparing {one} with {other}"
        ));
    }
    said.cite(
        text!(
            "{one} 与 {other} 相比：{shown}",
            "{one} compared with {other}: {shown}"
        ),
        &ids,
    );
    if let Some((measure, ratio)) = furthest {
        let (bigger, smaller, by) = match ratio >= 1.0 {
            true => (one, other, ratio),
            false => (other, one, 1.0 / ratio),
        };
        if by > 1.1 {
            let sentence = text!(
                "差别最大的是{what}：{bigger} 是 {smaller} 的 {by}",
                "The largest difference is {what}: {bigger} has {by} the value of {smaller}",
                what = measure.title(vertex),
                by = Ratio(by)
            );
            said.say(sentence);
        }
    }
    for stage in [a, b].into_iter().filter(|_| is_general || intent.asks_why) {
        findings(run, stage).for_each(|f| found::finding(said, f, false));
    }
}
