//! The questions that documents list: an entry of the tantivy index for each.
//!
//! A query is compared with a document in two ways. The first is a language model of the people who need the document: a word counts for it
//! if its questions, or the questions of its translation, contain the word more often than all questions do. The second is the most similar
//! single questions. Pairs of words and pieces of words count like words: misspelt and related words share pieces.
//!
//! Questions of a document without text are not answered: the more a query resembles them, the less likely it has an answer.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use tantivy::{Searcher, TantivyError, Term};

use super::entries::FEATURES;
use super::lexical::columns::{self, values};
use super::lexical::{self, Lexical, Weighted, each};
use super::manifest::Ordinal;

/// Size of the background, in questions: the words of a document's questions are mixed with the words of all questions, so that a
/// word in a single question does not decide. Chosen on the tuning judgments for a dozen questions per page.
const BACKGROUND: f32 = 8.0;

/// A document's similarity is the mean of its `NEAREST` most similar questions, each with a weight of `DECAY` relative to the one before: one
/// question is enough to be found. `NEAREST_WEIGHT` is its weight relative to the language model.
const NEAREST: usize = 4;
const DECAY: f32 = 0.5;
const NEAREST_WEIGHT: f32 = 0.4;

/// Use of words, as in [`Likeness::words`], at which the best document's questions count fully. On the fresh judgments, .4 and .5 find
/// more first pages than 0 (.90 and .92 instead of .87); the tuning judgments can't tell them apart.
const ENOUGH: f32 = 0.4;

/// Documents that questions propose by themselves.
const PROPOSED: usize = 50;

/// Evidence about the engine, as logarithms: a term in fewer than `FEWEST` questions is ignored, and
/// `MOST` caps the effect of one term.
const FEWEST: f32 = 5.0;
const MOST: f32 = 3.0;

pub(crate) struct Questions {
    searcher: Searcher,
    /// Loaded at the first question search; an analysis searches by cause and needs none.
    entries: OnceLock<Entries>,
}

/// Position of all documents without text.
const ELSEWHERE: u32 = u32::MAX;

/// The documents with text and questions.
#[derive(Default)]
struct Entries {
    documents: Vec<Document>,
    /// Numbers of the documents.
    pages: HashSet<u64>,
    subjects: usize,
    /// By segment of the store and number of the entry: position of its document, or [`ELSEWHERE`], and the share of each of its features.
    of: Vec<Vec<(u32, f32)>>,
    /// Number of answered questions, and the part about Spark.
    all: f32,
    spark: f32,
    /// Questions that are not.
    elsewhere: f32,
}

struct Document {
    page: u64,
    /// Position of its subject: a page and its translation answer the same questions, and share identifiers, code and messages.
    subject: usize,
    is_spark: bool,
}

impl Questions {
    /// `None` if no document lists a question.
    pub(crate) fn open(searcher: &Searcher) -> tantivy::Result<Option<Questions>> {
        let mut listed = false;
        for segment in searcher.segment_readers() {
            // for a field without terms, tantivy would build a dictionary of nearly 1 MB
            listed |= segment.fast_fields().column_opt::<u64>("about")?.is_some();
        }
        Ok(listed.then(|| Questions {
            searcher: searcher.clone(),
            entries: OnceLock::new(),
        }))
    }

    /// Compares a query, given as weighted features, with the questions of each document. With `allowed`, only these documents count. The
    /// first `own` features are the query's own terms; they decide the engine of the query.
    pub(crate) fn ask(
        &self,
        features: &[Weighted],
        own: usize,
        allowed: Option<&HashSet<u64>>,
        chunks: &Lexical,
    ) -> tantivy::Result<Asked<'_>> {
        let entries = self.entries()?;
        let (mut words, mut shares) = (vec![0.0; entries.subjects], vec![0.0; entries.subjects]);
        let mut likeness: Vec<Vec<f32>> = entries.of.iter().map(|of| vec![0.0; of.len()]).collect();
        let (mut most, mut leaning, mut elsewhere) = (0.0, 0.0, 0.0);
        for (position, (feature, weight)) in features.iter().enumerate() {
            shares.fill(0.0);
            let (mut all, mut having, mut spark, mut not) = (0.0, 0.0, 0.0, 0.0);
            let (frequency, found) = self.having(feature)?;
            let rarity = weight * lexical::idf(entries.all + entries.elsewhere, frequency);
            most += rarity;
            for (segment, entry) in found {
                let (document, share) = entries.of[segment][entry];
                let Some(document) = entries.documents.get(document as usize) else {
                    not += share;
                    continue;
                };
                likeness[segment][entry] += rarity;
                shares[document.subject] += share;
                all += share;
                having += 1.0;
                spark += f32::from(u8::from(document.is_spark));
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
        let scores = entries.documents.iter().zip(nearest);
        let scores = scores.map(|(document, nearest)| {
            let likeness = Likeness {
                nearest: nearest / same,
                words: words[document.subject] / most,
                share: 0.0,
            };
            (document.page, likeness)
        });
        let scores = scores.filter(|(page, likeness)| {
            likeness.words > 0.0 && allowed.is_none_or(|all| all.contains(page))
        });
        let knows_both = entries.spark > 0.0 && entries.spark < entries.all;
        Ok(Asked {
            near: Near::new(scores.collect(), &entries.pages, chunks)?,
            elsewhere: (entries.elsewhere > 0.0).then(|| elsewhere / most),
            leaning: if knows_both {
                (leaning / MOST).tanh()
            } else {
                0.0
            },
        })
    }

    /// Number of entries with the feature, including dead ones in unmerged segments, and the other entries by segment
    /// and number.
    fn having(&self, feature: &str) -> tantivy::Result<(u64, Vec<(usize, usize)>)> {
        let term = Term::from_field_text(FEATURES, feature);
        let (mut frequency, mut found) = (0, Vec::new());
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let list = segment.inverted_index(FEATURES)?;
            let add = |entry, _| found.push((number, entry as usize));
            frequency += u64::from(each(&term, &list, segment, add)?);
        }
        Ok((frequency, found))
    }

    /// Numbers of the documents that list questions.
    pub(crate) fn pages(&self) -> tantivy::Result<&HashSet<u64>> {
        Ok(&self.entries()?.pages)
    }

    fn entries(&self) -> tantivy::Result<&Entries> {
        if let Some(known) = self.entries.get() {
            return Ok(known);
        }
        let read = Entries::read(&self.searcher)?;
        Ok(self.entries.get_or_init(|| read))
    }
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

    fn read(searcher: &Searcher) -> tantivy::Result<Entries> {
        let mut out = Entries::default();
        let (mut documents, mut subjects) = (HashMap::new(), HashMap::new());
        for segment in searcher.segment_readers() {
            let columns = segment.fast_fields();
            let mut entries = vec![(ELSEWHERE, 0.0); segment.max_doc() as usize];
            if let Some(about) = columns.column_opt("about")? {
                // Every question has all of the numbers.
                let number = |name| Ok::<_, TantivyError>(values(&columns.u64(name)?));
                let [about_subject, chunks] = [number("subject")?, number("count")?];
                let [features, spark] = [number("number")?, number("spark")?];
                for (at, (entry, page)) in columns::all(&about, segment).enumerate() {
                    if segment.is_deleted(entry) {
                        continue;
                    }
                    let share = 1.0 / features[at].max(1) as f32;
                    entries[entry as usize] = (ELSEWHERE, share);
                    if chunks[at] == 0 {
                        out.elsewhere += 1.0;
                        continue;
                    }
                    out.all += 1.0;
                    out.spark += spark[at] as f32;
                    let position = documents.entry(page).or_insert_with(|| {
                        let next = subjects.len();
                        out.documents.push(Document {
                            page,
                            subject: *subjects.entry(about_subject[at]).or_insert(next),
                            is_spark: spark[at] > 0,
                        });
                        out.documents.len() as u32 - 1
                    });
                    entries[entry as usize].0 = *position;
                }
            }
            out.of.push(entries);
        }
        out.subjects = subjects.len();
        out.pages = documents.into_keys().collect();
        Ok(out)
    }
}

/// How a query and the questions compare.
#[derive(Default)]
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
    /// Of documents that have anything, by number.
    scores: HashMap<u64, Likeness>,
    /// The documents with questions.
    pages: Option<&'a HashSet<u64>>,
    /// How far the scores are to be trusted, 0 to 1: the best of documents that all have little in common with the query says little.
    pub(crate) trust: f32,
    /// The chunks of the documents that have most in common with the query.
    pub(crate) proposed: Vec<Ordinal>,
}

impl<'a> Near<'a> {
    fn new(
        scores: HashMap<u64, Likeness>,
        pages: &'a HashSet<u64>,
        chunks: &Lexical,
    ) -> tantivy::Result<Near<'a>> {
        let mut near = Near::scaled(scores, pages);
        let shares = near.scores.iter().map(|(page, score)| (*page, score.share));
        for (page, _) in lexical::best(shares.collect(), PROPOSED) {
            near.proposed.extend(chunks.of_page(page)?);
        }
        Ok(near)
    }

    pub(crate) fn scaled(mut scores: HashMap<u64, Likeness>, pages: &'a HashSet<u64>) -> Near<'a> {
        let best = |scores: &HashMap<u64, Likeness>, of: fn(&Likeness) -> f32| {
            scores.values().map(of).fold(f32::MIN_POSITIVE, f32::max)
        };
        let (nearest, words) = (best(&scores, |s| s.nearest), best(&scores, |s| s.words));
        for score in scores.values_mut() {
            score.share = score.words / words + NEAREST_WEIGHT * score.nearest / nearest;
        }
        let most = best(&scores, |s| s.share);
        scores.values_mut().for_each(|score| score.share /= most);
        Near {
            scores,
            pages: Some(pages),
            trust: (words / ENOUGH).min(1.0),
            ..Near::default()
        }
    }

    /// The likeness for a document; `None` if it has no questions.
    pub(crate) fn score(&self, page: u64) -> Option<Likeness> {
        let has_questions = self.pages?.contains(&page);
        has_questions.then(|| self.scores.get(&page).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_with_questions_has_a_score_and_others_have_none() {
        let likeness = |nearest, words| Likeness {
            nearest,
            words,
            share: 0.0,
        };
        let pages = HashSet::from([3, 10, 20]);
        let scores = [(3, likeness(0.5, 0.2)), (10, likeness(0.25, 0.1))];
        let near = Near::scaled(HashMap::from(scores), &pages);
        let share = |page| near.score(page).map(|score| score.share);
        assert_eq!(
            [2, 3, 10, 20].map(share),
            [None, Some(1.0), Some(0.5), Some(0.0)]
        );
    }
}
