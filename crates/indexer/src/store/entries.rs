//! The entries of the index and their writer: an entry per chunk and per question, and one each for the lists of documents and glossary.

use std::path::Path;

use tantivy::indexer::IndexWriterOptions;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument, TantivyError, Term};

use super::directory::Folder;
use super::facets;
use crate::model::{Chunk, Engine, subject};

/// Memory of the writer for an update and for a build, in bytes; tantivy's minimum is 15 MB per thread.
const UPDATE_ARENA: usize = 16_000_000;
const BUILD_ARENA: usize = 200_000_000;

/// Fields of a chunk, in the order of the schema; [`QUESTIONS`] has the words of the questions that its document answers.
pub(crate) const ID: Field = Field::from_field_id(0);
/// Number of the document, as [`number_of`] makes it.
pub(crate) const PAGE: Field = Field::from_field_id(1);
pub(crate) const FACET: Field = Field::from_field_id(2);
pub(crate) const BODY: Field = Field::from_field_id(3);
pub(crate) const PAIRS: Field = Field::from_field_id(4);
pub(crate) const QUESTIONS: Field = Field::from_field_id(5);
const ROW: Field = Field::from_field_id(6);
/// The chunk or the list itself, in postcard.
pub(crate) const DATA: Field = Field::from_field_id(7);

/// Fields of a question: its features, the numbers of its document and of the document's subject, the number of chunks that may answer it, the
/// number of its features, and whether it is about Spark.
pub(crate) const FEATURES: Field = Field::from_field_id(8);
const ABOUT: Field = Field::from_field_id(9);
const NUMBERS: [Field; 4] = [
    Field::from_field_id(10),
    Field::from_field_id(11),
    Field::from_field_id(12),
    Field::from_field_id(13),
];

/// Field of a list: its name.
const LIST: Field = Field::from_field_id(14);

/// Row of an entry that is no chunk. Columns with a value for every entry are read in less time.
pub(crate) const NO_ROW: u32 = u32::MAX;

pub(crate) fn schema() -> Schema {
    let mut schema = Schema::builder();
    schema.add_text_field("id", STRING | FAST);
    schema.add_u64_field("page", INDEXED | FAST);
    schema.add_text_field("facet", STRING | FAST);
    for name in ["body", "pairs", "questions"] {
        schema.add_text_field(name, terms_option());
    }
    schema.add_u64_field("row", FAST);
    schema.add_bytes_field("data", STORED);
    schema.add_text_field("features", terms_option());
    schema.add_u64_field("about", INDEXED | FAST);
    for number in ["subject", "count", "number", "spark"] {
        schema.add_u64_field(number, FAST);
    }
    schema.add_text_field("list", STRING | FAST);
    schema.build()
}

/// A text of terms with spaces between them.
fn terms_option() -> TextOptions {
    let terms = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqs);
    TextOptions::default().set_indexing_options(terms.set_fieldnorms(true))
}

/// Number of a document, by its path, or of a subject.
pub(crate) fn number_of(name: &str) -> u64 {
    let hash = blake3::hash(name.as_bytes());
    let first = hash.as_bytes().first_chunk().copied();
    first.map_or(0, u64::from_le_bytes)
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

pub(crate) struct EntryWriter(IndexWriter);

impl EntryWriter {
    /// Continues `index`, or creates a new one in `folder`. With `anew`, the next commit removes everything that is there.
    pub(crate) fn open(
        index: Option<&Index>,
        folder: &Path,
        anew: bool,
    ) -> tantivy::Result<EntryWriter> {
        let is_build = index.is_none() || anew;
        let arena = if is_build { BUILD_ARENA } else { UPDATE_ARENA };
        // One thread to write and one to merge; more would only wait.
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(arena)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let writer: IndexWriter = match index {
            Some(index) => index.writer_with_options(options)?,
            None => Index::create(Folder::open(folder)?, schema(), IndexSettings::default())?
                .writer_with_options(options)?,
        };
        if anew {
            writer.delete_all_documents()?;
        }
        Ok(EntryWriter(writer))
    }

    /// Removes the chunks and questions of a document.
    pub(crate) fn remove(&self, document: &str) {
        for field in [PAGE, ABOUT] {
            let term = Term::from_field_u64(field, number_of(document));
            self.0.delete_term(term);
        }
    }

    pub(crate) fn add(&self, entry: Entry<'_>) -> tantivy::Result<()> {
        let Entry { chunk, row, .. } = entry;
        let mut document = TantivyDocument::new();
        document.add_text(ID, &chunk.id);
        document.add_u64(PAGE, number_of(&chunk.document));
        for facet in facets::names(chunk) {
            document.add_text(FACET, facet);
        }
        document.add_text(BODY, entry.terms.join(" "));
        document.add_text(PAIRS, entry.pairs.join(" "));
        if !entry.questions.is_empty() {
            document.add_text(QUESTIONS, entry.questions);
        }
        document.add_u64(ROW, row.into());
        document.add_bytes(DATA, &bytes(chunk)?);
        self.0.add_document(document).map(drop)
    }

    /// Adds a question of `document`; `features` has its features without repeats, `chunks` is the number of chunks that may answer it.
    pub(crate) fn ask(
        &self,
        document: &str,
        engine: Engine,
        chunks: usize,
        features: &[String],
    ) -> tantivy::Result<()> {
        let mut entry = TantivyDocument::new();
        entry.add_text(FEATURES, features.join(" "));
        entry.add_u64(ABOUT, number_of(document));
        let subject = number_of(subject(document));
        let is_spark = u64::from(engine == Engine::Spark);
        let numbers = [subject, chunks as u64, features.len() as u64, is_spark];
        for (field, number) in NUMBERS.into_iter().zip(numbers) {
            entry.add_u64(field, number);
        }
        self.0.add_document(entry).map(drop)
    }

    /// Replaces a list.
    pub(crate) fn list<T: serde::Serialize>(&self, name: &str, list: &T) -> tantivy::Result<()> {
        self.0.delete_term(Term::from_field_text(LIST, name));
        let mut entry = TantivyDocument::new();
        entry.add_text(ID, "");
        entry.add_u64(PAGE, 0);
        entry.add_u64(ROW, NO_ROW.into());
        entry.add_text(LIST, name);
        entry.add_bytes(DATA, &bytes(list)?);
        self.0.add_document(entry).map(drop)
    }

    /// Commits the pending entries with `payload`, and waits for the disk.
    pub(crate) fn finish(mut self, payload: &str) -> tantivy::Result<()> {
        let mut commit = self.0.prepare_commit()?;
        commit.set_payload(payload);
        commit.commit()?;
        self.0.wait_merging_threads()
    }
}

fn bytes<T: serde::Serialize>(value: &T) -> tantivy::Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(|error| TantivyError::InternalError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_their_place_in_the_schema() {
        let schema = schema();
        let names = [ID, PAGE, FACET, BODY, PAIRS, QUESTIONS, ROW, DATA];
        let names = names
            .into_iter()
            .chain([FEATURES, ABOUT])
            .chain(NUMBERS)
            .chain([LIST]);
        let names: Vec<&str> = names.map(|field| schema.get_field_name(field)).collect();
        let expected = "id page facet body pairs questions row data features about subject count number spark list";
        assert_eq!(names.join(" "), expected);
    }
}
