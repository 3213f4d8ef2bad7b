//! Search among the chunks that pass a filter. Tantivy would score every chunk with one of the terms and then ask the filter;
//! here each term is looked up in the few chunks that are left.

use tantivy::postings::Postings;
use tantivy::query::{Bm25StatisticsProvider, Bm25Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED};

use super::{Clause, Lexical};
use crate::store::manifest::Ordinal;

/// The best `limit` of the `allowed` chunks (sorted) that contain any of the terms, best first, with tantivy's scores.
pub(super) fn search(
    store: &Lexical,
    clauses: impl Iterator<Item = Clause>,
    allowed: &[Ordinal],
    limit: usize,
) -> tantivy::Result<Vec<(Ordinal, f32)>> {
    let mut scores = vec![0.0; allowed.len()];
    let total = store.total_num_docs()?;
    for Clause { term, weight } in clauses {
        let frequency = store.doc_freq(&term)?;
        if frequency == 0 {
            continue;
        }
        let length = store.total_num_tokens(term.field())? as f32 / total as f32;
        let bm25 = Bm25Weight::for_one_term_without_explain(frequency, total, length);
        let bm25 = bm25.boost_by(weight);
        let mut before = 0;
        for chunks in allowed.chunk_by(|a, b| a.segment() == b.segment()) {
            let segment = store.searcher.segment_reader(chunks[0].segment());
            let scores = &mut scores[before..before + chunks.len()];
            before += chunks.len();
            add(segment, &term, &bm25, chunks, scores)?;
        }
    }
    let scored = allowed.iter().copied().zip(scores);
    let mut scored: Vec<(Ordinal, f32)> = scored.filter(|(_, score)| *score > 0.0).collect();
    // Stable: ties stay in the order of their addresses.
    scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    scored.truncate(limit);
    Ok(scored)
}

/// Adds the BM25 scores of a term to the scores of a segment's chunks.
fn add(
    segment: &SegmentReader,
    term: &tantivy::Term,
    bm25: &Bm25Weight,
    chunks: &[Ordinal],
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
        at += chunks[at..].partition_point(|chunk| chunk.doc() < doc);
        let Some(wanted) = chunks.get(at) else {
            break;
        };
        if wanted.doc() == doc {
            scores[at] += bm25.score(lengths.fieldnorm_id(doc), postings.term_freq());
            doc = postings.advance();
        } else {
            doc = postings.seek(wanted.doc());
        }
    }
    Ok(())
}
