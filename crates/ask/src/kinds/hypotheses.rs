//! Which of several uses takes the time: "is it I/O or the user code?".

use report::format::{Seconds, Share};
use report::{SegmentKind, Text, text};

use super::{has, is_whole};
use crate::intent::Intent;
use crate::said::Said;
use crate::word::{Cue, Quantity};
use crate::{Asked, time};

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

/// Says the time of each use that a question chooses among, the longest first.
pub(super) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let text = intent.reading.text();
    let chooses = intent.reading.shows(Cue::Choice) && is_whole(intent);
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
            "{zh} {n}（{share}）",
            "{en} {n} ({share})",
            n = Seconds(*n + 0.0),
            share = Share(n / total)
        )
    });
    let others: Vec<Text> = others.collect();
    said.say(text!(
        "主要是{zh}：关键路径上 {n}，占全程的 {share}；{others}",
        "Mostly {en}: {n} on the critical path, {share} of the whole time; {others}",
        n = Seconds(*most),
        share = Share(most / total),
        others = Text::joined(&others, ["、", ", "])
    ));
    true
}
