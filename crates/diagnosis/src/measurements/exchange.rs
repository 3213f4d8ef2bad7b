//! The purpose of an exchange, and the evidence for it.

use job::model::{Edge, OperatorKind};

use crate::facts::{at, fact};
use crate::view::View;
use report::Evidence;

/// Whether the operator that wants this exchange joins its inputs.
pub(crate) fn feeds_join(view: &View<'_>, edge: &Edge) -> bool {
    view.consumer_of(edge)
        .is_some_and(|(_, o)| matches!(o.kind, OperatorKind::Join | OperatorKind::Combine))
}

/// Whether the program chooses the partition of each row of an RDD: `rdd.partitionBy(16, function)`. Without the program, the call
/// site tells that it calls `partitionBy`.
pub(crate) fn has_own_partitioner(view: &View<'_>, edge: &Edge) -> bool {
    let site = view.job.stages[edge.from].call_site.as_deref();
    let is_asked_for = site.is_some_and(|site| site.starts_with("partitionBy at"));
    is_asked_for
        && view.job.program().is_none_or(|program| {
            let mut calls = program.calls.iter();
            calls.any(|call| {
                call.name == "partitionBy" && call.receiver.is_some() && call.arguments.len() == 2
            })
        })
}

/// Bytes and rows that are written to an edge.
pub(crate) fn measured_write(view: &View<'_>, edge: &Edge) -> Vec<Evidence> {
    let written = view.node(edge.from, edge.uid);
    let bytes = written.and_then(|w| view.measured(&w.bytes, "bytes"));
    let rows = written.and_then(|w| view.measured(&w.rows, "rows"));
    bytes.into_iter().chain(rows).collect()
}

/// The partitioner of an edge in the definition file.
pub(crate) fn partitioner_fact(view: &View<'_>, edge: &Edge) -> Option<Evidence> {
    let id = edge.partitioner.as_deref()?;
    let stage = &view.job.stages[edge.from];
    let operator = stage.operators.iter().find(|o| o.id == id)?;
    let mut files = view.job.files.iter();
    let file = files.find(|f| f.kind == job::model::FileKind::VertexDef)?;
    let source = at(&file.name, format!("{}/{id}/@args", stage.name));
    Some(fact! { view, "args", &operator.args, source;
    "{stage} 的 {id} 参数为 {args}", "{id} of {stage} has the arguments {args}", stage = stage.name, args = operator.args })
}
