//! Retrieval quality: nDCG, MRR and recall per branch and language, with confidence intervals, against judgments.
//!
//! The JSON form of [`Report`] is an interface: fields are added, never renamed.

mod judgements;
mod metrics;
mod subjects;

use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::prelude::*;
use report::Language;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub(crate) use judgements::of_folder as judgements_of;
pub use judgements::{Judged, Relevant, read as read_judgements};
pub use metrics::{Difference, Estimate};
pub use subjects::{Outcome, Passages, Set, Subjects};

use crate::error::SearchError;
use crate::model::Fusion;
use crate::search::Index;
use metrics::{QueryScores, mean};

/// Fewer queries decide little: the 95 % half-width of an nDCG difference is about .035 with 50 queries and
/// .025 with 100.
const ENOUGH_QUERIES: usize = 100;

#[derive(Debug, Error)]
pub enum EvalError {
    #[error("cannot read {path}: {reason}")]
    Read {
        path: PathBuf,
        /// With the line, if there is one.
        reason: String,
    },
    #[error("{path} has no judged query; see the README there for the format")]
    NoQueries { path: PathBuf },
    #[error(transparent)]
    Search(#[from] SearchError),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Cut-off of nDCG and MRR.
    pub k: usize,
    /// Cut-off of recall.
    pub recall_at: usize,
    /// Only queries of this set (`tune`, `heldout`, `fresh`).
    pub split: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            k: 10,
            recall_at: 100,
            split: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Scores of `bm25`, `vector` and `hybrid`.
    pub branches: BTreeMap<String, Scores>,
    pub languages: BTreeMap<String, LanguageReport>,
    /// Paired differences in nDCG between branches.
    pub differences: BTreeMap<String, Difference>,
    pub queries: usize,
    pub documents: usize,
    pub chunks: usize,
    pub embedder: String,
    pub warnings: Vec<String>,
    /// nDCG per query and branch, for comparison with a later run.
    pub per_query: BTreeMap<String, BTreeMap<String, f64>>,
    /// Quality for a reader, per set of judgments.
    #[serde(default)]
    pub sets: BTreeMap<String, Set>,
    /// The same per query.
    #[serde(default)]
    pub outcomes: BTreeMap<String, Outcome>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Means of `ndcg@10`, `mrr@10`, `recall@100` (with the cut-offs of the options).
    #[serde(flatten)]
    pub metrics: BTreeMap<String, f64>,
    /// 95 % bootstrap interval of the nDCG.
    pub ci95: [f64; 2],
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LanguageReport {
    pub queries: usize,
    pub branches: BTreeMap<String, Scores>,
}

/// Runs every judged query through all three branches of `index`.
pub fn evaluate(index: &Index, judged: &[Judged], options: &Options) -> Result<Report, EvalError> {
    let is_asked = |query: &&Judged| options.split.is_none() || query.split == options.split;
    let all: Vec<&Judged> = judged.iter().filter(is_asked).collect();
    let outcomes = subjects::run(index, &all, options)?;
    let sets = subjects::sets(&all, &outcomes);
    let ids = all.iter().map(|query| query.id.clone());
    let outcomes = ids.zip(outcomes).collect();
    let judged: Vec<&Judged> = all
        .into_iter()
        .filter(|query| !query.unanswerable)
        .collect();
    let mut scores: BTreeMap<String, Vec<QueryScores>> = BTreeMap::new();
    let mut per_query: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    let branches = [
        ("bm25", Some(Fusion::Bm25)),
        ("vector", Some(Fusion::Vector)),
        ("hybrid", None),
    ];
    for (branch, fusion) in branches {
        let of_branch = run_branch(index, &judged, fusion, options)?;
        for (query, scores) in judged.iter().zip(&of_branch) {
            let entry = per_query.entry(query.id.clone()).or_default();
            entry.insert(branch.to_owned(), scores.ndcg);
        }
        scores.insert(branch.to_owned(), of_branch);
    }
    let summary = |keep: &dyn Fn(&Judged) -> bool| -> BTreeMap<String, Scores> {
        let of = |scores: &Vec<QueryScores>| {
            let kept = judged.iter().zip(scores).filter(|(query, _)| keep(query));
            Scores::of(
                &kept.map(|(_, scores)| *scores).collect::<Vec<_>>(),
                options,
            )
        };
        scores
            .iter()
            .map(|(branch, scores)| (branch.clone(), of(scores)))
            .collect()
    };
    let languages = [Language::Zh, Language::En]
        .into_iter()
        .filter_map(|language| {
            let speaks = |query: &Judged| query.language() == language;
            let queries = judged.iter().filter(|query| speaks(query)).count();
            let report = LanguageReport {
                queries,
                branches: summary(&speaks),
            };
            (queries > 0).then(|| (language.code().to_owned(), report))
        });
    let ndcg = |branch: &str| -> Vec<f64> { scores[branch].iter().map(|s| s.ndcg).collect() };
    let hybrid = ndcg("hybrid");
    let differences = ["bm25", "vector"].map(|branch| {
        (
            format!("hybrid-{branch}"),
            Difference::of(&hybrid, &ndcg(branch)),
        )
    });
    let info = index.info();
    Ok(Report {
        branches: summary(&|_| true),
        languages: languages.collect(),
        differences: differences.into(),
        queries: judged.len(),
        documents: info.documents,
        chunks: info.chunks,
        embedder: info.embedder,
        warnings: warnings(index, &judged),
        per_query,
        sets,
        outcomes,
    })
}

fn run_branch(
    index: &Index,
    judged: &[&Judged],
    fusion: Option<Fusion>,
    options: &Options,
) -> Result<Vec<QueryScores>, EvalError> {
    let scored = judged.par_iter().map(|query| {
        let mut asked = query.query(options.k.max(options.recall_at));
        asked.fusion = fusion;
        let hits = index.search(&asked)?;
        let ranking = hits
            .iter()
            .map(|hit| (&*hit.chunk.id, &*hit.chunk.document));
        Ok(metrics::score(ranking, &query.relevant, options))
    });
    scored.collect()
}

impl Scores {
    fn of(scores: &[QueryScores], options: &Options) -> Scores {
        let all = |of: fn(&QueryScores) -> f64| -> Vec<f64> { scores.iter().map(of).collect() };
        let ndcg = Estimate::of(&all(|s| s.ndcg));
        let (k, recall_at) = (options.k, options.recall_at);
        Scores {
            metrics: BTreeMap::from([
                (format!("ndcg@{k}"), ndcg.mean),
                (format!("mrr@{k}"), mean(&all(|s| s.reciprocal_rank))),
                (format!("recall@{recall_at}"), mean(&all(|s| s.recall))),
            ]),
            ci95: ndcg.ci95,
        }
    }
}

fn warnings(index: &Index, judged: &[&Judged]) -> Vec<String> {
    let mut out = Vec::new();
    let n = judged.len();
    if n < ENOUGH_QUERIES {
        let few = format!("{n} queries show only large differences; use {ENOUGH_QUERIES} or more");
        out.push(few);
    }
    let relevant = judged.iter().flat_map(|query| &query.relevant);
    let is_lost = |target: &&str| target.contains('#') && index.chunk(target).is_none();
    let lost: Vec<&str> = relevant.map(|r| &*r.target).filter(is_lost).collect();
    if let Some(first) = lost.first() {
        let n = lost.len();
        out.push(format!(
            "{n} judgments name chunks that are not in the index, the first is `{first}`; run `lint`"
        ));
    }
    out
}

/// A comparison with an earlier report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// False if a branch is significantly worse than before.
    pub passed: bool,
    /// nDCG now minus before, over the common queries.
    pub differences: BTreeMap<String, Difference>,
    pub queries: usize,
}

/// Passes if the hybrid branch is not significantly worse than `before`.
pub fn gate(now: &Report, before: &Report) -> Gate {
    let queries = now.per_query.iter();
    let shared = queries.filter_map(|(id, scores)| Some((scores, before.per_query.get(id)?)));
    let shared: Vec<_> = shared.collect();
    let mut differences = BTreeMap::new();
    for branch in now.branches.keys() {
        let pairs = shared
            .iter()
            .filter_map(|(now, before)| Some((*now.get(branch)?, *before.get(branch)?)));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
        differences.insert(branch.clone(), Difference::of(&a, &b));
    }
    // A comparison without a common query is no proof.
    let held = differences.get("hybrid").is_some_and(|d| d.ci95[1] >= 0.0);
    Gate {
        passed: held && !shared.is_empty(),
        differences,
        queries: shared.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report_with(ndcg: &[f64]) -> Report {
        let per_query = ndcg.iter().enumerate().map(|(i, &score)| {
            let branches = BTreeMap::from([("hybrid".to_owned(), score)]);
            (format!("q{i}"), branches)
        });
        Report {
            branches: BTreeMap::from([(
                "hybrid".to_owned(),
                Scores {
                    metrics: BTreeMap::from([("ndcg@10".to_owned(), mean(ndcg))]),
                    ci95: [0.0, 1.0],
                },
            )]),
            languages: BTreeMap::new(),
            differences: BTreeMap::new(),
            queries: ndcg.len(),
            documents: 1,
            chunks: 1,
            embedder: "e".to_owned(),
            warnings: Vec::new(),
            per_query: per_query.collect(),
            sets: BTreeMap::new(),
            outcomes: BTreeMap::new(),
        }
    }

    #[test]
    fn the_gate_fails_on_a_significant_loss_only() {
        let before = report_with(&[0.8; 60]);
        let mut slightly = vec![0.8; 60];
        slightly[0] = 0.7;
        slightly[1] = 0.9;
        assert!(gate(&report_with(&slightly), &before).passed);
        assert!(!gate(&report_with(&[0.7; 60]), &before).passed);
        assert!(
            !gate(&report_with(&[]), &before).passed,
            "nothing in common"
        );
    }

    #[test]
    fn the_json_form_is_the_interface() {
        let value = serde_json::to_value(report_with(&[0.5])).expect("json");
        assert_eq!(value["branches"]["hybrid"]["ndcg@10"], 0.5);
        assert_eq!(value["branches"]["hybrid"]["ci95"][1], 1.0);
        assert_eq!(
            (&value["queries"], &value["documents"]),
            (&1.into(), &1.into())
        );
    }
}
