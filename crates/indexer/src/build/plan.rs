//! Compares the documents with the current generation, and plans the writes.
//!
//! Deletions are found by comparing with the full listing, never from a list of changes.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Summary;
use crate::document::Source;
use crate::store::manifest::{Documents, Segment};

/// A generation with more than this share of dead rows is rewritten as one segment: dead rows cost scan time
/// and disk, and distort BM25's document frequencies.
const MAX_DEAD_SHARE: f64 = 0.3;

/// Below this many rows a rewrite is cheaper than keeping track of dead rows.
const SMALL_INDEX: usize = 256;

/// More segments than this are merged into the new one: each costs two memory maps at every start.
const MAX_SEGMENTS: usize = 8;

/// Only segments with less than this share of all rows are merged, so that an update never rewrites the large one.
const FOLD_SHARE: f64 = 0.1;

pub(crate) struct Plan {
    /// Rewrite all documents as one segment, with an empty lexical store.
    pub(crate) whole: bool,
    /// Positions of the documents to chunk and embed.
    pub(crate) write: Vec<usize>,
    /// Documents with rows that become dead.
    pub(crate) dead: Vec<String>,
    pub(crate) dropped: HashSet<u32>,
    pub(crate) summary: Summary,
}

impl Plan {
    pub(crate) fn is_empty(&self) -> bool {
        !self.whole && self.write.is_empty() && self.dead.is_empty()
    }
}

/// Compares the documents with the documents of the `current` generation, if there is one.
pub(crate) fn plan(
    sources: &[Source],
    hashes: &[String],
    current: Option<(&Documents, &[Segment])>,
    everything: bool,
) -> Plan {
    let empty = Documents::new();
    let (documents, segments) = current.unwrap_or((&empty, &[]));
    let (summary, mut write) = compare(sources, hashes, documents);
    let paths = sources.iter().map(|source| source.path.as_str());
    let known: HashMap<&str, usize> = paths.zip(0..).collect();
    let is_gone = |path: &&String| !known.contains_key(path.as_str());
    let gone = documents.keys().filter(is_gone);
    let rewritten = write.iter().map(|&i| &sources[i].path);
    let rewritten = rewritten.filter(|path| documents.contains_key(*path));
    let mut dead: Vec<String> = gone.chain(rewritten).cloned().collect();
    let live = live_after(documents, segments, &dead);
    let rows: usize = segments.iter().map(|segment| segment.rows).sum();
    let live_rows: usize = live.values().sum();
    let too_dead = (rows - live_rows) as f64 > MAX_DEAD_SHARE * rows as f64;
    let nothing_changed = write.is_empty() && dead.is_empty();
    let mut dropped = HashSet::new();
    let whole =
        everything || current.is_none() || (!nothing_changed && (rows < SMALL_INDEX || too_dead));
    if whole {
        write = (0..sources.len()).collect();
        dead.clear();
    } else {
        let empty = live.iter().filter(|&(_, &rows)| rows == 0);
        dropped.extend(empty.map(|(&seq, _)| seq));
        if !nothing_changed {
            let folded = foldable(segments, &live, &dropped);
            let dying: HashSet<&String> = dead.iter().collect();
            let in_folded = documents.iter().filter(|(_, e)| folded.contains(&e.seq));
            let carried = in_folded.map(|(path, _)| path);
            let carried = carried.filter(|path| !dying.contains(path));
            let carried: Vec<String> = carried.cloned().collect();
            write.extend(carried.iter().filter_map(|path| known.get(path.as_str())));
            dead.extend(carried);
            dropped.extend(folded);
        }
        write.sort_unstable();
    }
    Plan {
        whole,
        write,
        dead,
        dropped,
        summary,
    }
}

/// The summary of an update, without updating.
pub(crate) fn changes(sources: &[Source], hashes: &[String], documents: &Documents) -> Summary {
    compare(sources, hashes, documents).0
}

fn compare(sources: &[Source], hashes: &[String], documents: &Documents) -> (Summary, Vec<usize>) {
    let present: HashSet<&str> = sources.iter().map(|s| s.path.as_str()).collect();
    let mut gone: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for (path, entry) in documents {
        if !present.contains(path.as_str()) {
            gone.entry(&entry.hash).or_default().push(path);
        }
    }
    let mut summary = Summary::default();
    let mut write = Vec::new();
    for (i, (source, hash)) in sources.iter().zip(hashes).enumerate() {
        match documents.get(&source.path) {
            Some(entry) if entry.hash == *hash => {
                summary.unchanged += 1;
                continue;
            }
            Some(_) => summary.changed.push(source.path.clone()),
            None => match gone.get_mut(hash.as_str()).and_then(Vec::pop) {
                Some(old) => summary.moved.push((old.clone(), source.path.clone())),
                None => summary.added.push(source.path.clone()),
            },
        }
        write.push(i);
    }
    summary.removed = gone.into_values().flatten().cloned().collect();
    summary.removed.sort();
    (summary, write)
}

/// Live rows per segment, without the rows of the `dead` documents.
fn live_after(documents: &Documents, segments: &[Segment], dead: &[String]) -> HashMap<u32, usize> {
    let rows = segments.iter().map(|s| (s.seq, s.live_rows()));
    let mut live: HashMap<u32, usize> = rows.collect();
    for entry in dead.iter().filter_map(|path| documents.get(path)) {
        if let Some(rows) = live.get_mut(&entry.seq) {
            *rows = rows.saturating_sub(entry.count);
        }
    }
    live
}

fn foldable(
    segments: &[Segment],
    live: &HashMap<u32, usize>,
    dropped: &HashSet<u32>,
) -> HashSet<u32> {
    let kept = segments.len() - dropped.len();
    if kept < MAX_SEGMENTS {
        return HashSet::new();
    }
    let total: usize = live.values().sum();
    let is_small = |rows: usize| (rows as f64) < FOLD_SHARE * total as f64;
    let kept = live.iter().filter(|(seq, _)| !dropped.contains(seq));
    let small = kept.filter(|&(_, &rows)| is_small(rows));
    small.map(|(&seq, _)| seq).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::manifest::DocumentEntry;

    fn source(path: &str) -> Source {
        Source::new(path, String::new())
    }

    fn entry(hash: &str, seq: u32) -> DocumentEntry {
        DocumentEntry {
            hash: hash.to_owned(),
            seq,
            first: 0,
            count: 1,
            state: None,
        }
    }

    #[test]
    fn every_kind_of_change_is_told_apart() {
        let documents = Documents::from([
            ("same.md".to_owned(), entry("1", 1)),
            ("edited.md".to_owned(), entry("2", 1)),
            ("old-name.md".to_owned(), entry("3", 1)),
            ("gone.md".to_owned(), entry("4", 1)),
        ]);
        let sources = ["edited.md", "new-name.md", "new.md", "same.md"].map(source);
        let hashes = ["2b", "3", "5", "1"].map(str::to_owned);
        let (summary, write) = compare(&sources, &hashes, &documents);
        assert_eq!(summary.unchanged, 1);
        assert_eq!(summary.changed, ["edited.md"]);
        assert_eq!(summary.added, ["new.md"]);
        assert_eq!(summary.removed, ["gone.md"]);
        let moved = ("old-name.md".to_owned(), "new-name.md".to_owned());
        assert_eq!(summary.moved, [moved]);
        assert_eq!(write, [0, 1, 2]);
    }

    #[test]
    fn small_tails_are_folded_and_the_large_segment_is_not() {
        let segment = |seq, rows| Segment {
            seq,
            rows,
            dead: Vec::new(),
        };
        let mut documents = Documents::new();
        let mut segments = vec![segment(1, 1000)];
        for seq in 2..=9 {
            documents.insert(format!("{seq}.md"), entry("x", seq));
            segments.push(segment(seq, 1));
        }
        let mut sources: Vec<Source> = documents.keys().map(|path| source(path)).collect();
        let mut hashes = vec!["x".to_owned(); sources.len()];
        sources.push(source("new.md"));
        hashes.push("y".to_owned());
        let plan = plan(&sources, &hashes, Some((&documents, &segments)), false);
        assert!(!plan.whole);
        assert_eq!(plan.write.len(), 9);
        assert_eq!(plan.dropped, (2..=9).collect());
        assert_eq!(plan.summary.added, ["new.md"]);
        assert_eq!(plan.summary.unchanged, 8);
    }
}
