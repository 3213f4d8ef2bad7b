//! Rules for `driver.bottleneck` and `driver.commit`: executors wait while the driver works on its own, or commits output.
//!
//! Time with an open stage is waiting for executors, a broadcast is another cause, and the driver's work
//! before the first stage is start-up: these times do not count.

use job::model::Application;

use super::support::{Symptom, rule};
use crate::excess::needless_files;
use crate::facts::fact;
use crate::impact::{Fix, Saved, shorten_handover};
use crate::measurements::driver::{Gap, elapsed_s, gaps, is_broadcast, is_commit, results};
use crate::rule::Examination;
use crate::settings::MIN_SHARE;
use crate::view::View;
use report::format::{Bytes, Seconds, Share};
use report::{Cause, Evidence, Text, text};

/// Least share of needless files for a commit to be slow because of them.
const MOSTLY: f64 = 0.5;

rule! { COMMIT = CommitOnDriver, examine_commit;
    "Executor 空等，Driver 在提交输出（移动文件、登记分区）", "executors wait while the driver commits output (moves files, registers partitions)";
    needs VertexEvents, JobTimes;
    thresholds MIN_SHARE;
    unless "执行没有写出数据，或之后还有它的阶段", "the execution writes no output, or has further stages";
    unless "写出的文件过多（见 io.small_files）", "far too many files are written (see io.small_files)";
}

rule! { RULE = DriverBottleneck, examine;
    "Executor 空等，Driver 在独自工作（收集结果、循环、列目录、提交）", "executors wait while the driver works on its own (collecting, loops, listing files, committing)";
    needs VertexEvents, JobTimes;
    helps Script;
    thresholds MIN_SHARE;
    unless "有阶段已提交，在等待 Executor", "a stage is open and waits for executors";
    unless "Driver 在构建广播（见 broadcast.too_large）", "the driver builds a broadcast (see broadcast.too_large)";
    unless "笔记本在等待用户", "a notebook waits for its user";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let Some((app, elapsed)) = view.job.spark.as_deref().zip(elapsed_s(view)) else {
        return;
    };
    if view.failed() {
        return;
    }
    let gaps = gaps(view, app).into_iter().filter(|g| !is_commit(app, g));
    let (of_broadcast, own): (Vec<Gap>, Vec<Gap>) = gaps.partition(|g| is_broadcast(app, g.after));
    let seconds: f64 = own.iter().map(Gap::excess_s).sum();
    let share = (seconds / elapsed).min(1.0);
    let limit = view.limit(&MIN_SHARE);
    if share >= limit {
        result.found(view, symptom(view, app, &own, seconds, share));
    } else {
        result.under(share / limit, || evidence(view, app, &own));
    }
    if of_broadcast.iter().any(|g| g.excess_s() >= limit * elapsed) {
        result.attributed.push((Cause::BroadcastTooLarge, None));
    }
    result.cleared_by(text!(
        "Driver 让 Executor 空等的时间占 {share}",
        "executors wait for the driver during {share} of the run",
        share = Share(share),
    ));
}

fn examine_commit(view: &View<'_>, result: &mut Examination) {
    let Some((app, elapsed)) = view.job.spark.as_deref().zip(elapsed_s(view)) else {
        return;
    };
    let gaps = gaps(view, app).into_iter().filter(|g| is_commit(app, g));
    let gaps = gaps.filter(|g| needless_files(view, g.after).is_none_or(|share| share < MOSTLY));
    let gaps: Vec<Gap> = gaps.collect();
    if view.failed() || gaps.is_empty() {
        return;
    }
    let seconds: f64 = gaps.iter().map(Gap::excess_s).sum();
    let share = (seconds / elapsed).min(1.0);
    let limit = view.limit(&MIN_SHARE);
    if share < limit {
        result.under(share / limit, || evidence(view, app, &gaps));
        return;
    }
    let waiting = symptom(view, app, &gaps, seconds, share);
    let summary = text!(
        "写出数据的最后一个阶段结束后，Driver 提交输出 {time}，占运行时间的 {share}",
        "after the last stage of a write, the driver commits its output for {time}, {share} of the run",
        time = Seconds(seconds),
        share = Share(share),
    );
    result.found(
        view,
        Symptom {
            summary,
            method: "time from the last stage of a write to the end of its execution",
            ..waiting
        },
    );
}

fn symptom(view: &View<'_>, app: &Application, gaps: &[Gap], seconds: f64, share: f64) -> Symptom {
    let longest = longest(gaps);
    let after = longest.map_or_else(Text::default, |gap| doing(view, app, gap));
    let edits: Vec<(Vec<usize>, f64)> = gaps
        .iter()
        .map(|g| (g.before.clone(), g.excess_s()))
        .collect();
    let fix = Fix::work(move |stages| {
        for (before, excess) in &edits {
            for s in before {
                shorten_handover(&mut stages[*s], *excess);
            }
        }
    });
    Symptom {
        summary: text!(
            "Driver 独自工作时 Executor 空等 {time}；最长的一次有 {longest}{after}",
            "executors wait {time} while the driver works on its own; the longest wait is {longest}{after}",
            time = Seconds(gaps.iter().map(Gap::seconds).sum()),
            longest = Seconds(longest.map_or(0.0, Gap::seconds)),
            after = after,
        ),
        evidence: evidence(view, app, gaps),
        saved: Some(Saved {
            seconds,
            share,
            fix,
        }),
        method: "time without any open stage, less the driver's usual time between stages",
        strength: 0.6 + 0.4 * share,
        ..Symptom::default()
    }
}

fn longest(gaps: &[Gap]) -> Option<&Gap> {
    gaps.iter().max_by_key(|g| g.to_ms - g.from_ms)
}

fn doing(view: &View<'_>, app: &Application, gap: &Gap) -> Text {
    let job = app.stages[gap.after].job.and_then(|j| app.jobs.get(j));
    let site = job
        .and_then(|j| j.call_site.clone())
        .unwrap_or_else(|| app.stages[gap.after].call_site.clone());
    match results(view, gap.after) {
        Some((bytes, _)) => text!(
            "，在 {site} 把 {size} 结果收到 Driver 之后",
            ", after {site} brought {size} of results to the driver",
            size = Bytes(bytes),
        ),
        None => text!("，在 {site} 之后", ", after {site}"),
    }
}

fn evidence(view: &View<'_>, app: &Application, gaps: &[Gap]) -> Vec<Evidence> {
    let Some(gap) = longest(gaps) else {
        return Vec::new();
    };
    let seconds = gap.seconds();
    let source = app.at_line(app.stages[gap.after].line);
    let stage = view.name(gap.after);
    let mut facts = vec![fact! { view, "driver gap", seconds, "s", source;
    "{stage} 结束后 {time} 内没有任何阶段", "no stage is open for {time} after {stage} ended", time = Seconds(seconds) }];
    if let Some((bytes, Some(from))) = results(view, gap.after) {
        facts.push(fact! { view, "Result Size", bytes, "bytes", from.clone();
            "{stage} 的任务向 Driver 返回 {size}", "the tasks of {stage} returned {size} to the driver", size = Bytes(bytes) });
    }
    facts
}
