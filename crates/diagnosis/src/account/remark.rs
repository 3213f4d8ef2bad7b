//! Sentences about large unclaimed parts of the time: their kind, and why they are not a fault of the job.

use std::collections::HashMap;

use report::format::{Seconds, Share, VERTEX, list};
use report::{Language, Localize, SegmentDetail, SegmentKind, Text, text};

use super::{Account, streams};
use crate::view::View;

/// Least share of the time for a sentence about an unclaimed part.
const LARGE: f64 = 0.2;

/// The unclaimed time of a kind in a stage, or in the job as a whole.
struct Unclaimed {
    kind: SegmentKind,
    stage: Option<usize>,
    seconds: f64,
    /// Seconds of its longest part.
    longest: f64,
    /// Seconds of each use within the kind.
    details: Vec<(SegmentDetail, f64)>,
}

impl Unclaimed {
    /// The use with most of the seconds.
    fn main_detail(&self) -> Option<SegmentDetail> {
        let most = self.details.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.map(|(detail, _)| *detail)
    }
}

/// The sentences, the largest part first.
pub(super) fn remarks(view: &View<'_>, account: &Account) -> Vec<Text> {
    let total = account.run.to;
    let mut all: Vec<Unclaimed> = Vec::new();
    let mut place: HashMap<(SegmentKind, Option<usize>), usize> = HashMap::new();
    for part in account.parts.iter().filter(|p| p.finding.is_none()) {
        let seconds = part.span.seconds();
        let at = *place.entry((part.kind, part.stage)).or_insert_with(|| {
            all.push(Unclaimed {
                kind: part.kind,
                stage: part.stage,
                seconds: 0.0,
                longest: 0.0,
                details: Vec::new(),
            });
            all.len() - 1
        });
        all[at].seconds += seconds;
        all[at].longest = seconds.max(all[at].longest);
        if let Some(detail) = part.detail {
            let details = &mut all[at].details;
            match details.iter_mut().find(|(known, _)| *known == detail) {
                Some((_, sum)) => *sum += seconds,
                None => details.push((detail, seconds)),
            }
        }
    }
    all.retain(|u| u.seconds >= LARGE * total);
    all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let said = all
        .iter()
        .map(|u| remark(view, u, Share(u.seconds / total)));
    let of_streams = streams::remark(view).into_iter().chain(streams::end(view));
    of_streams.chain(said).collect()
}

/// A job before its run, or tasks of a stage that are ready and wait.
fn waits(view: &View<'_>, unclaimed: &Unclaimed, spent: Text) -> Text {
    let Some(stage) = unclaimed.stage else {
        return text!(
            "运行之前等待资源 {spent}：由队列决定，与作业本身无关",
            "the job waits {spent} for capacity: the queue decides that, not the job",
            spent = spent,
        );
    };
    let name = view.name(stage);
    if view.job.spark.is_none() {
        return text!(
            "{name} 就绪后等待 {spent}：资源正被别的作业占用",
            "{name} is ready and waits {spent}: others hold the capacity at that time",
            spent = spent,
        );
    }
    text!(
        "{name} 的 Task 就绪后等待 {spent}：{reason}",
        "tasks of {name} are ready and wait {spent}: {reason}",
        name = name,
        spent = spent,
        reason = match unclaimed.main_detail() {
            Some(SegmentDetail::Executors) =>
                text!("只有部分 Executor", "only some of the executors are there"),
            Some(SegmentDetail::Scheduling) => text!(
                "槽位空闲，Task 在等数据所在的 Executor 或 Driver",
                "slots are idle, and the tasks wait for the executors with their data, or for the driver"
            ),
            _ => text!("槽位在运行别的 Task", "the slots run other tasks"),
        }
    )
}

fn remark(view: &View<'_>, unclaimed: &Unclaimed, share: Share) -> Text {
    let (stage, time) = (unclaimed.stage, Seconds(unclaimed.seconds));
    let spent = text!(
        "{time}（{share}）",
        "{time} ({share})",
        time = time,
        share = share
    );
    let name = stage.map_or("", |s| view.name(s));
    match unclaimed.kind {
        SegmentKind::Compile => text!(
            "编译 {spent}：只取决于脚本，与数据和令牌无关",
            "compiling takes {spent}: it depends on the script, not on data or tokens",
            spent = spent,
        ),
        SegmentKind::Queue | SegmentKind::CapacityWait => waits(view, unclaimed, spent),
        SegmentKind::Startup if stage.is_none() => text!(
            "启动 Driver 和第一个 Executor 用了 {spent}：与应用的工作无关",
            "starting the driver and the first executor takes {spent}, independent of the application's work",
            spent = spent,
        ),
        SegmentKind::Startup => text!(
            "{name} 启动用了 {spent}：第一批加载代码，之后的轮次在通常范围内",
            "{name} spends {spent} starting: its first round loads code, and the number of rounds is usual",
            spent = spent,
        ),
        SegmentKind::Driver => text!(
            "没有任务运行的时间共 {spent}，最长一段 {longest}：{uses}",
            "no task runs for {spent}, {longest} at a time at most: {uses}",
            spent = spent,
            longest = Seconds(unclaimed.longest),
            uses = driver_uses(unclaimed),
        ),
        SegmentKind::Idle => text!(
            "{spent}内没有任何工作要做",
            "there was no work to do for {spent}",
            spent = spent,
        ),
        SegmentKind::Retry if view.failed() => text!(
            "{name} 有 {spent}用于失败的尝试",
            "{name} spends {spent} on attempts that failed",
            name = name,
            spent = spent,
        ),
        SegmentKind::Retry => text!(
            "{name} 因个别作废的尝试多用 {spent}：次数很少，再次运行通常不会如此",
            "{name} loses {spent} to single lost attempts: they are few, and another run usually has none",
            spent = spent,
        ),
        SegmentKind::Straggler if view.uneven.iter().any(|u| Some(u.stage) == stage) => text!(
            "{name} 中最慢的一个还多用 {spent}：这是它的行所需的工作，均匀分布后由其他顶点承担",
            "the slowest of {name} takes {spent} more: its rows need this work, and with even input other vertices would share it",
            spent = spent,
        ),
        SegmentKind::Straggler => text!(
            "{name} 中最慢的一个比它的数据所需多用 {spent}：首次加载代码、机器繁忙或在等待，文件中看不出是哪一种",
            "the slowest of {name} takes {spent} longer than its data needs: it loads code first, shares a busy machine or waits; no file tells which",
            spent = spent,
        ),
        SegmentKind::Gc | SegmentKind::Spill => text!(
            "{name} 的垃圾回收或落盘用了 {spent}，在通常范围内",
            "garbage collection or spilling takes {spent} in {name}, which is usual",
            spent = spent,
        ),
        SegmentKind::Unexplained => text!(
            "没有文件说明这 {spent}的去向",
            "no file shows the use of {spent}",
            spent = spent,
        ),
        SegmentKind::Read
        | SegmentKind::Compute
        | SegmentKind::UserCode
        | SegmentKind::Sort
        | SegmentKind::Exchange => work(view, stage, time, share),
    }
}

/// Seconds of the driver's time without a known use that are worth a mention.
const LEAST_OTHER_S: f64 = 0.1;

/// Uses of the driver's time, most first.
fn driver_uses(unclaimed: &Unclaimed) -> Text {
    let mut details = unclaimed.details.clone();
    details.sort_by(|a, b| b.1.total_cmp(&a.1));
    let other = unclaimed.seconds - details.iter().map(|(_, seconds)| seconds).sum::<f64>();
    let named = |language: Language| {
        let one = |(detail, seconds): &(SegmentDetail, f64)| {
            let time = Seconds(*seconds).localize(language);
            format!("{} {time}", detail.title().pick(language))
        };
        let mut named: Vec<String> = details.iter().map(one).collect();
        if other >= LEAST_OTHER_S {
            let time = Seconds(other).localize(language);
            named.push(format!(
                "{} {time}",
                language.select("其他工作", "other work")
            ));
        }
        list(&named, language)
    };
    match details.is_empty() {
        true => text!(
            "规划、调度、提交或空闲",
            "planning, scheduling, committing, or idle"
        ),
        false => Text {
            zh: named(Language::Zh),
            en: named(Language::En),
        },
    }
}

/// A stage with work in proportion to its data.
fn work(view: &View<'_>, stage: Option<usize>, time: Seconds, share: Share) -> Text {
    let name = stage.map_or("", |s| view.name(s));
    let count = stage.and_then(|s| view.vertices(s)).unwrap_or(1);
    let slots = view.run.as_ref().filter(|r| r.has_tokens());
    let slots = slots.filter(|run| (run.tokens as u64) < count);
    let on = slots.map_or_else(Text::default, |run| {
        let tokens = run.tokens;
        text!("，{tokens} 个可同时运行", ", {tokens} of them at a time")
    });
    text!(
        "{name} 的工作占 {time}（{share}），分给 {count}{on}；更少的输入或更多的资源才能缩短它",
        "the work of {name} takes {time} ({share}), on {count}{on}; less input or more resources would shorten it",
        time = time,
        share = share,
        count = VERTEX.count(count as f64),
        on = on,
    )
}
