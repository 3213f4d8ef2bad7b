//! The result for one job, in the types of the report, and how its parts get their ids.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::rule::Candidate;
use report::{
    Cost, Evidence, Finding, MissingInformation, ProblemType, RuleOutcome, Source, Suggestion,
    TimeAccount, Verdict,
};

/// The result for one job.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    pub verdict: Verdict,
    /// Failures first, then ranked by seconds saved.
    pub findings: Vec<Finding>,
    /// Strength of the evidence of each finding, 0..1; the confidence is computed from it.
    pub strengths: Vec<f64>,
    /// Findings with too small a share of the run.
    pub notes: Vec<Finding>,
    /// `None` if no file tells how long the job took from submission to end.
    pub time: Option<TimeAccount>,
    /// `None` if the work of a stage is unknown.
    pub cost: Option<Cost>,
    /// Evidence of the findings, then of the notes, the rules, and the time account.
    pub evidence: Vec<Evidence>,
    pub rules: Vec<RuleOutcome>,
    pub suggestions: Vec<Suggested>,
    pub completeness: Completeness,
    /// Most relevant first.
    pub missing: Vec<Missing>,
}

/// A suggestion and how experience on it is looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggested {
    /// Its sources are left for the caller to fill in.
    pub suggestion: Suggestion,
    /// Section and keywords.
    pub topic: String,
}

/// How complete the information is, as section 5 of the specification asks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Completeness {
    /// Share of the information that the problem type needs and that is there, 0..1.
    pub score: f64,
    /// Lowest sufficient score: 0.7 for skew and shuffle, 0.5 for other problems.
    pub minimum: f64,
    /// Whether `score` reaches `minimum` and no rule that matters is undecided.
    pub sufficient: bool,
    /// Share of the rules that are decided, 0..1.
    pub progress: f64,
}

/// Missing information, and the data to decide whether to read its file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missing {
    #[serde(flatten)]
    pub information: MissingInformation,
    /// Share of the undecided impact that the file would settle, 0..1.
    pub relevance: f64,
    /// Parser that reads the file.
    pub parser: Option<String>,
}

impl Diagnosis {
    /// Class of the top finding; `None` without one.
    pub fn problem_type(&self) -> ProblemType {
        let top = self.findings.first();
        top.map_or(ProblemType::None, |f| f.problem_type)
    }

    /// Evidence that the findings use.
    pub fn evidence_of_findings(&self) -> &[Evidence] {
        let used = |e: &Evidence| self.findings.iter().any(|f| f.evidence.contains(&e.id));
        let end = self.evidence.iter().position(|e| !used(e));
        &self.evidence[..end.unwrap_or(self.evidence.len())]
    }
}

/// Numbers evidence by first use: the same value from the same place has one id.
#[derive(Default)]
pub(crate) struct Numbering {
    pub(crate) evidence: Vec<Evidence>,
    /// Positions of the evidence from each place.
    by_place: HashMap<(String, Source), Vec<usize>>,
}

impl Numbering {
    /// Ids of some evidence, each once; a text that repeats another says nothing new.
    pub(crate) fn ids(&mut self, evidence: impl IntoIterator<Item = Evidence>) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        let mut texts: HashSet<String> = HashSet::new();
        for item in evidence {
            if texts.insert(item.text.clone()) {
                let id = self.id(item);
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        ids
    }

    fn id(&mut self, mut item: Evidence) -> String {
        let place = (item.metric.clone(), item.source.clone());
        let known = self.by_place.entry(place).or_default();
        let same = |at: &&usize| self.evidence[**at].value == item.value;
        if let Some(at) = known.iter().find(same) {
            return self.evidence[*at].id.clone();
        }
        known.push(self.evidence.len());
        item.id = format!("E{}", self.evidence.len() + 1);
        let id = item.id.clone();
        self.evidence.push(item);
        id
    }

    /// Findings with ids of `prefix` and a number.
    pub(crate) fn findings(&mut self, prefix: &str, found: Vec<Candidate>) -> Vec<Finding> {
        let number = |(index, candidate): (usize, Candidate)| Finding {
            id: format!("{prefix}{}", index + 1),
            evidence: self.ids(candidate.evidence),
            ..candidate.finding
        };
        found.into_iter().enumerate().map(number).collect()
    }
}
