//! Combines two ranked branches into one list of candidates. Knows ordinals and scores, but no texts.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::model::{Fusion, Section, subject};
use crate::store::manifest::Ordinal;
use crate::store::questions::{Likeness, Near};

/// Weight of a document's questions relative to its text. Among .4, .5 and .67, .4 found most on the tuning judgments.
const QUESTIONS: f32 = 0.4;

/// A chunk that at least one branch proposed, and its scores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) ordinal: Ordinal,
    pub(crate) bm25: Option<Ranked>,
    pub(crate) vector: Option<Ranked>,
    /// Likeness of the query to the document's questions; `None` without questions.
    pub(crate) question: Option<Likeness>,
    /// 0 to 1, or 2 if questions have much in common with the query.
    pub(crate) fused: f32,
    pub(crate) id: String,
    pub(crate) section: Option<Section>,
    /// Whether its language is the language of the query.
    pub(crate) is_readable: bool,
    pub(crate) boost: f32,
    pub(crate) prior: f32,
    pub(crate) rerank: Option<f32>,
    /// Everything together.
    pub(crate) score: f32,
}

impl Candidate {
    pub(crate) fn new(ordinal: Ordinal) -> Candidate {
        Candidate {
            ordinal,
            bm25: None,
            vector: None,
            question: None,
            fused: 0.0,
            id: String::new(),
            section: None,
            is_readable: true,
            boost: 0.0,
            prior: 0.0,
            rerank: None,
            score: 0.0,
        }
    }

    /// Best first, ties by id.
    pub(crate) fn compare(&self, other: &Candidate) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then_with(|| self.id.cmp(&other.id))
    }

    pub(crate) fn document(&self) -> &str {
        self.id.split('#').next().unwrap_or(&self.id)
    }

    /// Whether its id says that it continues another passage: `#cause~2`.
    pub(crate) fn is_rest(&self) -> bool {
        let number = self.id.rsplit_once('~').map(|(_, number)| number);
        number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
    }

    /// A page and its translation fill a list like one.
    pub(crate) fn subject(&self) -> &str {
        subject(&self.id)
    }
}

/// Score in a branch, and the rank, from 1, if the branch proposed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) rank: Option<usize>,
    pub(crate) score: f32,
}

/// Candidates of the branches, and look-up of the scores that a branch did not propose.
pub(crate) struct Branches<'a> {
    pub(crate) bm25: &'a [(Ordinal, f32)],
    pub(crate) vector: &'a [(Ordinal, f32)],
    /// Likeness of the query to the questions of documents.
    pub(crate) asked: &'a Near<'a>,
    /// The chunks that pass the filter, sorted; `None` if all do.
    pub(crate) allowed: Option<&'a [Ordinal]>,
    /// Number of a chunk's document.
    pub(crate) page: &'a dyn Fn(Ordinal) -> Option<u64>,
    /// Vector score of a chunk that this branch did not propose; not called if `vector` is empty.
    pub(crate) cosine: &'a dyn Fn(Ordinal) -> Option<f32>,
}

pub(crate) fn fuse(branches: &Branches<'_>, fusion: Fusion) -> Vec<Candidate> {
    let mut candidates = union(branches);
    match fusion {
        Fusion::Convex { vector: weight } => {
            convex(&mut candidates, weight);
            add_questions(&mut candidates, branches.asked.trust);
        }
        Fusion::Bm25 => convex(&mut candidates, 0.0),
        Fusion::Vector => convex(&mut candidates, 1.0),
    }
    candidates
}

fn union(branches: &Branches<'_>) -> Vec<Candidate> {
    let Branches { bm25, vector, .. } = branches;
    let mut out: Vec<Candidate> = Vec::with_capacity(bm25.len() + vector.len());
    let mut places: HashMap<Ordinal, usize> = HashMap::with_capacity(out.capacity());
    let ranked = |score, i| {
        let rank = Some(i + 1);
        Some(Ranked { rank, score })
    };
    let mut place = |ordinal, out: &mut Vec<Candidate>| {
        *places.entry(ordinal).or_insert_with(|| {
            out.push(Candidate::new(ordinal));
            out.len() - 1
        })
    };
    for (i, &(ordinal, score)) in bm25.iter().enumerate() {
        let at = place(ordinal, &mut out);
        out[at].bm25 = ranked(score, i);
    }
    for (i, &(ordinal, score)) in vector.iter().enumerate() {
        let at = place(ordinal, &mut out);
        out[at].vector = ranked(score, i);
    }
    let allowed = branches.allowed;
    for &ordinal in &branches.asked.proposed {
        if allowed.is_none_or(|all| all.binary_search(&ordinal).is_ok()) {
            place(ordinal, &mut out);
        }
    }
    for candidate in &mut out {
        let page = (branches.page)(candidate.ordinal);
        candidate.question = page.and_then(|page| branches.asked.score(page));
        if candidate.vector.is_none() && !vector.is_empty() {
            let score = (branches.cosine)(candidate.ordinal);
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
        let share = |score: Option<f32>, top: f32| match score {
            Some(score) if top > 0.0 => (score / top).max(0.0),
            _ => 0.0,
        };
        let b = share(candidate.bm25.map(|ranked| ranked.score), top_bm25);
        let v = share(candidate.vector.map(|ranked| ranked.score), top_vector);
        candidate.fused = weight * v + (1.0 - weight) * b;
    }
}

/// Adds the questions to the text, by how far they are to be trusted. A document without questions is not worse for it.
fn add_questions(candidates: &mut [Candidate], trust: f32) {
    let weight = QUESTIONS * trust;
    let is_asked = |candidate: &Candidate| candidate.question.is_some_and(|q| q.share != 0.0);
    if !candidates.iter().any(is_asked) {
        return;
    }
    for candidate in candidates {
        let share = candidate.question.map_or(candidate.fused, |q| q.share);
        candidate.fused = 2.0 * (weight * share + (1.0 - weight) * candidate.fused);
    }
}

/// Effect of a prior of 1, bounded like other bonuses: enough to decide between similar chunks. It is also bounded by the distance between the
/// first hit and the tenth: even among similar pages, one person cannot bury a page.
const PRIOR: f32 = 0.15;
const TENTH: usize = 9;

/// Lifts a page in the language of the query to its translation: a pasted error has the words of one of them, but the prose decides.
pub(super) fn lift(candidates: &mut [Candidate]) {
    let (mut subjects, mut documents) = (HashMap::new(), HashMap::new());
    for hit in candidates.iter() {
        let subject: &mut f32 = subjects.entry(hit.subject().to_owned()).or_default();
        *subject = subject.max(hit.fused);
        let document: &mut f32 = documents.entry(hit.document().to_owned()).or_default();
        *document = document.max(hit.fused);
    }
    for hit in candidates.iter_mut().filter(|hit| hit.is_readable) {
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn ordinal(doc: u32) -> Ordinal {
        Ordinal::new(1, doc)
    }

    fn order(fusion: Fusion, vector: &[(Ordinal, f32)]) -> Vec<u32> {
        let bm25 = [(ordinal(1), 10.0), (ordinal(2), 5.0)];
        let branches = Branches {
            bm25: &bm25,
            vector,
            asked: &Near::default(),
            allowed: None,
            page: &|_| None,
            cosine: &|_| Some(0.1),
        };
        order_of(fuse(&branches, fusion))
    }

    fn order_of(mut fused: Vec<Candidate>) -> Vec<u32> {
        fused.sort_by(|a, b| b.fused.total_cmp(&a.fused));
        fused.iter().map(|c| c.ordinal.doc_id).collect()
    }

    #[test]
    fn the_weight_decides_between_the_branches() {
        let vector = [(ordinal(3), 0.9), (ordinal(2), 0.8)];
        assert_eq!(order(Fusion::Convex { vector: 0.9 }, &vector), [3, 2, 1]);
        assert_eq!(order(Fusion::Convex { vector: 0.1 }, &vector), [1, 2, 3]);
        assert_eq!(order(Fusion::Bm25, &vector), [1, 2, 3]);
        assert_eq!(order(Fusion::Vector, &vector), [3, 2, 1]);
    }

    #[test]
    fn similar_questions_raise_the_chunks_of_their_document_and_no_question_lowers_none() {
        let pages = HashSet::from([1, 3]);
        let order = |scores: &[(u64, Likeness)]| {
            let mut asked = Near::scaled(scores.iter().copied().collect(), &pages);
            let proposed = scores.iter().map(|(page, _)| ordinal(*page as u32));
            asked.proposed = proposed.collect();
            let branches = Branches {
                bm25: &[],
                vector: &[(ordinal(1), 0.9), (ordinal(2), 0.8)],
                asked: &asked,
                allowed: None,
                page: &|chunk| Some(chunk.doc_id.into()),
                cosine: &|_| Some(0.7),
            };
            order_of(fuse(&branches, Fusion::Convex { vector: 1.0 }))
        };
        assert_eq!(order(&[]), [1, 2]);
        let likeness = Likeness {
            nearest: 0.6,
            words: 0.6,
            share: 0.0,
        };
        assert_eq!(order(&[(1, likeness)]), [1, 2]);
        assert_eq!(
            order(&[(3, likeness)]),
            [2, 3, 1],
            "3 passes 1, and 2 has no questions"
        );
    }

    #[test]
    fn without_a_vector_branch_the_lexical_one_counts_alone() {
        assert_eq!(order(Fusion::Convex { vector: 0.9 }, &[]), [1, 2]);
    }
}
