//! Rule for `executor.lost`: executors die, and their work is repeated.

use std::collections::BTreeSet;

use job::model::{Application, Executor, Task};

use super::support::{Symptom, rule};
use crate::facts::fact;
use crate::impact::drop_waste;
use crate::rule::Examination;
use crate::view::View;
use failure::{Class, recognize};
use report::format::{EXECUTOR, Names, Seconds};
use report::{Cause, Evidence, Text, text};

rule! { RULE = ExecutorLost, examine;
    "Executor 丢失，它完成的工作要重做", "executors were lost, and their work is repeated";
    needs VertexEvents;
    helps ErrorDetails;
    unless "Executor 因空闲或应用结束而释放", "executors were released because they were idle or the application ended";
    unless "没有工作需要重做", "no work had to be repeated";
    cleared "没有丢失 Executor", "no executor was lost";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let Some(app) = view.job.spark.as_deref() else {
        return;
    };
    let lost: Vec<usize> = (0..app.executors.len())
        .filter(|e| app.executors[*e].lost)
        .collect();
    let hit = hit(app, &lost);
    if hit.is_empty() {
        result.under(0.0, || came(view, app));
    } else if view.failed() && !ended_it(view) {
        let by = view.failure().map(|f| f.class.cause());
        result.attributed.extend(by.map(|cause| (cause, None)));
    } else {
        result.found(view, symptom(view, app, &lost, hit));
        if let Some(found) = result.candidates.last_mut().filter(|_| view.failed()) {
            found.at_most = 1.0;
        }
    }
    super::failure::or_ended_by(view, result);
}

/// Stages that are named.
const MOST_STAGES: usize = 4;

/// Stages that lost attempts, or the output of attempts, with an executor.
fn hit(app: &Application, lost: &[usize]) -> BTreeSet<usize> {
    let of_lost = |e: u32| lost.contains(&(e as usize));
    let stages = app.stages.iter().enumerate();
    let taken = stages.filter(|(_, stage)| {
        let again = |t: &Task| {
            let later = |o: &Task| o.index == t.index && o.launched_ms > t.finished_ms;
            !t.succeeded || stage.attempts.iter().any(later)
        };
        let mut attempts = stage.attempts.iter();
        let repeated = stage.attempt > 0 && !lost.is_empty();
        repeated || attempts.any(|t| of_lost(t.executor) && again(t))
    });
    taken.map(|(s, _)| s).collect()
}

/// Whether the loss can be the reason of the application's failure: a lost executor, or memory.
fn ended_it(view: &View<'_>) -> bool {
    view.failure().is_none_or(|f| {
        let of_memory = f.class.cause() == Cause::LimitFailure && f.class.is_of_work();
        of_memory || f.class.cause() == Cause::ExecutorLost
    })
}

/// Meaning of an exit code.
fn meaning(executor: &Executor, heap_is_full: bool) -> Text {
    match executor.exit_code {
        Some(50 | 51) => text!("：未捕获的异常使其退出", ": an uncaught exception ended it"),
        Some(52) => text!("：堆内存不足", ": out of heap"),
        Some(53) => text!(
            "：本地磁盘无法建立目录",
            ": it could not create its folder on the local disk"
        ),
        Some(56) => text!(
            "：心跳到不了 Driver",
            ": its heartbeats did not reach the driver"
        ),
        Some(134) => text!("：本机代码中止", ": native code aborted"),
        Some(137) => text!(
            "：被强制结束，内存超限或被抢占",
            ": killed, for its memory or preempted"
        ),
        Some(139) => text!("：本机代码崩溃", ": native code crashed"),
        _ if heap_is_full => text!("：任务的堆内存不足", ": its tasks ran out of heap"),
        Some(143) => text!("：被要求结束", ": terminated on request"),
        _ => Text::default(),
    }
}

fn symptom(view: &View<'_>, app: &Application, lost: &[usize], hit: BTreeSet<usize>) -> Symptom {
    let wasted_ms: i64 = app
        .stages
        .iter()
        .flat_map(|s| &s.attempts)
        .filter(|t| lost.contains(&(t.executor as usize)) && !t.succeeded)
        .map(|t| (t.finished_ms - t.launched_ms).max(0))
        .sum();
    let errors = view.job.errors.iter().filter_map(recognize);
    let heap_is_full = errors
        .map(|r| r.class)
        .any(|class| matches!(class, Class::HeapFull | Class::MemoryDenied));
    let first = lost.first().map(|e| &app.executors[*e]);
    let reason = first.and_then(|e| e.reason.clone()).unwrap_or_default();
    let means = first.map_or_else(Text::default, |e| meaning(e, heap_is_full));
    let again: Vec<usize> = hit
        .iter()
        .copied()
        .filter(|s| app.stages[*s].attempt > 0)
        .collect();
    let stages: Vec<usize> = hit.into_iter().collect();
    let most = stages.iter().copied().max_by_key(|s| {
        let attempts = app.stages[*s].attempts.iter();
        attempts.filter(|t| !t.succeeded).count()
    });
    Symptom {
        stage: most,
        lines: None,
        summary: text!(
            "丢失 {count}（{reason}{means}），{time} 的任务时间白费{repeated}",
            "{count} lost ({reason}{means}), and {time} of task time with them{repeated}",
            count = EXECUTOR.count(lost.len() as f64),
            means = means,
            time = Seconds(wasted_ms as f64 / 1000.0),
            repeated = repeated(app, &again),
        ),
        evidence: evidence(view, app, lost),
        saved: view.saved(move |works| {
            for s in &stages {
                drop_waste(&mut works[*s]);
            }
            for s in &again {
                works[*s].vertices.clear();
            }
        }),
        method: "schedule replayed without lost attempts and without stages that ran again",
        strength: 0.9,
    }
}

/// The stages that ran again, because their output was lost with an executor.
fn repeated(app: &Application, again: &[usize]) -> Text {
    let names: BTreeSet<String> = again
        .iter()
        .map(|s| format!("Stage {}", app.stages[*s].id))
        .collect();
    let names: Vec<String> = names.into_iter().take(MOST_STAGES).collect();
    match names.is_empty() {
        true => Text::default(),
        false => text!(
            "；已写出的 Shuffle 数据随之丢失，{names} 又运行了一次",
            "; shuffled data was lost with them, so {names} ran again",
            names = Names(&names),
        ),
    }
}

fn evidence(view: &View<'_>, app: &Application, lost: &[usize]) -> Vec<Evidence> {
    let begun = view.job.info.submitted_ms;
    let fact = |e: &usize| {
        let executor = &app.executors[*e];
        let reason = executor.reason.as_deref().unwrap_or("lost");
        let after = match executor.removed_ms.zip(begun) {
            Some((removed, begun)) if removed > begun => {
                let seconds = Seconds((removed - begun) as f64 / 1e3);
                text!(
                    "在提交 {seconds}后",
                    " {seconds} after the submission",
                    seconds = seconds
                )
            }
            _ => Text::default(),
        };
        fact! { view, "Removed Reason", reason, app.at_line(executor.line);
        "Executor {id} {after}丢失：{reason}", "executor {id} was lost{after}: {reason}", id = executor.id, after = after }
    };
    lost.iter().take(5).map(fact).collect()
}

fn came(view: &View<'_>, app: &Application) -> Vec<Evidence> {
    let Some(first) = app.executors.first() else {
        return Vec::new();
    };
    let n = app.executors.len() as f64;
    vec![
        fact! { view, "executors", n, "count", app.at_line(first.line);
        "{count} 都保留到最后或被正常释放", "{count} stayed to the end or were released", count = EXECUTOR.count(n) },
    ]
}
