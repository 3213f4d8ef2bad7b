//! The vector branch of an open index: an exact scan or, in a session, by graph.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::graphs::Graphs;
use crate::store::graph::Graph;
use crate::store::lexical::{Lexical, Ranking, best};
use crate::store::manifest::Ordinal;
use crate::store::vectors::{Quantized, Vectors};

/// Rows per task of a parallel scan. Below two tasks one thread does it all: waking the pool costs as much as scanning
/// some ten thousand rows.
const ROWS_PER_TASK: usize = 16_384;

/// Candidates of the coarse comparison in addition to the wanted ones: with 50 for 10, recall against an
/// exact scan is 1.0000.
const RESCORE: usize = 50;

/// A live chunk and the row of its vector.
type Row = (u32, Ordinal);

pub(crate) struct Rows {
    /// Name of the file of vectors.
    file: String,
    vectors: Arc<Vectors>,
    /// Sorted; read at the first search by vector.
    live: OnceLock<Vec<Row>>,
    graphs: Arc<Graphs>,
}

impl Rows {
    pub(crate) fn new(file: String, vectors: Arc<Vectors>, graphs: Arc<Graphs>) -> Rows {
        Rows {
            file,
            vectors,
            live: OnceLock::new(),
            graphs,
        }
    }

    /// `query` has length 1.
    pub(crate) fn cosine(&self, row: usize, query: &[f32]) -> Option<f32> {
        let is_there = row < self.vectors.len();
        is_there.then(|| self.vectors.cosine(row, query))
    }

    /// Cosine of the vectors of two chunks.
    pub(crate) fn between(&self, a: usize, b: usize) -> f32 {
        match a.max(b) < self.vectors.len() {
            true => self.vectors.between(a, b),
            false => 0.0,
        }
    }

    pub(crate) fn live(&self, chunks: &Lexical) -> &[Row] {
        self.live.get_or_init(|| {
            let mut live = chunks.rows();
            live.retain(|&(row, _)| (row as usize) < self.vectors.len());
            live
        })
    }

    /// The `limit` chunks nearest to `query`, nearest first; with `allowed`, only these chunks.
    pub(crate) fn nearest(
        &self,
        chunks: &Lexical,
        query: &[f32],
        allowed: Option<&[Ordinal]>,
        limit: usize,
    ) -> Ranking {
        if limit == 0 {
            return Ranking::new();
        }
        let quantized = Quantized::new(query);
        let depth = limit + RESCORE;
        let rows = match allowed {
            None => Cow::Borrowed(self.live(chunks)),
            Some(allowed) => Cow::Owned(self.rows_of(chunks, allowed)),
        };
        let found = match self.graphs.over(&self.file, rows.len()) {
            None => self.scan(&rows, &quantized, depth),
            Some(graph) => {
                let mut found = self.by_graph(&graph, &rows, &quantized, depth);
                let newer = first_from(&rows, graph.rows());
                found.extend(self.scan(&rows[newer..], &quantized, depth));
                found
            }
        };
        let scored = found.into_iter();
        let scored = scored.map(|(row, chunk)| (chunk, self.vectors.cosine(row as usize, query)));
        best(scored.collect(), limit)
    }

    /// The chunks and their rows, sorted by row.
    fn rows_of(&self, chunks: &Lexical, allowed: &[Ordinal]) -> Vec<Row> {
        let row = |&chunk: &Ordinal| {
            let row = chunks.row(chunk)?;
            (row < self.vectors.len()).then_some((row as u32, chunk))
        };
        let mut rows: Vec<Row> = allowed.iter().filter_map(row).collect();
        rows.sort_unstable();
        rows
    }

    fn by_graph(&self, graph: &Graph, rows: &[Row], query: &Quantized, depth: usize) -> Vec<Row> {
        let of_row = |row: usize| {
            let same = rows[first_from(rows, row)..].iter();
            same.take_while(move |(other, _)| *other as usize == row)
        };
        let is_wanted = |row: usize| of_row(row).next().is_some();
        let near = graph.near(&self.vectors, query, depth, is_wanted);
        near.into_iter().flat_map(of_row).copied().collect()
    }

    /// The `depth` best rows by their coarse cosine.
    fn scan(&self, rows: &[Row], query: &Quantized, depth: usize) -> Vec<Row> {
        let score = |row: &Row| (*row, self.vectors.coarse_cosine(row.0 as usize, query));
        let scored = if rows.len() < 2 * ROWS_PER_TASK {
            rows.iter().map(score).collect()
        } else {
            let rows = rows.par_iter().with_min_len(ROWS_PER_TASK);
            rows.map(score).collect()
        };
        best(scored, depth)
            .into_iter()
            .map(|(row, _)| row)
            .collect()
    }
}

/// Position of the first chunk from `row` on.
fn first_from(rows: &[Row], row: usize) -> usize {
    rows.partition_point(|(other, _)| (*other as usize) < row)
}
