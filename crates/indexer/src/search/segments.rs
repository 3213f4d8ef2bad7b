//! The segments of a generation, open for reading: chunks by ordinal, and the vector branch as an exact scan or, in a session, by
//! graph.

use std::collections::HashMap;
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

/// Candidates that the int8 comparison passes on beyond those wanted: with 50 for 10, recall against an
/// exact scan is 1.0000.
const RESCORE: usize = 50;

pub(crate) struct Segments {
    all: Vec<Open>,
    graphs: Arc<Graphs>,
}

pub(crate) struct Open {
    seq: u32,
    chunks: Chunks,
    pub(crate) passages: Rows,
    questions: Option<Questions>,
}

/// Vectors of which some rows are served.
pub(crate) struct Rows {
    pub(crate) vectors: Arc<Vectors>,
    /// Checksum of the vectors, which names their graph.
    checksum: String,
    /// Ranges of live rows, in order.
    live: Vec<Range<usize>>,
}

/// The questions that documents say they answer.
struct Questions {
    rows: Rows,
    /// In the order of their rows.
    documents: Vec<Asked>,
}

/// A document with questions.
#[derive(Clone)]
struct Asked {
    chunks: Range<usize>,
    questions: Range<usize>,
}

impl Rows {
    fn open(
        folder: &Path,
        manifest: &Manifest,
        file: &str,
        (rows, live): (usize, Vec<Range<usize>>),
    ) -> Result<Rows, OpenError> {
        let path = folder.join(file);
        let vectors = Vectors::open(&path).map_err(|reason| damaged(&path, reason))?;
        match vectors.len() == rows && vectors.dimension() == manifest.dimension {
            true => Ok(Rows {
                vectors: Arc::new(vectors),
                checksum: manifest.checksum(file).unwrap_or_default().to_owned(),
                live,
            }),
            false => Err(damaged(&path, "it does not fit the manifest")),
        }
    }

    fn is_live(&self, row: usize) -> bool {
        let at = self.live.partition_point(|range| range.end <= row);
        self.live.get(at).is_some_and(|range| range.contains(&row))
    }
}

impl Questions {
    /// `None` if no document of the segment has questions.
    fn open(
        folder: &Path,
        manifest: &Manifest,
        segment: &Segment,
        passages: &Rows,
    ) -> Result<Option<Questions>, OpenError> {
        let Some(file) = segment.questions_file() else {
            return Ok(None);
        };
        let mut end = 0;
        let asked = segment.asked.iter().map(|&(first, count, questions)| {
            let start = end;
            end += questions;
            Asked {
                chunks: first..first + count,
                questions: start..end,
            }
        });
        let documents: Vec<Asked> = asked.collect();
        let live = documents
            .iter()
            .filter(|d| passages.is_live(d.chunks.start));
        let live = live.map(|document| document.questions.clone()).collect();
        let rows = Rows::open(folder, manifest, &file, (end, live))?;
        Ok(Some(Questions { rows, documents }))
    }

    /// The document with the question at `row`.
    fn at(&self, row: usize) -> Option<&Asked> {
        let at = self.documents.partition_point(|d| d.questions.end <= row);
        self.documents.get(at)
    }

    /// The questions of the documents with any of these chunks, given as sorted rows.
    fn of_any(&self, chunks: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
        let asked = chunks.filter_map(|row| self.of(row));
        let mut out: Vec<Range<usize>> = asked.map(|document| document.questions.clone()).collect();
        out.dedup();
        out
    }

    /// The document with the chunk at `row`, if it has questions.
    fn of(&self, row: usize) -> Option<&Asked> {
        let at = self.documents.partition_point(|d| d.chunks.end <= row);
        let document = self.documents.get(at);
        document.filter(|document| document.chunks.contains(&row))
    }
}

impl Segments {
    pub(crate) fn open(
        folder: &Path,
        manifest: &Manifest,
        graphs: Arc<Graphs>,
    ) -> Result<Segments, OpenError> {
        let open = |segment: &Segment| -> Result<Open, OpenError> {
            let path = folder.join(segment.chunks_file());
            let chunks = Chunks::open(&path).map_err(|reason| damaged(&path, reason))?;
            if chunks.len() != segment.rows {
                return Err(damaged(&path, "it does not fit the manifest"));
            }
            let live = (segment.rows, live_ranges(segment));
            let passages = Rows::open(folder, manifest, &segment.vectors_file(), live)?;
            Ok(Open {
                seq: segment.seq,
                chunks,
                questions: Questions::open(folder, manifest, segment, &passages)?,
                passages,
            })
        };
        let all: Result<Vec<Open>, OpenError> = manifest.segments.iter().map(open).collect();
        let all = all?;
        let vectors = all.iter().flat_map(Open::rows);
        let vectors = vectors.map(|rows| (&*rows.checksum, &rows.vectors));
        graphs.want(&vectors.collect::<Vec<_>>());
        Ok(Segments { all, graphs })
    }

    fn segment(&self, ordinal: Ordinal) -> Option<&Open> {
        let open = self.all.iter().find(|open| open.seq == ordinal.seq());
        open.filter(|open| ordinal.row() < open.passages.vectors.len())
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
        Some(self.segment(ordinal)?.passages.vectors.exact(ordinal.row()))
    }

    /// `query` has length 1.
    pub(crate) fn cosine(&self, ordinal: Ordinal, query: &[f32]) -> Option<f32> {
        let vectors = &self.segment(ordinal)?.passages.vectors;
        Some(vectors.cosine(ordinal.row(), query))
    }

    /// Whether two chunks were embedded from the same text.
    pub(crate) fn same_text(&self, a: Ordinal, b: Ordinal) -> bool {
        let hash = |ordinal| Some(self.segment(ordinal)?.passages.vectors.hash(ordinal.row()));
        hash(a).is_some() && hash(a) == hash(b)
    }

    pub(crate) fn ordinals(&self) -> impl Iterator<Item = Ordinal> + '_ {
        self.all.iter().flat_map(|open| {
            let rows = open.passages.live.iter().cloned().flatten();
            rows.map(|row| Ordinal::new(open.seq, row))
        })
    }

    /// The `limit` chunks nearest to `query`, nearest first; only those in `allowed`, if given, which is sorted.
    pub(crate) fn nearest(
        &self,
        query: &[f32],
        allowed: Option<&[Ordinal]>,
        limit: usize,
    ) -> Vec<(Ordinal, f32)> {
        let stores = self.all.iter().map(|open| {
            let live = |row: &usize| open.passages.is_live(*row);
            Wanted {
                seq: open.seq,
                of: &open.passages,
                rows: allowed.map(|all| ranges(rows_of(all, open.seq).filter(live))),
            }
        });
        let found = self.near(stores, query, limit);
        let with_cosine = |ordinal| Some((ordinal, self.cosine(ordinal, query)?));
        best(found.into_iter().filter_map(with_cosine), limit)
    }

    /// The chunks of the documents with the `limit` questions nearest to `query`; only those in `allowed`, if given, which is sorted.
    pub(crate) fn asked(
        &self,
        query: &[f32],
        allowed: Option<&[Ordinal]>,
        limit: usize,
    ) -> Vec<Ordinal> {
        let stores = self.all.iter().filter_map(|open| {
            let questions = open.questions.as_ref()?;
            Some(Wanted {
                seq: open.seq,
                of: &questions.rows,
                rows: allowed.map(|all| questions.of_any(rows_of(all, open.seq))),
            })
        });
        let found = self.near(stores, query, limit);
        let chunks = found.into_iter().flat_map(|question| self.asking(question));
        let is_allowed = |row: &Ordinal| allowed.is_none_or(|a| a.binary_search(row).is_ok());
        let mut chunks: Vec<Ordinal> = chunks.filter(is_allowed).collect();
        chunks.sort_unstable();
        chunks.dedup();
        chunks
    }

    /// The chunks of the document with this question.
    fn asking(&self, question: Ordinal) -> impl Iterator<Item = Ordinal> + use<> {
        let seq = question.seq();
        let open = self.all.iter().find(|open| open.seq == seq);
        let questions = open.and_then(|open| open.questions.as_ref());
        let document = questions.and_then(|questions| questions.at(question.row()));
        let rows = document.map_or(0..0, |document| document.chunks.clone());
        rows.map(move |row| Ordinal::new(seq, row))
    }

    /// The cosine of `query` with the nearest question of the chunk's document; `None` without questions.
    /// `known` has those of the documents so far.
    pub(crate) fn question_cosine(
        &self,
        ordinal: Ordinal,
        query: &[f32],
        known: &mut HashMap<Ordinal, f32>,
    ) -> Option<f32> {
        let questions = self.segment(ordinal)?.questions.as_ref()?;
        let document = questions.of(ordinal.row())?;
        let cosine = |row| questions.rows.vectors.cosine(row, query);
        let first = Ordinal::new(ordinal.seq(), document.chunks.start);
        let nearest = || document.questions.clone().map(cosine).fold(-1.0, f32::max);
        Some(*known.entry(first).or_insert_with(nearest))
    }

    pub(crate) fn has_questions(&self) -> bool {
        self.all.iter().any(|open| open.questions.is_some())
    }

    /// The rows whose int8 vectors are nearest to `query`, somewhat more than `limit`. Vectors with a graph are searched by it, but not if
    /// only some rows are wanted, of which a graph knows nothing.
    fn near<'a>(
        &self,
        stores: impl Iterator<Item = Wanted<'a>>,
        query: &[f32],
        limit: usize,
    ) -> Vec<Ordinal> {
        if limit == 0 {
            return Vec::new();
        }
        let quantized = Quantized::new(query);
        let depth = limit + RESCORE;
        let (mut found, mut scans) = (Vec::new(), Vec::new());
        for wanted in stores {
            let Wanted { seq, of, rows } = &wanted;
            let graph = self.graphs.get(&of.checksum);
            let Some(graph) = graph.filter(|_| rows.is_none()) else {
                scans.extend(tasks(&wanted));
                continue;
            };
            let near = graph.near(&of.vectors, &quantized, depth, |row| of.is_live(row));
            found.extend(near.into_iter().map(|row| Ordinal::new(*seq, row)));
        }
        found.extend(scan(&scans, &quantized, depth));
        found
    }
}

impl Open {
    fn rows(&self) -> impl Iterator<Item = &Rows> {
        let questions = self.questions.iter().map(|questions| &questions.rows);
        std::iter::once(&self.passages).chain(questions)
    }
}

/// Vectors to search.
struct Wanted<'a> {
    seq: u32,
    of: &'a Rows,
    /// Ranges of live rows; `None` for all of them.
    rows: Option<Vec<Range<usize>>>,
}

/// A part of a segment's rows that one thread scans.
type Task<'a> = (u32, &'a Rows, Range<usize>);

/// The best first.
fn best(scored: impl Iterator<Item = (Ordinal, f32)>, limit: usize) -> Vec<(Ordinal, f32)> {
    let mut scored: Vec<(Ordinal, f32)> = scored.collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(limit);
    scored
}

/// The `depth` best rows of all tasks by their coarse cosine.
fn scan(tasks: &[Task<'_>], query: &Quantized, depth: usize) -> impl Iterator<Item = Ordinal> {
    let scan = |(seq, of, rows): &Task<'_>| {
        let mut best = Best::new(depth);
        for row in rows.clone() {
            let ordinal = Ordinal::new(*seq, row);
            best.offer(Scored(of.vectors.coarse_cosine(row, query), ordinal));
        }
        best
    };
    let rows: usize = tasks.iter().map(|(_, _, rows)| rows.len()).sum();
    let best = if rows < 2 * ROWS_PER_TASK {
        tasks.iter().map(scan).fold(Best::new(depth), Best::merge)
    } else {
        let parts = tasks.par_iter().map(scan);
        parts.reduce(|| Best::new(depth), Best::merge)
    };
    best.into_keys()
}

fn tasks<'a>(wanted: &Wanted<'a>) -> Vec<Task<'a>> {
    let &Wanted { seq, of, ref rows } = wanted;
    let ranges = rows.as_ref().unwrap_or(&of.live);
    let parts = ranges.iter().flat_map(|range| {
        let starts = range.clone().step_by(ROWS_PER_TASK);
        starts.map(move |start| (seq, of, start..range.end.min(start + ROWS_PER_TASK)))
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
            asked: Vec::new(),
            dead,
        };
        assert_eq!(live_ranges(&segment(vec![])).first(), Some(&(0..10)));
        assert_eq!(live_ranges(&segment(vec![(0, 3), (5, 2)])), [3..5, 7..10]);
        assert!(live_ranges(&segment(vec![(0, 10)])).is_empty());
    }
}
