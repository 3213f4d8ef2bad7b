//! A job that may be read, as a local path for as long as it is needed.

use std::any::Any;
use std::path::PathBuf;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::error::Result;
use crate::roots::Admitted;
use crate::session::Task;

/// Fetches logs from History Servers; the only part of this crate that sends requests to them.
pub trait Fetch: Send + Sync {
    /// Copies the log of the application at this address. Blocks; must not be called from a thread that serves asynchronous tasks.
    ///
    /// # Errors
    /// If there is no such log, it takes more than it may, or the token is cancelled.
    fn fetch(&self, address: &str, cancel: &CancellationToken) -> Result<Fetched>;

    /// The newest applications of an allowed server that ended since a time. Blocks like [`Fetch::fetch`].
    ///
    /// # Errors
    /// If the server cannot be reached or is not allowed, or the token is cancelled.
    fn applications(
        &self,
        server: &str,
        since: Option<&str>,
        most: usize,
        cancel: &CancellationToken,
    ) -> Result<Vec<Application>>;
}

/// A Spark application in the list of a History Server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Application {
    /// Address that every tool takes as a job.
    pub job: String,
    pub name: String,
    pub user: Option<String>,
    pub started: String,
    pub minutes: f64,
    pub completed: bool,
}

/// A job on this machine.
pub struct Fetched {
    pub path: PathBuf,
    /// Original location, if `path` is a copy.
    pub origin: Option<String>,
    /// Links of an archive that it came from, which were left out.
    pub links: Vec<String>,
    /// Keeps the copy until it is dropped.
    pub kept: Option<Box<dyn Any + Send>>,
}

impl Admitted {
    /// Opens the job of a task. Its files stay until the return value is dropped.
    pub(crate) fn open_for(self, task: &mut Task, fetch: &dyn Fetch) -> Result<Fetched> {
        let opened = self.open(fetch, &task.cancel)?;
        opened.path.clone_into(&mut task.request.job);
        task.request.origin.clone_from(&opened.origin);
        task.request.links.clone_from(&opened.links);
        Ok(opened)
    }

    pub(crate) fn open(self, fetch: &dyn Fetch, cancel: &CancellationToken) -> Result<Fetched> {
        match self {
            Admitted::Remote(address) => fetch.fetch(&address, cancel),
            Admitted::Local(path) => Ok(Fetched {
                path,
                origin: None,
                links: Vec::new(),
                kept: None,
            }),
        }
    }
}
