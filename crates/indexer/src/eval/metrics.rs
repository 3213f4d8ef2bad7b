//! nDCG, reciprocal rank and recall of one ranking. Gains are linear, as in trec_eval and BEIR.

use std::collections::HashSet;

use super::Options;
use super::judgements::Relevant;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct QueryScores {
    pub(crate) ndcg: f64,
    pub(crate) reciprocal_rank: f64,
    pub(crate) recall: f64,
}

/// Scores a ranking of (chunk, document). The first chunk of a document meets a judgment of the whole document; its other chunks
/// are skipped.
pub(crate) fn score(
    ranking: &[(String, String)],
    relevant: &[Relevant],
    options: &Options,
) -> QueryScores {
    let grades = grades(ranking, relevant);
    let judged = relevant.iter().map(|r| r.grade);
    let judged: Vec<f64> = judged.filter(|&g| g > 0.0).collect();
    let first = grades.iter().take(options.k).position(|&grade| grade > 0.0);
    let found = grades.iter().take(options.recall_at).filter(|&&g| g > 0.0);
    QueryScores {
        recall: found.count() as f64 / judged.len().max(1) as f64,
        ndcg: ndcg(&grades, judged, options.k),
        reciprocal_rank: first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
    }
}

fn grades(ranking: &[(String, String)], relevant: &[Relevant]) -> Vec<f64> {
    let mut met: HashSet<&str> = HashSet::new();
    let mut out = Vec::with_capacity(ranking.len());
    for (chunk, document) in ranking {
        let judged = |id: &str| relevant.iter().find(|r| r.target == id);
        match judged(chunk).or_else(|| judged(document)) {
            Some(target) if met.insert(&target.target) => out.push(target.grade.max(0.0)),
            Some(_) => {}
            None => out.push(0.0),
        }
    }
    out
}

/// Discounted gain of the first `k` grades, relative to the best order of all `judged` grades; 0 if none is above 0.
pub(crate) fn ndcg(grades: &[f64], mut judged: Vec<f64>, k: usize) -> f64 {
    judged.sort_by(|a, b| b.total_cmp(a));
    let gain = |grades: &[f64]| -> f64 {
        let ranked = grades.iter().take(k).zip(2_u32..);
        ranked
            .map(|(grade, rank)| grade / f64::from(rank).log2())
            .sum()
    };
    match gain(&judged) {
        best if best > 0.0 => gain(grades) / best,
        _ => 0.0,
    }
}

/// 0 for no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// nDCG, reciprocal rank and recall of chunks, given the grades of targets.
    fn scores(ids: &[&str], grades: &[(&str, f64)]) -> [f64; 3] {
        let document = |id: &str| id.split('#').next().unwrap_or(id).to_owned();
        let ranking: Vec<_> = ids
            .iter()
            .map(|&id| (id.to_owned(), document(id)))
            .collect();
        let relevant = |&(target, grade): &(&str, f64)| Relevant {
            target: target.to_owned(),
            grade,
        };
        let relevant: Vec<_> = grades.iter().map(relevant).collect();
        let scores = score(&ranking, &relevant, &Options::default());
        [scores.ndcg, scores.reciprocal_rank, scores.recall]
    }

    #[test]
    fn scores_are_those_of_trec_eval() {
        for (ids, grades, expected) in [
            (
                ["x#1", "a#1", "b#1"].as_slice(),
                [("a#1", 2.0), ("b#1", 1.0), ("c#1", 1.0)].as_slice(),
                // (2/log2(3) + 1/log2(4)) / (2 + 1/log2(3) + 1/log2(4))
                [1.761_859_5 / 3.130_929_7, 0.5, 2.0 / 3.0],
            ),
            // a judged document is met once
            (&["a#1", "a#2", "b#1"], &[("a", 1.0), ("b", 1.0)], [1.0; 3]),
            (&[], &[("a", 1.0)], [0.0; 3]),
        ] {
            for (found, expected) in scores(ids, grades).into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{ids:?}: {found}");
            }
        }
    }
}
