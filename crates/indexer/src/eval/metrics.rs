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
    let mut ideal: Vec<f64> = relevant
        .iter()
        .map(|r| r.grade)
        .filter(|&g| g > 0.0)
        .collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let best = gain(ideal.iter().copied(), options.k);
    let first = grades.iter().take(options.k).position(|&grade| grade > 0.0);
    let found = grades.iter().take(options.recall_at).filter(|&&g| g > 0.0);
    QueryScores {
        ndcg: if best > 0.0 {
            gain(grades.iter().copied(), options.k) / best
        } else {
            0.0
        },
        reciprocal_rank: first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
        recall: found.count() as f64 / ideal.len().max(1) as f64,
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

fn gain(grades: impl Iterator<Item = f64>, k: usize) -> f64 {
    grades
        .take(k)
        .enumerate()
        .map(|(place, grade)| grade / ((place + 2) as f64).log2())
        .sum()
}

/// 0 for no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(ids: &[&str]) -> Vec<(String, String)> {
        ids.iter()
            .map(|id| {
                let document = id.split('#').next().unwrap_or(id);
                ((*id).to_owned(), document.to_owned())
            })
            .collect()
    }

    fn relevant(targets: &[(&str, f64)]) -> Vec<Relevant> {
        targets
            .iter()
            .map(|&(target, grade)| Relevant {
                target: target.to_owned(),
                grade,
            })
            .collect()
    }

    #[test]
    fn scores_are_those_of_trec_eval() {
        let options = Options::default();
        let scores = score(
            &ranking(&["x#1", "a#1", "b#1"]),
            &relevant(&[("a#1", 2.0), ("b#1", 1.0), ("c#1", 1.0)]),
            &options,
        );
        // (2/log2(3) + 1/log2(4)) / (2 + 1/log2(3) + 1/log2(4))
        assert!(
            (scores.ndcg - 1.761_859_5 / 3.130_929_7).abs() < 1e-6,
            "{scores:?}"
        );
        assert_eq!(scores.reciprocal_rank, 0.5);
        assert!((scores.recall - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_judged_document_is_met_once() {
        let options = Options::default();
        let scores = score(
            &ranking(&["a#1", "a#2", "b#1"]),
            &relevant(&[("a", 1.0), ("b", 1.0)]),
            &options,
        );
        assert_eq!((scores.ndcg, scores.recall), (1.0, 1.0));
    }

    #[test]
    fn nothing_found_is_zero() {
        let scores = score(&[], &relevant(&[("a", 1.0)]), &Options::default());
        assert_eq!((scores.ndcg, scores.recall), (0.0, 0.0));
    }
}
