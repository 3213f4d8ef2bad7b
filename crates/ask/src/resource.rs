//! How long the run takes with other resources or more input, from the curve of the report.

use job::model::SHUFFLE_PARTITIONS;
use report::format::{Change, Number, Seconds};
use report::measure::book;
use report::{
    Cause, CurvePoint, CurveResource, Finding, JobEngine, JobState, SegmentKind, Suggestion, Text,
    text,
};

use super::said::Said;
use super::time;
use super::wanted::Wanted;
use super::{Asked, found, setting, verdict};
use crate::intent::Intent;
use crate::subject::Subject;
use crate::word::{Amount, Cue, Resource};

/// Causes that more memory may remove.
const MEMORY: [Cause; 4] = [
    Cause::Spill,
    Cause::MemoryEstimateTooLow,
    Cause::HeapPressure,
    Cause::ExecutorLost,
];

/// Failures that no resource prevents.
const NO_RESOURCE: [Cause; 3] = [
    Cause::UserCodeFailure,
    Cause::CompileFailure,
    Cause::InputFailure,
];

/// Says that resources would not have prevented a failure, for a question whether they would. Returns false if they might.
fn is_no_remedy(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let first = run.report.findings.first();
    let found = first.filter(|f| NO_RESOURCE.contains(&f.cause) && intent.reading.asks_yes_no());
    if let Some(found) = found {
        said.say(text!(
            "不会：作业失败不是因为资源不足",
            "No: the job did not fail for lack of resources"
        ));
        found::finding(said, found, true);
    }
    found.is_some()
}

/// Answers it, or says why the run cannot.
pub(super) fn answer(said: &mut Said<'_>, run: &Asked<'_>, wanted: Wanted, intent: &Intent) {
    if is_no_remedy(said, run, intent) {
        return;
    }
    if (wanted.resource, run.report.job.engine) == (Resource::Memory, Some(JobEngine::Spark)) {
        setting::about(said, run, "spark.executor.memory", intent);
        let findings = run.report.findings.iter();
        let findings = findings.filter(|f| MEMORY.contains(&f.cause));
        return findings.for_each(|f| found::finding(said, f, false));
    }
    if let Some(why) = refusal(run, wanted) {
        said.say(why);
        if wanted.resource == Resource::Partitions {
            return partitions(said, run, intent);
        }
        let is_memory = |f: &&Finding| f.cause.code().starts_with("memory.");
        let findings = run.report.findings.iter().filter(is_memory);
        return findings
            .filter(|_| wanted.resource == Resource::Memory)
            .for_each(|f| found::finding(said, f, false));
    }
    let curve = run.report.time.iter().flat_map(|time| &time.curve);
    let is_input = |p: &CurvePoint| p.resource == CurveResource::Input;
    let (inputs, counts): (Vec<CurvePoint>, Vec<CurvePoint>) = curve.copied().partition(is_input);
    let Some(present) = inputs.first().copied() else {
        return;
    };
    if wanted.resource == Resource::Input {
        return with_input(said, run, wanted.amount, &inputs);
    }
    let apart =
        |p: &CurvePoint| (p.cost - present.cost).abs() + (p.seconds - present.seconds).abs();
    let nearest = counts.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
    let Some(now) = nearest.copied() else {
        return;
    };
    let is_enough = |p: &&CurvePoint| p.count < now.count && p.seconds <= now.seconds * SLOWER;
    let least = counts.iter().find(is_enough).map(|p| p.count as f64);
    let present = now.count as f64;
    let wanted = match wanted.amount {
        Amount::Times(factor) => (present * factor).round().max(1.0),
        Amount::Count(count) => count.round(),
        Amount::Plus(more) => (present + more).round().max(1.0),
        Amount::Open => {
            let ends = counts.first().into_iter().chain(counts.last());
            return ends.for_each(|p| with_count(said, run, intent, &counts, now, p.count as f64));
        }
    };
    // "we have 80 tokens, would 40 do?"
    let other = intent
        .reading
        .numbers()
        .find(|n| *n != present && *n >= 1.0);
    let wanted = match wanted == present {
        true => other.unwrap_or(wanted),
        false => wanted,
    };
    let [noun, _] = run.report.job.engine.unwrap_or(JobEngine::Scope).resource();
    match least {
        _ if wanted != present => with_count(said, run, intent, &counts, now, wanted),
        Some(least) => {
            said.say(text!(
                "不需要 {now}",
                "{now} are more than needed",
                now = noun.count(present)
            ));
            with_count(said, run, intent, &counts, now, least);
        }
        None => said.say(text!(
            "{now} 都用得上：更少就会变慢",
            "All {now} are needed: with fewer the run would take longer",
            now = noun.count(present)
        )),
    }
}

/// Slowdown that is too small to notice, and speed-up that is worth more resources.
const SLOWER: f64 = 1.02;
const WORTH: f64 = 1.05;

/// Says how long the run would take with another count of its resource.
fn with_count(
    said: &mut Said<'_>,
    run: &Asked<'_>,
    intent: &Intent,
    counts: &[CurvePoint],
    now: CurvePoint,
    count: f64,
) {
    let [noun, hours] = run.report.job.engine.unwrap_or(JobEngine::Scope).resource();
    let seconds = at(counts, count);
    if intent.reading.shows(Cue::Faster) && count > now.count as f64 {
        said.affirm(seconds * WORTH <= now.seconds);
    } else if intent.reading.shows(Cue::Enough) {
        said.affirm(seconds <= now.seconds * SLOWER);
    }
    let cost = now.cost / (now.count as f64 * now.seconds) * count * seconds;
    let ids = time::elapsed(said, run);
    said.cite(
        text!(
            "用 {count}（现在 {now}），运行约 {time}（{change}），占用 {cost}（现在 {cost_now}）",
            "With {count} instead of {now}, the run would take about {time} ({change}) and hold {cost} instead of {cost_now}",
            count = noun.count(count),
            now = noun.count(now.count as f64),
            time = Seconds(seconds),
            change = Change::between(now.seconds, seconds),
            cost = hours.count(rounded(cost)),
            cost_now = Number(rounded(now.cost)),
        ),
        &ids,
    );
    if let Some(last) = counts.last().filter(|last| count > last.count as f64) {
        said.say(text!(
            "超过 {last} 后不再变快",
            "Beyond {last} nothing changes",
            last = noun.count(last.count as f64),
        ));
    }
}

/// If the slowest vertex takes this share of a stage's time, more resources hardly help.
const FLOOR: f64 = 0.6;

/// Answers whether a stage would gain from more resources. Returns false if its vertices or the slots are unknown.
pub(super) fn of_stage(said: &mut Said<'_>, run: &Asked<'_>, at: usize) -> bool {
    if run.report.job.state == JobState::Failed {
        said.say(only_a_part());
        verdict::of_job(said, run, &[]);
        return true;
    }
    let stage = &run.summary.stages[at];
    let (vertices, tokens) = (
        stage.values.value(&book::VERTICES),
        run.summary.values.value(&book::TOKENS),
    );
    let Some((vertices, tokens)) = vertices.zip(tokens) else {
        return false;
    };
    let (name, vertex) = (&stage.name, run.vertex());
    // one vertex takes as long with any resources
    let both = stage
        .values
        .value(&book::MAX_RUN)
        .zip(stage.values.value(&book::SPAN));
    if let Some((longest, span)) =
        both.filter(|(longest, span)| longest.number() >= FLOOR * span.number())
    {
        let ids = said.evidence_of_all(
            &[(&book::MAX_RUN, longest), (&book::SPAN, span)],
            name,
            vertex,
        );
        said.cite(
            text!(
                "几乎不会变快：{name} 用时 {span}，其中最慢的一个顶点就要 {longest}，最多能省 {rest}",
                "Hardly: the slowest vertex of {name} alone takes {longest} of its {span}, so at most {rest} could be saved",
                span = Seconds(span.number() / 1e3),
                longest = Seconds(longest.number() / 1e3),
                rest = Seconds((span.number() - longest.number()) / 1e3)
            ),
            &ids,
        );
        // the reason of the slowest vertex
        let found = crate::stage::findings(run, stage).take(1);
        found.for_each(|f| found::finding(said, f, false));
        return true;
    }
    let mut ids = said.evidence_of(&book::VERTICES, vertices, name, vertex);
    ids.extend(said.evidence_of(&book::TOKENS, tokens, run.report.job.label(), vertex));
    let (count, slots) = (vertex.count(vertices.number()), Number(tokens.number()));
    let sentence = match vertices.number() <= tokens.number() {
        true => text!(
            "不会变快：{name} 有 {count}，作业已经可以同时运行 {slots} 个；要更快只能增加分区",
            "No: {name} has {count}, and the job may already run {slots} at once; only more partitions would let it use more",
            count = count,
            slots = slots
        ),
        false => text!(
            "可能变快：{name} 有 {count}，而作业只能同时运行 {slots} 个",
            "Probably: {name} has {count}, and the job may run only {slots} at once",
            count = count,
            slots = slots
        ),
    };
    said.cite(sentence, &ids);
    true
}

/// Answers how long the run would take without one kind of time: "if the executors had been there at once". Returns false for any
/// other question.
pub(super) fn without(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let is_thought = reading.shows(Cue::If);
    let removes = reading.shows(Cue::Without);
    let mut kinds = reading.segments();
    if kinds.is_empty() && intent.reading.shows(Cue::Executor) {
        kinds.extend([SegmentKind::CapacityWait, SegmentKind::Queue]);
    }
    let total = run.report.job.total_seconds;
    let is_job = intent.subjects == [Subject::Job];
    let (Some(total), true) = (total, is_thought && removes && is_job && !kinds.is_empty()) else {
        return false;
    };
    kinds.retain(|kind| time::seconds_of(run, *kind, None) > 0.0);
    if kinds.is_empty() {
        return false;
    }
    let lost: f64 = kinds
        .iter()
        .map(|kind| time::seconds_of(run, *kind, None))
        .sum();
    for kind in kinds {
        time::time_of(said, run, kind, None);
    }
    said.say(text!(
        "没有这段时间的话，从提交到结束约为 {left}，而不是 {total}",
        "Without it, the time from submission to end would be about {left} instead of {total}",
        left = Seconds(total - lost),
        total = Seconds(total)
    ));
    true
}

/// Says the number of partitions and the settings that change it.
fn partitions(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    if run.summary.settings.contains_key(SHUFFLE_PARTITIONS) {
        setting::about(said, run, SHUFFLE_PARTITIONS, intent);
    }
    let sets = |s: &&Suggestion| {
        s.settings
            .iter()
            .any(|setting| setting.key == SHUFFLE_PARTITIONS)
    };
    for s in run.report.suggestions.iter().filter(sets) {
        let (id, gain) = (&s.id, &s.gain);
        said.say(text!("{id} 的收益：{gain}", "Gain of {id}: {gain}"));
    }
    let findings = run.report.findings.iter();
    let of_vertices =
        findings.filter(|f| matches!(f.cause, Cause::ParallelismTooLow | Cause::TinyVertices));
    of_vertices.for_each(|f| found::finding(said, f, false));
}

fn with_input(said: &mut Said<'_>, run: &Asked<'_>, amount: Amount, inputs: &[CurvePoint]) {
    let (Amount::Times(times), Some(present)) = (amount, inputs.first()) else {
        return said.say(text!(
            "请说明输入是现在的几倍",
            "Say how many times the present input it would be"
        ));
    };
    let seconds = between(inputs, times);
    let ids = time::elapsed(said, run);
    said.cite(
        text!(
            "输入为现在的 {times} 倍、资源不变时，运行约 {time}（{change}）；假定工作量与输入成正比",
            "With {times} times the input and the same resources, the run would take about {time} ({change}); work is assumed to grow with the input",
            times = Number(times),
            time = Seconds(seconds),
            change = Change::between(present.seconds, seconds),
        ),
        &ids,
    );
}

/// Why a question about resources has no answer.
fn refusal(run: &Asked<'_>, wanted: Wanted) -> Option<Text> {
    let is_spark = run.report.job.engine == Some(JobEngine::Spark);
    let is_known = run
        .report
        .time
        .as_ref()
        .is_some_and(|time| !time.curve.is_empty());
    Some(match wanted.resource {
        Resource::Memory => text!(
            "无法回答：没有记录说明运行时间如何随内存变化；内存不足或过多会作为问题列出",
            "That can't be answered: no record shows how the run time depends on memory; too little or too much of it is reported as a finding"
        ),
        Resource::Partitions => text!(
            "没有估算其他分区数下的运行时间",
            "The run time with another number of partitions is not estimated"
        ),
        Resource::Hardware => text!(
            "无法回答：没有记录说明运行时间如何随机器、磁盘或网络变化",
            "That can't be answered: no record shows how the run time depends on machines, disks or the network"
        ),
        Resource::Tokens if is_spark => text!(
            "Spark 应用没有令牌；可以问 Executor",
            "A Spark application has no tokens; ask about executors"
        ),
        Resource::Executors | Resource::Cores if !is_spark => text!(
            "SCOPE 和 U-SQL 作业没有 Executor；可以问令牌",
            "A SCOPE or U-SQL job has no executors; ask about tokens"
        ),
        _ if run.report.job.state == JobState::Failed => only_a_part(),
        Resource::Tokens | Resource::Executors
            if is_single(run) && !matches!(wanted.amount, Amount::Count(_)) =>
        {
            text!(
                "不会变快：每个阶段只有一个顶点",
                "No: every stage has just one vertex, so that more of them have nothing to do"
            )
        }
        _ if !is_known => text!(
            "无法回答：没有文件说明各阶段的工作量和作业的资源",
            "That can't be answered: no file shows the work of the stages and the resources of the job"
        ),
        Resource::Cores if matches!(wanted.amount, Amount::Count(_)) => text!(
            "请问 Executor 的数目，或用 `scopeagent whatif {run} --cores N`",
            "Ask for a number of executors, or use `scopeagent whatif {run} --cores N`",
            run = run.report.run_id
        ),
        Resource::Input if matches!(wanted.amount, Amount::Times(times) if times < 1.0) => text!(
            "报告只重演了更多的输入；请用 `scopeagent whatif {run} --input 0.5x`",
            "The report replays more input only; use `scopeagent whatif {run} --input 0.5x`",
            run = run.report.run_id
        ),
        _ => return None,
    })
}

fn only_a_part() -> Text {
    text!(
        "无法回答：作业失败了，只做了一部分工作",
        "That can't be answered: the job failed, so only a part of its work is known"
    )
}

/// Whether every stage has one vertex, as in a local run.
fn is_single(run: &Asked<'_>) -> bool {
    let stages = &run.summary.stages;
    !stages.is_empty() && stages.iter().all(|s| s.get(&book::VERTICES) == Some(1.0))
}

/// Run time at a count: work in parallel takes time in inverse proportion to it.
fn at(points: &[CurvePoint], count: f64) -> f64 {
    let next = points.partition_point(|p| (p.count as f64) < count);
    match (
        next.checked_sub(1).and_then(|n| points.get(n)),
        points.get(next),
    ) {
        (Some(a), Some(b)) => {
            let (from, to) = (1.0 / a.count as f64, 1.0 / b.count as f64);
            a.seconds + (b.seconds - a.seconds) * (1.0 / count - from) / (to - from)
        }
        (Some(last), None) => last.seconds,
        (None, Some(first)) => first.seconds * first.count as f64 / count,
        (None, None) => 0.0,
    }
}

/// Run time at a multiple of the input, in proportion between its neighbors.
fn between(points: &[CurvePoint], times: f64) -> f64 {
    let next = points.partition_point(|p| (p.count as f64) < times);
    let next = next.clamp(1, points.len().saturating_sub(1).max(1));
    match (points.get(next - 1), points.get(next)) {
        (Some(a), Some(b)) => {
            let (from, to) = (a.count as f64, b.count as f64);
            a.seconds + (b.seconds - a.seconds) * (times - from) / (to - from)
        }
        (Some(only), None) => only.seconds * times,
        _ => 0.0,
    }
}

/// Three significant digits.
fn rounded(n: f64) -> f64 {
    let unit = 10_f64.powf(n.abs().max(1e-9).log10().floor() - 2.0);
    (n / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_points_follow_the_work() {
        let point = |count, seconds| CurvePoint {
            resource: CurveResource::Tokens,
            count,
            seconds,
            cost: 0.0,
        };
        let points = [point(10, 100.0), point(20, 50.0), point(40, 50.0)];
        for (count, seconds) in [
            (5.0, 200.0),
            (10.0, 100.0),
            (15.0, 200.0 / 3.0),
            (80.0, 50.0),
        ] {
            assert!((at(&points, count) - seconds).abs() < 1e-9, "{count}");
        }
        let inputs = [point(1, 10.0), point(2, 18.0), point(3, 26.0)];
        for (times, seconds) in [(1.5, 14.0), (3.0, 26.0), (4.0, 34.0)] {
            assert!((between(&inputs, times) - seconds).abs() < 1e-9, "{times}");
        }
    }
}
