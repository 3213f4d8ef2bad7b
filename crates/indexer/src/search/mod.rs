//! Search: two branches, one list.

mod excerpt;
mod explain;
mod fit;
mod fuse;
mod graphs;
mod hits;
mod index;
mod info;
mod lead;
mod passages;
mod rows;
mod session;
mod thin;

pub use excerpt::Room;
pub use explain::Explanation;
pub use index::Index;
pub use info::{Info, info};
pub use session::Session;
