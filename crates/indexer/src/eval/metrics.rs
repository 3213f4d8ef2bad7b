//! nDCG, reciprocal rank and recall of one ranking, with gains that are linear, as in trec_eval and BEIR; and confidence intervals by resampling
//! queries, with a fixed seed.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

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
pub(crate) fn score<'a>(
    ranking: impl Iterator<Item = (&'a str, &'a str)>,
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

fn grades<'a>(
    ranking: impl Iterator<Item = (&'a str, &'a str)>,
    relevant: &[Relevant],
) -> Vec<f64> {
    let mut met: HashSet<&str> = HashSet::new();
    let grade = |(chunk, document): (&str, &str)| {
        let judged = |id: &str| relevant.iter().find(|r| r.target == id);
        match judged(chunk).or_else(|| judged(document)) {
            Some(target) => met.insert(&target.target).then(|| target.grade.max(0.0)),
            None => Some(0.0),
        }
    };
    ranking.filter_map(grade).collect()
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

/// With this many, the ends of a 95 % interval move by about a tenth of its width from seed to seed.
const RESAMPLES: usize = 2000;

const SEED: u64 = 0x5eed_2026;

/// A mean with its 95 % bootstrap interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub mean: f64,
    pub ci95: [f64; 2],
}

impl Estimate {
    pub(crate) fn of(values: &[f64]) -> Estimate {
        if values.is_empty() {
            return Estimate::default();
        }
        let mut random = SEED;
        let mut resampled = |_| {
            let picked = (0..values.len()).map(|_| values[below(&mut random, values.len())]);
            picked.sum::<f64>() / values.len() as f64
        };
        let mut means: Vec<f64> = (0..RESAMPLES).map(&mut resampled).collect();
        means.sort_by(f64::total_cmp);
        Estimate {
            mean: mean(values),
            ci95: [means[RESAMPLES / 40], means[RESAMPLES - 1 - RESAMPLES / 40]],
        }
    }
}

/// The mean difference between two series over the same queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    pub mean: f64,
    pub ci95: [f64; 2],
    /// Whether the interval excludes 0.
    pub significant: bool,
}

impl Difference {
    /// `a - b`, query by query.
    pub(crate) fn of(a: &[f64], b: &[f64]) -> Difference {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let Estimate { mean, ci95 } = Estimate::of(&differences);
        Difference {
            mean,
            ci95,
            significant: ci95[0] > 0.0 || ci95[1] < 0.0,
        }
    }
}

/// SplitMix64, reduced to `0..n`. The bias of the remainder is far below the noise of a resample.
fn below(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) % n as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// nDCG, reciprocal rank and recall of chunks, given the grades of targets.
    fn scores(ids: &[&'static str], grades: &[(&str, f64)]) -> [f64; 3] {
        let document = |id: &'static str| id.split('#').next().unwrap_or(id);
        let ranking = ids.iter().map(|&id| (id, document(id)));
        let relevant = |&(target, grade): &(&str, f64)| Relevant {
            target: target.to_owned(),
            grade,
        };
        let relevant: Vec<_> = grades.iter().map(relevant).collect();
        let scores = score(ranking, &relevant, &Options::default());
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

    #[test]
    fn the_interval_holds_the_mean_and_is_repeatable() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i % 10) / 10.0).collect();
        let [low, high] = Estimate::of(&values).ci95;
        assert!(
            low < 0.45 && 0.45 < high && high - low < 0.15,
            "{low} {high}"
        );
        assert_eq!(Estimate::of(&values).ci95, [low, high]);
        assert_eq!(Estimate::of(&[]).ci95, [0.0, 0.0]);
    }

    #[test]
    fn a_steady_difference_is_significant_and_none_is_not() {
        let a = [0.5, 0.6, 0.7, 0.8];
        let b = [0.4, 0.5, 0.6, 0.7];
        assert!(Difference::of(&a, &b).significant);
        assert!(!Difference::of(&a, &a).significant);
    }
}
