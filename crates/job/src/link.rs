//! Ties script lines, operators, stages, counters and estimates together.

use crate::counters::CounterNode;
use crate::model::{Job, PlanNode, Source};

/// A thing that was found, and how sure it is the right one.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    /// What was found.
    pub value: T,
    /// 1.0 where a file says so (uid, file and line, plan map), less where it was concluded.
    pub confidence: f64,
    /// Where the tie is written.
    pub source: Option<Source>,
}

/// First and last 1-based line of a piece of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lines {
    /// First line.
    pub first: u32,
    /// Last line.
    pub last: u32,
}

impl Job {
    /// Index of the stage of that name.
    pub fn stage_index(&self, name: &str) -> Option<usize> {
        self.stages.iter().position(|s| s.name == name)
    }

    /// Script lines of the statement that an operator came from.
    pub fn line_of(&self, stage: usize, operator: usize) -> Option<Located<Lines>> {
        let _ = (stage, operator);
        None
    }

    /// Stages (indices) that run a statement of the script, by the statement's index; the stage
    /// with most operators of it first.
    pub fn stage_of(&self, statement: usize) -> Vec<Located<usize>> {
        let _ = statement;
        Vec::new()
    }

    /// Stages (indices) that run code of these script lines.
    pub fn stages_of_lines(&self, lines: Lines) -> Vec<Located<usize>> {
        let _ = lines;
        Vec::new()
    }

    /// Run-time counters of an operator.
    pub fn counters_of(&self, stage: usize, operator: usize) -> Option<Located<&CounterNode>> {
        let _ = (stage, operator);
        None
    }

    /// What the optimizer expected of an operator.
    pub fn estimate_of(&self, stage: usize, operator: usize) -> Option<Located<&PlanNode>> {
        let _ = (stage, operator);
        None
    }
}
