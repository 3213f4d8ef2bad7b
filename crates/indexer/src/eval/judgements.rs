//! Judged queries: `judgements/*.toml`.
//!
//! ```toml
//! [[query]]
//! id = "skew-1"            # optional; file name and number otherwise
//! text = "one vertex reads most rows"
//! language = "en"          # optional; detected otherwise
//! engine = "spark"         # optional; scope otherwise, `any` to search everything
//! step = "think3"          # optional
//! split = "tune"           # optional; tune, heldout or fresh
//! kind = "complaint"       # optional; quality is reported by it
//! relevant = [
//!   { chunk = "experience/skew-join-hot-key.md#fix", grade = 2 },
//!   { document = "cases/late-orders.md" },               # grade 1
//! ]
//! sections = ["cause", "fix"]   # optional; the sections of the documents with grade 3 that a reader needs
//!
//! [[query]]
//! text = "how to boil an egg"
//! unanswerable = true      # without `relevant`: must be refused
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use report::Language;
use serde::Deserialize;

use super::EvalError;
use crate::analyze::detect_language;
use crate::document::line_at;
use crate::model::{Engine, Query, Section};
use crate::store::files;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    #[serde(default)]
    pub id: String,
    pub text: String,
    /// `zh` or `en`; otherwise it is detected.
    pub language: Option<String>,
    /// Engine of the jobs that it is about; [`Engine::Any`] searches everything.
    #[serde(default)]
    pub engine: Engine,
    /// The step of an analysis that would ask it.
    pub step: Option<String>,
    /// `tune`, `heldout` or `fresh`.
    pub split: Option<String>,
    /// Kind of question.
    pub kind: Option<String>,
    /// Whether it should be refused.
    #[serde(default)]
    pub unanswerable: bool,
    #[serde(default)]
    pub relevant: Vec<Relevant>,
    /// Sections of the answering documents with the answer.
    #[serde(default)]
    pub sections: Vec<Section>,
    /// File and line.
    #[serde(skip)]
    pub place: (PathBuf, usize),
}

impl Judged {
    pub fn language(&self) -> Language {
        let stated = self.language.as_deref().and_then(Language::parse);
        stated.unwrap_or_else(|| detect_language(&self.text))
    }

    /// Its question to an index, for the best `k` chunks.
    pub(crate) fn query(&self, k: usize) -> Query<'static> {
        let mut query = Query::new(&self.text, k);
        query.filter.engine = Some(self.engine).filter(|engine| *engine != Engine::Any);
        query
    }

    /// Whether tuning must not use it.
    pub(crate) fn only_measures(&self) -> bool {
        matches!(self.split.as_deref(), Some("heldout" | "fresh"))
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relevant {
    /// Id of a chunk, or path of a document.
    #[serde(rename = "chunk", alias = "document")]
    pub target: String,
    /// Above 0; higher is better.
    #[serde(default = "one")]
    pub grade: f64,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    query: Vec<toml::Spanned<Judged>>,
}

fn one() -> f64 {
    1.0
}

/// Reads a file of judgements, or all `*.toml` of a folder by name.
///
/// # Errors
/// When a file cannot be read or is not of this form, or no query is judged.
pub fn read(path: &Path) -> Result<Vec<Judged>, EvalError> {
    let mut out = Vec::new();
    for file in files(path)? {
        out.extend(read_file(&file)?);
    }
    let path = path.to_owned();
    match out.is_empty() {
        true => Err(EvalError::NoQueries { path }),
        false => Ok(out),
    }
}

/// The queries of each file of a knowledge folder, with the file.
pub(crate) fn of_folder(knowledge: &Path) -> Vec<(PathBuf, Result<Vec<Judged>, EvalError>)> {
    let files = files(&knowledge.join("judgements"))
        .unwrap_or_default()
        .into_iter();
    files.map(|file| (file.clone(), read_file(&file))).collect()
}

fn files(path: &Path) -> Result<Vec<PathBuf>, EvalError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(|error| read_error(path, error))?;
    let files = entries.flatten().map(|entry| entry.path());
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|e| e == "toml");
    let mut files: Vec<PathBuf> = files.filter(is_toml).collect();
    files.sort();
    Ok(files)
}

fn read_file(path: &Path) -> Result<Vec<Judged>, EvalError> {
    let text = files::read_text(path).map_err(|error| read_error(path, error))?;
    let file: File = toml::from_str(&text).map_err(|error| read_error(path, error))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let judged = (1..).zip(file.query).map(|(number, query)| {
        let line = line_at(text.as_bytes(), query.span().start);
        let mut query = query.into_inner();
        if query.id.is_empty() {
            query.id = format!("{stem}-{number}");
        }
        query.place = (path.to_owned(), line);
        query
    });
    Ok(judged.collect())
}

fn read_error(path: &Path, reason: impl ToString) -> EvalError {
    EvalError::Read {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judgements_are_read_with_their_places() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("skew.toml");
        let text = "# comment\n[[query]]\ntext = \"倾斜\"\nsplit = \"tune\"\nrelevant = [{ chunk = \"a.md#fix\", grade = 2 }, { document = \"b.md\" }]\n";
        fs::write(&path, text).expect("written");
        let judged = read(folder.path()).expect("read");
        assert_eq!(judged.len(), 1);
        assert_eq!(judged[0].id, "skew-1");
        assert_eq!(judged[0].language(), Language::Zh);
        assert_eq!(judged[0].split.as_deref(), Some("tune"));
        let second = &judged[0].relevant[1];
        assert_eq!((&*second.target, second.grade), ("b.md", 1.0));
        assert_eq!(judged[0].place.1, 2);
    }

    #[test]
    fn what_is_not_a_judgement_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let empty = read(folder.path());
        assert!(matches!(empty, Err(EvalError::NoQueries { .. })));
        let text = "[[query]]\ntext = \"x\"\nrelevent = []\n";
        fs::write(folder.path().join("a.toml"), text).expect("written");
        let error = read(folder.path()).expect_err("a typing mistake");
        assert!(error.to_string().contains("relevent"), "{error}");
    }
}
