//! The segments of a generation, open for reading: chunks by ordinal and the vector branch as an exact scan,
//! or by a graph in processes that stay.

use std::collections::{BinaryHeap, HashSet};
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use crate::error::OpenError;
use crate::store::chunks::Chunks;
use crate::store::facets::Facets;
use crate::store::generation::damaged;
use crate::store::graph::Graph;
use crate::store::manifest::{Manifest, Ordinal, Segment};
use crate::store::vectors::{Quantised, Vectors};

/// Rows per task of a parallel scan. Below two tasks one thread does it all: waking the pool costs as much as scanning
/// some ten thousand rows.
const ROWS_PER_TASK: usize = 16_384;

/// Rows that the int8 scan hands to the exact comparison, beyond those wanted: with 50 for 10 the recall against an
/// all-exact scan is 1.0000.
const RESCORE: usize = 50;

/// All segments of a generation.
pub(crate) struct Segments {
    all: Vec<Open>,
}

struct Open {
    seq: u32,
    chunks: Chunks,
    vectors: Vectors,
    graph: Option<Graph>,
    /// Ranges of rows that are alive.
    live: Vec<Range<usize>>,
}

impl Segments {
    /// With `graphs`, the folder of the graphs and the rows from which a segment has one, large segments are searched by theirs, if
    /// it is there.
    pub(crate) fn open(
        folder: &Path,
        manifest: &Manifest,
        graphs: Option<(&Path, usize)>,
    ) -> Result<Segments, OpenError> {
        let open = |segment: &Segment| -> Result<Open, OpenError> {
            let path = folder.join(segment.chunks_file());
            let chunks = Chunks::open(&path).map_err(|reason| damaged(&path, &reason))?;
            let path = folder.join(segment.vectors_file());
            let vectors = Vectors::open(&path).map_err(|reason| damaged(&path, &reason))?;
            let agrees = chunks.len() == segment.rows
                && vectors.len() == segment.rows
                && vectors.dimension() == manifest.dimension;
            if !agrees {
                return Err(damaged(&path, "it does not fit the manifest"));
            }
            Ok(Open {
                seq: segment.seq,
                chunks,
                vectors,
                graph: graphs
                    .filter(|&(_, from)| segment.rows >= from && has_few_dead(segment))
                    .and_then(|(graphs, _)| {
                        let sum = manifest.files.get(&segment.vectors_file())?;
                        Graph::load(graphs, &sum.blake3)
                    }),
                live: live_ranges(segment),
            })
        };
        let all: Result<Vec<Open>, OpenError> = manifest.segments.iter().map(open).collect();
        all.map(|all| Segments { all })
    }

    fn segment(&self, ordinal: Ordinal) -> Option<&Open> {
        self.all
            .iter()
            .find(|open| open.seq == ordinal.seq())
            .filter(|open| ordinal.row() < open.vectors.len())
    }

    /// Id of a chunk.
    pub(crate) fn id(&self, ordinal: Ordinal) -> Option<&str> {
        self.segment(ordinal)?.chunks.id(ordinal.row())
    }

    /// A chunk.
    pub(crate) fn chunk(&self, ordinal: Ordinal) -> Result<crate::model::Chunk, String> {
        let open = self.segment(ordinal).ok_or("no such segment")?;
        open.chunks.get(ordinal.row())
    }

    /// The facets of a chunk; `None` if it cannot be read.
    pub(crate) fn facets(&self, ordinal: Ordinal) -> Option<Facets> {
        self.segment(ordinal)?.chunks.facets(ordinal.row())
    }

    /// The vector of a chunk.
    pub(crate) fn vector(&self, ordinal: Ordinal) -> Option<&[f32]> {
        Some(self.segment(ordinal)?.vectors.exact(ordinal.row()))
    }

    /// Cosine of a chunk with a query of length 1.
    pub(crate) fn cosine(&self, ordinal: Ordinal, query: &[f32]) -> Option<f32> {
        Some(self.segment(ordinal)?.vectors.cosine(ordinal.row(), query))
    }

    /// Whether two chunks were embedded from the same text.
    pub(crate) fn same_text(&self, a: Ordinal, b: Ordinal) -> bool {
        let hash = |ordinal| Some(self.segment(ordinal)?.vectors.hash(ordinal.row()));
        hash(a).is_some() && hash(a) == hash(b)
    }

    /// Ordinals of all chunks that are alive.
    pub(crate) fn ordinals(&self) -> impl Iterator<Item = Ordinal> + '_ {
        self.all.iter().flat_map(|open| {
            let rows = open.live.iter().cloned().flatten();
            rows.map(|row| Ordinal::new(open.seq, row))
        })
    }

    /// The `limit` chunks nearest to `query`, nearest first; only those in `allowed`, if given.
    pub(crate) fn nearest(
        &self,
        query: &[f32],
        allowed: Option<&HashSet<Ordinal>>,
        limit: usize,
    ) -> Vec<(Ordinal, f32)> {
        if limit == 0 {
            return Vec::new();
        }
        let quantised = Quantised::new(query);
        let depth = limit + RESCORE;
        // A graph knows no filter; what a filter leaves is scanned.
        let (by_graph, by_scan): (Vec<&Open>, Vec<&Open>) = self
            .all
            .iter()
            .partition(|open| open.graph.is_some() && allowed.is_none());
        let tasks: Vec<(&Open, Range<usize>)> = by_scan.into_iter().flat_map(tasks).collect();
        let scan = |(open, rows): &(&Open, Range<usize>)| -> Best {
            let mut best = Best::new(depth);
            let keep = |row: usize| match allowed {
                Some(allowed) => allowed.contains(&Ordinal::new(open.seq, row)),
                None => true,
            };
            open.vectors
                .scan(rows.clone(), &quantised, keep, |row, cosine| {
                    best.offer(cosine, Ordinal::new(open.seq, row));
                });
            best
        };
        let rows: usize = tasks.iter().map(|(_, rows)| rows.len()).sum();
        let best = if rows < 2 * ROWS_PER_TASK {
            tasks.iter().map(scan).fold(Best::new(depth), Best::merge)
        } else {
            tasks
                .par_iter()
                .map(scan)
                .reduce(|| Best::new(depth), Best::merge)
        };
        let near = by_graph
            .into_iter()
            .flat_map(|open| graph_rows(open, &quantised, limit));
        let mut exact: Vec<(Ordinal, f32)> = best
            .into_ordinals()
            .chain(near)
            .filter_map(|ordinal| Some((ordinal, self.cosine(ordinal, query)?)))
            .collect();
        exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        exact.truncate(limit);
        exact
    }
}

/// Live rows that the graph of a segment puts forward; deeper by its dead rows.
fn graph_rows<'a>(
    open: &'a Open,
    query: &Quantised,
    limit: usize,
) -> impl Iterator<Item = Ordinal> + 'a {
    let live: usize = open.live.iter().map(Range::len).sum();
    let deeper = limit + (open.vectors.len() - live).min(limit);
    let rows = open.graph.as_ref().map(|graph| graph.rows(query, deeper));
    let rows = rows.unwrap_or_default().into_iter();
    rows.filter(|row| open.live.iter().any(|range| range.contains(row)))
        .map(|row| Ordinal::new(open.seq, row))
}

/// With more dead rows than one in twenty the graph leads to them too often.
fn has_few_dead(segment: &Segment) -> bool {
    segment.dead_rows() * 20 <= segment.rows
}

fn tasks(open: &Open) -> impl Iterator<Item = (&Open, Range<usize>)> {
    open.live.iter().flat_map(move |range| {
        range
            .clone()
            .step_by(ROWS_PER_TASK)
            .map(move |start| (open, start..range.end.min(start + ROWS_PER_TASK)))
    })
}

fn live_ranges(segment: &Segment) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    for &(first, count) in &segment.dead {
        if first > start {
            out.push(start..first.min(segment.rows));
        }
        start = start.max(first + count);
    }
    if start < segment.rows {
        out.push(start..segment.rows);
    }
    out
}

/// The best so many of a stream; equal scores are decided by the ordinal, so that the result does not depend on how the work was
/// divided.
struct Best {
    depth: usize,
    heap: BinaryHeap<Worst>,
}

/// Ordered so that the worst is on top of the heap.
#[derive(PartialEq)]
struct Worst(f32, Ordinal);

impl Eq for Worst {}

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.0.total_cmp(&self.0).then(self.1.cmp(&other.1))
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Best {
    fn new(depth: usize) -> Best {
        Best {
            depth,
            heap: BinaryHeap::with_capacity(depth + 1),
        }
    }

    fn offer(&mut self, score: f32, ordinal: Ordinal) {
        let new = Worst(score, ordinal);
        if self.heap.len() < self.depth {
            self.heap.push(new);
        } else if self.heap.peek().is_some_and(|worst| new < *worst) {
            self.heap.pop();
            self.heap.push(new);
        }
    }

    fn merge(mut self, other: Best) -> Best {
        for Worst(score, ordinal) in other.heap {
            self.offer(score, ordinal);
        }
        self
    }

    fn into_ordinals(self) -> impl Iterator<Item = Ordinal> {
        self.heap.into_iter().map(|Worst(_, ordinal)| ordinal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_ranges_leave_out_the_dead() {
        let segment = |dead: Vec<(usize, usize)>| Segment {
            seq: 1,
            rows: 10,
            dead,
        };
        assert_eq!(live_ranges(&segment(vec![])).first(), Some(&(0..10)));
        assert_eq!(live_ranges(&segment(vec![(0, 3), (5, 2)])), [3..5, 7..10]);
        assert!(live_ranges(&segment(vec![(0, 10)])).is_empty());
    }

    #[test]
    fn the_best_are_kept_and_ties_go_to_the_first() {
        let mut best = Best::new(2);
        for (score, row) in [(0.5, 3), (0.9, 2), (0.5, 1), (0.1, 0)] {
            best.offer(score, Ordinal::new(1, row));
        }
        let mut rows: Vec<usize> = best.into_ordinals().map(Ordinal::row).collect();
        rows.sort_unstable();
        assert_eq!(rows, [1, 2]);
    }
}
