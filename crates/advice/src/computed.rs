//! Values of settings, computed from the run: partitions, memory, executors, sizes.

use job::model::{Application, Executor};
use report::format::{Bytes, EXECUTOR, Number, Share, TASK};
use report::{Text, text};

use crate::case::Case;
use crate::setting::{
    ADVISORY, ENABLED, MEMORY, MIB, PARTITIONS, Wanted, memory, size, size_above,
};
use diagnosis::configuration::{BROADCAST, DEFAULT_BROADCAST, bytes};
use diagnosis::measurements::tasks::By;

const DEFAULT_PARALLELISM: &str = "spark.default.parallelism";
const SPLIT: &str = "spark.sql.files.maxPartitionBytes";
const FRACTION: &str = "spark.memory.fraction";
const FORCED_SPILL: &str = "spark.shuffle.spill.numElementsForceSpillThreshold";
const COALESCE: &str = "spark.sql.adaptive.coalescePartitions.enabled";
const PARALLELISM_FIRST: &str = "spark.sql.adaptive.coalescePartitions.parallelismFirst";
const LEAST_PARTITION: &str = "spark.sql.adaptive.coalescePartitions.minPartitionSize";

/// Usual bytes of a task's input.
const TASK_BYTES: f64 = 128.0 * MIB;

/// Room above a measured peak.
const HEADROOM: f64 = 1.2;

/// The same for a heap: garbage collection needs a third of it free.
const HEAP_HEADROOM: f64 = 1.5;

/// Largest growth of memory or partitions at once.
const MOST: f64 = 16.0;

/// With less memory for a task, more partitions don't end spilling: each still keeps buffers.
const LEAST_ROOM: f64 = 16.0 * MIB;

/// Heap that Spark reserves for itself.
const RESERVED: f64 = 300.0 * MIB;

/// Smallest heap of an executor that Spark accepts comfortably.
const LEAST_HEAP: f64 = 1024.0 * MIB;

/// Partitions of a shuffle for tasks of the usual size, at least one for each slot.
pub(crate) fn more_partitions(case: &Case<'_>, by: Option<By>) -> Vec<Wanted> {
    let found = || {
        let stage = case.stage?;
        let (tasks, run) = (case.view.vertices(stage)?, case.view.run.as_ref()?);
        Some((tasks as f64, run.tokens as f64, exchanged(case)))
    };
    let Some((tasks, slots, bytes)) = found() else {
        return Vec::new();
    };
    let count = slots * (bytes / TASK_BYTES / slots).ceil().max(1.0);
    let reason = text!(
        "{tasks} 处理 {bytes}，而有 {slots} 个槽位",
        "{tasks} for {bytes}, with {slots} slots",
        tasks = TASK.count(tasks),
        bytes = Bytes(bytes),
        slots = Number(slots),
    );
    let merged = || {
        let each = bytes / count;
        let smaller = text!(
            "{bytes} 分成 {count} 个分区",
            "{bytes} in {count} partitions",
            bytes = Bytes(bytes),
            count = Number(count),
        );
        // partitions are merged up to the larger one of both
        let keys: &[&'static str] = match case.is_on(PARALLELISM_FIRST) {
            true => &[LEAST_PARTITION],
            false => &[ADVISORY, LEAST_PARTITION],
        };
        let smaller_than_now = |key: &&&'static str| case.number(key).is_none_or(|now| each < now);
        let lowered = keys.iter().filter(smaller_than_now);
        lowered
            .filter_map(|key| case.set(key, size(each), smaller.clone()))
            .collect::<Vec<_>>()
    };
    let partitions = || case.set(PARTITIONS, count, reason.clone());
    match by {
        Some(By::Setting) if coalesces(case) => partitions().into_iter().chain(merged()).collect(),
        Some(By::Setting) => partitions().into_iter().collect(),
        Some(By::Merged) => {
            let raised = case.number(PARTITIONS).is_some_and(|now| now < count);
            let raised = raised.then(partitions).flatten();
            merged().into_iter().chain(raised).collect()
        }
        Some(By::Splits) => smaller_splits(case, slots).into_iter().collect(),
        Some(By::Rdd) if case.edges().next().is_some() && sets_tasks_of_rdds(case, tasks) => {
            let set = case.set(DEFAULT_PARALLELISM, count, reason);
            set.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Fewer partitions: as many as the work needs.
pub(crate) fn fewer_partitions(case: &Case<'_>, count: usize) -> Vec<Wanted> {
    let tasks = case
        .stage
        .and_then(|stage| case.view.vertices(stage))
        .unwrap_or(0);
    let reason = text!(
        "{tasks} 的工作放得进 {count} 个",
        "the work of {tasks} fits into {count}",
        tasks = TASK.count(tasks as f64),
        count = Number(count as f64),
    );
    if case.edges().next().is_none() {
        let reason = text!(
            "它比默认值小得多，文件因此被切成很多小块",
            "it is far below the default, so that files are split into many small pieces",
        );
        let splits = to_default(case, SPLIT, reason);
        let larger = splits.or_else(|| larger_splits(case, count));
        return larger.into_iter().collect();
    }
    if !case.is_of_sql() {
        let sets = sets_tasks_of_rdds(case, tasks as f64);
        let fewer = sets.then(|| case.set(DEFAULT_PARALLELISM, count, reason));
        return fewer.flatten().into_iter().collect();
    }
    // the code may set the number, with `repartition`
    if case
        .number(PARTITIONS)
        .is_none_or(|set| (tasks as f64) > set)
    {
        return Vec::new();
    }
    let merging = text!(
        "Spark 据此在运行时合并小分区",
        "Spark then merges small partitions at run time",
    );
    let knows = case.release().is_some_and(|version| version >= 302) && !case.is_streaming();
    let off = [ENABLED, COALESCE]
        .into_iter()
        .filter(|key| knows && !case.is_on(key));
    let mut found: Vec<Wanted> = off
        .filter_map(|key| case.set(key, "true", merging.clone()))
        .collect();
    found.extend(case.set(PARTITIONS, count, reason));
    found
}

/// Whether a stage of RDDs has as many tasks as the default parallelism; else its code or a library sets their number.
fn sets_tasks_of_rdds(case: &Case<'_>, tasks: f64) -> bool {
    let slots = case.view.run.as_ref().map(|run| run.tokens as f64);
    let in_force = case.number(DEFAULT_PARALLELISM).or(slots);
    in_force.is_none_or(|n| n == tasks)
}

/// One core for each task, if tasks reserve several: a function of rows uses one, or waits.
pub(crate) fn one_core(case: &Case<'_>) -> Option<Wanted> {
    const TASK_CORES: &str = "spark.task.cpus";
    let now = case.number(TASK_CORES).filter(|now| *now > 1.0)?;
    let reason = text!(
        "每个任务占 {now} 个核，而逐行的函数只用一个；同时运行的任务可以多到 {now} 倍",
        "each task reserves {now} cores, and a function of rows uses one; {now} times as many tasks could run at once",
        now = Number(now),
    );
    case.set(TASK_CORES, 1, reason)
}

/// Splits of files for a task in each slot.
fn smaller_splits(case: &Case<'_>, slots: f64) -> Option<Wanted> {
    let scans = diagnosis::measurements::tasks::scans_of(case.view, case.stage?);
    let bytes = scans.map(|scan| scan.bytes).fold(0.0, f64::max);
    let reason = text!(
        "{bytes} 由 {slots} 个槽位读取",
        "{slots} slots then read the {bytes}",
        bytes = Bytes(bytes),
        slots = Number(slots),
    );
    case.set(SPLIT, size_above(bytes / slots), reason)
}

/// A lower cost of opening a file, so that a task reads more of them.
fn larger_splits(case: &Case<'_>, count: usize) -> Option<Wanted> {
    let scan = diagnosis::measurements::tasks::scans_of(case.view, case.stage?)
        .max_by(|a, b| a.files.total_cmp(&b.files))?;
    let most = case.number(SPLIT)?;
    let open = (count as f64 * most - scan.bytes) / scan.files.max(1.0);
    let now = case.number("spark.sql.files.openCostInBytes")?;
    if open >= now || open <= 0.0 {
        return None;
    }
    let reason = text!(
        "{files} 个文件共 {bytes}，由 {count} 个 Task 读取",
        "{count} tasks then read the {files} files of {bytes}",
        files = Number(scan.files),
        bytes = Bytes(scan.bytes),
        count = Number(count as f64),
    );
    case.set("spark.sql.files.openCostInBytes", size(open), reason)
}

/// The defaults of settings that make tasks spill although there is memory.
fn unforced(case: &Case<'_>) -> Vec<Wanted> {
    let reason = text!(
        "比默认值小得多，Task 因此落盘",
        "it is far below the default, so that tasks spill",
    );
    let keys = [FRACTION, FORCED_SPILL].into_iter();
    keys.filter_map(|key| to_default(case, key, reason.clone()))
        .collect()
}

/// The default of a setting that is far below it.
fn to_default(case: &Case<'_>, key: &'static str, reason: Text) -> Option<Wanted> {
    let (default, _) = case.job.spark.as_deref()?.default_of(key)?;
    let usual = bytes(&default)?;
    let is_low = case.number(key).is_some_and(|now| now < usual / 2.0);
    is_low.then(|| case.set(key, default, reason))?
}

/// Memory or partitions for tasks that spill, by the bytes that they keep and have.
pub(crate) fn spilling(case: &Case<'_>) -> Vec<Wanted> {
    let unforced = unforced(case);
    if !unforced.is_empty() {
        return unforced;
    }
    let found = (|| {
        let (stage, app) = (case.stage?, case.job.spark.as_deref()?);
        let of_task = &case.view.facts[stage].per_vertex;
        let spilled = of_task.memory_spilled.as_ref()?.value.max;
        let kept = of_task
            .peak_memory
            .as_ref()
            .map_or(0.0, |peak| peak.value.max);
        let room = room_of_task(app)?;
        (spilled > 0.0).then_some((stage, app, spilled + kept, room))
    })();
    let Some((stage, app, need, room)) = found else {
        return Vec::new();
    };
    let growth = (need * HEADROOM / room).clamp(HEADROOM, MOST);
    let reason = text!(
        "最大的 Task 要 {need}，只有 {room}",
        "the largest task needs {need} and has {room}",
        need = Bytes(need),
        room = Bytes(room),
    );
    let tasks = case.view.vertices(stage).unwrap_or(1) as f64;
    let slots = case.view.run.as_ref().map_or(1.0, |run| run.tokens as f64);
    let count = slots * (tasks * growth / slots).ceil();
    let by_setting = app.stages[stage].execution.is_some()
        && app.stages[stage]
            .reads
            .iter()
            .filter_map(|x| app.exchanges.get(*x))
            .all(|x| x.asked_for().is_none());
    if case.edges().next().is_none() || !by_setting || tasks <= 1.0 || room < LEAST_ROOM {
        return more_memory(case, growth, reason).into_iter().collect();
    }
    let mut found: Vec<Wanted> = Vec::new();
    if case.number(PARTITIONS).is_none_or(|now| now < count) {
        found.extend(case.set(PARTITIONS, count, reason.clone()));
    }
    let (bytes, each) = (exchanged(case), exchanged(case) / count);
    if coalesces(case) && bytes > 0.0 && case.number(ADVISORY).is_some_and(|now| now > each) {
        found.extend(case.set(ADVISORY, size(each), reason));
    }
    found
}

/// Heap for tasks that collect garbage, by its peak.
pub(crate) fn heap(case: &Case<'_>) -> Option<Wanted> {
    let now = case.number(MEMORY)?;
    let executors = &case.job.spark.as_deref()?.executors;
    let peak = executors.iter().filter_map(|e| e.heap_peak).max();
    let facts = case.stage.map(|stage| &case.view.facts[stage].per_vertex);
    let collecting = facts.and_then(|of| {
        let (gc, run) = (of.gc_ms.as_ref()?, of.task_ms.as_ref()?);
        (run.value.total > 0.0).then_some(gc.value.total / run.value.total)
    });
    let reason = match (peak, collecting) {
        (Some(peak), Some(share)) => text!(
            "堆最多用到 {peak}，垃圾回收占 Task 时间的 {share}",
            "the heap peaks at {peak}, and garbage collection takes {share} of the tasks' time",
            peak = Bytes(peak as f64),
            share = Share(share),
        ),
        (Some(peak), None) => text!(
            "堆最多用到 {peak}",
            "the heap peaks at {peak}",
            peak = Bytes(peak as f64)
        ),
        (None, Some(share)) => text!(
            "垃圾回收占 Task 时间的 {share}",
            "garbage collection takes {share} of the tasks' time",
            share = Share(share),
        ),
        (None, None) => text!("堆已用完", "the heap is used up"),
    };
    let wanted = peak.map_or(now, |peak| now.max(peak as f64)) * HEAP_HEADROOM;
    case.set(memory_key(case), memory(wanted), reason)
}

/// Executor memory that is as many times larger.
fn more_memory(case: &Case<'_>, growth: f64, reason: Text) -> Option<Wanted> {
    let now = case.number(memory_key(case))?;
    let pool = (now - RESERVED).max(now / 4.0);
    case.set(memory_key(case), memory(pool * growth + RESERVED), reason)
}

/// Executor memory for its peak of use.
pub(crate) fn less_memory(case: &Case<'_>) -> Option<Wanted> {
    let used = case.evidence_number("memory in use")?;
    let fraction = case.number(FRACTION)?.clamp(0.1, 1.0);
    let heap = (used * HEAP_HEADROOM / fraction + RESERVED).max(LEAST_HEAP);
    let reason = text!(
        "Task 和缓存最多用到 {used}，另留一半余量",
        "tasks and cached data use {used} at most; half as much is left as room",
        used = Bytes(used),
    );
    let is_less = case.number(MEMORY).is_some_and(|now| heap < now);
    is_less
        .then(|| case.set(MEMORY, memory(heap), reason))
        .flatten()
}

/// The memory of the process that runs the tasks.
fn memory_key(case: &Case<'_>) -> &'static str {
    let app = case.job.spark.as_deref();
    let local = app.is_some_and(|app| app.executors.iter().all(|e| e.id == "driver"));
    if local { "spark.driver.memory" } else { MEMORY }
}

/// Memory that a task has if all slots of its executor are taken.
fn room_of_task(app: &Application) -> Option<f64> {
    let room = |e: &Executor| Some(e.memory_bytes? as f64 / f64::from(e.slots(app.task_cores)));
    let rooms = app
        .executors
        .iter()
        .filter(|e| e.tasks > 0)
        .filter_map(room);
    rooms.reduce(f64::min).filter(|room| *room > 0.0)
}

/// Bytes that the stage reads from shuffles.
fn exchanged(case: &Case<'_>) -> f64 {
    let read = case.stage.and_then(|stage| {
        let read = case.view.facts[stage]
            .per_vertex
            .exchange_bytes_read
            .as_ref()?;
        Some(read.value.total)
    });
    read.unwrap_or(0.0)
}

/// Whether adaptive execution merges small partitions.
fn coalesces(case: &Case<'_>) -> bool {
    case.is_on(ENABLED) && case.is_on(COALESCE)
}

/// The limit for broadcasts at which Spark broadcasts the smallest side of the stage's join automatically.
pub(crate) fn broadcast_limit(case: &Case<'_>) -> Option<Wanted> {
    let app = case.job.spark.as_deref()?;
    let read = app.stages.get(case.stage?)?.reads.iter();
    let sizes = read.filter_map(|x| app.exchanges.get(*x)?.data_bytes);
    let small = sizes.filter(|bytes| *bytes > 0.0).reduce(f64::min)?;
    let limit = (small * HEADROOM).max(DEFAULT_BROADCAST);
    if case.number(BROADCAST).is_some_and(|now| now >= limit) {
        return None;
    }
    let reason = text!(
        "小的一侧有 {size}",
        "the small side has {size}",
        size = Bytes(small)
    );
    case.set(BROADCAST, size_above(limit), reason)
}

/// The limit for broadcasts below a side that is too large.
pub(crate) fn no_broadcast(case: &Case<'_>) -> Option<Wanted> {
    let app = case.job.spark.as_deref()?;
    let broadcasts = app.exchanges.iter().filter(|x| x.is_broadcast());
    let large = broadcasts.filter_map(|x| x.data_bytes).reduce(f64::max)?;
    let limit = (large / 2.0).min(case.number(BROADCAST)?);
    let reason = text!(
        "广播的一侧有 {size}",
        "the broadcast side has {size}",
        size = Bytes(large)
    );
    let by_size = case.number(BROADCAST).is_some_and(|now| now > limit);
    by_size
        .then(|| case.set(BROADCAST, size(limit), reason))
        .flatten()
}

/// Another number of executors, with the setting of the cluster manager.
pub(crate) fn executors(case: &Case<'_>, count: usize, reason: Text) -> Option<Wanted> {
    let app = case.job.spark.as_deref()?;
    let by_setting = !app.is_databricks() && app.executors.iter().any(|e| e.id != "driver");
    by_setting.then_some(())?;
    if app.idle_timeout_ms().is_some() {
        return case.set("spark.dynamicAllocation.maxExecutors", count, reason);
    }
    let master = app.setting(None, "spark.master").unwrap_or_default();
    if master.starts_with("spark://") || app.setting(None, "spark.cores.max").is_some() {
        let cores = app.executors.iter().filter_map(|e| e.cores).max()? as usize;
        return case.set("spark.cores.max", count * cores, reason);
    }
    let key = "spark.executor.instances";
    let held = case
        .view
        .curve()
        .map(|curve| (curve.now.to_string(), "log".to_owned()));
    case.set_from(key, case.current(key).or(held), count, reason)
}

/// Executors that do: the run takes hardly longer with them.
pub(crate) fn enough_executors(case: &Case<'_>) -> Option<Wanted> {
    let curve = case.view.curve()?;
    if curve.would_do >= curve.now {
        return None;
    }
    let reason = text!(
        "重演显示 {count} 就够，最多慢 5 %",
        "by replay, {count} would do: at most 5 % longer",
        count = EXECUTOR.count(curve.would_do as f64),
    );
    executors(case, curve.would_do, reason)
}

/// Executors to keep, so that a stage finds them; without dynamic allocation, fewer of them, which start earlier.
pub(crate) fn kept_executors(case: &Case<'_>) -> Option<Wanted> {
    let app = case.job.spark.as_deref()?;
    if app.idle_timeout_ms().is_none() {
        return enough_executors(case);
    }
    let curve = case.view.curve()?;
    let reason = text!(
        "它们在第一个 Stage 之前就绪，并一直保留",
        "they are there before the first stage, and stay",
    );
    case.set(
        "spark.dynamicAllocation.minExecutors",
        curve.would_do,
        reason,
    )
}

/// Executors up to twice the present number, as far as they make the run faster.
pub(crate) fn more_executors(case: &Case<'_>) -> Option<Wanted> {
    let curve = case.view.curve()?;
    let count = (curve.now * 2).min(curve.enough);
    let point = curve.points.iter().find(|p| p.count == count)?;
    let now = curve.points.iter().find(|p| p.count == curve.now)?;
    if count <= curve.now {
        return None;
    }
    let reason = text!(
        "重演显示运行时间为现在的 {share}",
        "by replay, the run takes {share} of its time",
        share = Share(point.seconds / now.seconds),
    );
    executors(case, count, reason)
}
