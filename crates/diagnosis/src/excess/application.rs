//! Time of the driver before its first job, beyond loading code and planning.

use job::model::DriverJob;
use report::{Cause, SegmentKind, text};

use super::{Excess, Unclaimed};
use report::format::Seconds;

/// Upper bound in seconds from a driver's first executor to its first job: loading classes, listing files and planning, all for
/// the first time. The slowest of the healthy real runs took 9 s, on two loaded cores.
const FIRST_JOB_S: f64 = 20.0;

/// Upper bound in seconds from the end of a job that lists files or infers a schema to the first job on their data. The slowest of
/// the healthy real runs took 8 s, on two loaded cores.
const AFTER_LISTING_S: f64 = 10.0;

pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let app = view.job.spark.as_deref().filter(|app| !app.interactive)?;
    let lists = |job: &&DriverJob| job.stages.iter().all(|s| app.stages[*s].lists_files());
    let first = app.jobs.iter().find(|job| !lists(job))?;
    let origin = view.job.info.submitted_ms?;
    let seconds = |ms: i64| (ms - origin) as f64 / 1000.0;
    let began = seconds(first.submitted_ms);
    let listed = app
        .jobs
        .iter()
        .take_while(lists)
        .filter_map(|job| job.ended_ms)
        .max();
    let (from, mut needed) = match listed {
        Some(listed) => (seconds(listed), AFTER_LISTING_S),
        None => (unclaimed.account.run.from, FIRST_JOB_S),
    };
    let before = unclaimed.parts().filter(|(_, p)| {
        p.kind == SegmentKind::Driver && p.span.from >= from && p.span.from < began
    });
    let mut parts = Vec::new();
    for (at, part) in before {
        let seconds = part.span.seconds().min(began - part.span.from);
        let beyond = (seconds - needed).max(0.0);
        needed = (needed - seconds).max(0.0);
        parts.push((at, beyond));
    }
    let time = Seconds(began - from);
    let source = app.at_line(first.line);
    let sentence = match listed {
        Some(_) => text!(
            "列目录或推断模式的 Job 结束 {time} 后，才提交第一个处理数据的 Job：Driver 在此期间生成查询或运行自己的代码",
            "the first job on data is submitted {time} after the jobs that list files: the driver builds the query or runs its own code until then",
            time = time,
        ),
        None => text!(
            "第一个 Job 在首个 Executor 就绪 {time} 后才提交",
            "the first job is submitted {time} after the first executor registered",
            time = time,
        ),
    };
    let evidence = view.number("first job", began - from, "s", source, sentence.clone());
    Some(Excess {
        cause: Cause::DriverBottleneck,
        parts,
        stages: Vec::new(),
        summary: sentence,
        evidence: vec![evidence],
        certainty: 0.6,
        method: "time until the first job on data, less the longest usual time for loading and planning",
    })
}
