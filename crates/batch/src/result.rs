//! The objects of a store: a line of the manifest, and the result of one job.

use report::Report;
use runs::RunSummary;
use serde::{Deserialize, Serialize};

/// Version of [`JobResult`].
pub const RESULT_VERSION: u32 = 1;

/// A job of the manifest: one JSON line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// Location of the job: an absolute path, or a URL.
    pub uri: String,
    /// Changes when a file of the job does.
    pub etag: String,
    /// Bytes of all its files.
    pub size: u64,
}

/// The parts of program and configuration that affect a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Version of the program.
    pub version: String,
    /// BLAKE3 hash of everything that may be configured and changes a report.
    pub configuration: String,
}

impl Entry {
    /// The name of this job's result: BLAKE3 over what it depends on, 64 hexadecimal digits.
    pub fn key(&self, program: &Program) -> String {
        hash([
            &self.uri,
            &self.etag,
            &program.version,
            &program.configuration,
        ])
    }
}

/// BLAKE3 over texts, each with its length, so that no two lists look alike; 64 hexadecimal digits.
pub(crate) fn hash<'a, T: AsRef<str> + ?Sized + 'a>(
    parts: impl IntoIterator<Item = &'a T>,
) -> String {
    let mut hash = blake3::Hasher::new();
    for part in parts {
        let part = part.as_ref();
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().to_string()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// There is a report.
    Done,
    /// No report, but a reason.
    #[default]
    Failed,
}

/// `results/<first two digits of the key>/<key>.json`: the outcome of one job. Contains no time and no id of the analysis, so equal
/// analyses of the same job write the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobResult {
    /// Always [`RESULT_VERSION`].
    pub version: u32,
    /// [`Entry::key`].
    pub key: String,
    /// [`Entry::uri`].
    pub uri: String,
    /// [`Entry::etag`].
    pub etag: String,
    /// [`Entry::size`].
    pub size: u64,
    pub program: Program,
    pub status: Status,
    /// Times that the job was tried; only of a failed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tries: Option<u32>,
    /// Why there is no report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Box<Report>>,
    /// Data for the charts of pages, with the job's script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Box<RunSummary>>,
}

impl JobResult {
    /// A result with a report. Removes values that differ between two analyses of the same job.
    pub fn done(
        entry: &Entry,
        program: &Program,
        mut report: Report,
        summary: RunSummary,
    ) -> JobResult {
        report.run_id.clear();
        report.job.path.clone_from(&entry.uri);
        for step in &mut report.steps {
            step.elapsed_ms = 0.0;
        }
        JobResult {
            report: Some(Box::new(report)),
            summary: Some(Box::new(summary)),
            ..JobResult::of(entry, program, Status::Done)
        }
    }

    pub fn failed(entry: &Entry, program: &Program, reason: String, tries: u32) -> JobResult {
        JobResult {
            reason: Some(reason),
            tries: Some(tries),
            ..JobResult::of(entry, program, Status::Failed)
        }
    }

    fn of(entry: &Entry, program: &Program, status: Status) -> JobResult {
        JobResult {
            version: RESULT_VERSION,
            key: entry.key(program),
            uri: entry.uri.clone(),
            etag: entry.etag.clone(),
            size: entry.size,
            program: program.clone(),
            status,
            tries: None,
            reason: None,
            report: None,
            summary: None,
        }
    }

    pub fn is_done(&self) -> bool {
        self.status == Status::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_depends_on_every_part_and_on_where_parts_end() {
        let key = |uri: &str, etag: &str, version: &str, configuration: &str| {
            let (uri, etag) = (uri.to_owned(), etag.to_owned());
            let (version, configuration) = (version.to_owned(), configuration.to_owned());
            let program = Program {
                version,
                configuration,
            };
            Entry { uri, etag, size: 1 }.key(&program)
        };
        let others = [
            key("a", "b", "c", "d"),
            key("ab", "", "c", "d"),
            key("a", "x", "c", "d"),
            key("a", "b", "x", "d"),
            key("a", "b", "c", "x"),
        ];
        let different: std::collections::HashSet<&String> = others.iter().collect();
        assert_eq!(different.len(), others.len());
        assert_eq!(others[0], key("a", "b", "c", "d"));
        assert_eq!(others[0].len(), 64);
    }
}
