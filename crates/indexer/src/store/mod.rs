//! The index folder: generations, segments, the lexical store, the vector cache.
//!
//! ```text
//! index/CURRENT                      name of the current generation
//! index/LOCK                         held by the writer
//! index/SOURCE                       which documents the caller last built from; a cache
//! index/gen-…/manifest.json          versions, segments, checksums
//! index/gen-…/CHECKED                that the files had these checksums; a cache
//! index/gen-…/documents.json         which chunks belong to which document
//! index/gen-…/seg-….chunks, .vec     immutable segments, hard-linked from one generation to the next
//! index/gen-…/bm25/                  tantivy: the chunks
//! index/gen-…/questions/             tantivy: the questions that documents say they answer, if there are any
//! index/graph/                       graphs over large segments; a cache
//! index/cache/                       vectors by model and text
//! ```

pub(crate) mod best;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod chunks;
pub(crate) mod directory;
pub(crate) mod facets;
pub(crate) mod files;
pub(crate) mod generation;
pub(crate) mod graph;
pub(crate) mod kernel;
pub(crate) mod lexical;
pub(crate) mod manifest;
pub(crate) mod map;
pub(crate) mod mark;
pub(crate) mod questions;
pub(crate) mod stamp;
pub(crate) mod vectors;

/// Version of everything stored; see `index/README.md`.
pub(crate) const FORMAT: u32 = 5;

/// Folder of the graphs in an index.
pub(crate) const GRAPHS: &str = "graph";

/// Minimum rows for a session to search a segment by graph instead of scanning it. Measured with `index_bench crossing` on paragraphs of
/// documentation, 512 components, one thread; milliseconds of a query's vector branch, and the graph's recall of the ten nearest (target
/// .99):
///
/// ```text
/// rows     5,009   10,017   20,043   40,100   80,185
/// scan      0.84     1.35     1.69    12.01     8.01
/// graph     1.14     1.36     1.53     2.23     1.33
/// recall  1.0000    .9985    .9970    .9970    .9965
/// ```
/// The machine was busy, so compare within a column. Building the graph takes minutes from about 40,000 rows on.
pub(crate) const GRAPH_FROM: usize = 20_000;
