//! Reports and comparisons in the forms that people read: text for a terminal, Markdown, and HTML pages.
//!
//! Everything here turns data into text, without decisions, reads or prints. No character of a job's or a model's text acts: [`shown`]
//! replaces such characters for terminals and Markdown, and pages escape every printed text ([`html::escape`]).

pub mod account;
pub mod comparison;
pub mod explained;
pub mod history;
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
