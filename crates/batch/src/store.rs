//! The store of a batch: a folder or a prefix of an object store.
//!
//! ```text
//! store.json                     the identity of the store
//! manifest/<ULID>.jsonl          entries that a plan found new or changed; later files replace earlier entries of the same uri
//! results/<k0k1>/<key>.json      one result per job, written only once
//! ```
//!
//! `advice` describes the objects for advice on clusters.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use crate::error::{Error, Result};
use crate::location::{self, Access, Location, Remote};
use crate::result::{Entry, JobResult, RESULT_VERSION, Status};

/// Objects that are read concurrently.
pub(crate) const CONCURRENT: usize = 32;

#[derive(Debug, Clone)]
pub struct Store {
    objects: Arc<dyn ObjectStore>,
    name: String,
}

#[derive(Serialize, Deserialize)]
struct Identity {
    version: u32,
    id: String,
}

/// Counts of a plan's changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    pub new: usize,
    pub changed: usize,
    pub unchanged: usize,
}

/// How writing a result ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    Created,
    /// Another process had written the same bytes.
    Repeated,
    /// Another process had written other bytes, which stay.
    Different,
}

/// The ULID that a file of the manifest is named by.
fn ulid_of(name: &str) -> Option<Ulid> {
    Ulid::from_string(name.strip_suffix(".jsonl")?).ok()
}

/// A ULID that sorts after the last one, even within a millisecond of it or by a clock that is behind.
fn ulid_after(last: Option<Ulid>) -> Ulid {
    let now = Ulid::generate();
    match last {
        Some(last) if now <= last => last.increment().unwrap_or_else(|overflow| overflow),
        _ => now,
    }
}

impl Store {
    /// Opens a store; the first write creates missing objects.
    ///
    /// # Errors
    /// If the place cannot be reached, or is a file.
    pub fn open(access: &Access, place: &str) -> Result<Store> {
        let name = place.trim_end_matches('/').to_owned();
        let objects: Arc<dyn ObjectStore> = match access.locate(place)? {
            Location::Remote(Remote { objects, path, .. }) => {
                Arc::new(PrefixStore::new(objects, path))
            }
            Location::History(_) => {
                let place = place.to_owned();
                return Err(Error::Address {
                    place,
                    source: None,
                });
            }
            Location::Local(path) => location::folder(&path, place)?,
        };
        Ok(Store { objects, name })
    }

    /// A store on objects of the caller.
    pub fn over(objects: Arc<dyn ObjectStore>, name: &str) -> Store {
        Store {
            objects,
            name: name.to_owned(),
        }
    }

    /// The identity of the store, which it gets when it is first asked: the same wherever it is mounted.
    pub async fn id(&self) -> Result<String> {
        let path = Path::from("store.json");
        let own = Identity {
            version: RESULT_VERSION,
            id: Ulid::generate().to_string(),
        };
        let unreadable = |source| Error::Unreadable {
            place: self.place(path.as_ref()),
            source,
        };
        let bytes = serde_json::to_vec(&own).map_err(unreadable)?;
        match self.create(&path, bytes).await? {
            true => Ok(own.id),
            false => {
                let known = serde_json::from_slice(&self.read(&path).await?);
                known.map(|known: Identity| known.id).map_err(unreadable)
            }
        }
    }

    /// The place that it was opened at.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The newest planned entry of each job, by uri. Empty without a plan.
    pub async fn manifest(&self) -> Result<BTreeMap<String, Entry>> {
        self.entries(self.manifest_files().await?).await
    }

    /// The files of the manifest, sorted by name, which is the order of writing.
    async fn manifest_files(&self) -> Result<Vec<Path>> {
        let list = self.objects.list(Some(&Path::from("manifest")));
        let listed = list.map_ok(|meta| meta.location).try_collect();
        let mut files: Vec<Path> = listed.await.map_err(|e| self.failed("manifest", e))?;
        files.sort();
        Ok(files)
    }

    async fn entries(&self, files: Vec<Path>) -> Result<BTreeMap<String, Entry>> {
        let texts = futures::stream::iter(files).map(|file| async move {
            let text = self.read(&file).await?;
            Ok::<_, Error>((file, text))
        });
        let mut texts = texts.buffered(CONCURRENT);
        let mut entries = BTreeMap::new();
        while let Some((file, text)) = texts.try_next().await? {
            for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
                if line.is_empty() {
                    continue;
                }
                let entry: Entry =
                    serde_json::from_slice(line).map_err(|source| Error::Manifest {
                        place: self.place(file.as_ref()),
                        line: index + 1,
                        source,
                    })?;
                entries.insert(entry.uri.clone(), entry);
            }
        }
        Ok(entries)
    }

    /// The manifest of a store that must have one, sorted by uri.
    pub async fn planned(&self) -> Result<Vec<Entry>> {
        let entries: Vec<Entry> = self.manifest().await?.into_values().collect();
        match entries.is_empty() {
            true => Err(Error::NoManifest {
                store: self.name.clone(),
            }),
            false => Ok(entries),
        }
    }

    /// Adds the entries that the manifest lacks or has with another etag.
    pub async fn plan(&self, found: impl IntoIterator<Item = Entry>) -> Result<Changes> {
        let files = self.manifest_files().await?;
        let last = files.last().and_then(Path::filename).and_then(ulid_of);
        let earlier = self.entries(files).await?;
        let found: HashMap<String, Entry> = found.into_iter().map(|e| (e.uri.clone(), e)).collect();
        let mut changes = Changes::default();
        let mut lines: Vec<&Entry> = Vec::new();
        for entry in found.values() {
            match earlier.get(&entry.uri) {
                Some(known) if known == entry => changes.unchanged += 1,
                Some(_) => changes.changed += 1,
                None => changes.new += 1,
            }
            if earlier.get(&entry.uri) != Some(entry) {
                lines.push(entry);
            }
        }
        if lines.is_empty() {
            return Ok(changes);
        }
        lines.sort();
        let mut text = Vec::new();
        for entry in lines {
            serde_json::to_writer(&mut text, entry).map_err(|source| Error::Unreadable {
                place: entry.uri.clone(),
                source,
            })?;
            text.push(b'\n');
        }
        let name = format!("manifest/{}.jsonl", ulid_after(last));
        let path = Path::from(name.as_str());
        let put = self.objects.put(&path, PutPayload::from(text)).await;
        put.map_err(|e| self.failed(&name, e))?;
        Ok(changes)
    }

    /// The keys of all results, without reading them.
    pub async fn keys(&self) -> Result<HashSet<String>> {
        self.listed(|key, _| key).await
    }

    /// The keys of all results, the newest result first.
    pub(crate) async fn newest(&self) -> Result<Vec<String>> {
        let listed = self.listed(|key, meta| (Reverse(meta.last_modified), key));
        let mut dated: Vec<_> = listed.await?;
        dated.sort();
        Ok(dated.into_iter().map(|(_, key)| key).collect())
    }

    /// Maps the key and the metadata of each result with `of`.
    async fn listed<T, C: Default + Extend<T>>(
        &self,
        of: impl Fn(String, ObjectMeta) -> T,
    ) -> Result<C> {
        let list = self.objects.list(Some(&Path::from("results")));
        let found = list.try_filter_map(|meta| {
            let name = meta.location.filename();
            let key = name.and_then(|name| name.strip_suffix(".json"));
            let found = key.map(str::to_owned).map(|key| of(key, meta));
            std::future::ready(Ok(found))
        });
        let found = found.try_collect().await;
        found.map_err(|e| self.failed("results", e))
    }

    /// The results with these keys, in this order, several read at a time.
    pub(crate) fn read_each<'a>(&'a self, keys: &'a [String]) -> BoxStream<'a, Result<Vec<u8>>> {
        let read = futures::stream::iter(keys)
            .map(move |key| async move { self.read(&path_of(key)).await });
        read.buffered(CONCURRENT).boxed()
    }

    /// Whether a job has a result.
    pub async fn has(&self, key: &str) -> Result<bool> {
        match self.objects.head(&path_of(key)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.failed(key, error)),
        }
    }

    /// The result with this key; `None` without one.
    pub async fn result(&self, key: &str) -> Result<Option<JobResult>> {
        let path = path_of(key);
        let found = self.try_read(&path).await?;
        found.map(|bytes| self.parse(&path, &bytes)).transpose()
    }

    /// Writes a result, unless there is one with its key.
    pub async fn put(&self, result: &JobResult) -> Result<Put> {
        let path = path_of(&result.key);
        let bytes = serde_json::to_vec(result).map_err(|source| Error::Unreadable {
            place: result.uri.clone(),
            source,
        })?;
        Ok(match self.create(&path, bytes.clone()).await? {
            true => Put::Created,
            false if self.read(&path).await? == bytes => Put::Repeated,
            false => Put::Different,
        })
    }

    /// Removes the result with this key if it is a failed one, so that the job is tried again. Returns whether it was.
    pub async fn forget_failure(&self, key: &str) -> Result<bool> {
        let failed = self
            .result(key)
            .await?
            .is_some_and(|r| r.status == Status::Failed);
        if failed {
            self.delete(&path_of(key)).await?;
        }
        Ok(failed)
    }

    /// Writes an object if it does not exist; returns true if it was written.
    pub(crate) async fn create(&self, path: &Path, bytes: Vec<u8>) -> Result<bool> {
        let create = PutOptions::from(PutMode::Create);
        let put = self.objects.put_opts(path, PutPayload::from(bytes), create);
        match put.await {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(self.failed(path.as_ref(), error)),
        }
    }

    /// Writes an object, in the place of another if there is one.
    pub(crate) async fn replace(&self, path: &Path, bytes: Vec<u8>) -> Result<()> {
        let put = self.objects.put(path, PutPayload::from(bytes)).await;
        put.map(|_| ()).map_err(|e| self.failed(path.as_ref(), e))
    }

    /// Deletes an object, if there is one.
    pub(crate) async fn delete(&self, path: &Path) -> Result<()> {
        match self.objects.delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(path.as_ref(), error)),
        }
    }

    /// The objects at any depth below a prefix, with names after `after`.
    pub(crate) async fn below(
        &self,
        prefix: &str,
        after: Option<&Path>,
    ) -> Result<Vec<ObjectMeta>> {
        let path = Path::from(prefix);
        let list = match after {
            Some(after) => self.objects.list_with_offset(Some(&path), after),
            None => self.objects.list(Some(&path)),
        };
        let listed = list.try_collect().await;
        listed.map_err(|e| self.failed(prefix, e))
    }

    /// The content of an object; `None` without one.
    pub(crate) async fn try_read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        match self.read(path).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Error::Objects {
                source: object_store::Error::NotFound { .. },
                ..
            }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let failed = |e| self.failed(path.as_ref(), e);
        let object = self.objects.get(path).await.map_err(failed)?;
        Ok(object.bytes().await.map_err(failed)?.to_vec())
    }

    fn parse(&self, path: &Path, bytes: &[u8]) -> Result<JobResult> {
        let result: JobResult =
            serde_json::from_slice(bytes).map_err(|source| Error::Unreadable {
                place: self.place(path.as_ref()),
                source,
            })?;
        match result.version {
            RESULT_VERSION => Ok(result),
            found => Err(Error::Version {
                place: self.place(path.as_ref()),
                found,
                known: RESULT_VERSION,
            }),
        }
    }

    pub(crate) fn place(&self, relative: &str) -> String {
        format!("{}/{relative}", self.name)
    }

    fn failed(&self, relative: &str, source: object_store::Error) -> Error {
        Error::Objects {
            place: self.place(relative),
            source,
        }
    }
}

fn path_of(key: &str) -> Path {
    Path::from(crate::tables::path_of(key))
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;
    use crate::result::Program;

    fn entry(uri: &str, etag: &str) -> Entry {
        let (uri, etag) = (uri.to_owned(), etag.to_owned());
        Entry { uri, etag, size: 7 }
    }

    fn program() -> Program {
        let (version, configuration) = ("1".to_owned(), "default".to_owned());
        Program {
            version,
            configuration,
        }
    }

    /// In memory and in a folder.
    fn stores() -> (tempfile::TempDir, [Store; 2]) {
        let folder = tempfile::tempdir().expect("folder");
        let place = folder.path().join("store").display().to_string();
        let local = Store::open(&Access::default(), &place).expect("a store");
        (
            folder,
            [Store::over(Arc::new(InMemory::new()), "memory"), local],
        )
    }

    #[tokio::test]
    async fn planning_again_adds_only_what_changed() {
        let (_folder, stores) = stores();
        for store in stores {
            assert!(matches!(
                store.planned().await,
                Err(Error::NoManifest { .. })
            ));
            let plan = |entries: Vec<Entry>| {
                let store = store.clone();
                async move {
                    let changes = store.plan(entries).await.expect("planned");
                    [changes.new, changes.changed, changes.unchanged]
                }
            };
            assert_eq!(
                plan(vec![entry("b", "1"), entry("a", "1"), entry("a", "1")]).await,
                [2, 0, 0]
            );
            assert_eq!(plan(vec![entry("a", "1")]).await, [0, 0, 1]);
            assert_eq!(
                plan(vec![entry("a", "2"), entry("c", "1")]).await,
                [1, 1, 0]
            );
            let expected = [entry("a", "2"), entry("b", "1"), entry("c", "1")];
            assert_eq!(store.planned().await.expect("a manifest"), expected);
        }
    }

    #[test]
    fn a_later_plan_has_a_later_name_whatever_the_clock_says() {
        for ahead in [0, 1 << 40] {
            let now = Ulid::generate();
            let last = Ulid::from_parts(now.timestamp_ms() + ahead, u128::MAX);
            let name = format!("{last}.jsonl");
            assert_eq!(ulid_of(&name), Some(last));
            assert!(ulid_after(ulid_of(&name)) > last);
        }
        assert_eq!(ulid_of("notes.txt"), None);
    }

    #[tokio::test]
    async fn the_first_result_of_a_job_stays() {
        let (_folder, stores) = stores();
        for store in stores {
            let failed = |reason: &str| {
                JobResult::failed(&entry("a", "1"), &program(), reason.to_owned(), 1)
            };
            let first = failed("gone");
            assert_eq!(store.put(&first).await.expect("put"), Put::Created);
            assert_eq!(store.put(&first).await.expect("put"), Put::Repeated);
            assert_eq!(
                store.put(&failed("other")).await.expect("put"),
                Put::Different
            );
            assert!(store.has(&first.key).await.expect("has"));
            let id = store.id().await.expect("an id");
            assert_eq!(store.id().await.expect("an id"), id);
            assert_eq!(
                store.keys().await.expect("keys"),
                HashSet::from([first.key.clone()])
            );
            let keys = [first.key.clone()];
            let read = store.read_each(&keys).try_collect().await;
            let all: Vec<Vec<u8>> = read.expect("results");
            assert_eq!(all, [serde_json::to_vec(&first).expect("JSON")]);
            assert!(store.forget_failure(&first.key).await.expect("deleted"));
            assert!(!store.forget_failure(&first.key).await.expect("deleted"));
            assert!(!store.has(&first.key).await.expect("has"));
        }
    }
}
