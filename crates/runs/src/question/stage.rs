//! What was measured of a stage.

use report::format::{Bytes, Names, ROW, Ratio, Seconds, Share, list};
use report::{Finding, Localize, SegmentKind, Text, Verdict, text};

use super::intent::{Intent, kind};
use super::phrases::Quantity;
use super::said::{self, Said};
use super::{Asked, found, time};
use crate::{EdgeSummary, StageSummary};

/// Answers what is asked of a stage; without a quantity, what is most worth knowing.
pub(super) fn about(said: &mut Said<'_>, run: &Asked<'_>, at: usize, intent: &Intent) {
    let stage = &run.summary.stages[at];
    let asks = |q| intent.asks(q);
    let judges = asks(Quantity::Verdict) || asks(Quantity::Reason) || asks(Quantity::Which);
    let is_plain = intent.asked.is_empty() && intent.causes.is_empty();
    let only_remedy = asks(Quantity::Remedy) && intent.asked.len() == 1;
    let judges = judges || is_plain || only_remedy;
    if judges {
        judge(said, run, at);
    }
    if stage.never_ran {
        return planned(said, run, at, intent);
    }
    for quantity in &intent.asked {
        match quantity {
            Quantity::Duration | Quantity::Account => times(said, run, at),
            Quantity::Vertices => vertices(said, run, stage),
            Quantity::Rows => rows(said, stage),
            Quantity::Bytes => bytes(said, stage),
            Quantity::Spread => spread(said, run, stage),
            Quantity::Memory => memory(said, stage),
            Quantity::Segment(_) => {}
            Quantity::Place => place(said, run, stage),
            Quantity::Flow | Quantity::Inputs => flow(said, run, at),
            Quantity::Sources => {
                findings(run, stage).for_each(|f| found::finding_of(said, run, &f.id, true))
            }
            Quantity::Missing => found::undecided(said, run, |_| true),
            _ => {}
        }
    }
    for segment in intent.asked.iter().filter_map(|q| kind(*q)) {
        time::time_of(said, run, segment, Some(&stage.name));
        trouble(said, run, stage, segment);
    }
    if is_plain || judges && findings(run, stage).next().is_none() {
        times(said, run, at);
        work(said, run, stage);
    }
}

/// Answers what is asked of a stage that did not run: of it only the plan is known.
fn planned(said: &mut Said<'_>, run: &Asked<'_>, at: usize, intent: &Intent) {
    let stage = &run.summary.stages[at];
    did_not_run(said, stage);
    if intent.asks(Quantity::Place) {
        place(said, run, stage);
    }
    if intent.asks(Quantity::Flow) || intent.asks(Quantity::Inputs) {
        flow(said, run, at);
    }
}

fn did_not_run(said: &mut Said<'_>, stage: &StageSummary) {
    let name = &stage.name;
    said.say(text!("{name} 没有运行", "{name} did not run"));
}

/// Says everything that is known of a stage; its vertices and operators are known.
pub(super) fn describe(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let stage = &run.summary.stages[at];
    if stage.never_ran {
        did_not_run(said, stage);
    } else {
        times(said, run, at);
        share(said, run, stage);
        rows(said, stage);
        bytes(said, stage);
        spread(said, run, stage);
        if stage.memory_peak.is_some() {
            memory(said, stage);
        }
        let is_some = |n: Option<f64>| n.is_some_and(|n| n > 0.0);
        for (kind, is_known) in [
            (SegmentKind::CapacityWait, is_some(stage.wait_ms)),
            (SegmentKind::Gc, is_some(stage.gc_share)),
            (SegmentKind::Spill, stage.spills.is_some_and(|n| n > 0)),
            (SegmentKind::Retry, is_some(stage.wasted_ms)),
        ] {
            if is_known {
                trouble(said, run, stage, kind);
            }
        }
    }
    flow(said, run, at);
}

/// How much of the job's work it does.
fn share(said: &mut Said<'_>, run: &Asked<'_>, stage: &StageSummary) {
    let Some((share, busy)) = run.summary.share(stage).zip(stage.busy_ms) else {
        return;
    };
    let name = &stage.name;
    let vertex = run.vertex();
    let (many, zh) = (vertex.many, vertex.bare());
    let sentence = text!(
        "{name} 占所有{zh}运行时间的 {share}",
        "{name} takes {share} of the run time of all {many}",
        share = Share(share)
    );
    said.say_measured(
        ("run time of all vertices", busy, "ms"),
        stage.sources.times.as_ref(),
        sentence,
    );
}

pub(super) fn findings<'a>(
    run: &Asked<'a>,
    stage: &'a StageSummary,
) -> impl Iterator<Item = &'a Finding> {
    let all = run.report.findings.iter();
    all.filter(|f| f.stage.as_deref() == Some(stage.name.as_str()))
}

/// Whether the stage is a problem, and which.
pub(super) fn judge(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let stage = &run.summary.stages[at];
    let name = &stage.name;
    let mut found = findings(run, stage).peekable();
    if found.peek().is_some() {
        return found
            .enumerate()
            .for_each(|(n, f)| found::finding(said, f, n == 0));
    }
    match run.report.verdict {
        Verdict::Healthy => {
            let sentence = text!(
                "{name} 不是问题：适用的规则都有数据可查，结果都正常",
                "{name} is not a problem: every rule that applies had its facts, and all are fine"
            );
            said.say(sentence);
        }
        Verdict::Problem => {
            said.say(text!(
                "规则没有发现 {name} 本身的问题",
                "No rule found a problem in {name} itself"
            ));
            elsewhere(said, run);
        }
        Verdict::InsufficientInformation => {
            said.say(text!(
                "目前没有发现 {name} 的问题，但不能排除",
                "No problem was found in {name} so far, but none can be ruled out"
            ));
            found::undecided(said, run, |_| true);
        }
    }
}

/// Where the problem of the job is instead.
fn elsewhere(said: &mut Said<'_>, run: &Asked<'_>) {
    let Some(found) = run.report.findings.first() else {
        return;
    };
    let (id, title) = (&found.id, found.cause.title());
    let sentence = match &found.stage {
        Some(stage) => text!(
            "作业的主要问题在 {stage}：{title}（{id}）",
            "The main problem of the job is in {stage}: {title} ({id})",
            title = title
        ),
        None => text!(
            "作业的主要问题是{title}（{id}）",
            "The main problem of the job: {title} ({id})",
            title = title
        ),
    };
    said.cite(sentence, &found.evidence[..found.evidence.len().min(1)]);
}

/// How long it takes, and how much of that is on the critical path.
pub(super) fn times(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let stage = &run.summary.stages[at];
    let name = &stage.name;
    let Some(span) = stage.span_ms.map(|ms| ms / 1e3) else {
        return said.say(text!(
            "没有文件记录 {name} 的时间",
            "No file gives the times of {name}"
        ));
    };
    let measure = text!(
        "{name} 从第一个顶点到最后一个用时 {span}",
        "{name} takes {span} from its first vertex to its last",
        span = Seconds(span)
    );
    let ids = said.measured(
        ("wall time", span, "s"),
        stage.sources.times.as_ref(),
        measure,
    );
    let path = run
        .on_path()
        .get(name.as_str())
        .copied()
        .filter(|s| *s > 0.0);
    let total = run.report.time.as_ref().map(|t| t.total_seconds());
    let path = match path.zip(total) {
        Some((seconds, total)) => text!(
            "，其中关键路径上 {seconds}，占全程的 {share}",
            ", {seconds} of it on the critical path ({share} of the whole time)",
            seconds = Seconds(seconds),
            share = Share(seconds / total)
        ),
        None if total.is_some() => text!("，不在关键路径上", ", none of it on the critical path"),
        None => Text::default(),
    };
    let sentence = text!(
        "{name} 用时 {span}{path}",
        "{name} takes {span}{path}",
        span = Seconds(span),
        path = path
    );
    said.cite(sentence, &ids);
}

fn vertices(said: &mut Said<'_>, run: &Asked<'_>, stage: &StageSummary) {
    let name = &stage.name;
    let Some(n) = stage.vertices else {
        return said.say(text!(
            "没有文件给出 {name} 的顶点数",
            "No file gives the number of vertices of {name}"
        ));
    };
    let count = run.vertex().count(n as f64);
    let sentence = text!("{name} 有 {count}", "{name} has {count}", count = count);
    said.say_measured(
        ("vertices", n as f64, "vertices"),
        stage.sources.vertices.as_ref(),
        sentence,
    );
}

fn rows(said: &mut Said<'_>, stage: &StageSummary) {
    let name = &stage.name;
    let sentence = match (stage.rows_in, stage.rows_out) {
        (Some(a), Some(b)) => text!(
            "{name} 读入 {a}，输出 {b}",
            "{name} reads {a} and writes {b}",
            a = ROW.count(a),
            b = ROW.count(b)
        ),
        (Some(a), None) => text!("{name} 读入 {a}", "{name} reads {a}", a = ROW.count(a)),
        (None, Some(b)) => text!("{name} 输出 {b}", "{name} writes {b}", b = ROW.count(b)),
        (None, None) => text!(
            "没有文件给出 {name} 的行数",
            "No file gives the rows of {name}"
        ),
    };
    let value = stage.rows_in.or(stage.rows_out);
    match value {
        Some(n) => said.say_measured(("rows", n, "rows"), stage.sources.rows.as_ref(), sentence),
        None => said.say(sentence),
    }
}

fn bytes(said: &mut Said<'_>, stage: &StageSummary) {
    let name = &stage.name;
    let sentence = match (stage.bytes_read, stage.bytes_written) {
        (Some(a), Some(b)) => text!(
            "{name} 读取 {a}，写出 {b}",
            "{name} reads {a} and writes {b}",
            a = Bytes(a),
            b = Bytes(b)
        ),
        (Some(a), None) => text!("{name} 读取 {a}", "{name} reads {a}", a = Bytes(a)),
        (None, Some(b)) => text!("{name} 写出 {b}", "{name} writes {b}", b = Bytes(b)),
        (None, None) => text!(
            "没有文件给出 {name} 的字节数",
            "No file gives the bytes of {name}"
        ),
    };
    let value = stage.bytes_read.or(stage.bytes_written);
    match value {
        Some(n) => said.say_measured(
            ("bytes", n, "bytes"),
            stage.sources.bytes.as_ref(),
            sentence,
        ),
        None => said.say(sentence),
    }
}

/// How evenly time and rows are spread.
pub(super) fn spread(said: &mut Said<'_>, run: &Asked<'_>, stage: &StageSummary) {
    let name = &stage.name;
    let vertex = run.vertex();
    let (one, zh) = (vertex.one, vertex.bare());
    let mut any = false;
    if let Some((max, ratio)) = stage.max_ms.zip(stage.max_over_mean) {
        any = true;
        let sentence = text!(
            "{name} 最慢的{zh}用时 {max}，是平均的 {ratio}",
            "The slowest {one} of {name} takes {max}, {ratio} the mean",
            max = Seconds(max / 1e3),
            ratio = Ratio(ratio)
        );
        said.say_measured(
            ("slowest / mean", ratio, "ratio"),
            stage.sources.times.as_ref(),
            sentence,
        );
    }
    if let Some((max, ratio)) = stage.rows_max.zip(stage.rows_max_over_mean) {
        any = true;
        let sentence = text!(
            "{name} 行数最多的{zh}有 {max}，是平均的 {ratio}",
            "The largest {one} of {name} has {max}, {ratio} the mean",
            max = ROW.count(max),
            ratio = Ratio(ratio)
        );
        said.say_measured(
            ("largest / mean", ratio, "ratio"),
            stage.sources.rows.as_ref(),
            sentence,
        );
    }
    if !any {
        said.say(text!(
            "没有文件说明 {name} 的数据怎样分布",
            "No file tells how the rows of {name} are spread"
        ));
    }
}

pub(super) fn memory(said: &mut Said<'_>, stage: &StageSummary) {
    let name = &stage.name;
    let Some(peak) = stage.memory_peak else {
        return said.say(text!(
            "没有文件给出 {name} 的内存",
            "No file gives the memory of {name}"
        ));
    };
    let sentence = text!(
        "{name} 的内存峰值为 {peak}",
        "The memory of {name} peaks at {peak}",
        peak = Bytes(peak)
    );
    said.say_measured(
        ("memory peak", peak, "bytes"),
        stage.sources.memory.as_ref(),
        sentence,
    );
}

/// What a stage counts of one kind of trouble.
fn trouble(said: &mut Said<'_>, run: &Asked<'_>, stage: &StageSummary, kind: SegmentKind) {
    use SegmentKind::{CapacityWait, Gc, Queue, Retry, Spill, Startup};
    let (name, sources) = (&stage.name, &stage.sources);
    let counted = match kind {
        Gc => stage.gc_share.map(|share| {
            let sentence = text!(
                "{name} 的时间有 {share} 用于垃圾回收",
                "{name} spends {share} of its time in garbage collection",
                share = Share(share)
            );
            (share, "share", &sources.gc, sentence)
        }),
        Spill => stage.spills.map(|n| {
            let sentence = match n {
                0 => text!("{name} 没有算子落盘", "No operator of {name} spills"),
                n => text!(
                    "{name} 有 {n} 个算子落盘",
                    "Operators of {name} that spill: {n}"
                ),
            };
            (n as f64, "count", &sources.rows, sentence)
        }),
        Retry => stage.wasted_ms.map(|ms| {
            let sentence = text!(
                "{name} 中失败和被收回的尝试浪费了 {time}",
                "Failed and revoked attempts of {name} cost {time}",
                time = Seconds(ms / 1e3)
            );
            (ms, "ms", &sources.times, sentence)
        }),
        CapacityWait | Queue | Startup => stage.wait_ms.map(|ms| {
            let vertex = run.vertex();
            let (many, zh) = (vertex.many, vertex.bare());
            let sentence = text!(
                "{name} 的{zh}等待资源和启动平均共用 {time}",
                "The {many} of {name} wait for capacity and start up for {time} on average",
                time = Seconds(ms / 1e3)
            );
            (ms, "ms", &sources.times, sentence)
        }),
        _ => None,
    };
    if let Some((value, unit, source, sentence)) = counted {
        said.say_measured((kind.title().en, value, unit), source.as_ref(), sentence);
    }
}

/// The amount of work of a stage, and its share of the job's.
fn work(said: &mut Said<'_>, run: &Asked<'_>, stage: &StageSummary) {
    let name = &stage.name;
    let language = said.language();
    let mut parts: Vec<String> = Vec::new();
    let mut add = |text: Text| parts.push(text.into(language));
    if let Some(n) = stage.vertices {
        add(text!("{n}", "{n}", n = run.vertex().count(n as f64)));
    }
    if let Some(share) = run.summary.share(stage) {
        add(text!(
            "占全部运行时间的 {share}",
            "{share} of the run time of all vertices",
            share = Share(share)
        ));
    }
    if let Some(rows) = stage.rows_in {
        add(text!("读入 {rows}", "{rows} in", rows = ROW.count(rows)));
    }
    if let Some(bytes) = stage.bytes_read {
        add(text!("读取 {bytes}", "{bytes} read", bytes = Bytes(bytes)));
    }
    if let Some(ratio) = stage.max_over_mean {
        add(text!(
            "最慢的顶点是平均的 {ratio}",
            "the slowest vertex at {ratio} the mean",
            ratio = Ratio(ratio)
        ));
    }
    if parts.is_empty() {
        return;
    }
    let parts = parts.join(language.select("，", ", "));
    let measure = text!("{name}：{parts}", "{name}: {parts}");
    let busy = stage.busy_ms.unwrap_or_default();
    said.say_measured(
        ("run time of all vertices", busy, "ms"),
        stage.sources.times.as_ref(),
        measure,
    );
}

fn place(said: &mut Said<'_>, run: &Asked<'_>, stage: &StageSummary) {
    let name = &stage.name;
    let file = run.summary.script.as_ref().map_or("", |s| s.file.as_str());
    let lines: Vec<String> = stage.lines.iter().map(u32::to_string).collect();
    let sentence = match lines.is_empty() {
        true => text!(
            "没有文件说明 {name} 运行脚本的哪些行",
            "No file tells which script lines {name} runs"
        ),
        false => text!(
            "{name} 运行脚本 {file} 中从第 {lines} 行开始的语句",
            "{name} runs the statements at lines {lines} of {file}",
            lines = list(&lines, said.language())
        ),
    };
    said.say(sentence);
}

/// What it reads from, and what reads it.
fn flow(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let (name, stages) = (&run.summary.stages[at].name, &run.summary.stages);
    let language = said.language();
    let named = |edges: &[usize], other: fn(&EdgeSummary) -> usize| {
        let edges = edges.iter().map(|edge| &run.summary.edges[*edge]);
        let named = edges.filter_map(|edge| {
            let (other, kind) = (&stages.get(other(edge))?.name, &edge.exchange);
            let keys = match Names(&edge.keys).localize(language) {
                none if none.is_empty() => Text::default(),
                keys => text!("，键 {keys}", " on {keys}"),
            };
            let text = text!(
                "{other}（{kind}{keys}）",
                "{other} ({kind}{keys})",
                keys = keys
            );
            Some(text.into(language))
        });
        let mut named: Vec<String> = named.collect();
        named.dedup();
        said::names(&named, language)
    };
    let channels = run.channels();
    let from = named(&channels.into[at], |edge| edge.from);
    let to = named(&channels.out_of[at], |edge| edge.to);
    let from = match from.is_empty() {
        true => text!("{name} 直接读取输入", "{name} reads the inputs of the job"),
        false => text!(
            "{name} 读取 {from} 的输出",
            "{name} reads from {from}",
            from = from
        ),
    };
    said.say(from);
    if !to.is_empty() {
        said.say(text!(
            "它的输出由 {to} 读取",
            "What it writes is read by {to}",
            to = to
        ));
    }
}
