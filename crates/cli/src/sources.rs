//! Jobs that are archives or in object stores, with the credentials of the environment.

use std::path::Path;

use batch::{Access, Bounds, Opened, Sources};
use server::{Error, ErrorKind, Result};
use tokio::runtime::Runtime;

use crate::config;
use crate::session;

/// How the names of variables with settings of object stores begin.
const PREFIXES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// Reaches object stores with the settings of the environment, whose secrets no output shows from now on.
pub(crate) fn sources() -> Sources {
    let ours = |name: &String| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let named = std::env::vars_os()
        .filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)));
    let settings: Vec<(String, String)> = named.filter(|(name, _)| ours(name)).collect();
    for (_, secret) in settings.iter().filter(|(name, _)| config::is_secret(name)) {
        llm::remember(secret);
    }
    let lower = settings
        .into_iter()
        .map(|(name, value)| (name.to_lowercase(), value));
    Sources::new(
        Access::new(lower.collect()),
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
    runtime.block_on(sources().open(text)).map_err(explained)
}

pub(crate) fn explained(error: batch::Error) -> Error {
    let kind = match &error {
        batch::Error::Address { .. }
        | batch::Error::NoManifest { .. }
        | batch::Error::NoQueue { .. }
        | batch::Error::OtherProgram { .. } => ErrorKind::Usage,
        batch::Error::Queue { .. } => ErrorKind::Other,
        error if error.is_transient() => ErrorKind::Other,
        _ => ErrorKind::Input,
    };
    Error::from_source(kind, &error).hint(error.hint())
}
