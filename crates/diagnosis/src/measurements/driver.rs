//! Times when the driver of an application kept its executors waiting: no stage was submitted although the
//! application still had work.

use job::model::{Application, Exchange, Execution, Pace, Source};

use crate::view::View;

/// Seconds that the driver usually takes between two stages: planning, scheduling, committing.
const USUAL_S: f64 = 0.5;

/// Least size of results for work on the driver: ordinary actions return far
/// less (counts, commit messages).
const LARGE_RESULT: f64 = 1e6;

/// A time without an open stage.
#[derive(Debug, Clone)]
pub(crate) struct Gap {
    pub(crate) from_ms: i64,
    pub(crate) to_ms: i64,
    /// Stage that ended last before it.
    pub(crate) after: usize,
    /// Stages that begin at its end; none at the end of the application.
    pub(crate) before: Vec<usize>,
}

impl Gap {
    pub(crate) fn seconds(&self) -> f64 {
        (self.to_ms - self.from_ms) as f64 / 1000.0
    }

    /// Seconds beyond the driver's usual time between two stages.
    pub(crate) fn excess_s(&self) -> f64 {
        (self.seconds() - USUAL_S).max(0.0)
    }
}

/// Every gap after the first stage that a plan or the application's code runs. Time before it
/// is start-up: the driver loads its code and looks at files. Between two stages of a library's algorithm, the application's
/// own code does not run. In a shell, time without an open job or
/// execution does not count: the user types. A submitted application has no user to wait for.
pub(crate) fn gaps(view: &View<'_>, app: &Application) -> Vec<Gap> {
    let span = |s: usize| {
        let stage = &app.stages[s];
        Some((stage.submitted_ms?, stage.completed_ms?, s))
    };
    let mut spans: Vec<(i64, i64, usize)> = (0..app.stages.len()).filter_map(span).collect();
    spans.sort_unstable();
    let planned = |s: &(i64, i64, usize)| app.stages[s.2].execution.is_some();
    let works = |s: &(i64, i64, usize)| !app.stages[s.2].lists_files();
    let first = spans.iter().position(planned);
    let first = first.or_else(|| spans.iter().position(works)).unwrap_or(0);
    // a stream that keeps up waits by itself: its driver is no delay
    let open = match app.pace() {
        Some(Pace::KeepsUp) => Some(Vec::new()),
        _ => app.waits_for_others().then(|| app.open_spans()),
    };
    // the driver's working part of a gap: all of it, unless the application waits for a user or for data
    let working = |from: i64, to: i64| -> Vec<(i64, i64)> {
        let Some(open) = &open else {
            return app.told(from, to);
        };
        let first = open.partition_point(|(_, end)| *end <= from);
        let within = open[first..].iter().take_while(|(begin, _)| *begin < to);
        within
            .flat_map(|(a, b)| app.told(from.max(*a), to.min(*b)))
            .collect()
    };
    let gap = |(from_ms, to_ms): (i64, i64), after: usize, before: Vec<usize>| Gap {
        from_ms,
        to_ms,
        after,
        before,
    };
    let mut gaps: Vec<Gap> = Vec::new();
    let Some((_, mut until, mut last)) = spans.get(first).copied() else {
        return gaps;
    };
    for (from, to, stage) in spans.iter().copied().skip(first + 1) {
        if from > until {
            let own = working(until, from).into_iter();
            gaps.extend(own.map(|span| gap(span, last, vec![stage])));
        } else if let Some(gap) = gaps.last_mut().filter(|gap| gap.to_ms == from) {
            gap.before.push(stage);
        }
        if to >= until {
            (until, last) = (to, stage);
        }
    }
    let end = view.job.info.ended_ms.filter(|end| *end > until);
    let tail = end.map_or_else(Vec::new, |end| working(until, end));
    gaps.extend(tail.into_iter().map(|span| gap(span, last, Vec::new())));
    let of_library = |s: &usize| app.stages[*s].of_library;
    gaps.retain(|gap| {
        let between = [gap.after].iter().chain(&gap.before).all(of_library);
        !between || gap.before.is_empty()
    });
    gaps
}

/// Name prefixes of nodes that write data, in Spark and in the table formats.
const WRITERS: [&str; 9] = [
    "Execute ",
    "InsertInto",
    "SaveInto",
    "AppendData",
    "Overwrite",
    "WriteFiles",
    "Append",
    "ReplaceData",
    "CreateTable",
];

/// Whether an execution writes data.
pub(crate) fn writes(execution: &Execution) -> bool {
    let mut nodes = execution.plan.iter();
    nodes.any(|n| WRITERS.iter().any(|w| n.name.starts_with(w)))
}

/// Whether the driver commits output in a gap: the execution that wrote it is still open, and its last stage has ended.
pub(crate) fn is_commit(app: &Application, gap: &Gap) -> bool {
    let Some(execution) = app.stages[gap.after].execution else {
        return false;
    };
    let own = &app.executions[execution];
    let later = gap
        .before
        .iter()
        .any(|s| app.stages[*s].execution == Some(execution));
    let open_for = own
        .ended_ms
        .map_or(0, |ended| ended.min(gap.to_ms) - gap.from_ms);
    writes(own) && !later && open_for * 2 > gap.to_ms - gap.from_ms
}

/// Bytes that the tasks of a stage sent to the driver, and the source; `None` if they are
/// few.
pub(crate) fn results<'a>(view: &'a View<'_>, stage: usize) -> Option<(f64, Option<&'a Source>)> {
    let spread = view.facts[stage].per_vertex.result_bytes.as_ref()?;
    let bytes = spread.value.mean * view.vertices(stage)? as f64;
    (bytes >= LARGE_RESULT).then_some((bytes, spread.sources.first()))
}

/// Whether a stage writes the data of a broadcast.
pub(crate) fn is_broadcast(app: &Application, stage: usize) -> bool {
    let written = app.stages.get(stage).into_iter().flat_map(|s| &s.writes);
    let mut written = written.filter_map(|at| app.exchanges.get(*at));
    written.any(Exchange::is_broadcast)
}

/// Seconds of the run; `None` if the log lacks its end.
pub(crate) fn elapsed_s(view: &View<'_>) -> Option<f64> {
    let run = view.run.as_ref().map(|r| r.elapsed_s);
    run.or(view.job.info.elapsed_seconds).filter(|s| *s > 0.0)
}
