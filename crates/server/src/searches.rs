//! Answers of the knowledge index, kept across jobs: jobs with the same causes ask the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::ExperienceSource;
use indexer::{Chunk, Hit, Index, Query};

/// Answers that are kept; a few KiB each.
const MOST: usize = 2000;

/// The answers of one index.
#[derive(Default)]
pub(crate) struct Searches(Mutex<Cache>);

#[derive(Default)]
struct Cache {
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

    /// The cached answers of this index; drops the answers of an older generation.
    fn cached(&self, index: &Arc<Index>) -> MutexGuard<'_, Cache> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = kept
            .index
            .as_ref()
            .is_some_and(|known| Arc::ptr_eq(known, index));
        if !is_same || kept.answers.len() >= MOST {
            *kept = Cache {
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
        let key = format!("{asked:?} {:?} {}", query.fusion, query.text);
        let known = self.searches.cached(self.index).answers.get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let hits = ExperienceSource::search(&**self.index, query)?;
        self.searches
            .cached(self.index)
            .answers
            .insert(key, hits.clone());
        Ok(hits)
    }

    fn chunk(&self, id: &str) -> Option<Chunk> {
        self.index.chunk(id)
    }
}

#[cfg(test)]
mod tests {
    use indexer::{Filter, Fusion, Language, Settings, build};

    use super::*;

    fn index() -> (tempfile::TempDir, Arc<Index>) {
        let home = tempfile::tempdir().expect("a temporary folder");
        let documents = home.path().join("experience");
        std::fs::create_dir_all(&documents).expect("made");
        let text = "# Skew\n\n## Cause\n\nThe join has a hot key.\n\n## Fix\n\nSalt the hot key.\n";
        std::fs::write(documents.join("skew.md"), text).expect("written");
        let (folder, settings) = (home.path().join("index"), Settings::default());
        build::update(home.path(), &folder, &settings, &mut |_| {}).expect("sound documents");
        let index = Index::open(&folder, &settings).expect("an index was just built");
        (home, Arc::new(index))
    }

    fn hot_key() -> Query<'static> {
        Query::new("hot key", 2)
    }

    /// Whether a query is answered from the cache: the test empties all cached answers first.
    fn is_kept(searches: &Searches, index: &Arc<Index>, query: &Query<'_>) -> bool {
        let mut kept = searches.cached(index);
        kept.answers.values_mut().for_each(Vec::clear);
        drop(kept);
        let hits = searches.over(index).search(query).expect("hits");
        hits.is_empty()
    }

    #[test]
    fn equal_queries_are_answered_once_and_others_searched_for() {
        let (_home, index) = index();
        let searches = Searches::default();
        let first = searches.over(&index).search(&hot_key()).expect("hits");
        let again = searches.over(&index).search(&hot_key()).expect("hits");
        assert_eq!(first.len(), 2);
        let ids = |hits: &[Hit]| {
            hits.iter()
                .map(|hit| hit.chunk.id.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(&first), ids(&again));
        assert!(is_kept(&searches, &index, &hot_key()));
        let filter = Filter {
            languages: vec![Language::En],
            ..Filter::default()
        };
        for other in [
            Query::new("hot keys", 2),
            Query { k: 1, ..hot_key() },
            Query {
                filter: filter.clone(),
                ..hot_key()
            },
            Query {
                prefer: filter.clone(),
                ..hot_key()
            },
            Query {
                diversity: 0.9,
                ..hot_key()
            },
            Query {
                fusion: Some(Fusion::Bm25),
                ..hot_key()
            },
        ] {
            let name = format!("{} {:?} {:?}", other.text, other.filter, other.prefer);
            assert!(!is_kept(&searches, &index, &other), "{name}");
            assert!(is_kept(&searches, &index, &other), "{name}");
        }
    }

    #[test]
    fn answers_with_an_opinion_or_of_another_index_are_not_kept() {
        let (_home, old) = index();
        let searches = Searches::default();
        let opinion = |_: &str| 0.5;
        let query = Query {
            prior: Some(&opinion),
            ..hot_key()
        };
        assert!(!is_kept(&searches, &old, &query));
        assert!(!is_kept(&searches, &old, &query));
        assert!(searches.cached(&old).answers.is_empty());
        assert!(!is_kept(&searches, &old, &hot_key()));
        let (_other, new) = index();
        assert!(!is_kept(&searches, &new, &hot_key()));
        assert_eq!(searches.cached(&new).answers.len(), 1);
    }
}
