//! The judge of texts about one job, and its faults.

use std::collections::BTreeSet;

use report::{Suggestion, Text};

use super::ledger::Ledger;
use super::mention::Clause;
use crate::found::Found;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No fact supports it.
    Unverified,
    /// Facts contradict it.
    Contradiction,
    /// It denies the program's verdict or a finding.
    Denial,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// Where it is marked.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
    pub(crate) remark: Text,
}

impl Clause {
    /// The fault of a clause that facts contradict.
    pub(super) fn contradicts(&self, remark: Text) -> Fault {
        Fault {
            at: self.span.end,
            kind: Kind::Contradiction,
            remark,
        }
    }
}

/// Judges texts about one job.
pub(crate) struct Judge<'a> {
    pub(crate) ledger: Ledger,
    pub(crate) found: &'a Found,
    pub(crate) suggestions: &'a [Suggestion],
    /// Seconds that the job ran, and from its submission to its end.
    pub(crate) elapsed: [Option<f64>; 2],
}

impl Judge<'_> {
    pub(super) fn suggestion(&self, id: &str) -> Option<&Suggestion> {
        self.suggestions.iter().find(|s| s.id == id)
    }

    /// The suggestions that fix a finding.
    pub(super) fn fixes(&self, finding: &str) -> impl Iterator<Item = &Suggestion> {
        let fixes = move |s: &&Suggestion| s.finding.as_deref() == Some(finding);
        self.suggestions.iter().filter(fixes)
    }
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

impl Topic {
    /// The stages that a clause is about.
    pub(super) fn stages_of<'s>(&'s self, clause: &'s Clause) -> &'s BTreeSet<String> {
        match clause.stages.is_empty() {
            true => &self.stages,
            false => &clause.stages,
        }
    }
}

/// The basis of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Basis {
    /// It names an id.
    pub(super) cites: bool,
    /// It names an id of a suggestion or a passage.
    pub(super) cites_advice: bool,
    /// It names a stage, a table, a column or another identifier.
    pub(super) names: bool,
    pub(super) has_number: bool,
    /// It says that something saves time.
    pub(super) has_gain: bool,
    /// It has a term of the field.
    pub(super) has_term: bool,
    pub(super) recommends: bool,
}

impl Basis {
    /// Whether a sentence has no id, name, number or gain.
    pub(super) fn is_of_no_fact(self) -> bool {
        !(self.cites || self.names || self.has_number || self.has_gain)
    }

    /// Whether a sentence may stay. `cites`: whether the text has cited a fact so far.
    pub(super) fn stands(self, cites: bool) -> bool {
        match self.recommends {
            true => self.cites_advice,
            false => self.cites || self.names || cites && self.has_term && !self.has_number,
        }
    }
}
