//! Whether a chunk answers a query at all. Ranks and fused scores can't say: the best of a bad lot is still first.

use report::Match;

use crate::analyze;
use crate::model::{Chunk, Evidence, Query};
use crate::query::Reading;
use crate::store::lexical::{BM25_TOP, Lexical};

/// Lengths of a query, in terms: up to `SHORT` and from `LONG` on, further length has no effect.
const SHORT: f32 = 10.0;
const LONG: f32 = 90.0;

/// One part of a logistic regression of "answers the query" on the evidence. The parts were fitted together on the tuning judgments and
/// their unanswerable questions, to refuse 2 % of the answerable held-out questions per language (5 % for a knowledge base without
/// unanswerable questions). `eval` measures it on the other sets.
struct Part {
    constant: f32,
    coverage: f32,
    bm25: f32,
    cosine: f32,
    question: f32,
    words: f32,
    elsewhere: f32,
}

/// The sum of three parts: `any` for every query, `cjk` times the share of Chinese, Japanese or Korean, and `longer` times the logarithm of
/// the length relative to [`SHORT`], because a long query shares a smaller part of its terms with any chunk. A sum above 0 is a strong
/// match.
struct Model {
    any: Part,
    cjk: Part,
    longer: Part,
}

/// For a knowledge base with unanswerable questions.
const WITH_ELSEWHERE: Model = Model {
    any: Part {
        constant: -1.53,
        coverage: 0.76,
        bm25: 4.09,
        cosine: 5.30,
        question: 2.67,
        words: 11.05,
        elsewhere: -68.13,
    },
    cjk: Part {
        constant: -0.68,
        coverage: 0.13,
        bm25: 0.59,
        cosine: -1.61,
        question: -1.32,
        words: 2.48,
        elsewhere: 20.20,
    },
    longer: Part {
        constant: 1.54,
        coverage: -0.73,
        bm25: 4.27,
        cosine: -0.84,
        question: 3.59,
        words: 5.10,
        elsewhere: -26.41,
    },
};

const WITH_QUESTIONS: Model = Model {
    any: Part {
        constant: -7.27,
        coverage: -1.49,
        bm25: 7.21,
        cosine: 6.13,
        question: 0.33,
        words: 10.89,
        elsewhere: 0.00,
    },
    cjk: Part {
        constant: 1.47,
        coverage: -0.22,
        bm25: 0.44,
        cosine: -0.41,
        question: -4.80,
        words: -0.46,
        elsewhere: 0.00,
    },
    longer: Part {
        constant: -0.47,
        coverage: -1.14,
        bm25: 4.80,
        cosine: -2.07,
        question: 7.92,
        words: 5.70,
        elsewhere: 0.00,
    },
};

/// For a document that lists no questions.
const WITHOUT_QUESTIONS: Model = Model {
    any: Part {
        constant: -3.92,
        coverage: -0.51,
        bm25: 9.47,
        cosine: 4.19,
        question: 0.0,
        words: 0.0,
        elsewhere: 0.00,
    },
    cjk: Part {
        constant: 0.45,
        coverage: -4.26,
        bm25: 6.41,
        cosine: 3.43,
        question: 0.0,
        words: 0.0,
        elsewhere: 0.00,
    },
    longer: Part {
        constant: -0.33,
        coverage: -2.05,
        bm25: 15.43,
        cosine: -1.57,
        question: 0.0,
        words: 0.0,
        elsewhere: 0.00,
    },
};

impl Part {
    fn value(&self, e: Evidence) -> f32 {
        let by_chunk = self.coverage * e.coverage + self.bm25 * e.bm25 + self.cosine * e.cosine;
        let by_questions = self.question * e.question + self.words * e.question_words;
        self.constant + by_chunk + by_questions + self.elsewhere * e.elsewhere
    }
}

impl Model {
    /// `cjk` is a share, `terms` the number of terms in the query.
    fn logit(&self, evidence: Evidence, cjk: f32, terms: usize) -> f32 {
        let length = (terms as f32).clamp(SHORT, LONG) / SHORT;
        let by_script = cjk * self.cjk.value(evidence);
        self.any.value(evidence) + by_script + length.ln() * self.longer.value(evidence)
    }
}

pub(crate) struct Fit {
    /// The user's terms with weight times rarity, and their sum.
    terms: Vec<(String, f32)>,
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
        let weighted = reading.own.iter().map(|(term, weight)| {
            let idf = lexical.idf(term)?;
            Ok((term.clone(), weight * idf))
        });
        let terms = weighted.collect::<tantivy::Result<Vec<_>>>()?;
        let asked = query.filter.causes.iter().chain(&query.prefer.causes);
        Ok(Fit {
            total: terms.iter().map(|(_, weight)| weight).sum(),
            terms,
            cjk: analyze::cjk_share(&reading.text),
            causes: asked.cloned().collect(),
            elsewhere,
            is_elsewhere: false,
        })
    }

    /// Of the chunks `ids`, in their order; `scores` are raw, and without coverage.
    pub(crate) fn evidence(
        &self,
        lexical: &Lexical,
        ids: &[&str],
        scores: impl Iterator<Item = Evidence>,
    ) -> tantivy::Result<Vec<Evidence>> {
        let terms: Vec<&str> = self.terms.iter().map(|(term, _)| term.as_str()).collect();
        let present = lexical.presence(ids, &terms)?.into_iter();
        let total = self.total.max(f32::MIN_POSITIVE);
        let evidence = present.zip(scores).map(|(present, raw)| {
            let found = self.terms.iter().zip(present).filter(|(_, is)| *is);
            let covered: f32 = found.map(|((_, weight), _)| weight).sum();
            Evidence {
                coverage: covered / total,
                bm25: raw.bm25 / (BM25_TOP * total),
                elsewhere: self.elsewhere.unwrap_or_default(),
                ..raw
            }
        });
        Ok(evidence.collect())
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
        let is_likely = model.logit(evidence, self.cjk, self.terms.len()) >= 0.0;
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
        coverage: 0.45,
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
