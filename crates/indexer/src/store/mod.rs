//! The index folder: one tantivy index, and the vectors of the chunks.
//!
//! ```text
//! index/meta.json              tantivy's list of segments; its payload is the manifest
//! index/<segment>.*            tantivy: chunks, questions that documents say they answer, and the lists below
//! index/<model>-<n>.vec        vectors by row; rows are only ever appended
//! index/LOCK                   held by the writer
//! index/CHECKED                states of the files with right checksums; a cache
//! index/graph/                 graphs over many vectors; a cache
//! ```

pub(crate) mod check;
pub(crate) mod directory;
pub(crate) mod entries;
pub(crate) mod facets;
pub(crate) mod files;
pub(crate) mod generation;
pub(crate) mod graph;
pub(crate) mod kernel;
pub(crate) mod lexical;
pub(crate) mod manifest;
pub(crate) mod questions;
pub(crate) mod stamp;
pub(crate) mod vectors;

/// Version of everything stored; see `index/README.md`.
pub(crate) const FORMAT: u32 = 9;

/// List of the documents with their hashes, which an update compares.
pub(crate) const DOCUMENTS: &str = "documents";

/// List of names for the same thing, which a query is expanded by.
pub(crate) const GLOSSARY: &str = "glossary";

/// Folder of the graphs in an index.
pub(crate) const GRAPHS: &str = "graph";

/// Minimum rows for a session to search by graph instead of scanning; `docs/performance.md` has the measurements. Building the graph takes minutes
/// from about 40,000 rows on.
pub(crate) const GRAPH_FROM: usize = 20_000;
