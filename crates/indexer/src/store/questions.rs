//! The store of questions: an entry of a second tantivy index for each question in a document's list.
//!
//! A query is compared with a document in two ways. The first is a language model of the people who need the document: a word counts for it
//! if its questions, or the questions of its translation, contain the word more often than all questions do. The second is the most similar
//! single questions. Pairs of words and pieces of words count like words: misspelt and related words share pieces.
//!
//! Questions of a document without text are not answered: the more a query resembles them, the less likely it has an answer.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tantivy::fastfield::Column;
use tantivy::indexer::IndexWriter;
use tantivy::schema::{FAST, Field, IndexRecordOption, STRING, Schema};
use tantivy::{
    DocId, DocSet, Index, InvertedIndexReader, Searcher, SegmentReader, TERMINATED,
    TantivyDocument, TantivyError, Term,
};

use super::directory::Folder;
use super::lexical::{self, Weighted};
use super::manifest::Ordinal;
use crate::model::{Engine, subject};

/// Size of the background, in questions: the words of a document's questions are mixed with the words of all questions, so that a
/// word in a single question does not decide. Chosen on the tuning judgments for a dozen questions per page.
const BACKGROUND: f32 = 8.0;

/// A document's similarity is the mean of its `NEAREST` most similar questions, each with a weight of `DECAY` relative to the one before: one
/// question is enough to be found. `NEAREST_WEIGHT` is its weight relative to the language model.
const NEAREST: usize = 4;
const DECAY: f32 = 0.5;
const NEAREST_WEIGHT: f32 = 0.4;

/// Documents that questions propose by themselves.
const PROPOSED: usize = 50;

/// Evidence about the engine, as logarithms: a term in fewer than `FEWEST` questions is ignored, and
/// `MOST` caps the effect of one term.
const FEWEST: f32 = 5.0;
const MOST: f32 = 3.0;

/// The chunks of a document: the first, and how many.
pub(crate) type Place = (Ordinal, usize);

#[derive(Clone, Copy)]
struct Fields {
    document: Field,
    features: Field,
    numbers: [Field; 4],
}

/// Numbers of an entry.
const FIRST: &str = "first";
const COUNT: &str = "count";
const FEATURES: &str = "number";
const SPARK: &str = "spark";
const NUMBERS: [&str; 4] = [FIRST, COUNT, FEATURES, SPARK];

impl Fields {
    fn schema() -> Schema {
        let mut schema = Schema::builder();
        schema.add_text_field("document", STRING);
        schema.add_text_field("features", lexical::terms_option());
        for number in NUMBERS {
            schema.add_u64_field(number, FAST);
        }
        schema.build()
    }

    fn find(schema: &Schema) -> tantivy::Result<Fields> {
        let [first, count, features, spark] = NUMBERS.map(|name| schema.get_field(name));
        Ok(Fields {
            document: schema.get_field("document")?,
            features: schema.get_field("features")?,
            numbers: [first?, count?, features?, spark?],
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
        QuestionsWriter::of(&index, lexical::BUILD_ARENA)
    }

    /// Continues a store from the files that were linked into `folder`.
    pub(crate) fn resume(folder: &Path) -> tantivy::Result<QuestionsWriter> {
        QuestionsWriter::of(&Index::open(Folder::open(folder)?)?, lexical::UPDATE_ARENA)
    }

    fn of(index: &Index, arena: usize) -> tantivy::Result<QuestionsWriter> {
        Ok(QuestionsWriter {
            fields: Fields::find(&index.schema())?,
            writer: lexical::writer(index, arena)?,
        })
    }

    pub(crate) fn remove(&mut self, document: &str) {
        let term = Term::from_field_text(self.fields.document, document);
        self.writer.delete_term(term);
    }

    /// `features` has the features of one question, without repeats.
    pub(crate) fn add(
        &mut self,
        document: &str,
        engine: Engine,
        (first, count): Place,
        features: &[String],
    ) -> tantivy::Result<()> {
        let mut entry = TantivyDocument::new();
        entry.add_text(self.fields.document, document);
        entry.add_text(self.fields.features, features.join(" "));
        let is_spark = u64::from(engine == Engine::Spark);
        let numbers = [first.0, count as u64, features.len() as u64, is_spark];
        for (field, number) in self.fields.numbers.into_iter().zip(numbers) {
            entry.add_u64(field, number);
        }
        self.writer.add_document(entry)?;
        Ok(())
    }

    /// Writes pending questions; the caller waits for the disk.
    pub(crate) fn finish(mut self) -> tantivy::Result<()> {
        self.writer.commit()?;
        self.writer.wait_merging_threads()
    }
}

pub(crate) struct Questions {
    fields: Fields,
    searcher: Searcher,
    /// Loaded at the first question search; an analysis searches by cause and needs none.
    entries: OnceLock<Entries>,
}

/// Number of all documents without text.
const ELSEWHERE: u32 = u32::MAX;

/// The document of each entry.
struct Entries {
    /// The documents with questions, by first chunk.
    documents: Vec<Place>,
    /// Whether each is about Spark.
    is_spark: Vec<bool>,
    /// Which subject each is about: a page and its translation answer the same questions, and share identifiers, code and messages.
    subject: Vec<usize>,
    subjects: usize,
    /// By segment of the store and number of the entry: position of its document, or [`ELSEWHERE`], and the share of each of its features.
    of: Vec<Vec<(u32, f32)>>,
    /// Number of answered questions, and the part about Spark.
    all: f32,
    spark: f32,
    /// Questions that are not.
    elsewhere: f32,
}

impl Questions {
    pub(crate) fn open(folder: &Path) -> tantivy::Result<Questions> {
        let index = Index::open(Folder::open(folder)?)?;
        Ok(Questions {
            fields: Fields::find(&index.schema())?,
            searcher: lexical::searcher(&index)?,
            entries: OnceLock::new(),
        })
    }

    /// Compares a query, given as weighted features, with the questions of each document. With `allowed` (sorted), only documents with a
    /// chunk in it count. The first `own` features are the query's own terms; they decide the engine of the query.
    pub(crate) fn ask(
        &self,
        features: &[Weighted],
        own: usize,
        allowed: Option<&[Ordinal]>,
    ) -> tantivy::Result<Asked<'_>> {
        let entries = self.entries()?;
        let lists = self.lists()?;
        let (mut words, mut shares) = (vec![0.0; entries.subjects], vec![0.0; entries.subjects]);
        let mut likeness: Vec<Vec<f32>> = entries.of.iter().map(|of| vec![0.0; of.len()]).collect();
        let (mut most, mut leaning, mut elsewhere) = (0.0, 0.0, 0.0);
        for (position, (feature, weight)) in features.iter().enumerate() {
            shares.fill(0.0);
            let (mut all, mut having, mut spark, mut not) = (0.0, 0.0, 0.0, 0.0);
            let (frequency, found) = self.having(&lists, feature)?;
            let rarity = weight * lexical::idf(&self.searcher, frequency);
            most += rarity;
            for (segment, entry) in found {
                let (document, share) = entries.of[segment][entry];
                if document == ELSEWHERE {
                    not += share;
                    continue;
                }
                likeness[segment][entry] += rarity;
                shares[entries.subject[document as usize]] += share;
                all += share;
                having += 1.0;
                spark += f32::from(u8::from(entries.is_spark[document as usize]));
            }
            for (words, share) in words.iter_mut().zip(&shares).filter(|(_, s)| **s > 0.0) {
                *words += weight * (1.0 + share / all * entries.all / BACKGROUND).ln();
            }
            if not > 0.0 {
                let expected = (all + not) * entries.elsewhere / (entries.all + entries.elsewhere);
                elsewhere += weight * (1.0 + not / expected).ln();
            }
            if position < own && having >= FEWEST {
                // Smoothed, so that a term of only one engine has a large, but finite effect.
                let odds = |spark: f32, all: f32| (spark + 1.0) / (all - spark + 1.0);
                let odds = odds(spark, having) / odds(entries.spark, entries.all);
                leaning += odds.ln().clamp(-MOST, MOST);
            }
        }
        // A question with the same features as the query has a likeness of 1.
        let same = most / (features.len().max(1) as f32).sqrt();
        let nearest = entries.nearest(&likeness);
        let compared = nearest.iter().zip(&entries.subject);
        let scores = compared.map(|(nearest, &subject)| Likeness {
            nearest: nearest / same,
            words: words[subject] / most,
            share: 0.0,
        });
        let places = entries.documents.iter().copied();
        let scores = places.zip(scores).filter(|(place, likeness)| {
            likeness.words > 0.0 && allowed.is_none_or(|all| is_among(*place, all))
        });
        let knows_both = entries.spark > 0.0 && entries.spark < entries.all;
        Ok(Asked {
            near: Near::new(scores.collect(), &entries.documents),
            elsewhere: (entries.elsewhere > 0.0).then(|| elsewhere / most),
            leaning: if knows_both {
                (leaning / MOST).tanh()
            } else {
                0.0
            },
        })
    }

    /// By segment, which questions have which features.
    fn lists(&self) -> tantivy::Result<Vec<Arc<InvertedIndexReader>>> {
        let segments = self.searcher.segment_readers().iter();
        let lists = segments.map(|segment| segment.inverted_index(self.fields.features));
        lists.collect()
    }

    /// Number of entries with the feature, including dead ones in unmerged segments, and the other entries by segment
    /// and number.
    fn having(
        &self,
        lists: &[Arc<InvertedIndexReader>],
        feature: &str,
    ) -> tantivy::Result<(u64, Vec<(usize, usize)>)> {
        let term = Term::from_field_text(self.fields.features, feature);
        let (mut frequency, mut found) = (0, Vec::new());
        for (number, (list, segment)) in lists
            .iter()
            .zip(self.searcher.segment_readers())
            .enumerate()
        {
            let Some(info) = list.get_term_info(&term)? else {
                continue;
            };
            frequency += u64::from(info.doc_freq);
            let entries = list.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
            found.extend(alive(entries, segment).map(|entry| (number, entry as usize)));
        }
        Ok((frequency, found))
    }

    /// The documents with questions, by first chunk.
    pub(crate) fn documents(&self) -> tantivy::Result<&[Place]> {
        Ok(&self.entries()?.documents)
    }

    pub(crate) fn damaged_files(&self) -> tantivy::Result<HashSet<PathBuf>> {
        self.searcher.index().validate_checksum()
    }

    fn entries(&self) -> tantivy::Result<&Entries> {
        if let Some(known) = self.entries.get() {
            return Ok(known);
        }
        let read = Entries::read(&self.searcher, self.fields)?;
        Ok(self.entries.get_or_init(|| read))
    }
}

/// The entries of a list that were not deleted.
fn alive(mut list: impl DocSet, segment: &SegmentReader) -> impl Iterator<Item = DocId> {
    let all = std::iter::from_fn(move || {
        let entry = Some(list.doc()).filter(|&entry| entry != TERMINATED)?;
        list.advance();
        Some(entry)
    });
    all.filter(|&entry| !segment.is_deleted(entry))
}

impl Entries {
    /// By document, the mean likeness of its most similar questions, from the likeness of each
    /// question.
    fn nearest(&self, likeness: &[Vec<f32>]) -> Vec<f32> {
        let mut best = vec![[0.0; NEAREST]; self.documents.len()];
        for (of, likeness) in self.of.iter().zip(likeness) {
            for (&(document, share), &common) in of.iter().zip(likeness).filter(|(_, c)| **c > 0.0)
            {
                let mut value = common * share.sqrt();
                // Sorted, best first.
                for slot in &mut best[document as usize] {
                    if value > *slot {
                        std::mem::swap(&mut value, slot);
                    }
                }
            }
        }
        let weights: Vec<f32> = (0..NEAREST as i32).map(|n| DECAY.powi(n)).collect();
        let all: f32 = weights.iter().sum();
        let mean = |best: [f32; NEAREST]| {
            let weighted = best
                .iter()
                .zip(&weights)
                .map(|(value, weight)| value * weight);
            weighted.sum::<f32>() / all
        };
        best.into_iter().map(mean).collect()
    }

    fn read(searcher: &Searcher, fields: Fields) -> tantivy::Result<Entries> {
        let segments = searcher.segment_readers();
        // By segment, the share of each feature of each entry; deleted entries have none.
        let mut shares: Vec<Vec<f32>> = Vec::with_capacity(segments.len());
        // Each document of each segment with its entries.
        let mut lists: Vec<(Document, usize, Vec<DocId>)> = Vec::new();
        for (number, segment) in segments.iter().enumerate() {
            let columns = Columns::open(segment)?;
            let of_documents = segment.inverted_index(fields.document)?;
            let mut paths = of_documents.terms().stream()?;
            let mut share = vec![0.0; segment.max_doc() as usize];
            while paths.advance() {
                let list = of_documents
                    .read_postings_from_terminfo(paths.value(), IndexRecordOption::Basic)?;
                let entries: Vec<DocId> = alive(list, segment).collect();
                let Some(&first) = entries.first() else {
                    continue;
                };
                for &entry in &entries {
                    let features = columns.number(&columns.features, entry)?;
                    share[entry as usize] = 1.0 / features.max(1) as f32;
                }
                let path = String::from_utf8_lossy(paths.key());
                lists.push((columns.document(&path, first)?, number, entries));
            }
            shares.push(share);
        }
        let count = |is_counted: fn(&Document) -> bool| -> f32 {
            let lists = lists.iter().filter(|(document, ..)| is_counted(document));
            lists.map(|(.., entries)| entries.len() as f32).sum()
        };
        let documents = lists.iter().map(|(document, ..)| document);
        let mut documents: Vec<&Document> = documents.filter(|d| d.has_text()).collect();
        documents.sort_unstable();
        documents.dedup();
        let mut subjects: Vec<&str> = documents.iter().map(|d| &*d.subject).collect();
        subjects.sort_unstable();
        subjects.dedup();
        let position = |subject: &str| subjects.partition_point(|other| *other < subject);
        let mut of: Vec<Vec<(u32, f32)>> = shares
            .into_iter()
            .map(|shares| shares.into_iter().map(|share| (ELSEWHERE, share)).collect())
            .collect();
        for (document, segment, entries) in lists.iter().filter(|(d, ..)| d.has_text()) {
            let at = documents.partition_point(|other| *other < document) as u32;
            for &entry in entries {
                of[*segment][entry as usize].0 = at;
            }
        }
        Ok(Entries {
            of,
            all: count(Document::has_text),
            spark: count(|d| d.has_text() && d.is_spark),
            elsewhere: count(|d| !d.has_text()),
            is_spark: documents.iter().map(|d| d.is_spark).collect(),
            subject: documents.iter().map(|d| position(&d.subject)).collect(),
            subjects: subjects.len(),
            documents: documents.iter().map(|d| d.place).collect(),
        })
    }
}

/// A document with questions; sorted by place.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Document {
    place: Place,
    is_spark: bool,
    subject: String,
}

impl Document {
    fn has_text(&self) -> bool {
        self.place.1 > 0
    }
}

/// The numbers of the entries of a segment.
struct Columns {
    first: Column<u64>,
    count: Column<u64>,
    features: Column<u64>,
    spark: Column<u64>,
}

impl Columns {
    fn open(segment: &SegmentReader) -> tantivy::Result<Columns> {
        let columns = segment.fast_fields();
        Ok(Columns {
            first: columns.u64(FIRST)?,
            count: columns.u64(COUNT)?,
            features: columns.u64(FEATURES)?,
            spark: columns.u64(SPARK)?,
        })
    }

    /// The document at `path`; `entry` is one of its questions.
    fn document(&self, path: &str, entry: DocId) -> tantivy::Result<Document> {
        let first = Ordinal(self.number(&self.first, entry)?);
        Ok(Document {
            place: (first, self.number(&self.count, entry)? as usize),
            is_spark: self.number(&self.spark, entry)? > 0,
            subject: subject(path).to_owned(),
        })
    }

    fn number(&self, column: &Column<u64>, entry: DocId) -> tantivy::Result<u64> {
        let none = || TantivyError::InternalError("a question without its numbers".to_owned());
        column.first(entry).ok_or_else(none)
    }
}

/// Whether a chunk of the document is in `allowed`, which is sorted.
fn is_among((first, count): Place, allowed: &[Ordinal]) -> bool {
    let next = allowed.partition_point(|&ordinal| ordinal < first);
    let next = allowed.get(next);
    next.is_some_and(|next| next.0 - first.0 < count as u64)
}

/// How a query and the questions compare.
pub(crate) struct Asked<'a> {
    pub(crate) near: Near<'a>,
    /// How much the use of words speaks for the questions that are answered nowhere, relative to how rare the words are; `None` without such
    /// questions.
    pub(crate) elsewhere: Option<f32>,
    /// The query's engine, from the question corpus: −1 for the default engine, 1 for Spark; 0 if the corpus has no questions about
    /// one of them.
    pub(crate) leaning: f32,
}

/// Likeness of the questions of a document to a query.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Likeness {
    /// Of the most similar questions, 0 to about 1.
    pub(crate) nearest: f32,
    /// How much the use of words speaks for the document, relative to how rare the words are, 0 to about 1.
    pub(crate) words: f32,
    /// Both together, relative to the document that has most, 0 to 1.
    pub(crate) share: f32,
}

/// Likeness of the questions of all documents to a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Near<'a> {
    /// Of documents that have anything.
    scores: HashMap<Place, Likeness>,
    /// The documents with questions, by first chunk.
    documents: &'a [Place],
}

impl<'a> Near<'a> {
    pub(crate) fn new(mut scores: HashMap<Place, Likeness>, documents: &'a [Place]) -> Near<'a> {
        let best = |scores: &HashMap<Place, Likeness>, of: fn(&Likeness) -> f32| {
            scores.values().map(of).fold(f32::MIN_POSITIVE, f32::max)
        };
        let (nearest, words) = (best(&scores, |s| s.nearest), best(&scores, |s| s.words));
        for score in scores.values_mut() {
            score.share = score.words / words + NEAREST_WEIGHT * score.nearest / nearest;
        }
        let most = best(&scores, |s| s.share);
        scores.values_mut().for_each(|score| score.share /= most);
        Near { scores, documents }
    }

    /// The likeness for the chunk's document; `None` if it has no questions.
    pub(crate) fn score(&self, chunk: Ordinal) -> Option<Likeness> {
        let after = self.documents.partition_point(|(first, _)| *first <= chunk);
        let &(first, count) = self.documents.get(after.checked_sub(1)?)?;
        let is_of = chunk.0 - first.0 < count as u64;
        is_of.then(|| {
            self.scores
                .get(&(first, count))
                .copied()
                .unwrap_or_default()
        })
    }

    /// The chunks of the documents that have most in common with the query.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Ordinal> + '_ {
        let mut documents: Vec<(&Place, f32)> =
            self.scores.iter().map(|(p, s)| (p, s.share)).collect();
        documents.sort_by(|(p, a), (q, b)| b.total_cmp(a).then(p.cmp(q)));
        documents.truncate(PROPOSED);
        let chunks = |(&(first, count), _): (&Place, f32)| {
            (0..count as u64).map(move |n| Ordinal(first.0 + n))
        };
        documents.into_iter().flat_map(chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_of_a_document_has_its_score_and_others_have_none() {
        let place = |row, count| (Ordinal::new(1, row), count);
        let documents = [place(3, 4), place(10, 2), place(20, 1)];
        let likeness = |nearest, words| Likeness {
            nearest,
            words,
            share: 0.0,
        };
        let scores = [
            (documents[0], likeness(0.5, 0.2)),
            (documents[1], likeness(0.25, 0.1)),
        ];
        let near = Near::new(HashMap::from(scores), &documents);
        let share = |row| near.score(Ordinal::new(1, row)).map(|score| score.share);
        let scores = [2, 3, 6, 7, 10, 11, 12, 20].map(share);
        let (a, b, none, other) = (Some(1.0), Some(0.5), None, Some(0.0));
        assert_eq!(scores, [none, a, a, none, b, b, none, other]);
        assert_eq!(near.score(Ordinal::new(2, 3)), None);
        assert_eq!(near.chunks().count(), 6);
        assert_eq!(near.chunks().next(), Some(Ordinal::new(1, 3)));
    }

    #[test]
    fn a_document_is_allowed_with_any_of_its_chunks() {
        let allowed = [2, 11].map(|row| Ordinal::new(1, row));
        assert!(is_among((Ordinal::new(1, 10), 2), &allowed));
        assert!(!is_among((Ordinal::new(1, 3), 8), &allowed));
        assert!(!is_among((Ordinal::new(1, 3), 8), &[]));
    }
}
