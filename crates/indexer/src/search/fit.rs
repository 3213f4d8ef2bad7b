//! Whether a chunk answers a query at all. Ranks and fused scores can't say: the best of a bad lot is still first.

use report::Match;

use crate::analyze;
use crate::model::{Chunk, Evidence, Query};
use crate::query::Reading;
use crate::store::lexical::Lexical;

/// The most that BM25 gives a term, relative to its rarity: the `k1 + 1` of tantivy.
const BM25_TOP: f32 = 2.2;

/// Logistic regression of "answers the query" on the evidence: a weighted sum above 0 is a strong match. Fitted on the tuning judgments
/// and the unanswerable questions among them, so that about one of 25 answerable questions is refused there; `eval` measures it on the others.
struct Model {
    constant: f32,
    coverage: f32,
    bm25: f32,
    cosine: f32,
    question: f32,
}

const LATIN: Model = Model {
    constant: -4.11,
    coverage: 4.08,
    bm25: 4.56,
    cosine: 3.09,
    question: 1.72,
};

const CJK: Model = Model {
    constant: -2.81,
    coverage: 4.84,
    bm25: 3.02,
    cosine: 3.68,
    question: 2.75,
};

impl Model {
    fn logit(&self, e: Evidence) -> f32 {
        let by_chunk = self.coverage * e.coverage + self.bm25 * e.bm25 + self.cosine * e.cosine;
        self.constant + by_chunk + self.question * e.question
    }
}

pub(crate) struct Fit {
    /// The user's terms with weight times rarity, and their sum.
    terms: Vec<(String, f32)>,
    total: f32,
    /// Share of the query in Chinese, Japanese or Korean, which the models share.
    cjk: f32,
    /// Causes that the caller asks for by code.
    causes: Vec<String>,
}

impl Fit {
    pub(crate) fn new(
        query: &Query<'_>,
        reading: &Reading,
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
        })
    }

    /// Of the chunks `ids`, in their order.
    pub(crate) fn evidence(
        &self,
        lexical: &Lexical,
        ids: &[&str],
        scores: impl Iterator<Item = [Option<f32>; 3]>,
    ) -> tantivy::Result<Vec<Evidence>> {
        let terms: Vec<&str> = self.terms.iter().map(|(term, _)| term.as_str()).collect();
        let present = lexical.presence(ids, &terms)?.into_iter();
        let total = self.total.max(f32::MIN_POSITIVE);
        let evidence = present
            .zip(scores)
            .map(|(present, [bm25, cosine, question])| {
                let found = self.terms.iter().zip(present).filter(|(_, is)| *is);
                let covered: f32 = found.map(|((_, weight), _)| weight).sum();
                Evidence {
                    coverage: covered / total,
                    bm25: bm25.unwrap_or(0.0) / (BM25_TOP * total),
                    cosine: cosine.unwrap_or(0.0),
                    question: question.unwrap_or(0.0),
                }
            });
        Ok(evidence.collect())
    }

    /// A chunk whose document covers a cause that is asked for fits by its author's word.
    pub(crate) fn of(&self, chunk: &Chunk, evidence: Evidence) -> Match {
        let is_named = chunk.causes.iter().any(|cause| self.causes.contains(cause));
        let (latin, cjk) = (LATIN.logit(evidence), CJK.logit(evidence));
        let logit = self.cjk * cjk + (1.0 - self.cjk) * latin;
        match is_named || logit >= 0.0 {
            true => Match::Strong,
            false => Match::Weak,
        }
    }
}
