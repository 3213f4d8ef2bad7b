//! Questions that a program made for the pages of a folder, in `questions.toml` next to them. The pages are complete without the file.
//!
//! ```toml
//! made = "how the questions were made"
//!
//! [pages]
//! "skew-join-hot-key.md" = [
//! "one vertex reads most rows",
//! ]
//! ```

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::document::{Problem, toml_problem};

const FILE: &str = "questions.toml";

/// Questions by path of their page.
pub(crate) type Questions = HashMap<String, Vec<String>>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// How the questions were made.
    pub(crate) made: String,
    /// Questions by the name of the page's file.
    pub(crate) pages: BTreeMap<String, Vec<String>>,
}

impl File {
    pub(crate) fn parse(text: &str) -> Result<File, Problem> {
        toml::from_str(text).map_err(toml_problem(text))
    }
}

/// Whether the file at `path`, relative to the knowledge folder, holds generated questions.
pub(crate) fn is_generated(path: &str) -> bool {
    path.rsplit('/').next() == Some(FILE)
}

/// Path of the generated questions of the page at `page`.
pub(crate) fn beside(page: &str) -> String {
    match page.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{FILE}"),
        None => FILE.to_owned(),
    }
}

/// The questions in the file at `path`, by path of their page.
pub(crate) fn parse(path: &str, text: &str) -> Result<Questions, Problem> {
    let folder = path.strip_suffix(FILE).unwrap_or_default();
    let pages = File::parse(text)?.pages.into_iter();
    Ok(pages
        .map(|(page, questions)| (format!("{folder}{page}"), questions))
        .collect())
}
