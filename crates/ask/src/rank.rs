//! How stages compare: the first by a measure, the parts of a sum, and two with their largest difference.

use report::format::{Change, Ratio, Seconds, Share};
use report::measure::{Entity, Measure, Unit, Value, book};
use report::{Text, text};

use crate::intent::Intent;
use crate::said::{Said, names};
use crate::stage::{findings, judge};
use crate::subject::Subject;
use crate::word::{Cue, Thing, Word};
use crate::{Asked, found, origin, record};
use runs::{EdgeSummary, StageSummary};

/// Stages listed by rank, and with their parts of a sum.
const RANKED: usize = 3;
const SUMMED: usize = 6;

/// Measures that compare two stages; the first is the result of the others.
#[rustfmt::skip]
const COMPARED: [&Measure; 6] = [
    &book::SPAN, &book::VERTICES, &book::ROWS_IN, &book::BYTES_READ, &book::MEAN_RUN,
    &book::RUN_MAX_OVER_MEAN,
];

/// Measures with values that add up over stages.
#[rustfmt::skip]
pub(crate) const SUMS: [&Measure; 15] = [
    &book::CROSS_POD, &book::SPILLED, &book::MEMORY_SPILLED, &book::ABANDONED, &book::TEMPORARY, &book::GC_TIME, &book::REVOKED, &book::SPILLS,
    &book::BYTES_READ, &book::BYTES_WRITTEN, &book::FETCH_WAIT, &book::CPU_TIME, &book::LOST_WORK,
    &book::FAILED, &book::NETWORK,
];

/// The measure for ranking stages: time unless the question names another. Of several measures, a ratio to the mean wins, as more
/// data is not less even.
fn order(asked: &[&'static Measure]) -> &'static Measure {
    let mut of_stages = asked.iter().filter(|m| m.entity == Entity::Stage);
    let ratio = of_stages.clone().find(|m| m.unit == Unit::Ratio);
    ratio.or(of_stages.next()).copied().unwrap_or(&book::SPAN)
}

fn superlative(measure: &Measure) -> Text {
    match measure.unit {
        Unit::Ms if *measure == book::SPAN => text!("用时最长", "longest time"),
        Unit::Ms => text!("{title}最长", "longest {title}", title = measure.title),
        Unit::Ratio => text!("最不均匀", "least even spread"),
        _ => text!("{title}最多", "most {title}", title = measure.title),
    }
}

/// The stages by a measure, most first.
pub(crate) fn ranked(run: &Asked<'_>, asked: &[&'static Measure]) -> Vec<(f64, usize)> {
    let measure = order(asked);
    let path = run.on_path();
    let value = |s: &StageSummary| match *measure == book::SPAN && !path.is_empty() {
        // Stages off the critical path do not lengthen the job.
        true => path.get(s.name.as_str()).map(|seconds| seconds * 1e3),
        false => s.get(measure),
    };
    let stages = run.summary.stages.iter().enumerate();
    let mut ranked: Vec<(f64, usize)> =
        stages.filter_map(|(at, s)| Some((value(s)?, at))).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked
}

/// Names the first of the ranked stages.
pub(crate) fn rank(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let order = order(&intent.measures);
    let ranked = ranked(run, &intent.measures);
    let is_path = *order == book::SPAN && !run.on_path().is_empty();
    let total = run.report.time.as_ref().map(|time| time.total_seconds());
    let total = total.filter(|total| is_path && *total > 0.0);
    let mut ids = Vec::new();
    let count = if intent.reading.shows(Cue::Order) {
        SUMMED
    } else {
        RANKED
    };
    let shown = ranked.iter().take(count).map(|(number, at)| {
        let stage = &run.summary.stages[*at];
        let (name, n) = (&stage.name, order.shown(*number, run.vertex()));
        let share = match total {
            Some(total) => text!(
                "，占全程的 {share}",
                ", {share} of the whole time",
                share = Share(number / 1e3 / total)
            ),
            None => Text::default(),
        };
        if let Some(value) = stage.values.value(order).filter(|_| !is_path) {
            ids.extend(said.evidence_of(order, value, name, run.vertex()));
        }
        text!(
            "{name}（{n}{share}）",
            "{name} ({n}{share})",
            n = n,
            share = share
        )
        .into(said.language())
    });
    let shown: Vec<String> = shown.collect();
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
        shown = names(&shown, said.language())
    );
    said.cite(sentence, &ids);
    let is_found = |at: usize| findings(run, &run.summary.stages[at]).next().is_some();
    if let Some((_, at)) = ranked.first()
        && (intent.asks_why() || is_found(*at))
    {
        judge(said, run, *at);
    }
}

/// Says the values of the measures that one question is about: of the job, and of the stages or channels with most of them.
pub(crate) fn most(said: &mut Said<'_>, run: &Asked<'_>, measures: &[&'static Measure]) {
    all_of(said, run, measures);
    let mut stages = run.summary.stages.iter();
    let is_lost = stages.any(|s| s.get(&book::FAILED).is_some_and(|n| n > 0.0));
    if measures.contains(&&book::SPILLED) && is_lost {
        said.say(text!(
            "只计成功的尝试；没有文件汇总失败的尝试落盘的数据",
            "That counts attempts that succeeded; no file sums up the spills of failed ones"
        ));
    }
}

fn all_of(said: &mut Said<'_>, run: &Asked<'_>, measures: &[&'static Measure]) {
    let vertex = run.vertex();
    let mut is_known = *measures[0] == book::CACHED && record::cache(said, run);
    if measures == [&book::PLANNED] {
        is_known = origin::unfinished(said, run);
    }
    for measure in measures.iter().filter(|m| **m != &book::PLANNED) {
        if let Some(value) = run.summary.values.value(measure) {
            is_known = true;
            said.say_value(measure, value, run.report.job.label(), vertex);
        }
        let mut known = known(run, measure);
        let is_measured = !known.is_empty();
        known.retain(|(_, value)| value.number() > 0.0);
        known.sort_by(|a, b| b.1.number().total_cmp(&a.1.number()));
        let is_sum = SUMS.contains(measure);
        let count = if is_sum { SUMMED } else { RANKED };
        match known.is_empty() {
            // another measure of the same question says "none"
            true if is_known => {}
            true if is_measured => none(said, measure, vertex),
            true => {}
            false => list(said, measure, &known, count, is_sum, vertex),
        }
        is_known |= is_measured;
    }
    if measures.contains(&&book::FAILED) {
        let stages = run.summary.stages.iter().filter(|s| !s.lost.is_empty());
        stages.take(RANKED).for_each(|s| record::attempts(said, s));
    }
    if !is_known {
        unknown(said, measures[0], None, vertex);
    }
}

/// Says that no file gives a measure.
pub(crate) fn unknown(
    said: &mut Said<'_>,
    measure: &Measure,
    name: Option<&str>,
    vertex: report::format::Noun,
) {
    let title = measure.title(vertex);
    said.say(match name {
        Some(name) => text!(
            "没有文件给出 {name} 的{title}",
            "No file gives {title} of {name}",
            title = title
        ),
        None => text!(
            "没有文件给出{title}",
            "No file gives {title}",
            title = title
        ),
    });
}

/// Says that a measure is 0 everywhere.
pub(crate) fn none(said: &mut Said<'_>, measure: &Measure, vertex: report::format::Noun) {
    let title = measure.title(vertex);
    said.say(text!("{title}：没有", "{title}: none", title = title));
}

/// The values of a measure over stages, or over the channels between them.
fn known<'a>(run: &'a Asked<'_>, measure: &'static Measure) -> Vec<(String, &'a Value)> {
    let stages = &run.summary.stages;
    let name = |at: usize| stages.get(at).map_or("", |s| s.name.as_str());
    let between = |e: &EdgeSummary| format!("{} → {}", name(e.from), name(e.to));
    let edges = run.summary.edges.iter().map(|e| (between(e), &e.values));
    let of_stages = stages.iter().map(|s| (s.name.clone(), &s.values));
    let own = |(name, values): (String, &'a report::measure::Values)| {
        Some((name, values.value(measure)?))
    };
    match measure.entity {
        Entity::Exchange => edges.filter_map(own).collect(),
        _ => of_stages.filter_map(own).collect(),
    }
}

/// Says the values of some things in one sentence: the first ones, and how many more there are.
pub(crate) fn list(
    said: &mut Said<'_>,
    measure: &'static Measure,
    known: &[(String, &Value)],
    count: usize,
    with_sum: bool,
    vertex: report::format::Noun,
) {
    let language = said.language();
    let mut ids = Vec::new();
    let shown = known.iter().take(count).map(|(name, value)| {
        ids.extend(said.evidence_of(measure, value, name, vertex));
        let n = measure.shown(value.number(), vertex);
        text!("{name}（{n}）", "{name} ({n})", n = n).into(language)
    });
    let mut shown: Vec<String> = shown.collect();
    if let more @ 1.. = known.len().saturating_sub(count)
        && (with_sum || count > RANKED)
    {
        shown.push(text!("另外 {more} 个", "{more} more").into(language));
    }
    let total: f64 = known.iter().map(|(_, value)| value.number()).sum();
    let total = match with_sum && known.len() > 1 {
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

/// Says which of two stages takes longer, and by how much.
fn slower(said: &mut Said<'_>, run: &Asked<'_>, a: &StageSummary, b: &StageSummary) -> bool {
    let Some((x, y)) = a.values.value(&book::SPAN).zip(b.values.value(&book::SPAN)) else {
        return false;
    };
    let mut ids = said.evidence_of(&book::SPAN, x, &a.name, run.vertex());
    ids.extend(said.evidence_of(&book::SPAN, y, &b.name, run.vertex()));
    let (x, y) = (x.number(), y.number());
    let (slow, fast, long, short) = match x >= y {
        true => (a, b, x, y),
        false => (b, a, y, x),
    };
    said.cite(
        text!(
            "{slow} 更慢：用时 {long}，{fast} 为 {short}（相差 {gap}，{change}）",
            "{slow} is slower: it takes {long}, {fast} {short} ({gap} apart, {change})",
            slow = slow.name,
            fast = fast.name,
            long = Seconds(long / 1e3),
            short = Seconds(short / 1e3),
            gap = Seconds((long - short) / 1e3),
            change = Change::between(short, long)
        ),
        &ids,
    );
    true
}

/// Says which of two stages takes longer, if a question asks just for that: “哪个更慢，差多少”.
pub(crate) fn times(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let others = [
        Word::Rows,
        Word::Bytes,
        Word::Data,
        Word::In,
        Word::Out,
        Word::Spread,
        Word::Mean,
        Word::Median,
    ];
    let names_other =
        |w: &Word| matches!(w, Word::Of(_) | Word::Noun(Thing::Vertex) | Word::Kind(_));
    let is_other = reading.has_any(&others) || reading.words.iter().any(names_other);
    let stages = intent.subjects.iter().filter_map(|s| match s {
        Subject::Stage(at) => Some(&run.summary.stages[*at]),
        _ => None,
    });
    let compares = reading.has(Word::Time)
        && reading.has_any(&[Word::Most, Word::Least, Word::Apart, Word::Times]);
    match stages.collect::<Vec<_>>()[..] {
        [a, b] if compares && !is_other && !intent.asks_why() => {
            let spans = a.get(&book::SPAN).zip(b.get(&book::SPAN));
            if let Some((x, y)) = spans {
                said.affirm(if reading.has(Word::Least) {
                    x < y
                } else {
                    x > y
                });
            }
            slower(said, run, a, b)
        }
        _ => false,
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
    let vertex = run.vertex();
    let (one, other) = (&a.name, &b.name);
    let asked = intent.measures.iter().copied();
    let mut measures: Vec<&Measure> = asked.filter(|m| m.entity == Entity::Stage).collect();
    let is_general = measures.is_empty();
    if is_general {
        slower(said, run, a, b);
        let spans = a.get(&book::SPAN).zip(b.get(&book::SPAN));
        if let (Some((x, y)), true) = (spans, intent.reading.has(Word::Most)) {
            said.affirm(x > y);
        }
        measures.extend(COMPARED);
    }
    let (mut ids, mut shown) = (Vec::new(), Vec::new());
    let mut furthest: Option<(&Measure, f64)> = None;
    for measure in measures {
        let Some((x, y)) = a.values.value(measure).zip(b.values.value(measure)) else {
            continue;
        };
        ids.extend(said.evidence_of(measure, x, one, vertex));
        ids.extend(said.evidence_of(measure, y, other, vertex));
        shown.push(text!(
            "{what} {x} 对 {y}",
            "{what} {x} against {y}",
            what = measure.title(vertex),
            x = measure.shown(x.number(), vertex),
            y = measure.shown(y.number(), vertex)
        ));
        let ratio = x.number() / y.number();
        let away = |r: f64| r.max(1.0 / r);
        let is_further = furthest.is_none_or(|(_, known)| away(ratio) > away(known));
        if *measure != book::SPAN && ratio.is_finite() && ratio > 0.0 && is_further {
            furthest = Some((measure, ratio));
        }
    }
    if shown.is_empty() {
        return said.say(text!(
            "没有文件可以比较 {one} 和 {other}",
            "No file allows comparing {one} with {other}"
        ));
    }
    said.cite(
        text!(
            "{one} 与 {other} 相比：{shown}",
            "{one} compared with {other}: {shown}",
            shown = Text::joined(&shown, ["；", "; "])
        ),
        &ids,
    );
    if let Some((measure, ratio)) = furthest.filter(|(_, r)| r.max(1.0 / r) > 1.1) {
        let (bigger, smaller) = if ratio >= 1.0 {
            (one, other)
        } else {
            (other, one)
        };
        said.say(text!(
            "差别最大的是{what}：{bigger} 是 {smaller} 的 {by}",
            "The largest difference is {what}: {bigger} has {by} the value of {smaller}",
            what = measure.title(vertex),
            by = Ratio(ratio.max(1.0 / ratio))
        ));
    }
    for stage in [a, b]
        .into_iter()
        .filter(|_| is_general || intent.asks_why())
    {
        findings(run, stage).for_each(|f| found::finding(said, f, false));
    }
}
