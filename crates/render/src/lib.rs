//! Reports and comparisons in the forms that people read: text for a terminal, Markdown, and HTML pages.
//!
//! Everything here turns data into text; nothing is decided, read or printed. No character of a job's or a model's text acts: texts of
//! terminals and Markdown pass through [`shown`] first, those of pages are escaped where they are printed ([`html::escape`]).

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
