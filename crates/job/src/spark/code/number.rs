//! The numbers of partitions that a program asks for, by the argument of the call that takes one.

use std::collections::BTreeSet;

use super::find::only;
use super::{Call, Place, Program};

/// A method with a number of partitions: the position of the argument, and its name.
type Counted = (&'static str, usize, &'static str);

/// Methods that do nothing else with an argument at this position.
const CERTAIN: [Counted; 11] = [
    ("parallelize", 1, "numSlices"),
    ("coalesce", 0, "numPartitions"),
    ("groupByKey", 0, "numPartitions"),
    ("reduceByKey", 1, "numPartitions"),
    ("foldByKey", 2, "numPartitions"),
    ("aggregateByKey", 3, "numPartitions"),
    ("combineByKey", 3, "numPartitions"),
    ("sortByKey", 1, "numPartitions"),
    ("ALS", usize::MAX, "numUserBlocks"),
    ("ALS", usize::MAX, "numItemBlocks"),
    ("setNumBlocks", 0, "value"),
];

/// Methods with a column or another value in its place; `textFile` takes a lower limit.
const POSSIBLE: [Counted; 16] = [
    ("range", 3, "numSlices"),
    ("range", 3, "numPartitions"),
    ("textFile", 1, "minPartitions"),
    ("wholeTextFiles", 1, "minPartitions"),
    ("repartition", 0, "numPartitions"),
    ("repartitionByRange", 0, "numPartitions"),
    ("partitionBy", 0, "numPartitions"),
    ("distinct", 0, "numPartitions"),
    ("groupBy", 1, "numPartitions"),
    ("sortBy", 2, "numPartitions"),
    ("join", 1, "numPartitions"),
    ("leftOuterJoin", 1, "numPartitions"),
    ("rightOuterJoin", 1, "numPartitions"),
    ("fullOuterJoin", 1, "numPartitions"),
    ("cogroup", 1, "numPartitions"),
    ("subtractByKey", 1, "numPartitions"),
];

/// Most calls between a number and the call that takes it.
const DEEPEST: usize = 1;

/// A number and where it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    pub value: u64,
    pub literal: usize,
    /// The call that passes it to the function with the call that takes it.
    pub passed: Option<usize>,
    statement: usize,
}

impl Program {
    /// The arguments of a call that ask for a number of partitions, with the places where it is written; an argument that
    /// may be any number has none.
    pub fn asks_for(&self, call: &Call, number: u64) -> Vec<(usize, Option<Number>)> {
        let certain = CERTAIN.iter().map(|counted| (true, counted));
        let counted = certain.chain(POSSIBLE.iter().map(|counted| (false, counted)));
        // `range` without a receiver is the one of Python
        let is_own = call.receiver.is_some() || call.name == "ALS";
        let own = counted.filter(|(_, (name, ..))| is_own && *name == call.name);
        let mut found = Vec::new();
        for (is_certain, (_, position, keyword)) in own {
            let Some(node) = self.argument(call, *position, keyword) else {
                continue;
            };
            let numbers = self.numbers(node, call.statement);
            let fixed = matches!(self.syntax.kind(node), "string" | "none" | "true" | "false");
            if numbers.is_empty() && is_certain && !fixed {
                found.push((node, None));
            }
            let equal = numbers.into_iter().filter(|n| n.value == number);
            found.extend(equal.map(|n| (node, Some(n))));
        }
        found.dedup();
        found
    }

    /// The integers that an expression may be: a literal, a name of one, or a parameter with the values that calls give it.
    fn numbers(&self, node: usize, statement: usize) -> Vec<Number> {
        let mut found = Vec::new();
        let mut open = vec![(node, statement, None, 0)];
        while let Some((node, statement, passed, depth)) = open.pop() {
            let bound = self.bound(node, statement);
            if let Some(value) = self.integer(bound) {
                found.push(Number {
                    value,
                    literal: bound,
                    passed,
                    statement,
                });
            } else if depth < DEEPEST {
                open.extend(
                    self.passed_to(node, statement)
                        .map(|(call, at)| (at, self.calls[call].statement, Some(call), depth + 1)),
                );
            }
        }
        found
    }

    /// The arguments for a parameter of the function with a statement, with the calls that pass them.
    pub(super) fn passed_to(
        &self,
        node: usize,
        statement: usize,
    ) -> impl Iterator<Item = (usize, usize)> {
        let name = self.text_of(node);
        let function = self.statements.get(statement).and_then(|s| {
            let definition = *s.scopes.first()?;
            let is_name = self.syntax.kind(node) == "identifier";
            let position = self
                .parameters(definition)
                .filter(|_| is_name)?
                .position(|parameter| parameter == name)?;
            Some((s.function.as_deref()?, position))
        });
        function.into_iter().flat_map(move |(function, position)| {
            let calls = self.calls.iter().enumerate();
            let calls = calls.filter(move |(_, c)| c.receiver.is_none() && c.name == function);
            calls.filter_map(move |(at, c)| Some((at, self.argument(c, position, name)?)))
        })
    }

    /// The only call that asks for a number of partitions; where none is known to, the only one with an argument that is
    /// not known. Its place is where the number is written.
    pub(super) fn with_number(
        &self,
        number: u64,
        needed: Option<&BTreeSet<usize>>,
    ) -> Option<Place> {
        let is_needed = |statement: usize| needed.is_none_or(|n| n.contains(&statement));
        let calls = self.calls.iter().enumerate();
        let taken = calls.filter(|(_, call)| is_needed(call.statement));
        let taken = taken.flat_map(|(at, call)| {
            let asked = self.asks_for(call, number).into_iter();
            asked.map(move |(_, written)| (at, written))
        });
        let taken: Vec<(usize, Option<Number>)> = taken.collect();
        let exact = taken.iter().filter_map(|(at, written)| {
            let written = written.filter(|n| is_needed(n.statement))?;
            Some((*at, written.passed))
        });
        let exact: BTreeSet<(usize, Option<usize>)> = exact.collect();
        if exact.is_empty() {
            let unknown = taken.iter().filter(|(_, written)| written.is_none());
            return self.place_of(only(unknown)?.0);
        }
        let (at, passed) = only(exact.into_iter())?;
        let written = self.place_of(passed.unwrap_or(at))?;
        Some(Place {
            call: Some(at),
            ..written
        })
    }

    /// Number of times that a name is read within a node, its definition included.
    pub fn uses(&self, name: &str, within: usize) -> usize {
        let syntax = &self.syntax;
        let nodes = syntax.subtree(within).filter(|at| {
            let own = &syntax.nodes[*at];
            let is_keyword =
                own.field == Some("name") && syntax.kind(own.parent) == "keyword_argument";
            own.kind == "identifier"
                && own.field != Some("attribute")
                && !is_keyword
                && self.text_of(*at) == name
        });
        nodes.count()
    }

    /// The names of a function's parameters.
    fn parameters(&self, definition: usize) -> Option<impl Iterator<Item = &str>> {
        let list = self.syntax.child(definition, "parameters")?;
        let parameters = self.syntax.children(list);
        Some(parameters.map(|at| {
            let mut own = self.syntax.subtree(at);
            let name = own.find(|at| self.syntax.kind(*at) == "identifier");
            name.map_or("", |at| self.text_of(at))
        }))
    }

    pub(super) fn is_parameter(&self, name: &str, statement: usize) -> bool {
        let definition = self.statements.get(statement);
        let definition = definition.and_then(|s| s.scopes.first());
        let parameters = definition.and_then(|at| self.parameters(*at));
        parameters.is_some_and(|mut all| all.any(|own| own == name))
    }
}
