//! Search: two branches, one list.

mod fit;
mod fuse;
mod graphs;
mod index;
mod info;
mod segments;
mod session;
mod thin;

pub use index::Index;
pub use info::{Info, info};
pub use session::Session;
