//! Stages, with all data on their vertices.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::operator::Operator;
use crate::counters::CounterTree;
use crate::facts::StageFacts;
use crate::runs::StageRuns;
use report::Source;

/// Statistics of a stage from the ADLA REST interface.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StageSummary {
    pub file: String,
    /// Position in the list of stages: `/stages/3`.
    pub pointer: String,
    /// Every number by its name in the file (`totalCount`, `maxVertexDataRead`, …); durations in ms.
    pub values: BTreeMap<String, f64>,
}

/// One stage (SCOPE calls it a super vertex): operators that run in the same process.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stage {
    /// Name: `SV3_Combine`.
    pub name: String,
    /// Operators in the file's order; inputs come before their readers. Empty if no file lists them.
    pub operators: Vec<Operator>,
    /// Whether only native code runs in it; `None` if no file shows it.
    pub native_only: Option<bool>,
    /// Bytes that the compiler allows a vertex.
    pub memory_limit: Option<u64>,
    /// File that lists the operators; `None` if none does.
    pub defined_in: Option<String>,
    /// Channels that it reads, from the algebra (`SV1_Extract_out0`).
    pub reads: Vec<String>,
    /// Channels that it writes, from the algebra.
    pub writes: Vec<String>,
    /// Run-time counters; in a local run, the merged counters of the stage's vertices.
    pub counters: Option<CounterTree>,
    pub runs: Option<StageRuns>,
    pub summary: Option<StageSummary>,
    /// Name for the user: the place in the code that started it.
    pub call_site: Option<String>,
    /// Facts that the front end computed itself; `None` if they follow from counters and statistics.
    pub facts: Option<Arc<StageFacts>>,
}

impl Stage {
    pub fn definition(&self, place: &str) -> Option<Source> {
        Some(Source {
            file: self.defined_in.clone()?,
            locator: Some(format!("{}/{place}", self.name)),
        })
    }
}
