//! Which jobs a source contains.

mod remote;

use std::path::{Path as FilePath, PathBuf};

use rayon::prelude::*;

use crate::application::Server;
use crate::error::{Error, Result};
use crate::folders::jobs_under;
use crate::history::{self, Wanted};
use crate::location::{Location, local_uri};
use crate::result::Entry;
use crate::source::Sources;
use crate::state::state_of;

/// The jobs of a source, without jobs inside the store; of a History Server the wanted applications that have ended.
///
/// # Errors
/// If the source cannot be listed.
pub async fn discover(
    sources: &Sources,
    source: &str,
    store: &str,
    wanted: &Wanted,
) -> Result<Vec<Entry>> {
    if Server::is_listed(source) {
        let listed = history::list(sources.access(), source, wanted).await?;
        let ended = listed.into_iter().filter(|attempt| attempt.completed);
        let entry = |attempt: history::ListedApplication| Entry {
            uri: attempt.address,
            etag: attempt.etag,
            size: 0,
        };
        return Ok(ended.map(entry).collect());
    }
    match sources.access().locate(source)? {
        Location::Remote(remote) => {
            let found = remote::discover(&remote).await?;
            let store = store.trim_end_matches('/');
            let is_inside = |uri: &str| {
                uri.strip_prefix(store)
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            Ok(found
                .into_iter()
                .filter(|entry| !is_inside(&entry.uri))
                .collect())
        }
        Location::History(application) => {
            let found = history::find(sources.access(), &application).await?;
            Ok(vec![Entry {
                uri: found.application.to_string(),
                etag: found.etag,
                // the server does not say
                size: 0,
            }])
        }
        Location::Local(path) => {
            let store = match sources.access().locate(store)? {
                Location::Local(path) => path.canonicalize().ok(),
                Location::Remote(_) | Location::History(_) => None,
            };
            let listed = tokio::task::spawn_blocking(move || local(&path, store.as_deref()));
            listed.await.unwrap_or_else(|error| {
                let path = source.into();
                let source = std::io::Error::other(error);
                Err(Error::File { path, source })
            })
        }
    }
}

fn local(folder: &FilePath, store: Option<&FilePath>) -> Result<Vec<Entry>> {
    let is_inside = |job: &PathBuf| {
        let real = || job.canonicalize().unwrap_or_else(|_| job.clone());
        store.is_some_and(|store| real().starts_with(store))
    };
    let entry = |job: PathBuf| {
        let (etag, size) = match state_of(&job) {
            Ok(state) => state,
            Err(error) if job == folder => return Err(error),
            // its analysis will say why
            Err(_) => Default::default(),
        };
        let uri = local_uri(&job);
        Ok(Entry { uri, etag, size })
    };
    let jobs = jobs_under(folder).into_par_iter();
    jobs.filter(|job| !is_inside(job)).map(entry).collect()
}
