//! Results of a batch for people and tools: writes the tables and the page in one pass over the results.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use report::Language;

use crate::advice::{self, ClusterAdvice};
use crate::newest::newest_results;
use crate::page::{Earlier, Overview, Page, PageError};
use crate::result::Status;
use crate::store::Store;
use crate::tables::{Rows, Stored, TableError, Tables, keys};

/// Tables and page, while results come in.
pub struct Aggregate {
    folder: PathBuf,
    tables: Tables,
    page: Page,
    /// By cluster.
    advice: HashMap<String, ClusterAdvice>,
    /// The folder's report before this one.
    earlier: Option<Earlier>,
    written: Written,
}

/// Counts of the written output.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Written {
    pub jobs: usize,
    /// Jobs among them that could not be analyzed.
    pub failed: usize,
    /// Planned jobs that have no result yet.
    pub pending: usize,
    /// Results that could not be read, with the reason; the first few.
    pub unreadable: Vec<String>,
    pub overview: Overview,
    pub files: Vec<PathBuf>,
}

/// Why a batch could not be reported.
#[derive(Debug, thiserror::Error)]
pub enum AggregateError {
    #[error(transparent)]
    Store(#[from] crate::Error),
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Page(#[from] PageError),
}

impl Aggregate {
    /// Creates the files in a folder. The page links to results at `store`: empty, or a relative or absolute address that ends in `/`.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn create(folder: &Path, store: &str) -> Result<Aggregate, TableError> {
        let earlier = keys(folder, "jobs").map(|jobs| Earlier {
            jobs,
            clusters: keys(folder, "clusters").unwrap_or_default(),
        });
        Ok(Aggregate {
            folder: folder.to_path_buf(),
            earlier,
            tables: Tables::create(folder)?,
            page: Page::new(store),
            advice: HashMap::new(),
            written: Written::default(),
        })
    }

    /// Adds the newest result of each planned job, with the advice on its clusters; `progress` is called after each. Memory per result
    /// is small, independent of the size of its report.
    ///
    /// # Errors
    /// If the store cannot be read, has no manifest, or a file cannot be written. A result that is not one is left out and named.
    pub async fn add_all(
        &mut self,
        store: &Store,
        mut progress: impl FnMut(usize),
    ) -> Result<(), AggregateError> {
        self.advice = advice::newest(store).await?;
        let rest = newest_results::<AggregateError>(store, |stored| {
            self.add(stored)?;
            progress(self.written.jobs);
            Ok(())
        });
        let rest = rest.await?;
        self.written.pending = rest.pending;
        self.written.unreadable = rest.unreadable;
        self.page.set_pending(rest.pending);
        Ok(())
    }

    fn add(&mut self, stored: Stored) -> Result<(), TableError> {
        self.written.jobs += 1;
        self.written.failed += usize::from(stored.status == Status::Failed);
        let rows = Rows::of(stored);
        self.tables.add(&rows)?;
        self.page.add(&rows);
        Ok(())
    }

    pub fn page(&mut self) -> &mut Page {
        &mut self.page
    }

    /// Completes the files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(mut self, language: Language) -> Result<Written, PageError> {
        self.page.advise(&self.advice, language);
        self.page.mark_regressions();
        self.written.overview = self.page.overview(self.earlier.as_ref());
        self.written.files = self.tables.finish(&self.page.clusters(&self.advice))?;
        let page = self.page.write(&self.folder, language)?;
        self.written.files.insert(0, page);
        Ok(self.written)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use object_store::memory::InMemory;
    use object_store::path::Path as Key;
    use object_store::{ObjectStore, ObjectStoreExt};
    use serde_json::{Value, json};

    use super::*;
    use crate::fixture::{bare, known};
    use crate::result::Entry;

    /// Writes a result under its key.
    async fn put(objects: &dyn ObjectStore, key: char, mut result: Value) {
        let key = key.to_string().repeat(64);
        result["key"] = json!(key);
        let path = Key::from(crate::tables::path_of(&key));
        objects
            .put(&path, result.to_string().into())
            .await
            .expect("written");
    }

    #[tokio::test]
    async fn the_newest_result_of_each_planned_job_counts() {
        let objects = Arc::new(InMemory::new());
        let store = Store::over(objects.clone(), "store");
        let entry = |uri: &str| Entry {
            uri: uri.to_owned(),
            etag: "1".to_owned(),
            size: 5,
        };
        let planned = ["s3://logs/a", "s3://logs/b", "s3://logs/c", "s3://logs/d"].map(entry);
        store.plan(planned).await.expect("planned");
        let mut changed = known();
        changed["etag"] = json!("0");
        let mut later = known();
        later["report"]["job"]["owner"] = json!("li");
        let mut unplanned = known();
        unplanned["uri"] = json!("s3://logs/gone");
        let mut other_version = bare();
        other_version["version"] = json!(99);
        let results = [
            known(),
            later,
            changed,
            unplanned,
            other_version,
            json!({ "version": 1 }),
        ];
        for (key, result) in ('a'..).zip(results) {
            put(&*objects, key, result).await;
        }
        let folder = tempfile::tempdir().expect("folder");
        let mut aggregate = Aggregate::create(folder.path(), "../").expect("files");
        aggregate.add_all(&store, |_| ()).await.expect("read");
        let page = aggregate.page().render(Language::En).expect("a page");
        assert!(page.contains("3 jobs without a result yet"));
        assert!(
            page.contains("[\"li\"]"),
            "of two results the newer one counts"
        );
        let written = aggregate.finish(Language::En).expect("written");
        assert_eq!((written.jobs, written.pending), (1, 3));
        assert_eq!(written.overview.new, None, "there is no report before it");
        assert_eq!(written.overview.worst.len(), 1);
        let mut again = Aggregate::create(folder.path(), "../").expect("files");
        again.add_all(&store, |_| ()).await.expect("read");
        let again = again.finish(Language::En).expect("written").overview;
        assert_eq!(again.new, Some(crate::page::New::default()));
        assert_eq!(again.worst, written.overview.worst);
        assert_eq!(written.unreadable.len(), 2, "{:?}", written.unreadable);
        assert!(written.files.iter().all(|file| file.is_file()));
    }
}
