//! Opens a job from any location as a local folder.
//!
//! A local folder or file is used in place. An archive is unpacked, and objects and the logs of a History Server are fetched into a
//! temporary folder, within bounds, which is removed with the [`Opened`] job. All writes stay inside that folder, with any content of
//! archives and listings.

mod archive;
mod fetch;
#[cfg(test)]
pub(crate) mod fixture;
mod inside;
mod temporary;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::application::Application;
use crate::error::{Error, Result};
use crate::folders::jobs_under;
use crate::formats::is_archive;
use crate::history::{self, ListedApplication, Wanted};
use crate::location::{Access, Location, is_url, local_uri};

use crate::state::state_of;
use report::say;
use temporary::{Folder, Temporary};

/// Limits for an unpacked or fetched job.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes after unpacking.
    pub bytes: u64,
    pub entries: usize,
    /// Folders within folders.
    pub depth: usize,
}

impl Bounds {
    /// Why something is refused that has more bytes.
    fn too_large(&self) -> String {
        let most = self.bytes;
        say!("内容超过 {most} 字节", "it has more than {most} bytes")
    }
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            // event logs of a few GiB exist
            bytes: 8 << 30,
            // more files are not read of a folder either
            entries: job::Options::default().max_files,
            depth: 16,
        }
    }
}

/// Opens jobs wherever they are.
#[derive(Debug, Clone)]
pub struct Sources {
    access: Arc<Access>,
    bounds: Bounds,
    temporary: Arc<Temporary>,
}

/// A job that is a local folder or file for as long as this exists.
#[derive(Debug)]
pub struct Opened {
    pub path: PathBuf,
    /// Changes when a file of the job does.
    pub etag: String,
    /// Original location, if `path` is a copy.
    pub origin: Option<String>,
    /// Links in an archive, which were left out.
    pub links: Vec<String>,
    _folder: Option<Folder>,
}

impl Sources {
    /// Copies go into folders below `temporary`.
    pub fn new(access: Access, temporary: &Path, bounds: Bounds) -> Sources {
        Sources {
            access: Arc::new(access),
            bounds,
            temporary: Arc::new(Temporary::below(temporary)),
        }
    }

    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Whether a text names something that only [`Sources::open`] makes readable: a URL or an archive.
    pub fn opens(text: &str) -> bool {
        is_url(text) || is_archive(text) && Path::new(text).is_file()
    }

    /// The applications of an allowed History Server, newest first.
    ///
    /// # Errors
    /// If the server is not allowed or cannot be reached.
    pub async fn applications(
        &self,
        server: &str,
        wanted: &Wanted,
    ) -> Result<Vec<ListedApplication>> {
        history::list(&self.access, server, wanted).await
    }

    /// # Errors
    /// If the job cannot be reached, exceeds a bound, contains several jobs, or would write outside of its folder.
    pub async fn open(&self, source: &str) -> Result<Opened> {
        match self.access.locate(source)? {
            Location::Local(path) => self.open_local(source, path).await,
            Location::Remote(remote) => {
                let folder = self.temporary.folder()?;
                let to = folder.path().join("job");
                let fetched = fetch::fetch(&remote, &to, &self.bounds).await?;
                let (path, links) = match fetched.file {
                    Some(file) if is_archive(source) => {
                        let to = folder.path().join("unpacked");
                        self.unpack(source, file, to).await?
                    }
                    Some(file) => (file, Vec::new()),
                    None => (only_job(source, &to)?, Vec::new()),
                };
                Ok(Opened {
                    path,
                    etag: fetched.etag,
                    origin: Some(source.to_owned()),
                    links,
                    _folder: Some(folder),
                })
            }
            Location::History(application) => self.open_application(source, &application).await,
        }
    }

    async fn open_application(&self, source: &str, application: &Application) -> Result<Opened> {
        let found = history::find(&self.access, application).await?;
        let folder = self.temporary.folder()?;
        let archive = folder.path().join("log.zip");
        found.download(&archive, self.bounds.bytes).await?;
        let path = self.unpack(source, archive.clone(), folder.path().join("job"));
        let (path, links) = path.await?;
        // a large log would take its space twice; if the removal fails, the folder's removal
        // deletes it
        let _ = std::fs::remove_file(archive);
        Ok(Opened {
            path,
            etag: found.etag,
            origin: Some(found.application.to_string()),
            links,
            _folder: Some(folder),
        })
    }

    async fn open_local(&self, source: &str, path: PathBuf) -> Result<Opened> {
        let (etag, _) = state_of(&path)?;
        if !path.is_file() || !is_archive(source) {
            return Ok(Opened {
                path,
                etag,
                origin: None,
                links: Vec::new(),
                _folder: None,
            });
        }
        let folder = self.temporary.folder()?;
        let origin = Some(local_uri(&path));
        let unpacked = self.unpack(source, path, folder.path().join("job"));
        let (path, links) = unpacked.await?;
        Ok(Opened {
            path,
            etag,
            origin,
            links,
            _folder: Some(folder),
        })
    }

    /// Unpacks an archive into a new folder and returns the job in it, and the links that were left out.
    async fn unpack(
        &self,
        source: &str,
        archive: PathBuf,
        to: PathBuf,
    ) -> Result<(PathBuf, Vec<String>)> {
        let bounds = self.bounds;
        let folder = to.clone();
        let unpacked =
            tokio::task::spawn_blocking(move || archive::unpack(&archive, &folder, &bounds));
        let refused = |reason: &dyn fmt::Display| Error::Archive {
            place: source.to_owned(),
            reason: reason.to_string(),
        };
        match unpacked.await {
            Ok(Ok(links)) => Ok((only_job(source, &to)?, links)),
            Ok(Err(reason)) => Err(refused(&reason)),
            // a bug in a reader of archives must not cost the other jobs
            Err(_) => Err(refused(&"it cannot be read")),
        }
    }
}

/// The only job in a folder: archives and prefixes often have it in a folder of their own.
fn only_job(source: &str, folder: &Path) -> Result<PathBuf> {
    let mut jobs = jobs_under(folder);
    match (jobs.pop(), jobs.len()) {
        (Some(job), 0) => Ok(job),
        (_, others) => Err(Error::SeveralJobs {
            place: source.to_owned(),
            jobs: others + 1,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use testkit::zip;

    use super::*;

    const SCRIPT: &[u8] = b"x = SELECT a FROM b;\n";

    fn tar(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in entries {
            let mut header = tar::Header::new_gnu();
            // the library would refuse the names that a hostile archive has
            let raw = header.as_old_mut();
            raw.name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            builder.append(&header, *bytes).expect("appended");
        }
        builder.into_inner().expect("an archive")
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("written");
        encoder.finish().expect("compressed")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// Opens an archive with these bytes within small bounds and returns the job's files, or the error.
    async fn opened(name: &str, bytes: &[u8]) -> std::result::Result<Vec<String>, String> {
        let here = tempfile::tempdir().expect("folder");
        let archive = here.path().join(name);
        fs::write(&archive, bytes).expect("written");
        let bounds = Bounds {
            bytes: 100_000,
            entries: 5,
            depth: 3,
        };
        let place = archive.display().to_string();
        let opened = fixture::opened(here.path(), Access::default(), bounds, &place).await;
        opened
            .map(|(_, names)| names)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn links_are_named_and_what_macos_adds_is_left_out() {
        let here = tempfile::tempdir().expect("folder");
        let mut builder = tar::Builder::new(Vec::new());
        let mut add = |name: &str, kind: tar::EntryType| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(0);
            header.set_cksum();
            let done = match kind {
                tar::EntryType::Symlink => builder.append_link(&mut header, name, "/etc/passwd"),
                _ => builder.append_data(&mut header, name, std::io::empty()),
            };
            done.expect("appended");
        };
        add("j/scope.script", tar::EntryType::Regular);
        add("j/secret", tar::EntryType::Symlink);
        add("j/._scope.script", tar::EntryType::Regular);
        add("__MACOSX/j/._scope.script", tar::EntryType::Regular);
        let archive = here.path().join("job.tar");
        fs::write(&archive, builder.into_inner().expect("an archive")).expect("written");
        let to = here.path().join("to");
        let links = archive::unpack(&archive, &to, &Bounds::default());
        assert_eq!(links.expect("unpacked"), ["j/secret"]);
        let names = |folder: &str| -> Vec<String> {
            let entries = fs::read_dir(to.join(folder)).expect("a folder");
            let names = entries.map(|e| e.expect("an entry").file_name().into_string());
            names.map(|name| name.expect("a name")).collect()
        };
        assert_eq!(
            (names(""), names("j")),
            (vec!["j".to_owned()], vec!["scope.script".to_owned()])
        );
    }

    #[tokio::test]
    async fn archives_are_jobs_wherever_the_job_is_in_them() {
        let flat = [("scope.script", SCRIPT), ("notes.txt", b"hello".as_slice())];
        let nested = [("a/b/scope.script", SCRIPT)];
        for (name, bytes, expected) in [
            ("flat.tar", tar(&flat), vec!["notes.txt", "scope.script"]),
            ("nested.tar.gz", gzip(&tar(&nested)), vec!["scope.script"]),
            ("nested.tgz", gzip(&tar(&nested)), vec!["scope.script"]),
            ("nested.tar.zst", zstd(&tar(&nested)), vec!["scope.script"]),
            ("flat.zip", zip(&flat), vec!["notes.txt", "scope.script"]),
        ] {
            assert_eq!(opened(name, &bytes).await.expect(name), expected, "{name}");
        }
        let two = tar(&[("a/scope.script", SCRIPT), ("b/scope.script", SCRIPT)]);
        let error = opened("two.tar", &two).await.expect_err("two jobs");
        assert!(error.contains("2 jobs"), "{error}");
    }

    mod security {
        use super::*;

        #[tokio::test]
        async fn an_archive_writes_nothing_outside_and_no_more_than_it_may() {
            let zeros = vec![0; 1_000_000];
            let many: Vec<String> = (0..9).map(|n| format!("{n}")).collect();
            let many: Vec<(&str, &[u8])> = many.iter().map(|n| (n.as_str(), SCRIPT)).collect();
            for (name, bytes, expected) in [
                ("up.tar", tar(&[("../up", SCRIPT)]), "`../up`"),
                ("up.zip", zip(&[("a/../../up", SCRIPT)]), "`a/../../up`"),
                ("root.tar", tar(&[("/tmp/up", SCRIPT)]), "`/tmp/up`"),
                ("root.zip", zip(&[("/up", SCRIPT)]), "`/up`"),
                ("windows.zip", zip(&[("..\\up", SCRIPT)]), "up`"),
                ("deep.tar", tar(&[("a/b/c/d/e", SCRIPT)]), "deep"),
                ("bomb.zip", zip(&[("zeros", &zeros)]), "100000 bytes"),
                (
                    "bomb.tar.gz",
                    gzip(&tar(&[("zeros", &zeros)])),
                    "100000 bytes",
                ),
                (
                    "bomb.tar.zst",
                    zstd(&tar(&[("zeros", &zeros)])),
                    "100000 bytes",
                ),
                ("many.tar", tar(&many), "5 entries"),
                ("many.zip", zip(&many), "5 entries"),
                (
                    "cut.tar.gz",
                    gzip(&tar(&[("a", SCRIPT)]))[..40].to_vec(),
                    "",
                ),
                ("none.zip", b"PK\x03\x04 no archive".to_vec(), ""),
            ] {
                let error = opened(name, &bytes).await.expect_err(name);
                assert!(
                    error.contains(expected) && error.contains(name),
                    "{name}: {error}"
                );
            }
        }

        #[tokio::test]
        async fn a_header_takes_no_memory_that_the_job_may_not() {
            // GNU's long names are read into memory as a whole
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::GNULongName);
            header.set_path("long").expect("a name");
            let name = vec![b'x'; 4_000_000];
            header.set_size(name.len() as u64);
            header.set_cksum();
            let mut builder = tar::Builder::new(Vec::new());
            builder.append(&header, name.as_slice()).expect("appended");
            let bytes = gzip(&builder.into_inner().expect("an archive"));
            let error = opened("name.tar.gz", &bytes).await.expect_err("refused");
            assert!(error.contains("longer than 1 MiB"), "{error}");
        }

        #[cfg(unix)]
        #[tokio::test]
        async fn links_and_devices_are_left_out() {
            let mut builder = tar::Builder::new(Vec::new());
            for (name, kind) in [
                ("link", tar::EntryType::Symlink),
                ("pipe", tar::EntryType::Fifo),
            ] {
                let mut header = tar::Header::new_gnu();
                header.set_entry_type(kind);
                header.set_size(0);
                builder
                    .append_link(&mut header, name, "/etc")
                    .expect("appended");
            }
            let mut header = tar::Header::new_gnu();
            header.set_size(SCRIPT.len() as u64);
            builder
                .append_data(&mut header, "scope.script", SCRIPT)
                .expect("appended");
            let bytes = builder.into_inner().expect("an archive");
            assert_eq!(
                opened("links.tar", &bytes).await.expect("a job"),
                ["scope.script"]
            );
        }
    }
}
