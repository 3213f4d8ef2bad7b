//! The BM25 store: one tantivy index per generation, its segment files linked from the one before.
//!
//! Terms come from our analyzer. Tantivy never parses a query, since its parser turns a Chinese sentence into one
//! exact phrase. Positions are not stored, since there are no phrase queries.

use std::collections::HashSet;
use std::path::Path;

use tantivy::collector::{Count, DocSetCollector, TopDocs};
use tantivy::fastfield::Column;
use tantivy::indexer::IndexWriterOptions;
use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery, TermSetQuery,
};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{
    DocAddress, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher,
    TantivyDocument, TantivyError, Term,
};

use super::directory::Unsynced;
use super::facets::{Facets, facet, filter_groups};
use super::manifest::Ordinal;
use crate::model::{Chunk, Filter, Kind};

/// Memory of the writer for an update and for a build, in bytes; tantivy's minimum is 15 MB per thread.
const UPDATE_ARENA: usize = 16_000_000;
const BUILD_ARENA: usize = 200_000_000;

/// Weight of a pair of adjacent words relative to a word, which it mostly repeats. Chosen on the training queries of a public
/// collection, where .15 to .25 do equally well.
const PAIR_WEIGHT: f32 = 0.25;

type Weighted = (String, f32);

#[derive(Clone, Copy)]
struct Fields {
    id: Field,
    document: Field,
    facet: Field,
    body: Field,
    pairs: Field,
    ordinal: Field,
}

impl Fields {
    fn build() -> (Schema, Fields) {
        let mut schema = Schema::builder();
        let body = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_index_option(IndexRecordOption::WithFreqs)
                .set_fieldnorms(true),
        );
        let fields = Fields {
            id: schema.add_text_field("id", STRING),
            document: schema.add_text_field("document", STRING),
            facet: schema.add_text_field("facet", STRING),
            body: schema.add_text_field("body", body.clone()),
            pairs: schema.add_text_field("pairs", body),
            ordinal: schema.add_u64_field("ordinal", FAST),
        };
        (schema.build(), fields)
    }

    fn find(schema: &Schema) -> Result<Fields, TantivyError> {
        Ok(Fields {
            id: schema.get_field("id")?,
            document: schema.get_field("document")?,
            facet: schema.get_field("facet")?,
            body: schema.get_field("body")?,
            pairs: schema.get_field("pairs")?,
            ordinal: schema.get_field("ordinal")?,
        })
    }
}

pub(crate) struct Entry<'a> {
    pub(crate) chunk: &'a Chunk,
    pub(crate) ordinal: Ordinal,
    pub(crate) terms: Vec<String>,
    pub(crate) pairs: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    pub(crate) terms: Vec<Weighted>,
    pub(crate) pairs: Vec<String>,
}

pub(crate) struct LexicalWriter {
    writer: IndexWriter,
    fields: Fields,
}

impl LexicalWriter {
    /// A new, empty store in `folder`, which must exist.
    pub(crate) fn create(folder: &Path) -> Result<LexicalWriter, TantivyError> {
        let (schema, fields) = Fields::build();
        let settings = IndexSettings::default();
        let index = Index::create(Unsynced::open(folder)?, schema, settings)?;
        let writer = index.writer_with_options(options(BUILD_ARENA))?;
        Ok(LexicalWriter { writer, fields })
    }

    /// Continues a store whose files were linked into `folder`.
    pub(crate) fn resume(folder: &Path) -> Result<LexicalWriter, TantivyError> {
        let index = Index::open(Unsynced::open(folder)?)?;
        let fields = Fields::find(&index.schema())?;
        let writer = index.writer_with_options(options(UPDATE_ARENA))?;
        Ok(LexicalWriter { writer, fields })
    }

    pub(crate) fn remove(&mut self, document: &str) {
        self.writer
            .delete_term(Term::from_field_text(self.fields.document, document));
    }

    pub(crate) fn add(&mut self, entry: Entry<'_>) -> Result<(), TantivyError> {
        let Entry {
            chunk,
            ordinal,
            terms,
            pairs,
        } = entry;
        let mut document = TantivyDocument::new();
        document.add_text(self.fields.id, &chunk.id);
        document.add_text(self.fields.document, &chunk.document);
        for facet in Facets::from(chunk).names() {
            document.add_text(self.fields.facet, facet);
        }
        document.add_pre_tokenized_text(self.fields.body, pre_tokenized(terms));
        document.add_pre_tokenized_text(self.fields.pairs, pre_tokenized(pairs));
        document.add_u64(self.fields.ordinal, ordinal.0);
        self.writer.add_document(document)?;
        Ok(())
    }

    /// Writes what is still in memory; the caller waits for the disk.
    pub(crate) fn finish(mut self) -> Result<(), TantivyError> {
        self.writer.commit()?;
        self.writer.wait_merging_threads()
    }
}

/// One thread to write and one to merge; more would only wait.
fn options(arena: usize) -> IndexWriterOptions {
    IndexWriterOptions::builder()
        .memory_budget_per_thread(arena)
        .num_worker_threads(1)
        .num_merge_threads(1)
        .build()
}

fn pre_tokenized(terms: Vec<String>) -> PreTokenizedString {
    let tokens = terms.into_iter().enumerate().map(|(position, text)| Token {
        position,
        text,
        ..Token::default()
    });
    PreTokenizedString {
        text: String::new(),
        tokens: tokens.collect(),
    }
}

pub(crate) struct Lexical {
    fields: Fields,
    // Keeps the files mapped.
    _reader: IndexReader,
    searcher: Searcher,
    /// By segment of the store.
    ordinals: Vec<Column<u64>>,
}

impl Lexical {
    pub(crate) fn open(folder: &Path) -> Result<Lexical, TantivyError> {
        let index = Index::open_in_dir(folder)?;
        let fields = Fields::find(&index.schema())?;
        let reader: IndexReader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        let searcher = reader.searcher();
        let segments = searcher.segment_readers().iter();
        let ordinals = segments.map(|segment| segment.fast_fields().u64("ordinal"));
        Ok(Lexical {
            fields,
            _reader: reader,
            ordinals: ordinals.collect::<Result<_, _>>()?,
            searcher,
        })
    }

    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.searcher.num_docs()).unwrap_or(usize::MAX)
    }

    /// The best `limit` chunks that contain any of `words` and pass `filter`, best first.
    pub(crate) fn search(
        &self,
        words: &Words,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<(Ordinal, f32)>, TantivyError> {
        if words.terms.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let clause = |field: Field, term: &str, weight: f32| {
            let term = Term::from_field_text(field, term);
            let query: Box<dyn Query> =
                Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            let query = if weight == 1.0 {
                query
            } else {
                Box::new(BoostQuery::new(query, weight))
            };
            (Occur::Should, query)
        };
        let terms = words
            .terms
            .iter()
            .map(|(term, weight)| clause(self.fields.body, term, *weight));
        let pairs = words
            .pairs
            .iter()
            .map(|pair| clause(self.fields.pairs, pair, PAIR_WEIGHT));
        let clauses = terms.chain(pairs);
        let mut query: Box<dyn Query> = Box::new(BooleanQuery::new(clauses.collect()));
        if let Some(filter) = self.filter_query(filter) {
            let silent = Box::new(ConstScoreQuery::new(filter, 0.0));
            query = Box::new(BooleanQuery::new(vec![
                (Occur::Must, query),
                (Occur::Must, silent),
            ]));
        }
        let top = self
            .searcher
            .search(&*query, &TopDocs::with_limit(limit).order_by_score())?;
        let mut out = Vec::with_capacity(top.len());
        for (score, address) in top {
            out.push((self.ordinal(address)?, score));
        }
        Ok(out)
    }

    /// The chunks that pass `filter`; `None` if all do.
    pub(crate) fn allowed(
        &self,
        filter: &Filter,
    ) -> Result<Option<HashSet<Ordinal>>, TantivyError> {
        let Some(query) = self.filter_query(filter) else {
            return Ok(None);
        };
        let found = self.searcher.search(&*query, &DocSetCollector)?;
        let ordinals: Result<HashSet<Ordinal>, TantivyError> = found
            .into_iter()
            .map(|address| self.ordinal(address))
            .collect();
        ordinals.map(Some)
    }

    pub(crate) fn find(&self, id: &str) -> Result<Option<Ordinal>, TantivyError> {
        let term = Term::from_field_text(self.fields.id, id);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        let found = self
            .searcher
            .search(&query, &TopDocs::with_limit(1).order_by_score())?;
        found
            .first()
            .map(|&(_, address)| self.ordinal(address))
            .transpose()
    }

    /// Chunks that contain `term`, including dead ones in unmerged segments.
    pub(crate) fn frequency(&self, term: &str) -> Result<u64, TantivyError> {
        let term = Term::from_field_text(self.fields.body, term);
        self.searcher.doc_freq(&term)
    }

    /// Chunks of this kind, including dead ones in unmerged segments.
    pub(crate) fn count_kind(&self, kind: Kind) -> Result<u64, TantivyError> {
        let value = facet("kind", kind.as_str());
        let term = Term::from_field_text(self.fields.facet, &value);
        self.searcher.doc_freq(&term)
    }

    /// Live chunks with this facet.
    pub(crate) fn count_facet(&self, name: &str, value: &str) -> Result<usize, TantivyError> {
        let term = Term::from_field_text(self.fields.facet, &facet(name, value));
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        self.searcher.search(&query, &Count)
    }

    pub(crate) fn damaged_files(&self) -> Result<Vec<std::path::PathBuf>, TantivyError> {
        let damaged = self.searcher.index().validate_checksum()?;
        Ok(damaged.into_iter().collect())
    }

    pub(crate) fn ordinals(&self) -> Result<Vec<Ordinal>, TantivyError> {
        let all = self
            .searcher
            .search(&tantivy::query::AllQuery, &DocSetCollector)?;
        all.into_iter()
            .map(|address| self.ordinal(address))
            .collect()
    }

    fn ordinal(&self, address: DocAddress) -> Result<Ordinal, TantivyError> {
        let column = self.ordinals.get(address.segment_ord as usize);
        column
            .and_then(|column| column.first(address.doc_id))
            .map(Ordinal)
            .ok_or_else(|| TantivyError::InternalError("a chunk without an ordinal".to_owned()))
    }

    fn filter_query(&self, filter: &Filter) -> Option<Box<dyn Query>> {
        let clauses: Vec<(Occur, Box<dyn Query>)> = filter_groups(filter)
            .into_iter()
            .map(|values| {
                let terms = values
                    .iter()
                    .map(|value| Term::from_field_text(self.fields.facet, value));
                let any: Box<dyn Query> = Box::new(TermSetQuery::new(terms));
                (Occur::Must, any)
            })
            .collect();
        (!clauses.is_empty()).then(|| Box::new(BooleanQuery::new(clauses)) as Box<dyn Query>)
    }
}
