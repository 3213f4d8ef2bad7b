//! Many small jobs of one application that the driver runs one after the other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use job::model::{Application, DriverJob};
use report::{Cause, SegmentKind, text};

use super::{Excess, Parts, Unclaimed};
use crate::facts::fact;
use crate::view::View;
use report::format::{ROW, Seconds, Share};

/// From this many rounds with jobs of one kind on, they are a loop of the driver.
const MIN_JOBS: usize = 8;

/// From this many jobs on that only list the same files or infer a schema, the driver looks at files in a loop: applications read
/// fewer tables.
const MIN_LOOKS: usize = 12;

/// Kinds of time that a job of a loop spends on itself, independent of its work.
const OVERHEAD: [SegmentKind; 3] = [
    SegmentKind::Driver,
    SegmentKind::Startup,
    SegmentKind::CapacityWait,
];

/// Number of loops in a finding, those with the most jobs.
const MOST_LOOPS: usize = 100;

/// Longest small job, in milliseconds. A job of a loop may be longer if each reads the same rows.
const MOST_JOB_MS: i64 = 2_000;

/// Seconds from the submission of a job to the submission of its first stage.
const HANDOVER_S: f64 = 0.3;

/// Largest difference of the rows that rounds read of the same files, as a share.
const SAME_ROWS: f64 = 0.01;

/// Seconds that any job needs on the driver and to start its tasks.
const ONE_JOB_S: f64 = 1.0;

/// The excess of all loops; the sentence describes the costliest.
pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let app = unclaimed.batch_application()?;
    let mut kinds: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, job) in app.jobs.iter().enumerate() {
        if let Some(kind) = kind(app, job) {
            kinds.entry(kind).or_default().push(at);
        }
    }
    let mut loops: Vec<Vec<usize>> = kinds.into_values().collect();
    loops.retain(|jobs| {
        let least = match looks_at_files(app, &app.jobs[jobs[0]]) {
            true => MIN_LOOKS,
            false => MIN_JOBS,
        };
        rounds(app, jobs) >= least
    });
    loops.sort_by_key(|jobs| (Reverse(jobs.len()), jobs[0]));
    loops.truncate(MOST_LOOPS);
    let parts = parts_of(unclaimed, app, &loops)?;
    let found = loops.iter().zip(parts);
    let mut found: Vec<Excess> = found
        .filter_map(|(jobs, parts)| of_jobs(unclaimed, app, jobs, parts))
        .collect();
    found.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    let mut found = found.into_iter();
    let mut all = found.next()?;
    for further in found {
        all.parts.extend(further.parts);
        all.evidence.extend(further.evidence);
    }
    Some(all)
}

/// Number of rounds that submit some jobs: Spark itself submits the jobs of one execution.
fn rounds(app: &Application, jobs: &[usize]) -> usize {
    let round = |job: &usize| app.jobs[*job].execution.ok_or(*job);
    jobs.iter().map(round).collect::<HashSet<_>>().len()
}

/// The unclaimed parts of each loop, with the seconds of each: its stages, and the driver between a job and the next one of the loop.
fn parts_of(
    unclaimed: &Unclaimed<'_>,
    app: &Application,
    loops: &[Vec<usize>],
) -> Option<Vec<Parts>> {
    let origin = unclaimed.view.job.info.submitted_ms?;
    let mut of_stages = vec![None; app.stages.len()];
    let mut of_gaps = vec![None; app.jobs.len()];
    for (number, jobs) in loops.iter().enumerate() {
        for stage in jobs.iter().flat_map(|j| &app.jobs[*j].stages) {
            of_stages[*stage] = Some(number);
        }
        for job in &jobs[1..] {
            of_gaps[*job] = Some(number);
        }
    }
    let next = |to: f64| {
        let submitted_s = |j: &DriverJob| (j.submitted_ms - origin) as f64 / 1000.0;
        let jobs = &app.jobs;
        jobs.partition_point(|j| submitted_s(j) < to - HANDOVER_S)
    };
    let mut parts = vec![Parts::new(); loops.len()];
    for (at, part) in unclaimed.parts() {
        let own = match part.stage {
            Some(stage) => of_stages[stage],
            None if part.kind == SegmentKind::Driver => {
                of_gaps.get(next(part.span.to)).copied().flatten()
            }
            None => None,
        };
        if let Some(own) = own {
            parts[own].push((at, part.span.seconds()));
        }
    }
    Some(parts)
}

/// Identity of a job as a step of a loop: the line of the user's code and the plan. `None` for iterations of a
/// library's algorithm: each needs the result of the one before.
fn kind(app: &Application, job: &DriverJob) -> Option<String> {
    if job.stages.iter().any(|s| app.stages[*s].of_library) {
        return None;
    }
    let site = job.call_site.as_deref().unwrap_or_default();
    if looks_at_files(app, job) {
        // the description of a listing names its folders
        let folders = job.description.as_deref().unwrap_or_default();
        return Some(format!("{site}|{folders}"));
    }
    // Python calls Java there, from any line
    if job.execution.is_none() && site.contains("NativeMethodAccessorImpl") {
        return None;
    }
    let plan = job.execution.and_then(|e| app.executions.get(e));
    let nodes = plan.iter().flat_map(|e| &e.plan).map(|n| n.name.as_str());
    let nodes: Vec<&str> = nodes.collect();
    Some(format!("{site}|{}", nodes.join("|")))
}

fn looks_at_files(app: &Application, job: &DriverJob) -> bool {
    let mut stages = job.stages.iter();
    !job.stages.is_empty() && stages.all(|s| app.stages[*s].lists_files())
}

fn of_jobs(
    unclaimed: &Unclaimed<'_>,
    app: &Application,
    jobs: &[usize],
    parts: Parts,
) -> Option<Excess> {
    let view = unclaimed.view;
    let length = |j: &usize| Some(app.jobs[*j].ended_ms? - app.jobs[*j].submitted_ms);
    let mut lengths: Vec<i64> = jobs.iter().filter_map(length).collect();
    lengths.sort_unstable();
    let rows = rows_of_each(view, app, jobs);
    if rows.is_none() && *lengths.get(lengths.len() / 2)? > MOST_JOB_MS {
        return None;
    }
    let seconds = |parts: &Parts| parts.iter().map(|(_, s)| s).sum::<f64>();
    let taken = seconds(&parts);
    let kind = |at: usize| unclaimed.account.parts[at].kind;
    let looks = looks_at_files(app, &app.jobs[jobs[0]]);
    let overhead: Parts = parts
        .into_iter()
        .filter(|(at, _)| looks || rows.is_some() || OVERHEAD.contains(&kind(*at)))
        .collect();
    let overhead_s = seconds(&overhead);
    if claimed_s(unclaimed, app, jobs) > overhead_s {
        // another finding explains most of the loop: its jobs stay, and get fast
        return None;
    }
    // one pass over the rows stays
    let pass_s = rows.map_or(0.0, |_| taken / rounds(app, jobs) as f64);
    let saved = 1.0 - ONE_JOB_S.max(pass_s) / overhead_s.max(ONE_JOB_S);
    let example = &app.jobs[jobs[jobs.len() / 2]];
    let site = example.call_site.as_deref().unwrap_or_default();
    let (count, each) = (jobs.len(), Seconds(taken / jobs.len() as f64));
    Some(Excess {
        cause: Cause::DriverBottleneck,
        evidence: evidence(view, app, jobs, taken),
        parts: overhead
            .into_iter()
            .map(|(at, s)| (at, s * saved))
            .collect(),
        stages: Vec::new(),
        summary: match (looks, rows) {
            (true, _) => text!(
                "Driver 有 {count} 次列目录或推断模式（{site}），每次约 {each}：在循环中重复读取文件信息",
                "the driver lists files or infers a schema {count} times ({site}), {each} each: a loop looks at files again and again",
                each = each,
            ),
            (false, Some(rows)) => text!(
                "Driver 依次运行 {count} 个同样的 Job（{site}），每个约 {each}，每次都重新读取同样的 {rows}",
                "the driver runs {count} jobs of the same kind one after the other ({site}), {each} each, and each time the same {rows} are read again",
                each = each,
                rows = ROW.count(rows),
            ),
            (false, None) => text!(
                "Driver 依次运行 {count} 个同样的 Job（{site}），每个约 {each}，其中 {share} 用于调度和启动，而不是计算",
                "the driver runs {count} jobs of the same kind one after the other ({site}), {each} each; {share} of that is scheduling and starting them, not work",
                each = each,
                share = Share(overhead_s * saved / taken.max(f64::MIN_POSITIVE)),
            ),
        },
        certainty: 0.85,
        method: "time between the jobs of a loop and to start their tasks, or of reading the same rows, less one job's",
    })
}

/// Rows that each round of a loop reads of the same files; `None` if rounds read other rows, or rows of a cache.
fn rows_of_each(view: &View<'_>, app: &Application, jobs: &[usize]) -> Option<f64> {
    let mut of_rounds: BTreeMap<usize, f64> = BTreeMap::new();
    for job in jobs {
        let stored = app.jobs[*job].stages.iter().filter_map(|s| {
            let of = &view.facts[*s].per_vertex;
            let stored = of.stored_bytes_read.as_ref()?.value.total;
            of.rows_read.as_ref().filter(|_| stored > 0.0)
        });
        let rows: f64 = stored.map(|rows| rows.value.total).sum();
        *of_rounds.entry(app.jobs[*job].execution?).or_default() += rows;
    }
    let files = |execution: &usize| -> Vec<[Option<&String>; 2]> {
        let plan = &app.executions[*execution].plan;
        let scans = plan.iter().filter(|n| n.name.starts_with("Scan "));
        let of = scans.map(|n| ["Location", "PartitionFilters"].map(|key| n.metadata.get(key)));
        of.collect()
    };
    let cached = |execution: &usize| {
        let mut plan = app.executions[*execution].plan.iter();
        plan.any(|n| n.name.contains("InMemoryTableScan"))
    };
    let (first, rows) = of_rounds.first_key_value()?;
    let same = |(own, read): (&usize, &f64)| {
        files(own) == files(first) && (read - rows).abs() <= SAME_ROWS * rows && !cached(own)
    };
    (*rows > 0.0 && of_rounds.iter().all(same)).then_some(*rows)
}

/// Seconds that other findings claim of the stages of some jobs.
fn claimed_s(unclaimed: &Unclaimed<'_>, app: &Application, jobs: &[usize]) -> f64 {
    let stages: HashSet<usize> = jobs
        .iter()
        .flat_map(|j| &app.jobs[*j].stages)
        .copied()
        .collect();
    let parts = unclaimed.account.parts.iter();
    let claimed =
        parts.filter(|p| p.finding.is_some() && p.stage.is_some_and(|s| stages.contains(&s)));
    claimed.map(|p| p.span.seconds()).sum()
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
        fact! { view, "jobs of the loop", count, "count", app.at_line(first.line);
        "循环提交了 {count} 个 Job", "the loop submits {count} jobs" },
        fact! { view, "time of the loop on the critical path", seconds, "s", app.at_line(last.line);
        "这些 Job 和它们之间的 Driver 共占用 {time}", "these jobs and the driver between them take {time}", time = time },
    ]
}
