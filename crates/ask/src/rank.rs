//! How stages compare: the first by some measure, and two with their largest difference.

use report::format::Ratio;
use report::measure::{Measure, book};
use report::{Text, Verdict, text};

use crate::intent::Intent;
use crate::names::Subject;
use crate::order::{measure, ranked, superlative};
use crate::said::{Said, names};
use crate::stage::{findings, judge};
use crate::{Asked, found};
use runs::StageSummary;

/// Stages listed by rank.
const RANKED: usize = 3;

/// A stage is uneven from this spread over vertices.
const UNEVEN: f64 = 2.0;

/// Measures of how evenly a stage is spread.
pub(crate) const SPREAD: [&Measure; 4] = [
    &book::MAX_RUN,
    &book::RUN_MAX_OVER_MEAN,
    &book::ROWS_MAX,
    &book::ROWS_MAX_OVER_MEAN,
];

/// Measures that compare two stages; the first is the result of the others.
const COMPARED: [&Measure; 6] = [
    &book::SPAN,
    &book::VERTICES,
    &book::ROWS_IN,
    &book::BYTES_READ,
    &book::MEAN_RUN,
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
    for (number, at) in ranked.iter().take(RANKED) {
        let stage = &run.summary.stages[*at];
        let (name, n) = (&stage.name, order.shown(*number, run.vertex()));
        shown.push(text!("{name}（{n}）", "{name} ({n})", n = n).into(language));
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
    if let Some((_, at)) = ranked.first() {
        judge(said, run, *at);
    }
}

/// The stage that is spread least evenly.
pub(crate) fn widest(said: &mut Said<'_>, run: &Asked<'_>) {
    let stages = run.summary.stages.iter();
    let ratio = |s: &StageSummary| {
        let rows = s.get(&book::ROWS_MAX_OVER_MEAN);
        rows.or_else(|| s.get(&book::RUN_MAX_OVER_MEAN))
            .unwrap_or(0.0)
    };
    let Some(stage) = stages.max_by(|a, b| ratio(a).total_cmp(&ratio(b))) else {
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

/// The stage with most of a measure.
pub(crate) fn most(said: &mut Said<'_>, run: &Asked<'_>, measure: &Measure) {
    let known = run.summary.stages.iter();
    let known = known.filter_map(|s| Some((s, s.values.value(measure)?)));
    match known.max_by(|a, b| a.1.number().total_cmp(&b.1.number())) {
        Some((stage, value)) => said.say_value(measure, value, &stage.name, run.vertex()),
        None => said.say(text!(
            "没有文件给出{title}",
            "No file gives {title}",
            title = measure.title(run.vertex())
        )),
    }
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
    let (mut ids, mut shown) = (Vec::new(), Vec::new());
    let mut furthest: Option<(&Measure, f64)> = None;
    for measure in COMPARED {
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
    for stage in [a, b] {
        findings(run, stage).for_each(|f| found::finding(said, f, false));
    }
}
