//! The store of questions: an entry of a second tantivy index for each question that a document says it answers.
//!
//! A query is compared with every question by itself, and a document counts by the most similar ones: all its questions taken together
//! would resemble any query a little.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tantivy::collector::{DocSetCollector, TopDocs};
use tantivy::fastfield::Column;
use tantivy::indexer::IndexWriter;
use tantivy::query::AllQuery;
use tantivy::schema::{FAST, Field, STRING, Schema};
use tantivy::{DocAddress, Index, Searcher, TantivyDocument, TantivyError, Term};

use super::directory::Folder;
use super::lexical::{self, Clause, Weighted};
use super::manifest::Ordinal;
use crate::model::Engine;

/// Questions that are looked at, the most similar ones.
const DEPTH: usize = 200;

/// A document counts by the mean of this many questions. Of 1 to 8, 2 found most on the tuning judgments.
const NEAREST: usize = 2;

/// A term in fewer questions says nothing about the engine, and none says more than this, as a logarithm.
const FEWEST: u64 = 5;
const MOST: f32 = 3.0;

/// The chunks of a document: the first, and how many.
pub(crate) type Place = (Ordinal, usize);

#[derive(Clone, Copy)]
struct Fields {
    document: Field,
    terms: Field,
    /// Terms once more, each with the engine of its document.
    by_engine: Field,
    first: Field,
    count: Field,
}

impl Fields {
    fn schema() -> Schema {
        let mut schema = Schema::builder();
        schema.add_text_field("document", STRING);
        schema.add_text_field("terms", lexical::terms_option());
        schema.add_text_field("by_engine", lexical::terms_option());
        schema.add_u64_field("first", FAST);
        schema.add_u64_field("count", FAST);
        schema.build()
    }

    fn find(schema: &Schema) -> tantivy::Result<Fields> {
        Ok(Fields {
            document: schema.get_field("document")?,
            terms: schema.get_field("terms")?,
            by_engine: schema.get_field("by_engine")?,
            first: schema.get_field("first")?,
            count: schema.get_field("count")?,
        })
    }
}

pub(crate) struct QuestionsWriter {
    writer: IndexWriter,
    fields: Fields,
}

impl QuestionsWriter {
    /// A new, empty store in `folder`, which must exist.
    pub(crate) fn create(folder: &Path) -> tantivy::Result<QuestionsWriter> {
        let index = lexical::create(folder, Fields::schema())?;
        QuestionsWriter::of(&index)
    }

    /// Continues a store whose files were linked into `folder`.
    pub(crate) fn resume(folder: &Path) -> tantivy::Result<QuestionsWriter> {
        QuestionsWriter::of(&Index::open(Folder::open(folder)?)?)
    }

    fn of(index: &Index) -> tantivy::Result<QuestionsWriter> {
        Ok(QuestionsWriter {
            fields: Fields::find(&index.schema())?,
            writer: lexical::writer(index, lexical::UPDATE_ARENA)?,
        })
    }

    pub(crate) fn remove(&mut self, document: &str) {
        let term = Term::from_field_text(self.fields.document, document);
        self.writer.delete_term(term);
    }

    /// `terms` are those of one question, with spaces between them.
    pub(crate) fn add(
        &mut self,
        document: &str,
        engine: Engine,
        (first, count): Place,
        terms: &str,
    ) -> tantivy::Result<()> {
        let by_engine = terms.split(' ').chain([""]);
        let by_engine = by_engine.map(|term| of_engine(engine, term));
        let by_engine = by_engine.collect::<Vec<_>>().join(" ");
        let mut entry = TantivyDocument::new();
        entry.add_text(self.fields.document, document);
        entry.add_text(self.fields.terms, terms);
        entry.add_text(self.fields.by_engine, by_engine);
        entry.add_u64(self.fields.first, first.0);
        entry.add_u64(self.fields.count, count as u64);
        self.writer.add_document(entry)?;
        Ok(())
    }

    /// Writes what is still in memory; the caller waits for the disk.
    pub(crate) fn finish(mut self) -> tantivy::Result<()> {
        self.writer.commit()?;
        self.writer.wait_merging_threads()
    }
}

pub(crate) struct Questions {
    fields: Fields,
    searcher: Searcher,
    /// `first` and `count`, by segment of the store.
    columns: Vec<(Column<u64>, Column<u64>)>,
    /// The documents with questions, in order, once somebody asks: an analysis, which asks for causes, does not.
    documents: OnceLock<Vec<Place>>,
}

impl Questions {
    pub(crate) fn open(folder: &Path) -> tantivy::Result<Questions> {
        let index = Index::open(Folder::open(folder)?)?;
        let searcher = lexical::searcher(&index)?;
        let segments = searcher.segment_readers().iter();
        let columns = segments.map(|segment| {
            let columns = segment.fast_fields();
            Ok((columns.u64("first")?, columns.u64("count")?))
        });
        Ok(Questions {
            fields: Fields::find(&index.schema())?,
            columns: columns.collect::<tantivy::Result<_>>()?,
            searcher,
            documents: OnceLock::new(),
        })
    }

    /// How much the questions of documents resemble a query with these terms; only of documents with a chunk in `allowed`, if given,
    /// which is sorted.
    pub(crate) fn near(
        &self,
        terms: &[Weighted],
        allowed: Option<&[Ordinal]>,
    ) -> tantivy::Result<Near<'_>> {
        let mut most = 0.0;
        let mut clauses = Vec::with_capacity(terms.len());
        for (term, weight) in terms {
            let term = Term::from_field_text(self.fields.terms, term);
            let having = self.searcher.doc_freq(&term)?;
            most += weight * lexical::BM25_TOP * lexical::idf(&self.searcher, having);
            let weight = *weight;
            clauses.extend((having > 0).then_some(Clause { term, weight }));
        }
        let query = lexical::any_of(clauses.into_iter());
        let top = TopDocs::with_limit(DEPTH).order_by_score();
        let mut scores: HashMap<Place, Vec<f32>> = HashMap::new();
        for (score, address) in self.searcher.search(&query, &top)? {
            scores.entry(self.place(address)?).or_default().push(score);
        }
        let mean = |best: &[f32]| best.iter().take(NEAREST).sum::<f32>() / NEAREST as f32;
        let scores = scores.into_iter();
        let scores = scores.filter(|(place, _)| allowed.is_none_or(|all| is_among(*place, all)));
        let scores = scores.map(|(place, best)| (place, mean(&best) / most));
        Ok(Near::new(scores.collect(), self.documents()?))
    }

    /// Which engine a query with these terms is about, from what people ask about either: -1 for the default engine to 1 for Spark;
    /// 0 if nothing is asked about one of them.
    pub(crate) fn leaning(&self, terms: &[Weighted]) -> tantivy::Result<f32> {
        let asked = |term: &str| -> tantivy::Result<[u64; 2]> {
            let of = |engine| {
                let term = of_engine(engine, term);
                let term = Term::from_field_text(self.fields.by_engine, &term);
                self.searcher.doc_freq(&term)
            };
            Ok([of(Engine::Spark)?, of(Engine::default())?])
        };
        // Smoothed, so that a term that only one engine has says much, but not all.
        let odds = |[spark, other]: [u64; 2]| (spark as f32 + 1.0) / (other as f32 + 1.0);
        let all = asked("")?;
        if all.contains(&0) {
            return Ok(0.0);
        }
        let all = odds(all);
        let mut sum = 0.0;
        for (term, _) in terms {
            let having = asked(term)?;
            if having.iter().sum::<u64>() >= FEWEST {
                sum += (odds(having) / all).ln().clamp(-MOST, MOST);
            }
        }
        Ok((sum / MOST).tanh())
    }

    /// The documents with questions, in order.
    pub(crate) fn documents(&self) -> tantivy::Result<&[Place]> {
        if let Some(known) = self.documents.get() {
            return Ok(known);
        }
        let mut documents = self.places()?;
        documents.sort_unstable();
        documents.dedup();
        Ok(self.documents.get_or_init(|| documents))
    }

    pub(crate) fn damaged_files(&self) -> tantivy::Result<HashSet<PathBuf>> {
        self.searcher.index().validate_checksum()
    }

    /// Of every question.
    fn places(&self) -> tantivy::Result<Vec<Place>> {
        let all = self.searcher.search(&AllQuery, &DocSetCollector)?;
        let places = all.into_iter().map(|address| self.place(address));
        places.collect()
    }

    fn place(&self, address: DocAddress) -> tantivy::Result<Place> {
        let columns = self.columns.get(address.segment_ord as usize);
        let place = columns.and_then(|(first, count)| {
            let (first, count) = (first.first(address.doc_id)?, count.first(address.doc_id)?);
            Some((Ordinal(first), usize::try_from(count).ok()?))
        });
        place.ok_or_else(|| TantivyError::InternalError("a question without a place".to_owned()))
    }
}

/// A term of a question about this engine; the empty one is in every question.
fn of_engine(engine: Engine, term: &str) -> String {
    format!("{}:{term}", engine.as_str())
}

/// Whether a chunk of the document is in `allowed`, which is sorted.
fn is_among((first, count): Place, allowed: &[Ordinal]) -> bool {
    let next = allowed.partition_point(|&ordinal| ordinal < first);
    let next = allowed.get(next);
    next.is_some_and(|next| next.0 - first.0 < count as u64)
}

/// How much the questions of documents resemble a query: relative to the most that the query's terms can give, 0 to about 1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Near<'a> {
    /// Those of the most similar questions.
    scores: HashMap<Place, f32>,
    /// All that have questions, in order.
    documents: &'a [Place],
}

impl<'a> Near<'a> {
    pub(crate) fn new(scores: HashMap<Place, f32>, documents: &'a [Place]) -> Near<'a> {
        Near { scores, documents }
    }

    /// That of the chunk's document; `None` if it has no questions.
    pub(crate) fn score(&self, chunk: Ordinal) -> Option<f32> {
        let after = self.documents.partition_point(|(first, _)| *first <= chunk);
        let &(first, count) = self.documents.get(after.checked_sub(1)?)?;
        let is_of = chunk.0 - first.0 < count as u64;
        is_of.then(|| self.scores.get(&(first, count)).copied().unwrap_or(0.0))
    }

    /// Of the most similar document.
    pub(crate) fn best(&self) -> f32 {
        self.scores.values().copied().fold(0.0, f32::max)
    }

    /// The chunks of these documents.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Ordinal> + '_ {
        let documents = self.scores.keys();
        documents.flat_map(|&(first, count)| (0..count as u64).map(move |n| Ordinal(first.0 + n)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_of_a_document_has_its_score_and_others_have_none() {
        let place = |row, count| (Ordinal::new(1, row), count);
        let documents = [place(3, 4), place(10, 2), place(20, 1)];
        let scores = HashMap::from([(documents[0], 0.5), (documents[1], 0.25)]);
        let near = Near::new(scores, &documents);
        let scores = [2, 3, 6, 7, 10, 11, 12, 20].map(|row| near.score(Ordinal::new(1, row)));
        let (a, b, none, other) = (Some(0.5), Some(0.25), None, Some(0.0));
        assert_eq!(scores, [none, a, a, none, b, b, none, other]);
        assert_eq!(near.score(Ordinal::new(2, 3)), None);
        assert_eq!((near.best(), near.chunks().count()), (0.5, 6));
    }

    #[test]
    fn a_document_is_allowed_with_any_of_its_chunks() {
        let allowed = [2, 11].map(|row| Ordinal::new(1, row));
        assert!(is_among((Ordinal::new(1, 10), 2), &allowed));
        assert!(!is_among((Ordinal::new(1, 3), 8), &allowed));
        assert!(!is_among((Ordinal::new(1, 3), 8), &[]));
    }
}
