//! Rule for `shuffle.unused_columns`: columns that cross an exchange and are never used after it.
//!
//! The optimizer drops what native operators do not need. It cannot look into user code, so the
//! columns that remain are those handed to a class that does not read them.

use job::info::Information;
use job::model::{Column, Edge, FileKind, OperatorKind};

use super::support::{Symptom, both};
use crate::flow::{columns_read, is_generated_class, unread_columns};
use crate::impact::{Saved, scale_run};
use crate::measurements::managed::column_width;
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;
use report::format::{Bytes, Share, TIME};
use report::{Cause, Evidence, text};

/// Share of the bytes of an exchange that unused columns must have.
pub(crate) static MIN_BYTES: Threshold = Threshold {
    name: "unused_columns.min_share",
    default: 0.1,
    unit: "share",
    reason_zh: "不到一成的字节不值得改脚本",
    reason_en: "under a tenth of the bytes is not worth a change of the script",
    source: "judgement",
};

/// Bytes that a row costs on an exchange in addition to its columns: length marks and null bits.
const ROW_OVERHEAD: f64 = 2.0;

/// Milliseconds a sort saves per row and byte that it need not carry.
const SORT_MS_PER_BYTE: f64 = 3.6e-6;

/// The rule.
pub(crate) struct UnusedColumns;

static ABOUT: About = About {
    cause: Cause::UnusedColumns,
    what: both(
        "列经过数据交换后再没有被使用",
        "columns cross an exchange and are never used after it",
    ),
    needs: &[Information::StageGraph, Information::UserCode],
    helps: &[Information::RuntimeCounters, Information::TableStatistics],
    thresholds: &[&MIN_BYTES],
    counter_evidence: &[
        both("用户代码读取了这些列", "the user's code reads them"),
        both(
            "优化器已经裁掉了这些列",
            "the optimizer has dropped them already",
        ),
    ],
};

impl Rule for UnusedColumns {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        let carried: Vec<Carried<'_>> = view
            .job
            .edges
            .iter()
            .filter(|e| View::is_shuffle(e))
            .filter_map(|e| carried(view, e))
            .collect();
        if let Some(widest) = carried
            .iter()
            .max_by(|a, b| a.waste_ms.total_cmp(&b.waste_ms))
        {
            result.found(view, symptom(view, &carried, widest));
        }
        lacking(view, &mut result);
        result.cleared_by(text!(
            "经过交换的列之后都被使用",
            "every column that crosses an exchange is used after it"
        ))
    }
}

/// Unused columns of one exchange.
struct Carried<'a> {
    edge: &'a Edge,
    columns: Vec<&'a Column>,
    share: f64,
    waste_ms: f64,
}

fn carried<'a>(view: &View<'a>, edge: &'a Edge) -> Option<Carried<'a>> {
    let columns = unread_columns(view, edge);
    let width = |c: &Column| column_width(view, &c.name, &c.type_name);
    let all: f64 = edge.schema.iter().map(width).sum::<f64>() + ROW_OVERHEAD;
    let unused: f64 = columns.iter().map(|c| width(c)).sum();
    let share = unused / all;
    if columns.is_empty() || share < view.limit(&MIN_BYTES) {
        return None;
    }
    let rows = edge.rows_written.unwrap_or(0.0);
    let sorted = match view.sort_of(edge) {
        Some(_) => rows * unused * SORT_MS_PER_BYTE,
        None => 0.0,
    };
    Some(Carried {
        edge,
        columns,
        share,
        waste_ms: view.exchange_ms(edge) * share + sorted,
    })
}

fn symptom(view: &View<'_>, carried: &[Carried<'_>], widest: &Carried<'_>) -> Symptom {
    let last = last_reader(view, carried).unwrap_or(widest.edge.to);
    let names: Vec<&str> = widest.columns.iter().map(|c| c.name.as_str()).collect();
    let wasted: f64 = carried
        .iter()
        .map(|c| c.edge.bytes_written.unwrap_or(0.0) * c.share)
        .sum();
    let consumer = carried
        .iter()
        .find(|c| c.edge.to == last)
        .and_then(|c| view.consumer_of(c.edge));
    Symptom {
        cause: Cause::UnusedColumns,
        stage: Some(last),
        lines: consumer.and_then(|(op, _)| view.lines(last, op)),
        summary: text!(
            "列 {names} 经过 {times}数据交换（约 {size}，占交换字节的 {share}）后没有被使用",
            "the columns {names} cross an exchange {times} and are never used afterwards (about {size}, {share} of its bytes)",
            names = names.join(", "),
            times = TIME.count(carried.len() as f64),
            size = Bytes(wasted),
            share = Share(widest.share)
        ),
        evidence: evidence(view, widest, &names),
        saved: saved(view, carried),
        method: "schedule replayed with the exchanges at the bytes of the used columns",
        strength: 0.6 + 0.4 * widest.share,
    }
}

fn saved(view: &View<'_>, carried: &[Carried<'_>]) -> Option<Saved> {
    let mut factors = Vec::new();
    for c in carried {
        let (from, to) = (c.edge.from, c.edge.to);
        let written = view.node_ms(from, c.edge.uid).unwrap_or(0.0) * c.share;
        factors.push((from, 1.0 - view.fraction(from, written)));
        factors.push((to, 1.0 - view.fraction(to, c.waste_ms - written)));
    }
    view.saved(move |stages| {
        for (stage, factor) in &factors {
            scale_run(&mut stages[*stage], *factor);
        }
    })
}

/// The last of the stages that read unused columns: the one whose operator does not use them.
fn last_reader(view: &View<'_>, carried: &[Carried<'_>]) -> Option<usize> {
    let readers: Vec<usize> = carried.iter().map(|c| c.edge.to).collect();
    readers.iter().copied().find(|s| {
        view.job.stages[*s].operators.iter().any(|o| {
            matches!(
                o.kind,
                OperatorKind::Process | OperatorKind::Reduce | OperatorKind::Combine
            ) && !is_generated_class(&o.class_name)
        }) && !carried.iter().any(|c| c.edge.from == *s)
    })
}

fn evidence(view: &View<'_>, widest: &Carried<'_>, names: &[&str]) -> Vec<Evidence> {
    let mut facts = Vec::new();
    let stage = &view.job.stages[widest.edge.from];
    if let Some(written) = view.node(widest.edge.from, widest.edge.uid)
        && let Some(all) = &written.bytes
    {
        facts.extend(view.measured(&written.bytes, "bytes"));
        facts.extend(view.measured(&written.rows, "rows"));
        let sentence = text!(
            "未使用的列约占 {stage} 输出字节的 {share}",
            "unused columns are about {share} of the bytes that {stage} writes",
            stage = stage.name,
            share = Share(widest.share)
        );
        let source = all.source();
        facts.push(
            view.number(
                "bytes of unused columns / bytes",
                widest.share,
                "ratio",
                source,
                sentence,
            )
            .expecting("0"),
        );
    }
    if let Some(codegen) = &view.job.codegen {
        let source = job::model::Source {
            file: codegen.file.clone(),
            locator: None,
        };
        let list = names.join(", ");
        let sentence = text!(
            "用户代码没有读取 {list}",
            "the user's code does not read {list}"
        );
        facts.push(view.word("columns never read", &list, source, sentence));
    }
    facts
}

/// User code whose source is absent, behind an exchange.
fn lacking(view: &View<'_>, result: &mut Examination) {
    let there = view.job.files.iter().any(|f| f.kind == FileKind::Codegen);
    if view.failed() || there {
        return;
    }
    for (index, stage) in view.job.stages.iter().enumerate() {
        let behind = stage.operators.iter().any(|o| {
            matches!(o.kind, OperatorKind::Reduce | OperatorKind::Combine)
                && !is_generated_class(&o.class_name)
                && columns_read(view, &o.class_name).is_none()
        });
        // What the unused columns could cost is at most the exchange itself.
        let exchange: f64 = view
            .inputs(index)
            .filter(|e| View::is_shuffle(e))
            .map(|e| view.exchange_ms(e))
            .sum();
        if !behind || exchange <= 0.0 {
            continue;
        }
        let reason = text!(
            "没有 {stage} 的用户代码，不知道它读取哪些列",
            "without the user code of {stage} it is not known which columns it reads",
            stage = stage.name
        );
        result.lacks(Information::UserCode, view, Some(index), reason);
        if let Some(last) = result.undecided.last_mut() {
            last.share_at_stake *= view.fraction(index, exchange) * 0.5;
        }
    }
}
