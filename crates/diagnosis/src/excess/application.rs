//! Time of the driver before its first job, beyond loading code and planning.

use report::{Cause, SegmentKind, text};

use super::{Excess, Unclaimed};
use report::format::Seconds;

/// Upper bound in seconds from a driver's first executor to its first job: loading classes, listing files and planning, all for
/// the first time. The slowest of the healthy real runs took 9 s, on two loaded cores.
const FIRST_JOB_S: f64 = 20.0;

pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let app = view.job.spark.as_deref().filter(|app| !app.interactive)?;
    let first = app.jobs.first()?;
    let origin = view.job.info.submitted_ms?;
    let began = (first.submitted_ms - origin) as f64 / 1000.0;
    let from = unclaimed.account.run.from;
    let before = unclaimed.parts().filter(|(_, p)| {
        p.kind == SegmentKind::Driver && p.span.from >= from && p.span.from < began
    });
    let mut needed = FIRST_JOB_S;
    let mut parts = Vec::new();
    for (at, part) in before {
        let seconds = part.span.seconds().min(began - part.span.from);
        let beyond = (seconds - needed).max(0.0);
        needed = (needed - seconds).max(0.0);
        parts.push((at, beyond));
    }
    let time = Seconds(began - from);
    let source = app.at_line(first.line);
    let sentence = text!(
        "第一个 Job 在首个 Executor 就绪 {time} 后才提交",
        "the first job is submitted {time} after the first executor registered",
        time = time,
    );
    let evidence = view.number("first job", began - from, "s", source, sentence.clone());
    Some(Excess {
        cause: Cause::DriverBottleneck,
        parts,
        stages: Vec::new(),
        summary: sentence,
        evidence: vec![evidence],
        certainty: 0.6,
        method: "time from the first executor to the first job, less the longest usual time for loading and planning",
    })
}
