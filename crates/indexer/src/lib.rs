//! A hybrid BM25 and vector index over a folder of Markdown knowledge.
//!
//! ```text
//! knowledge/ ─ build ─> index/<generation> ─ Index::search ─> hits        a Session keeps an Index open
//! ```
//!
//! Does not print. Independent of jobs and LLMs.

mod analyze;
pub mod build;
mod chunk;
mod context;
mod document;
pub mod embed;
mod error;
pub mod eval;
pub mod expand;
mod generated;
mod glossary;
mod guard;
pub mod lint;
mod model;
mod parallel;
mod query;
mod search;
mod settings;
mod store;
pub mod verify;

pub use chunk::section_id;
pub use embed::{EmbedError, Embedder, EmbedderChoice, OnnxModel, Reranker};
pub use error::{BuildError, Mismatch, OpenError, SearchError};
pub use guard::is_guarded;
pub use model::{
    Chunk, Confidence, Engine, Evidence, Filter, Fusion, Hit, Kind, Query, Remote, Section,
};
pub use query::Correction;
pub use report::{Language, Match};
pub use search::{Explanation, Index, Info, Room, Session, info};
pub use settings::{Rebuild, Settings};
