//! The batch as one self-contained HTML page: totals, groups, trend, what to fix first, and a table of all jobs that filters and sorts.
//!
//! What matters is in the markup and readable without a script; the script, which the page's policy names by its hash, adds filters and the
//! rest of the table from the data in the page. Nothing is loaded from anywhere.

mod cluster;
mod collect;
mod data;
mod form;
#[cfg(test)]
mod tests;
mod totals;
mod view;
mod words;

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use report::Language;
use sha2::{Digest as _, Sha256};

use crate::tables::{Fresh, Rows, TableError};
use collect::Collected;
use words::Words;

const SCRIPT: &str = include_str!("page.js");

/// Why the page could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error(transparent)]
    File(#[from] TableError),
    #[error("the data of the page cannot be written")]
    Data(#[from] serde_json::Error),
    #[error("the form of the page does not fit its data")]
    Form(#[from] minijinja::Error),
}

/// The page, while results come in. Keeps a compact row of each.
#[derive(Debug, Default)]
pub struct Page {
    collected: Collected,
}

impl Page {
    /// A page that links to the results at `store`, relative to itself or absolute; empty or ending in `/`.
    pub fn new(store: &str) -> Page {
        Page {
            collected: Collected::new(store),
        }
    }

    pub fn add(&mut self, rows: &Rows) {
        self.collected.add(rows);
    }

    /// Writes `index.html` into a folder; returns its path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &Path, language: Language) -> Result<PathBuf, PageError> {
        let html = self.render(language)?;
        let (fresh, mut file) = Fresh::create(folder, "index.html")?;
        std::io::Write::write_all(&mut file, html.as_bytes()).map_err(|e| fresh.failed(e))?;
        Ok(fresh.finish(file)?)
    }

    /// The page as a text.
    ///
    /// # Errors
    /// If the built-in form does not fit, which a test excludes.
    pub fn render(&self, language: Language) -> Result<String, PageError> {
        let words = Words(language);
        let view = view::View::of(&self.collected, words);
        let data = data::json(&self.collected, words)?;
        form::fill(&view, words, SCRIPT, &script_hash(), data)
    }
}

/// SHA-256 of the page's script, as a content security policy names it.
fn script_hash() -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(SCRIPT)))
}
