//! Single vertices: one by its number, the first by time or data, and the totals over all of them.

use report::format::{Bytes as Size, Ratio, Seconds};
use report::measure::book;
use report::text;
use runs::{StageSummary, VertexSummary};

use super::{attempts, is_whole, meant, some, stages};
use crate::intent::Intent;
use crate::said::Said;
use crate::word::Word::*;
use crate::word::{Cue, Quantity, Thing};
use crate::{Asked, found, rank, stage};

/// Vertices listed without a number, and at most.
const LISTED: usize = 3;
const MOST: usize = 6;

/// A vertex is slow from this multiple of the median.
const SLOW: f64 = 2.0;

/// Numbers in words.
const NUMBERS: &str = "zero|one|two|three|four|five|six|seven|eight|nine|ten";
const NUMBERS_ZH: &str = "零一二三四五六七八九十";

/// The number of the vertex that a question names: `[8]`, "vertex 8".
fn index(text: &str) -> Option<u32> {
    let lower = text.to_lowercase();
    let starts = ["[", "vertex ", "task ", "顶点 ", "vertex", "task", "顶点"];
    let after = |start: &&str| lower.split_once(start).map(|(_, after)| after.trim_start());
    let number = |after: &str| {
        let digits = after.find(|c: char| !c.is_ascii_digit());
        after[..digits.unwrap_or(after.len())].parse().ok()
    };
    starts.iter().filter_map(after).find_map(number)
}

/// How many a question asks for: "top 3", "the three slowest", “前五个”.
fn how_many(text: &str) -> Option<usize> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let of_word = |word: &str| {
        let in_words = NUMBERS.split('|').position(|known| known == word);
        in_words.or_else(|| word.parse().ok()).filter(|n| *n > 1)
    };
    let supers = "slowest|longest|largest|biggest|worst|heaviest|busiest|most";
    let next = |pair: &[&str]| match pair {
        ["top" | "first", n] => of_word(n),
        [n, word] if supers.split('|').any(|s| s == *word) => of_word(n),
        _ => None,
    };
    let zh = |c: char| NUMBERS_ZH.chars().position(|known| known == c);
    let zh = |c: char| zh(c).or(c.to_digit(10).map(|n| n as usize));
    let compact: Vec<char> = lower.chars().filter(|c| !c.is_whitespace()).collect();
    let next_zh = |w: &[char]| match w {
        ['前', n, ..] => zh(*n),
        [n, '个' | '大', '最' | '的'] | ['的', n, '个'] => zh(*n).filter(|n| *n > 1),
        [n, '个', ..] if lower.contains('最') => zh(*n).filter(|n| *n > 1),
        _ => None,
    };
    let en = words.windows(2).find_map(next);
    en.or_else(|| compact.windows(3).find_map(next_zh))
}

/// Says the records of the vertex with the number in the question.
pub(super) fn one(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let (Some(index), [at]) = (index(&intent.text), &stages(intent)[..]) else {
        return false;
    };
    let stage = &run.summary.stages[*at];
    let reading = &intent.reading;
    let is_other = reading.shows(Cue::Others);
    if is_other && reading.has_any(&[Most, Noun(Thing::Vertex)]) {
        return others(said, stage, index);
    }
    let name = format!("{}[{index}]", stage.name);
    let is_lost = stage.lost.iter().any(|lost| lost.vertex == name);
    if is_lost && !intent.asks_why() && attempts::of_vertex(said, stage, &name) {
        return true;
    }
    let begun = said.len();
    if let Some(vertex) = stage.vertices.iter().find(|v| v.index == index) {
        alone(said, stage, vertex);
    }
    if is_lost {
        attempts::of_vertex(said, stage, &name);
    }
    if intent.asks_why() || intent.asks(Quantity::Reason) {
        let found = stage::findings(run, stage).take(LISTED);
        found.for_each(|f| found::finding(said, f, false));
        if said.len() == begun {
            stage::why(said, run, *at);
        }
    }
    said.len() > begun
}

/// Says the time and the data of a vertex next to the median of its stage.
fn alone(said: &mut Said<'_>, stage: &StageSummary, vertex: &VertexSummary) {
    let ratio = |of: u64, measure| {
        let median = stage.get(measure).filter(|n| *n > 0.0);
        median.map(|median| Ratio(of as f64 / median))
    };
    let shown = |ratio: Option<Ratio>| match ratio {
        Some(ratio) => text!(
            "（中位数的 {ratio}）",
            " ({ratio} the median)",
            ratio = ratio
        ),
        None => report::Text::default(),
    };
    said.say(text!(
        "{name}[{index}] 运行 {ran}{slower}，读取 {read}{more}，机器 {machine}",
        "{name}[{index}] ran {ran}{slower} and read {read}{more}, on {machine}",
        name = stage.name,
        index = vertex.index.to_string(),
        machine = vertex.machine,
        ran = Seconds(vertex.ran_ms as f64 / 1e3),
        read = Size(vertex.bytes_read as f64),
        slower = shown(ratio(vertex.ran_ms, &book::MEDIAN_RUN)),
        more = shown(ratio(vertex.bytes_read, &book::READ_MEDIAN))
    ));
}

/// Says which other vertices of a stage are slow.
fn others(said: &mut Said<'_>, stage: &StageSummary, index: u32) -> bool {
    let median = stage.get(&book::MEDIAN_RUN).unwrap_or(f64::INFINITY);
    let others = stage.vertices.iter().filter(|v| v.index != index);
    let slow: Vec<&VertexSummary> = others
        .filter(|v| v.ran_ms as f64 >= SLOW * median)
        .collect();
    if stage.vertices.is_empty() {
        return false;
    }
    said.affirm(!slow.is_empty());
    slow.iter().take(LISTED).for_each(|v| alone(said, stage, v));
    if slow.is_empty() {
        said.say(text!(
            "{name} 没有别的顶点明显更慢",
            "No other vertex of {name} is much slower than the median",
            name = stage.name
        ));
    }
    true
}

/// Words for the vertex that ended last.
const LAST: &str = "last to finish|finished last|finishes last|finish last|ended last|last vertex|last task|last one to finish|最后跑完|最后结束|最后完成|最晚跑完|最晚结束|最后一个跑完|最后一个结束";

/// Says which vertex ended last, by the end of the critical path.
pub(super) fn last(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let text = intent.reading.text();
    if !LAST.split('|').any(|word| text.contains(word)) {
        return false;
    }
    let named = stages(intent);
    let is_meant = |name: &str| {
        named.is_empty() || named.iter().any(|at| run.summary.stages[*at].name == name)
    };
    let segments = run.report.time.iter().flat_map(|time| &time.segments);
    let ends = segments.filter(|s| s.stage.as_deref().is_some_and(is_meant));
    let end =
        ends.max_by(|a, b| (a.start_seconds + a.seconds).total_cmp(&(b.start_seconds + b.seconds)));
    let Some((end, name)) = end.and_then(|s| Some((s, s.stage.as_deref()?))) else {
        return false;
    };
    let of_end = run.report.evidence_of(&end.evidence);
    let number = |text: &str| index(text.split_once(name)?.1);
    let found = of_end
        .filter_map(|e| Some((&e.id, number(&e.text)?)))
        .next();
    let Some((id, number)) = found else {
        return false;
    };
    let vertex = format!("{name}[{number}]");
    said.cite(
        text!("最后结束的是 {vertex}", "The last one to end is {vertex}"),
        std::slice::from_ref(id),
    );
    let stage = run
        .summary
        .stage_named(name)
        .map(|at| &run.summary.stages[at]);
    let own = stage.and_then(|s| Some((s, s.vertices.iter().find(|v| v.index == number)?)));
    own.iter().for_each(|(stage, own)| alone(said, stage, own));
    true
}

/// Lists the vertices that ran longest or read most.
pub(super) fn first(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let count = how_many(&intent.text);
    let names_stages = reading.has(Noun(Thing::Stage)) && !reading.has(Noun(Thing::Vertex));
    if names_stages && count.is_some() && is_whole(intent) && intent.measures.is_empty() {
        let begun = said.len();
        rank::rank(said, run, intent);
        return said.len() > begun;
    }
    let asks = reading.has(Noun(Thing::Vertex)) && reading.has(Most) && count.is_some();
    // "the stages with the three largest vertices" asks for stages
    if !asks || reading.has(Noun(Thing::Stage)) && stages(intent).is_empty() {
        return false;
    }
    let by_data = reading.has_any(&[In, Data, Bytes, Rows]) && !reading.is_time();
    let of = |v: &VertexSummary| if by_data { v.bytes_read } else { v.ran_ms };
    let all = meant(run, intent).flat_map(|s| s.vertices.iter().map(move |v| (s, v)));
    let mut vertices: Vec<(&StageSummary, &VertexSummary)> = all.collect();
    if vertices.is_empty() {
        return false;
    }
    vertices.sort_by_key(|(_, v)| std::cmp::Reverse(of(v)));
    vertices.truncate(count.unwrap_or(LISTED).min(MOST));
    let main = |v: &VertexSummary| match by_data {
        true => text!("{n}", "{n}", n = Size(v.bytes_read as f64)),
        false => text!("{n}", "{n}", n = Seconds(v.ran_ms as f64 / 1e3)),
    };
    let shown = vertices.iter().map(|(s, v)| {
        text!(
            "{name}[{index}]（{main}，{machine}）",
            "{name}[{index}] ({main}, {machine})",
            name = s.name,
            index = v.index.to_string(),
            machine = v.machine,
            main = main(v)
        )
        .into(said.language())
    });
    let shown: Vec<String> = shown.collect();
    let shown = some(&shown, MOST, said.language());
    said.say(match by_data {
        true => text!(
            "读取最多的顶点：{shown}",
            "The vertices that read most: {shown}"
        ),
        false => text!(
            "运行最久的顶点：{shown}",
            "The vertices that ran longest: {shown}"
        ),
    });
    true
}

/// Says the number of all vertices and their mean run time.
pub(super) fn all(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let is_amount = reading.has_any(&[In, Out, Rows, Bytes, Data, Most, Median, Lost, Not]);
    let is_of_part = reading.has_any(&[Noun(Thing::Stage), Noun(Thing::Executor), Which]);
    let counts = reading.has(Number) && reading.has(Sum);
    let is_mean = reading.has(Mean) && reading.is_time();
    if !reading.has(Noun(Thing::Vertex)) || !is_whole(intent) || is_amount || is_of_part {
        return false;
    }
    if !counts && !is_mean || reading.shows(Cue::Failure) {
        return false;
    }
    let (label, vertex) = (run.report.job.label(), run.vertex());
    let Some(count) = run.summary.values.value(&book::JOB_VERTICES) else {
        return false;
    };
    if counts || !is_mean {
        said.say_value(&book::JOB_VERTICES, count, label, vertex);
    }
    let total = run.summary.values.value(&book::VERTEX_TIME);
    if let Some(total) = total.filter(|_| is_mean && count.number() > 0.0) {
        let both = [(&book::VERTEX_TIME, total), (&book::JOB_VERTICES, count)];
        let ids = said.evidence_of_all(&both, label, vertex);
        said.cite(
            text!(
                "平均每个顶点运行 {mean}（共 {total}）",
                "On average a vertex runs {mean} ({total} in all)",
                mean = Seconds(total.number() / count.number()),
                total = Seconds(total.number())
            ),
            &ids,
        );
    }
    if is_mean {
        rank::most(said, run, &[&book::MEAN_RUN]);
    }
    true
}
