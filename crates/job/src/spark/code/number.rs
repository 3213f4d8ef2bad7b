//! The numbers of partitions that a program asks for, by the argument of the call that takes one.

use std::collections::BTreeSet;

use super::find::only;
use super::sql::{self, SqlHint};
use super::{Call, Place, Program};
use crate::script::Span;

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

/// Methods with a column or another value in its place.
const POSSIBLE: [Counted; 15] = [
    ("range", 3, "numSlices"),
    ("range", 3, "numPartitions"),
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
    ("hint", 1, "parameters"),
];

/// Methods that take a lower limit: each file has a partition for its rest.
const AT_LEAST: [Counted; 2] = [
    ("textFile", 1, "minPartitions"),
    ("wholeTextFiles", 1, "minPartitions"),
];

/// Hints of a query that change the partitions of its rows.
const HINTS: [&str; 4] = [
    "COALESCE",
    "REPARTITION",
    "REPARTITION_BY_RANGE",
    "REBALANCE",
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
        let of = |counted: &'static [Counted]| counted.iter().filter(|c| c.0 == call.name);
        // `range` without a receiver is the one of Python
        let is_own = match call.name.as_str() {
            "ALS" => true,
            "hint" => self.is_partition_hint(call),
            _ => call.receiver.is_some(),
        };
        let own = of(&CERTAIN).chain(of(&POSSIBLE)).chain(of(&AT_LEAST));
        let mut found = Vec::new();
        for (_, position, keyword) in own.filter(|_| is_own) {
            let is_certain = of(&CERTAIN).next().is_some();
            let is_least = of(&AT_LEAST).next().is_some();
            let Some(node) = self.argument(call, *position, keyword) else {
                continue;
            };
            let numbers = self.numbers(node, call.statement);
            let fixed = matches!(self.syntax.kind(node), "string" | "none" | "true" | "false");
            if numbers.is_empty() && is_certain && !fixed {
                found.push((node, None));
            }
            // a limit that decides makes most of the partitions
            let least = if is_least { number / 2 + 1 } else { number };
            let equal = numbers.into_iter();
            let equal = equal.filter(|n| (least..=number).contains(&n.value));
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
            let place = self.place_of(written.passed.unwrap_or(*at))?;
            Some(Place {
                call: Some(*at),
                ..place
            })
        });
        let hints = self.partition_hints();
        let hinted = hints.filter(|(place, hint)| {
            let count = self.count_in(hint);
            is_needed(place.statement) && count.is_some_and(|(_, count)| count == number)
        });
        let mut exact: Vec<Place> = exact.chain(hinted.map(|(place, _)| place)).collect();
        exact.dedup();
        if exact.is_empty() {
            let unknown = taken.iter().filter(|(_, written)| written.is_none());
            return self.place_of(only(unknown)?.0);
        }
        only(exact.into_iter())
    }

    /// The hints of queries that change the partitions of rows, with their places.
    pub fn partition_hints(&self) -> impl Iterator<Item = (Place, SqlHint)> {
        self.queries.iter().flat_map(|query| {
            let all = sql::hints(&self.text, &query.span).into_iter();
            let own = all.filter(|hint| HINTS.contains(&hint.name.as_str()));
            own.map(|hint| {
                let place = Place {
                    span: hint.span.clone(),
                    statement: query.statement,
                    call: None,
                };
                (place, hint)
            })
        })
    }

    /// Whether a call is such a hint of a DataFrame: `df.hint("coalesce", 1)`.
    pub(super) fn is_partition_hint(&self, call: &Call) -> bool {
        let name = call.arguments.first().and_then(|a| self.string(a.node));
        call.name == "hint" && name.is_some_and(|n| HINTS.iter().any(|h| h.eq_ignore_ascii_case(n)))
    }

    /// The number of partitions in a hint, and its place.
    pub fn count_in<'h>(&self, hint: &'h SqlHint) -> Option<(&'h Span, u64)> {
        let mut numbers = hint.arguments.iter();
        numbers.find_map(|span| Some((span, self.slice(span).parse().ok()?)))
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
