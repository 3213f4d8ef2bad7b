//! A question to an open index: two branches, one list.

mod fuse;
mod index;
mod info;
mod rerank;
mod segments;
mod thin;

pub use index::Index;
pub use info::{Info, info};
