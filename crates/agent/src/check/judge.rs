//! The judge of texts about one job, and its faults.

use std::collections::BTreeSet;

use report::{Suggestion, Text};

use super::ledger::Ledger;
use crate::found::Found;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No fact supports it.
    Unverified,
    /// Facts contradict it.
    Contradiction,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// Where it is marked.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
    pub(crate) remark: Text,
}

/// Judges texts about one job.
pub(crate) struct Judge<'a> {
    pub(crate) ledger: Ledger,
    pub(crate) found: &'a Found,
    pub(crate) suggestions: &'a [Suggestion],
    pub(crate) elapsed: Vec<f64>,
}

/// Names from the earlier sentences of the line and from the same sentence.
#[derive(Debug, Clone, Default)]
pub(super) struct Topic {
    pub(super) line: usize,
    pub(super) sentence: usize,
    pub(super) ids: Vec<String>,
    pub(super) stages: BTreeSet<String>,
    /// Ids cited by a later clause of the sentence.
    pub(super) cited: Vec<String>,
}
