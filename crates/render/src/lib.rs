//! Reports and comparisons in the forms that people read: text for a terminal, Markdown, and HTML pages.
//!
//! Everything here turns data into text; nothing is decided, read or printed. Texts of jobs and models pass through [`shown`] first, and
//! each form escapes them for where they end up.

pub mod account;
pub mod comparison;
pub mod explained;
pub mod html;
pub mod layout;
pub mod markdown;
pub mod parts;
mod shown;
pub mod style;
pub mod table;
pub mod text;
pub mod words;

pub use shown::shown;
pub use words::Words;
