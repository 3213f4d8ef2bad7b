//! Answers of the knowledge index, kept across jobs: jobs with the same causes ask the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::ExperienceSource;
use indexer::{Chunk, Hit, Index, Query};

/// Answers that are kept; a few KiB each.
const MOST: usize = 2000;

/// The answers of one index.
#[derive(Default)]
pub(crate) struct Searches(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The index that gave them.
    index: Option<Arc<Index>>,
    answers: HashMap<String, Vec<Hit>>,
}

/// An index that remembers what it was asked.
pub(crate) struct Remembered<'a> {
    index: &'a Arc<Index>,
    searches: &'a Searches,
}

impl Searches {
    pub(crate) fn over<'a>(&'a self, index: &'a Arc<Index>) -> Remembered<'a> {
        Remembered {
            index,
            searches: self,
        }
    }

    /// The answers of this index; those of an older generation are dropped.
    fn of(&self, index: &Arc<Index>) -> MutexGuard<'_, Kept> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = kept
            .index
            .as_ref()
            .is_some_and(|known| Arc::ptr_eq(known, index));
        if !is_same || kept.answers.len() >= MOST {
            *kept = Kept {
                index: Some(Arc::clone(index)),
                answers: HashMap::new(),
            };
        }
        kept
    }
}

impl ExperienceSource for Remembered<'_> {
    fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, String> {
        if query.prior.is_some() {
            // an opinion may change from one call to the next
            return ExperienceSource::search(&**self.index, query);
        }
        let asked = (query.k, &query.filter, &query.prefer, query.diversity);
        let key = format!("{asked:?} {:?} {}", query.without, query.text);
        let known = self.searches.of(self.index).answers.get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let hits = ExperienceSource::search(&**self.index, query)?;
        self.searches
            .of(self.index)
            .answers
            .insert(key, hits.clone());
        Ok(hits)
    }

    fn chunk(&self, id: &str) -> Option<Chunk> {
        self.index.chunk(id)
    }
}
