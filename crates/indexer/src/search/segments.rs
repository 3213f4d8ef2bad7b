//! The segments of a generation, open for reading: chunks by ordinal, and the vector branch as an exact scan or, in a session, by
//! graph.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::graphs::Graphs;
use crate::error::{OpenError, damaged};
use crate::store::best::{Best, Scored};
use crate::store::chunks::Chunks;
use crate::store::facets::Facets;
use crate::store::manifest::{Manifest, Ordinal, Segment};
use crate::store::vectors::{Quantized, Vectors};

/// Rows per task of a parallel scan. Below two tasks one thread does it all: waking the pool costs as much as scanning
/// some ten thousand rows.
const ROWS_PER_TASK: usize = 16_384;

/// Candidates of the int8 comparison in addition to the wanted ones: with 50 for 10, recall against an
/// exact scan is 1.0000.
const RESCORE: usize = 50;

pub(crate) struct Segments {
    all: Vec<OpenSegment>,
    graphs: Arc<Graphs>,
}

pub(crate) struct OpenSegment {
    seq: u32,
    chunks: Chunks,
    vectors: Arc<Vectors>,
    /// Checksum of the vectors, which names their graph.
    checksum: String,
    /// Ranges of live rows, ascending.
    live: Vec<Range<usize>>,
}

impl OpenSegment {
    fn open(
        folder: &Path,
        manifest: &Manifest,
        segment: &Segment,
    ) -> Result<OpenSegment, OpenError> {
        let (chunks, vectors) = (segment.chunks_file(), segment.vectors_file());
        let checksum = manifest.checksum(&vectors).unwrap_or_default().to_owned();
        let [chunks_path, vectors_path] = [chunks, vectors].map(|file| folder.join(file));
        let wrong = |path: &Path, reason: String| damaged(path, reason);
        let chunks = Chunks::open(&chunks_path).map_err(|reason| wrong(&chunks_path, reason))?;
        let vectors =
            Vectors::open(&vectors_path).map_err(|reason| wrong(&vectors_path, reason))?;
        let misfit = |path: &Path| damaged(path, "it does not fit the manifest");
        if chunks.len() != segment.rows {
            return Err(misfit(&chunks_path));
        }
        if vectors.len() != segment.rows || vectors.dimension() != manifest.dimension {
            return Err(misfit(&vectors_path));
        }
        Ok(OpenSegment {
            seq: segment.seq,
            chunks,
            vectors: Arc::new(vectors),
            checksum,
            live: live_ranges(segment),
        })
    }

    fn is_live(&self, row: usize) -> bool {
        let at = self.live.partition_point(|range| range.end <= row);
        self.live.get(at).is_some_and(|range| range.contains(&row))
    }
}

impl Segments {
    pub(crate) fn open(
        folder: &Path,
        manifest: &Manifest,
        graphs: Arc<Graphs>,
    ) -> Result<Segments, OpenError> {
        let segments = manifest.segments.iter();
        let all = segments.map(|segment| OpenSegment::open(folder, manifest, segment));
        let all = all.collect::<Result<Vec<OpenSegment>, OpenError>>()?;
        let vectors = all.iter().map(|open| (&*open.checksum, &open.vectors));
        graphs.want(&vectors.collect::<Vec<_>>());
        Ok(Segments { all, graphs })
    }

    fn segment(&self, ordinal: Ordinal) -> Option<&OpenSegment> {
        let open = self.all.iter().find(|open| open.seq == ordinal.seq());
        open.filter(|open| ordinal.row() < open.vectors.len())
    }

    pub(crate) fn id(&self, ordinal: Ordinal) -> Option<&str> {
        self.segment(ordinal)?.chunks.id(ordinal.row())
    }

    pub(crate) fn chunk(&self, ordinal: Ordinal) -> Result<crate::model::Chunk, String> {
        let open = self.segment(ordinal).ok_or("no such segment")?;
        open.chunks.get(ordinal.row())
    }

    /// `None` if the chunk cannot be read.
    pub(crate) fn facets(&self, ordinal: Ordinal) -> Option<Facets<'_>> {
        self.segment(ordinal)?.chunks.facets(ordinal.row())
    }

    pub(crate) fn vector(&self, ordinal: Ordinal) -> Option<&[f32]> {
        Some(self.segment(ordinal)?.vectors.exact(ordinal.row()))
    }

    /// `query` has length 1.
    pub(crate) fn cosine(&self, ordinal: Ordinal, query: &[f32]) -> Option<f32> {
        let vectors = &self.segment(ordinal)?.vectors;
        Some(vectors.cosine(ordinal.row(), query))
    }

    /// Whether two chunks were embedded from the same text.
    pub(crate) fn same_text(&self, a: Ordinal, b: Ordinal) -> bool {
        let hash = |ordinal| Some(self.segment(ordinal)?.vectors.hash(ordinal.row()));
        hash(a).is_some() && hash(a) == hash(b)
    }

    pub(crate) fn ordinals(&self) -> impl Iterator<Item = Ordinal> + '_ {
        self.all.iter().flat_map(|open| {
            let rows = open.live.iter().cloned().flatten();
            rows.map(|row| Ordinal::new(open.seq, row))
        })
    }

    /// The `limit` chunks nearest to `query`, nearest first; with `allowed` (sorted), only these chunks.
    pub(crate) fn nearest(
        &self,
        query: &[f32],
        allowed: Option<&[Ordinal]>,
        limit: usize,
    ) -> Vec<(Ordinal, f32)> {
        if limit == 0 {
            return Vec::new();
        }
        let quantized = Quantized::new(query);
        let depth = limit + RESCORE;
        let (mut found, mut scans) = (Vec::new(), Vec::new());
        for open in &self.all {
            // A graph cannot be restricted to the allowed rows.
            let graph = self.graphs.get(&open.checksum);
            let Some(graph) = graph.filter(|_| allowed.is_none()) else {
                scans.extend(tasks(open, allowed));
                continue;
            };
            let near = graph.near(&open.vectors, &quantized, depth, |row| open.is_live(row));
            found.extend(near.into_iter().map(|row| Ordinal::new(open.seq, row)));
        }
        found.extend(scan(&scans, &quantized, depth));
        let with_cosine = |ordinal| Some((ordinal, self.cosine(ordinal, query)?));
        best(found.into_iter().filter_map(with_cosine), limit)
    }
}

/// A part of a segment's rows that one thread scans.
type Task<'a> = (&'a OpenSegment, Range<usize>);

/// The best first.
fn best(scored: impl Iterator<Item = (Ordinal, f32)>, limit: usize) -> Vec<(Ordinal, f32)> {
    let mut scored: Vec<(Ordinal, f32)> = scored.collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(limit);
    scored
}

/// The `depth` best rows of all tasks by their coarse cosine.
fn scan(tasks: &[Task<'_>], query: &Quantized, depth: usize) -> impl Iterator<Item = Ordinal> {
    let scan = |(open, rows): &Task<'_>| {
        let mut best = Best::new(depth);
        for row in rows.clone() {
            let ordinal = Ordinal::new(open.seq, row);
            best.offer(Scored(open.vectors.coarse_cosine(row, query), ordinal));
        }
        best
    };
    let rows: usize = tasks.iter().map(|(_, rows)| rows.len()).sum();
    let best = if rows < 2 * ROWS_PER_TASK {
        tasks.iter().map(scan).fold(Best::new(depth), Best::merge)
    } else {
        let parts = tasks.par_iter().map(scan);
        parts.reduce(|| Best::new(depth), Best::merge)
    };
    best.into_keys()
}

/// The live rows of a segment; with `allowed`, only these rows.
fn tasks<'a>(open: &'a OpenSegment, allowed: Option<&[Ordinal]>) -> Vec<Task<'a>> {
    let wanted = allowed.map(|all| {
        let live = |row: &usize| open.is_live(*row);
        ranges(rows_of(all, open.seq).filter(live))
    });
    let ranges = wanted.as_ref().unwrap_or(&open.live);
    let parts = ranges.iter().flat_map(|range| {
        let starts = range.clone().step_by(ROWS_PER_TASK);
        starts.map(move |start| (open, start..range.end.min(start + ROWS_PER_TASK)))
    });
    parts.collect()
}

/// The rows of a segment among sorted `ordinals`.
fn rows_of(ordinals: &[Ordinal], seq: u32) -> impl Iterator<Item = usize> {
    let first = ordinals.partition_point(|ordinal| ordinal.seq() < seq);
    let rows = ordinals[first..].iter().take_while(move |o| o.seq() == seq);
    rows.map(|ordinal| ordinal.row())
}

/// Sorted rows as ranges.
fn ranges(rows: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for row in rows {
        match out.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => out.push(row..row + 1),
        }
    }
    out
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
}
