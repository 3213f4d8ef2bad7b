//! Many small jobs of one application that the driver runs one after the other.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use job::model::{Application, DriverJob};
use report::{Cause, SegmentKind, text};

use super::{Excess, Unclaimed};
use crate::view::View;
use report::format::{Seconds, Share};

/// From this many jobs of one kind on, they are a loop of the driver.
const MIN_JOBS: usize = 8;

/// From this share of overhead in the time of its jobs on, a loop is the reason why they take long.
const MOSTLY: f64 = 0.5;

/// Number of loops examined, those with the most jobs.
const MOST_LOOPS: usize = 100;

/// Longest small job, in milliseconds.
const MOST_JOB_MS: i64 = 2_000;

/// Seconds from the submission of a job to the submission of its first stage.
const HANDOVER_S: f64 = 0.3;

/// Seconds that any job needs on the driver and to start its tasks.
const ONE_JOB_S: f64 = 1.0;

/// The excess of all loops; the sentence describes the costliest.
pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let app = view
        .job
        .spark
        .as_deref()
        .filter(|app| !app.is_streaming())?;
    let mut kinds: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, job) in app.jobs.iter().enumerate() {
        if let Some(kind) = kind(app, job) {
            kinds.entry(kind).or_default().push(at);
        }
    }
    let mut loops: Vec<Vec<usize>> = kinds.into_values().collect();
    loops.retain(|jobs| jobs.len() >= MIN_JOBS);
    // each is compared with the whole account
    loops.sort_by_key(|jobs| (Reverse(jobs.len()), jobs[0]));
    loops.truncate(MOST_LOOPS);
    let loops = loops.iter();
    let mut found: Vec<Excess> = loops
        .filter_map(|jobs| of_jobs(unclaimed, app, jobs))
        .collect();
    found.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    let mut found = found.into_iter();
    let mut all = found.next()?;
    let mut taken: HashSet<usize> = all.parts.iter().map(|(at, _)| *at).collect();
    for further in found {
        let free = further.parts.into_iter();
        all.parts.extend(free.filter(|(at, _)| taken.insert(*at)));
        all.evidence.extend(further.evidence);
    }
    Some(all)
}

/// Identity of a job as a step of a loop: the line of the user's code and the plan. `None` for iterations of a
/// library's algorithm: each needs the result of the one before.
fn kind(app: &Application, job: &DriverJob) -> Option<String> {
    if job.stages.iter().any(|s| app.stages[*s].of_library) {
        return None;
    }
    let site = job.call_site.as_deref().unwrap_or_default();
    let looks_at_files = job.stages.iter().all(|s| app.stages[*s].lists_files());
    // Python calls Java there, from any line
    let is_anywhere = job.execution.is_none() && site.contains("NativeMethodAccessorImpl");
    if looks_at_files || is_anywhere {
        return None;
    }
    let plan = job.execution.and_then(|e| app.executions.get(e));
    let nodes = plan.iter().flat_map(|e| &e.plan).map(|n| n.name.as_str());
    let nodes: Vec<&str> = nodes.collect();
    Some(format!("{site}|{}", nodes.join("|")))
}

fn of_jobs(unclaimed: &Unclaimed<'_>, app: &Application, jobs: &[usize]) -> Option<Excess> {
    let view = unclaimed.view;
    let mut of_loop = vec![false; app.stages.len()];
    for stage in jobs.iter().flat_map(|j| &app.jobs[*j].stages) {
        of_loop[*stage] = true;
    }
    let origin = view.job.info.submitted_ms?;
    let seconds = |ms: i64| (ms - origin) as f64 / 1000.0;
    let length = |j: &usize| Some(app.jobs[*j].ended_ms? - app.jobs[*j].submitted_ms);
    let mut lengths: Vec<i64> = jobs.iter().filter_map(length).collect();
    lengths.sort_unstable();
    if *lengths.get(lengths.len() / 2)? > MOST_JOB_MS {
        return None;
    }
    // gaps after the job before and before the next job of the loop
    let next = |to: f64| {
        app.jobs
            .partition_point(|j| seconds(j.submitted_ms) < to - HANDOVER_S)
    };
    let inside = unclaimed.parts().filter(|(_, p)| match p.stage {
        Some(stage) => of_loop[stage],
        None => p.kind == SegmentKind::Driver && jobs[1..].binary_search(&next(p.span.to)).is_ok(),
    });
    let parts: Vec<(usize, f64)> = inside.map(|(at, p)| (at, p.span.seconds())).collect();
    let taken: f64 = parts.iter().map(|(_, s)| s).sum();
    let run = view.run.as_ref()?;
    let works = run.stages.iter().zip(&of_loop).filter(|(_, own)| **own);
    let work: f64 = works.map(|(work, _)| work.run_s()).sum();
    let needed = work / run.tokens.max(1) as f64 + ONE_JOB_S;
    let saved = 1.0 - needed / taken;
    if saved < MOSTLY {
        return None;
    }
    let example = &app.jobs[jobs[jobs.len() / 2]];
    let site = example.call_site.as_deref().unwrap_or_default();
    let (count, each) = (jobs.len(), Seconds(taken / jobs.len() as f64));
    Some(Excess {
        cause: Cause::DriverBottleneck,
        evidence: evidence(view, app, jobs, taken),
        parts: parts.into_iter().map(|(at, s)| (at, s * saved)).collect(),
        stages: Vec::new(),
        summary: text!(
            "Driver 依次运行 {count} 个同样的 Job（{site}），每个约 {each}，其中 {share} 用于调度和启动，而不是计算",
            "the driver runs {count} jobs of the same kind one after the other ({site}), {each} each; {share} of that is scheduling and starting them, not work",
            each = each,
            share = Share(saved),
        ),
        certainty: 0.85,
        method: "time of the jobs of a loop, less their tasks' work on all slots and one job's start",
    })
}

fn evidence(
    view: &View<'_>,
    app: &Application,
    jobs: &[usize],
    seconds: f64,
) -> Vec<report::Evidence> {
    let count = jobs.len() as f64;
    let (first, last) = (&app.jobs[jobs[0]], &app.jobs[jobs[jobs.len() - 1]]);
    let time = Seconds(seconds);
    vec![
        view.number(
            "jobs of the loop",
            count,
            "count",
            app.at_line(first.line),
            text!("循环提交了 {count} 个 Job", "the loop submits {count} jobs"),
        ),
        view.number(
            "time of the loop on the critical path",
            seconds,
            "s",
            app.at_line(last.line),
            text!(
                "这些 Job 和它们之间的 Driver 共占用 {time}",
                "these jobs and the driver between them take {time}",
                time = time,
            ),
        ),
    ]
}
