//! The functions that a stage of RDDs applies to its rows: those of the calls between two shuffles.

use super::find::only;
use super::{Call, Language, Part, Place, Program};
use crate::model::Job;

/// Methods that end a stage.
const SHUFFLES: [&str; 20] = [
    "reduceByKey",
    "groupByKey",
    "aggregateByKey",
    "foldByKey",
    "combineByKey",
    "sortByKey",
    "sortBy",
    "partitionBy",
    "repartition",
    "distinct",
    "groupBy",
    "join",
    "leftOuterJoin",
    "rightOuterJoin",
    "fullOuterJoin",
    "cogroup",
    "subtract",
    "subtractByKey",
    "intersection",
    "countByKey",
];

/// Most calls that are followed back from one.
const MOST_STEPS: usize = 1_000;

impl Job {
    /// The calls with the functions of a stage of RDDs: those before its call site, else those behind the call sites of
    /// the stages that write its rows.
    pub(super) fn functions_of_rdds(&self, program: &Program, stage: usize) -> Option<Place> {
        let call_at = |stage: usize| {
            let site = self.stages.get(stage)?.call_site.as_deref()?;
            program.call_at_site(site)
        };
        let calls = match call_at(stage) {
            Some(end) => program.before(end).0,
            None => {
                let writers = self.edges.iter().filter(|e| e.to == stage);
                let shuffles: Vec<usize> = writers.filter_map(|e| call_at(e.from)).collect();
                let behind = |at: &usize| {
                    let (_, shuffle) = program.before(*at);
                    program.applies_function(&program.calls[*at])
                        && shuffle.is_some_and(|shuffle| shuffles.contains(&shuffle))
                };
                (0..program.calls.len()).filter(behind).collect()
            }
        };
        let places: Vec<Place> = calls
            .iter()
            .filter_map(|at| program.place_of(*at))
            .collect();
        program.hull(places.iter())
    }
}

impl Program {
    /// Whether a call site is one of the program: another file of the same name has other calls there.
    pub(super) fn has_site(&self, site: &str) -> bool {
        match self.language {
            Language::Python => self.call_at_site(site).is_some(),
            _ => self.site(site).is_some(),
        }
    }

    /// The call of a call site.
    fn call_at_site(&self, site: &str) -> Option<usize> {
        let (method, line) = self.site(site)?;
        let named = || {
            let calls = self.calls.iter().enumerate();
            calls.filter(|(_, call)| call.name == method)
        };
        let mut there = named().filter(|(_, call)| self.lines(&call.span).contains(line));
        let statement = self.statement_at(line);
        let in_statement = || only(named().filter(|(_, call)| Some(call.statement) == statement));
        there.next().or_else(in_statement).map(|(at, _)| at)
    }

    /// The calls with functions of rows between a call and the shuffle before it, and that shuffle.
    fn before(&self, end: usize) -> (Vec<usize>, Option<usize>) {
        let mut found = Vec::new();
        let Some(mut call) = self.calls.get(end) else {
            return (found, None);
        };
        for _ in 0..MOST_STEPS {
            let Some(mut node) = call.receiver.map(|at| self.bound(at, call.statement)) else {
                break;
            };
            while self.syntax.kind(node) == "parenthesized_expression" {
                let Some(inner) = self.syntax.children(node).next() else {
                    break;
                };
                node = inner;
            }
            let Some(at) = self.call_at.get(&node).copied() else {
                break;
            };
            call = &self.calls[at];
            if SHUFFLES.contains(&call.name.as_str()) {
                return (found, Some(at));
            }
            if self.applies_function(call) {
                found.push(at);
            }
        }
        (found, None)
    }

    /// Whether a call applies a function of the program to the rows of an RDD.
    pub(super) fn applies_function(&self, call: &Call) -> bool {
        let passed = call.arguments.first().map(|a| a.node);
        let is_own = passed.is_some_and(|at| match self.syntax.kind(at) {
            "lambda" => true,
            "identifier" => self.defines(self.text_of(at)),
            _ => false,
        });
        is_own && Part::UserCode.methods().contains(&call.name.as_str())
    }

    /// Whether the program defines a function of this name.
    fn defines(&self, name: &str) -> bool {
        let mut statements = self.statements.iter();
        statements.any(|s| s.function.as_deref() == Some(name))
    }
}
