//! Which objects below a prefix are jobs.
//!
//! A listing has names only, so folders decide: one with objects is a job, with all that is below it. Where that is not clear, because there
//! are folders next to the objects, or because each object could be the log of a Spark application, the first bytes of objects decide, as
//! they do for local folders.

use std::collections::BTreeMap;

use futures::stream::{StreamExt, TryStreamExt};
use job::model::FileKind;
use object_store::{ObjectMeta, ObjectStoreExt};

use crate::error::{Error, Result};
use crate::formats::is_archive;
use crate::location::Remote;
use crate::result::Entry;
use crate::state::{relative, state_of_objects};

/// Prefixes that are listed concurrently, and objects that are looked into.
const CONCURRENT: usize = 16;
/// Bytes that are read to recognize a file.
const HEAD_BYTES: u64 = 4096;
/// Objects of a folder that are looked into.
const LOOKED_INTO: usize = 8;
/// Name prefix of the folder of a rolling Spark event log. Its files are one log.
const ROLLING: &str = "eventlog_v2_";

/// A folder of the listing.
#[derive(Default)]
struct Folder {
    folders: BTreeMap<String, Folder>,
    objects: BTreeMap<String, ObjectMeta>,
}

/// Path of a job relative to the prefix, with its objects by their names relative to the job.
type Found = (String, Vec<(String, ObjectMeta)>);

pub(super) async fn discover(remote: &Remote) -> Result<Vec<Entry>> {
    let mut root = Folder::default();
    for meta in list(remote).await? {
        if let Some(name) = relative(&remote.path, &meta.location) {
            root.insert(&name, meta);
        }
    }
    if root.folders.is_empty() && root.objects.is_empty() {
        // a single object, or no object, which becomes the error
        let meta = remote.objects.head(&remote.path).await;
        let meta = meta.map_err(|e| failed(remote, e))?;
        return Ok(vec![entry(remote, "", &[(String::new(), meta)])]);
    }
    let mut found = Vec::new();
    // folders that are not classified yet
    let mut open = vec![(String::new(), root)];
    while !open.is_empty() {
        let looked = futures::stream::iter(open).map(|(name, folder)| async move {
            let kind = folder.kind(remote, &name).await?;
            Ok::<_, Error>((name, folder, kind))
        });
        let looked: Vec<_> = looked.buffered(CONCURRENT).try_collect().await?;
        open = Vec::new();
        for (name, folder, kind) in looked {
            match kind {
                Kind::Job => found.push((name, folder.all(""))),
                Kind::Collection { logs } => folder.open(&name, logs, &mut found, &mut open),
            }
        }
    }
    let entries = found
        .iter()
        .map(|(name, objects)| entry(remote, name, objects));
    Ok(entries.collect())
}

/// Everything below a prefix; each folder at the top is listed concurrently.
async fn list(remote: &Remote) -> Result<Vec<ObjectMeta>> {
    let top = remote.objects.list_with_delimiter(Some(&remote.path)).await;
    let top = top.map_err(|e| failed(remote, e))?;
    let listed = futures::stream::iter(top.common_prefixes).map(|prefix| async move {
        let all = remote.objects.list(Some(&prefix));
        all.try_collect::<Vec<ObjectMeta>>().await
    });
    let mut objects = top.objects;
    let mut listed = listed.buffer_unordered(CONCURRENT);
    while let Some(more) = listed.try_next().await.map_err(|e| failed(remote, e))? {
        objects.extend(more);
    }
    Ok(objects)
}

enum Kind {
    Job,
    Collection {
        /// True if its objects are event logs, and each log is a job.
        logs: bool,
    },
}

impl Folder {
    fn insert(&mut self, name: &str, meta: ObjectMeta) {
        match name.split_once('/') {
            Some((folder, rest)) => {
                let folder = self.folders.entry(folder.to_owned()).or_default();
                folder.insert(rest, meta);
            }
            // some programs make empty objects for folders
            None if meta.size == 0 && self.folders.contains_key(name) => {}
            None => {
                self.objects.insert(name.to_owned(), meta);
            }
        }
    }

    /// Objects that are not jobs of their own.
    fn files(&self) -> impl Iterator<Item = (&String, &ObjectMeta)> {
        self.objects.iter().filter(|(name, _)| !is_archive(name))
    }

    async fn kind(&self, remote: &Remote, name: &str) -> Result<Kind> {
        let files = self.files().count();
        let has_archives = files < self.objects.len();
        if files == 0 {
            return Ok(Kind::Collection { logs: false });
        }
        let last = name.rsplit('/').next().unwrap_or_default();
        let is_clear = self.folders.is_empty() && !has_archives;
        if last.starts_with(ROLLING) || is_clear && !self.files().all(|(name, _)| is_log(name)) {
            return Ok(Kind::Job);
        }
        let heads = futures::stream::iter(self.files().take(LOOKED_INTO))
            .map(|(_, meta)| head(remote, meta))
            .buffered(LOOKED_INTO);
        let kinds: Vec<FileKind> = heads.try_collect().await?;
        let known = |k: &FileKind| !matches!(k, FileKind::Unknown | FileKind::Ignored);
        let logs = kinds.contains(&FileKind::SparkEvents);
        Ok(match kinds.iter().any(known) {
            true if logs && (files > 1 || !self.folders.is_empty()) => Kind::Collection { logs },
            true => Kind::Job,
            // a folder of unknown files is a job that cannot be read
            false if is_clear => Kind::Job,
            false => Kind::Collection { logs: false },
        })
    }

    /// Takes a collection apart.
    fn open(
        self,
        name: &str,
        logs: bool,
        found: &mut Vec<Found>,
        open: &mut Vec<(String, Folder)>,
    ) {
        let below = |part: &str| match name {
            "" => part.to_owned(),
            _ => format!("{name}/{part}"),
        };
        for (part, meta) in self.objects {
            if logs || is_archive(&part) {
                found.push((below(&part), vec![(String::new(), meta)]));
            }
        }
        for (part, folder) in self.folders {
            open.push((below(&part), folder));
        }
    }

    /// All objects with their names relative to the folder.
    fn all(self, prefix: &str) -> Vec<(String, ObjectMeta)> {
        let objects = self.objects.into_iter();
        let mut all: Vec<_> = objects
            .map(|(name, meta)| (format!("{prefix}{name}"), meta))
            .collect();
        for (name, folder) in self.folders {
            all.extend(folder.all(&format!("{prefix}{name}/")));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }
}

/// Whether an object may be the log of one Spark application, judging by Spark's naming of logs.
fn is_log(name: &str) -> bool {
    ["application_", "app-", "local-", "spark-"]
        .iter()
        .any(|start| name.starts_with(start))
}

async fn head(remote: &Remote, meta: &ObjectMeta) -> Result<FileKind> {
    if meta.size == 0 {
        return Ok(FileKind::Unknown);
    }
    let range = 0..meta.size.min(HEAD_BYTES);
    let bytes = remote.objects.get_range(&meta.location, range).await;
    Ok(job::kind_of(&bytes.map_err(|e| failed(remote, e))?))
}

fn entry(remote: &Remote, name: &str, objects: &[(String, ObjectMeta)]) -> Entry {
    let named: Vec<(&str, &ObjectMeta)> =
        objects.iter().map(|(name, m)| (name.as_str(), m)).collect();
    let (etag, size) = state_of_objects(&named);
    Entry {
        uri: remote.url_of(name),
        etag,
        size,
    }
}

fn failed(remote: &Remote, source: object_store::Error) -> Error {
    Error::Objects {
        place: remote.url.to_string(),
        source,
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

    const SCRIPT: &str = "x = SELECT a FROM b;\nOUTPUT x TO \"y\";\n";
    const LOG: &str = "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n";

    #[tokio::test]
    async fn jobs_are_told_from_folders_of_jobs() {
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        for (name, text) in [
            ("logs/README.md", "# Jobs\n"),
            ("logs/2026/01/a/scope.script", SCRIPT),
            ("logs/2026/01/a/deep/profile", "x"),
            ("logs/2026/01/b/scope.script", SCRIPT),
            ("logs/2026/01/b/photo.png", "x"),
            ("logs/2026/c.zip", "PK"),
            ("logs/history/application_1_1", LOG),
            ("logs/history/application_1_2", LOG),
            ("logs/history/eventlog_v2_app/events_1_app", LOG),
            ("logs/history/eventlog_v2_app/events_2_app", LOG),
            ("logs/one/app-7", LOG),
            ("logs2/scope.script", SCRIPT),
        ] {
            let payload = PutPayload::from(text.to_owned());
            objects.put(&Path::from(name), payload).await.expect("put");
        }
        let jobs = async |path: &str| {
            let remote = Remote {
                url: Url::parse(&format!("s3://bucket/{path}")).expect("a URL"),
                objects: Arc::clone(&objects),
                path: Path::from(path),
            };
            let found = discover(&remote).await.map_err(|e| e.to_string())?;
            let mut uris: Vec<String> = found.into_iter().map(|entry| entry.uri).collect();
            uris.sort();
            Ok::<_, String>(uris.join(" ").replace("s3://bucket/logs/", ""))
        };
        let expected = "2026/01/a 2026/01/b 2026/c.zip history/application_1_1 history/application_1_2 history/eventlog_v2_app one";
        assert_eq!(jobs("logs").await.expect("jobs"), expected);
        assert_eq!(jobs("logs/2026/01/a").await.expect("jobs"), "2026/01/a");
        assert_eq!(jobs("logs/2026/c.zip").await.expect("jobs"), "2026/c.zip");
        assert!(jobs("none").await.is_err());
    }
}
