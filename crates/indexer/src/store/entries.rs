//! The entries of the index and their writer.

use std::path::Path;

use tantivy::indexer::{IndexWriterOptions, PreparedCommit};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, STRING, Schema, SchemaBuilder, TextFieldIndexing,
    TextOptions,
};
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument, TantivyError, Term};

use super::directory::Folder;
use super::facets;
use crate::model::{Chunk, Engine};

/// Memory of the writer for an update and for a build, in bytes; tantivy's minimum is 15 MB per thread.
const UPDATE_ARENA: usize = 16_000_000;
const BUILD_ARENA: usize = 200_000_000;

#[derive(Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) id: Field,
    pub(crate) document: Field,
    pub(crate) facet: Field,
    pub(crate) body: Field,
    pub(crate) pairs: Field,
    pub(crate) questions: Field,
    pub(crate) row: Field,
    pub(crate) page: Field,
    pub(crate) chunk: Field,
}

impl Fields {
    pub(crate) fn find(schema: &Schema) -> tantivy::Result<Fields> {
        Ok(Fields {
            id: schema.get_field("id")?,
            document: schema.get_field("document")?,
            facet: schema.get_field("facet")?,
            body: schema.get_field("body")?,
            pairs: schema.get_field("pairs")?,
            questions: schema.get_field("questions")?,
            row: schema.get_field("row")?,
            page: schema.get_field("page")?,
            chunk: schema.get_field("chunk")?,
        })
    }
}

#[derive(Clone, Copy)]
pub(crate) struct QuestionFields {
    pub(crate) document: Field,
    pub(crate) features: Field,
    numbers: [Field; 3],
}

/// Path of the document of an entry.
pub(crate) const ASKED: &str = "asked";

/// Numbers of an entry: chunks of its document, features, and whether it is about Spark.
pub(crate) const COUNT: &str = "count";
pub(crate) const FEATURES: &str = "number";
pub(crate) const SPARK: &str = "spark";
const NUMBERS: [&str; 3] = [COUNT, FEATURES, SPARK];

fn add_fields(schema: &mut SchemaBuilder) {
    schema.add_text_field(ASKED, STRING | FAST);
    schema.add_text_field("features", terms_option());
    for number in NUMBERS {
        schema.add_u64_field(number, FAST);
    }
}

impl QuestionFields {
    pub(crate) fn find(schema: &Schema) -> tantivy::Result<QuestionFields> {
        let [count, features, spark] = NUMBERS.map(|name| schema.get_field(name));
        Ok(QuestionFields {
            document: schema.get_field(ASKED)?,
            features: schema.get_field("features")?,
            numbers: [count?, features?, spark?],
        })
    }

    fn entry(
        &self,
        document: &str,
        engine: Engine,
        chunks: usize,
        features: &[String],
    ) -> TantivyDocument {
        let mut entry = TantivyDocument::new();
        entry.add_text(self.document, document);
        entry.add_text(self.features, features.join(" "));
        let is_spark = u64::from(engine == Engine::Spark);
        let numbers = [chunks as u64, features.len() as u64, is_spark];
        for (field, number) in self.numbers.into_iter().zip(numbers) {
            entry.add_u64(field, number);
        }
        entry
    }
}

fn schema() -> Schema {
    let mut schema = Schema::builder();
    schema.add_text_field("id", STRING | FAST);
    schema.add_text_field("document", STRING);
    schema.add_text_field("facet", STRING | FAST);
    for name in ["body", "pairs", "questions"] {
        schema.add_text_field(name, terms_option());
    }
    schema.add_u64_field("row", FAST);
    schema.add_u64_field("page", FAST);
    schema.add_bytes_field("chunk", STORED);
    add_fields(&mut schema);
    schema.build()
}

/// Number of the document at `path`.
pub(crate) fn page(path: &str) -> u64 {
    let hash = blake3::hash(path.as_bytes());
    hash.as_bytes()
        .first_chunk()
        .copied()
        .map_or(0, u64::from_le_bytes)
}

pub(crate) struct Entry<'a> {
    pub(crate) chunk: &'a Chunk,
    /// Row of the chunk's vector.
    pub(crate) row: u32,
    pub(crate) terms: Vec<String>,
    pub(crate) pairs: Vec<String>,
    /// Terms of the questions that the document answers, with spaces between them.
    pub(crate) questions: &'a str,
}

/// A text of terms with spaces between them.
fn terms_option() -> TextOptions {
    let terms = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqs);
    TextOptions::default().set_indexing_options(terms.set_fieldnorms(true))
}

/// One thread to write and one to merge; more would only wait.
fn writer(index: &Index, arena: usize) -> tantivy::Result<IndexWriter> {
    let options = IndexWriterOptions::builder()
        .memory_budget_per_thread(arena)
        .num_worker_threads(1)
        .num_merge_threads(1);
    index.writer_with_options(options.build())
}

pub(crate) struct LexicalWriter {
    writer: IndexWriter,
    fields: Fields,
    questions: QuestionFields,
}

impl LexicalWriter {
    /// A new, empty index in `folder`.
    pub(crate) fn create(folder: &Path) -> tantivy::Result<LexicalWriter> {
        let folder = Folder::open(folder)?;
        let index = Index::create(folder, schema(), IndexSettings::default())?;
        LexicalWriter::of(&index, BUILD_ARENA)
    }

    /// Continues an index; with `anew`, the next commit removes everything that is there.
    pub(crate) fn resume(index: &Index, anew: bool) -> tantivy::Result<LexicalWriter> {
        let arena = if anew { BUILD_ARENA } else { UPDATE_ARENA };
        let writer = LexicalWriter::of(index, arena)?;
        if anew {
            writer.writer.delete_all_documents()?;
        }
        Ok(writer)
    }

    fn of(index: &Index, arena: usize) -> tantivy::Result<LexicalWriter> {
        Ok(LexicalWriter {
            fields: Fields::find(&index.schema())?,
            questions: QuestionFields::find(&index.schema())?,
            writer: writer(index, arena)?,
        })
    }

    /// Removes the chunks and questions of a document.
    pub(crate) fn remove(&mut self, document: &str) {
        for field in [self.fields.document, self.questions.document] {
            self.writer
                .delete_term(Term::from_field_text(field, document));
        }
    }

    pub(crate) fn add(&mut self, entry: Entry<'_>) -> tantivy::Result<()> {
        let Entry { chunk, row, .. } = entry;
        let mut document = TantivyDocument::new();
        document.add_text(self.fields.id, &chunk.id);
        document.add_text(self.fields.document, &chunk.document);
        for facet in facets::names(chunk) {
            document.add_text(self.fields.facet, facet);
        }
        document.add_text(self.fields.body, entry.terms.join(" "));
        document.add_text(self.fields.pairs, entry.pairs.join(" "));
        if !entry.questions.is_empty() {
            document.add_text(self.fields.questions, entry.questions);
        }
        document.add_u64(self.fields.row, row.into());
        document.add_u64(self.fields.page, page(&chunk.document));
        let record = postcard::to_stdvec(chunk);
        let record = record.map_err(|error| TantivyError::InternalError(error.to_string()))?;
        document.add_bytes(self.fields.chunk, &record);
        self.writer.add_document(document)?;
        Ok(())
    }

    /// Adds a question of `document`; `features` has its features without repeats, `chunks` is the number of chunks that may answer it.
    pub(crate) fn ask(
        &mut self,
        document: &str,
        engine: Engine,
        chunks: usize,
        features: &[String],
    ) -> tantivy::Result<()> {
        let entry = self.questions.entry(document, engine, chunks, features);
        self.writer.add_document(entry)?;
        Ok(())
    }

    /// Commits the pending entries with `payload`, and waits for the disk.
    pub(crate) fn finish(mut self, payload: &str) -> tantivy::Result<()> {
        let mut commit: PreparedCommit<'_> = self.writer.prepare_commit()?;
        commit.set_payload(payload);
        commit.commit()?;
        self.writer.wait_merging_threads()
    }
}
