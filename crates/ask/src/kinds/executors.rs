//! Executors: the lost ones, the meaning of exit codes, and the slowest one.

use job::exit_code;
use report::format::{Number, Seconds};
use report::measure::book;
use report::text;
use runs::ExecutorSummary;

use crate::intent::Intent;
use crate::said::Said;
use crate::word::Word::*;
use crate::word::{Cue, Thing};
use crate::{Asked, terms};

/// Executors named.
const SHOWN: usize = 6;

pub(super) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let is_code = reading.shows(Cue::ExitCode);
    let is_named = reading.has(Noun(Thing::Executor)) || reading.shows(Cue::Executor);
    let is_why = intent.asks_why() && !is_code;
    if run.summary.executors.is_empty() || !is_named && !is_code || is_why {
        return false;
    }
    let is_lost = reading.has(Lost) && is_named || is_code;
    match () {
        _ if is_lost && !reading.has(Arrived) => lost(said, run, is_code),
        _ if reading.shows(Cue::Slower) && !intent.is_polar() => slowest(said, run),
        _ => false,
    }
}

/// Says which executors were lost, when and why.
fn lost(said: &mut Said<'_>, run: &Asked<'_>, explains: bool) -> bool {
    let is_lost = |e: &&ExecutorSummary| e.values.value(&book::EXECUTOR_LOST).is_some();
    let lost: Vec<&ExecutorSummary> = run.summary.executors.iter().filter(is_lost).collect();
    let count = lost.len();
    if count == 0 {
        said.affirm(false);
        said.say(text!("没有丢失 executor", "No executor was lost"));
        return true;
    }
    let mut ids = Vec::new();
    let shown = lost.iter().take(SHOWN).map(|e| {
        let name = format!("executor {}", e.id);
        let value = e.values.value(&book::EXECUTOR_LOST);
        ids.extend(
            value
                .iter()
                .flat_map(|v| said.evidence_of(&book::EXECUTOR_LOST, v, &name, run.vertex())),
        );
        let reason = e.reason.clone().unwrap_or_default();
        let time = Seconds(value.map_or(0.0, |v| v.number()));
        text!(
            "{name}（提交后 {time}，{reason}）",
            "{name} ({time} after the submission, {reason})",
            time = time
        )
        .into(said.language())
    });
    let shown: Vec<String> = shown.collect();
    let shown = crate::said::names(&shown, said.language());
    said.affirm(true);
    said.cite(
        text!(
            "丢失的 Executor 共 {count} 个：{shown}",
            "Executors lost: {count}: {shown}"
        ),
        &ids,
    );
    let mut codes: Vec<i32> = lost
        .iter()
        .filter_map(|e| exit_code(e.reason.as_ref()?))
        .collect();
    codes.dedup();
    for code in codes.into_iter().filter(|_| explains) {
        terms::of_name(said, &format!("exit code {code}"));
    }
    true
}

/// Says which executor takes longest for a task.
fn slowest(said: &mut Said<'_>, run: &Asked<'_>) -> bool {
    let both = [&book::TASKS_RUN, &book::EXECUTOR_BUSY];
    let mean = |e: &ExecutorSummary| {
        let [tasks, busy] = both.map(|m| e.values.get(m));
        Some(busy? / tasks.filter(|n| *n > 0.0)?)
    };
    let known = run
        .summary
        .executors
        .iter()
        .filter_map(|e| Some((e, mean(e)?)));
    let mut known: Vec<(&ExecutorSummary, f64)> = known.collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some((first, _)) = known.first() else {
        return false;
    };
    let first = first.id.clone();
    let mut ids = Vec::new();
    let shown = known.iter().take(SHOWN).map(|(e, mean)| {
        let values = both.iter().filter_map(|m| Some((*m, e.values.value(m)?)));
        let values: Vec<_> = values.collect();
        let name = format!("executor {}", e.id);
        ids.extend(said.evidence_of_all(&values, &name, run.vertex()));
        let [tasks, busy] = both.map(|m| e.values.get(m).unwrap_or(0.0));
        text!(
            "{name} 执行 {tasks} 个 Task，共 {busy}，平均 {mean}",
            "{name} ran {tasks} tasks in {busy}, {mean} each on average",
            tasks = Number(tasks),
            busy = Seconds(busy / 1e3),
            mean = Seconds(*mean / 1e3)
        )
        .into(said.language())
    });
    let shown: Vec<String> = shown.collect();
    let shown = shown.join(said.language().select("；", "; "));
    said.cite(
        text!(
            "executor {first} 最慢：{shown}",
            "Executor {first} is the slowest: {shown}"
        ),
        &ids,
    );
    true
}
