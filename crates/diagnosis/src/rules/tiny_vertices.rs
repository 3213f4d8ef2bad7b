//! Rule for `parallelism.tiny_vertices`: very many vertices of a few seconds each, so that
//! start-up dominates.

use super::support::{Symptom, lacks, rule};
use crate::measurements::load::lines;
use crate::measurements::sizing::{bytes_read, starting_s};
use crate::measurements::tasks::small_files;
use crate::measurements::tiny::{
    MIN_START, evidence, is_tiny, reads_small_files, reads_unknown_files, saved, start_share,
};
use crate::rule::Examination;
use crate::settings::threshold;
use crate::view::View;
use report::format::{Bytes, Seconds, VERTEX};
use report::{Cause, text};

threshold! {
    /// Least number of vertices per token.
    pub(crate) MIN_WAVES = 5.0, "ratio", "tiny_vertices.min_waves";
    "启动时间逐波累积；几波之内代价很小", "start-ups add up wave by wave; a few waves cost little";
    "judgment; the replayed saving decides"
}

/// Fewer vertices have negligible start-ups, with any amount of data.
const FEW: u64 = 10;

rule! { RULE = TinyVertices, examine;
    "大量顶点各只运行几秒，启动时间占主导", "very many vertices of a few seconds each: start-up dominates";
    needs StageStatistics;
    helps VertexEvents, Script;
    thresholds MIN_START, MIN_WAVES;
    unless "小顶点来自小文件（见 io.small_files）", "the vertices are small because the input files are (see io.small_files)";
    unless "这些顶点不占用关键路径", "the vertices do not delay the run";
    cleared "没有大量只运行几秒的顶点", "no stage has very many vertices of a few seconds";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    for stage in (0..view.job.stages.len()).filter(|_| !view.failed()) {
        let app = view.job.spark.as_deref();
        let fills = in_many_waves(view, stage);
        if app.is_some_and(|app| small_files(view, app, stage).is_some()) {
            result.attributed(view, Cause::SmallFiles, stage);
            continue;
        }
        match is_tiny(view, stage) {
            Some(true) if fills && reads_small_files(view, stage).is_some() => {
                result.attributed(view, Cause::SmallFiles, stage);
            }
            Some(true) if fills && app.is_none() && reads_unknown_files(view, stage) => {
                lacks! { result, view, TableStatistics, Some(stage);
                "{stage} 的顶点很小，但不知道它读取多少个文件，无法区分小文件与分区过多", "the vertices of {stage} are tiny, but its number of input files is unknown: small files and too many partitions look alike", stage = view.name(stage) }
            }
            Some(true) if fills => result.found(view, symptom(view, stage)),
            Some(_) => {
                let starting = start_share(view, stage).unwrap_or(0.0);
                result.under((starting / view.limit(&MIN_START)).min(0.99), || {
                    evidence(view, stage)
                });
            }
            // tasks of an application without input generate their rows
            None if app.is_some() || view.vertices(stage).is_some_and(|n| n < FEW) => {
                result.under(0.0, || evidence(view, stage));
            }
            None => lacking(view, stage, result),
        }
    }
}

/// Abstains on a stage with unknown number, data or times of vertices.
pub(super) fn lacking(view: &View<'_>, stage: usize, result: &mut Examination) {
    lacks! { result, view, StageStatistics, Some(stage);
    "不知道 {stage} 有多少顶点、各读取多少数据、运行多久", "the number of vertices of {stage}, their input size and their run times are unknown", stage = view.name(stage) }
}

/// Whether a stage has enough vertices for their start-ups to add up.
fn in_many_waves(view: &View<'_>, stage: usize) -> bool {
    let n = view.vertices(stage).unwrap_or(0) as f64;
    let tokens = view.run.as_ref().map_or(1, |r| r.tokens) as f64;
    n >= tokens * view.limit(&MIN_WAVES)
}

fn symptom(view: &View<'_>, stage: usize) -> Symptom {
    let n = view.vertices(stage).unwrap_or(1);
    let all = bytes_read(view, stage).unwrap_or(0.0);
    let work = view.run.as_ref().map(|r| &r.stages[stage]);
    let start = starting_s(view, stage).unwrap_or(0.0) / n as f64;
    let run = work.map_or(0.0, |w| w.start_s() + w.run_s()) / n as f64 - start;
    Symptom {
        stage: Some(stage),
        lines: lines(view, stage),
        summary: text!(
            "{stage} 有 {vertices}，每个只读 {size}，运行 {time}，启动却要 {time_2}",
            "{stage} has {vertices} that read {size} and run {time} each, after a start-up of {time_2}",
            stage = view.name(stage),
            size = Bytes(all / n as f64),
            time = Seconds(run),
            time_2 = Seconds(start),
            vertices = VERTEX.count(n as f64)
        ),
        evidence: evidence(view, stage),
        saved: saved(view, stage),
        method: "schedule replayed with as few vertices as the data requires",
        strength: 0.5 + start_share(view, stage).unwrap_or(0.0).min(0.5),
    }
}
