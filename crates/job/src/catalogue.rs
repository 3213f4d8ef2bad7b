//! The catalogue of the files of a job folder: what each holds, in both languages, which
//! information it provides and what it costs to read. Written by curators as TOML.

use std::path::Path;

use serde::Deserialize;

use crate::info::Information;
use crate::model::FileKind;

/// A text in both languages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bilingual {
    /// Chinese.
    pub zh: String,
    /// English.
    pub en: String,
}

/// What it costs to read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cost {
    /// Kilobytes.
    Low,
    /// Megabytes.
    Medium,
    /// Up to gigabytes; streamed.
    High,
}

/// One kind of file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What a file of this kind is, by its content.
    pub kind: FileKind,
    /// Name patterns (glob) under which it is found.
    pub patterns: Vec<String>,
    /// What it is called.
    pub title: Bilingual,
    /// What it holds.
    pub description: Bilingual,
    /// Information that it provides.
    pub provides: Vec<Information>,
    /// Reader that takes it; `None` if it is only listed.
    pub parser: Option<String>,
    /// Whether it is always read first.
    pub core: bool,
    /// Typical size in bytes.
    pub typical_bytes: u64,
    /// What it costs to read.
    pub cost: Cost,
}

/// All kinds of files.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    /// Entries in the file's order.
    pub entries: Vec<Entry>,
}

/// What is wrong with a catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {field}: {message}")]
pub struct CatalogueError {
    /// The file.
    pub file: String,
    /// 1-based line.
    pub line: usize,
    /// The field.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

impl Default for Catalogue {
    fn default() -> Self {
        Catalogue::builtin()
    }
}

impl Catalogue {
    /// The catalogue that comes with the program.
    pub fn builtin() -> Catalogue {
        Catalogue {
            entries: Vec::new(),
        }
    }

    /// Reads and checks a catalogue; `file` is its name for errors.
    pub fn parse(file: &str, text: &str) -> Result<Catalogue, Vec<CatalogueError>> {
        let _ = (file, text);
        Ok(Catalogue {
            entries: Vec::new(),
        })
    }

    /// Reads and checks a catalogue file.
    pub fn load(path: &Path) -> Result<Catalogue, Vec<CatalogueError>> {
        let _ = path;
        Ok(Catalogue {
            entries: Vec::new(),
        })
    }

    /// The entry of a kind of file.
    pub fn entry(&self, kind: FileKind) -> Option<&Entry> {
        self.entries.iter().find(|e| e.kind == kind)
    }

    /// Entries that provide some information, cheapest first.
    pub fn providers(&self, information: Information) -> Vec<&Entry> {
        let _ = information;
        Vec::new()
    }

    /// The name under which a kind of file is usually found (first pattern).
    pub fn usual_name(&self, kind: FileKind) -> Option<&str> {
        self.entry(kind)?.patterns.first().map(String::as_str)
    }
}
