//! A graph (HNSW) over the first rows of a file of vectors, for sessions that keep an index open: a cache next to the generations, checked when it
//! is opened and rebuilt when it is damaged.
//!
//! hnsw_rs builds the graph. Its lowest layer is kept, with the rows of the upper layers as entry points. The search here runs over the
//! mapped int8 vectors: no second copy of the vectors in memory, and no panic of the library on a damaged file. The caller compares
//! the candidates exactly, so the coarse order costs no recall.
//!
//! No row is lost: equal points are inserted once (many copies cut others off), the rest in shuffled order (sorted clusters do the same),
//! and after the build every point is looked up; those not found (`strays`) are candidates of every query.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::{fs, iter};

use hnsw_rs::prelude::{Distance, Hnsw};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::files::{open_regular, replace};
use super::kernel::dot_i8;
use super::vectors::{Quantized, Vectors};

/// Neighbors per point on the upper layers (twice as many on the lowest), and candidates while building.
const NEIGHBORS: usize = 16;
const BUILD_CANDIDATES: usize = 200;
const LAYERS: usize = 16;

/// Rows of this layer and above are entry points: one in 256, so that comparing all of them costs less than a descent.
const ENTRY_LAYER: u8 = 2;

/// Candidates of a search, at least.
const SEARCH_CANDIDATES: usize = 128;

/// Saved as postcard, after its BLAKE3.
#[derive(Serialize, Deserialize)]
pub(crate) struct Graph {
    /// By row; none for zero vectors, which only words find, and for copies.
    neighbors: Vec<Vec<u32>>,
    entries: Vec<u32>,
    /// Rows with the vector of an earlier row, after that row; sorted.
    copies: Vec<(u32, u32)>,
    strays: Vec<u32>,
}

impl Graph {
    /// Opens the graph of a file with `rows` vectors; `None` if it is missing or damaged.
    pub(crate) fn open(folder: &Path, file: &str, rows: usize) -> Option<Graph> {
        let (mut saved, _) = open_regular(&place(folder, file)).ok()?;
        let mut bytes = Vec::new();
        saved.read_to_end(&mut bytes).ok()?;
        let (sum, graph) = bytes.split_first_chunk::<32>()?;
        let is_whole = blake3::hash(graph) == *sum;
        let graph: Graph = postcard::from_bytes(graph).ok().filter(|_| is_whole)?;
        (graph.rows() <= rows).then_some(graph)
    }

    fn save(&self, folder: &Path, file: &str) -> io::Result<()> {
        let graph = postcard::to_stdvec(self).map_err(io::Error::other)?;
        let sum = blake3::hash(&graph);
        fs::create_dir_all(folder)?;
        replace(&place(folder, file), &[sum.as_bytes(), &*graph].concat())
    }

    /// Rows that the graph covers.
    pub(crate) fn rows(&self) -> usize {
        self.neighbors.len()
    }

    /// Builds and saves the graph of the first `rows` of a file; deterministic. `None` if `stop` interrupts it.
    pub(crate) fn build(
        vectors: &Vectors,
        rows: usize,
        folder: &Path,
        file: &str,
        stop: impl Fn() -> bool,
    ) -> io::Result<Option<Graph>> {
        let points = points(vectors, rows);
        let most = points.len().max(1);
        let hnsw = Hnsw::new(NEIGHBORS, most, LAYERS, BUILD_CANDIDATES, Coarse);
        for (point, rows) in &points {
            if stop() {
                return Ok(None);
            }
            hnsw.insert((point, rows[0] as usize));
        }
        let mut graph = Graph::of(&hnsw, rows, &points);
        drop(hnsw);
        let is_lost = |row: usize| {
            let own = vectors.stored(row);
            !graph.near(vectors, &own, 1, |_| true).contains(&row)
        };
        let firsts = points.par_iter().map(|(_, rows)| rows[0]);
        graph.strays = firsts.filter(|&row| is_lost(row as usize)).collect();
        graph.save(folder, file)?;
        Ok(Some(graph))
    }

    fn of(hnsw: &Hnsw<'_, i8, Coarse>, rows: usize, points: &[Point]) -> Graph {
        let mut neighbors = vec![Vec::new(); rows];
        let mut by_layer: Vec<(u8, u32)> = Vec::with_capacity(points.len());
        // The library has no iterator over zero points.
        let stored = (!points.is_empty()).then(|| hnsw.get_point_indexation());
        for point in stored.into_iter().flatten() {
            let row = point.get_origin_id();
            let lowest = point.get_neighborhood_id().into_iter().next();
            let near = lowest.into_iter().flatten();
            neighbors[row] = near.map(|near| near.d_id as u32).collect();
            by_layer.push((point.get_point_id().0, row as u32));
        }
        let top = by_layer.iter().map(|&(layer, _)| layer).max().unwrap_or(0);
        by_layer.retain(|&(layer, _)| layer >= top.min(ENTRY_LAYER));
        let copies = points.iter().map(|(_, rows)| rows);
        let copies = copies.flat_map(|rows| rows[1..].iter().map(|&copy| (rows[0], copy)));
        let mut copies: Vec<(u32, u32)> = copies.collect();
        copies.sort_unstable();
        Graph {
            neighbors,
            entries: by_layer.into_iter().map(|(_, row)| row).collect(),
            copies,
            strays: Vec::new(),
        }
    }

    /// Rows near `query`, ascending; they most likely include the `limit` nearest. Only rows that `keep` accepts.
    pub(crate) fn near(
        &self,
        vectors: &Vectors,
        query: &Quantized,
        limit: usize,
        keep: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        // The rows of a point.
        let group = |row: u32| {
            let first = self.copies.partition_point(|pair| pair.0 < row);
            let same = self.copies[first..]
                .iter()
                .take_while(move |pair| pair.0 == row);
            let rows = iter::once(row).chain(same.map(|pair| pair.1));
            rows.map(|row| row as usize).filter(|&row| keep(row))
        };
        let limit = limit.max(SEARCH_CANDIDATES);
        // The worst of the best is on top, and the best of the open points.
        let (mut best, mut open) = (BinaryHeap::new(), BinaryHeap::new());
        let mut seen = vec![false; self.rows()];
        let mut near = self.entries.as_slice();
        loop {
            for &row in near {
                if std::mem::replace(&mut seen[row as usize], true) {
                    continue;
                }
                let score = order(vectors.coarse_cosine(row as usize, query));
                let is_full = best.len() >= limit;
                if is_full
                    && best
                        .peek()
                        .is_some_and(|&Reverse((worst, _))| score <= worst)
                {
                    continue;
                }
                open.push((score, Reverse(row)));
                if group(row).next().is_some() {
                    best.push(Reverse((score, Reverse(row))));
                    if is_full {
                        best.pop();
                    }
                }
            }
            match (open.pop(), best.peek()) {
                (Some((score, _)), Some(&Reverse((worst, _))))
                    if best.len() >= limit && score < worst =>
                {
                    break;
                }
                (Some((_, Reverse(row))), _) => near = &self.neighbors[row as usize],
                (None, _) => break,
            }
        }
        let found = best.into_iter().map(|Reverse((_, Reverse(row)))| row);
        let found = found.chain(self.strays.iter().copied());
        let mut rows: Vec<usize> = found.flat_map(group).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

/// A number in the order of the scores.
fn order(score: f32) -> i32 {
    let bits = score.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

/// Removes the graphs of other files of vectors. A failed removal is tried again at the next update.
pub(crate) fn collect(folder: &Path, file: &str) {
    let kept = place(folder, file);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path() != kept {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn place(folder: &Path, file: &str) -> PathBuf {
    folder.join(file).with_extension("graph")
}

/// A point of the graph: the cells of a vector and the bytes of its scale, and the rows with that vector.
type Point = (Vec<i8>, Vec<u32>);

/// The points in a pseudo-random order, independent of the documents and the same every time. Zero vectors are left out: only words find them.
fn points(vectors: &Vectors, rows: usize) -> Vec<Point> {
    let mut points: BTreeMap<Vec<i8>, Vec<u32>> = BTreeMap::new();
    for row in 0..rows {
        let (cells, scale) = vectors.coarse(row);
        if scale != 0.0 {
            let scale = scale.to_le_bytes().map(|byte| byte as i8);
            let rows = points.entry([cells, &scale].concat()).or_default();
            rows.push(row as u32);
        }
    }
    let mut points: Vec<Point> = points.into_iter().collect();
    points.sort_by_key(|(_, rows)| {
        let mixed = u64::from(rows[0]).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed.rotate_left(32), rows[0])
    });
    points
}

/// `1 - cosine` of two points, never negative: rounding would otherwise make equal points nearer than equal.
#[derive(Default, Clone, Copy)]
struct Coarse;

impl Distance<i8> for Coarse {
    fn eval(&self, a: &[i8], b: &[i8]) -> f32 {
        let ((a, a_scale), (b, b_scale)) = (parts(a), parts(b));
        (1.0 - dot_i8(a, b) as f32 * a_scale * b_scale).max(0.0)
    }
}

fn parts(point: &[i8]) -> (&[i8], f32) {
    match point.split_last_chunk() {
        Some((cells, scale)) => (cells, f32::from_le_bytes(scale.map(|byte| byte as u8))),
        None => (point, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::vectors::{VectorsWriter, text_hash};

    /// Clustered unit vectors with some exact copies, sorted by cluster: inserted in this order, points would be lost.
    fn sample(count: usize, dimension: usize) -> (tempfile::TempDir, Vectors) {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let mut rows: Vec<Vec<f32>> = Vec::new();
        let mut center = vec![0.0; dimension];
        for row in 0..count {
            if row % 50 == 0 {
                center = (0..dimension).map(|_| random()).collect();
            }
            let noise = if row % 50 > 40 { 0.0 } else { 0.3 };
            let mut vector: Vec<f32> = center.iter().map(|c| c + noise * random()).collect();
            let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
            vector.iter_mut().for_each(|v| *v /= length);
            rows.push(vector);
        }
        written(dimension, &rows)
    }

    fn written(dimension: usize, rows: &[Vec<f32>]) -> (tempfile::TempDir, Vectors) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.vec");
        let hash = |row: usize| text_hash(&row.to_string());
        let hashes: Vec<_> = (0..rows.len()).map(hash).collect();
        let mut writer = VectorsWriter::open(&path, dimension).expect("created");
        writer.add(&hashes, rows).expect("written");
        let open = Vectors::open(&path).expect("opened");
        (folder, open)
    }

    fn build(folder: &tempfile::TempDir, vectors: &Vectors) -> Graph {
        let graph =
            Graph::build(vectors, vectors.len(), folder.path(), "sum", || false).expect("written");
        graph.expect("nothing stopped it")
    }

    fn lost(graph: &Graph, vectors: &Vectors) -> usize {
        let reached = |&row: &usize| {
            graph
                .near(vectors, &vectors.stored(row), 10, |_| true)
                .contains(&row)
        };
        (0..vectors.len()).filter(|row| !reached(row)).count()
    }

    #[test]
    fn every_point_is_reached_and_recall_is_high() {
        // Larger sizes take minutes without optimization: INDEXER_GRAPH_SIZES="30000 100000" and --release.
        let sizes = std::env::var("INDEXER_GRAPH_SIZES");
        let sizes = sizes.unwrap_or_else(|_| "1 10 300 1000".to_owned());
        for count in sizes.split_whitespace().flat_map(str::parse) {
            let (folder, vectors) = sample(count, 32);
            let graph = build(&folder, &vectors);
            assert_eq!(lost(&graph, &vectors), 0, "{count} points");
            let (mut found, mut wanted) = (0, 0);
            for row in (0..count).step_by(count.div_ceil(50)) {
                let best = |rows: &mut dyn Iterator<Item = usize>| -> Vec<f32> {
                    let cosines = rows.map(|other| vectors.between(other, row));
                    let mut cosines: Vec<f32> = cosines.collect();
                    cosines.sort_by(|a, b| b.total_cmp(a));
                    cosines.truncate(10);
                    cosines
                };
                let near = graph.near(&vectors, &vectors.stored(row), 10, |_| true);
                let exact = best(&mut (0..count));
                wanted += exact.len();
                // Equal scores are equally right.
                let pairs = best(&mut near.into_iter()).into_iter().zip(exact);
                found += pairs.filter(|(a, b)| (a - b).abs() < 1e-6).count();
            }
            let recall = found as f64 / wanted as f64;
            assert!(recall >= 0.99, "{recall} at {count} points");
        }
    }

    #[test]
    fn dead_rows_neither_appear_nor_hide_their_copies() {
        let (folder, vectors) = sample(300, 16);
        let graph = build(&folder, &vectors);
        // Rows 41 to 49 are copies of one vector.
        let query = vectors.stored(41);
        let near = graph.near(&vectors, &query, 10, |row| row % 2 == 0);
        assert!(near.iter().all(|row| row % 2 == 0));
        let copies = [42, 44, 46, 48];
        assert!(copies.iter().all(|row| near.contains(row)), "{near:?}");
    }

    #[test]
    fn a_graph_is_opened_again_and_a_damaged_one_is_not() {
        let (folder, vectors) = sample(300, 16);
        build(&folder, &vectors);
        let open = |segment: &str| Graph::open(folder.path(), segment, 300);
        assert_eq!(lost(&open("sum").expect("opened"), &vectors), 0);
        assert!(open("other").is_none());
        let path = place(folder.path(), "sum");
        let bytes = fs::read(&path).expect("read");
        let mut flipped = bytes.clone();
        flipped[100] ^= 1;
        for damaged in [&bytes[..bytes.len() / 2], &bytes[..20], &flipped] {
            fs::write(&path, damaged).expect("written");
            assert!(open("sum").is_none(), "{} bytes", damaged.len());
        }
        fs::write(&path, &bytes).expect("restored");
        assert!(open("sum").is_some());
    }

    #[test]
    fn zero_vectors_are_not_in_the_graph_and_a_build_can_be_stopped() {
        let (folder, vectors) = written(2, &[vec![0.0, 0.0]]);
        let graph = build(&folder, &vectors);
        let query = Quantized::new(&[1.0, 0.0]);
        assert!(graph.near(&vectors, &query, 5, |_| true).is_empty());
        let (folder, vectors) = sample(300, 16);
        let stopped = Graph::build(&vectors, 300, folder.path(), "sum", || true);
        assert!(stopped.expect("no error").is_none());
    }
}
