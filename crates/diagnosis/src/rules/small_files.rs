//! Rule for `io.small_files`: very many small input files, each read by a vertex of its own.

use job::info::Information;
use job::model::{Source, Table};

use super::sizing::bytes_read;
use super::support::{Draft, says};
use super::tiny_vertices::{evidence as load_evidence, is_tiny, saved};
use crate::facts::{bytes, count, number, text};
use crate::model::Cause;
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;

/// Mean size up to which a file is small.
pub(crate) static MAX_FILE: Threshold = Threshold {
    name: "small_files.max_bytes",
    default: 64e6,
    unit: "bytes",
    reason_zh: "默认每个文件一个顶点；远小于一个区段（250 MB）的文件不值得一个顶点",
    reason_en: "by default each file gets a vertex; one far below an extent (250 MB) is not worth it",
    source: "documentation of the service (one vertex per file)",
};

/// Files that an input must have.
pub(crate) static MIN_FILES: Threshold = Threshold {
    name: "small_files.min_files",
    default: 50.0,
    unit: "files",
    reason_zh: "少量文件的启动开销可以忽略",
    reason_en: "the start-up for a few files does not matter",
    source: "judgement; the replayed saving decides",
};

/// The rule.
pub(crate) struct SmallFiles;

static ABOUT: About = About {
    cause: Cause::SmallFiles,
    what: says("输入由大量小文件组成", "very many small input files"),
    needs: &[Information::StageGraph, Information::StageStatistics],
    helps: &[Information::TableStatistics],
    thresholds: &[&MAX_FILE, &MIN_FILES],
    counter_evidence: &[
        says("文件多但每个都很大", "many files, but each is large"),
        says("输入已是一个流", "the input is one stream"),
    ],
};

impl Rule for SmallFiles {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for stage in (0..view.job.stages.len()).filter(|s| is_tiny(view, *s, view.limit(&MAX_FILE)))
        {
            if let Some(files) = reads_small_files(view, stage) {
                result.found(view, draft(view, stage, &files));
            }
        }
        result.cleared_by(
            "没有由大量小文件组成的输入",
            "no input consists of very many small files",
        )
    }
}

/// The files that a stage reads.
pub(crate) struct Files {
    operator: usize,
    name: String,
    count: f64,
    mean_bytes: f64,
    source: Option<Source>,
}

/// Small files that a stage reads one vertex each: by the table's metadata, or for text without
/// metadata because that is what the engine does by default.
pub(crate) fn reads_small_files(view: &View<'_>, stage: usize) -> Option<Files> {
    let n = view.vertices(stage)? as f64;
    let all = bytes_read(view, stage)?;
    view.extracts(stage).find_map(|(operator, o)| {
        let files = match view.table_of(stage, o) {
            Some(table) => of_table(operator, table)?,
            None if o.id.starts_with("Extract") => Files {
                operator,
                name: o.id.clone(),
                count: n,
                mean_bytes: all / n,
                source: None,
            },
            None => return None,
        };
        let small =
            files.mean_bytes <= view.limit(&MAX_FILE) && files.count >= view.limit(&MIN_FILES);
        (small && n >= files.count * 0.3).then_some(files)
    })
}

fn of_table(operator: usize, table: &Table) -> Option<Files> {
    let count = table.file_count? as f64;
    let source = table
        .sources
        .get("file_count")
        .or_else(|| table.sources.values().next())
        .cloned();
    Some(Files {
        operator,
        name: table.name.clone(),
        count,
        mean_bytes: table.bytes? as f64 / count.max(1.0),
        source,
    })
}

fn draft(view: &View<'_>, stage: usize, files: &Files) -> Draft {
    let mut evidence = load_evidence(view, stage);
    if let Some(source) = files.source.clone() {
        let says = text(
            format!(
                "{} 有 {} 个文件，平均 {}",
                files.name,
                count(files.count),
                bytes(files.mean_bytes)
            ),
            format!(
                "{} has {} files of {} on average",
                files.name,
                count(files.count),
                bytes(files.mean_bytes)
            ),
        );
        evidence.insert(0, number("file_count", files.count, "files", source, says));
    }
    Draft {
        cause: Cause::SmallFiles,
        stage: Some(stage),
        lines: view.lines(stage, files.operator),
        summary: text(
            format!(
                "{} 读取 {} 的 {} 个小文件（平均 {}），每个文件一个顶点",
                view.name(stage),
                files.name,
                count(files.count),
                bytes(files.mean_bytes)
            ),
            format!(
                "{} reads {} small files of {} ({} on average), each with a vertex of its own",
                view.name(stage),
                count(files.count),
                files.name,
                bytes(files.mean_bytes)
            ),
        ),
        evidence,
        saved: saved(view, stage),
        method: "schedule replayed with as few vertices as the data calls for",
        strength: if files.source.is_some() { 0.95 } else { 0.6 },
    }
}
