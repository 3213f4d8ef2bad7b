//! Rule for `memory.over_provisioned`: executors with several times the memory that their tasks and cached data use.

use job::model::{Application, Executor};

use super::support::{Symptom, rule};
use crate::facts::fact;
use crate::rule::Examination;
use crate::settings::threshold;
use crate::view::View;
use report::format::Bytes;
use report::{Evidence, text};

threshold! {
    /// Times the memory in use that executors must have.
    pub(crate) MIN_EXCESS = 4.0, "ratio", "memory.min_excess";
    "数据量变化、倾斜和回收需要余量；超过所用内存的 4 倍说明可以减半再减半", "growth, skew and garbage collection need room; beyond four times the memory in use it can be halved twice";
    "judgement"
}

/// Bytes for tasks and cached data of an executor of 1 GiB; fewer can't be saved.
const LEAST_MEMORY: f64 = 434e6;

/// Share of the run time of tasks in garbage collection that may mean too little memory.
const BUSY_COLLECTING: f64 = 0.1;

rule! { RULE = OverProvisionedMemory, examine;
    "Executor 的内存是所用的数倍：浪费资源，不影响运行时间", "executors have several times the memory that they use: a waste of resources, not of time";
    needs VertexEvents;
    thresholds MIN_EXCESS;
    unless "任务落盘或频繁回收", "tasks spill, or collect garbage often";
    unless "缓存的数据占用内存", "cached data takes up the memory";
    cleared "Executor 的内存与用量相称", "the memory of the executors fits its use";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let app = view.job.spark.as_deref().filter(|_| !view.failed());
    let Some((app, usage)) = app.and_then(|app| Some((app, Usage::of(view, app)?))) else {
        return;
    };
    let limit = view.limit(&MIN_EXCESS);
    if usage.ratio() < limit || is_short(view) {
        let closeness = (usage.ratio() / limit).min(0.99);
        result.under(closeness, || usage.evidence(view, app));
    } else {
        result.wastes(view, usage.symptom(view, app), 0.0, false);
    }
}

/// Memory for tasks and cached data, in bytes of one executor.
struct Usage<'a> {
    executor: &'a Executor,
    given: f64,
    used: f64,
}

impl<'a> Usage<'a> {
    /// The use of the largest executor; `None` unless the log counts the memory of tasks in every stage.
    fn of(view: &View<'_>, app: &'a Application) -> Option<Usage<'a>> {
        let worked = app
            .executors
            .iter()
            .filter(|e| e.tasks > 0 && e.id != "driver");
        let executors = worked.clone().count().max(1) as f64;
        let executor = worked.max_by_key(|e| e.memory_bytes)?;
        let given = executor.memory_bytes? as f64;
        let peak = |stage: usize| {
            let peak = view.facts[stage].per_vertex.peak_memory.as_ref()?;
            Some(peak.value.max)
        };
        // uncounted use may take any memory
        let plans = app
            .stages
            .iter()
            .all(|s| s.execution.is_some() || s.lists_files());
        let peaks: Option<Vec<f64>> = (0..app.stages.len()).map(peak).collect();
        let largest = peaks?.into_iter().fold(0.0, f64::max);
        let of_tasks = largest * f64::from(executor.slots(app.task_cores));
        let cached: u64 = app.cached.iter().map(|c| c.memory_bytes).sum();
        let counted = of_tasks + cached as f64 / executors;
        let heap = executor.heap_peak.map(|bytes| bytes as f64);
        (plans || heap.is_some()).then_some(Usage {
            executor,
            given,
            used: counted.max(heap.unwrap_or(0.0)),
        })
    }

    fn ratio(&self) -> f64 {
        self.given / self.used.max(LEAST_MEMORY)
    }

    fn symptom(&self, view: &View<'_>, app: &Application) -> Symptom {
        Symptom {
            summary: text!(
                "每个 Executor 有 {given} 内存供任务和缓存使用，最多只用到 {used}",
                "each executor has {given} of memory for tasks and cached data, and uses at most {used} of it",
                given = Bytes(self.given),
                used = Bytes(self.used),
            ),
            evidence: self.evidence(view, app),
            method: "memory of an executor, less the memory that its tasks and cached data use",
            strength: 0.7,
            ..Symptom::default()
        }
    }

    fn evidence(&self, view: &View<'_>, app: &Application) -> Vec<Evidence> {
        let source = || app.at_line(self.executor.line);
        vec![
            fact! { view, "Maximum Memory", self.given, "bytes", source();
            "Executor 有 {given} 内存供任务和缓存使用", "an executor has {given} of memory for tasks and cached data", given = Bytes(self.given) },
            fact! { view, "memory in use", self.used, "bytes", source();
            "任务和缓存最多用到其中 {used}", "tasks and cached data use at most {used} of it", used = Bytes(self.used) },
        ]
    }
}

/// Whether a stage spills or collects garbage as if its memory were short.
fn is_short(view: &View<'_>) -> bool {
    view.facts.iter().any(|facts| {
        let spilled = facts.per_vertex.memory_spilled.as_ref();
        let spills = spilled.is_some_and(|s| s.value.total > 0.0);
        let run_ms = facts
            .per_vertex
            .task_ms
            .as_ref()
            .map_or(0.0, |t| t.value.total);
        let gc_ms = facts
            .per_vertex
            .gc_ms
            .as_ref()
            .map_or(0.0, |t| t.value.total);
        // a short stage shows the collections of start-up
        spills || (gc_ms > BUSY_COLLECTING * run_ms && gc_ms > 2000.0)
    })
}
