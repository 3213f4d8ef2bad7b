//! What a batch found, for people and tools: the tables and the page, written in one pass over the results.

use std::path::{Path, PathBuf};

use report::Language;

use crate::page::{Page, PageError};
use crate::tables::{Rows, Status, Stored, TableError, Tables};

/// Tables and page, while results come in.
pub struct Aggregate {
    folder: PathBuf,
    tables: Tables,
    page: Page,
    written: Written,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    pub jobs: usize,
    /// Jobs among them that could not be analyzed.
    pub failed: usize,
    pub files: Vec<PathBuf>,
}

impl Aggregate {
    /// Creates the files in a folder. The page links to results at `store`: empty, or a relative or absolute address that ends in `/`.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn create(folder: &Path, store: &str) -> Result<Aggregate, TableError> {
        Ok(Aggregate {
            folder: folder.to_path_buf(),
            tables: Tables::create(folder)?,
            page: Page::new(store),
            written: Written::default(),
        })
    }

    /// Adds a result. What is kept of it is small, whatever the size of its report.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn add(&mut self, stored: Stored) -> Result<(), TableError> {
        self.written.jobs += 1;
        self.written.failed += usize::from(stored.status == Status::Failed);
        let rows = Rows::of(stored);
        self.tables.add(&rows)?;
        self.page.add(&rows);
        Ok(())
    }

    /// Completes the files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(mut self, language: Language) -> Result<Written, PageError> {
        self.written.files = self.tables.finish()?;
        let page = self.page.write(&self.folder, language)?;
        self.written.files.push(page);
        Ok(self.written)
    }
}
