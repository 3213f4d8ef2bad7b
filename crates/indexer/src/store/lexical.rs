//! The tantivy index: its chunks, found by their words.
//!
//! Terms come from our analyzer, and spaces part them. Tantivy never parses a query, since its parser turns a Chinese sentence into one
//! exact phrase. Positions are not stored, since there are no phrase queries.

pub(super) mod columns;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use tantivy::query::{Bm25StatisticsProvider, Bm25Weight};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{
    DocId, InvertedIndexReader, Searcher, SegmentReader, TantivyDocument, TantivyError, Term,
};

use super::entries::{BODY, DATA, FACET, ID, NO_ROW, PAGE, PAIRS, QUESTIONS, number_of};
use super::facets::{CHUNK, Facets, facet, filter_groups};
use super::manifest::Ordinal;
use crate::model::{Chunk, Filter, Kind};

use columns::{Columns, names, numbers};

/// Weight of a pair of adjacent words relative to a word, which it mostly repeats. Chosen on the training queries of a public
/// collection, where .15 to .25 do equally well.
const PAIR_WEIGHT: f32 = 0.25;

/// Maximum BM25 score of a term, relative to its rarity: the `k1 + 1` of tantivy.
pub(crate) const BM25_TOP: f32 = 2.2;

pub(crate) type Weighted = (String, f32);

#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    pub(crate) terms: Vec<Weighted>,
    pub(crate) pairs: Vec<String>,
    /// Weight of the terms in the questions that a document answers; 0 not to look there.
    pub(crate) question_weight: f32,
}

/// A live chunk and the row of its vector.
pub(crate) type Row = (u32, Ordinal);

/// Chunks with their scores, best first.
pub(crate) type Ranking = Vec<(Ordinal, f32)>;

/// The best `limit` of `found`, best first; of equal scores the smaller key, so that results do not depend on how the work was split.
pub(crate) fn best<K: Ord>(mut found: Vec<(K, f32)>, limit: usize) -> Vec<(K, f32)> {
    let order = |(a, p): &(K, f32), (b, q): &(K, f32)| q.total_cmp(p).then_with(|| a.cmp(b));
    if found.len() > limit {
        found.select_nth_unstable_by(limit, order);
        found.truncate(limit);
    }
    found.sort_unstable_by(order);
    found
}

/// The stored data of an entry.
fn data<T: DeserializeOwned>(searcher: &Searcher, entry: Ordinal) -> tantivy::Result<T> {
    let found = searcher.doc::<TantivyDocument>(entry)?;
    let data = found.get_first(DATA).and_then(|value| value.as_bytes());
    let broken = |reason: &dyn ToString| TantivyError::InternalError(reason.to_string());
    let data = data.ok_or_else(|| broken(&"an entry without data"))?;
    postcard::from_bytes(data).map_err(|error| broken(&error))
}

/// The list of this name.
pub(crate) fn list<T: DeserializeOwned>(searcher: &Searcher, name: &str) -> tantivy::Result<T> {
    for (number, segment) in (0..).zip(searcher.segment_readers()) {
        let Some(lists) = segment.fast_fields().str("list")? else {
            continue;
        };
        let known = names(&lists)?;
        for (entry, list) in numbers(lists.ords(), segment) {
            if known[list as usize] == name {
                return data(searcher, Ordinal::new(number, entry));
            }
        }
    }
    Err(TantivyError::InternalError(format!("no list of {name}")))
}

/// Number of chunks with the dead ones in unmerged segments.
pub(crate) fn stored(searcher: &Searcher) -> tantivy::Result<u64> {
    searcher.doc_freq(&Term::from_field_text(FACET, CHUNK))
}

/// How rare a term in `having` of `all` entries is, as BM25 counts it.
pub(super) fn idf(all: f32, having: u64) -> f32 {
    let having = having as f32;
    (1.0 + (all - having + 0.5).max(0.0) / (having + 0.5)).ln()
}

/// Calls `found` with each live entry that has `term`, and how often. Returns the number of entries with the dead ones.
pub(super) fn each(
    term: &Term,
    index: &InvertedIndexReader,
    segment: &SegmentReader,
    mut found: impl FnMut(DocId, u32),
) -> tantivy::Result<u32> {
    let Some(info) = index.get_term_info(term)? else {
        return Ok(0);
    };
    let kind = IndexRecordOption::WithFreqs;
    let mut blocks = index.read_block_postings_from_terminfo(&info, kind)?;
    let has_dead = segment.has_deletes();
    while !blocks.docs().is_empty() {
        // A field without frequencies has none here.
        let counts = blocks.freqs().iter().copied().chain(std::iter::repeat(1));
        for (&entry, count) in blocks.docs().iter().zip(counts) {
            if !(has_dead && segment.is_deleted(entry)) {
                found(entry, count);
            }
        }
        blocks.advance();
    }
    Ok(info.doc_freq)
}

pub(crate) struct Lexical {
    searcher: Searcher,
    /// By segment.
    columns: Vec<Columns>,
    /// Live chunks, and all chunks with the dead ones in unmerged segments.
    chunks: usize,
    total: u64,
}

impl Lexical {
    pub(crate) fn open(searcher: &Searcher, chunks: usize) -> tantivy::Result<Lexical> {
        let columns = searcher.segment_readers().iter().map(Columns::open);
        Ok(Lexical {
            columns: columns.collect::<tantivy::Result<_>>()?,
            searcher: searcher.clone(),
            chunks,
            total: stored(searcher)?,
        })
    }

    fn column(&self, ordinal: Ordinal) -> Option<&Columns> {
        self.columns.get(ordinal.segment_ord as usize)
    }

    /// Row of the chunk's vector.
    pub(crate) fn row(&self, ordinal: Ordinal) -> Option<usize> {
        let rows = self.column(ordinal)?.rows.as_ref()?;
        rows.first(ordinal.doc_id).map(|row| row as usize)
    }

    /// Number of the chunk's document, as [`number_of`] makes it.
    pub(crate) fn page(&self, ordinal: Ordinal) -> Option<u64> {
        self.column(ordinal)?.pages.as_ref()?.first(ordinal.doc_id)
    }

    pub(crate) fn facets(&self, ordinal: Ordinal) -> Facets<'_> {
        let facets = self.column(ordinal).and_then(|columns| {
            let all = columns.facets.as_ref()?.ords();
            let name = |number: u64| columns.names.get(number as usize);
            let names = all.values_for_doc(ordinal.doc_id).filter_map(name);
            Some(Facets(names.map(String::as_str).collect()))
        });
        facets.unwrap_or_default()
    }

    /// Ids of the chunks, in their order.
    pub(crate) fn ids(&self, chunks: &[Ordinal]) -> tantivy::Result<Vec<String>> {
        let mut out = vec![String::new(); chunks.len()];
        for (number, columns) in self.columns.iter().enumerate() {
            let Some(ids) = &columns.ids else {
                continue;
            };
            let here = chunks.iter().enumerate();
            let here = here.filter(|(_, chunk)| chunk.segment_ord as usize == number);
            let numbered =
                here.filter_map(|(at, chunk)| Some((ids.ords().first(chunk.doc_id)?, at)));
            let mut numbered: Vec<(u64, usize)> = numbered.collect();
            numbered.sort_unstable();
            let ords: Vec<u64> = numbered.iter().map(|(ord, _)| *ord).collect();
            let mut places = numbered.iter().map(|(_, at)| *at);
            ids.dictionary().sorted_ords_to_term_cb(&ords, |id| {
                if let Some(at) = places.next() {
                    out[at] = String::from_utf8_lossy(id).into_owned();
                }
            })?;
        }
        Ok(out)
    }

    pub(crate) fn id(&self, chunk: Ordinal) -> String {
        let ids = self.ids(&[chunk]).unwrap_or_default();
        ids.into_iter().next().unwrap_or_default()
    }

    pub(crate) fn chunk(&self, ordinal: Ordinal) -> tantivy::Result<Chunk> {
        data(&self.searcher, ordinal)
    }

    /// The live chunks by row.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut out = Vec::with_capacity(self.chunks);
        let segments = self.searcher.segment_readers().iter();
        for (number, (segment, columns)) in (0..).zip(segments.zip(&self.columns)) {
            let Some(rows) = &columns.rows else {
                continue;
            };
            let rows = numbers(rows, segment).into_iter();
            let rows = rows.filter(|(_, row)| *row != u64::from(NO_ROW));
            out.extend(rows.map(|(doc, row)| (row as u32, Ordinal::new(number, doc))));
        }
        out.sort_unstable();
        out
    }

    /// The chunks of a document.
    pub(crate) fn chunks_of(&self, document: &str) -> tantivy::Result<Vec<Ordinal>> {
        self.of_page(number_of(document))
    }

    /// The chunks of the document with this number.
    pub(super) fn of_page(&self, page: u64) -> tantivy::Result<Vec<Ordinal>> {
        self.with_term(&Term::from_field_u64(PAGE, page))
    }

    /// The best `limit` chunks that contain any of `words`, best first; with `allowed`, which is sorted, only these chunks. A query has dozens
    /// of terms and wants hundreds of chunks, so adding up all scores takes less time than tantivy's search for the best.
    pub(crate) fn search(
        &self,
        words: &Words,
        allowed: Option<&[Ordinal]>,
        limit: usize,
    ) -> tantivy::Result<Ranking> {
        if words.terms.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let clauses = self.clauses(words)?;
        let mut found = Vec::new();
        for (number, segment) in (0..).zip(self.searcher.segment_readers()) {
            let mut scores = vec![0.0; segment.max_doc() as usize];
            for (term, bm25) in &clauses {
                let lengths = segment.get_fieldnorms_reader(term.field())?;
                let index = segment.inverted_index(term.field())?;
                each(term, &index, segment, |doc, count| {
                    scores[doc as usize] += bm25.score(lengths.fieldnorm_id(doc), count);
                })?;
            }
            let scored = (0..).zip(scores).filter(|(_, score)| *score > 0.0);
            found.extend(scored.map(|(doc, score)| (Ordinal::new(number, doc), score)));
        }
        if let Some(allowed) = allowed {
            found.retain(|(chunk, _)| allowed.binary_search(chunk).is_ok());
        }
        Ok(best(found, limit))
    }

    /// Terms to look for that some chunk has, and how much they count. BM25 counts chunks, and no questions.
    fn clauses(&self, words: &Words) -> tantivy::Result<Vec<(Term, Bm25Weight)>> {
        let terms = words.terms.iter();
        let asked = terms.clone().filter(|_| words.question_weight > 0.0);
        let asked = asked.map(|(term, weight)| (QUESTIONS, term, words.question_weight * weight));
        let pairs = words.pairs.iter().map(|pair| (PAIRS, pair, PAIR_WEIGHT));
        let terms = terms.map(|(term, weight)| (BODY, term, *weight));
        let mut clauses = Vec::new();
        for (field, term, weight) in terms.chain(pairs).chain(asked) {
            let term = Term::from_field_text(field, term);
            let having = self.searcher.doc_freq(&term)?;
            if having > 0 {
                let length = self.searcher.total_num_tokens(field)? as f32 / self.total as f32;
                let bm25 = Bm25Weight::for_one_term_without_explain(having, self.total, length);
                clauses.push((term, bm25.boost_by(weight)));
            }
        }
        Ok(clauses)
    }

    /// The chunks that pass `filter`, sorted; `None` if all do.
    pub(crate) fn allowed(&self, filter: &Filter) -> tantivy::Result<Option<Vec<Ordinal>>> {
        let mut allowed: Option<Vec<Ordinal>> = None;
        for group in filter_groups(filter) {
            let mut any = Vec::new();
            for value in &group {
                any.extend(self.with_term(&Term::from_field_text(FACET, value))?);
            }
            any.sort_unstable();
            if let Some(before) = allowed {
                any.retain(|chunk| before.binary_search(chunk).is_ok());
            }
            any.dedup();
            allowed = Some(any);
        }
        Ok(allowed)
    }

    fn with_term(&self, term: &Term) -> tantivy::Result<Vec<Ordinal>> {
        let mut out = Vec::new();
        for (number, segment) in (0..).zip(self.searcher.segment_readers()) {
            let index = segment.inverted_index(term.field())?;
            each(term, &index, segment, |doc, _| {
                out.push(Ordinal::new(number, doc))
            })?;
        }
        Ok(out)
    }

    pub(crate) fn find(&self, id: &str) -> tantivy::Result<Option<Ordinal>> {
        Ok(self.with_term(&Term::from_field_text(ID, id))?.pop())
    }

    /// Chunks that contain `term`, including dead ones in unmerged segments.
    pub(crate) fn frequency(&self, term: &str) -> tantivy::Result<u64> {
        let term = Term::from_field_text(BODY, term);
        self.searcher.doc_freq(&term)
    }

    /// Terms that start with `first`, each with its number of chunks, dead ones in unmerged segments included.
    pub(crate) fn starting_with(&self, first: char) -> tantivy::Result<BTreeMap<String, u64>> {
        let mut chunks: BTreeMap<String, u64> = BTreeMap::new();
        let (from, to) = (first.to_string(), format!("{first}\u{7f}"));
        for segment in self.searcher.segment_readers() {
            let terms = segment.inverted_index(BODY)?;
            let mut terms = terms.terms().range().ge(&from).lt(&to).into_stream()?;
            while terms.advance() {
                let term = String::from_utf8_lossy(terms.key()).into_owned();
                *chunks.entry(term).or_default() += u64::from(terms.value().doc_freq);
            }
        }
        Ok(chunks)
    }

    /// How rare `term` is, as BM25 counts it.
    pub(crate) fn idf(&self, term: &str) -> tantivy::Result<f32> {
        Ok(idf(self.chunks as f32, self.frequency(term)?))
    }

    /// The chunks of this kind, sorted.
    pub(crate) fn of_kind(&self, kind: Kind) -> tantivy::Result<Vec<Ordinal>> {
        self.with_facet("kind", kind.as_str())
    }

    /// The live chunks with this facet.
    pub(crate) fn with_facet(&self, name: &str, value: &str) -> tantivy::Result<Vec<Ordinal>> {
        self.with_term(&Term::from_field_text(FACET, &facet(name, value)))
    }
}
