//! Alternative: leave columns out of an exchange if no later operator needs them. Needed columns are found
//! backwards from the outputs, through renames.

use std::collections::BTreeSet;

use job::model::{Column, OperatorKind};
use job::script::{Expression, Query};

use super::cost::{Rates, Work, read_ms, write_ms};
use crate::impact::Saved;
use crate::properties::dataflow::{Dataflow, Node};
use crate::view::View;

/// Bytes that a row costs on an exchange in addition to its columns: length marks and null bits.
const ROW_OVERHEAD: f64 = 2.0;

/// Milliseconds of moving a byte of a row in and out of a sort: 280 MB/s, a few copies in memory.
const SORT_MS_PER_BYTE: f64 = 3.6e-6;

/// Columns of one exchange that no later operator needs.
#[derive(Debug)]
pub(crate) struct Unused<'a> {
    pub(crate) edge: usize,
    pub(crate) columns: Vec<&'a Column>,
    pub(crate) share: f64,
}

/// All exchanges with unneeded columns; `None` if every column is needed.
pub(crate) fn pruned<'a>(
    view: &View<'a>,
    rates: &Rates,
) -> Option<(Vec<Unused<'a>>, Option<Saved>)> {
    let needed = needed(view);
    let width = |c: &Column| view.column_width(&c.name, &c.type_name);
    let mut work = Work::default();
    let mut found = Vec::new();
    for (at, edge) in view.job.edges.iter().enumerate() {
        let columns = match View::is_shuffle(edge) {
            true => unread(view, &needed, at),
            false => Vec::new(),
        };
        if columns.is_empty() {
            continue;
        }
        let all: f64 = edge.schema.iter().map(width).sum::<f64>() + ROW_OVERHEAD;
        let unused: f64 = columns.iter().map(|c| width(c)).sum();
        let share = unused / all;
        let sorted = view.sort_of(edge).and(edge.rows_written).unwrap_or(0.0);
        work.add(edge.from, -write_ms(view, rates, edge) * share);
        work.add(
            edge.to,
            -read_ms(view, rates, edge) * share - sorted * unused * SORT_MS_PER_BYTE,
        );
        found.push(Unused {
            edge: at,
            columns,
            share,
        });
    }
    (!found.is_empty()).then(|| (found, work.saved(view)))
}

/// Columns that an operator, or a later one, needs of each of its inputs; `None` if it may need
/// any column.
type Needed<'a> = Vec<Option<BTreeSet<&'a str>>>;

/// Needed input columns of every operator.
fn needed<'a>(view: &View<'a>) -> Vec<Needed<'a>> {
    let flow = &view.derived().flow;
    let unknown = |n: &Node<'a>| -> Needed<'a> { vec![None; n.inputs.len()] };
    let mut needed: Vec<Needed<'a>> = flow.nodes.iter().map(unknown).collect();
    for at in flow.order.iter().rev().copied() {
        let later = needed_later(flow, at, &needed);
        let node = &flow.nodes[at];
        let of_input = |input| needed_of(view, node, input, later.as_ref());
        needed[at] = (0..node.inputs.len()).map(of_input).collect();
    }
    needed
}

/// Columns of an edge that no later operator needs.
fn unread<'a>(view: &View<'a>, needed: &[Needed<'a>], edge: usize) -> Vec<&'a Column> {
    let reader = view.derived().flow.reader(view.job, edge);
    let of_reader = reader.and_then(|(node, input)| needed.get(node)?.get(input)?.as_ref());
    let schema = view.job.edges[edge].schema.iter();
    schema
        .filter(|c| of_reader.is_some_and(|n| !n.contains(c.name.as_str())))
        .collect()
}

/// Output columns of an operator that something after it needs.
fn needed_later<'a>(
    flow: &Dataflow<'a>,
    at: usize,
    needed: &[Needed<'a>],
) -> Option<BTreeSet<&'a str>> {
    let node = &flow.nodes[at];
    let mut later = BTreeSet::new();
    if node.operator.outputs.iter().any(|c| c.is_final) {
        later.extend(node.columns());
    }
    for (reader, input) in &node.readers {
        later.extend(needed.get(*reader)?.get(*input)?.as_ref()?);
    }
    Some(later)
}

fn needed_of<'a>(
    view: &View<'a>,
    node: &Node<'a>,
    input: usize,
    later: Option<&BTreeSet<&'a str>>,
) -> Option<BTreeSet<&'a str>> {
    use OperatorKind::{Aggregate, Join, Output, PartialAggregate, Transform};
    let operator = node.operator;
    let schema = &operator.inputs.get(input)?.schema;
    let all = || schema.iter().map(|c| c.name.as_str());
    let later = later?;
    let keys = match (operator.kind, input) {
        (Join | OperatorKind::Combine, 1) => &operator.right_keys,
        _ => &operator.keys,
    };
    let mut needed: BTreeSet<&str> = all().filter(|c| keys.iter().any(|k| k == c)).collect();
    if node.is_user_code() {
        let read = columns_read(view, &operator.class_name)?;
        needed.extend(all().filter(|c| read.iter().any(|r| r == c)));
        return Some(needed);
    }
    let passed: BTreeSet<&str> = node.lineage(input).map(|(_, name)| name).collect();
    let used_later = node.lineage(input).filter(|(out, _)| later.contains(out));
    needed.extend(used_later.map(|(_, name)| name));
    match operator.kind {
        Aggregate | PartialAggregate | Output => needed.extend(all()),
        // input columns that are not passed on are used for computing
        _ => needed.extend(all().filter(|c| !passed.contains(c))),
    }
    if operator.kind == Transform {
        let words = condition_words(view, node, false);
        needed.extend(all().filter(|c| words.iter().any(|w| w == c)));
    }
    Some(needed)
}

/// Columns that a user's class reads; `None` if its source is not there or reads them all.
pub(crate) fn columns_read(view: &View<'_>, class: &str) -> Option<Vec<String>> {
    let name = class.rsplit('.').next().unwrap_or(class);
    let mut classes = view.job.codegen.iter().flat_map(|g| &g.classes);
    let found = classes.find(|c| c.user_code && c.name == name)?;
    found.columns_read.clone()
}

/// Words of the conditions that a filter checks, including the columns that it reads: from the
/// script's `WHERE` and `HAVING`, without the script from the generated class. With `opaque`, only words of
/// conditions with calls, if there are any: the optimizer leaves these in place, and moves
/// others as far down as possible.
pub(crate) fn condition_words(view: &View<'_>, filter: &Node<'_>, opaque: bool) -> Vec<String> {
    if let Some(script) = &view.job.script {
        let lines = view.lines(filter.stage, filter.index);
        let statement = lines.and_then(|(first, _)| script.statement_at_line(first));
        let mut all = Vec::new();
        if let Some(statement) = statement {
            conditions(&statement.query, &mut all);
        }
        let calls = opaque && all.iter().any(|c| !c.calls.is_empty());
        let checked = all.iter().filter(|c| !calls || !c.calls.is_empty());
        return checked
            .flat_map(|c| &c.uses)
            .map(|c| c.name.clone())
            .collect();
    }
    let name = filter.operator.class_name.rsplit('.').next();
    let classes = view.job.codegen.iter().flat_map(|c| &c.classes);
    let condition = classes
        .filter(|c| Some(c.name.as_str()) == name)
        .find_map(|c| c.expressions.first());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = condition.iter().flat_map(|c| c.split(|c| !is_word(c)));
    words.map(str::to_owned).collect()
}

/// Conditions of a query and of its sub-queries.
fn conditions<'q>(query: &'q Query, into: &mut Vec<&'q Expression>) {
    let own = query.filter.iter().chain(&query.having);
    into.extend(own.map(|c| &c.expression));
    query.inner().for_each(|q| conditions(q, into));
}
