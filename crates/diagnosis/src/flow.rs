//! What the plan says about the data between stages: how it is partitioned when it arrives, and
//! which of its columns anybody reads.
//!
//! Works on operators and channels as the compiler wrote them; knows no costs.

use std::collections::BTreeSet;

use job::model::{Column, Edge, ExchangeKind, Operator, OperatorKind};
use job::script::StatementKind;

use crate::view::View;

/// Key sets by which the rows of a stage are partitioned, by the names that its outputs use.
///
/// An operator keeps rows where they are, so a stage is partitioned as its inputs are: by the
/// keys of the exchange that it reads, or by those of the stored table. Keys that no output
/// carries any more tell nothing.
pub(crate) fn partitioned_by(view: &View<'_>, stage: usize) -> Vec<Vec<String>> {
    let mut sets: Vec<Vec<String>> = Vec::new();
    for edge in view.inputs(stage) {
        match edge.exchange {
            ExchangeKind::Hash if !edge.keys.is_empty() => sets.push(edge.keys.clone()),
            ExchangeKind::OneToOne => sets.extend(partitioned_by_writer(view, edge)),
            _ => {}
        }
    }
    if sets.is_empty() {
        sets.extend(
            view.extracts(stage)
                .filter_map(|(_, o)| stored_keys(view, stage, o)),
        );
    }
    sets
}

fn partitioned_by_writer(view: &View<'_>, edge: &Edge) -> Vec<Vec<String>> {
    if edge.from < edge.to {
        partitioned_by(view, edge.from)
    } else {
        Vec::new()
    }
}

/// Keys by which a stored table is hash-partitioned.
pub(crate) fn stored_keys(
    view: &View<'_>,
    stage: usize,
    extract: &Operator,
) -> Option<Vec<String>> {
    let clustering = view.table_of(stage, extract)?.clustering.as_ref()?;
    let hashed = clustering.kind.contains("hash") && !clustering.keys.is_empty();
    hashed.then(|| clustering.keys.clone())
}

/// Operators of a stage that write an edge, from the partitioner up to what feeds it.
fn writers<'a>(view: &View<'a>, edge: &Edge) -> Option<&'a Operator> {
    view.job.stages[edge.from]
        .operators
        .iter()
        .find(|o| o.outputs.iter().any(|c| c.id == edge.channel))
}

/// Whether the rows of an edge come from stored data through row-by-row operators and partial
/// aggregates only, and the operator that reads it from storage.
pub(crate) fn stored_input<'a>(view: &View<'a>, edge: &Edge) -> Option<(usize, &'a Operator)> {
    let operators = &view.job.stages[edge.from].operators;
    let mut at = writers(view, edge)?;
    for _ in 0..operators.len() {
        if at.kind == OperatorKind::Extract {
            return Some((edge.from, at));
        }
        let [input] = at.inputs.as_slice() else {
            return None;
        };
        at = operators
            .iter()
            .find(|o| o.outputs.iter().any(|c| c.id == input.id))?;
    }
    None
}

/// Columns that cross an edge and that nobody after it reads.
pub(crate) fn unread_columns<'a>(view: &View<'_>, edge: &'a Edge) -> Vec<&'a Column> {
    let read = read_after(view, edge, 0);
    match read {
        Some(read) => edge
            .schema
            .iter()
            .filter(|c| !read.contains(c.name.as_str()))
            .collect(),
        None => Vec::new(),
    }
}

/// Names of the columns of an edge that its reader needs, directly or for later; `None` if that
/// is unknown.
fn read_after(view: &View<'_>, edge: &Edge, depth: usize) -> Option<BTreeSet<String>> {
    if depth > 32 {
        return None;
    }
    let (index, _) = view.reader_of(edge)?;
    read_by(view, edge.to, index, depth)
}

/// Columns of its inputs that an operator, or anything after it, needs.
fn read_by(
    view: &View<'_>,
    stage: usize,
    operator: usize,
    depth: usize,
) -> Option<BTreeSet<String>> {
    if depth > 64 {
        return None;
    }
    let o = &view.job.stages[stage].operators[operator];
    let mut needed: BTreeSet<String> = own_needs(view, o)?;
    let later = needed_later(view, stage, o, depth)?;
    for input in o.inputs.iter().flat_map(|i| &i.schema) {
        if later.contains(&input.name)
            && o.outputs
                .iter()
                .any(|out| out.schema.iter().any(|c| c.name == input.name))
        {
            needed.insert(input.name.clone());
        }
    }
    Some(needed)
}

/// Columns that an operator itself reads: its keys, what it consumes (takes in and does not pass
/// on), and for user code what its source reads.
fn own_needs(view: &View<'_>, o: &Operator) -> Option<BTreeSet<String>> {
    let mut needed: BTreeSet<String> = o.keys.iter().chain(&o.right_keys).cloned().collect();
    let inputs = || o.inputs.iter().flat_map(|i| &i.schema);
    let user = matches!(
        o.kind,
        OperatorKind::Process | OperatorKind::Reduce | OperatorKind::Combine
    );
    if user && !is_generated_class(&o.class_name) {
        needed.extend(columns_read(view, &o.class_name)?);
        return Some(needed);
    }
    match o.kind {
        // What a filter or projection computes with is in the generated code, not here: all of it.
        OperatorKind::Aggregate | OperatorKind::PartialAggregate | OperatorKind::Output => {
            needed.extend(inputs().map(|c| c.name.clone()));
        }
        _ => {
            let passed = |name: &str| {
                o.outputs
                    .iter()
                    .any(|out| out.schema.iter().any(|c| c.name == name))
            };
            needed.extend(
                inputs()
                    .filter(|c| !passed(&c.name))
                    .map(|c| c.name.clone()),
            );
        }
    }
    Some(needed)
}

/// Output columns of an operator that something after it needs.
fn needed_later(
    view: &View<'_>,
    stage: usize,
    o: &Operator,
    depth: usize,
) -> Option<BTreeSet<String>> {
    let mut needed = BTreeSet::new();
    for channel in &o.outputs {
        if channel.is_final {
            needed.extend(channel.schema.iter().map(|c| c.name.clone()));
        }
        for (index, _) in view.readers_within(stage, o) {
            needed.extend(read_by(view, stage, index, depth + 1)?);
        }
        for edge in view.outputs(stage).filter(|e| e.channel == channel.id) {
            needed.extend(read_after(view, edge, depth + 1)?);
        }
    }
    Some(needed)
}

/// Columns that a user's class reads, by the generated code or the C# block of the script; `None`
/// if its source is not there or reads them all.
pub(crate) fn columns_read(view: &View<'_>, class: &str) -> Option<Vec<String>> {
    let name = class.rsplit('.').next().unwrap_or(class);
    let generated = view
        .job
        .codegen
        .as_ref()
        .and_then(|g| g.classes.iter().find(|c| c.user_code && c.name == name));
    if let Some(class) = generated {
        return class.columns_read.clone();
    }
    let script = view.job.script.as_ref()?;
    let mut blocks = script
        .statements
        .iter()
        .filter(|s| s.kind == StatementKind::CsBlock);
    blocks.find_map(|s| job::script::flow::user_code::columns_read(script.slice(&s.span), class))
}

/// Whether a class is one that the compiler writes (`SqlFilterTransformer_3`, `ScopeSorter_7`).
pub(crate) fn is_generated_class(class: &str) -> bool {
    let class = class.rsplit('.').next().unwrap_or(class);
    let stem = class.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    stem.starts_with("Scope")
        || stem.starts_with("Sql")
        || stem.starts_with("SStream")
        || stem == "Splitter"
}
