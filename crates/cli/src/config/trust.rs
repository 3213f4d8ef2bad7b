//! Project files that the user has approved, by path and content. The list is in the user's configuration folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::file::ConfigFile;
use server::{Error, ErrorKind, Explain, Result};

/// Name of the list, next to the user's configuration.
const FILE_NAME: &str = "trusted.toml";

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Approvals {
    #[serde(default, rename = "file")]
    files: Vec<Approval>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Approval {
    /// Links resolved.
    pub(crate) path: PathBuf,
    /// Hash of the content that was approved.
    pub(crate) blake3: String,
    /// RFC 3339, UTC.
    pub(crate) approved_at: String,
}

impl Approvals {
    /// # Errors
    /// If there is a list that can't be read.
    pub(crate) fn load() -> Result<Approvals> {
        let Ok(path) = list_path() else {
            return Ok(Approvals::default());
        };
        let hint = report::say!(
            "请修正该文件，或将其删除后用 `scopeagent trust` 重新批准",
            "fix the file, or delete it and approve your files again with `scopeagent trust`"
        );
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            text => text.explain(ErrorKind::Usage, format!("`{}`: {hint}", path.display()))?,
        };
        toml::from_str(&text).map_err(|error| {
            let message = format!("`{}`: {}", path.display(), error.message());
            Error::new(ErrorKind::Usage, message).hint(hint)
        })
    }

    /// Whether the user approved this content at this path.
    pub(crate) fn has(&self, file: &ConfigFile) -> bool {
        let known = self.of(&file.path);
        known.is_some_and(|approval| approval.blake3 == file.hash)
    }

    /// Whether the user approved any content at this path.
    pub(crate) fn knows(&self, file: &ConfigFile) -> bool {
        self.of(&file.path).is_some()
    }

    pub(crate) fn list(&self) -> &[Approval] {
        &self.files
    }

    /// Approves the content of a file, instead of an earlier one.
    ///
    /// # Errors
    /// If the list can't be written.
    pub(crate) fn add(&mut self, file: &ConfigFile) -> Result<()> {
        let path = real(&file.path);
        self.files.retain(|approval| approval.path != path);
        self.files.push(Approval {
            path,
            blake3: file.hash.clone(),
            approved_at: jiff::Timestamp::now().to_string(),
        });
        self.save()
    }

    /// Withdraws the approval of a path; returns whether there was one.
    ///
    /// # Errors
    /// If the list can't be written.
    pub(crate) fn remove(&mut self, path: &Path) -> Result<bool> {
        let (path, before) = (real(path), self.files.len());
        self.files.retain(|approval| approval.path != path);
        let had_one = self.files.len() < before;
        self.save().map(|()| had_one)
    }

    fn of(&self, path: &Path) -> Option<&Approval> {
        let path = real(path);
        self.files.iter().find(|approval| approval.path == path)
    }

    fn save(&self) -> Result<()> {
        let path = list_path()?;
        let text = toml::to_string(self).explain(
            ErrorKind::Usage,
            "rename the file: its path is not valid Unicode",
        )?;
        let new = path.with_extension("toml.new");
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        // Renamed, so that no reader sees half a list.
        let saved = folder
            .and_then(|()| fs::write(&new, text))
            .and_then(|()| fs::rename(&new, &path));
        let hint = report::say!(
            "`{path}` 须可写",
            "`{path}` must be writable",
            path = path.display().to_string()
        );
        saved.explain(ErrorKind::Other, hint)
    }
}

fn list_path() -> Result<PathBuf> {
    Ok(super::user_file()?.with_file_name(FILE_NAME))
}

/// The path with links resolved, also if the file is gone.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.canonicalize().unwrap_or_else(|_| {
        let folder = absolute.parent().and_then(|f| f.canonicalize().ok());
        match (folder, absolute.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => absolute,
        }
    })
}
