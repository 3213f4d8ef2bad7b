//! The BM25 store: one tantivy index per generation, with segment files linked from the previous
//! generation.
//!
//! Terms come from our analyzer, and spaces part them. Tantivy never parses a query, since its parser turns a Chinese sentence into one
//! exact phrase. Positions are not stored, since there are no phrase queries.

mod among;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use tantivy::collector::{Count, DocSetCollector, TopDocs};
use tantivy::fastfield::Column;
use tantivy::indexer::IndexWriterOptions;
use tantivy::query::{AllQuery, BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{
    DocAddress, DocId, DocSet, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy,
    Searcher, TERMINATED, TantivyDocument, TantivyError, Term,
};

use super::directory::Folder;
use super::facets::{self, excluded, facet, filter_groups};
use super::manifest::Ordinal;
use crate::model::{Chunk, Filter, Kind};

pub(crate) use among::Allowed;

/// Memory of the writer for an update and for a build, in bytes; tantivy's minimum is 15 MB per thread.
pub(super) const UPDATE_ARENA: usize = 16_000_000;
pub(super) const BUILD_ARENA: usize = 200_000_000;

/// Weight of a pair of adjacent words relative to a word, which it mostly repeats. Chosen on the training queries of a public
/// collection, where .15 to .25 do equally well.
const PAIR_WEIGHT: f32 = 0.25;

/// Maximum BM25 score of a term, relative to its rarity: the `k1 + 1` of tantivy.
pub(crate) const BM25_TOP: f32 = 2.2;

pub(crate) type Weighted = (String, f32);

#[derive(Clone, Copy)]
struct Fields {
    id: Field,
    document: Field,
    facet: Field,
    body: Field,
    pairs: Field,
    questions: Field,
    ordinal: Field,
}

impl Fields {
    fn schema() -> Schema {
        let mut schema = Schema::builder();
        for name in ["id", "document", "facet"] {
            schema.add_text_field(name, STRING);
        }
        for name in ["body", "pairs", "questions"] {
            schema.add_text_field(name, terms_option());
        }
        schema.add_u64_field("ordinal", FAST);
        schema.build()
    }

    fn find(schema: &Schema) -> tantivy::Result<Fields> {
        Ok(Fields {
            id: schema.get_field("id")?,
            document: schema.get_field("document")?,
            facet: schema.get_field("facet")?,
            body: schema.get_field("body")?,
            pairs: schema.get_field("pairs")?,
            questions: schema.get_field("questions")?,
            ordinal: schema.get_field("ordinal")?,
        })
    }
}

pub(crate) struct Entry<'a> {
    pub(crate) chunk: &'a Chunk,
    pub(crate) ordinal: Ordinal,
    pub(crate) terms: Vec<String>,
    pub(crate) pairs: Vec<String>,
    /// Terms of the questions that the document answers, with spaces between them.
    pub(crate) questions: &'a str,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    pub(crate) terms: Vec<Weighted>,
    pub(crate) pairs: Vec<String>,
    /// Weight of the terms in the questions that a document answers; 0 not to look there.
    pub(crate) question_weight: f32,
}

/// A term to look for, and how much it counts.
pub(super) struct Clause {
    pub(super) term: Term,
    pub(super) weight: f32,
}

/// A text of terms with spaces between them.
pub(super) fn terms_option() -> TextOptions {
    let terms = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqs);
    TextOptions::default().set_indexing_options(terms.set_fieldnorms(true))
}

pub(super) fn create(folder: &Path, schema: Schema) -> tantivy::Result<Index> {
    Index::create(Folder::open(folder)?, schema, IndexSettings::default())
}

/// One thread to write and one to merge; more would only wait.
pub(super) fn writer(index: &Index, arena: usize) -> tantivy::Result<IndexWriter> {
    let options = IndexWriterOptions::builder()
        .memory_budget_per_thread(arena)
        .num_worker_threads(1)
        .num_merge_threads(1);
    index.writer_with_options(options.build())
}

pub(super) fn searcher(index: &Index) -> tantivy::Result<Searcher> {
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
    let reader: IndexReader = reader.try_into()?;
    Ok(reader.searcher())
}

/// How rare a term in `having` entries is, as BM25 counts it.
pub(super) fn idf(searcher: &Searcher, having: u64) -> f32 {
    let (all, having) = (searcher.num_docs() as f32, having as f32);
    (1.0 + (all - having + 0.5).max(0.0) / (having + 0.5)).ln()
}

pub(super) fn any_of(clauses: impl Iterator<Item = Clause>) -> BooleanQuery {
    let clauses = clauses.map(|Clause { term, weight }| {
        let query = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
        let query: Box<dyn Query> = match weight {
            1.0 => query,
            _ => Box::new(BoostQuery::new(query, weight)),
        };
        (Occur::Should, query)
    });
    BooleanQuery::new(clauses.collect())
}

pub(crate) struct LexicalWriter {
    writer: IndexWriter,
    fields: Fields,
}

impl LexicalWriter {
    /// A new, empty store in `folder`, which must exist.
    pub(crate) fn create(folder: &Path) -> tantivy::Result<LexicalWriter> {
        LexicalWriter::of(&create(folder, Fields::schema())?, BUILD_ARENA)
    }

    /// Continues a store from the files that were linked into `folder`.
    pub(crate) fn resume(folder: &Path) -> tantivy::Result<LexicalWriter> {
        LexicalWriter::of(&Index::open(Folder::open(folder)?)?, UPDATE_ARENA)
    }

    fn of(index: &Index, arena: usize) -> tantivy::Result<LexicalWriter> {
        Ok(LexicalWriter {
            fields: Fields::find(&index.schema())?,
            writer: writer(index, arena)?,
        })
    }

    pub(crate) fn remove(&mut self, document: &str) {
        let term = Term::from_field_text(self.fields.document, document);
        self.writer.delete_term(term);
    }

    pub(crate) fn add(&mut self, entry: Entry<'_>) -> tantivy::Result<()> {
        let mut document = TantivyDocument::new();
        document.add_text(self.fields.id, &entry.chunk.id);
        document.add_text(self.fields.document, &entry.chunk.document);
        for facet in facets::names(entry.chunk) {
            document.add_text(self.fields.facet, facet);
        }
        document.add_text(self.fields.body, entry.terms.join(" "));
        document.add_text(self.fields.pairs, entry.pairs.join(" "));
        if !entry.questions.is_empty() {
            document.add_text(self.fields.questions, entry.questions);
        }
        document.add_u64(self.fields.ordinal, entry.ordinal.0);
        self.writer.add_document(document)?;
        Ok(())
    }

    /// Writes pending chunks; the caller waits for the disk.
    pub(crate) fn finish(mut self) -> tantivy::Result<()> {
        self.writer.commit()?;
        self.writer.wait_merging_threads()
    }
}

pub(crate) struct Lexical {
    fields: Fields,
    searcher: Searcher,
    /// By segment of the store.
    ordinals: Vec<Column<u64>>,
}

impl Lexical {
    pub(crate) fn open(folder: &Path) -> tantivy::Result<Lexical> {
        let index = Index::open(Folder::open(folder)?)?;
        let fields = Fields::find(&index.schema())?;
        let searcher = searcher(&index)?;
        let segments = searcher.segment_readers().iter();
        let ordinals = segments.map(|segment| segment.fast_fields().u64("ordinal"));
        Ok(Lexical {
            fields,
            ordinals: ordinals.collect::<Result<_, _>>()?,
            searcher,
        })
    }

    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.searcher.num_docs()).unwrap_or(usize::MAX)
    }

    /// The best `limit` chunks that contain any of `words`, best first; with `allowed`, only these chunks.
    pub(crate) fn search(
        &self,
        words: &Words,
        allowed: Option<&Allowed>,
        limit: usize,
    ) -> tantivy::Result<Vec<(Ordinal, f32)>> {
        if words.terms.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let clauses = self.clauses(words);
        if let Some(allowed) = allowed {
            return among::search(&self.searcher, clauses, allowed, limit);
        }
        let query = any_of(clauses);
        let top = TopDocs::with_limit(limit).order_by_score();
        let found = self.searcher.search(&query, &top)?.into_iter();
        let ranked = found.map(|(score, address)| Ok((self.ordinal(address)?, score)));
        ranked.collect()
    }

    fn clauses(&self, words: &Words) -> impl Iterator<Item = Clause> {
        let clause = |field, term: &str, weight| Clause {
            term: Term::from_field_text(field, term),
            weight,
        };
        let Fields {
            body,
            pairs,
            questions,
            ..
        } = self.fields;
        let in_questions = words.question_weight;
        let terms = words.terms.iter();
        let asked = terms.clone().filter(move |_| in_questions > 0.0);
        let terms = terms.map(move |(term, weight)| clause(body, term, *weight));
        let all = words.pairs.iter();
        let pairs = all.map(move |pair| clause(pairs, pair, PAIR_WEIGHT));
        let asked = asked.map(move |(term, weight)| clause(questions, term, in_questions * weight));
        terms.chain(pairs).chain(asked)
    }

    /// The chunks that pass `filter`; `None` if all do.
    pub(crate) fn allowed(&self, filter: &Filter) -> tantivy::Result<Option<Allowed>> {
        let Some(query) = self.filter_query(filter) else {
            return Ok(None);
        };
        let found = self.searcher.search(&*query, &DocSetCollector)?;
        let chunks = found.into_iter();
        let chunks = chunks.map(|address| Ok((address, self.ordinal(address)?)));
        Ok(Some(Allowed::new(chunks.collect::<tantivy::Result<_>>()?)))
    }

    fn matching<C: FromIterator<Ordinal>>(&self, query: &dyn Query) -> tantivy::Result<C> {
        let found = self.searcher.search(query, &DocSetCollector)?;
        let ordinals = found.into_iter().map(|address| self.ordinal(address));
        ordinals.collect()
    }

    pub(crate) fn find(&self, id: &str) -> tantivy::Result<Option<Ordinal>> {
        let term = Term::from_field_text(self.fields.id, id);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        Ok(self.matching::<Vec<_>>(&query)?.pop())
    }

    /// Chunks that contain `term`, including dead ones in unmerged segments.
    pub(crate) fn frequency(&self, term: &str) -> tantivy::Result<u64> {
        let term = Term::from_field_text(self.fields.body, term);
        self.searcher.doc_freq(&term)
    }

    /// For each chunk of `ids`, which of `terms` it contains.
    pub(crate) fn presence(&self, ids: &[&str], terms: &[&str]) -> tantivy::Result<Vec<Vec<bool>>> {
        let mut out = vec![vec![false; terms.len()]; ids.len()];
        for segment in self.searcher.segment_readers() {
            let postings = |field: Field, text: &str| {
                let term = Term::from_field_text(field, text);
                let index = segment.inverted_index(field)?;
                Ok::<_, TantivyError>(index.read_postings(&term, IndexRecordOption::Basic)?)
            };
            let mut chunks: Vec<(DocId, usize)> = Vec::new();
            for (place, id) in ids.iter().enumerate() {
                let Some(mut found) = postings(self.fields.id, id)? else {
                    continue;
                };
                while found.doc() != TERMINATED {
                    if !segment.is_deleted(found.doc()) {
                        chunks.push((found.doc(), place));
                    }
                    found.advance();
                }
            }
            chunks.sort_unstable();
            for (at, term) in terms.iter().enumerate() {
                let Some(mut found) = postings(self.fields.body, term)? else {
                    continue;
                };
                for &(chunk, place) in &chunks {
                    // Seeking backwards is not allowed.
                    let doc = match found.doc() < chunk {
                        true => found.seek(chunk),
                        false => found.doc(),
                    };
                    out[place][at] |= doc == chunk;
                }
            }
        }
        Ok(out)
    }

    /// Terms that start with `first`, each with its number of chunks, dead ones in unmerged segments included.
    pub(crate) fn starting_with(&self, first: char) -> tantivy::Result<BTreeMap<String, u64>> {
        let mut chunks: BTreeMap<String, u64> = BTreeMap::new();
        let (from, to) = (first.to_string(), format!("{first}\u{7f}"));
        for segment in self.searcher.segment_readers() {
            let terms = segment.inverted_index(self.fields.body)?;
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
        Ok(idf(&self.searcher, self.frequency(term)?))
    }

    /// Chunks of this kind, including dead ones in unmerged segments.
    pub(crate) fn count_kind(&self, kind: Kind) -> tantivy::Result<u64> {
        let value = facet("kind", kind.as_str());
        let term = Term::from_field_text(self.fields.facet, &value);
        self.searcher.doc_freq(&term)
    }

    /// Live chunks with this facet.
    pub(crate) fn count_facet(&self, name: &str, value: &str) -> tantivy::Result<usize> {
        let term = Term::from_field_text(self.fields.facet, &facet(name, value));
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        self.searcher.search(&query, &Count)
    }

    pub(crate) fn damaged_files(&self) -> tantivy::Result<HashSet<PathBuf>> {
        self.searcher.index().validate_checksum()
    }

    pub(crate) fn ordinals(&self) -> tantivy::Result<Vec<Ordinal>> {
        self.matching(&AllQuery)
    }

    fn ordinal(&self, address: DocAddress) -> tantivy::Result<Ordinal> {
        let column = self.ordinals.get(address.segment_ord as usize);
        let ordinal = column.and_then(|column| column.first(address.doc_id));
        let missing = || TantivyError::InternalError("a chunk without an ordinal".to_owned());
        ordinal.map(Ordinal).ok_or_else(missing)
    }

    fn filter_query(&self, filter: &Filter) -> Option<Box<dyn Query>> {
        let one = |value: &String| -> (Occur, Box<dyn Query>) {
            let term = Term::from_field_text(self.fields.facet, value);
            (
                Occur::Should,
                Box::new(TermQuery::new(term, IndexRecordOption::Basic)),
            )
        };
        // A term set builds an automaton, which takes longer than the search.
        let any = |values: &Vec<String>| -> Box<dyn Query> {
            Box::new(BooleanQuery::new(values.iter().map(one).collect()))
        };
        let groups = filter_groups(filter);
        let wanted = groups.iter().map(|group| (Occur::Must, any(group)));
        let mut clauses: Vec<_> = wanted.collect();
        let excluded = excluded(filter);
        if !excluded.is_empty() {
            // A clause that only excludes has no matches.
            clauses.push((Occur::Must, Box::new(AllQuery)));
            clauses.push((Occur::MustNot, any(&excluded)));
        }
        (!clauses.is_empty()).then(|| Box::new(BooleanQuery::new(clauses)) as Box<dyn Query>)
    }
}
