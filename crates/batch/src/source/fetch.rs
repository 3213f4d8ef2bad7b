//! Objects to files: all below a prefix, or a single one.

use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use futures::stream::{StreamExt, TryStreamExt};
use object_store::{ObjectMeta, ObjectStoreExt};
use tokio::io::AsyncWriteExt;

use super::Bounds;
use super::inside::inside;
use crate::error::{Error, Result};
use crate::location::Remote;
use crate::state::{relative, state_of_objects};

/// Objects of a job that are fetched concurrently.
const CONCURRENT: usize = 8;

pub(super) struct Fetched {
    pub(super) etag: String,
    /// The file, if the place is a single object.
    pub(super) file: Option<PathBuf>,
}

/// Fetches into a new folder.
pub(super) async fn fetch(remote: &Remote, folder: &FilePath, bounds: &Bounds) -> Result<Fetched> {
    let objects = below(remote, bounds).await?;
    let io = |source| Error::File {
        path: folder.to_owned(),
        source,
    };
    tokio::fs::create_dir(folder).await.map_err(io)?;
    let fetcher = Fetcher {
        remote,
        bounds,
        bytes: AtomicU64::new(0),
    };
    if objects.is_empty() {
        let meta = remote.objects.head(&remote.path).await;
        let meta = meta.map_err(|e| fetcher.failed(remote.url.as_str(), e))?;
        let name = remote.path.filename().unwrap_or("object").to_owned();
        let file = inside(folder, &name, bounds).map_err(|e| fetcher.refused(e))?;
        let (etag, _) = state_of_objects(&[("", &meta)]);
        fetcher.object(&meta, &file).await?;
        return Ok(Fetched {
            etag,
            file: Some(file),
        });
    }
    let named: Vec<(&str, &ObjectMeta)> =
        objects.iter().map(|(name, m)| (name.as_str(), m)).collect();
    let (etag, _) = state_of_objects(&named);
    let fetched = futures::stream::iter(&objects).map(|(name, meta)| {
        let file = inside(folder, name, bounds).map_err(|e| fetcher.refused(e));
        let fetcher = &fetcher;
        async move { fetcher.object(meta, &file?).await }
    });
    fetched
        .buffer_unordered(CONCURRENT)
        .try_collect::<()>()
        .await?;
    Ok(Fetched { etag, file: None })
}

/// The objects below a prefix with their names relative to it.
async fn below(remote: &Remote, bounds: &Bounds) -> Result<Vec<(String, ObjectMeta)>> {
    let mut list = remote.objects.list(Some(&remote.path));
    let mut objects = Vec::new();
    let mut bytes = 0;
    let failed = |source| Error::Objects {
        place: remote.url.to_string(),
        source,
    };
    while let Some(meta) = list.try_next().await.map_err(failed)? {
        let Some(name) = relative(&remote.path, &meta.location) else {
            continue;
        };
        bytes += meta.size;
        objects.push((name, meta));
        if objects.len() > bounds.entries || bytes > bounds.bytes {
            let (entries, bytes) = (bounds.entries, bounds.bytes);
            return Err(Error::Archive {
                place: remote.url.to_string(),
                reason: report::say!(
                    "对象超过 {entries} 个，或内容超过 {bytes} 字节",
                    "it has more than {entries} objects or {bytes} bytes"
                ),
            });
        }
    }
    objects.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(objects)
}

struct Fetcher<'a> {
    remote: &'a Remote,
    bounds: &'a Bounds,
    bytes: AtomicU64,
}

impl Fetcher<'_> {
    /// Copies an object to a file, a piece at a time.
    async fn object(&self, meta: &ObjectMeta, path: &FilePath) -> Result<()> {
        let place = meta.location.as_ref();
        let io = |source| Error::File {
            path: path.to_owned(),
            source,
        };
        if let Some(parent) = path.parent() {
            tokio::fs::create_dir_all(parent).await.map_err(io)?;
        }
        let mut file = tokio::fs::File::create(path).await.map_err(io)?;
        let object = self.remote.objects.get(&meta.location).await;
        let mut pieces = object.map_err(|e| self.failed(place, e))?.into_stream();
        while let Some(piece) = pieces.try_next().await.map_err(|e| self.failed(place, e))? {
            let length = piece.len() as u64;
            // an object may have grown since it was listed
            if self.bytes.fetch_add(length, Ordering::Relaxed) + length > self.bounds.bytes {
                return Err(self.refused(self.bounds.too_large()));
            }
            file.write_all(&piece).await.map_err(io)?;
        }
        file.flush().await.map_err(io)
    }

    fn failed(&self, place: &str, source: object_store::Error) -> Error {
        Error::Objects {
            place: place.to_owned(),
            source,
        }
    }

    fn refused(&self, reason: String) -> Error {
        Error::Archive {
            place: self.remote.url.to_string(),
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use object_store::memory::InMemory;
    use object_store::path::Path;
    use object_store::{ObjectStore, PutPayload};
    use url::Url;

    use super::*;

    #[tokio::test]
    async fn a_prefix_or_an_object_becomes_files_within_bounds() {
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        for (name, bytes) in [("jobs/a/x", 10), ("jobs/a/b/y", 20), ("jobs/ab/z", 30)] {
            let payload = PutPayload::from(vec![0; bytes]);
            objects.put(&Path::from(name), payload).await.expect("put");
        }
        let remote = |path: &str| Remote {
            url: Url::parse(&format!("s3://bucket/{path}")).expect("a URL"),
            objects: Arc::clone(&objects),
            path: Path::from(path),
        };
        let here = tempfile::tempdir().expect("folder");
        let fetch = async |path: &str, bytes: u64, to: &str| {
            let bounds = Bounds {
                bytes,
                ..Bounds::default()
            };
            fetch(&remote(path), &here.path().join(to), &bounds).await
        };
        let job = fetch("jobs/a", 30, "1").await.expect("fetched");
        assert!(job.file.is_none());
        let length = |file: &str| {
            std::fs::metadata(here.path().join(file))
                .map(|m| m.len())
                .ok()
        };
        assert_eq!(
            [length("1/x"), length("1/b/y"), length("1/z")],
            [Some(10), Some(20), None]
        );
        let again = fetch("jobs/a", 30, "2").await.expect("fetched");
        assert_eq!(again.etag, job.etag);
        let single = fetch("jobs/ab/z", 30, "3").await.expect("fetched");
        assert_eq!(single.file, Some(here.path().join("3/z")));
        assert!(matches!(
            fetch("jobs/a", 29, "4").await,
            Err(Error::Archive { .. })
        ));
        assert!(matches!(
            fetch("jobs/none", 29, "5").await,
            Err(Error::Objects { .. })
        ));
    }
}
