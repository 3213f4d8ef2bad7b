//! Finds the best weight of the vector branch on one part of the judgments and measures it on the other.

use std::collections::BTreeMap;

use report::Language;
use serde::Serialize;

use super::metrics::mean;
use super::{Difference, EvalError, Judged, Options, bootstrap, run_branch};
use crate::model::Fusion;
use crate::search::Index;

/// Steps of the grid from 0 to 1; the queries cannot resolve smaller steps.
const STEPS: usize = 20;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// The weight with the best mean nDCG on the tuning part.
    pub vector: f32,
    pub tune_queries: usize,
    /// nDCG on the tuning part, by weight.
    pub curve: BTreeMap<String, f64>,
    pub heldout_queries: usize,
    /// nDCG of the best weight minus nDCG of the usual one on the held-out part, if there is one.
    pub heldout: Option<Difference>,
}

/// Tunes per language: Chinese queries for the weight of CJK script, English queries for the weight
/// of Latin.
pub fn tune(
    index: &Index,
    judged: &[Judged],
    options: &Options,
) -> Result<BTreeMap<String, Tuned>, EvalError> {
    let mut out = BTreeMap::new();
    for (name, language) in [("cjk", Language::Zh), ("latin", Language::En)] {
        let own = judged.iter().filter(|query| query.language == language);
        let part = |split| {
            own.clone()
                .filter(move |q| q.split.as_deref() == Some(split))
        };
        let [tuning, heldout] = ["tune", "heldout"].map(|split| part(split).collect::<Vec<_>>());
        if !tuning.is_empty() {
            let tuned = tune_script(index, &tuning, &heldout, options)?;
            out.insert(name.to_owned(), tuned);
        }
    }
    Ok(out)
}

fn tune_script(
    index: &Index,
    tuning: &[&Judged],
    heldout: &[&Judged],
    options: &Options,
) -> Result<Tuned, EvalError> {
    let mut curve = BTreeMap::new();
    let mut best = (f64::MIN, 0.0_f32);
    for step in 0..=STEPS {
        let vector = step as f32 / STEPS as f32;
        let ndcg = mean(&ndcg(index, tuning, Some(vector), options)?);
        curve.insert(format!("{vector:.2}"), ndcg);
        // Among equals the smaller weight: people can follow the lexical branch.
        if ndcg > best.0 + 1e-9 {
            best = (ndcg, vector);
        }
    }
    let tuned = ndcg(index, heldout, Some(best.1), options)?;
    let usual = ndcg(index, heldout, None, options)?;
    let difference = bootstrap::paired(&tuned, &usual);
    Ok(Tuned {
        vector: best.1,
        tune_queries: tuning.len(),
        curve,
        heldout_queries: heldout.len(),
        heldout: (!heldout.is_empty()).then_some(difference),
    })
}

fn ndcg(
    index: &Index,
    judged: &[&Judged],
    vector: Option<f32>,
    options: &Options,
) -> Result<Vec<f64>, EvalError> {
    let fusion = vector.map(|vector| Fusion::Convex { vector });
    let scores = run_branch(index, judged, fusion, options)?;
    Ok(scores.iter().map(|score| score.ndcg).collect())
}
