//! Digests of stages: their counters, their slowest vertices, their operators and how well the optimizer estimated them.

use job::facts::{OperatorFacts, StageFacts, value};
use job::model::Stage;
use job::runs::{RunState, StageRuns, VertexRun};
use report::format::{Bytes, PARTITION, ROW, Ratio, Seconds, VERTEX};
use report::measure::book;
use report::{Language, Localize, Text, text};

use super::Look;
use crate::measures;
use crate::wording::{self, Lines, heading};

/// Stages of a digest that is about all of them, those that ran longest.
const STAGES: usize = 12;

/// Operators and vertices of a stage; more if the digest is about it alone.
const FEW: usize = 3;
const MANY: usize = 15;

/// Messages of a stage.
const MESSAGES: usize = 3;

/// What `say` adds about each of the stages that a digest is about, those that ran longest first, until it is enough.
fn of_stages(
    look: &Look<'_>,
    named: Option<&str>,
    mut say: impl FnMut(&mut Lines, usize, &Stage),
) -> Lines {
    let of_stage = |stage: &Stage| {
        let mut operators = stage.operators.iter();
        Look::wants(named, &stage.name) || operators.any(|o| named == Some(o.id.as_str()))
    };
    let ran = |at: usize| {
        let facts = look.job.stage_facts(at);
        let run_ms = facts.run_ms.as_ref().map(|run| run.value.total);
        run_ms.unwrap_or_else(|| facts.own_ms())
    };
    let stages = look.job.stages.iter().enumerate();
    let stages = stages.filter(|(_, stage)| of_stage(stage));
    let mut stages: Vec<(f64, usize, &Stage)> =
        stages.map(|(at, stage)| (ran(at), at, stage)).collect();
    stages.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    let mut digest = Lines::new(look.language);
    for (_, at, stage) in stages.into_iter().take(STAGES) {
        if look.has_enough(&digest) {
            break;
        }
        say(&mut digest, at, stage);
    }
    digest
}

/// How much to say of each stage.
fn most(named: Option<&str>) -> usize {
    match named {
        Some(_) => MANY,
        None => FEW,
    }
}

/// The measurements of each stage, and the operators that took longest.
pub(super) fn counters(look: &Look<'_>, named: Option<&str>) -> Lines {
    let sheet = look.job.sheet();
    of_stages(look, named, |digest, at, stage| {
        digest.say(heading(&stage.name, look.language));
        let measured = measures::stage(look.job, &sheet, at, None, true, look.language);
        measured.lines.iter().for_each(|line| digest.detail(line));
        let facts = look.job.stage_facts(at);
        let own = |o: &OperatorFacts| value(&o.own_ms).unwrap_or_default();
        let mut operators: Vec<&OperatorFacts> = facts.operators.iter().collect();
        operators.sort_by(|a, b| own(b).total_cmp(&own(a)));
        let operators = operators.into_iter();
        let lines = operators.filter_map(|o| operator(o, &facts, look.language));
        let lines = lines.take(most(named));
        lines.for_each(|line| digest.detail(format!("  {line}")));
    })
}

/// The counters of an operator; `None` if it has none.
fn operator(operator: &OperatorFacts, facts: &StageFacts, language: Language) -> Option<String> {
    let spread = facts.rows_spread(operator).filter(|s| s.vertices > 1);
    let spills = value(&operator.spilled).filter(|n| *n > 0.0);
    let numbers = [
        (&book::OPERATOR_ROWS, value(&operator.rows)),
        (&book::OPERATOR_SPREAD, spread.map(|s| s.max_over_mean)),
        (&book::OWN_TIME, value(&operator.own_ms)),
        (&book::OPERATOR_BYTES, value(&operator.bytes)),
        (&book::OPERATOR_SPILLED, value(&operator.spilled_bytes)),
        (&book::OPERATOR_SPILLS, spills),
    ];
    let parts = numbers.into_iter().filter_map(|(measure, number)| {
        let part = measure.labeled(number?, VERTEX);
        Some(part.into(language))
    });
    let parts: Vec<String> = parts.collect();
    let name = match operator.uid {
        Some(uid) => format!("{}[{uid}]", operator.name),
        None => operator.name.to_string(),
    };
    let parts = parts.join(language.select("，", ", "));
    (!parts.is_empty()).then(|| text!("{name}：{parts}", "{name}: {parts}").into(language))
}

/// The slowest vertices of each stage, its failed attempts and their messages.
pub(super) fn vertices(look: &Look<'_>, named: Option<&str>) -> Lines {
    of_stages(look, named, |digest, _, stage| {
        let Some(runs) = &stage.runs else { return };
        let name = &stage.name;
        let (completed, failed, revoked) = (runs.completed, runs.failed, runs.revoked);
        let heading = text!(
            "{name}：完成 {completed}，失败 {failed}，被收回 {revoked}；运行时间中位 {median}，最长 {max}",
            "{name}: {completed} completed, {failed} failed, {revoked} revoked; run for {median} in the median, {max} at most",
            median = Seconds(runs.run_ms.p50 / 1e3),
            max = Seconds(runs.run_ms.max / 1e3)
        );
        digest.say(heading);
        let took = |run: &VertexRun| run.ended_ms.saturating_sub(run.running_ms);
        let mut slowest: Vec<&VertexRun> = runs.runs.iter().collect();
        slowest.sort_by_key(|run| std::cmp::Reverse(took(run)));
        for run in slowest.into_iter().take(most(named)) {
            digest.detail(vertex(run, runs));
        }
        for (message, times) in runs.events.iter().take(MESSAGES) {
            digest.detail(text!("{times} 次：{message}", "{times} ×: {message}"));
        }
    })
}

fn vertex(run: &VertexRun, runs: &StageRuns) -> Text {
    let machine = runs.machines.get(run.machine as usize);
    let (zh, en) = match run.state {
        RunState::Completed => ("", ""),
        RunState::Failed => ("，失败", ", failed"),
        RunState::Revoked => ("，被收回", ", revoked"),
        RunState::Abandoned => ("，被放弃", ", abandoned"),
        RunState::Cancelled => ("，被取消", ", cancelled"),
    };
    let seconds = |from: i64, to: i64| Seconds(to.saturating_sub(from).max(0) as f64 / 1e3);
    text!(
        "第 {index} 个：运行 {time}，等待 {wait}，读取 {read}，写出 {written}{machine}{state}",
        "number {index}: ran {time}, waited {wait}, read {read}, wrote {written}{machine}{state}",
        index = run.index.to_string(),
        time = seconds(run.running_ms, run.ended_ms),
        wait = seconds(run.created_ms, run.running_ms),
        read = Bytes(run.bytes_read as f64),
        written = Bytes(run.bytes_written as f64),
        machine = machine.map(|name| text!("，{name}", ", {name}")),
        state = Text { zh, en }
    )
}

/// The operators of each stage, as the compiler defined them.
pub(super) fn definitions(look: &Look<'_>, named: Option<&str>) -> Lines {
    of_stages(look, named, |digest, _, stage| {
        let name = &stage.name;
        let limit = stage.memory_limit.map(|limit| Bytes(limit as f64));
        let limit = limit.map(|n| text!("，内存上限 {n}", ", memory limit {n}", n = n));
        digest.say(text!("{name}{limit}：", "{name}{limit}:", limit = limit));
        for operator in &stage.operators {
            let columns = operator.outputs.iter().flat_map(|o| &o.schema);
            let columns: Vec<&str> = columns.map(|c| c.name.as_str()).collect();
            let columns = wording::named(&columns, look.language).filter(|_| named.is_some());
            let keys = wording::named(&operator.keys, look.language);
            let partitions = operator.partition_count.map(f64::from);
            let partitions = partitions.map(|n| PARTITION.count(n).localize(look.language));
            let parts = [
                keys.map(|keys| text!("键 {keys}", "on {keys}")),
                partitions.map(|n| text!("{n}", "{n}")),
                (operator.line).map(|line| text!("脚本第 {line} 行", "script line {line}")),
                columns.map(|columns| text!("输出列 {columns}", "gives {columns}")),
            ];
            let parts: Vec<Text> = parts.into_iter().flatten().collect();
            let all = Text::joined(&parts, ["，", ", "]);
            let all = (!parts.is_empty()).then(|| text!("：{all}", ": {all}", all = all));
            digest.detail(format!("{}{}", operator.id, all.localize(look.language)));
        }
    })
}

/// A Spark application: its stages, lost executors, and data that was cached.
pub(super) fn application(look: &Look<'_>, named: Option<&str>) -> Lines {
    let mut digest = counters(look, named);
    let Some(app) = look.job.spark.as_ref().filter(|_| named.is_none()) else {
        return digest;
    };
    let executors = app.executors.len();
    digest.say(text!("Executor：{executors}", "executors: {executors}"));
    for lost in app.executors.iter().filter(|e| e.lost) {
        let (id, reason) = (&lost.id, lost.reason.as_deref().unwrap_or("-"));
        digest.say(text!(
            "Executor {id} 丢失：{reason}",
            "executor {id} was lost: {reason}"
        ));
    }
    for cached in &app.cached {
        let (name, had, of) = (&cached.name, cached.cached, cached.partitions);
        digest.say(text!(
            "缓存 {name}：{of} 个分区中有 {had} 个，内存 {memory}，磁盘 {disk}",
            "cached {name}: {had} of {of} partitions, {memory} in memory, {disk} on disk",
            memory = Bytes(cached.memory_bytes as f64),
            disk = Bytes(cached.disk_bytes as f64)
        ));
    }
    digest
}

/// Operators of a digest, those with the largest errors first.
const ESTIMATES: usize = 30;

/// Expected and actual rows of the operators, the worst estimates first.
pub(super) fn estimates(look: &Look<'_>, named: Option<&str>) -> Lines {
    let mut found: Vec<(f64, Text)> = Vec::new();
    for (at, stage) in look.job.stages.iter().enumerate() {
        let facts = look.job.stage_facts(at);
        for (index, operator) in stage.operators.iter().enumerate() {
            let is_wanted = Look::wants(named, &stage.name) || Look::wants(named, &operator.id);
            let estimate = look.job.estimate_of(at, index).filter(|_| is_wanted);
            let Some((estimate, node)) = estimate.and_then(|e| Some((e.value.card?, e.value)))
            else {
                continue;
            };
            let rows = facts.operator(index).and_then(|o| value(&o.rows));
            let error = rows.map_or(0.0, |rows| (rows.max(1.0) / estimate.max(1.0)).ln().abs());
            let actual = match rows {
                Some(rows) => text!(
                    "，实际 {rows}（估计的 {ratio}）",
                    ", actually {rows} ({ratio} the estimate)",
                    rows = ROW.count(rows),
                    ratio = Ratio(rows / estimate.max(1.0))
                ),
                None => text!("，实际行数未知", ", actual rows unknown"),
            };
            let (stage, operator, node) = (&stage.name, &operator.id, &node.name);
            let line = text!(
                "{stage}/{operator}（{node}）：估计 {estimate}{actual}",
                "{stage}/{operator} ({node}): estimated {estimate}{actual}",
                estimate = ROW.count(estimate),
                actual = actual
            );
            found.push((error, line));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut digest = Lines::new(look.language);
    let worst = found.into_iter().take(ESTIMATES);
    worst.for_each(|(_, line)| digest.say(line));
    digest
}
