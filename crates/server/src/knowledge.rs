//! The knowledge base and its index: built if it is missing, and updated if the documents come with the program.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bzip2::read::BzDecoder;
use indexer::build::{Progress, Skipped, Summary};
use indexer::{BuildError, EmbedderChoice, OpenError, Rebuild, Settings};
use report::format::ERROR;
use report::say;
use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// The built-in knowledge base, and a text that is another one for other documents.
static BUILTIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/knowledge.tar.bz2"));
const MARK: &str = env!("KNOWLEDGE_MARK");

/// How long to wait for a process that builds the same index (a build takes seconds, minutes on a busy machine), and how often to look.
const PATIENCE: Duration = Duration::from_mins(5);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Documents {
    /// A folder that curators edit.
    Folder(PathBuf),
    Builtin,
}

#[derive(Debug, Clone)]
pub struct Knowledge {
    pub documents: Documents,
    /// Folder of the index.
    pub index: PathBuf,
    /// Whether the program owns the index folder and may rebuild an unusable index.
    pub is_own: bool,
    pub settings: Settings,
}

/// An index open for searching.
pub struct OpenIndex {
    session: indexer::Session,
    /// Holds an index that could not be written to its own folder. Dropped after the session.
    _scratch: Option<TempDir>,
}

impl OpenIndex {
    /// The newest generation.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn current(&self) -> Result<Arc<indexer::Index>> {
        Ok(self.session.current()?)
    }
}

impl Knowledge {
    /// Opens the index, and builds it first if it is missing. The index of the built-in documents follows the program's version. With
    /// `use_graphs`, large segments get a graph in the background; a single call ends too early to profit. A read-only index is used
    /// as it is, or built for this session only.
    ///
    /// # Errors
    /// If the index cannot be opened or built.
    pub fn open(&self, use_graphs: bool, monitor: &dyn Monitor) -> Result<OpenIndex> {
        let mut settings = self.settings.clone();
        if !use_graphs {
            settings.graph_from = usize::MAX;
        }
        let (session, scratch) = match self.open_or_build(&settings, monitor) {
            Ok(session) => (session, None),
            Err(error @ BuildError::Write { .. }) => {
                self.open_unwritable(&settings, error, monitor)?
            }
            Err(error) => return Err(error.into()),
        };
        Ok(OpenIndex {
            session,
            _scratch: scratch,
        })
    }

    fn open_or_build(
        &self,
        settings: &Settings,
        monitor: &dyn Monitor,
    ) -> std::result::Result<indexer::Session, BuildError> {
        if self.documents == Documents::Builtin && !indexer::build::has_mark(&self.index, MARK) {
            self.bring_up_to_date(Rebuild::Changed, monitor)?;
        }
        let rebuild = match indexer::Session::open(&self.index, settings) {
            Err(OpenError::Missing { .. }) => {
                monitor.remark(&say!(
                    "正在 `{folder}` 中构建知识索引（仅首次使用时）",
                    "building the knowledge index in `{folder}` (first use only)",
                    folder = self.index.display().to_string()
                ));
                Rebuild::Changed
            }
            Err(OpenError::Mismatch(_) | OpenError::Damaged { .. }) if self.is_own => Rebuild::Full,
            // Vectors from elsewhere may cost money.
            Err(OpenError::Mismatch(mismatch))
                if mismatch.is_outdated() && settings.embedder == EmbedderChoice::Embedded =>
            {
                monitor.remark(&say!(
                    "`{folder}` 中的索引来自旧版本，正在重建",
                    "the index in `{folder}` is of an older version: rebuilding it",
                    folder = self.index.display().to_string()
                ));
                Rebuild::Full
            }
            other => return Ok(other?),
        };
        self.bring_up_to_date(rebuild, monitor)?;
        Ok(indexer::Session::open(&self.index, settings)?)
    }

    /// Opens an index that could not be written because of `error`.
    fn open_unwritable(
        &self,
        settings: &Settings,
        error: BuildError,
        monitor: &dyn Monitor,
    ) -> Result<(indexer::Session, Option<TempDir>)> {
        let reason = Error::from(error);
        if let Ok(session) = indexer::Session::open(&self.index, settings) {
            let reason = reason.message;
            monitor.warn(&say!(
                "索引保持原样：{reason}",
                "the index stays as it is: {reason}"
            ));
            return Ok((session, None));
        }
        // Vectors from elsewhere take too long to be made for one session.
        if settings.embedder != EmbedderChoice::Embedded {
            return Err(reason);
        }
        let Ok(scratch) = tempfile::tempdir() else {
            return Err(reason);
        };
        let why = &reason.message;
        monitor.warn(&say!(
            "索引只为本次调用构建：{why}",
            "the index is built for this call only: {why}"
        ));
        let elsewhere = Knowledge {
            index: scratch.path().join("index"),
            ..self.clone()
        };
        match elsewhere.open_or_build(settings, monitor) {
            Ok(session) => Ok((session, Some(scratch))),
            Err(_) => Err(reason),
        }
    }

    /// Brings the index up to date.
    ///
    /// # Errors
    /// Also if another process is writing the index.
    pub fn update(&self, rebuild: Rebuild, monitor: &dyn Monitor) -> Result<Summary> {
        Ok(self.build(rebuild, monitor)?)
    }

    /// Brings the index up to date before use: waits for another process that does the same, and rebuilds the program's own index if it
    /// can't be updated.
    fn bring_up_to_date(
        &self,
        mut rebuild: Rebuild,
        monitor: &dyn Monitor,
    ) -> std::result::Result<(), BuildError> {
        let started = Instant::now();
        loop {
            match self.build(rebuild, monitor) {
                Ok(_) => return Ok(()),
                // An older index serves as well as waiting for the new one.
                Err(BuildError::Locked { .. }) if self.is_usable() => return Ok(()),
                Err(BuildError::Locked { .. }) if started.elapsed() < PATIENCE => {
                    std::thread::sleep(POLL_INTERVAL);
                }
                Err(BuildError::Mismatch(mismatch))
                    if self.is_own && rebuild == Rebuild::Changed =>
                {
                    rebuild = match mismatch.what {
                        "embedder" => Rebuild::Reembed,
                        _ => Rebuild::Full,
                    };
                }
                Err(BuildError::Mismatch(_) | BuildError::Open(_))
                    if self.is_own && rebuild != Rebuild::Full =>
                {
                    rebuild = Rebuild::Full;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The text of a document, by the path that its chunks have.
    pub(crate) fn document(&self, name: &str) -> Option<String> {
        let path = Path::new(name);
        let is_inside = path.components().all(|c| matches!(c, Component::Normal(_)));
        match &self.documents {
            Documents::Folder(folder) if is_inside => fs::read_to_string(folder.join(path)).ok(),
            Documents::Folder(_) => None,
            Documents::Builtin => builtin_documents().get(name).cloned(),
        }
    }

    fn is_usable(&self) -> bool {
        indexer::Index::open(&self.index, &self.settings).is_ok()
    }

    fn build(
        &self,
        rebuild: Rebuild,
        monitor: &dyn Monitor,
    ) -> std::result::Result<Summary, BuildError> {
        let settings = Settings {
            rebuild,
            ..self.settings.clone()
        };
        let mut line = monitor.progress("index");
        let mut show =
            |p: Progress| line(&format!("{:?}", p.phase).to_lowercase(), p.done, p.total);
        let done = match &self.documents {
            Documents::Folder(folder) => {
                indexer::build::update(folder, &self.index, &settings, &mut show)
            }
            Documents::Builtin => indexer::build::update_from(
                builtin_documents().clone(),
                MARK,
                &self.index,
                &settings,
                &mut show,
            ),
        };
        for Skipped {
            document,
            line,
            reason,
        } in done.iter().flat_map(|summary| &summary.skipped)
        {
            monitor.remark(&say!(
                "跳过 {document}:{line}：{reason}",
                "skipped {document}:{line}: {reason}"
            ));
        }
        done
    }

    /// Documents that changed since the index was built; 0 if that is unknown.
    pub fn changed_documents(&self) -> usize {
        match &self.documents {
            Documents::Folder(folder) => {
                indexer::build::outdated(folder, &self.index).unwrap_or_default()
            }
            Documents::Builtin => 0,
        }
    }

    /// The knowledge folder's catalogue of files, else the built-in one.
    pub(crate) fn catalogue(&self) -> Result<job::Catalogue> {
        let path = match &self.documents {
            Documents::Folder(folder) => folder.join("files.toml"),
            Documents::Builtin => return Ok(job::Catalogue::builtin()),
        };
        if !path.is_file() {
            return Ok(job::Catalogue::builtin());
        }
        job::Catalogue::load(&path).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            error!(
                Usage: "文件目录表有 {count}：\n  {lines}", "the file catalogue has {count}:\n  {lines}", count = ERROR.count(lines.len() as f64), lines = lines.join("\n  ");
                "请修正这些行，或删除该文件以使用内置的目录表", "fix these lines, or remove the file to use the built-in catalogue"
            )
        })
    }
}

/// The texts of the built-in documents by relative path. Unpacked once per process, which takes a third of a second.
pub fn builtin_documents() -> &'static BTreeMap<String, String> {
    static UNPACKED: LazyLock<BTreeMap<String, String>> =
        LazyLock::new(|| unpack().expect("the archive of the build is whole and holds texts"));
    &UNPACKED
}

fn unpack() -> io::Result<BTreeMap<String, String>> {
    let mut archive = tar::Archive::new(BzDecoder::new(BUILTIN));
    let documents = archive.entries()?.map(|entry| {
        let mut entry = entry?;
        let path = entry.path()?.to_string_lossy().into_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text)?;
        Ok((path, text))
    });
    documents.collect()
}
