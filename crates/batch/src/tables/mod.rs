//! Results as tables that other tools read: `jobs`, `findings`, `segments` and `clusters`, as Parquet and CSV.
//!
//! One pass over the results writes everything; memory holds one row group per table.

mod columns;
mod csv;
mod object;
mod parquet;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use ::parquet::errors::ParquetError;

pub use columns::{Cell, Kind, Row};
pub use object::{Digest, Proposal, Stored};
pub(crate) use rows::code;
pub use rows::{ClusterRow, FindingRow, JobRow, Rows, SegmentRow};

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`", path.display())]
pub struct TableError {
    pub path: PathBuf,
    source: io::Error,
}

/// The first column of a table in CSV that an earlier report wrote, its keys; `None` without such a table.
pub(crate) fn keys(folder: &Path, table: &str) -> Option<HashSet<String>> {
    let file = File::open(folder.join(format!("{table}.csv"))).ok()?;
    let lines = BufReader::new(file).lines().skip(1).map_while(Result::ok);
    let key = |line: String| line.split(',').next().map(str::to_owned);
    Some(lines.filter_map(key).collect())
}

/// The tables of a batch, while they are written. Each file gets its name when it is complete.
pub struct Tables {
    jobs: Both,
    findings: Both,
    segments: Both,
    clusters: Both,
}

impl Tables {
    /// Creates the files in a folder.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn create(folder: &Path) -> Result<Tables, TableError> {
        Ok(Tables {
            jobs: Both::create::<JobRow>(folder)?,
            findings: Both::create::<FindingRow>(folder)?,
            segments: Both::create::<SegmentRow>(folder)?,
            clusters: Both::create::<ClusterRow>(folder)?,
        })
    }

    /// Adds the rows of one result.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn add(&mut self, rows: &Rows) -> Result<(), TableError> {
        self.jobs.add(&*rows.job)?;
        rows.findings
            .iter()
            .try_for_each(|row| self.findings.add(row))?;
        rows.segments
            .iter()
            .try_for_each(|row| self.segments.add(row))
    }

    /// Adds the clusters, and completes the files; returns their paths.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(mut self, clusters: &[ClusterRow]) -> Result<Vec<PathBuf>, TableError> {
        clusters.iter().try_for_each(|row| self.clusters.add(row))?;
        let mut paths = Vec::new();
        for table in [self.jobs, self.findings, self.segments, self.clusters] {
            paths.extend(table.finish()?);
        }
        Ok(paths)
    }
}

/// A table in both formats.
struct Both {
    parquet: (Fresh, parquet::Table<BufWriter<File>>),
    csv: (Fresh, csv::Table<BufWriter<File>>),
}

impl Both {
    fn create<R: Row>(folder: &Path) -> Result<Both, TableError> {
        let (columnar, file) = Fresh::create(folder, &format!("{}.parquet", R::NAME))?;
        let table = parquet::Table::new::<R>(file).map_err(|e| columnar.failed(io(e)))?;
        let (lines, file) = Fresh::create(folder, &format!("{}.csv", R::NAME))?;
        let text = csv::Table::new::<R>(file).map_err(|e| lines.failed(e))?;
        Ok(Both {
            parquet: (columnar, table),
            csv: (lines, text),
        })
    }

    fn add(&mut self, row: &impl Row) -> Result<(), TableError> {
        let (fresh, table) = &mut self.parquet;
        table.add(row).map_err(|e| fresh.failed(io(e)))?;
        let (fresh, table) = &mut self.csv;
        table.add(row).map_err(|e| fresh.failed(e))
    }

    fn finish(self) -> Result<[PathBuf; 2], TableError> {
        let (fresh, table) = self.parquet;
        let file = table.finish().map_err(|e| fresh.failed(io(e)))?;
        let columnar = fresh.finish(file)?;
        let (fresh, table) = self.csv;
        Ok([columnar, fresh.finish(table.finish())?])
    }
}

/// Path of a result in its store.
pub fn path_of(key: &str) -> String {
    format!("results/{}/{key}.json", key.get(..2).unwrap_or(key))
}

fn io(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

/// A file that has another name until it is complete.
pub(crate) struct Fresh {
    path: PathBuf,
    unfinished: PathBuf,
}

impl Fresh {
    pub(crate) fn create(
        folder: &Path,
        name: &str,
    ) -> Result<(Fresh, BufWriter<File>), TableError> {
        let fresh = Fresh {
            path: folder.join(name),
            unfinished: folder.join(format!(".{name}.{}", std::process::id())),
        };
        let file = fs::create_dir_all(folder).and_then(|()| File::create(&fresh.unfinished));
        let file = file.map_err(|e| fresh.failed(e))?;
        Ok((fresh, BufWriter::new(file)))
    }

    pub(crate) fn finish(self, file: BufWriter<File>) -> Result<PathBuf, TableError> {
        let mut file = file;
        let flushed = file
            .flush()
            .and_then(|()| fs::rename(&self.unfinished, &self.path));
        flushed.map_err(|e| self.failed(e))?;
        Ok(self.path.clone())
    }

    pub(crate) fn failed(&self, source: io::Error) -> TableError {
        let path = self.path.clone();
        TableError { path, source }
    }
}

impl Drop for Fresh {
    /// Removes unfinished files.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.unfinished);
    }
}
