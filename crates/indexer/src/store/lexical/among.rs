//! Search among the chunks that pass a filter. Tantivy would score every chunk with one of the terms and then ask the filter;
//! here each term is looked up in the few chunks that are left.

use tantivy::postings::Postings;
use tantivy::query::{Bm25StatisticsProvider, Bm25Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet, Searcher, SegmentReader, TERMINATED};

use super::Clause;
use crate::store::manifest::Ordinal;

/// Chunks that pass a filter.
pub(crate) struct Allowed {
    /// By address in the store.
    chunks: Vec<(DocAddress, Ordinal)>,
    ordinals: Vec<Ordinal>,
}

impl Allowed {
    pub(super) fn new(mut chunks: Vec<(DocAddress, Ordinal)>) -> Allowed {
        chunks.sort_unstable();
        let mut ordinals: Vec<Ordinal> = chunks.iter().map(|(_, ordinal)| *ordinal).collect();
        ordinals.sort_unstable();
        Allowed { chunks, ordinals }
    }

    /// Sorted.
    pub(crate) fn ordinals(&self) -> &[Ordinal] {
        &self.ordinals
    }
}

/// The best `limit` of the chunks that contain any of the terms, best first, with tantivy's scores.
pub(super) fn search(
    searcher: &Searcher,
    clauses: impl Iterator<Item = Clause>,
    allowed: &Allowed,
    limit: usize,
) -> tantivy::Result<Vec<(Ordinal, f32)>> {
    let mut scores = vec![0.0; allowed.chunks.len()];
    let total = searcher.total_num_docs()?;
    for Clause { term, weight } in clauses {
        let frequency = searcher.doc_freq(&term)?;
        if frequency == 0 {
            continue;
        }
        let length = searcher.total_num_tokens(term.field())? as f32 / total as f32;
        let bm25 = Bm25Weight::for_one_term_without_explain(frequency, total, length);
        let bm25 = bm25.boost_by(weight);
        let mut before = 0;
        let segments = allowed
            .chunks
            .chunk_by(|(a, _), (b, _)| a.segment_ord == b.segment_ord);
        for chunks in segments {
            let segment = searcher.segment_reader(chunks[0].0.segment_ord);
            let scores = &mut scores[before..before + chunks.len()];
            before += chunks.len();
            add(segment, &term, &bm25, chunks, scores)?;
        }
    }
    let scored = allowed.chunks.iter().zip(scores);
    let mut scored: Vec<_> = scored.filter(|(_, score)| *score > 0.0).collect();
    // Stable: ties stay in the order of their addresses.
    scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    scored.truncate(limit);
    let ranked = scored
        .into_iter()
        .map(|((_, ordinal), score)| (*ordinal, score));
    Ok(ranked.collect())
}

/// Adds the BM25 scores of a term to the scores of a segment's chunks.
fn add(
    segment: &SegmentReader,
    term: &tantivy::Term,
    bm25: &Bm25Weight,
    chunks: &[(DocAddress, Ordinal)],
    scores: &mut [f32],
) -> tantivy::Result<()> {
    let index = segment.inverted_index(term.field())?;
    let Some(mut postings) = index.read_postings(term, IndexRecordOption::WithFreqs)? else {
        return Ok(());
    };
    let lengths = segment.get_fieldnorms_reader(term.field())?;
    let mut at = 0;
    let mut doc: DocId = postings.doc();
    while doc != TERMINATED {
        at += chunks[at..].partition_point(|(address, _)| address.doc_id < doc);
        let Some((wanted, _)) = chunks.get(at) else {
            break;
        };
        if wanted.doc_id == doc {
            scores[at] += bm25.score(lengths.fieldnorm_id(doc), postings.term_freq());
            doc = postings.advance();
        } else {
            doc = postings.seek(wanted.doc_id);
        }
    }
    Ok(())
}
