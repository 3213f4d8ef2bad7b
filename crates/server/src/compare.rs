//! The two sides of a comparison: saved runs, or job folders that are read now.

use std::path::Path;

use report::Report;
use runs::compare::{Origin, Side};
use runs::shape::JobShape;

use crate::error::{Error, ErrorKind, Result};
use crate::session::{Analysis, Session};

impl Session {
    /// The job in a folder, else the run with this identifier (or `last`, `last~1`, …).
    pub fn side(&self, name: &str) -> Result<Side> {
        let folder = Path::new(name);
        if folder.is_dir() {
            let read = self.read(folder)?;
            return Ok(Side {
                report: read.report,
                shape: read.shape,
                script: read.picture.script,
                origin: Origin::Folder,
            });
        }
        self.saved_side(name).map_err(|error| {
            error.hint(format!(
                "`{name}` must be a job folder or a run; `scopeagent runs list` shows every run"
            ))
        })
    }

    fn read(&self, folder: &Path) -> Result<Analysis> {
        let _line = self.monitor().progress(&folder.display().to_string());
        self.diagnose(folder)
    }

    /// What was saved of a run. A run of an older version is completed from its folder if that still holds the same job.
    fn saved_side(&self, run: &str) -> Result<Side> {
        let (row, picture, shape) =
            self.with_store(|store| Ok((store.run(run)?, store.picture(run)?, store.shape(run)?)))?;
        let report = self.report(run)?;
        let picture = picture.unwrap_or_default();
        let (shape, origin) = match shape {
            Some(shape) => (shape, Origin::Kept),
            None => {
                let folder = Path::new(&row.job);
                let again = folder.is_dir().then(|| self.read(folder));
                match again.and_then(Result::ok) {
                    Some(read) if is_same_run(&read.report, &report) => {
                        (read.shape, Origin::ReadAgain)
                    }
                    _ => (JobShape::drawn(&picture, &report), Origin::Drawn),
                }
            }
        };
        Ok(Side {
            report,
            shape,
            script: picture.script,
            origin,
        })
    }

    /// The report of a run.
    ///
    /// # Errors
    /// If there is no such run, or it has no report.
    pub fn report(&self, run: &str) -> Result<Report> {
        self.with_store(|store| store.report(run))?
            .ok_or_else(|| no_report(run))
    }
}

/// The error for a run that exists and has no report.
pub fn no_report(run: &str) -> Error {
    Error::new(
        ErrorKind::Input,
        format!("run `{run}` has no report: it failed or was interrupted"),
    )
    .hint("`scopeagent runs list` shows how each run ended; analyze the job again")
}

/// Another job may have taken the folder since.
fn is_same_run(read: &Report, saved: &Report) -> bool {
    let (a, b) = (&read.job, &saved.job);
    (&a.id, &a.name, a.state, a.elapsed_seconds) == (&b.id, &b.name, b.state, b.elapsed_seconds)
}
