//! The project's file: its location, and the values of it that apply.
//!
//! Any archive can contain a `scopeagent.toml`. Until the user approves its content (`trust`), the file may only set values that
//! never send, run, load or overwrite anything. A file that belongs to the job being analyzed is never read.

use std::path::{Component, Path, PathBuf};

use batch::is_job;
use toml::{Table, Value};

use super::file::ConfigFile;
use super::trust::Approvals;
use server::Result;

/// Name of the file, in the current folder or the nearest one above.
pub(crate) const PROJECT_FILE: &str = "scopeagent.toml";

/// Keys that any file may set. Paths must be inside the project.
const HARMLESS: [&str; 5] = ["language", "ask", "diagnosis", "embedder.weights", "prices"];
const HARMLESS_INSIDE: [&str; 2] = ["knowledge", "index"];

/// Keys that a warning lists at most.
const LISTED: usize = 6;

/// The job folders of a call. Files in them cannot configure the program.
#[derive(Default)]
pub(crate) struct Jobs<'a> {
    pub(crate) folders: Vec<&'a Path>,
    /// Folders that are jobs or contain jobs.
    pub(crate) collections: Vec<&'a Path>,
}

impl Jobs<'_> {
    /// Whether a folder is a job of the call, or inside one.
    pub(crate) fn contain(&self, folder: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        let Some(folder) = real(folder) else {
            return false;
        };
        let mut jobs = self.folders.iter().filter_map(|job| real(job));
        let mut collections = self.collections.iter().filter_map(|path| real(path));
        jobs.any(|job| folder.starts_with(job))
            || collections.any(|top| {
                let mut inside = folder.ancestors().take_while(|part| part.starts_with(&top));
                inside.any(is_job)
            })
    }
}

/// The nearest project file that belongs to no job.
pub(crate) fn nearest(jobs: &Jobs<'_>) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let mut folders = here.ancestors();
    folders.find_map(|folder| {
        let path = folder.join(PROJECT_FILE);
        if !path.is_file() {
            return None;
        }
        if jobs.contain(folder) {
            let path = path.display();
            tracing::warn!("`{path}` is not read: it belongs to a job; to use it, give --config");
            return None;
        }
        Some(path)
    })
}

/// The values of a project file that apply: all if the user approved it, otherwise the harmless ones, with a warning about the
/// others.
///
/// # Errors
/// If the list of approved files can't be read.
pub(crate) fn admitted(file: ConfigFile) -> Result<Table> {
    let mut needed = Vec::new();
    let harmless = split(&file.table, "", &file.path, &mut needed);
    if needed.is_empty() {
        return Ok(harmless);
    }
    let approvals = Approvals::load()?;
    if approvals.has(&file) {
        return Ok(file.table);
    }
    let reason = match approvals.knows(&file) {
        true => "has changed since you approved it",
        false => "is not approved",
    };
    let path = file.path.display();
    tracing::warn!(
        "`{path}` {reason}; ignored: {}. Check the file, then approve it with `scopeagent trust {path}`",
        listed(&needed)
    );
    Ok(harmless)
}

/// Keys of a file that need an approval, sorted, with their values.
pub(crate) fn needing_approval(file: &ConfigFile) -> Vec<(String, Value)> {
    let mut needed = Vec::new();
    split(&file.table, "", &file.path, &mut needed);
    needed
}

/// Returns the harmless part of a table and adds the other values to `needed`.
fn split(table: &Table, prefix: &str, file: &Path, needed: &mut Vec<(String, Value)>) -> Table {
    let mut harmless = Table::new();
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        if is_harmless(&path, value, file) {
            harmless.insert(key.clone(), value.clone());
        } else if let Value::Table(inner) = value {
            let inner = split(inner, &format!("{path}."), file, needed);
            if !inner.is_empty() {
                harmless.insert(key.clone(), inner.into());
            }
        } else {
            needed.push((path, value.clone()));
        }
    }
    harmless
}

fn is_harmless(key: &str, value: &Value, file: &Path) -> bool {
    let inside = |value: &Value| value.as_str().is_some_and(|path| is_inside(path, file));
    HARMLESS.contains(&key) || HARMLESS_INSIDE.contains(&key) && inside(value)
}

/// Whether a path stays in the folder of the project's file, links resolved. It need not exist.
fn is_inside(path: &str, file: &Path) -> bool {
    let path = Path::new(path);
    if path.components().any(|part| part == Component::ParentDir) {
        return false;
    }
    let project = file.parent().and_then(|folder| folder.canonicalize().ok());
    let absolute = std::path::absolute(path).unwrap_or_default();
    let mut parts = absolute.ancestors();
    let existing = parts.find_map(|part| part.canonicalize().ok());
    matches!((project, existing), (Some(project), Some(real)) if real.starts_with(&project))
}

/// The keys for a sentence. They come from an unchecked file, so control characters are escaped.
fn listed(needed: &[(String, Value)]) -> String {
    let keys = needed.iter().take(LISTED);
    let keys = keys.map(|(key, _)| format!("`{}`", key.escape_debug()));
    let mut keys: Vec<String> = keys.collect();
    if needed.len() > LISTED {
        keys.push(format!("and {} more", needed.len() - LISTED));
    }
    keys.join(", ")
}
