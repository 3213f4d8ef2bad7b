//! A graph (HNSW) over the vectors of one segment, for processes that stay: a cache beside the generations, checked before it is
//! loaded and built again when it does not hold.
//!
//! ```text
//! index/graph/<segment checksum>/graph.json          what the graph was made of, checksums of the two below
//! index/graph/<segment checksum>/*.hnsw.{graph,data}
//! ```
//!
//! A point is a vector in int8, as the scan reads it: a quarter of the memory of f32, and products several times faster. What the
//! graph puts forward is compared exactly by its caller, so that the coarse order costs no recall.
//!
//! No point is lost: equal points are inserted once (many copies cut others off), the rest in shuffled order (sorted clusters
//! do the same), and after the build every point is looked up; those that are not found are scanned in every query.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};

use hnsw_rs::api::AnnT;
use hnsw_rs::prelude::{Distance, Hnsw, HnswIo};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::files::replace;
use super::kernel::dot_i8;
use super::vectors::{Quantised, Vectors};

/// Neighbours per point and candidates while building.
const NEIGHBOURS: usize = 16;
const BUILD_CANDIDATES: usize = 200;
const LAYERS: usize = 16;

/// Candidates while searching, at least.
const SEARCH_CANDIDATES: usize = 128;

/// Rows beyond those wanted that are put forward, since the order in int8 is not quite the exact one.
const SPARE: usize = 50;

const NAME: &str = "segment";
const NOTE: &str = "graph.json";

/// Bytes after the cells of a point: its scale, f32.
const SCALE: usize = 4;

/// `1 - cosine` of two points, never negative: rounding would otherwise make equal points nearer than equal.
#[derive(Default, Clone, Copy)]
struct Coarse;

impl Distance<i8> for Coarse {
    fn eval(&self, a: &[i8], b: &[i8]) -> f32 {
        let ((a, a_scale), (b, b_scale)) = (parts(a), parts(b));
        (1.0 - dot_i8(a, b) as f32 * a_scale * b_scale).max(0.0)
    }
}

fn point(cells: &[i8], scale: f32) -> Vec<i8> {
    let scale = scale.to_le_bytes().map(|byte| byte as i8);
    [cells, &scale].concat()
}

fn parts(point: &[i8]) -> (&[i8], f32) {
    match point.split_last_chunk::<SCALE>() {
        Some((cells, scale)) => (cells, f32::from_le_bytes(scale.map(|byte| byte as u8))),
        None => (point, 0.0),
    }
}

/// A graph in memory.
pub(crate) struct Graph {
    hnsw: Hnsw<'static, i8, Coarse>,
    note: Note,
}

/// `graph.json`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Note {
    /// Checksum of the segment that it was built from.
    segment: String,
    /// Points in the graph.
    points: usize,
    /// Further rows with the cells of a row in the graph.
    copies: HashMap<usize, Vec<usize>>,
    /// Rows that the graph does not find.
    strays: Vec<usize>,
    /// Checksums of the dumped files.
    files: HashMap<String, String>,
}

impl Graph {
    /// Builds and audits a graph over all rows of a segment with this checksum. Deterministic.
    pub(crate) fn build(vectors: &Vectors, segment: &str) -> Graph {
        let (points, copies) = distinct(vectors);
        let hnsw = Hnsw::new(
            NEIGHBOURS,
            points.len().max(1),
            LAYERS,
            BUILD_CANDIDATES,
            Coarse,
        );
        for (row, point) in &points {
            hnsw.insert((point, *row));
        }
        let mut graph = Graph {
            hnsw,
            note: Note {
                segment: segment.to_owned(),
                points: points.len(),
                copies,
                ..Note::default()
            },
        };
        graph.note.strays = points
            .par_iter()
            .filter(|(row, point)| !graph.found(point, 10).contains(row))
            .map(|&(row, _)| row)
            .collect();
        graph.note.strays.sort_unstable();
        graph
    }

    /// Rows near to `query`: the `limit` nearest with all likelihood, some more and the strays, in no order; their exact scores are
    /// the caller's to compute.
    pub(crate) fn rows(&self, query: &Quantised, limit: usize) -> Vec<usize> {
        let mut out = self.found(&point(&query.cells, query.scale), limit + SPARE);
        let copies: Vec<usize> = out
            .iter()
            .filter_map(|row| self.note.copies.get(row))
            .flatten()
            .copied()
            .collect();
        out.extend(copies);
        out.extend(&self.note.strays);
        out.sort_unstable();
        out.dedup();
        out
    }

    fn found(&self, point: &[i8], limit: usize) -> Vec<usize> {
        if self.note.points == 0 {
            return Vec::new();
        }
        let candidates = SEARCH_CANDIDATES.max(limit + limit / 4);
        let hits = self.hnsw.search(point, limit, candidates);
        hits.into_iter().map(|hit| hit.d_id).collect()
    }

    /// Writes the graph below `folder`, complete or not at all.
    pub(crate) fn save(&mut self, folder: &Path) -> Result<(), String> {
        let target = place(folder, &self.note.segment);
        // The library writes beside what is there, under another name; a fresh folder has its own.
        let _ = fs::remove_dir_all(&target);
        fs::create_dir_all(&target).map_err(|error| error.to_string())?;
        if self.note.points > 0 {
            let dumped = self.hnsw.file_dump(&target, NAME);
            dumped.map_err(|error| error.to_string())?;
        }
        self.note.files = sums(&target)?;
        // The note comes last: without it the folder is not a graph.
        let note = serde_json::to_vec(&self.note).map_err(|error| error.to_string())?;
        replace(&target.join(NOTE), &note).map_err(|error| error.to_string())
    }

    /// The graph of the segment with this checksum; `None` if there is none or it does not hold. Every byte is checked first,
    /// since the library panics or ends the process on a damaged file.
    pub(crate) fn load(folder: &Path, segment: &str) -> Option<Graph> {
        let folder = place(folder, segment);
        let note: Note = serde_json::from_slice(&fs::read(folder.join(NOTE)).ok()?).ok()?;
        if note.segment != segment || note.points == 0 || sums(&folder).ok()? != note.files {
            return None;
        }
        // The graph borrows its reader, though it maps nothing; a resident process loads few and keeps them.
        let reader: &'static HnswIo = Box::leak(Box::new(HnswIo::new(&folder, NAME)));
        let hnsw = reader.load_hnsw_with_dist(Coarse).ok()?;
        (hnsw.get_nb_point() == note.points).then_some(Graph { hnsw, note })
    }
}

/// Removes the graphs of segments that are not among `kept`.
pub(crate) fn collect(folder: &Path, kept: &[&str]) {
    let kept: Vec<PathBuf> = kept.iter().map(|segment| place(folder, segment)).collect();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !kept.contains(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn place(folder: &Path, segment: &str) -> PathBuf {
    folder.join(segment.chars().take(32).collect::<String>())
}

/// A row and its cells, those of its direction alone.
type Point = (usize, Vec<i8>);

/// One row per distinct point in shuffled order, and the further rows of each. Zero vectors are found by words only.
fn distinct(vectors: &Vectors) -> (Vec<Point>, HashMap<usize, Vec<usize>>) {
    let mut first: HashMap<Vec<i8>, usize> = HashMap::new();
    let mut copies: HashMap<usize, Vec<usize>> = HashMap::new();
    for row in 0..vectors.len() {
        let (cells, scale) = vectors.coarse(row);
        if scale == 0.0 {
            continue;
        }
        match first.entry(point(cells, scale)) {
            Entry::Occupied(known) => copies.entry(*known.get()).or_default().push(row),
            Entry::Vacant(place) => {
                place.insert(row);
            }
        }
    }
    let mut points: Vec<Point> = first.into_iter().map(|(point, row)| (row, point)).collect();
    // An order that has nothing to do with the documents, and is the same every time.
    points.sort_by_key(|&(row, _)| {
        let mixed = (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed.rotate_left(32), row)
    });
    (points, copies)
}

fn sums(folder: &Path) -> Result<HashMap<String, String>, String> {
    let mut out = HashMap::new();
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != NOTE {
            let bytes = fs::read(entry.path()).map_err(|error| error.to_string())?;
            out.insert(name, blake3::hash(&bytes).to_hex().to_string());
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::vectors::{self, text_hash};

    /// Clustered unit vectors with some exact copies, sorted by cluster: what loses points when inserted as it comes.
    fn sample(count: usize, dimension: usize) -> (tempfile::TempDir, Vectors) {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let mut rows: Vec<Vec<f32>> = Vec::new();
        let mut centre = vec![0.0; dimension];
        for row in 0..count {
            if row % 50 == 0 {
                centre = (0..dimension).map(|_| random()).collect();
            }
            let copy = row % 50 > 40;
            let mut vector: Vec<f32> = centre
                .iter()
                .map(|c| if copy { *c } else { c + 0.3 * random() })
                .collect();
            let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
            vector.iter_mut().for_each(|v| *v /= length);
            rows.push(vector);
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.vec");
        let hashes: Vec<_> = (0..count).map(|row| text_hash(&row.to_string())).collect();
        let slices: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        vectors::write(&path, dimension, &slices, &hashes).expect("written");
        let open = Vectors::open(&path).expect("opened");
        (folder, open)
    }

    fn lost(graph: &Graph, vectors: &Vectors) -> usize {
        let reached = |&row: &usize| {
            let query = Quantised::new(vectors.exact(row));
            graph.rows(&query, 10).contains(&row)
        };
        (0..vectors.len()).filter(|row| !reached(row)).count()
    }

    #[test]
    fn every_point_is_reached_and_recall_is_high() {
        // Larger sizes take minutes without optimisation: INDEXER_GRAPH_SIZES="30000 100000" and --release.
        let sizes =
            std::env::var("INDEXER_GRAPH_SIZES").unwrap_or_else(|_| "1 10 300 1000".to_owned());
        for count in sizes
            .split_whitespace()
            .filter_map(|size| size.parse().ok())
        {
            let (_folder, vectors) = sample(count, 32);
            let graph = Graph::build(&vectors, "sum");
            assert_eq!(lost(&graph, &vectors), 0, "{count} points");
            let (mut found, mut wanted) = (0, 0);
            for row in (0..count).step_by(count.div_ceil(50)) {
                let query = vectors.exact(row);
                let mut exact: Vec<f32> =
                    (0..count).map(|row| vectors.cosine(row, query)).collect();
                let rows = graph.rows(&Quantised::new(query), 10);
                let mut near: Vec<f32> =
                    rows.iter().map(|&row| vectors.cosine(row, query)).collect();
                exact.sort_by(|a, b| b.total_cmp(a));
                near.sort_by(|a, b| b.total_cmp(a));
                let depth = count.min(10);
                wanted += depth;
                // Equal scores are equally right.
                found += near
                    .iter()
                    .take(depth)
                    .zip(&exact)
                    .filter(|(a, b)| (*a - *b).abs() < 1e-6)
                    .count();
            }
            assert!(
                found as f64 >= 0.99 * wanted as f64,
                "{found} of {wanted} at {count} points"
            );
        }
    }

    #[test]
    fn a_graph_comes_back_and_a_damaged_one_does_not() {
        let (folder, vectors) = sample(300, 16);
        let mut graph = Graph::build(&vectors, "sum");
        graph.save(folder.path()).expect("saved");
        let again = Graph::load(folder.path(), "sum").expect("loaded");
        assert_eq!(lost(&again, &vectors), 0);
        assert!(Graph::load(folder.path(), "other").is_none());
        for name in again.note.files.keys() {
            let path = place(folder.path(), "sum").join(name);
            let bytes = fs::read(&path).expect("read");
            fs::write(&path, &bytes[..bytes.len() / 2]).expect("cut");
            assert!(Graph::load(folder.path(), "sum").is_none(), "{name} is cut");
            fs::write(&path, &bytes).expect("restored");
        }
        assert!(Graph::load(folder.path(), "sum").is_some());
        collect(folder.path(), &[]);
        assert!(Graph::load(folder.path(), "sum").is_none());
    }

    #[test]
    fn a_segment_without_vectors_has_no_graph() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.vec");
        vectors::write(&path, 2, &[&[0.0, 0.0]], &[text_hash("a")]).expect("written");
        let open = Vectors::open(&path).expect("opened");
        let mut graph = Graph::build(&open, "sum");
        assert!(graph.rows(&Quantised::new(&[1.0, 0.0]), 5).is_empty());
        graph.save(&folder.path().join("graph")).expect("saved");
        assert!(Graph::load(&folder.path().join("graph"), "sum").is_none());
    }
}
