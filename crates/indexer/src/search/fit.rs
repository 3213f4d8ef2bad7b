//! Whether a chunk answers a query at all. Ranks and fused scores can't say: the best of a bad lot is still first.

use report::Match;

use super::fuse::Candidate;
use crate::analyze;
use crate::model::{Chunk, Evidence, Query};
use crate::query::Reading;
use crate::store::lexical::{BM25_TOP, Lexical};

/// Lengths of a query, in terms: up to `SHORT` and from `LONG` on, further length has no effect.
const SHORT: f32 = 10.0;
const LONG: f32 = 90.0;

/// A logistic regression of "answers the query" on the evidence, fitted on the tuning judgments and their unanswerable questions, to refuse 2 %
/// of the answerable questions per language (5 % for a knowledge base without unanswerable questions). A sum above 0 is a strong match.
struct Model {
    constant: f32,
    bm25: f32,
    cosine: f32,
    question: f32,
    words: f32,
    elsewhere: f32,
    /// Times the share of Chinese, Japanese or Korean.
    cjk: f32,
    /// Times the logarithm of the length relative to [`SHORT`]: a long query shares a smaller part of its terms with any chunk.
    longer: f32,
}

/// For a knowledge base with unanswerable questions.
const WITH_ELSEWHERE: Model = Model {
    constant: -2.80,
    bm25: 5.96,
    cosine: 5.23,
    question: 1.70,
    words: 12.14,
    elsewhere: -50.57,
    cjk: -0.21,
    longer: 1.12,
};

const WITH_QUESTIONS: Model = Model {
    constant: -6.93,
    bm25: 7.40,
    cosine: 5.46,
    question: 0.59,
    words: 9.61,
    elsewhere: 0.0,
    cjk: 0.13,
    longer: 1.71,
};

/// For a document that lists no questions.
const WITHOUT_QUESTIONS: Model = Model {
    constant: -6.22,
    bm25: 13.35,
    cosine: 8.18,
    question: 0.0,
    words: 0.0,
    elsewhere: 0.0,
    cjk: 2.21,
    longer: 0.88,
};

impl Model {
    /// `cjk` is a share, `terms` the number of terms in the query.
    fn logit(&self, e: Evidence, cjk: f32, terms: usize) -> f32 {
        let length = (terms as f32).clamp(SHORT, LONG) / SHORT;
        let by_chunk = self.bm25 * e.bm25 + self.cosine * e.cosine;
        let by_questions = self.question * e.question + self.words * e.question_words;
        let by_query = self.cjk * cjk + self.longer * length.ln();
        self.constant + by_chunk + by_questions + self.elsewhere * e.elsewhere + by_query
    }
}

pub(crate) struct Fit {
    /// Number of the user's terms, and the sum of weight times rarity.
    terms: usize,
    total: f32,
    /// Share of the query in Chinese, Japanese or Korean.
    cjk: f32,
    /// Causes that the caller asks for by code.
    causes: Vec<String>,
    /// How much the query resembles questions that no document answers; `None` if the knowledge base lists none.
    elsewhere: Option<f32>,
    /// Whether the query names a system that no page is about.
    pub(crate) is_elsewhere: bool,
}

impl Fit {
    pub(crate) fn new(
        query: &Query<'_>,
        reading: &Reading,
        elsewhere: Option<f32>,
        lexical: &Lexical,
    ) -> tantivy::Result<Fit> {
        let mut total = 0.0;
        for (term, weight) in &reading.own {
            total += weight * lexical.idf(term)?;
        }
        let asked = query.filter.causes.iter().chain(&query.prefer.causes);
        Ok(Fit {
            total,
            terms: reading.own.len(),
            cjk: analyze::cjk_share(&reading.text),
            causes: asked.cloned().collect(),
            elsewhere,
            is_elsewhere: false,
        })
    }

    /// Of a candidate; comparable between queries.
    pub(crate) fn evidence(&self, candidate: &Candidate) -> Evidence {
        let question = candidate.question.unwrap_or_default();
        let bm25 = candidate.bm25.map_or(0.0, |b| b.score);
        Evidence {
            bm25: bm25 / (BM25_TOP * self.total.max(f32::MIN_POSITIVE)),
            cosine: candidate.vector.map_or(0.0, |v| v.score),
            question: question.nearest,
            question_words: question.words,
            elsewhere: self.elsewhere.unwrap_or_default(),
        }
    }

    /// Judges a hit. If the query asks for a cause, a chunk of a document about that cause fits,
    /// because its author says so.
    pub(crate) fn judge(&self, chunk: &Chunk, has_questions: bool, evidence: Evidence) -> Match {
        let model = match (has_questions, self.elsewhere) {
            (true, Some(_)) => WITH_ELSEWHERE,
            (true, None) => WITH_QUESTIONS,
            (false, _) => WITHOUT_QUESTIONS,
        };
        let is_named = chunk.causes.iter().any(|cause| self.causes.contains(cause));
        let is_likely = model.logit(evidence, self.cjk, self.terms) >= 0.0;
        match is_named || (is_likely && !self.is_elsewhere) {
            true => Match::Strong,
            false => Match::Weak,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Likeness of a page's passage to a long question that it answers.
    const PART: Evidence = Evidence {
        bm25: 0.3,
        cosine: 0.4,
        question: 0.1,
        question_words: 0.2,
        elsewhere: 0.0,
    };

    #[test]
    fn words_of_questions_that_are_answered_nowhere_speak_against_an_answer() {
        let other = Evidence {
            elsewhere: 0.2,
            ..PART
        };
        for (cjk, terms) in [(0.0, 8), (0.0, 40), (1.0, 8), (1.0, 40)] {
            assert!(WITH_ELSEWHERE.logit(PART, cjk, terms) > 0.0);
            assert!(WITH_ELSEWHERE.logit(other, cjk, terms) < 0.0);
        }
    }

    #[test]
    fn what_is_little_for_a_short_query_is_enough_for_a_long_one() {
        let (page, none) = (WITH_QUESTIONS, Evidence::default());
        let bare = Evidence {
            question: 0.0,
            question_words: 0.0,
            ..PART
        };
        for cjk in [0.0, 1.0] {
            assert!(page.logit(PART, cjk, 40) > page.logit(PART, cjk, 12));
            assert_eq!(page.logit(PART, cjk, 3), page.logit(PART, cjk, 10));
            assert_eq!(page.logit(PART, cjk, 100), page.logit(PART, cjk, 1_000));
            assert!(WITHOUT_QUESTIONS.logit(bare, cjk, 40) > page.logit(bare, cjk, 40));
        }
        assert!(page.logit(PART, 0.0, 40) > 0.0);
        assert!(WITHOUT_QUESTIONS.logit(bare, 0.0, 40) > 0.0);
        assert!(page.logit(none, 1.0, 40) < 0.0);
        assert!(WITHOUT_QUESTIONS.logit(none, 1.0, 40) < 0.0);
    }
}
