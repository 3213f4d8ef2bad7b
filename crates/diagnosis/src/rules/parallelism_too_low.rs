//! Rule for `parallelism.too_low`: a heavy stage on far fewer vertices than its data calls for.

use job::info::Information;
use job::model::{ExchangeKind, FileKind, Source};

use super::misestimate::misestimated_upstream;
use super::sizing::{
    HEAVY_BYTES, HEAVY_STORED_BYTES, SHUFFLE_BYTES, STORED_BYTES, bytes_read, fitting_vertices,
    too_few,
};
use super::spill::surplus_ms;
use super::support::{Draft, says};
use crate::facts::{bytes, counter, number, summary, text, word};
use crate::impact::regroup;
use crate::model::{Cause, Fact};
use crate::rule::{About, Examination, Rule};
use crate::view::View;

/// The rule.
pub(crate) struct TooLow;

static ABOUT: About = About {
    cause: Cause::ParallelismTooLow,
    what: says(
        "重负载 stage 的顶点数远少于其数据量所需",
        "a heavy stage runs on far fewer vertices than its data calls for",
    ),
    needs: &[Information::StageStatistics, Information::StageGraph],
    helps: &[
        Information::Script,
        Information::StoredLayout,
        Information::JobTimes,
    ],
    thresholds: &[
        &HEAVY_BYTES,
        &HEAVY_STORED_BYTES,
        &SHUFFLE_BYTES,
        &STORED_BYTES,
    ],
    counter_evidence: &[
        says(
            "令牌已全部占用，更多顶点也只能排队",
            "all tokens are in use: more vertices would only queue",
        ),
        says(
            "全局汇集到一个顶点（见 shuffle.serial_gather）",
            "a gather into one vertex (see shuffle.serial_gather)",
        ),
        says(
            "分区少是因为估计错误（见 cardinality.misestimate）",
            "few partitions because of a wrong estimate (see cardinality.misestimate)",
        ),
    ],
};

impl Rule for TooLow {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for stage in 0..view.job.stages.len() {
            let gathered = view
                .inputs(stage)
                .any(|e| e.exchange == ExchangeKind::Gather);
            if gathered || misestimated_upstream(view, stage).is_some() {
                continue;
            }
            // Without the plan a wrong estimate may be the reason, unless another one is seen.
            let known = view.job.plan.is_some() || reason(view, stage).is_some();
            if let Some(per_vertex) =
                too_few(view, stage, limiting_hint(view, stage).is_some()).filter(|_| known)
            {
                result.found(view, draft(view, stage, per_vertex));
            }
        }
        result.cleared_by(
            "每个 stage 的顶点数与其数据量相称",
            "every stage has the vertices that its data calls for",
        )
    }
}

fn draft(view: &View<'_>, stage: usize, per_vertex: f64) -> Draft {
    let vertices = view.vertices(stage).unwrap_or(1);
    let fitting = fitting_vertices(view, stage)
        .unwrap_or(1)
        .max(vertices as usize);
    let surplus = view.run_seconds(stage, surplus_ms(view, stage));
    let why = reason(view, stage);
    let (why_zh, why_en) = why.as_ref().map_or((String::new(), String::new()), |f| {
        (format!("（{}）", f.text.zh), format!(" ({})", f.text.en))
    });
    let mut evidence = evidence(view, stage, per_vertex);
    evidence.extend(why);
    Draft {
        cause: Cause::ParallelismTooLow,
        stage: Some(stage),
        lines: lines(view, stage),
        summary: text(
            format!(
                "{} 只用 {vertices} 个顶点，每个读取 {}，而数据量需要约 {fitting} 个{why_zh}",
                view.name(stage),
                bytes(per_vertex)
            ),
            format!(
                "{} runs on {vertices} vertices that read {} each; its data calls for about {fitting}{why_en}",
                view.name(stage),
                bytes(per_vertex)
            ),
        ),
        evidence,
        saved: view.saved(|stages| regroup(&mut stages[stage], fitting, surplus)),
        method: "schedule replayed with as many vertices as the data calls for",
        strength: 0.5 + 0.5 * (per_vertex / view.limit(&HEAVY_BYTES) / 4.0).min(1.0),
    }
}

/// The statement for which the data is partitioned, or that reads it.
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

/// What made the vertices few: a hint of the script, or a compressed input.
pub(crate) fn reason(view: &View<'_>, stage: usize) -> Option<Fact> {
    limiting_hint(view, stage).or_else(|| compressed_input(view, stage))
}

/// A hint that sets how many vertices a stage has.
fn limiting_hint(view: &View<'_>, stage: usize) -> Option<Fact> {
    let script = view.job.script.as_ref()?;
    let statement = script.statement_at_line(lines(view, stage)?.0)?;
    let limiting =
        |name: &str| matches!(name, "PARTITION" | "PARTITIONCOUNT" | "MAXDOP" | "SERIAL");
    let hint = statement.hints.iter().find(|h| limiting(&h.name))?;
    let written = script.slice(&hint.span).to_owned();
    let line = script.line_of(hint.span.start);
    let source = Source {
        file: script.file.clone(),
        locator: Some(format!("line {line}")),
    };
    let says = text(
        format!("第 {line} 行的提示 {written}"),
        format!("the hint {written} in line {line}"),
    );
    Some(word("hint", &written, source, says))
}

fn compressed_input(view: &View<'_>, stage: usize) -> Option<Fact> {
    let tables = view
        .extracts(stage)
        .filter_map(|(_, o)| view.table_of(stage, o));
    let table = tables.into_iter().find(|t| t.compressed.is_some())?;
    let source = table.sources.values().next().cloned()?;
    let says = text(
        format!("{} 是压缩文件，只能由一个顶点读取", table.name),
        format!(
            "{} is compressed and can only be read by one vertex a file",
            table.name
        ),
    );
    Some(word(
        "compressed",
        table.compressed.as_deref().unwrap_or_default(),
        source,
        says,
    ))
}

pub(crate) fn evidence(view: &View<'_>, stage: usize, per_vertex: f64) -> Vec<Fact> {
    let s = &view.job.stages[stage];
    let mut facts = Vec::new();
    facts.extend(summary(s, "totalCount", "vertices"));
    facts.extend(summary(s, "dataRead", "bytes"));
    if let Some((tree, node)) = s
        .counters
        .as_ref()
        .and_then(|t| Some((t, t.node("InputStatistics")?)))
    {
        facts.extend(counter(tree, node, "totalBytes", "bytes"));
        let limit = view.limit(&HEAVY_BYTES);
        let says = text(
            format!("每个顶点读取 {}", bytes(per_vertex)),
            format!("each vertex reads {}", bytes(per_vertex)),
        );
        let source = tree.source(node, "totalBytes");
        facts.push(
            number("totalBytes / vertices", per_vertex, "bytes", source, says)
                .expecting(format!("<= {}", bytes(limit))),
        );
    }
    if facts.is_empty() {
        let file = s.runs.as_ref().map(|r| r.file.clone()).or_else(|| {
            view.job
                .files
                .iter()
                .find(|f| f.kind == FileKind::VertexDef)
                .map(|f| f.name.clone())
        });
        if let (Some(file), Some(all)) = (file, bytes_read(view, stage)) {
            let says = text(
                format!("{} 共读取 {}", s.name, bytes(all)),
                format!("{} reads {} in all", s.name, bytes(all)),
            );
            facts.push(number(
                "bytes read",
                all,
                "bytes",
                Source {
                    file,
                    locator: Some(s.name.clone()),
                },
                says,
            ));
        }
    }
    facts
}
