//! Compiles a plan into stages and runs the data through it: exchanges of each statement, and rows that
//! each vertex of each stage reads, holds and emits.
//!
//! Decisions (broadcast or repartition, number of partitions) rest on the estimates, as an optimizer's do;
//! rows come from the distributions. Times are the business of `cost`.

mod columns;
mod exchange;
mod join;
mod names;
mod relational;

use columns::needed_columns;
use names::identify;

use crate::cost;
use crate::data::{Column, KeySpace, TableKind, even_weights};
use crate::physical::{
    Channel, Exchange, Kind, PhysOp, Physical, Placement, Source, Stage, row_width,
};
use crate::plan::{Hint, JoinKind, NodeId, Op, Spec, item_column};
use crate::rng::{hash_text, wobble};
use std::collections::BTreeSet;

/// An operator as (stage, index).
type At = (usize, usize);

struct Compiler<'a> {
    spec: &'a Spec,
    needed: Vec<BTreeSet<String>>,
    stages: Vec<Stage>,
    channels: Vec<Channel>,
    /// Branches (more than one after a union) of each node.
    done: Vec<Vec<At>>,
}

/// Compiles and runs a plan.
pub(crate) fn compile(spec: &Spec) -> Physical {
    let mut c = Compiler {
        spec,
        needed: needed_columns(spec),
        stages: Vec::new(),
        channels: Vec::new(),
        done: vec![Vec::new(); spec.nodes.len()],
    };
    for node in 0..spec.nodes.len() {
        let built = c.node(node);
        c.done[node] = built;
        c.apply_row_hint(node);
    }
    let mut physical = Physical {
        stages: c.stages,
        channels: c.channels,
    };
    identify(&mut physical);
    cost::charge(spec, &mut physical);
    physical
}

/// Partitions for the estimated bytes: a round number, as users and optimizers like them.
fn partitions(spec: &Spec, bytes: f64) -> usize {
    let raw = (bytes / spec.env.partition_bytes).ceil().max(1.0) as usize;
    let nice = match raw {
        0..=8 => raw.max(2),
        9..=40 => raw.div_ceil(4) * 4,
        41..=200 => raw.div_ceil(10) * 10,
        _ => raw.div_ceil(50) * 50,
    };
    nice.min(spec.env.max_partitions as usize)
}

impl Compiler<'_> {
    fn op(&self, at: At) -> &PhysOp {
        &self.stages[at.0].ops[at.1]
    }

    fn hint_count(&self, node: NodeId) -> Option<usize> {
        self.spec.nodes[node].hints.iter().find_map(|h| match h {
            Hint::PartitionCount(n) | Hint::Repartition(n) => Some(*n as usize),
            Hint::Serial => Some(1),
            _ => None,
        })
    }

    fn has(&self, node: NodeId, hint: fn(&Hint) -> bool) -> bool {
        self.spec.nodes[node].hints.iter().any(hint)
    }

    fn apply_row_hint(&mut self, node: NodeId) {
        let Some(rows) = self.spec.nodes[node].hints.iter().find_map(|h| match h {
            Hint::RowCount(n) => Some(*n),
            _ => None,
        }) else {
            return;
        };
        let branches = self.done[node].clone();
        for at in &branches {
            self.stages[at.0].ops[at.1].estimate = rows / branches.len() as f64;
        }
    }

    fn keep(&self, node: NodeId, columns: Vec<Column>) -> Vec<Column> {
        columns
            .into_iter()
            .filter(|c| self.needed[node].contains(&c.name))
            .collect()
    }

    fn new_stage(&mut self, vertices: usize) -> usize {
        self.stages.push(Stage {
            name: String::new(),
            vertices,
            ops: Vec::new(),
            dead: false,
            run_s: Vec::new(),
            read: Vec::new(),
            written: Vec::new(),
            gc: 0.0,
            heap: 0.0,
            managed: false,
        });
        self.stages.len() - 1
    }

    /// Adds an operator with given rows per vertex.
    fn push(&mut self, stage: usize, draft: Draft) -> At {
        let n = self.stages[stage].vertices;
        let zeros = vec![0.0; n];
        self.stages[stage].ops.push(PhysOp {
            kind: draft.kind,
            node: draft.node,
            sources: draft.sources,
            keys: draft.keys,
            columns: draft.columns,
            placement: draft.placement,
            rows: draft.rows,
            rows_in: draft.rows_in,
            distinct: draft.distinct,
            bytes: zeros.clone(),
            held: zeros.clone(),
            spilled: zeros.clone(),
            ms: zeros.clone(),
            cpu_ms: zeros,
            estimate: draft.estimate,
            id: String::new(),
            uid: 0,
            out_uid: 0,
            group: (0, 0),
            channel: None,
        });
        (stage, self.stages[stage].ops.len() - 1)
    }

    fn node(&mut self, node: NodeId) -> Vec<At> {
        match self.spec.nodes[node].op.clone() {
            Op::Read { table } => vec![self.read(node, table)],
            Op::Select {
                input,
                items,
                filters,
            } => {
                let branches = self.done[input].clone();
                branches
                    .into_iter()
                    .map(|at| self.select(node, at, &items, &filters))
                    .collect()
            }
            Op::Union { inputs } => inputs.iter().flat_map(|&i| self.done[i].clone()).collect(),
            Op::Process {
                input,
                produce,
                ratio,
                believed,
                ..
            } => {
                let branches = self.done[input].clone();
                let columns = self.keep(node, produce);
                branches
                    .into_iter()
                    .map(|at| self.process(node, at, &columns, (ratio, believed)))
                    .collect()
            }
            Op::Join {
                left,
                right,
                keys,
                kind,
                fan_out,
                matched,
                ..
            } => {
                vec![self.join(node, left, right, &keys, kind, (fan_out, matched))]
            }
            Op::Group { input, keys, aggs } => vec![self.group(node, input, &keys, &aggs)],
            Op::Reduce {
                input,
                key,
                presort,
                produce,
                ratio,
                ..
            } => {
                vec![self.reduce(node, input, &key, &presort, &produce, ratio)]
            }
            Op::Output { input, order, .. } => vec![self.output(node, input, order.as_deref())],
        }
    }
}

fn probe_placement(stage: &Stage, source: Source) -> Placement {
    match source {
        Source::Op(i) => stage.ops[i].placement.clone(),
        _ => Placement::Any,
    }
}

#[derive(Debug, Clone)]
pub(super) struct Arrival {
    source: Source,
    rows: Vec<f64>,
    distinct: Vec<f64>,
    columns: Vec<Column>,
    estimate: f64,
}

pub(super) struct JoinShape<'a> {
    node: NodeId,
    keys: &'a (String, String),
    kind: JoinKind,
    fan_out: f64,
    matched: f64,
}

pub(super) struct Draft {
    kind: Kind,
    node: NodeId,
    sources: Vec<Source>,
    keys: Vec<String>,
    columns: Vec<Column>,
    placement: Placement,
    rows: Vec<f64>,
    rows_in: Vec<f64>,
    distinct: Vec<f64>,
    estimate: f64,
}

impl Draft {
    fn rows(rows: Vec<f64>) -> Self {
        Self {
            kind: Kind::Get,
            node: 0,
            sources: Vec::new(),
            keys: Vec::new(),
            columns: Vec::new(),
            placement: Placement::Any,
            rows_in: rows.clone(),
            distinct: Vec::new(),
            rows,
            estimate: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Dialect;
    use crate::templates::{Scale, Template, build};

    fn exchanges(template: Template) -> Vec<Exchange> {
        let (spec, _) = build(template, Dialect::Scope, Scale::Usual, 3);
        compile(&spec).channels.iter().map(|c| c.kind).collect()
    }

    #[test]
    fn streams_stored_on_the_key_are_joined_in_place() {
        let kinds = exchanges(Template::Paired);
        // The exchange of the aggregate is the only one left.
        assert_eq!(kinds.len(), 1, "{kinds:?}");
    }

    #[test]
    fn a_small_side_is_broadcast_and_a_large_one_is_not() {
        assert!(exchanges(Template::Star).contains(&Exchange::Broadcast));
        assert!(!exchanges(Template::EnrichJoin).contains(&Exchange::Broadcast));
    }

    #[test]
    fn a_second_operator_on_the_key_needs_no_exchange() {
        assert_eq!(
            exchanges(Template::SameKey),
            [Exchange::Hash, Exchange::Hash]
        );
    }

    #[test]
    fn rows_are_neither_lost_nor_made_by_an_exchange() {
        for template in crate::templates::TEMPLATES {
            let (spec, _) = build(template, Dialect::Scope, Scale::Usual, 8);
            let physical = compile(&spec);
            for c in physical
                .channels
                .iter()
                .filter(|c| c.kind != Exchange::Broadcast)
            {
                let sent = physical.stages[c.from_stage].ops[c.from_op].total();
                let arrived: f64 = c.rows.iter().sum();
                // Each partition is rounded to whole rows.
                assert!(
                    (sent - arrived).abs() <= c.rows.len() as f64,
                    "{sent} {arrived}"
                );
            }
        }
    }
}
