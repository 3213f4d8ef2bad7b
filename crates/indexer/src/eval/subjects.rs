//! Quality for a reader: documents folded by subject, per set, language and kind of question, and the refused
//! share.
//!
//! A document and its translation are one subject. The metrics of the branches, by document, are in [`super::metrics`].

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::judgements::Judged;
use super::metrics::{Estimate, ndcg};
use super::{EvalError, Options};
use crate::model::{Chunk, Evidence, subject};
use crate::search::Index;
use report::Match;

/// The grade of an answer; lower grades only help.
const ANSWERS: f64 = 3.0;

/// Hits that are folded into subjects; a document contributes few.
const DEPTH: usize = 30;

/// Hits that may hold the strong match: the default number shown to a reader.
const SHOWN: usize = 5;

/// Quality for some answerable queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subjects {
    pub queries: usize,
    /// nDCG of the subjects.
    pub ndcg: Estimate,
    /// Share of queries that the first subject answers.
    #[serde(rename = "success@1")]
    pub success_at_1: Estimate,
    #[serde(rename = "success@3")]
    pub success_at_3: Estimate,
    /// Share that is wrongly refused: without a strong match among the first five.
    pub refused: Estimate,
    /// Whether the first passage, or one of the first three, is useful; of the queries with judged passages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<Passages>,
}

/// Quality of the passages shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passages {
    pub queries: usize,
    #[serde(rename = "first")]
    pub success_at_1: Estimate,
    #[serde(rename = "among_3")]
    pub success_at_3: Estimate,
}

/// One set of judgments: `tune`, `heldout`, `fresh`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Set {
    /// `all`, `zh`, `en`, and the kinds of question.
    pub answerable: BTreeMap<String, Subjects>,
    /// Share of the unanswerable questions that is refused, by the same names.
    pub unanswerable: BTreeMap<String, Estimate>,
}

/// The result of one query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Subjects of the hits, best first, up to the cut-off.
    pub subjects: Vec<String>,
    pub ndcg: f64,
    /// Rank of the first subject that answers, from 1.
    pub answer: Option<usize>,
    pub refused: bool,
    /// Rank of the first passage that a reader needs, from 1; [`usize::MAX`] if none is shown, `None` if none is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<usize>,
    /// Of the first hits.
    pub evidence: Vec<Evidence>,
}

/// Runs the queries as a reader would.
pub(super) fn run(
    index: &Index,
    judged: &[&Judged],
    options: &Options,
) -> Result<Vec<Outcome>, EvalError> {
    let outcomes = judged.par_iter().map(|query| {
        let hits = index.search(&query.query(DEPTH))?;
        let mut subjects: Vec<String> = Vec::new();
        for subject in hits.iter().map(|hit| hit.chunk.subject().to_owned()) {
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        subjects.truncate(options.k);
        let shown = || hits.iter().take(SHOWN);
        let grades: Vec<f64> = subjects.iter().map(|s| grade(query, s)).collect();
        let answer = grades.iter().position(|&grade| grade >= ANSWERS);
        Ok(Outcome {
            ndcg: ndcg(&grades, judged_grades(query), options.k),
            answer: answer.map(|at| at + 1),
            refused: shown().all(|hit| hit.fit == Match::Weak),
            passage: passage(query, shown().map(|hit| &*hit.chunk)),
            evidence: shown().map(|hit| hit.evidence).collect(),
            subjects,
        })
    });
    outcomes.collect()
}

fn passage<'a>(query: &Judged, mut shown: impl Iterator<Item = &'a Chunk>) -> Option<usize> {
    let is_needed = |chunk: &Chunk| {
        let is_asked = chunk.section.is_some_and(|s| query.sections.contains(&s));
        is_asked && grade(query, chunk.subject()) >= ANSWERS
    };
    let found = shown.position(is_needed).map_or(usize::MAX, |at| at + 1);
    (!query.sections.is_empty()).then_some(found)
}

fn grade(query: &Judged, of: &str) -> f64 {
    let grades = query.relevant.iter().filter(|r| subject(&r.target) == of);
    grades.map(|r| r.grade).fold(0.0, f64::max)
}

/// The grade of each judged subject.
fn judged_grades(query: &Judged) -> Vec<f64> {
    let mut best: BTreeMap<&str, f64> = BTreeMap::new();
    for relevant in &query.relevant {
        let of = best.entry(subject(&relevant.target)).or_default();
        *of = of.max(relevant.grade);
    }
    best.into_values().collect()
}

pub(super) fn sets(judged: &[&Judged], outcomes: &[Outcome]) -> BTreeMap<String, Set> {
    let mut by_set: BTreeMap<&str, Vec<(&Judged, &Outcome)>> = BTreeMap::new();
    for (query, outcome) in judged.iter().zip(outcomes) {
        let set = query.split.as_deref().unwrap_or("other");
        by_set.entry(set).or_default().push((query, outcome));
    }
    let sets = by_set.into_iter();
    sets.map(|(name, pairs)| (name.to_owned(), Set::of(&pairs)))
        .collect()
}

impl Set {
    fn of(pairs: &[(&Judged, &Outcome)]) -> Set {
        let part = |answerable: bool| {
            let mut parts: BTreeMap<String, Vec<&Outcome>> = BTreeMap::new();
            for (query, outcome) in pairs.iter().filter(|(q, _)| q.unanswerable != answerable) {
                let names = ["all", query.language().code()].into_iter();
                for name in names.chain(query.kind.as_deref()) {
                    parts.entry(name.to_owned()).or_default().push(outcome);
                }
            }
            parts.into_iter()
        };
        let refused = |outcomes: &[&Outcome]| share(outcomes, |o| o.refused);
        Set {
            answerable: part(true).map(|(n, o)| (n, Subjects::of(&o))).collect(),
            unanswerable: part(false).map(|(n, o)| (n, refused(&o))).collect(),
        }
    }
}

impl Subjects {
    fn of(outcomes: &[&Outcome]) -> Subjects {
        let ndcg: Vec<f64> = outcomes.iter().map(|o| o.ndcg).collect();
        let within = |k: usize| share(outcomes, |o| o.answer.is_some_and(|rank| rank <= k));
        let judged = outcomes.iter().copied().filter(|o| o.passage.is_some());
        let judged: Vec<&Outcome> = judged.collect();
        let passage = |k: usize| share(&judged, |o| o.passage.is_some_and(|rank| rank <= k));
        Subjects {
            queries: outcomes.len(),
            ndcg: Estimate::of(&ndcg),
            success_at_1: within(1),
            success_at_3: within(3),
            refused: share(outcomes, |o| o.refused),
            passages: (!judged.is_empty()).then(|| Passages {
                queries: judged.len(),
                success_at_1: passage(1),
                success_at_3: passage(3),
            }),
        }
    }
}

fn share(outcomes: &[&Outcome], is: impl Fn(&Outcome) -> bool) -> Estimate {
    let values = outcomes.iter().map(|o| f64::from(u8::from(is(o))));
    Estimate::of(&values.collect::<Vec<_>>())
}
