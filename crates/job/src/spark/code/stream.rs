//! Streaming queries in a program: their options, and the functions of their batches.

use super::{Call, Place, Program, Scope};

/// What a call sets for a streaming query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// How much a batch reads, or when it starts; a function of batches that collects their rows comes first.
    Pace,
    /// Which rows of a result go to the sink.
    Mode,
}

/// Options that limit the rows of a batch.
const LIMITS: [&str; 4] = [
    "maxFilesPerTrigger",
    "maxBytesPerTrigger",
    "maxOffsetsPerTrigger",
    "maxEventsPerTrigger",
];

impl Program {
    pub(super) fn of_stream(&self, property: Stream, scope: &Scope) -> Option<Place> {
        let in_scope = |call: &Call| scope.contains(call.statement);
        let find = |is_meant: &dyn Fn(&Call) -> bool| {
            let mut calls = self.calls.iter();
            let at = calls.position(|call| in_scope(call) && is_meant(call))?;
            self.place_of(at)
        };
        match property {
            Stream::Pace => find(&|call| self.collects_batch(call))
                .or_else(|| find(&|call| self.limit_of(call).is_some()))
                .or_else(|| find(&|call| call.name == "trigger")),
            Stream::Mode => find(&|call| {
                call.arguments.iter().any(|a| {
                    self.string(a.node)
                        .is_some_and(|mode| mode.eq_ignore_ascii_case("complete"))
                })
            }),
        }
    }

    /// The argument of a call that limits the rows of a batch.
    pub fn limit_of(&self, call: &Call) -> Option<usize> {
        let named = |a: &&super::Argument| LIMITS.iter().any(|l| a.keyword.as_deref() == Some(*l));
        let by_keyword = call.arguments.iter().find(named).map(|a| a.node);
        let by_option = || match (call.name.as_str(), call.arguments.as_slice()) {
            ("option", [key, value]) => {
                let key = self.string(key.node)?;
                let is_limit = LIMITS.iter().any(|l| l.eq_ignore_ascii_case(key));
                is_limit.then_some(value.node)
            }
            _ => None,
        };
        by_keyword.or_else(by_option)
    }

    /// Whether a call brings the rows of a batch to the driver.
    fn collects_batch(&self, call: &Call) -> bool {
        let function = &self.statements[call.statement].function;
        let name = function.as_deref();
        let collects = matches!(
            call.name.as_str(),
            "collect" | "toPandas" | "toLocalIterator"
        );
        collects && name.is_some_and(|name| self.is_batch_function(name))
    }

    /// The first statement of a function of batches.
    pub(super) fn in_batches(&self, scope: &Scope) -> Option<usize> {
        let mut statements = (0..self.statements.len()).filter(|at| scope.contains(*at));
        statements.find(|at| {
            let function = self.statements[*at].function.as_deref();
            function.is_some_and(|name| self.is_batch_function(name))
        })
    }

    /// Whether a function is passed to `foreachBatch`, or to a function that passes it on.
    fn is_batch_function(&self, name: &str) -> bool {
        let batches = self.calls.iter().filter(|c| c.name == "foreachBatch");
        let mut passed = batches.filter_map(|c| Some((c.arguments.first()?.node, c.statement)));
        passed.any(|(node, statement)| {
            let mut given = self.passed_to(node, statement);
            self.text_of(node) == name || given.any(|(_, at)| self.text_of(at) == name)
        })
    }

    pub(super) fn reads_stream(&self, call: &Call) -> bool {
        let receiver = call.receiver.map_or("", |at| self.text_of(at));
        receiver.ends_with(".readStream") || receiver.contains(".readStream.")
    }

    /// Number of the statements in the scope that read the name that another one assigns; a statement in a loop is several.
    pub(super) fn readers(&self, statement: usize, scope: &Scope) -> usize {
        let own = &self.statements[statement];
        let Some(name) = own.target.as_deref().filter(|_| scope.contains(statement)) else {
            return 0;
        };
        let later = statement + 1..self.statements.len();
        let reads = |at: &usize| {
            let other = &self.statements[*at];
            other.scopes == own.scopes && other.reads.contains(name)
        };
        let times = |at: usize| 1 + usize::from(self.loop_around(at).is_some());
        let found: usize = later.filter(reads).map(times).sum();
        if found > 1 { found } else { 0 }
    }
}
