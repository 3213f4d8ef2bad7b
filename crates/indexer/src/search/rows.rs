//! The vector branch of an open index: an exact scan or, in a session, by graph.

use std::borrow::Cow;

use rayon::prelude::*;

use super::index::Index;
use crate::store::graph::Graph;
use crate::store::lexical::{Ranking, Row, best};
use crate::store::manifest::Ordinal;
use crate::store::vectors::Quantized;

/// Rows per task of a parallel scan. Below two tasks one thread does it all: waking the pool costs as much as scanning
/// some ten thousand rows.
const ROWS_PER_TASK: usize = 16_384;

/// Candidates of the coarse comparison in addition to the wanted ones: with 50 for 10, recall against an
/// exact scan is 1.0000.
const RESCORE: usize = 50;

impl Index {
    /// `query` has length 1.
    pub(super) fn cosine(&self, chunk: Ordinal, query: &[f32]) -> Option<f32> {
        let row = self.row(chunk)?;
        Some(self.held.vectors.cosine(row, query))
    }

    /// Row of the chunk's vector.
    pub(super) fn row(&self, chunk: Ordinal) -> Option<usize> {
        let row = self.lexical.row(chunk);
        row.filter(|row| *row < self.held.vectors.len())
    }

    /// The live chunks by row; read at the first search by vector.
    fn live(&self) -> &[Row] {
        self.live.get_or_init(|| {
            let mut live = self.lexical.rows();
            live.retain(|&(row, _)| (row as usize) < self.held.vectors.len());
            live
        })
    }

    /// The `limit` chunks nearest to `query`, nearest first; with `allowed`, only these chunks.
    pub(crate) fn nearest(
        &self,
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
            None => Cow::Borrowed(self.live()),
            Some(allowed) => {
                let row = |&chunk: &Ordinal| Some((self.row(chunk)? as u32, chunk));
                let mut rows: Vec<Row> = allowed.iter().filter_map(row).collect();
                rows.sort_unstable();
                Cow::Owned(rows)
            }
        };
        let found = match self.graphs.over(&self.held.manifest.vectors, rows.len()) {
            None => self.scan(&rows, &quantized, depth),
            Some(graph) => {
                let mut found = self.by_graph(&graph, &rows, &quantized, depth);
                let newer = first_from(&rows, graph.rows());
                found.extend(self.scan(&rows[newer..], &quantized, depth));
                found
            }
        };
        let scored = found.into_iter();
        let scored =
            scored.map(|(row, chunk)| (chunk, self.held.vectors.cosine(row as usize, query)));
        best(scored.collect(), limit)
    }

    fn by_graph(&self, graph: &Graph, rows: &[Row], query: &Quantized, depth: usize) -> Vec<Row> {
        let of_row = |row: usize| {
            let same = rows[first_from(rows, row)..].iter();
            same.take_while(move |(other, _)| *other as usize == row)
        };
        let is_wanted = |row: usize| of_row(row).next().is_some();
        let near = graph.near(&self.held.vectors, query, depth, is_wanted);
        near.into_iter().flat_map(of_row).copied().collect()
    }

    /// The `depth` best rows by their coarse cosine.
    fn scan(&self, rows: &[Row], query: &Quantized, depth: usize) -> Vec<Row> {
        let score = |row: &Row| (*row, self.held.vectors.coarse_cosine(row.0 as usize, query));
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
