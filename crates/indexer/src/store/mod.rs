//! What lies in the index folder: generations, segments, the lexical store, the cache of vectors.
//!
//! ```text
//! index/CURRENT                      name of the generation that is served
//! index/LOCK                         held by the one writer
//! index/SOURCE                       what a caller's documents were when it last asked, a cache
//! index/gen-…/manifest.json          versions, segments, checksums
//! index/gen-…/documents.json         which chunks belong to which document
//! index/gen-…/seg-….chunks, .vec     immutable segments, hard-linked from one generation to the next
//! index/gen-…/bm25/                  tantivy
//! index/graph/                       graphs over large segments, a cache
//! index/cache/                       vectors by model and text
//! ```
//!
//! Knows nothing of chunking, of queries or of fusion.

pub(crate) mod cache;
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
pub(crate) mod vectors;

/// Version of everything stored; see `index/README.md`.
pub(crate) const FORMAT: u32 = 1;

/// Folder of the graphs in an index.
pub(crate) const GRAPHS: &str = "graph";

/// Rows from which a graph is built and searched. At 100,000 rows the scan still takes half the graph's time and is exact
/// (`scripts/bench-index 100000 --parts prepare,warm`); its time grows with the rows, so that a graph may pay far beyond.
pub(crate) const GRAPH_FROM: usize = 1_000_000;
