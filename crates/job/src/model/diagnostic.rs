//! Where a value stands, and what could not be read.

use schemars::JsonSchema;
use serde::Serialize;

use crate::catalogue::Bilingual;

/// Where a value was read: the evidence of a report points here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Source {
    /// File name relative to the job folder, with `/`.
    pub file: String,
    /// Place in the file: an XPath-like chain for XML (`SV3_Combine/Sort[@opId=5]/@rowCount`),
    /// a JSON pointer for JSON, `line N` for text. `None` for the file as a whole.
    pub locator: Option<String>,
}

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is odd, the rest of the file was read.
    Warning,
    /// A file, or the rest of it, could not be read.
    Error,
}

/// What a reader could not make sense of. Reading goes on after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// File name relative to the job folder.
    pub file: Option<String>,
    /// Place in the file.
    pub locator: Option<String>,
    /// Lower-case fragment that says what is wrong.
    pub message: Bilingual,
    /// What the reader of the report can do about it.
    pub hint: Bilingual,
}
