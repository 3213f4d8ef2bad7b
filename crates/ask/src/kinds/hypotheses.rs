//! Which of several uses takes the time: "is it I/O or the user code?".

use report::format::{Seconds, Share};
use report::measure::book;
use report::{Cause, Finding, RuleOutcome, RuleResult, SegmentKind, Text, text};

use runs::OperatorSummary;

use super::{has, is_whole};
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::{Apart, Most, Which};
use crate::word::{Cue, Quantity};
use crate::{Asked, found, thing, time, verdict};

use SegmentKind as Kind;

/// Uses of the time by their words in questions.
#[rustfmt::skip]
const USES: &[(&[Kind], &str, &str, &str)] = &[
    (&[Kind::Read, Kind::Exchange, Kind::Spill], "读写和传输数据", "reading and moving data", "io|i/o|io bound|i/o bound|disk|读写|磁盘"),
    (&[Kind::Read], "读取", "reading", "reading|read|读取|读数据"),
    (&[Kind::UserCode], "用户代码", "user code", "user code|udf|udo|python|c#|processor|reducer|用户代码|自定义函数"),
    (&[Kind::Compute, Kind::Sort, Kind::UserCode], "计算", "computing", "cpu|compute|computing|计算"),
    (&[Kind::Exchange], "Shuffle", "the shuffle", "shuffle|shuffling|exchange|network|洗牌|网络"),
    (&[Kind::Gc], "垃圾回收", "garbage collection", "gc|garbage collection|垃圾回收"),
    (&[Kind::Sort], "排序", "sorting", "sort|sorting|排序"),
    (&[Kind::Spill], "落盘", "spilling", "spill|spilling|落盘|溢写"),
    (&[Kind::Queue, Kind::CapacityWait], "排队和等待资源", "waiting for resources", "queue|queueing|queuing|waiting|capacity|排队|等待|等资源"),
    (&[Kind::Compile], "编译", "compiling", "compile|compiling|compilation|编译"),
    (&[Kind::Retry], "重试", "retries", "retries|retry|failed attempts|重试"),
    (&[Kind::Straggler], "长尾", "stragglers", "straggler|stragglers|skew|长尾|倾斜"),
    (&[Kind::Driver], "Driver", "the driver", "driver"),
    (&[Kind::Startup], "启动", "start-up", "start-up|startup|启动"),
];

/// Says what the rules found of a cause that a question names for script lines: "does the WHERE in line 29 come too late?".
pub(super) fn judged(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let lines = intent.subjects.iter().find_map(|s| match s {
        Subject::Lines(first, last) => Some((*first, *last)),
        _ => None,
    });
    let is_late = reading.shows(Cue::Late) && intent.causes.contains(&Cause::LateFilter);
    let names_lines = lines.is_some() && !intent.causes.is_empty();
    let asks_which = is_late
        && reading.has(Which)
        && !reading.asks_yes_no()
        && !reading.has(Most)
        && !intent.asks(Quantity::Remedy);
    if !reading.asks_yes_no() && !asks_which || !is_late && !names_lines {
        return false;
    }
    let is_meant = |cause: Cause| match is_late {
        true => cause == Cause::LateFilter,
        false => intent.causes.contains(&cause),
    };
    let is_there = |f: &&Finding| {
        let meets =
            |(a, b): (u32, u32)| f.script_lines.is_none_or(|[from, to]| from <= b && a <= to);
        is_meant(f.cause) && lines.is_none_or(meets)
    };
    let found: Vec<&Finding> = run.report.findings.iter().filter(is_there).collect();
    let mut rules = run.report.rules.iter().filter(|r| is_meant(r.cause));
    let is_cleared =
        |r: &RuleOutcome| matches!(r.outcome, RuleResult::Cleared | RuleResult::NotApplicable);
    if found.is_empty() && asks_which || found.is_empty() && !rules.clone().any(is_cleared) {
        return false;
    }
    said.affirm(!found.is_empty());
    for f in &found {
        match asks_which {
            true => located(said, run, f),
            false => found::finding(said, f, false),
        }
    }
    let own = rules.find(|r| found.is_empty() && r.outcome == RuleResult::Cleared);
    own.iter().for_each(|rule| verdict::cleared(said, rule));
    if let Some((first, last)) = lines {
        thing::quote(said, run, first, last);
    }
    true
}

/// Says a finding with its script lines, and the rows into and out of the operators that run them.
fn located(said: &mut Said<'_>, run: &Asked<'_>, finding: &Finding) {
    found::finding(said, finding, false);
    let at = finding
        .stage
        .as_deref()
        .and_then(|name| run.summary.stage_named(name));
    let (Some([first, last]), Some(at)) = (finding.script_lines, at) else {
        return;
    };
    let stage = &run.summary.stages[at];
    let is_there = |o: &&OperatorSummary| o.line.is_some_and(|line| (first..=last).contains(&line));
    for o in stage.operators.iter().filter(is_there) {
        let both =
            [&book::ROWS_TAKEN, &book::OPERATOR_ROWS].map(|m| o.values.value(m).map(|v| (m, v)));
        let [Some(taken), Some(left)] = both else {
            continue;
        };
        let ids = said.evidence_of_all(&[taken, left], &o.name_in(&stage.name), run.vertex());
        let [before, after] = [taken, left].map(|(m, v)| m.shown(v.number(), run.vertex()));
        said.cite(
            text!(
                "{name}：之前 {before}，之后 {after}",
                "{name}: {before} before it, {after} after it",
                name = o.name_in(&stage.name),
                before = before,
                after = after
            ),
            &ids,
        );
    }
    thing::quote(said, run, first, last);
}

/// Says the time of each use that a question chooses among, the longest first.
pub(super) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let text = intent.reading.text();
    let reading = &intent.reading;
    // "is the queue longer than the run?"
    let compares =
        reading.shows(Cue::Or) && reading.has_any(&[Most, Apart]) || reading.shows(Cue::Compares);
    let chooses = (reading.shows(Cue::Choice) || compares) && is_whole(intent);
    let is_balance = |zh: &str| matches!(zh, "计算" | "读写和传输数据");
    let is_in = |words: &str| words.split('|').any(|word| has(text, word));
    let named = USES.iter().filter(|(.., words)| chooses && is_in(words));
    let seconds = |kinds: &[Kind]| -> f64 {
        kinds
            .iter()
            .map(|kind| time::seconds_of(run, *kind, None))
            .sum()
    };
    let mut named: Vec<_> = named
        .map(|(kinds, zh, en, _)| (seconds(kinds), *zh, *en))
        .collect();
    let ran = run.report.job.elapsed_seconds;
    let ran = ran.filter(|_| compares && reading.shows(Cue::Runs));
    named.extend(ran.map(|ran| (ran, "运行", "the run")));
    named.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total = run.report.job.total_seconds.filter(|total| *total > 0.0);
    let (Some(total), [(most, zh, en), rest @ ..]) = (total, &named[..]) else {
        return false;
    };
    let only_balance = is_balance(zh) && rest.iter().all(|(_, zh, _)| is_balance(zh));
    if rest.is_empty() || *most <= 0.0 || intent.asks(Quantity::Bound) && only_balance {
        return false;
    }
    let others = rest.iter().map(|(n, zh, en)| {
        text!(
            "{zh} {n}（{share}，少 {gap}）",
            "{en} {n} ({share}, {gap} less)",
            n = Seconds(*n + 0.0),
            share = Share(n / total),
            gap = Seconds(most - n)
        )
    });
    let others: Vec<Text> = others.collect();
    said.say(text!(
        "更长的是{zh}：{n}，占全程的 {share}；{others}（按关键路径）",
        "The longer one is {en}: {n}, {share} of the whole time; {others} (by the critical path)",
        n = Seconds(*most),
        share = Share(most / total),
        others = Text::joined(&others, ["、", ", "])
    ));
    true
}
