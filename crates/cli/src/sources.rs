//! Jobs that are archives, in object stores or on History Servers, with the credentials of the environment.

use std::path::{Path, PathBuf};

use batch::{Access, Bounds, Opened, Problem, Sources, Wanted};
use server::{Application, Error, ErrorKind, Fetch, Fetched, Result, error};
use tokio::runtime::{Handle, Runtime};
use tokio_util::sync::CancellationToken;

use crate::config;
use crate::session;

/// Prefixes of variables with settings of object stores.
const PREFIXES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// Reaches object stores with the settings of the environment, and the History Servers among `named`, which are texts of the user: arguments
/// and configuration. No output shows their secrets from now on.
pub(crate) fn sources<'a>(named: impl IntoIterator<Item = &'a str>) -> Sources {
    let named = named.into_iter().inspect(|place| config::learn_url(place));
    let ours = |name: &String| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let variables = std::env::vars_os()
        .filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)));
    let settings: Vec<(String, String)> = variables.filter(|(name, _)| ours(name)).collect();
    for (_, secret) in settings.iter().filter(|(name, _)| config::is_secret(name)) {
        llm::remember(secret);
    }
    let lower = settings
        .into_iter()
        .map(|(name, value)| (name.to_lowercase(), value));
    Sources::new(
        Access::new(lower.collect()).with_history(named),
        &std::env::temp_dir(),
        Bounds::default(),
    )
}

/// Opens a job that is named by a URL or is an archive; `None` for any other.
pub(crate) fn open(job: &Path) -> Result<Option<Opened>> {
    match job.to_str().filter(|text| Sources::opens(text)) {
        Some(text) => open_in(&session::runtime()?, text).map(Some),
        None => Ok(None),
    }
}

fn open_in(runtime: &Runtime, text: &str) -> Result<Opened> {
    let opened = sources([text]);
    runtime.block_on(opened.open(text)).map_err(explained)
}

/// Logs of the History Servers among the allowed roots.
pub(crate) struct Servers {
    runtime: Handle,
    sources: Sources,
}

impl Servers {
    pub(crate) fn new(roots: &[PathBuf], runtime: &Handle) -> Servers {
        Servers {
            runtime: runtime.clone(),
            sources: sources(roots.iter().filter_map(|root| root.to_str())),
        }
    }
}

impl Fetch for Servers {
    fn fetch(&self, address: &str, cancel: &CancellationToken) -> Result<Fetched> {
        let opened = self.runtime.block_on(async {
            tokio::select! {
                opened = self.sources.open(address) => Some(opened),
                () = cancel.cancelled() => None,
            }
        });
        let Some(opened) = opened else {
            return Err(cancelled());
        };
        let opened = opened.map_err(explained)?;
        Ok(Fetched {
            path: opened.path.clone(),
            origin: opened.origin.clone(),
            links: opened.links.clone(),
            kept: Some(Box::new(opened)),
        })
    }

    fn applications(
        &self,
        server: &str,
        since: Option<&str>,
        most: usize,
        cancel: &CancellationToken,
    ) -> Result<Vec<Application>> {
        let since = since.map(crate::args::since).transpose();
        let wanted = Wanted {
            since: since.map_err(|why| Error::new(ErrorKind::Usage, why))?,
            most: Some(most),
            ..Wanted::default()
        };
        let listed = self.runtime.block_on(async {
            tokio::select! {
                listed = self.sources.applications(server, &wanted) => Some(listed),
                () = cancel.cancelled() => None,
            }
        });
        let listed = listed.ok_or_else(cancelled)?.map_err(explained)?;
        let shown = |a: batch::ListedApplication| Application {
            job: a.address,
            name: a.name,
            user: a.user,
            started: a.started,
            minutes: a.minutes,
            completed: a.completed,
        };
        Ok(listed.into_iter().map(shown).collect())
    }
}

fn cancelled() -> Error {
    error!(Other: "读取 History Server 时已取消", "cancelled while a History Server was read")
}

pub(crate) fn explained(error: batch::Error) -> Error {
    let kind = match &error {
        batch::Error::Address { .. }
        | batch::Error::NoManifest { .. }
        | batch::Error::NoQueue { .. }
        | batch::Error::OtherProgram { .. } => ErrorKind::Usage,
        batch::Error::History {
            problem: Problem::NotAllowed { .. },
            ..
        } => ErrorKind::Usage,
        batch::Error::Queue { .. } => ErrorKind::Other,
        error if error.is_transient() => ErrorKind::Other,
        _ => ErrorKind::Input,
    };
    Error::from_source(kind, &error).hint(error.hint())
}
