//! A hybrid BM25 and vector index over a folder of Markdown knowledge.
//!
//! ```text
//! knowledge/ ─ build ─> index/<generation> ─ Index::search ─> hits
//! ```
//!
//! Prints nothing, and knows nothing of jobs, of LLMs or of what the chunks are used for.

mod analyse;
pub mod build;
mod chunk;
mod context;
mod document;
pub mod embed;
mod error;
pub mod eval;
mod glossary;
pub mod lint;
mod model;
mod parallel;
mod search;
mod settings;
mod store;
pub mod verify;

pub use embed::{EmbedError, Embedder, EmbedderChoice};
pub use error::{BuildError, Mismatch, OpenError, SearchError};
pub use model::{Chunk, Confidence, Filter, Fusion, Hit, Kind, Language, Query, Section};
pub use search::{Index, Info, info};
pub use settings::{Rebuild, Reranker, Settings, VectorSearch};

/// How strongly near-duplicates are thinned out unless a query says otherwise.
pub const DEFAULT_DIVERSITY: f32 = 0.2;
