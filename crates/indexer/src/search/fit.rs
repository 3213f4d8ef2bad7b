//! Whether a chunk answers a query at all. Ranks and fused scores can't say: the best of a bad lot is still first.

use report::Match;

use crate::model::{Chunk, Evidence, Query};
use crate::query::Reading;
use crate::store::lexical::Lexical;

/// The most that BM25 gives a term, relative to its rarity: the `k1 + 1` of tantivy.
const BM25_TOP: f32 = 2.2;

/// Logistic regression of "answers the query" on the evidence, fitted on the tuning judgments and the unanswerable questions of
/// that part; `eval` measures it on the others.
const CONSTANT: f32 = -4.0;
const COVERAGE: f32 = 4.0;
const BM25: f32 = 4.0;
const COSINE: f32 = 4.0;

pub(crate) struct Fit {
    /// The user's terms with weight times rarity, and their sum.
    terms: Vec<(String, f32)>,
    total: f32,
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
            causes: asked.cloned().collect(),
        })
    }

    /// Of the chunks `ids`, in their order.
    pub(crate) fn evidence(
        &self,
        lexical: &Lexical,
        ids: &[&str],
        scores: impl Iterator<Item = (Option<f32>, Option<f32>)>,
    ) -> tantivy::Result<Vec<Evidence>> {
        let terms: Vec<&str> = self.terms.iter().map(|(term, _)| term.as_str()).collect();
        let present = lexical.presence(ids, &terms)?.into_iter();
        let total = self.total.max(f32::MIN_POSITIVE);
        let evidence = present.zip(scores).map(|(present, (bm25, cosine))| {
            let found = self.terms.iter().zip(present).filter(|(_, is)| *is);
            let covered: f32 = found.map(|((_, weight), _)| weight).sum();
            Evidence {
                coverage: covered / total,
                bm25: bm25.unwrap_or(0.0) / (BM25_TOP * total),
                cosine: cosine.unwrap_or(0.0),
            }
        });
        Ok(evidence.collect())
    }

    /// A chunk whose document covers a cause that is asked for fits by its author's word.
    pub(crate) fn of(&self, chunk: &Chunk, evidence: Evidence) -> Match {
        let is_named = chunk.causes.iter().any(|cause| self.causes.contains(cause));
        let Evidence {
            coverage,
            bm25,
            cosine,
        } = evidence;
        let logit = CONSTANT + COVERAGE * coverage + BM25 * bm25 + COSINE * cosine;
        match is_named || logit >= 0.0 {
            true => Match::Strong,
            false => Match::Weak,
        }
    }
}
