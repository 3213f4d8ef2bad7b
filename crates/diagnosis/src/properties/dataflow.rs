//! The operators of all stages as one graph: their inputs, and the origin of columns.

use std::collections::HashMap;

use job::Job;
use job::model::{Operator, OperatorKind};
use job::script::Query;

/// Source of one input of an operator.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Feed {
    /// The operator, by its index in [`Dataflow::nodes`].
    pub(crate) node: Option<usize>,
    /// The edge that the rows cross, by its index in the job.
    pub(crate) edge: Option<usize>,
}

/// An operator in the graph.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) stage: usize,
    pub(crate) index: usize,
    pub(crate) operator: &'a Operator,
    /// Source of each input of the operator.
    pub(crate) inputs: Vec<Feed>,
    /// Operators that read its output, each with its reading input.
    pub(crate) readers: Vec<(usize, usize)>,
    /// For each output column, its input and its name there; `None` if it is
    /// computed or its source is unknown.
    sources: Vec<Option<(usize, &'a str)>>,
    /// Whether a column may be an input column under an unknown name.
    pub(crate) opaque: bool,
}

impl<'a> Node<'a> {
    /// Names of the output columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let schema = self.operator.outputs.first().map(|o| o.schema.as_slice());
        schema.unwrap_or_default().iter().map(|c| c.name.as_str())
    }

    /// Whether its output holds the rows of all its inputs, with columns that correspond by position.
    pub(crate) fn unites(&self) -> bool {
        let joins = matches!(
            self.operator.kind,
            OperatorKind::Join | OperatorKind::Combine
        );
        self.inputs.len() > 1 && !joins
    }

    /// Output columns that are taken from an input, with their names there.
    pub(crate) fn lineage(&self, input: usize) -> impl Iterator<Item = (&'a str, &'a str)> + '_ {
        let schema = |i: usize| self.operator.inputs.get(i).map(|c| c.schema.as_slice());
        let unites = self.unites();
        let own = move |(from, name): (usize, &'a str)| match unites && from != input {
            true => {
                let at = schema(from)?.iter().position(|c| c.name == name)?;
                Some(schema(input)?.get(at)?.name.as_str())
            }
            false => (from == input).then_some(name),
        };
        let all = self.columns().zip(self.sources.iter().copied());
        all.filter_map(move |(out, source)| Some((out, own(source?)?)))
    }

    /// Name that an output column has in an input; `None` if it is not taken from there.
    pub(crate) fn source(&self, column: &str, input: usize) -> Option<&'a str> {
        let mut all = self.lineage(input);
        Some(all.find(|(name, _)| *name == column)?.1)
    }

    /// Whether it runs user code.
    pub(crate) fn is_user_code(&self) -> bool {
        use OperatorKind::{Combine, Process, Reduce};
        matches!(self.operator.kind, Process | Reduce | Combine)
            && !is_generated_class(&self.operator.class_name)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Dataflow<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
    /// Nodes with inputs before their readers; nodes on a cycle are left out.
    pub(crate) order: Vec<usize>,
    /// Position of each node in `order`; nodes on a cycle get a position after its end.
    pub(crate) place: Vec<usize>,
    /// First node of each stage.
    first: Vec<usize>,
}

impl<'a> Dataflow<'a> {
    pub(crate) fn of(job: &'a Job) -> Dataflow<'a> {
        let mut flow = Dataflow::default();
        for (stage, s) in job.stages.iter().enumerate() {
            flow.first.push(flow.nodes.len());
            let nodes = s.operators.iter().enumerate().map(|(index, operator)| {
                let written = written_columns(job, stage, index);
                let sources = sources(operator, written.as_ref());
                Node {
                    stage,
                    index,
                    operator,
                    inputs: Vec::new(),
                    readers: Vec::new(),
                    opaque: is_opaque(operator, &sources, written.is_some()),
                    sources,
                }
            });
            flow.nodes.extend(nodes);
        }
        flow.connect(job);
        flow.sort();
        flow
    }

    /// The operator that reads an edge, and its reading input.
    pub(crate) fn reader(&self, job: &Job, edge: usize) -> Option<(usize, usize)> {
        let to = job.edges.get(edge)?.to;
        self.of_stage(to)
            .find_map(|(at, n)| Some((at, n.inputs.iter().position(|f| f.edge == Some(edge))?)))
    }

    /// The nodes of a stage, with their indices.
    pub(crate) fn of_stage(&self, stage: usize) -> impl Iterator<Item = (usize, &Node<'a>)> {
        let at = |stage: usize| self.first.get(stage).copied().unwrap_or(self.nodes.len());
        let range = at(stage)..at(stage + 1);
        range
            .clone()
            .zip(self.nodes.get(range).into_iter().flatten())
    }

    fn connect(&mut self, job: &Job) {
        let mut writers: HashMap<(usize, &str), usize> = HashMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let outputs = node.operator.outputs.iter();
            writers.extend(outputs.map(|c| ((node.stage, bare(&c.id)), at)));
        }
        let edges = job.edges.iter().enumerate();
        let edges: HashMap<(usize, &str), (usize, usize)> = edges
            .map(|(i, e)| ((e.to, e.channel.as_str()), (i, e.from)))
            .collect();
        for at in 0..self.nodes.len() {
            let stage = self.nodes[at].stage;
            let operator = self.nodes[at].operator;
            for (input, channel) in operator.inputs.iter().enumerate() {
                let id = bare(&channel.id);
                let feed = match (writers.get(&(stage, id)), edges.get(&(stage, id))) {
                    (Some(node), _) if *node != at => Feed {
                        node: Some(*node),
                        edge: None,
                    },
                    (_, Some((edge, from))) => Feed {
                        node: writers.get(&(*from, id)).copied(),
                        edge: Some(*edge),
                    },
                    _ => Feed::default(),
                };
                if let Some(node) = feed.node {
                    self.nodes[node].readers.push((at, input));
                }
                self.nodes[at].inputs.push(feed);
            }
        }
    }

    fn sort(&mut self) {
        let fed = |n: &Node<'_>| n.inputs.iter().filter(|f| f.node.is_some()).count();
        let mut open: Vec<usize> = self.nodes.iter().map(fed).collect();
        let mut ready: Vec<usize> = (0..open.len()).rev().filter(|n| open[*n] == 0).collect();
        self.place = vec![usize::MAX; open.len()];
        while let Some(node) = ready.pop() {
            self.place[node] = self.order.len();
            self.order.push(node);
            for (reader, _) in &self.nodes[node].readers {
                open[*reader] -= 1;
                if open[*reader] == 0 {
                    ready.push(*reader);
                }
            }
        }
        self.cut_cycles();
    }

    /// Removes the connections between operators on or behind a cycle, so
    /// that every path through the operators ends. Only a broken file has cycles.
    fn cut_cycles(&mut self) {
        let place = &self.place;
        let has_place = |node: usize| place[node] != usize::MAX;
        let nodes = self.nodes.iter_mut().enumerate();
        for (_, node) in nodes.filter(|(at, _)| !has_place(*at)) {
            for feed in &mut node.inputs {
                feed.node = feed.node.filter(|from| has_place(*from));
            }
            node.readers.clear();
        }
    }
}

/// A channel's name without the pieces in brackets.
fn bare(id: &str) -> &str {
    id.split('[').next().unwrap_or(id)
}

/// Columns that the statement of an operator lists: the source column by name,
/// `None` for an expression. Only for operators that can rename.
fn written_columns(job: &Job, stage: usize, index: usize) -> Option<HashMap<&str, Option<&str>>> {
    use OperatorKind::{Aggregate, Join, PartialAggregate, Transform};
    let operator = &job.stages[stage].operators[index];
    let renames = operator.inputs.iter().flat_map(|i| &i.schema);
    let known: Vec<&str> = renames.map(|c| c.name.as_str()).collect();
    let outputs = || operator.outputs.iter().flat_map(|o| &o.schema);
    // without its line, finding the statement is expensive, and only needed for new names
    let needed = operator.line.is_some() || outputs().any(|c| !known.contains(&c.name.as_str()));
    let projects = matches!(
        operator.kind,
        Transform | Join | Aggregate | PartialAggregate
    );
    if !projects || !needed {
        return None;
    }
    let script = job.script.as_ref()?;
    let (statement, _) = job.statement_of(stage, index)?;
    let mut listed = HashMap::new();
    list(&script.statements.get(statement)?.query, &mut listed);
    Some(listed)
}

fn list<'q>(query: &'q Query, into: &mut HashMap<&'q str, Option<&'q str>>) {
    for column in query.columns.iter().filter(|c| !c.is_star()) {
        let Some(name) = column.name.as_deref() else {
            continue;
        };
        let source = column.expression.as_column().map(|c| c.name.as_str());
        let entry = into.entry(name).or_insert(source);
        if *entry != source {
            // two lists disagree, so the origin is unknown
            *entry = None;
        }
    }
    for query in query.inner() {
        list(query, into);
    }
}

/// Source of each output column of an operator.
fn sources<'a>(
    operator: &'a Operator,
    written: Option<&HashMap<&'a str, Option<&'a str>>>,
) -> Vec<Option<(usize, &'a str)>> {
    let schema = operator.outputs.first().map(|o| o.schema.as_slice());
    let named = |name: &str| {
        let inputs = operator.inputs.iter().enumerate();
        let mut found = inputs.filter_map(|(i, input)| {
            let column = input.schema.iter().find(|c| c.name == name)?;
            Some((i, column.name.as_str()))
        });
        found.next()
    };
    let source = |(position, name): (usize, &'a str)| match operator.kind {
        OperatorKind::Union => {
            let first = operator.inputs.first()?;
            Some((0, first.schema.get(position)?.name.as_str()))
        }
        OperatorKind::Aggregate | OperatorKind::PartialAggregate => {
            let key = |name: &str| operator.keys.iter().any(|k| k == name);
            let renamed = written.and_then(|w| *w.get(name)?);
            let origin = renamed
                .filter(|r| key(r))
                .or(Some(name).filter(|n| key(n)))?;
            named(origin)
        }
        kind => match written.and_then(|w| w.get(name)) {
            Some(Some(origin)) if *origin != name => match (named(origin), named(name)) {
                (Some(_), Some(_)) => None,
                (found, same) => found.or(same),
            },
            Some(None) if kind == OperatorKind::Transform => None,
            _ => named(name),
        },
    };
    let columns = schema.unwrap_or_default().iter();
    columns
        .map(|c| c.name.as_str())
        .enumerate()
        .map(source)
        .collect()
}

/// Whether the operator may pass a column on under an unknown name.
fn is_opaque(
    operator: &Operator,
    sources: &[Option<(usize, &str)>],
    statement_known: bool,
) -> bool {
    use OperatorKind::{
        Aggregate, Combine, Join, Other, PartialAggregate, Process, Reduce, Transform,
    };
    match operator.kind {
        Process | Reduce | Combine | Other => true,
        Transform | Join | Aggregate | PartialAggregate => {
            !statement_known && sources.iter().any(Option::is_none)
        }
        _ => false,
    }
}

/// Whether the compiler generated a class (`SqlFilterTransformer_3`, `ScopeSorter_7`).
pub(crate) fn is_generated_class(class: &str) -> bool {
    let class = class.rsplit('.').next().unwrap_or(class);
    let stem = class.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    stem.starts_with("Scope")
        || stem.starts_with("Sql")
        || stem.starts_with("SStream")
        || stem == "Splitter"
}
