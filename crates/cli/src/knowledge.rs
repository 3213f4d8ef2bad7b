//! Where the knowledge base and its index are, and how the index comes to be there.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use indexer::build::{Progress, Summary};
use indexer::{BuildError, Index, Mismatch, OpenError, Rebuild, Settings};
use rust_embed::RustEmbed;

use crate::config::{self, Config};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::models;
use crate::terminal::Terminal;

/// The knowledge base that comes with the program.
#[derive(RustEmbed)]
#[folder = "../../knowledge"]
struct Builtin;

/// How long to wait for another that builds the same index, and how often to look. A build takes
/// seconds.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Documents of the knowledge base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Documents {
    /// A folder that curators edit.
    Folder(PathBuf),
    /// What comes with the program.
    Builtin,
}

/// The knowledge base and the folder of its index.
#[derive(Debug, Clone)]
pub(crate) struct Knowledge {
    pub(crate) documents: Documents,
    pub(crate) index: PathBuf,
    /// Whether the index lies in the program's own data folder, where nobody else looks after it.
    own: bool,
    pub(crate) settings: Settings,
}

impl Knowledge {
    /// The configured folders; without any, `./knowledge` and `./index` if the former is there,
    /// else the built-in documents with their index in the data folder.
    pub(crate) fn locate(config: &Config) -> Result<Knowledge> {
        let local = PathBuf::from("knowledge");
        let documents = match &config.knowledge {
            Some(folder) if !folder.is_dir() => {
                return Err(CliError::new(Exit::Input, format!("the knowledge folder `{}` does not exist", folder.display()))
                    .hint("check --knowledge and the configuration; without either, the built-in knowledge is used"));
            }
            Some(folder) => Documents::Folder(folder.clone()),
            None if local.join("experience").is_dir() => Documents::Folder(local.clone()),
            None => Documents::Builtin,
        };
        let index = match (&config.index, &documents) {
            (Some(folder), _) => folder.clone(),
            (None, Documents::Folder(folder)) if *folder == local => PathBuf::from("index"),
            (None, Documents::Folder(folder)) => folder.join(".index"),
            (None, Documents::Builtin) => config::data_folder(config).join("builtin-index"),
        };
        let own = config.index.is_none() && documents == Documents::Builtin;
        Ok(Knowledge {
            documents,
            index,
            own,
            settings: models::settings(config)?,
        })
    }

    /// Opens the index; builds it first if there is none. The built-in documents change with the
    /// program, so their index follows them; one in the program's own data folder that another
    /// version made, or that is damaged, is built again.
    pub(crate) fn open(&self, terminal: &Terminal) -> Result<Index> {
        if self.documents == Documents::Builtin && !indexer::build::has_mark(&self.index, &mark()) {
            self.bring_up_to_date(Rebuild::Changed, terminal)?;
        }
        match Index::open(&self.index, &self.settings) {
            Err(OpenError::Missing { .. }) => {
                terminal.remark(&format!(
                    "building the knowledge index in `{}` (only this once)",
                    self.index.display()
                ));
                self.bring_up_to_date(Rebuild::Changed, terminal)?;
                Index::open(&self.index, &self.settings)
            }
            Err(OpenError::Mismatch(_) | OpenError::Damaged { .. }) if self.own => {
                self.bring_up_to_date(Rebuild::Full, terminal)?;
                Index::open(&self.index, &self.settings)
            }
            other => other,
        }
        .map_err(open_error)
    }

    /// Brings the index up to date, unless another is writing it.
    pub(crate) fn update(
        &self,
        rebuild: Rebuild,
        terminal: &Terminal,
    ) -> Result<indexer::build::Summary> {
        self.build(rebuild, terminal).map_err(build_error)
    }

    /// Brings the index up to date before it is used: waits for another that is about to do the same, be it a process or another
    /// call of the MCP server, and builds the program's own index anew where it cannot be continued.
    fn bring_up_to_date(&self, mut rebuild: Rebuild, terminal: &Terminal) -> Result<()> {
        let started = Instant::now();
        loop {
            match self.build(rebuild, terminal) {
                Ok(_) => return Ok(()),
                Err(BuildError::Locked { .. }) if started.elapsed() < PATIENCE => {
                    std::thread::sleep(LOOK_AGAIN);
                }
                Err(BuildError::Mismatch(mismatch)) if self.own && rebuild == Rebuild::Changed => {
                    rebuild = match mismatch.what {
                        "embedder" => Rebuild::Reembed,
                        _ => Rebuild::Full,
                    };
                }
                Err(BuildError::Mismatch(_) | BuildError::Open(_))
                    if self.own && rebuild != Rebuild::Full =>
                {
                    rebuild = Rebuild::Full;
                }
                Err(error) => return Err(build_error(error)),
            }
        }
    }

    fn build(
        &self,
        rebuild: Rebuild,
        terminal: &Terminal,
    ) -> std::result::Result<Summary, BuildError> {
        let settings = Settings {
            rebuild,
            ..self.settings.clone()
        };
        let bar = terminal.progress("index");
        let mut show =
            |p: Progress| bar.show(&format!("{:?}", p.phase).to_lowercase(), p.done, p.total);
        let done = match &self.documents {
            Documents::Folder(folder) => {
                indexer::build::update(folder, &self.index, &settings, &mut show)
            }
            Documents::Builtin => {
                indexer::build::update_from(builtin_documents(), &self.index, &settings, &mut show)
            }
        };
        bar.finish();
        if let (Ok(summary), Documents::Builtin) = (&done, &self.documents) {
            // Without the mark the next start compares the documents again.
            let _ = indexer::build::set_mark(&self.index, summary, &mark());
        }
        done
    }

    /// Text of the file catalogue: the knowledge folder's, else the built-in one.
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
            CliError::new(
                Exit::Usage,
                format!(
                    "the file catalogue has {} errors:\n  {}",
                    lines.len(),
                    lines.join("\n  ")
                ),
            )
            .hint("mend the lines named, or remove the file to use the built-in catalogue")
        })
    }
}

/// An index that cannot be opened, as the user sees it.
pub(crate) fn open_error(error: OpenError) -> CliError {
    let shown = CliError::from_source(Exit::Input, &error);
    match error {
        OpenError::Missing { .. } => {
            shown.hint("`scopeagent index` builds the index from the knowledge folder")
        }
        OpenError::Damaged { .. } => shown.hint("`scopeagent index --full` builds it again"),
        OpenError::Mismatch(mismatch) => shown.hint(mismatch_hint(&mismatch)),
        OpenError::Embed(_) => shown.hint(EMBEDDER_HINT),
    }
}

fn build_error(error: BuildError) -> CliError {
    let shown = CliError::from_source(Exit::Input, &error);
    match error {
        BuildError::Mismatch(mismatch) => shown.hint(mismatch_hint(&mismatch)),
        BuildError::Embed(_) => shown.hint(EMBEDDER_HINT),
        _ => shown,
    }
}

const EMBEDDER_HINT: &str = "`[embedder]` in scopeagent.toml says which one is used (`scopeagent config show`); docs/models.md says how each is set up";

fn mismatch_hint(mismatch: &Mismatch) -> String {
    let again = format!(
        "`scopeagent index {}` brings the index up to date",
        mismatch.remedy
    );
    match mismatch.what {
        "embedder" => format!(
            "{again}; to go on with the embedder that it has, mend `[embedder]` in scopeagent.toml"
        ),
        _ => again,
    }
}

/// The documents that come with the program, as pairs of relative path and text.
pub(crate) fn builtin_documents() -> impl Iterator<Item = (String, String)> {
    Builtin::iter().filter_map(|path| {
        let file = Builtin::get(&path)?;
        let text = String::from_utf8(file.data.into_owned()).ok()?;
        Some((path.into_owned(), text))
    })
}

/// Stands for the built-in documents: their paths with the hashes that the compiler noted.
fn mark() -> Vec<u8> {
    let files = Builtin::iter().filter_map(|path| {
        let hash = Builtin::get(&path)?.metadata.sha256_hash();
        Some([path.as_bytes(), b"\0", &hash].concat())
    });
    files.flatten().collect()
}
