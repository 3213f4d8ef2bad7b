//! Rule for `udo.cpu_bound`: user code that dominates a balanced stage.
//!
//! User code is slow if it takes many times the usual time of managed code for rows of that
//! width; a stage that merely runs user code is not.

use job::code::Program;
use job::facts::{Derived, Spread, StageFacts, value};
use job::model::{Edge, Operator};
use job::runs::{RunState, VertexRun};

use super::support::{Symptom, lacks, rule};
use crate::facts::at_line;
use crate::impact::scale_usual;
use crate::measurements::contention::{has_few_rows, python_start_ms};
use crate::measurements::managed::{gc, gc_part, managed, runs_user_code, takes_batches};
use crate::rule::Examination;
use crate::settings::threshold;
use crate::view::View;
use report::format::{Seconds, Share, VERTEX};
use report::{Cause, Evidence, text};

/// Milliseconds that managed code usually takes per input row, and per byte of it.
const MANAGED_MS_PER_ROW: f64 = 0.6e-3;

const MANAGED_MS_PER_BYTE: f64 = 22e-6;

/// Usual milliseconds of Python functions of an RDD per byte that they read: counting words takes
/// some 0.1 µs, sorting small compressed rows 2 µs.
const PYTHON_MS_PER_BYTE: f64 = 1e-3;

/// Usual milliseconds of Python functions of an RDD per row from storage, and per byte of it: counting and grouping lines takes
/// 4 to 9 µs a line, pairs of words 0.8 µs a byte.
const PYTHON_MS_PER_ROW: f64 = 5e-3;

const PYTHON_MS_PER_STORED_BYTE: f64 = 0.5e-3;

threshold! {
    /// Least ratio of an operator's time to the usual time of managed code.
    pub(crate) MIN_SLOWDOWN = 3.0, "ratio", "udo.min_slowdown";
    "托管代码每行的正常开销随行宽变化，但很少超过通常值的 2 倍", "the time of managed code per row varies with its width, and is rarely over twice the usual";
    "healthy simulated jobs: 0.4 to 1.6 times the usual"
}

threshold! {
    /// Least share of user code in a stage's time.
    pub(crate) MIN_STAGE_SHARE = 0.4, "share", "udo.min_stage_share";
    "用户代码须占该阶段的大部分时间，否则先看读写", "user code must dominate the stage's time, else look at reading and writing first";
    "report contract: dominates the time of a balanced stage"
}

/// Below this many milliseconds, compiling the code and the resolution of the clock hide the time per
/// row.
const MIN_SPENT_MS: f64 = 1000.0;

/// Probability that slow code is slow by itself, if no file has its time in garbage collection.
const WITHOUT_GC: f64 = 0.45;

rule! { RULE = CpuBoundUdo, examine;
    "用户代码（C# 处理器、归约器、表达式）占了一个均匀阶段的大部分时间", "user code (C# processors, reducers, expressions) dominates the time of a balanced stage";
    needs RuntimeCounters, StageGraph;
    helps UserCode, GcTime;
    thresholds MIN_SLOWDOWN, MIN_STAGE_SHARE;
    unless "时间花在垃圾回收上，而不是代码本身", "the time goes to garbage collection, not to the code itself";
    unless "每行耗时正常，代码只是行数多", "the time per row is usual; there are just many rows";
    unless "代码看着复杂，但每行耗时正常", "code that looks expensive but takes the usual time per row";
    cleared "用户代码每行的耗时正常", "user code takes the usual time per row";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let on_columns = OnColumns::of(view);
    for (index, stage) in view.job.stages.iter().enumerate() {
        if has_few_rows(view, index) {
            result.attributed(view, Cause::TinyVertices, index);
            continue;
        }
        let timed = timed(view, index, &on_columns);
        if let Some(symptom) = slow_code(view, index, &timed) {
            match gc(view, index) {
                Some(_) => result.found(view, symptom),
                None => result.suspected(view, symptom, WITHOUT_GC),
            }
        } else if let Some(symptom) = unfinished_code(view, index) {
            result.found(view, symptom);
        } else if let Some(slowest) = timed.first() {
            let of_limit = slowest.spent / slowest.usual / view.limit(&MIN_SLOWDOWN);
            result.under(of_limit.min(0.99), || facts(view, index, slowest));
        } else if may_run_managed(view, index, &on_columns) && !view.failed() {
            lacks! { result, view, RuntimeCounters, Some(index);
            "{stage} 可能运行托管代码，但没有算子耗时", "{stage} may run managed code, and no file gives the time of its operators", stage = stage.name }
        }
    }
}

/// Whether managed code may run in a stage: user code, or expressions without counters.
fn may_run_managed(view: &View<'_>, stage: usize, on_columns: &OnColumns) -> bool {
    let facts = &view.facts[stage];
    // an operator without input generates its rows; their number is unknown
    let reads_nothing = |o: &Operator| bytes_without_rows(facts, o).is_some_and(|b| b <= 0.0);
    if managed(view, stage).any(|(_, o)| reads_nothing(o) || on_columns.has(o)) {
        return false;
    }
    let uncounted = facts.operators.is_empty();
    runs_user_code(view, stage) || (uncounted && view.job.stages[stage].native_only != Some(true))
}

/// A managed operator, its milliseconds without garbage collection, and the usual milliseconds.
struct Timed {
    operator: usize,
    spent: f64,
    usual: f64,
}

/// Operators with functions of whole columns: their usual time is unknown, because they may compute anything.
struct OnColumns(bool);

impl OnColumns {
    fn of(view: &View<'_>) -> OnColumns {
        let program = view.job.program();
        OnColumns(program.is_some_and(Program::works_on_columns))
    }

    fn has(&self, operator: &Operator) -> bool {
        self.0 && takes_batches(&operator.class_name)
    }
}

/// Managed operators of a stage with known time and rows, the slowest for its rows first.
fn timed(view: &View<'_>, stage: usize, on_columns: &OnColumns) -> Vec<Timed> {
    // garbage collection is another cause, and a skewed vertex has more of it than the mean
    let in_gc = gc(view, stage).map_or(0.0, |(mean, max)| gc_part(mean, max));
    let time = |(operator, o): (usize, &Operator)| {
        if on_columns.has(o) {
            return None;
        }
        let spent = view.node_ms(stage, o.uid)? * (1.0 - in_gc);
        let spent = (spent - python_start_ms(view, stage)).max(0.0);
        let usual = usual_ms(view, stage, o)?;
        Some(Timed {
            operator,
            spent,
            usual,
        })
    };
    let mut found: Vec<Timed> = managed(view, stage).filter_map(time).collect();
    found.sort_by(|a, b| (b.spent / b.usual).total_cmp(&(a.spent / a.usual)));
    found
}

/// Time and rows of an operator.
fn facts(view: &View<'_>, stage: usize, timed: &Timed) -> Vec<Evidence> {
    let Some(node) = view.node(stage, view.job.stages[stage].operators[timed.operator].uid) else {
        return Vec::new();
    };
    let usual = view.about(Seconds(timed.usual / 1000.0));
    let spent = view
        .measured(&node.own_ms, "ms")
        .map(|f| f.expecting(usual));
    spent
        .into_iter()
        .chain(view.measured(&node.rows, "rows"))
        .chain(view.measured(&node.bytes, "bytes"))
        .collect()
}

fn slow_code(view: &View<'_>, stage: usize, timed: &[Timed]) -> Option<Symptom> {
    let margin = if view.is_uneven(stage) { 2.0 } else { 1.0 };
    let limit = view.limit(&MIN_SLOWDOWN) * margin;
    let slow = timed
        .iter()
        .filter(|t| t.spent > t.usual * limit && t.spent >= MIN_SPENT_MS);
    let found = slow.max_by(|a, b| a.spent.total_cmp(&b.spent))?;
    let (operator, spent, usual) = (found.operator, found.spent, found.usual);
    let share = view.fraction(stage, spent);
    if share < view.limit(&MIN_STAGE_SHARE) {
        return None;
    }
    let class = &view.job.stages[stage].operators[operator].class_name;
    let surplus = view.fraction(stage, spent - usual);
    let mut evidence = facts(view, stage, found);
    let of_stage = &view.facts[stage];
    evidence.extend(
        of_stage
            .counted
            .as_ref()
            .and_then(|c| view.measured(&c.cpu_ms, "ms")),
    );
    evidence.extend(view.measured(&of_stage.gc.mean_percent, "%"));
    let times = spent / usual;
    Some(Symptom {
        stage: Some(stage),
        lines: view.lines(stage, operator),
        summary: text!(
            "{stage} 的用户代码 {class} 共耗时 {all}，占该阶段的 {share}，是同等行通常开销的 {times:.1} 倍",
            "the user code {class} in {stage} takes {all}, {share} of the stage's time and {times:.1} times the usual for such rows",
            stage = view.name(stage),
            all = Seconds(spent / 1000.0),
            share = Share(share),
        ),
        evidence,
        saved: view.saved_in(stage, move |stage| scale_usual(stage, 1.0 - surplus)),
        method: "schedule replayed with user code at the usual time per row",
        strength: 0.5 + 0.5 * ((times / 3.0).log2() / 3.0).clamp(0.0, 1.0),
    })
}

/// User code that kept most vertices of a failed stage busy until the end, for many times the
/// usual time of their input rows. A hot key would keep only a few of them busy.
fn unfinished_code(view: &View<'_>, stage: usize) -> Option<Symptom> {
    let runs = view.job.stages[stage].runs.as_ref();
    let runs = runs.filter(|_| view.failed() && runs_user_code(view, stage))?;
    let (index, operator) = managed(view, stage).next()?;
    let stopped = |r: &&VertexRun| matches!(r.state, RunState::Failed | RunState::Cancelled);
    let ran = |r: &VertexRun| (r.ended_ms - r.running_ms) as f64;
    let mut stopped: Vec<&VertexRun> = runs.runs.iter().filter(stopped).collect();
    stopped.retain(|r| r.running_ms > 0 && ran(r) > 0.0);
    if stopped.len() as u64 <= runs.completed.max(1) {
        return None;
    }
    stopped.sort_by(|a, b| ran(a).total_cmp(&ran(b)));
    let middle = stopped[stopped.len() / 2];
    let shuffled = view.inputs(stage).filter(|e| View::is_shuffle(e));
    let rows = |e: &Edge| Some(e.rows_written? / f64::from(e.partitions?.max(1)));
    let rows: f64 = shuffled.filter_map(rows).sum();
    let times = ran(middle) / (rows * usual_row_ms(view, operator));
    if rows <= 0.0 || times < view.limit(&MIN_SLOWDOWN) {
        return None;
    }
    let source = at_line(&runs.file, middle.line);
    let (count, time) = (
        VERTEX.count(stopped.len() as f64),
        Seconds(ran(middle) / 1000.0),
    );
    let class = &operator.class_name;
    let busy = text!(
        "{stage} 的 {count}运行 {time} 后仍未结束",
        "{count} of {stage} had not ended after {time}",
        stage = view.name(stage),
        count = count,
        time = time,
    );
    Some(Symptom {
        stage: Some(stage),
        lines: view.lines(stage, index),
        summary: text!(
            "{busy}，是用户代码 {class} 处理同等行通常开销的 {times:.0} 倍以上；不是个别顶点，所以不是倾斜",
            "{busy}, over {times:.0} times the usual time of user code such as {class} for such rows; most vertices are affected, so it is not skew",
            busy = busy,
        ),
        evidence: vec![view.number(
            "median time of a stopped vertex",
            ran(middle),
            "ms",
            source,
            busy.clone(),
        )],
        saved: None,
        method: "schedule replayed with user code at the usual time per row",
        strength: 0.5 + 0.5 * ((times / 3.0).log2() / 3.0).clamp(0.0, 1.0),
    })
}

/// Usual time of managed code for the input rows of an operator.
fn usual_ms(view: &View<'_>, stage: usize, operator: &Operator) -> Option<f64> {
    let facts = &view.facts[stage];
    let position = facts.position(operator.uid)?;
    let rows = match facts.rows_in(position).as_slice() {
        [] => value(&facts.operators[position].rows),
        inputs => Some(inputs.iter().sum()),
    };
    let usual = match rows {
        Some(rows) => rows * usual_row_ms(view, operator),
        None => {
            let bytes = bytes_without_rows(facts, operator).filter(|b| *b > 0.0)?;
            match stored_rows(view, stage) {
                Some(rows) => rows * PYTHON_MS_PER_ROW + bytes * PYTHON_MS_PER_STORED_BYTE,
                None => bytes * PYTHON_MS_PER_BYTE,
            }
        }
    };
    Some(usual.max(1.0))
}

/// Bytes that an operator reads, if its rows are not counted.
fn bytes_without_rows(facts: &StageFacts, operator: &Operator) -> Option<f64> {
    let own = facts.by_uid(operator.uid).filter(|o| o.rows.is_none())?;
    value(&own.bytes)
}

/// Rows of a stage that only reads storage. Shuffled and cached rows come in batches of unknown size.
fn stored_rows(view: &View<'_>, stage: usize) -> Option<f64> {
    let record = view.job.spark.as_deref()?.stages.get(stage)?;
    let of = &view.facts[stage].per_vertex;
    let total = |d: &Option<Derived<Spread>>| d.as_ref().map_or(0.0, |d| d.value.total);
    let shuffled = total(&of.exchange_rows_read);
    let rows = total(&of.rows_read) - shuffled;
    (!record.sources.is_empty() && shuffled <= 0.0 && rows > 0.0).then_some(rows)
}

/// Usual time of managed code per input row of an operator.
fn usual_row_ms(view: &View<'_>, operator: &Operator) -> f64 {
    let columns = operator.inputs.iter().flat_map(|i| &i.schema);
    let width: f64 = columns
        .map(|c| view.column_width(&c.name, &c.type_name))
        .sum();
    MANAGED_MS_PER_ROW + MANAGED_MS_PER_BYTE * width
}
