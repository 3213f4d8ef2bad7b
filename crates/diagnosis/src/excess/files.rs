//! Writing far more files than necessary.

use report::{Cause, SegmentDetail, Source, text};

use super::shares::{TASKS, shares};
use super::{Excess, Unclaimed};
use crate::facts::at;
use crate::measurements::contention::contention;
use crate::view::View;
use report::format::{Bytes, FILE};

/// Milliseconds that a task needs to create, finish and close a file.
const FILE_MS: f64 = 20.0;

/// Files that each task may write: one, and some for the partitions of the output.
const USUAL_FILES: f64 = 10.0;

/// Files of one write, and the place of their count.
struct Written {
    files: f64,
    bytes: f64,
    source: Source,
}

pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let share = |stage: usize, _| {
        let needless = needless(view, stage)? * written(view, stage)?.files;
        let run_ms = view.run.as_ref()?.stages[stage].run_s() * 1000.0;
        Some((needless * FILE_MS * contention(view) / run_ms.max(1.0)).min(0.9))
    };
    let mut shares = shares(unclaimed, &TASKS, share)?;
    let (worst, _) = shares.worst;
    // when the driver commits the write, it moves each file
    let committed = unclaimed.parts().filter_map(|(at, part)| {
        let commits = part.detail == Some(SegmentDetail::Commit);
        let stage = last_before(view, part.span.from).filter(|_| commits)?;
        Some((at, part.span.seconds() * needless(view, stage)?))
    });
    shares.parts.extend(committed);
    let Written {
        files,
        bytes,
        source,
    } = written(view, worst)?;
    let sentence = text!(
        "{stage} 写出 {files}，平均每个 {size}",
        "{stage} writes {files} of {size} each",
        stage = view.name(worst),
        files = FILE.count(files),
        size = Bytes(bytes / files.max(1.0)),
    );
    let summary = text!(
        "{sentence}；创建、关闭和提交这些文件多用 {time}",
        "{sentence}; creating, closing and committing them takes {time}",
        sentence = sentence.clone(),
        time = shares.seconds(),
    );
    let evidence = view.number("number of written files", files, "files", source, sentence);
    Some(shares.excess(Cause::SmallFiles, summary, [evidence], 0.75))
}

/// The share of the files of a write that it need not create, by the stage that writes them.
pub(crate) fn needless(view: &View<'_>, stage: usize) -> Option<f64> {
    let files = written(view, stage)?.files;
    let usual = view.vertices(stage)? as f64 * USUAL_FILES;
    Some(1.0 - usual / files).filter(|share| *share > 0.0)
}

/// The stage that ended last before a time in seconds since submission.
fn last_before(view: &View<'_>, seconds: f64) -> Option<usize> {
    let app = view.job.spark.as_deref()?;
    let until = view.job.info.submitted_ms? + (seconds * 1000.0).round() as i64;
    let ended = |s: usize| app.stages[s].completed_ms.filter(|ms| *ms <= until);
    (0..app.stages.len())
        .max_by_key(|s| ended(*s))
        .filter(|s| ended(*s).is_some())
}

/// The output of a stage's execution, if the stage writes it.
fn written(view: &View<'_>, stage: usize) -> Option<Written> {
    let app = view.job.spark.as_deref()?;
    let execution = &app.executions[app.stages[stage].execution?];
    let wrote = view.facts[stage].per_vertex.stored_bytes_written.as_ref()?;
    let bytes = Some(wrote.value.total).filter(|bytes| *bytes > 0.0)?;
    let mut nodes = execution.plan.iter();
    let (node, files) = nodes.find_map(|n| Some((n, n.metric("number of written files")?)))?;
    let (id, name) = (execution.id, node.name.trim());
    let place = format!("SQL execution {id}/{name}/number of written files");
    let source = at(&app.file, place);
    Some(Written {
        files,
        bytes,
        source,
    })
}
