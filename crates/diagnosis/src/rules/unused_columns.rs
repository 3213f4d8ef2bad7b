//! Rule for `shuffle.unused_columns`: columns that cross an exchange and are never used after it.
//!
//! The optimizer drops columns that native operators do not need. It cannot look into user code, so the
//! remaining columns are inputs of a class that does not read them.

use job::model::FileKind;

use super::support::{Symptom, lacks, rule};
use crate::alternatives::columns::{Unused, columns_read, pruned};
use crate::alternatives::cost::Rates;
use crate::facts::fact;
use crate::impact::Saved;
use crate::measurements::exchange::measured_write;
use crate::rule::Examination;
use crate::view::View;
use report::format::{Bytes, Names, Share, TIME};
use report::{Evidence, text};

rule! { RULE = UnusedColumns, examine;
    "列经过数据交换后再没有被使用", "columns cross an exchange and are never used after it";
    needs StageGraph, UserCode;
    helps RuntimeCounters, TableStatistics;
    unless "用户代码读取了这些列", "the user's code reads them";
    unless "优化器已经裁掉了这些列", "the optimizer has dropped them already";
    cleared "经过交换的列之后都被使用", "every column that crosses an exchange is used after it";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    if let Some((unused, saved)) = pruned(view, &Rates::of(view))
        && let Some(symptom) = symptom(view, &unused, saved)
    {
        result.offer(view, symptom);
    }
    lacking(view, result);
    result.exchanges(view, View::is_shuffle);
}

fn symptom(view: &View<'_>, unused: &[Unused<'_>], saved: Option<Saved>) -> Option<Symptom> {
    let edge = |u: &Unused<'_>| &view.job.edges[u.edge];
    let wasted = |u: &Unused<'_>| edge(u).bytes_written.unwrap_or(0.0) * u.share;
    let widest = unused
        .iter()
        .max_by(|a, b| wasted(a).total_cmp(&wasted(b)))?;
    let last = unused.iter().find(|u| is_last(view, unused, u));
    let last = last.map_or(edge(widest), edge);
    let consumer = view.consumer_of(last);
    let names: Vec<&str> = widest.columns.iter().map(|c| c.name.as_str()).collect();
    Some(Symptom {
        stage: Some(last.to),
        lines: consumer.and_then(|(op, _)| view.lines(last.to, op)),
        summary: text!(
            "列 {names} 经过 {times}数据交换（约 {size}，占交换字节的 {share}）后没有被使用",
            "the columns {names} cross an exchange {times} and are never used afterwards (about {size}, {share} of its bytes)",
            names = Names(&names),
            times = TIME.count(unused.len() as f64),
            size = Bytes(unused.iter().map(wasted).sum()),
            share = Share(widest.share)
        ),
        evidence: evidence(view, widest, &names),
        saved,
        method: "schedule replayed with the exchanges at the bytes of the used columns",
        strength: 0.6 + 0.4 * widest.share,
    })
}

/// Whether the user code that ignores the unused columns reads this exchange itself.
fn is_last(view: &View<'_>, all: &[Unused<'_>], unused: &Unused<'_>) -> bool {
    let stage = view.job.edges[unused.edge].to;
    let mut nodes = view.derived().flow.of_stage(stage);
    let user_code = nodes.any(|(_, n)| n.is_user_code());
    user_code && !all.iter().any(|u| view.job.edges[u.edge].from == stage)
}

fn evidence(view: &View<'_>, widest: &Unused<'_>, names: &[&str]) -> Vec<Evidence> {
    let edge = &view.job.edges[widest.edge];
    let mut facts = measured_write(view, edge);
    let written = view.node(edge.from, edge.uid);
    if let Some(all) = written.and_then(|w| w.bytes.as_ref()) {
        let share = fact! { view, "bytes of unused columns / bytes", widest.share, "ratio", all.source();
        "未使用的列约占 {stage} 输出字节的 {share}", "unused columns are about {share} of the bytes that {stage} writes", stage = view.name(edge.from), share = Share(widest.share) };
        facts.push(share.expecting("0"));
    }
    facts.extend(view.job.codegen.as_ref().map(|codegen| {
        let source = job::model::Source {
            file: codegen.file.clone(),
            locator: None,
        };
        fact! { view, "columns never read", &names.join(", "), source;
        "用户代码没有读取 {names}", "the user's code does not read {names}", names = Names(names) }
    }));
    facts
}

/// User code behind an exchange without its source.
fn lacking(view: &View<'_>, result: &mut Examination) {
    let there = view.job.files.iter().any(|f| f.kind == FileKind::Codegen);
    if view.failed() || there {
        return;
    }
    for index in 0..view.job.stages.len() {
        let mut nodes = view.derived().flow.of_stage(index);
        let behind = nodes
            .any(|(_, n)| n.is_user_code() && columns_read(view, &n.operator.class_name).is_none());
        // unused columns cost at most the exchange itself
        let exchange: f64 = view
            .inputs(index)
            .filter(|e| View::is_shuffle(e))
            .map(|e| view.exchange_ms(e))
            .sum();
        if !behind || exchange <= 0.0 {
            continue;
        }
        lacks! { result, view, UserCode, Some(index);
        "没有 {stage} 的用户代码，不知道它读取哪些列", "without the user code of {stage}, the columns that it reads are unknown", stage = view.name(index) }
        if let Some(last) = result.undecided.last_mut() {
            last.share_at_stake *= view.fraction(index, exchange) * 0.5;
        }
    }
}
