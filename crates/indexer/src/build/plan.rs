//! Compares the documents with the current generation, and plans the writes.
//!
//! Deletions are found by comparing with the full listing, never from a list of changes.

use std::collections::{BTreeMap, HashSet};

use super::Summary;
use super::read::Listed;
use crate::store::manifest::{Documents, Hash};

/// An index with more than this share of dead chunks is rewritten: dead chunks cost disk and distort BM25's document frequencies.
const MAX_DEAD_SHARE: f64 = 0.3;

/// Below this many chunks a rewrite is cheaper than keeping track of dead chunks.
const SMALL_INDEX: usize = 256;

pub(crate) struct Plan {
    /// Rewrite all documents.
    pub(crate) whole: bool,
    /// Positions of the documents to chunk and embed.
    pub(crate) write: Vec<usize>,
    /// Documents with chunks that become dead.
    pub(crate) dead: Vec<String>,
    pub(crate) summary: Summary,
}

impl Plan {
    pub(crate) fn is_empty(&self) -> bool {
        !self.whole && self.write.is_empty() && self.dead.is_empty()
    }
}

/// Compares the documents with the documents of the `current` index, if there is one, and the number of its chunks with the dead ones.
pub(crate) fn plan(
    listed: &[Listed],
    current: Option<(&Documents, usize)>,
    everything: bool,
) -> Plan {
    let empty = Documents::new();
    let (documents, stored) = current.unwrap_or((&empty, 0));
    let (summary, mut write) = changes(listed, documents);
    let moved = summary.moved.iter().map(|(old, _)| old);
    let gone = summary.removed.iter().chain(&summary.changed).chain(moved);
    let mut dead: Vec<String> = gone.cloned().collect();
    let dying = dead.iter().filter_map(|path| documents.get(path));
    let dying: usize = dying.map(|entry| entry.chunks).sum();
    let live: usize = documents.values().map(|entry| entry.chunks).sum();
    let too_dead = (stored + dying).saturating_sub(live) as f64 > MAX_DEAD_SHARE * stored as f64;
    let has_changed = !write.is_empty() || !dead.is_empty();
    let is_rewritten = has_changed && (live < SMALL_INDEX || too_dead);
    let whole = everything || current.is_none() || is_rewritten;
    if whole {
        write = (0..listed.len()).collect();
        dead.clear();
    }
    Plan {
        whole,
        write,
        dead,
        summary,
    }
}

/// The summary of an update, without updating, and the positions of the sources to write.
pub(crate) fn changes(listed: &[Listed], documents: &Documents) -> (Summary, Vec<usize>) {
    let present: HashSet<&str> = listed.iter().map(|l| &*l.source.path).collect();
    let mut gone: BTreeMap<&Hash, Vec<&String>> = BTreeMap::new();
    for (path, entry) in documents {
        if !present.contains(path.as_str()) {
            gone.entry(&entry.hash).or_default().push(path);
        }
    }
    let mut summary = Summary::default();
    let mut write = Vec::new();
    for (at, Listed { source, hash, .. }) in listed.iter().enumerate() {
        match documents.get(&source.path) {
            Some(entry) if entry.hash == *hash => {
                summary.unchanged += 1;
                continue;
            }
            Some(_) => summary.changed.push(source.path.clone()),
            None => match gone.get_mut(hash).and_then(Vec::pop) {
                Some(old) => summary.moved.push((old.clone(), source.path.clone())),
                None => summary.added.push(source.path.clone()),
            },
        }
        write.push(at);
    }
    summary.removed = gone.into_values().flatten().cloned().collect();
    summary.removed.sort();
    (summary, write)
}

#[cfg(test)]
mod tests {
    use super::super::read::Listing;
    use super::*;
    use crate::document::Source;
    use crate::store::manifest::DocumentEntry;

    fn listed(documents: &[(&str, u8)]) -> Vec<Listed> {
        let source = |(path, text): &(&str, u8)| Source::new(path, text.to_string());
        let sources: Vec<Source> = documents.iter().map(source).collect();
        let mut listed = Listing::from(sources).documents;
        for (listed, (_, hash)) in listed.iter_mut().zip(documents) {
            listed.hash = [*hash; 32];
        }
        listed
    }

    fn entry(hash: u8, chunks: usize) -> DocumentEntry {
        DocumentEntry {
            hash: [hash; 32],
            chunks,
            state: None,
        }
    }

    #[test]
    fn every_kind_of_change_is_told_apart() {
        let documents = Documents::from([
            ("same.md".to_owned(), entry(1, 1)),
            ("edited.md".to_owned(), entry(2, 1)),
            ("old-name.md".to_owned(), entry(3, 1)),
            ("gone.md".to_owned(), entry(4, 1)),
        ]);
        let listed = listed(&[
            ("edited.md", 22),
            ("new-name.md", 3),
            ("new.md", 5),
            ("same.md", 1),
        ]);
        let (summary, write) = changes(&listed, &documents);
        assert_eq!(summary.unchanged, 1);
        assert_eq!(summary.changed, ["edited.md"]);
        assert_eq!(summary.added, ["new.md"]);
        assert_eq!(summary.removed, ["gone.md"]);
        let moved = ("old-name.md".to_owned(), "new-name.md".to_owned());
        assert_eq!(summary.moved, [moved]);
        assert_eq!(write, [0, 1, 2]);
    }

    #[test]
    fn an_index_with_many_dead_chunks_is_rewritten() {
        let documents = Documents::from([
            ("large.md".to_owned(), entry(1, 990)),
            ("small.md".to_owned(), entry(2, 10)),
        ]);
        let listed = listed(&[("large.md", 1), ("small.md", 22)]);
        let plan = |stored| plan(&listed, Some((&documents, stored)), false);
        let few = plan(1000);
        assert!(!few.whole);
        assert_eq!(
            (few.write, few.dead),
            (vec![1], vec!["small.md".to_owned()])
        );
        assert!(plan(1500).whole);
    }
}
