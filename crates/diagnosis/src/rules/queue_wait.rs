//! Rule for `queue.wait`: the job waited for capacity, either for a large part of its time before the run, or for a relevant part
//! of the run.

use super::support::{Symptom, lacks, rule};
use crate::facts::{at, events_source as source_of_events, fact};
use crate::impact::{Fix, Saved};
use crate::rule::Examination;
use crate::settings::{self, threshold};
use crate::view::View;
use report::format::{Seconds, Share};
use report::{Evidence, Source, text};

threshold! {
    /// Time in the queue over the time from submission to end.
    pub(crate) MIN_SHARE = 0.25, "share", "queue.min_share";
    "短作业排队几十秒很正常；排队占总时间四分之一以上才值得处理", "short jobs commonly queue for half a minute; from a quarter of the total time on it is relevant";
    "report contract (mostly waited); healthy simulated jobs queue up to 13 %"
}

rule! { RULE = QueueWait, examine;
    "作业在等待资源", "the job waited for capacity";
    needs QueueTime;
    helps JobTimes, VertexEvents;
    thresholds MIN_SHARE, settings::MIN_SHARE;
    unless "排队只占总时间的一小部分", "queueing is a small part of the total time";
    unless "本地运行不排队", "a local run does not queue";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let waited = waited(view);
    let known = |w: &&Waited| w.is_recorded || w.excess(view) >= 1.0;
    let Some(waited) = waited.as_ref().filter(known) else {
        if !view.failed() && !super::is_local(view) {
            lacks! { result, view, QueueTime, None;
            "没有文件说明作业何时提交、何时开始运行", "no file records when the job was submitted and when it began to run" }
        }
        return;
    };
    let excess = waited.excess(view);
    if excess >= 1.0 && waited.is_guess(view) {
        lacks! { result, view, JobTimes, None;
        "不知道作业有多少令牌：顶点就绪而没有运行，可能是令牌本来就这么多", "the number of tokens of the job is unknown: its ready vertices may have waited because it has no more" }
    } else if excess >= 1.0 {
        result.found(view, symptom(view, waited));
    } else {
        result.under(excess, || evidence(view, waited, waited.whole()));
    }
    result.cleared_by(text!(
        "等待资源 {time}，占总时间的 {share}",
        "it waited {time} for capacity, {share} of the total time",
        time = Seconds(waited.whole().seconds),
        share = Share(waited.whole().share())
    ));
}

/// Usual seconds until an executor of an application registers.
const EXECUTOR_START_S: f64 = 5.0;

/// States of a job that is ready except for machines.
const WAITING: [&str; 2] = ["WaitingForCapacity", "Queued"];

/// How long a job waited for capacity.
struct Waited {
    /// Seconds before the run: short jobs commonly queue.
    before: f64,
    /// Seconds during the run: the job lost capacity, or got less than its ready vertices could use.
    during: f64,
    /// Seconds from submission to end.
    total: f64,
    run: f64,
    /// Whether a file records the wait before the run.
    is_recorded: bool,
    metric: &'static str,
    source: Option<Source>,
}

/// Seconds of waiting, and the time that they are a part of.
#[derive(Clone, Copy)]
struct Part {
    seconds: f64,
    of: f64,
    /// Whether it is a part of the run, not of the time since submission.
    in_the_run: bool,
}

impl Part {
    fn share(self) -> f64 {
        if self.of > 0.0 {
            self.seconds / self.of
        } else {
            0.0
        }
    }
}

impl Waited {
    fn whole(&self) -> Part {
        Part {
            seconds: self.before + self.during,
            of: self.total,
            in_the_run: false,
        }
    }

    fn in_the_run(&self) -> Part {
        Part {
            seconds: self.during,
            of: self.run,
            in_the_run: true,
        }
    }

    /// Avoidable waiting: all of it, or only the waiting in the run.
    fn avoidable(&self, view: &View<'_>) -> Part {
        if self.whole().share() >= view.limit(&MIN_SHARE) {
            self.whole()
        } else {
            self.in_the_run()
        }
    }

    /// Whether the wait is only relevant due to missing tokens, although the number of tokens is unknown.
    fn is_guess(&self, view: &View<'_>) -> bool {
        let known = view.run.as_ref().is_none_or(|r| r.tokens_known) || view.job.spark.is_some();
        let short = view.short_s.unwrap_or(0.0).min(self.during);
        let without = Waited {
            during: self.during - short,
            source: None,
            ..*self
        };
        !known && without.excess(view) < 1.0
    }

    /// Waiting as a multiple of the limit; from 1 on it is relevant.
    fn excess(&self, view: &View<'_>) -> f64 {
        let whole = self.whole().share() / view.limit(&MIN_SHARE);
        let run = self.in_the_run().share() / view.limit(&settings::MIN_SHARE);
        if view.job.spark.is_none() {
            return whole.max(run);
        }
        // executors have to start: the first ones, and replacements
        let started = |seconds: f64, of_limit: f64| match seconds < EXECUTOR_START_S {
            true => of_limit.min(0.99),
            false => of_limit,
        };
        started(self.whole().seconds, whole).max(started(self.during, run))
    }
}

/// Waiting time. Queueing is the larger of the job's recorded sum and the sum of its states: a job
/// that lost its machines waits again after its start. Time lost in the run to missing tokens
/// is added.
fn waited(view: &View<'_>) -> Option<Waited> {
    let info = &view.job.info;
    let queued = info.queued_seconds;
    let in_states = |counts: &dyn Fn(i64) -> bool| {
        let ends = info.states.iter().skip(1).map(|(_, at)| *at);
        let ends = ends.chain(info.ended_ms);
        let waits = info.states.iter().zip(ends);
        let waits =
            waits.filter(|((state, from), _)| WAITING.contains(&state.as_str()) && counts(*from));
        let seconds = waits.map(|((_, from), to)| (to - from).max(0) as f64 / 1000.0);
        (info.states.len() > 1).then(|| seconds.sum::<f64>())
    };
    let by_states = in_states(&|_| true).filter(|s| queued.is_none_or(|q| *s > q));
    let recorded = by_states.or(queued);
    let began = |from: i64| info.started_ms.is_some_and(|started| from >= started);
    let again = by_states.and_then(|_| in_states(&began)).unwrap_or(0.0);
    // tasks of an application also wait beside idle slots; `excess::waits` distinguishes the reasons
    let by_events = view.job.spark.is_none() && !super::is_local(view);
    let short = view.short_s.filter(|_| by_events);
    if recorded.is_none() && short.is_none() {
        return None;
    }
    let (metric, source) = match (by_states, recorded) {
        _ if short > recorded => ("queued to started", events_source(view)),
        (Some(_), _) => ("WaitingForCapacity", states_source(view)),
        _ => ("QueuedTime", info.sources.get("queued_seconds").cloned()),
    };
    let before = recorded.map_or(0.0, |recorded| recorded - again);
    let during = again + short.unwrap_or(0.0);
    let total = total_seconds(view)
        .unwrap_or(before + during)
        .max(before + during);
    Some(Waited {
        before,
        during,
        total,
        run: info.elapsed_seconds.unwrap_or(total).max(during),
        is_recorded: recorded.is_some(),
        metric,
        source,
    })
}

/// Where the attempts of the vertices are recorded.
fn events_source(view: &View<'_>) -> Option<Source> {
    let stages = view.job.stages.iter();
    stages.filter_map(source_of_events).next()
}

/// Where the states of the job are recorded.
fn states_source(view: &View<'_>) -> Option<Source> {
    let sources = &view.job.info.sources;
    let record = sources
        .get("state")
        .or_else(|| sources.get("submitted_ms"))?;
    let is_json = record
        .locator
        .as_deref()
        .is_some_and(|l| l.starts_with('/'));
    let place = if is_json {
        "/stateAuditRecords"
    } else {
        "JobInfo/StateAuditRecords"
    };
    Some(at(&record.file, place))
}

/// Seconds from submission to end.
fn total_seconds(view: &View<'_>) -> Option<f64> {
    let info = &view.job.info;
    match (info.submitted_ms, info.ended_ms) {
        (Some(from), Some(to)) if to > from => Some((to - from) as f64 / 1000.0),
        _ => Some(
            info.elapsed_seconds?
                + info.queued_seconds.unwrap_or(0.0)
                + info.compile_seconds.unwrap_or(0.0),
        ),
    }
}

fn symptom(view: &View<'_>, waited: &Waited) -> Symptom {
    let avoidable = waited.avoidable(view);
    let share = avoidable.share();
    let summary = if avoidable.in_the_run {
        text!(
            "作业运行中等待资源 {time}，占运行 {run} 的 {share}",
            "the job waited {time} for capacity while it ran, {share} of its run of {run}",
            time = Seconds(avoidable.seconds),
            run = Seconds(avoidable.of),
            share = Share(share)
        )
    } else {
        text!(
            "作业等待资源 {time}，占从提交到结束的 {total} 的 {share}",
            "the job waited {time} for capacity, {share} of the {total} from submission to end",
            time = Seconds(avoidable.seconds),
            total = Seconds(avoidable.of),
            share = Share(share)
        )
    };
    Symptom {
        summary,
        evidence: evidence(view, waited, avoidable),
        saved: Some(Saved {
            seconds: avoidable.seconds,
            share,
            fix: Fix::Capacity,
        }),
        method: "time in the states that wait for capacity, and tokens missing while vertices were ready",
        strength: 0.6 + 0.4 * share,
        ..Symptom::default()
    }
}

fn evidence(view: &View<'_>, waited: &Waited, part: Part) -> Vec<Evidence> {
    let Some(source) = &waited.source else {
        return Vec::new();
    };
    let shown = Share(part.share());
    let (base, limit, share) = if part.in_the_run {
        let share = text!(
            "等待占运行时间的 {shown}",
            "waiting is {shown} of the run",
            shown = shown
        );
        ("run time", view.limit(&settings::MIN_SHARE), share)
    } else {
        let share = text!(
            "等待占总时间的 {shown}",
            "waiting is {shown} of the total time",
            shown = shown
        );
        ("total time", view.limit(&MIN_SHARE), share)
    };
    let metric = format!("{} / {base}", waited.metric);
    vec![
        fact! { view, waited.metric, part.seconds, "s", source.clone();
        "等待资源 {time}", "it waited {time} for capacity", time = Seconds(part.seconds) },
        view.number(&metric, part.share(), "ratio", source.clone(), share)
            .expecting(format!("< {limit}")),
    ]
}
