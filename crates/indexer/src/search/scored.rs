//! Candidates with their scores, and what moves them beyond the branches.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::fuse::Candidate;
use crate::model::subject;

/// Effect of a prior of 1, bounded for the same reason. It is also bounded by the distance between the first hit and the tenth: even among
/// similar pages, one person cannot bury a page.
const PRIOR: f32 = 0.15;
const TENTH: usize = 9;

pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) id: String,
    pub(super) boost: f32,
    pub(super) prior: f32,
    pub(super) rerank: Option<f32>,
    pub(super) score: f32,
}

impl Scored {
    /// Best first, ties by id.
    pub(super) fn compare(&self, other: &Scored) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then_with(|| self.id.cmp(&other.id))
    }

    pub(super) fn document(&self) -> &str {
        self.id.split('#').next().unwrap_or(&self.id)
    }

    /// Whether its id says that it continues another passage: `#cause~2`.
    pub(super) fn is_rest(&self) -> bool {
        let number = self.id.rsplit_once('~').map(|(_, number)| number);
        number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
    }

    /// A page and its translation fill a list like one.
    pub(super) fn subject(&self) -> &str {
        subject(&self.id)
    }
}

/// Lifts a page in the language of the query to its translation: a pasted error has the words of one of them, but the prose decides.
pub(super) fn lift(scored: &mut [Scored], is_preferred: impl Fn(&Scored) -> bool) {
    let (mut subjects, mut documents) = (HashMap::new(), HashMap::new());
    for hit in scored.iter() {
        let subject: &mut f32 = subjects.entry(hit.subject().to_owned()).or_default();
        *subject = subject.max(hit.candidate.fused);
        let document: &mut f32 = documents.entry(hit.document().to_owned()).or_default();
        *document = document.max(hit.candidate.fused);
    }
    for hit in scored.iter_mut().filter(|hit| is_preferred(hit)) {
        hit.boost += subjects[hit.subject()] - documents[hit.document()];
    }
}

/// How far a prior of 1 moves one of these candidates.
pub(super) fn reach(candidates: &[Candidate]) -> f32 {
    let mut fused: Vec<f32> = candidates.iter().map(|c| c.fused).collect();
    fused.sort_by(|a, b| b.total_cmp(a));
    let last = fused.get(TENTH).or(fused.last());
    let span = fused.first().zip(last).map(|(first, last)| first - last);
    PRIOR.min(span.unwrap_or(0.0))
}
