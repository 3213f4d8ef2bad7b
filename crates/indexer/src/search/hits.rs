//! From scored candidates to the hits of a query.

use std::collections::HashMap;
use std::sync::Arc;

use report::Language;

use super::excerpt::{Room, excerpt};
use super::fit::Fit;
use super::fuse::Candidate;
use super::index::{BOOST_FROM, Index, THIN_FROM};
use super::lead::lead;
use super::passages::{Asked, Passage, arrange};
use super::scored::Scored;
use super::thin::{Item, SECOND, thin};
use crate::analyze;
use crate::document::language_of_query;
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
        all: &[Scored],
    ) -> Result<Vec<Hit>, SearchError> {
        let most = query.k.saturating_mul(THIN_FROM).max(BOOST_FROM);
        let scored = &all[..all.len().min(most)];
        let row = |hit: &Scored| self.lexical.row(hit.candidate.ordinal);
        let rows: Vec<Option<usize>> = scored.iter().map(row).collect();
        let similarity = |a: usize, b: usize| match (rows[a], rows[b]) {
            (Some(a), Some(b)) => self.rows.between(a, b),
            _ => 0.0,
        };
        let language = language_of_query(&query.text);
        let items = scored.iter().map(|hit| self.item(hit, language));
        let items: Vec<Item<'_>> = items.collect();
        let is_for_answers = asks_for_an_answer(query);
        let second = if is_for_answers { SECOND } else { 0.0 };
        let thinned = thin(&items, query.k, (query.diversity, second), similarity);
        let (picked, scores): (Vec<usize>, Vec<f32>) = thinned.into_iter().unzip();
        let picked = match is_for_answers {
            true => {
                let passages: Vec<Passage<'_>> = all.iter().map(|hit| self.passage(hit)).collect();
                arrange(&passages, &picked, &Asked::by(&query.text))
            }
            false => picked,
        };
        // A passage has the score of the place that its page has in the list.
        let picked = picked.into_iter().map(|at| &all[at]).zip(scores);
        let weights = is_for_answers.then(|| self.weights(reading));
        let hits = (1..).zip(picked).map(|(rank, found)| {
            let mut hit = self.hit(rank, found, fit)?;
            if let Some(weights) = &weights {
                hit.chunk = Arc::new(lead(Arc::unwrap_or_clone(hit.chunk), weights));
            }
            Ok(hit)
        });
        hits.collect()
    }

    fn item<'a>(&self, hit: &'a Scored, language: Language) -> Item<'a> {
        Item {
            score: hit.score,
            subject: hit.subject(),
            is_readable: self.lexical.facets(hit.candidate.ordinal).is_in(language),
        }
    }

    fn passage<'a>(&self, hit: &'a Scored) -> Passage<'a> {
        Passage {
            document: hit.document(),
            is_rest: hit.is_rest(),
            section: self.lexical.facets(hit.candidate.ordinal).section(),
            bm25: hit.candidate.bm25.map_or(0.0, |ranked| ranked.score),
        }
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

    fn hit(
        &self,
        rank: usize,
        (scored, score): (&Scored, f32),
        fit: &Fit,
    ) -> Result<Hit, SearchError> {
        let Candidate {
            bm25,
            vector,
            question,
            ..
        } = scored.candidate;
        let evidence = fit.evidence(&scored.candidate);
        let chunk = self.lexical.chunk(scored.candidate.ordinal)?;
        Ok(Hit {
            fit: fit.judge(&chunk, question.is_some(), evidence),
            evidence,
            chunk: Arc::new(chunk),
            rank,
            score,
            bm25_rank: bm25.and_then(|ranked| ranked.rank),
            bm25_score: bm25.map(|ranked| ranked.score),
            vector_rank: vector.and_then(|ranked| ranked.rank),
            vector_score: vector.map(|ranked| ranked.score),
            question_score: question.map(|question| question.share),
            fused: scored.candidate.fused,
            boost: scored.boost,
            prior: scored.prior,
            rerank_score: scored.rerank,
        })
    }
}

/// Whether the caller leaves the choice of passages to the search: a query for causes, steps or sections has made it.
fn asks_for_an_answer(query: &Query<'_>) -> bool {
    let chosen = |filter: &Filter| {
        !(filter.causes.is_empty() && filter.steps.is_empty() && filter.sections.is_empty())
    };
    !chosen(&query.filter) && !chosen(&query.prefer)
}
