//! Work of a stage's vertices: the statement, the bytes, and the reason for their number.

use job::model::FileKind;

use super::sizing::{HEAVY_BYTES, bytes_read};
use crate::facts::{at, at_line, fact};
use crate::view::View;
use report::format::Bytes;
use report::{Evidence, Localize};

/// The statement that needs the partitioning of the data, or that reads the data.
pub(crate) fn lines(view: &View<'_>, stage: usize) -> Option<(u32, u32)> {
    let edge = view.inputs(stage).find(|e| View::is_shuffle(e));
    match edge {
        Some(edge) => view
            .consumer_of(edge)
            .and_then(|(op, _)| view.lines(stage, op)),
        None => view
            .extracts(stage)
            .next()
            .and_then(|(op, _)| view.lines(stage, op)),
    }
}

/// Reason for few vertices: a hint of the script, or a compressed input.
pub(crate) fn reason(view: &View<'_>, stage: usize) -> Option<Evidence> {
    limiting_hint(view, stage).or_else(|| compressed_input(view, stage))
}

/// A hint that sets how many vertices a stage has.
pub(crate) fn limiting_hint(view: &View<'_>, stage: usize) -> Option<Evidence> {
    let script = view.job.script.as_ref()?;
    let statement = script.statement_at_line(lines(view, stage)?.0)?;
    let limiting =
        |name: &str| matches!(name, "PARTITION" | "PARTITIONCOUNT" | "MAXDOP" | "SERIAL");
    let hint = statement.hints.iter().find(|h| limiting(&h.name))?;
    let written = script.slice(&hint.span).to_owned();
    let line = script.line_of(hint.span.start);
    let source = at_line(&script.file, u64::from(line));
    Some(fact! { view, "hint", &written, source;
    "第 {line} 行的提示 {written}", "the hint {written} in line {line}" })
}

fn compressed_input(view: &View<'_>, stage: usize) -> Option<Evidence> {
    let tables = view
        .extracts(stage)
        .filter_map(|(_, o)| view.table_of(stage, o));
    let table = tables.into_iter().find(|t| t.compressed.is_some())?;
    let source = table.sources.values().next().cloned()?;
    Some(
        fact! { view, "compressed", table.compressed.as_deref().unwrap_or_default(), source;
        "{table} 是压缩文件，只能由一个顶点读取", "{table} is compressed and can only be read by one vertex per file", table = table.name },
    )
}

pub(crate) fn evidence(view: &View<'_>, stage: usize, per_vertex: f64) -> Vec<Evidence> {
    let s = &view.job.stages[stage];
    let mut facts = Vec::new();
    let of = &view.facts[stage];
    if let Some(stated) = &of.stated {
        facts.extend(view.measured(&stated.vertices, "vertices"));
        facts.extend(view.measured(&stated.bytes_read, "bytes"));
    }
    if let Some(read) = of.counted.as_ref().and_then(|c| c.bytes_read.as_ref()) {
        facts.extend(view.measured(read, "bytes"));
        let limit = view.limit(&HEAVY_BYTES);
        let metric = format!("{} / vertices", read.metric);
        facts.push(
            fact! { view, &metric, per_vertex, "bytes", read.source();
            "每个顶点读取 {size}", "each vertex reads {size}", size = Bytes(per_vertex) }
            .expecting(format!("<= {}", Bytes(limit).localize(view.language))),
        );
    }
    if facts.is_empty() {
        let defined = || {
            let mut files = view.job.files.iter();
            Some(&files.find(|f| f.kind == FileKind::VertexDef)?.name)
        };
        let file = s.runs.as_ref().map(|r| &r.file).or_else(defined);
        if let (Some(file), Some(all)) = (file, bytes_read(view, stage)) {
            let source = at(file, &s.name);
            facts.push(fact! { view, "bytes read", all, "bytes", source;
                "{stage} 共读取 {size}", "{stage} reads {size} in all", stage = s.name, size = Bytes(all) });
        }
    }
    facts
}
