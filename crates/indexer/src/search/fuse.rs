//! Combines two ranked branches into one list of candidates. Knows ordinals and scores, but no texts.

use std::collections::HashMap;

use crate::model::Fusion;
use crate::store::manifest::Ordinal;

/// A chunk that at least one branch proposed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) ordinal: Ordinal,
    pub(crate) bm25: Option<Ranked>,
    pub(crate) vector: Option<Ranked>,
    /// 0 to 1.
    pub(crate) fused: f32,
}

/// Score in a branch, and the rank, from 1, if the branch proposed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) rank: Option<usize>,
    pub(crate) score: f32,
}

/// `cosine` gives the vector score of a chunk that only the lexical branch proposed; it is not
/// called if `vector` is empty.
pub(crate) fn fuse(
    bm25: &[(Ordinal, f32)],
    vector: &[(Ordinal, f32)],
    cosine: impl Fn(Ordinal) -> Option<f32>,
    fusion: Fusion,
) -> Vec<Candidate> {
    let mut candidates = union(bm25, vector, cosine);
    match fusion {
        Fusion::Convex { vector: weight } => convex(&mut candidates, weight),
        Fusion::Rrf { k, vector: weight } => reciprocal(&mut candidates, k, weight),
        Fusion::Bm25 => convex(&mut candidates, 0.0),
        Fusion::Vector => convex(&mut candidates, 1.0),
    }
    candidates
}

fn union(
    bm25: &[(Ordinal, f32)],
    vector: &[(Ordinal, f32)],
    cosine: impl Fn(Ordinal) -> Option<f32>,
) -> Vec<Candidate> {
    let mut out: Vec<Candidate> = Vec::with_capacity(bm25.len() + vector.len());
    let mut places: HashMap<Ordinal, usize> = HashMap::with_capacity(out.capacity());
    let ranked = |score, i| {
        let rank = Some(i + 1);
        Some(Ranked { rank, score })
    };
    let candidate = |ordinal, bm25, vector| Candidate {
        ordinal,
        bm25,
        vector,
        fused: 0.0,
    };
    for (i, &(ordinal, score)) in bm25.iter().enumerate() {
        places.insert(ordinal, i);
        out.push(candidate(ordinal, ranked(score, i), None));
    }
    for (i, &(ordinal, score)) in vector.iter().enumerate() {
        match places.get(&ordinal) {
            Some(&place) => out[place].vector = ranked(score, i),
            None => out.push(candidate(ordinal, None, ranked(score, i))),
        }
    }
    if !vector.is_empty() {
        for candidate in out.iter_mut().filter(|c| c.vector.is_none()) {
            let score = cosine(candidate.ordinal);
            candidate.vector = score.map(|score| Ranked { rank: None, score });
        }
    }
    out
}

/// `weight * v + (1 - weight) * b`, with each branch's scores scaled to 0 to 1. Without a vector branch the lexical
/// one alone counts.
fn convex(candidates: &mut [Candidate], weight: f32) {
    let top = |score: fn(&Candidate) -> Option<Ranked>| -> f32 {
        let scores = candidates.iter().filter_map(score);
        scores.map(|ranked| ranked.score).fold(0.0, f32::max)
    };
    let (top_bm25, top_vector) = (top(|c| c.bm25), top(|c| c.vector));
    let weight = if top_vector > 0.0 { weight } else { 0.0 };
    for candidate in candidates {
        let share = |ranked: Option<Ranked>, top: f32| match ranked {
            Some(ranked) if top > 0.0 => (ranked.score / top).max(0.0),
            _ => 0.0,
        };
        let b = share(candidate.bm25, top_bm25);
        let v = share(candidate.vector, top_vector);
        candidate.fused = weight * v + (1.0 - weight) * b;
    }
}

/// Reciprocal rank fusion, scaled so that first place in both branches gives 1.
fn reciprocal(candidates: &mut [Candidate], k: f32, weight: f32) {
    let k = k.max(0.0);
    let share = |ranked: Option<Ranked>| -> f32 {
        let rank = ranked.and_then(|ranked| ranked.rank);
        rank.map_or(0.0, |rank| (k + 1.0) / (k + rank as f32))
    };
    for candidate in candidates {
        let (b, v) = (share(candidate.bm25), share(candidate.vector));
        candidate.fused = weight * v + (1.0 - weight) * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordinal(row: usize) -> Ordinal {
        Ordinal::new(1, row)
    }

    fn order(fusion: Fusion, vector: &[(Ordinal, f32)]) -> Vec<usize> {
        let bm25 = [(ordinal(1), 10.0), (ordinal(2), 5.0)];
        let mut fused = fuse(&bm25, vector, |_| Some(0.1), fusion);
        fused.sort_by(|a, b| b.fused.total_cmp(&a.fused));
        fused.iter().map(|c| c.ordinal.row()).collect()
    }

    #[test]
    fn the_weight_decides_between_the_branches() {
        let vector = [(ordinal(3), 0.9), (ordinal(2), 0.8)];
        assert_eq!(order(Fusion::Convex { vector: 0.9 }, &vector), [3, 2, 1]);
        assert_eq!(order(Fusion::Convex { vector: 0.1 }, &vector), [1, 2, 3]);
        assert_eq!(order(Fusion::Bm25, &vector), [1, 2, 3]);
        assert_eq!(order(Fusion::Vector, &vector), [3, 2, 1]);
        let (k, weight) = (60.0, 0.5);
        assert_eq!(order(Fusion::Rrf { k, vector: weight }, &vector)[0], 2);
    }

    #[test]
    fn without_a_vector_branch_the_lexical_one_counts_alone() {
        assert_eq!(order(Fusion::Convex { vector: 0.9 }, &[]), [1, 2]);
    }
}
