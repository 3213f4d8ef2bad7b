//! Rule for `io.small_files`: very many small input files, each read by a separate vertex.

use job::model::Application;

use super::support::{Symptom, rule};
use super::tiny_vertices::lacking;
use crate::facts::fact;
use crate::measurements::tasks::{saved_by_merging, small_files};
use crate::measurements::tiny::{
    Files, MAX_FILE, MIN_START, evidence as load_evidence, is_tiny, reads_small_files, saved,
    start_share,
};
use crate::rule::Examination;
use crate::view::View;
use report::format::{Bytes, FILE, Number};
use report::text;

rule! { RULE = SmallFiles, examine;
    "输入由大量小文件组成", "very many small input files";
    needs StageGraph, StageStatistics;
    helps TableStatistics;
    thresholds MAX_FILE, MIN_START;
    unless "文件多但每个都很大", "many files, but each is large";
    unless "输入已是一个流", "the input is one stream";
    cleared "没有由大量小文件组成的输入", "no input consists of very many small files";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let reads = |s: &usize| view.extracts(*s).next().is_some() && !view.failed();
    for stage in (0..view.job.stages.len()).filter(reads) {
        if let Some(app) = view.job.spark.as_deref() {
            scanned(view, app, stage, result);
            continue;
        }
        let tiny = is_tiny(view, stage);
        match (tiny, reads_small_files(view, stage)) {
            (Some(true), Some(files)) => result.found(view, symptom(view, stage, &files)),
            (Some(_), _) => {
                let starting = start_share(view, stage).unwrap_or(0.0);
                let of_limit = (starting / view.limit(&MIN_START)).min(0.99);
                result.under(of_limit, || load_evidence(view, stage));
            }
            (None, _) => lacking(view, stage, result),
        }
    }
}

/// The scans of a stage of an application, by the files that its plan counted.
fn scanned(view: &View<'_>, app: &Application, stage: usize, result: &mut Examination) {
    let Some(found) = small_files(view, app, stage) else {
        return result.under(0.5, || load_evidence(view, stage));
    };
    let mean = found.bytes / found.files.max(1.0);
    let place = found
        .node
        .metadata
        .get("Location")
        .cloned()
        .unwrap_or_default();
    let source = app.at_line(app.stages[stage].line);
    let mut evidence = vec![
        fact! { view, "number of files read", found.files, "files", source;
        "{stage} 读取 {n}，平均 {size}", "{stage} reads {n} of {size} on average", stage = view.name(stage), n = FILE.count(found.files), size = Bytes(mean) },
    ];
    evidence.extend(load_evidence(view, stage));
    let symptom = Symptom {
        stage: Some(stage),
        lines: None,
        summary: text!(
            "{stage} 读取 {place} 的 {n} 个小文件（平均 {size}），打开文件比读取更费时",
            "{stage} reads {n} small files of {place} ({size} on average): opening them takes longer than reading",
            stage = view.name(stage),
            n = Number(found.files),
            size = Bytes(mean),
        ),
        evidence,
        saved: saved_by_merging(view, stage, &found),
        method: "schedule replayed without the time of opening files",
        strength: 0.9,
    };
    result.found(view, symptom);
}

fn symptom(view: &View<'_>, stage: usize, files: &Files) -> Symptom {
    let mut evidence = load_evidence(view, stage);
    if let Some(source) = files.source.clone() {
        evidence.insert(
            0,
            fact! { view, "file_count", files.count, "files", source;
                "{files} 有 {n}，平均 {size}", "{files} has {n} of {size} on average", files = files.name, size = Bytes(files.mean_bytes), n = FILE.count(files.count) },
        );
    }
    Symptom {
        stage: Some(stage),
        lines: view.lines(stage, files.operator),
        summary: text!(
            "{stage} 读取 {files} 的 {n} 个小文件（平均 {size}），每个文件一个顶点",
            "{stage} reads {n} small files of {files} ({size} on average), each with a separate vertex",
            stage = view.name(stage),
            files = files.name,
            n = Number(files.count),
            size = Bytes(files.mean_bytes)
        ),
        evidence,
        saved: saved(view, stage),
        method: "schedule replayed with as few vertices as the data requires",
        strength: if files.source.is_some() { 0.95 } else { 0.6 },
    }
}
