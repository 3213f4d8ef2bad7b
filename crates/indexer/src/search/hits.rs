//! From scored candidates to the hits of a query.

use std::sync::Arc;

use report::Language;

use super::excerpt::{Excerpt, Room, excerpt};
use super::fit::Fit;
use super::fuse::Candidate;
use super::index::{BOOST_FROM, Index, THIN_FROM, lexical_error};
use super::passages::{Asked, Passage, arrange};
use super::scored::Scored;
use super::thin::{Item, SECOND, thin};
use crate::document::language_of_query;
use crate::error::SearchError;
use crate::model::{Evidence, Filter, Hit, Query};

impl Index {
    pub(super) fn hits(
        &self,
        query: &Query<'_>,
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
        let picked: Vec<(&Scored, f32)> = picked.collect();
        let ids: Vec<&str> = picked.iter().map(|(hit, _)| hit.id.as_str()).collect();
        let raw = picked.iter().map(|(hit, _)| evidence(&hit.candidate));
        let evidence = fit.evidence(&self.lexical, &ids, raw);
        let evidence = evidence.map_err(lexical_error)?;
        let ranked = (1..).zip(picked).zip(evidence);
        let hits = ranked.map(|((rank, hit), evidence)| self.hit(rank, hit, fit, evidence));
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
    pub fn excerpts(&self, query: &Query<'_>) -> impl Fn(&Hit, Room) -> Excerpt + use<> {
        let own = self.read(query).words.terms.into_iter();
        let weighted = own.map(|(term, weight)| {
            let idf = self.lexical.idf(&term).unwrap_or_default();
            (term, weight * idf)
        });
        let weights = weighted.collect();
        move |hit, room| excerpt(&hit.chunk.text, &hit.chunk.heading_path, &weights, room)
    }

    fn hit(
        &self,
        rank: usize,
        (scored, score): (&Scored, f32),
        fit: &Fit,
        evidence: Evidence,
    ) -> Result<Hit, SearchError> {
        let Candidate {
            bm25,
            vector,
            question,
            ..
        } = scored.candidate;
        let chunk = self.read_chunk(scored.candidate.ordinal)?;
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

fn evidence(candidate: &Candidate) -> Evidence {
    let question = candidate.question.unwrap_or_default();
    Evidence {
        coverage: 0.0,
        bm25: candidate.bm25.map_or(0.0, |b| b.score),
        cosine: candidate.vector.map_or(0.0, |v| v.score),
        question: question.nearest,
        question_words: question.words,
        elsewhere: 0.0,
    }
}

/// Whether the caller leaves the choice of passages to the search: a query for causes, steps or sections has made it.
fn asks_for_an_answer(query: &Query<'_>) -> bool {
    let chosen = |filter: &Filter| {
        !(filter.causes.is_empty() && filter.steps.is_empty() && filter.sections.is_empty())
    };
    !chosen(&query.filter) && !chosen(&query.prefer)
}
