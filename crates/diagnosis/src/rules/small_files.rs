//! Rule for `io.small_files`: very many small input files, each read by a vertex of its own.

use job::info::Information;

use super::support::{Draft, says};
use crate::facts::{bytes, count, number, text};
use crate::model::Cause;
use crate::rule::{About, Examination, Rule};
use crate::signs::tiny::{
    Files, MAX_FILE, MIN_FILES, evidence as load_evidence, is_tiny, reads_small_files, saved,
};
use crate::view::View;

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
