//! Derives the properties that each operator delivers and requires, for the plan as it ran or with changed
//! exchanges.

use std::collections::{BTreeSet, HashMap};

use job::Job;
use job::model::{ExchangeKind, Operator, OperatorKind, Table};
use job::script::{JoinKind, StatementKind};

use super::dataflow::{Dataflow, Node};
use super::{Delivered, Function, Keys, Names, Partitioning, Required};

/// Effect of an edge in an alternative plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Exchange {
    /// None: rows stay in place.
    Dropped,
    /// Spreads rows with this partitioning.
    To(Partitioning),
}

/// Changed edges of an alternative plan.
pub(crate) type Change = HashMap<usize, Exchange>;

/// Sides of a join that keep unmatched rows, or that alone decide about the rows of
/// the result (semi and anti joins): such a side cannot be copied to every vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OuterSides {
    pub(crate) left: bool,
    pub(crate) right: bool,
}

/// Properties of every operator's output in the plan that ran.
#[derive(Debug)]
pub(crate) struct Derived<'a> {
    pub(crate) flow: Dataflow<'a>,
    delivered: Vec<Delivered>,
    required: Vec<Required>,
    outer: HashMap<usize, OuterSides>,
    job: &'a Job,
}

/// Outputs that differ from the original plan.
type Differing = HashMap<usize, Delivered>;

impl<'a> Derived<'a> {
    /// Properties without operators.
    pub(crate) fn none(job: &'a Job) -> Derived<'a> {
        Derived {
            flow: Dataflow::default(),
            delivered: Vec::new(),
            required: Vec::new(),
            outer: HashMap::new(),
            job,
        }
    }

    /// Properties of every operator of a job. `read` returns the table that an operator of a stage reads, and
    /// the vertices of that stage.
    pub(crate) fn of(
        job: &'a Job,
        read: impl Fn(usize, &Operator) -> (Option<&'a Table>, Option<u64>),
    ) -> Derived<'a> {
        let flow = Dataflow::of(job);
        let nodes = flow.nodes.iter().enumerate();
        let mut derived = Derived {
            delivered: vec![Delivered::default(); flow.nodes.len()],
            required: flow.nodes.iter().map(required).collect(),
            outer: nodes
                .filter(|(_, n)| n.operator.kind == OperatorKind::Join)
                .filter_map(|(at, n)| Some((at, outer_sides(job, n)?)))
                .collect(),
            job,
            flow,
        };
        for at in derived.flow.order.clone() {
            let node = &derived.flow.nodes[at];
            derived.delivered[at] = match node.operator.kind {
                OperatorKind::Extract => {
                    let (table, vertices) = read(node.stage, node.operator);
                    stored(table, vertices, node)
                }
                _ => derived.deliver(at, &Change::new(), &Differing::new()),
            };
        }
        derived
    }

    /// Properties of an operator's output; before its exchange, if it is a partitioner.
    pub(crate) fn delivered(&self, node: usize) -> &Delivered {
        &self.delivered[node]
    }

    /// Requirements of an operator on its inputs.
    pub(crate) fn required(&self, node: usize) -> &Required {
        &self.required[node]
    }

    /// Outer sides of a join; `None` if no file has the kind of the join.
    pub(crate) fn outer_sides(&self, join: usize) -> Option<OuterSides> {
        self.outer.get(&join).copied()
    }

    /// The outer join that leaves a column of an edge null in rows without a match, and its
    /// input that keeps these rows.
    pub(crate) fn nulled_by(&self, edge: usize, column: &str) -> Option<(&Node<'a>, usize)> {
        let (reader, input) = self.flow.reader(self.job, edge)?;
        let mut at = self.flow.nodes[reader].inputs[input].node?;
        let mut name = column;
        for _ in 0..self.flow.nodes.len() {
            let node = &self.flow.nodes[at];
            let inputs = 0..node.inputs.len();
            let (side, source) = inputs
                .rev()
                .find_map(|i| Some((i, node.source(name, i)?)))?;
            let kept = self.outer_sides(at).filter(|_| node.inputs.len() == 2);
            match (kept, side) {
                (Some(OuterSides { left: true, .. }), 1) => return Some((node, 0)),
                (Some(OuterSides { right: true, .. }), 0) => return Some((node, 1)),
                _ => (at, name) = (node.inputs[side].node?, source),
            }
        }
        None
    }

    /// Hash exchanges that feed an input of an operator through sorts, unions and row-by-row
    /// operators, at least one; `None` if some rows come from elsewhere.
    pub(crate) fn arrivals(&self, node: usize, input: usize) -> Option<Vec<usize>> {
        use OperatorKind::{Sort, Transform, Union};
        let mut found = Vec::new();
        let mut open = vec![*self.flow.nodes[node].inputs.get(input)?];
        while let Some(feed) = open.pop() {
            match (feed.edge, feed.node) {
                (Some(edge), _) if self.job.edges[edge].exchange == ExchangeKind::Hash => {
                    found.push(edge);
                }
                (None, Some(node)) => {
                    let node = &self.flow.nodes[node];
                    let passes_on = matches!(node.operator.kind, Sort | Union | Transform);
                    // such an operator without inputs comes from a broken file
                    (passes_on && !node.inputs.is_empty()).then_some(())?;
                    open.extend(&node.inputs);
                }
                _ => return None,
            }
        }
        Some(found)
    }

    /// Inputs with a requirement that the plan meets, or may meet, and the changed plan does not.
    pub(crate) fn unmet(&self, change: &Change) -> Vec<(usize, usize)> {
        let mut differing = Differing::new();
        let mut found = Vec::new();
        // Nodes by their place in the order: inputs come before their readers.
        let place = &self.flow.place;
        let readers = change.keys().filter_map(|e| self.flow.reader(self.job, *e));
        let mut open: BTreeSet<usize> = readers.map(|(node, _)| place[node]).collect();
        while let Some(at) = open.pop_first() {
            let Some(&node) = self.flow.order.get(at) else {
                continue;
            };
            found.extend(self.newly_unmet(node, change, &differing));
            let delivered = self.deliver(node, change, &differing);
            if delivered == self.delivered[node] {
                continue;
            }
            differing.insert(node, delivered);
            open.extend(self.flow.nodes[node].readers.iter().map(|(n, _)| place[*n]));
        }
        found
    }

    fn newly_unmet(
        &self,
        node: usize,
        change: &Change,
        differing: &Differing,
    ) -> Option<(usize, usize)> {
        let (none, as_ran) = (Change::new(), Differing::new());
        let inputs = 0..self.flow.nodes[node].inputs.len();
        let before: Vec<Delivered> = inputs
            .clone()
            .map(|i| self.arrives(node, i, &none, &as_ran))
            .collect();
        let after: Vec<Delivered> = inputs
            .map(|i| self.arrives(node, i, change, differing))
            .collect();
        if self.meets(node, &before) == Some(false) || self.meets(node, &after) == Some(true) {
            return None;
        }
        let changed = before
            .iter()
            .zip(&after)
            .position(|(a, b)| a.partitioning != b.partitioning);
        Some((node, changed?))
    }

    /// Whether the inputs of an operator meet its requirements; `None` if unknown.
    fn meets(&self, node: usize, inputs: &[Delivered]) -> Option<bool> {
        let operator = self.flow.nodes[node].operator;
        let unknown = || {
            inputs
                .iter()
                .any(|d| d.partitioning == Partitioning::Unknown)
        };
        let met = match &self.required[node] {
            Required::Any => return Some(true),
            Required::Unknown => return None,
            Required::Together(keys) => inputs.iter().all(|d| d.partitioning.serves(keys)),
            Required::Matched => match inputs {
                [left, right] => left.partitioning.meets(
                    &right.partitioning,
                    &operator.keys,
                    &operator.right_keys,
                ),
                _ => return None,
            },
        };
        if met || !unknown() { Some(met) } else { None }
    }

    fn arrives(
        &self,
        node: usize,
        input: usize,
        change: &Change,
        differing: &Differing,
    ) -> Delivered {
        let Some(feed) = self.flow.nodes[node].inputs.get(input) else {
            return Delivered::default();
        };
        let before = || {
            let node = feed.node?;
            let found = differing.get(&node).or(self.delivered.get(node));
            found.cloned()
        };
        let Some(at) = feed.edge else {
            return before().unwrap_or_default();
        };
        let edge = &self.job.edges[at];
        let partitioning = match change.get(&at) {
            Some(Exchange::Dropped) => return before().unwrap_or_default(),
            Some(Exchange::To(partitioning)) => partitioning.clone(),
            None if edge.exchange == ExchangeKind::OneToOne => {
                return before().unwrap_or_default();
            }
            None => Partitioning::of_exchange(edge),
        };
        Delivered::spread(partitioning)
    }

    fn deliver(&self, at: usize, change: &Change, differing: &Differing) -> Delivered {
        let node = &self.flow.nodes[at];
        let input = |i: usize| translated(node, i, self.arrives(at, i, change, differing));
        let all = || match node.unites() {
            true => {
                let inputs = (0..node.inputs.len()).map(|i| input(i).partitioning);
                Delivered::spread(united(inputs))
            }
            false => input(0),
        };
        let sorted = || node.operator.keys.iter().map(|k| vec![k.clone()]).collect();
        match node.operator.kind {
            OperatorKind::Extract => self.delivered[at].clone(),
            OperatorKind::Sort => Delivered {
                order: sorted(),
                ..all()
            },
            // hashing leaves rows unsorted
            OperatorKind::PartialAggregate => Delivered::spread(all().partitioning),
            OperatorKind::Join | OperatorKind::Combine => {
                let sides = [0, 1].map(|i| self.arrives(at, i, change, differing));
                let kept = self.outer_sides(at).unwrap_or(OuterSides {
                    left: false,
                    right: false,
                });
                joined(node, sides, kept)
            }
            _ => all(),
        }
    }
}

/// Properties of stored data. They don't hold for a vertex that reads a part of a partition, or several.
fn stored(table: Option<&Table>, vertices: Option<u64>, node: &Node<'_>) -> Delivered {
    let Some(clustering) = table.and_then(|t| t.clustering.as_ref()) else {
        return Delivered::default();
    };
    let function = match clustering.kind.as_str() {
        kind if kind.contains("hash") => Function::Hash,
        kind if kind.contains("range") => Function::Range,
        _ => return Delivered::spread(Partitioning::Scattered),
    };
    let parts = clustering.partitions;
    let split = parts.zip(vertices).is_some_and(|(p, n)| n > u64::from(p));
    let one_each = parts.zip(vertices).is_some_and(|(p, n)| n == u64::from(p));
    let known = |k: &&String| node.columns().any(|c| c == k.as_str());
    if split || clustering.keys.is_empty() || !clustering.keys.iter().all(|k| known(&k)) {
        return Delivered::spread(Partitioning::Scattered);
    }
    let order = clustering
        .sorted_by
        .iter()
        .take_while(|k| one_each && known(k));
    Delivered {
        partitioning: Partitioning::Keyed(Keys {
            function,
            ..Keys::hash(&clustering.keys, parts)
        }),
        order: order.map(|k| vec![k.clone()]).collect(),
    }
}

/// Properties of an input in the names of the output.
fn translated(node: &Node<'_>, input: usize, arriving: Delivered) -> Delivered {
    let rename = |names: &Names| -> Names {
        let kept = node.lineage(input);
        let kept = kept.filter(|(_, own)| names.iter().any(|n| n == own));
        kept.map(|(name, _)| name.to_owned()).collect()
    };
    renamed(arriving, rename, node.opaque)
}

fn renamed(arriving: Delivered, rename: impl Fn(&Names) -> Names, opaque: bool) -> Delivered {
    let partitioning = match arriving.partitioning {
        Partitioning::Keyed(keys) => {
            let names: Vec<Names> = keys.names.iter().map(&rename).collect();
            match names.iter().any(Vec::is_empty) {
                true if opaque => Partitioning::Unknown,
                true => Partitioning::Scattered,
                false => Partitioning::Keyed(Keys { names, ..keys }),
            }
        }
        other => other,
    };
    let order = arriving.order.iter().map(rename);
    Delivered {
        partitioning,
        order: order.take_while(|names| !names.is_empty()).collect(),
    }
}

/// Common partitioning of rows from several inputs.
fn united(mut inputs: impl Iterator<Item = Partitioning>) -> Partitioning {
    let Some(first) = inputs.next() else {
        return Partitioning::Unknown;
    };
    inputs.fold(first, |all, next| match (&all, &next) {
        _ if all == next => all,
        (Partitioning::Unknown, _) | (_, Partitioning::Unknown) => Partitioning::Unknown,
        _ => Partitioning::Scattered,
    })
}

/// Output of a join: the rows stay on the vertex of the match. Columns of the other side that equal a key
/// are other names of it, unless the join fills them with nulls.
fn joined(node: &Node<'_>, sides: [Delivered; 2], kept: OuterSides) -> Delivered {
    use Partitioning::{Everywhere, Keyed, Single};
    let [left, right] = sides;
    let (main, arriving) = match (&left.partitioning, &right.partitioning) {
        (Keyed(_), Keyed(_)) if kept.left && kept.right => {
            return Delivered::spread(Partitioning::Scattered);
        }
        (Everywhere, _) => (1, right),
        (_, Everywhere) => (0, left),
        (_, Keyed(_) | Single) if kept.right => (1, right),
        (Partitioning::Unknown, Keyed(_) | Single) if !kept.left => (1, right),
        _ => (0, left),
    };
    let (own, other) = match main {
        0 => (&node.operator.keys, &node.operator.right_keys),
        _ => (&node.operator.right_keys, &node.operator.keys),
    };
    let equal = |names: &Names| -> Names {
        let pairs = own.iter().zip(other).filter(|_| !kept.left && !kept.right);
        pairs
            .filter(|(a, _)| names.contains(a))
            .map(|(_, b)| b.clone())
            .collect()
    };
    let from = |input: usize, names: &Names| -> Names {
        let found = node
            .lineage(input)
            .filter(|(_, own)| names.iter().any(|n| n == own));
        found.map(|(name, _)| name.to_owned()).collect()
    };
    let rename = |names: &Names| -> Names {
        let mut all = from(main, names);
        all.extend(from(1 - main, &equal(names)));
        all
    };
    renamed(arriving, rename, node.opaque)
}

/// Requirements of an operator on its inputs.
fn required(node: &Node<'_>) -> Required {
    use OperatorKind as K;
    let operator = node.operator;
    match operator.kind {
        K::Aggregate | K::Reduce | K::Window if !operator.keys.is_empty() => {
            Required::Together(operator.keys.clone())
        }
        K::Join | K::Combine => Required::Matched,
        K::Aggregate | K::Reduce | K::Window | K::Top | K::Other => Required::Unknown,
        _ => Required::Any,
    }
}

/// Outer sides of a join: by the optimizer's plan, else by the script.
fn outer_sides(job: &Job, node: &Node<'_>) -> Option<OuterSides> {
    let planned = job
        .estimate_of(node.stage, node.index)
        .and_then(|l| l.value.attributes.get("JoinType"))
        .map(|t| t.to_lowercase());
    let of_text = || {
        job.spark.as_ref()?;
        Some(node.operator.args.to_lowercase())
    };
    if let Some(kind) = planned.or_else(of_text) {
        let full = kind.contains("full");
        return Some(OuterSides {
            left: full || kind.contains("left"),
            right: full || kind.contains("right"),
        });
    }
    let (statement, _) = job.statement_of(node.stage, node.index)?;
    let query = &job.script.as_ref()?.statements.get(statement)?.query;
    if query.kind == StatementKind::Combine {
        return None;
    }
    let keys = &node.operator.keys;
    let same = |j: &&job::script::Join| {
        j.keys.len() == keys.len() && j.keys.iter().all(|(l, _)| keys.contains(&l.name))
    };
    let join = query
        .joins
        .iter()
        .find(same)
        .or(match query.joins.as_slice() {
            [only] => Some(only),
            _ => None,
        })?;
    use JoinKind as J;
    Some(OuterSides {
        left: matches!(
            join.kind,
            J::LeftOuter | J::FullOuter | J::LeftSemi | J::LeftAntiSemi
        ),
        right: matches!(
            join.kind,
            J::RightOuter | J::FullOuter | J::RightSemi | J::RightAntiSemi
        ),
    })
}
