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

pub(crate) mod best;
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
pub(crate) mod map;
pub(crate) mod questions;
pub(crate) mod stamp;
pub(crate) mod vectors;

/// Version of everything stored; see `index/README.md`.
pub(crate) const FORMAT: u32 = 8;

/// List of the documents with their hashes, which an update compares.
pub(crate) const DOCUMENTS: &str = "documents";

/// List of names for the same thing, which a query is expanded by.
pub(crate) const GLOSSARY: &str = "glossary";

/// Folder of the graphs in an index.
pub(crate) const GRAPHS: &str = "graph";

/// Minimum rows for a session to search by graph instead of scanning. Measured with `index_bench crossing` on paragraphs of
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
