//! Tasks of a stage in the plan of an application: the files that they read, the reason for a
//! small number, the cost of spilling.

use job::facts::Role;
use job::model::{Application, ExchangeKind};

use super::configuration::set_bytes;
use super::contention::{contention, python_start_ms};
use crate::impact::{Saved, regroup, scale_run};
use crate::scans::{Scanned, scanned};
use crate::view::View;
use report::format::{Bytes, FILE, Seconds};
use report::{Evidence, Text, text};

/// Bytes of memory that a core serializes, compresses, writes and reads back in a second when an
/// operator spills.
const SPILLED_BYTES_PER_S: f64 = 100e6;

/// Spark's own defaults of `spark.sql.files.maxPartitionBytes` and `openCostInBytes`.
const MAX_SPLIT: f64 = 128.0 * 1024.0 * 1024.0;
const OPEN_COST: f64 = 4.0 * 1024.0 * 1024.0;

/// Least ratio of a task's bytes to Spark's default for a task.
const OVERSIZED: f64 = 1.5;

/// Least number of files worth merging: fewer are cheap to open.
const MANY_FILES: f64 = 50.0;

/// Least share of opening files in Spark's own estimate of the scan.
const MOSTLY_OPENING: f64 = 0.9;

/// Scans of files in a stage.
pub(crate) fn scans_of<'a>(view: &View<'a>, stage: usize) -> impl Iterator<Item = Scanned<'a>> {
    let own = view.scans.get(&stage).into_iter().flatten();
    own.filter_map(|node| scanned(node))
}

/// A stage with fewer tasks than slots: the reason, and the possible number of tasks.
#[derive(Debug)]
pub(crate) struct Few {
    pub(crate) tasks: usize,
    pub(crate) fitting: usize,
    pub(crate) by: By,
    pub(crate) why: Text,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) saved: Option<Saved>,
}

/// What sets the number of tasks of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// Files that cannot be split.
    Files,
    /// A `repartition` in the code.
    Code,
    /// `spark.sql.shuffle.partitions`
    Setting,
    /// Adaptive execution, by bytes.
    Merged,
    /// The partitions of an RDD.
    Rdd,
}

/// The number's origin, a sentence about it, and the evidence.
type Reason = (By, Text, Vec<Evidence>);

/// A stage that leaves slots idle for a fixable reason: files that cannot be split, or
/// an exchange into fewer partitions than slots that the code or the configuration asks for.
pub(crate) fn few(view: &View<'_>, app: &Application, stage: usize) -> Option<Few> {
    let slots = view.run.as_ref()?.tokens;
    let tasks = view.vertices(stage)? as usize;
    if tasks * 2 > slots {
        return None;
    }
    let by_files = unsplittable(view, app, stage, tasks, slots);
    let asked = || asked_for(view, app, stage, tasks);
    let (by, why, evidence) = by_files
        .or_else(asked)
        .or_else(|| dear_rows(view, app, stage, tasks))?;
    Some(Few {
        tasks,
        fitting: slots,
        by,
        why,
        evidence,
        saved: view.saved_in(stage, move |stage| regroup(stage, slots, 0.0)),
    })
}

/// Spark splits files so that every slot has a task, down to the cost of opening a file. A task that reads
/// more had a file that cannot be split.
fn unsplittable(
    view: &View<'_>,
    app: &Application,
    stage: usize,
    tasks: usize,
    slots: usize,
) -> Option<Reason> {
    let scan = scans_of(view, stage).max_by(|a, b| a.bytes.total_cmp(&b.bytes))?;
    let execution = app.stages[stage].execution;
    let open = open_cost(app, execution);
    let most = set_bytes(app, execution, "spark.sql.files.maxPartitionBytes").unwrap_or(MAX_SPLIT);
    let split = ((scan.bytes + scan.files * open) / slots as f64)
        .max(open)
        .min(most);
    let one_each = scan.files <= tasks as f64;
    if !one_each || scan.bytes / tasks as f64 <= split * OVERSIZED {
        return None;
    }
    let source = app.at_line(app.stages[stage].line);
    let sentence = text!(
        "{stage} 读取 {files}，共 {size}",
        "{stage} reads {files} of {size} in all",
        stage = view.name(stage),
        files = FILE.count(scan.files),
        size = Bytes(scan.bytes),
    );
    let fact = view.number(
        "number of files read",
        scan.files,
        "files",
        source,
        sentence,
    );
    let why = text!(
        "文件无法切分，每个文件只能由一个任务读取",
        "its files cannot be split, so each is read by one task",
    );
    Some((By::Files, why, vec![fact]))
}

/// Bytes that Spark could read in the time that it needs to open a file.
fn open_cost(app: &Application, execution: Option<usize>) -> f64 {
    set_bytes(app, execution, "spark.sql.files.openCostInBytes").unwrap_or(OPEN_COST)
}

fn asked_for(view: &View<'_>, app: &Application, stage: usize, tasks: usize) -> Option<Reason> {
    let read = &app.stages[stage].reads;
    let mut exchanges = read.iter().filter_map(|e| app.exchanges.get(*e));
    let by_code = |o: &str| o.starts_with("REPARTITION_BY_NUM") || o.starts_with("REBALANCE");
    if exchanges.any(|e| e.origin.as_deref().is_some_and(by_code)) {
        let why = text!("分区数由代码指定", "the code sets the partitions");
        return Some((By::Code, why, Vec::new()));
    }
    let name = "spark.sql.shuffle.partitions";
    let set = app.setting(app.stages[stage].execution, name)?;
    let gathered = view
        .inputs(stage)
        .any(|e| e.exchange == ExchangeKind::Gather);
    if gathered || read.is_empty() || set.trim().parse::<usize>().ok()? != tasks {
        return None;
    }
    let source = app.at_line(app.stages[stage].line);
    let sentence = text!("{name} 为 {set}", "{name} is {set}");
    let why = text!("{name} 设为 {set}", "{name} is set to {set}");
    Some((
        By::Setting,
        why,
        vec![view.word(name, set, source, sentence)],
    ))
}

/// Task time in seconds that a task of the usual size rarely exceeds.
const LONG_TASK_S: f64 = 5.0;

/// Reason for a stage with few, long tasks: their number was derived from bytes or fixed, although
/// rows that take long to process are worth a task per slot. Rows that must be in one place or
/// are uneven are another cause.
fn dear_rows(view: &View<'_>, app: &Application, stage: usize, tasks: usize) -> Option<Reason> {
    let record = &app.stages[stage];
    let longest = view.run.as_ref()?.stages[stage].vertices.iter();
    let longest = longest.map(|v| v.run_s).fold(0.0, f64::max);
    let single = view
        .inputs(stage)
        .any(|e| e.exchange == ExchangeKind::Gather);
    let starting = python_start_ms(view, stage) / 1000.0 / tasks.max(1) as f64;
    if longest - starting < LONG_TASK_S || single || view.is_uneven(stage) {
        return None;
    }
    let read = record.reads.iter().filter_map(|e| app.exchanges.get(*e));
    let mut merged = read.filter_map(|e| e.read.as_deref());
    let (by, why) = if merged.any(|how| how.contains("coalesced")) {
        let why = text!(
            "自适应执行按字节数合并了分区，而每行的处理很费时",
            "adaptive execution merged the partitions by their bytes, and the rows take long to process",
        );
        (By::Merged, why)
    } else if record.execution.is_none() && record.partitions as usize == tasks {
        let why = text!("RDD 只有这么多分区", "the RDD has no more partitions");
        (By::Rdd, why)
    } else {
        return None;
    };
    let sentence = text!(
        "{stage} 的任务最长运行 {time}",
        "the longest task of {stage} runs {time}",
        stage = view.name(stage),
        time = Seconds(longest),
    );
    let source = app.at_line(record.line);
    let fact = view.number("longest task", longest, "s", source, sentence);
    Some((by, why, vec![fact]))
}

/// Files of a stage that cost more to open than to read, by Spark's own estimate.
pub(crate) fn small_files<'a>(
    view: &View<'a>,
    app: &Application,
    stage: usize,
) -> Option<Scanned<'a>> {
    let open = open_cost(app, app.stages[stage].execution);
    scans_of(view, stage).find(|s| {
        let opening = s.files * open;
        s.files >= MANY_FILES && opening / (opening + s.bytes) >= MOSTLY_OPENING
    })
}

/// Usual milliseconds for requesting and opening a file, if no operator measures it.
const OPEN_MS: f64 = 5.0;

/// Saving with the same bytes in few files: the share of the scan that is opening files. Formats that
/// are read row by row do not record the time of their scan.
pub(crate) fn saved_by_merging(
    view: &View<'_>,
    stage: usize,
    scanned: &Scanned<'_>,
) -> Option<Saved> {
    let operators = view.facts[stage].operators.iter();
    let scans = operators.filter(|o| o.role == Role::StoredInput);
    let timed: Vec<f64> = scans
        .filter_map(|o| Some(o.own_ms.as_ref()?.value))
        .collect();
    let opening = match timed.is_empty() {
        true => scanned.files * OPEN_MS * contention(view),
        false => timed.iter().sum::<f64>() * MOSTLY_OPENING,
    };
    let fraction = view.fraction(stage, opening).min(MOSTLY_OPENING);
    view.saved_in(stage, move |stage| scale_run(stage, 1.0 - fraction))
}

/// Bytes of memory that a stage spilled, and the cost as a share of its run time.
pub(crate) fn spilled(view: &View<'_>, stage: usize) -> Option<(f64, f64)> {
    let spread = view.facts[stage].per_vertex.memory_spilled.as_ref()?;
    let run_s = view.run.as_ref()?.stages[stage].run_s();
    let seconds = spread.value.total / SPILLED_BYTES_PER_S * contention(view);
    Some((
        spread.value.total,
        (seconds / run_s.max(f64::MIN_POSITIVE)).min(0.9),
    ))
}
