//! Faults in files and failures of optional work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Language, Text};

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticSeverity {
    /// A part is odd; the rest was read.
    Warning,
    /// A file, or the rest of it, could not be read; a step failed.
    Error,
}

/// A part of the input that could not be read, or a step that could not be done. Readers make it in both languages (`Diagnostic<Text>`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic<T = String> {
    pub severity: DiagnosticSeverity,
    /// File name relative to the job folder; `None` without a file.
    pub file: Option<String>,
    /// Place in the file.
    pub locator: Option<String>,
    /// Lower-case fragment that names the fault.
    pub message: T,
    /// Remedy for the reader of the report.
    pub hint: Option<T>,
}

impl Diagnostic<Text> {
    pub fn localize(&self, language: Language) -> Diagnostic {
        Diagnostic {
            severity: self.severity,
            file: self.file.clone(),
            locator: self.locator.clone(),
            message: self.message.pick(language).to_owned(),
            hint: self.hint.as_ref().map(|h| h.pick(language).to_owned()),
        }
    }
}
