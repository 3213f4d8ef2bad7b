//! Tasks of a stage in the plan of an application: the files that they read, the reason for a
//! small number, the cost of spilling.

use job::facts::Role;
use job::model::{Application, ExchangeKind};

use super::contention::{contention, python_start_ms};
use crate::configuration::{OPEN_COST, PARTITIONS, SPLIT, bytes_in_force};
use crate::facts::fact;
use crate::impact::{Saved, regroup, scale_run};
use crate::scans::{COALESCE, Scanned, scanned};
use crate::view::View;
use report::format::{Bytes, FILE, Seconds};
use report::{Evidence, Text, text};

/// Bytes of memory that a core serializes, compresses, writes and reads back in a second when an
/// operator spills.
const SPILLED_BYTES_PER_S: f64 = 100e6;

/// Least ratio of a task's bytes to Spark's default for a task.
const OVERSIZED: f64 = 1.5;

/// Least number of files worth merging: fewer are cheap to open.
const MANY_FILES: f64 = 50.0;

/// Least share of opening files in Spark's own estimate of the scan.
const MOSTLY_OPENING: f64 = 0.9;

pub fn scans_of<'a>(view: &View<'a>, stage: usize) -> impl Iterator<Item = Scanned<'a>> {
    let own = view.scans.get(&stage).into_iter().flatten();
    own.filter_map(|node| scanned(node))
}

/// A stage with fewer tasks than slots: the reason, and the possible number of tasks.
#[derive(Debug)]
pub(crate) struct Few {
    pub(crate) tasks: usize,
    pub(crate) fitting: usize,
    pub(crate) origin: Origin,
    pub(crate) saved: Option<Saved>,
}

/// The place that sets the number of tasks of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Files that cannot be split.
    Files,
    /// `spark.sql.files.minPartitionNum`: files could be split further.
    Splits,
    /// A `coalesce(n)` in the code.
    Coalesce,
    /// A `repartition(n)` in the code.
    Repartition,
    /// `spark.sql.shuffle.partitions`
    Setting,
    /// Adaptive execution, by bytes.
    Merged,
    /// The partitions of an RDD.
    Rdd,
}

/// The place that sets the number of tasks of a stage, a sentence about it, and the evidence.
#[derive(Debug)]
pub struct Origin {
    pub by: By,
    pub(crate) why: Text,
    pub(crate) evidence: Vec<Evidence>,
}

impl Origin {
    fn new(by: By, why: Text, evidence: impl IntoIterator<Item = Evidence>) -> Origin {
        Origin {
            by,
            why,
            evidence: evidence.into_iter().collect(),
        }
    }
}

/// The place that sets the number of tasks of a stage with fewer tasks than slots, if the log shows it.
pub fn origin(view: &View<'_>, app: &Application, stage: usize) -> Option<Origin> {
    let slots = view.run.as_ref()?.tokens;
    let tasks = view.vertices(stage)? as usize;
    coalesced(view, app, stage, tasks)
        .or_else(|| unsplittable(view, app, stage, tasks, slots))
        .or_else(|| asked_for(view, app, stage, tasks))
        .or_else(|| merged(app, stage, tasks))
}

/// A stage that leaves slots idle for a fixable reason. If the number of tasks follows from bytes or an RDD, only long
/// tasks are worth more of them.
pub(crate) fn few(view: &View<'_>, app: &Application, stage: usize) -> Option<Few> {
    let slots = view.run.as_ref()?.tokens;
    let tasks = view.vertices(stage)? as usize;
    if tasks * 2 > slots {
        return None;
    }
    let mut origin = origin(view, app, stage)?;
    if matches!(origin.by, By::Merged | By::Rdd) {
        origin.evidence.push(long_task(view, app, stage, tasks)?);
    }
    Some(Few {
        tasks,
        fitting: slots,
        origin,
        saved: view.saved_in(stage, move |stage| regroup(stage, slots, 0.0)),
    })
}

/// A `coalesce(n)` whose tasks also do the work before it: nothing is exchanged.
fn coalesced(view: &View<'_>, app: &Application, stage: usize, tasks: usize) -> Option<Origin> {
    let record = &app.stages[stage];
    let nodes = view.scans.get(&stage)?;
    let node = nodes.iter().find(|n| n.name == COALESCE)?;
    let count: usize = node.text.rsplit(' ').next()?.parse().ok()?;
    (count == tasks).then_some(())?;
    let call = format!("coalesce({count})");
    let why = text!(
        "代码中的 {call} 也合并了它之前的工作",
        "{call} in the code also merges the work before it"
    );
    let fact = fact! { view, "plan operator", &node.text, app.at_line(record.line);
    "{stage} 在计划中有 {call}", "the plan of {stage} has {call}", stage = view.name(stage) };
    Some(Origin::new(By::Coalesce, why, [fact]))
}

/// Spark splits files so that every slot has a task, down to the cost of opening a file. A task that reads
/// more had a file that cannot be split.
fn unsplittable(
    view: &View<'_>,
    app: &Application,
    stage: usize,
    tasks: usize,
    slots: usize,
) -> Option<Origin> {
    let scan = scans_of(view, stage).max_by(|a, b| a.bytes.total_cmp(&b.bytes))?;
    let execution = app.stages[stage].execution;
    let open = bytes_in_force(app, execution, OPEN_COST)?;
    let most = bytes_in_force(app, execution, SPLIT)?;
    let split_for = |parts: f64| {
        let each = (scan.bytes + scan.files * open) / parts.max(1.0);
        each.max(open).min(most)
    };
    let split = split_for(slots as f64);
    let one_each = scan.files <= tasks as f64;
    if !one_each || scan.bytes / tasks as f64 <= split * OVERSIZED {
        return None;
    }
    let source = app.at_line(app.stages[stage].line);
    let fact = fact! { view, "number of files read", scan.files, "files", source;
    "{stage} 读取 {files}，共 {size}", "{stage} reads {files} of {size} in all", stage = view.name(stage), files = FILE.count(scan.files), size = Bytes(scan.bytes) };
    let key = "spark.sql.files.minPartitionNum";
    let stated = app.setting(execution, key);
    let parts = stated.and_then(|stated| stated.trim().parse::<f64>().ok());
    if let Some(parts) = parts.filter(|n| scan.bytes / tasks as f64 <= split_for(*n) * OVERSIZED) {
        let why = text!(
            "{key} 设为 {parts}，Spark 因此不再切分文件",
            "{key} is set to {parts}, so that Spark does not split the files further",
            parts = parts.to_string(),
        );
        return Some(Origin::new(By::Splits, why, [fact]));
    }
    let why = text!(
        "文件无法切分，每个文件只能由一个任务读取",
        "its files cannot be split, so each is read by one task",
    );
    Some(Origin::new(By::Files, why, [fact]))
}

fn asked_for(view: &View<'_>, app: &Application, stage: usize, tasks: usize) -> Option<Origin> {
    let read = &app.stages[stage].reads;
    let mut exchanges = read.iter().filter_map(|e| app.exchanges.get(*e));
    // REPARTITION_WITH_NUM before Spark 3.2
    let by_code =
        |o: &str| o.starts_with("REPARTITION") && o.ends_with("_NUM") || o.starts_with("REBALANCE");
    if exchanges.any(|e| e.origin.as_deref().is_some_and(by_code)) {
        let call = format!("repartition({tasks})");
        let why = text!(
            "代码中的 {call} 规定了分区数",
            "{call} in the code sets the partitions"
        );
        return Some(Origin::new(By::Repartition, why, None));
    }
    let name = PARTITIONS;
    let set = app.setting(app.stages[stage].execution, name)?;
    let gathered = view
        .inputs(stage)
        .any(|e| e.exchange == ExchangeKind::Gather);
    // logs before Spark 2.0 have no plans
    let shuffled = !read.is_empty() || view.inputs(stage).any(View::is_shuffle);
    if gathered || !shuffled || set.trim().parse::<usize>().ok()? != tasks {
        return None;
    }
    let source = app.at_line(app.stages[stage].line);
    let why = text!("{name} 设为 {set}", "{name} is set to {set}");
    let fact = fact! { view, name, set, source;
    "{name} 为 {set}", "{name} is {set}" };
    Some(Origin::new(By::Setting, why, [fact]))
}

/// A number of tasks that follows from bytes, or from the partitions of an RDD.
fn merged(app: &Application, stage: usize, tasks: usize) -> Option<Origin> {
    let record = &app.stages[stage];
    let read = record.reads.iter().filter_map(|e| app.exchanges.get(*e));
    let mut merged = read.filter_map(|e| e.read.as_deref());
    if merged.any(|how| how.contains("coalesced")) {
        let why = text!(
            "自适应执行按字节数合并了分区，而每行的处理很费时",
            "adaptive execution merged the partitions by their bytes, and the rows take long to process",
        );
        return Some(Origin::new(By::Merged, why, None));
    }
    let of_rdd = record.execution.is_none() && record.partitions as usize == tasks;
    let why = text!("RDD 只有这么多分区", "the RDD has no more partitions");
    of_rdd.then(|| Origin::new(By::Rdd, why, None))
}

/// Task time in seconds that a task of the usual size rarely exceeds.
const LONG_TASK_S: f64 = 5.0;

/// The longest task of a stage whose rows take long to process, so that they are worth a task per slot. Rows that must be
/// in one place or are uneven are another cause.
fn long_task(view: &View<'_>, app: &Application, stage: usize, tasks: usize) -> Option<Evidence> {
    let longest = view.run.as_ref()?.stages[stage].vertices.iter();
    let longest = longest.map(|v| v.run_s).fold(0.0, f64::max);
    let single = view
        .inputs(stage)
        .any(|e| e.exchange == ExchangeKind::Gather);
    let starting = python_start_ms(view, stage) / 1000.0 / tasks.max(1) as f64;
    if longest - starting < LONG_TASK_S || single || view.is_uneven(stage) {
        return None;
    }
    let source = app.at_line(app.stages[stage].line);
    Some(fact! { view, "longest task", longest, "s", source;
    "{stage} 的任务最长运行 {time}", "the longest task of {stage} runs {time}", stage = view.name(stage), time = Seconds(longest) })
}

/// Files of a stage that cost more to open than to read, by Spark's own estimate.
pub(crate) fn small_files<'a>(
    view: &View<'a>,
    app: &Application,
    stage: usize,
) -> Option<Scanned<'a>> {
    let open = bytes_in_force(app, app.stages[stage].execution, OPEN_COST)?;
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
