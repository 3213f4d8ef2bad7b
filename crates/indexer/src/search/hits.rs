//! From scored candidates to the hits of a query.

use std::collections::HashMap;
use std::sync::Arc;

use super::excerpt::{Room, excerpt};
use super::fit::Fit;
use super::fuse::Candidate;
use super::index::{BOOST_FROM, Index, THIN_FROM};
use super::lead::lead;
use super::passages::{Asked, arrange};
use super::thin::{SECOND, thin};
use crate::analyze;
use crate::error::SearchError;
use crate::model::{Filter, Hit, Query};
use crate::query::Reading;

/// Weight of a single Chinese character where the lines to show are chosen: most lines have some.
const CHARACTER: f32 = 0.2;

impl Index {
    pub(super) fn hits(
        &self,
        query: &Query<'_>,
        reading: &Reading,
        fit: &Fit,
        all: &[Candidate],
    ) -> Result<Vec<Hit>, SearchError> {
        let most = query.k.saturating_mul(THIN_FROM).max(BOOST_FROM);
        let near = &all[..all.len().min(most)];
        let rows: Vec<Option<usize>> = near.iter().map(|hit| self.row(hit.ordinal)).collect();
        let similarity = |a: usize, b: usize| match (rows[a], rows[b]) {
            (Some(a), Some(b)) => self.held.vectors.between(a, b),
            _ => 0.0,
        };
        let is_for_answers = asks_for_an_answer(query);
        let second = if is_for_answers { SECOND } else { 0.0 };
        let thinned = thin(near, query.k, (query.diversity, second), similarity);
        let (mut picked, scores): (Vec<usize>, Vec<f32>) = thinned.into_iter().unzip();
        if is_for_answers {
            picked = arrange(all, &picked, &Asked::by(&query.text));
        }
        // A passage has the score of the place that its page has in the list.
        let picked = picked.into_iter().map(|at| &all[at]).zip(scores);
        let weights = is_for_answers.then(|| self.weights(reading));
        let hits = (1..).zip(picked).map(|(rank, (found, score))| {
            let mut chunk = self.lexical.chunk(found.ordinal)?;
            let evidence = fit.evidence(found);
            let judged = fit.judge(&chunk, found.question.is_some(), evidence);
            if let Some(weights) = &weights {
                chunk = lead(chunk, weights);
            }
            Ok(Hit {
                fit: judged,
                evidence,
                chunk: Arc::new(chunk),
                rank,
                score,
                bm25_rank: found.bm25.and_then(|ranked| ranked.rank),
                bm25_score: found.bm25.map(|ranked| ranked.score),
                vector_rank: found.vector.and_then(|ranked| ranked.rank),
                vector_score: found.vector.map(|ranked| ranked.score),
                question_score: found.question.map(|question| question.share),
                fused: found.fused,
                boost: found.boost,
                prior: found.prior,
                rerank_score: found.rerank,
            })
        });
        hits.collect()
    }

    /// A function for the lines of a hit that say most about the query.
    pub fn excerpts(&self, query: &Query<'_>) -> impl Fn(&Hit, Room) -> String + use<> {
        let weights = self.weights(&self.read(query));
        move |hit, room| excerpt(&hit.chunk.text, &weights, room)
    }

    /// Terms of a query with weight times rarity.
    fn weights(&self, reading: &Reading) -> HashMap<String, f32> {
        let weighted = reading.words.terms.iter().map(|(term, weight)| {
            let idf = self.lexical.idf(term).unwrap_or_default();
            let is_alone = analyze::is_character(term);
            let factor = if is_alone { CHARACTER } else { 1.0 };
            (term.clone(), factor * weight * idf)
        });
        weighted.collect()
    }
}

/// Whether the caller leaves the choice of passages to the search: a query for causes, steps or sections has made it.
fn asks_for_an_answer(query: &Query<'_>) -> bool {
    let chosen = |filter: &Filter| {
        !(filter.causes.is_empty() && filter.steps.is_empty() && filter.sections.is_empty())
    };
    !chosen(&query.filter) && !chosen(&query.prefer)
}
