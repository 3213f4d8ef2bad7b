//! Where jobs and results are: a local path, a place in an object store, or an application on a History Server.

use std::collections::HashMap;
use std::path::{Component, Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use url::Url;

use crate::application::{Application, Server};
use crate::error::{Error, Result};

/// Schemes of object stores.
const SCHEMES: [&str; 8] = ["az", "azure", "adl", "abfs", "abfss", "s3", "s3a", "gs"];

/// How object stores are reached. Keeps one client per bucket or container.
#[derive(Debug, Default)]
pub struct Access {
    /// Settings by name: `aws_region`, `azure_storage_account_key`, ….
    settings: Vec<(String, String)>,
    open: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
    /// History Servers that may be read.
    servers: Vec<Server>,
}

#[derive(Debug, Clone)]
pub enum Location {
    Local(PathBuf),
    Remote(Remote),
    History(Application),
}

/// A prefix or an object.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Without a slash at its end.
    pub url: Url,
    pub objects: Arc<dyn ObjectStore>,
    pub path: Path,
}

/// Whether a text names a place by its scheme.
pub fn is_url(text: &str) -> bool {
    text.contains("://")
}

/// The objects of a local folder; the first one creates a missing folder.
///
/// # Errors
/// If it is a file or cannot be reached.
pub(crate) fn folder(path: &FilePath, place: &str) -> Result<Arc<dyn ObjectStore>> {
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    let bad = |source| Error::Address {
        place: place.to_owned(),
        source: Some(source),
    };
    // an address of objects has no `..`
    let goes_up = path.components().any(|c| c == Component::ParentDir);
    if goes_up || path.try_exists().map_err(failed)? {
        // fails for a file
        std::fs::create_dir_all(path).map_err(failed)?;
        return Ok(Arc::new(
            LocalFileSystem::new_with_prefix(path).map_err(bad)?,
        ));
    }
    let whole = std::path::absolute(path).map_err(failed)?;
    let prefix = Path::from_absolute_path(whole).map_err(|e| bad(e.into()))?;
    Ok(Arc::new(PrefixStore::new(LocalFileSystem::new(), prefix)))
}

impl Access {
    /// `settings` are pairs of a setting of [`object_store`] and its value; a store ignores the
    /// settings of other stores.
    pub fn new(settings: Vec<(String, String)>) -> Access {
        Access {
            settings,
            ..Access::default()
        }
    }

    /// Allows the History Servers among these places: addresses of servers, or of applications on them. All other servers are refused:
    /// an address from a manifest or a model could reach a server that only this machine can reach.
    pub fn with_history<'a>(mut self, places: impl IntoIterator<Item = &'a str>) -> Access {
        self.servers
            .extend(places.into_iter().filter_map(Server::of));
        self
    }

    /// The allowed server of an application, with the login that was given for it.
    pub(crate) fn server_of(&self, application: &Application) -> Option<&Server> {
        self.servers
            .iter()
            .find(|server| **server == application.server)
    }

    /// The allowed server of this address, with the login that was given for it.
    pub(crate) fn server(&self, named: &Server) -> Option<&Server> {
        self.servers.iter().find(|server| *server == named)
    }

    /// # Errors
    /// If the scheme is unknown, or the settings don't suffice to reach the store.
    pub fn locate(&self, place: &str) -> Result<Location> {
        if !is_url(place) {
            return Ok(Location::Local(PathBuf::from(place)));
        }
        let unknown = || Error::Address {
            place: place.to_owned(),
            source: None,
        };
        let mut url = Url::parse(place.trim_end_matches('/')).map_err(|_| unknown())?;
        url.set_query(None);
        url.set_fragment(None);
        if url.scheme() == "file" {
            return url
                .to_file_path()
                .map(Location::Local)
                .map_err(|()| unknown());
        }
        if matches!(url.scheme(), "http" | "https") {
            let application = Application::of(&url);
            return application.map(Location::History).ok_or_else(unknown);
        }
        if !SCHEMES.contains(&url.scheme()) {
            return Err(unknown());
        }
        let path = Path::from_url_path(url.path()).map_err(|_| unknown())?;
        let objects = self.client(&url, place)?;
        Ok(Location::Remote(Remote { url, objects, path }))
    }

    fn client(&self, url: &Url, place: &str) -> Result<Arc<dyn ObjectStore>> {
        let bucket = url[..url::Position::BeforePath].to_owned();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = open.get(&bucket) {
            return Ok(Arc::clone(client));
        }
        // Fails if a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let settings = self.settings.iter().map(|(name, value)| (name, value));
        let (client, _) = object_store::parse_url_opts(url, settings).map_err(|source| {
            let place = place.to_owned();
            let source = Some(source);
            Error::Address { place, source }
        })?;
        let client: Arc<dyn ObjectStore> = Arc::from(client);
        open.insert(bucket, Arc::clone(&client));
        Ok(client)
    }
}

impl Remote {
    /// The address of something below.
    pub fn url_of(&self, relative: &str) -> String {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments
                .pop_if_empty()
                .extend(relative.split('/').filter(|part| !part.is_empty()));
        }
        url.into()
    }
}

/// The address of a local job: its absolute path without links, so that every call uses the same spelling.
pub fn local_uri(path: &FilePath) -> String {
    let real = path.canonicalize().or_else(|_| std::path::absolute(path));
    let path = real.unwrap_or_else(|_| path.to_owned());
    match path.to_str() {
        Some(text) => text.to_owned(),
        // bytes that are no UTF-8 survive in a URL only
        None => {
            Url::from_file_path(&path).map_or_else(|()| path.display().to_string(), String::from)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_paths_or_known_schemes() {
        let access = Access::new(vec![("aws_region".to_owned(), "eu-west-1".to_owned())]);
        let place = |text| match access.locate(text) {
            Ok(Location::Local(path)) => path.display().to_string(),
            Ok(Location::History(application)) => format!("application {application}"),
            Ok(Location::Remote(remote)) => format!("{} {}", remote.url_of("x y/z"), remote.path),
            Err(error) => format!("{error}"),
        };
        for (text, expected) in [
            ("jobs/a", "jobs/a"),
            ("file:///jobs/a%20b", "/jobs/a b"),
            ("s3://logs/2026/01/", "s3://logs/2026/01/x%20y/z 2026/01"),
            ("s3://logs", "s3://logs/x%20y/z "),
            (
                "http://h:18080/history/app-1/2/jobs/",
                "application http://h:18080/history/app-1/2",
            ),
            (
                "http://driver:4040/jobs/",
                "`http://driver:4040/jobs/` is no place that this program can reach",
            ),
            (
                "ftp://host/a",
                "`ftp://host/a` is no place that this program can reach",
            ),
        ] {
            assert_eq!(place(text), expected, "{text}");
        }
    }
}
