//! Which job a report is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::{AU, AU_HOUR, CORE_HOUR, EXECUTOR, Noun, TASK, TOKEN, TOKEN_HOUR, VERTEX};

/// Final state of the job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    Succeeded,
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// No file says how it ended.
    #[default]
    Unknown,
}

impl JobState {
    /// Whether the job failed or was stopped.
    pub fn is_bad(self) -> bool {
        matches!(self, JobState::Failed | JobState::Cancelled)
    }
}

/// The engine that ran the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobEngine {
    Scope,
    Usql,
    Spark,
}

impl JobEngine {
    /// The nouns for its resource and for hours of it.
    pub fn resource(self) -> [Noun; 2] {
        match self {
            JobEngine::Scope => [TOKEN, TOKEN_HOUR],
            JobEngine::Usql => [AU, AU_HOUR],
            JobEngine::Spark => [EXECUTOR, CORE_HOUR],
        }
    }

    /// The noun for the units of work of a stage.
    pub fn vertex(engine: Option<JobEngine>) -> Noun {
        match engine {
            Some(JobEngine::Spark) => TASK,
            _ => VERTEX,
        }
    }
}

/// Name, state and size of the job. An unknown value is `None`, never 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSummary {
    pub id: Option<String>,
    pub name: Option<String>,
    /// The folder that was read.
    pub path: String,
    pub state: JobState,
    /// Seconds of the run alone, without compilation and queue.
    pub elapsed_seconds: Option<f64>,
    /// Number of stages.
    pub stages: Option<u64>,
    /// Number of vertices.
    pub vertices: Option<u64>,
    #[serde(default)]
    pub engine: Option<JobEngine>,
    /// Seconds from submission to end.
    #[serde(default)]
    pub total_seconds: Option<f64>,
    #[serde(default)]
    pub owner: Option<String>,
    #[serde(default)]
    pub queue: Option<String>,
    /// When the job was submitted, RFC 3339.
    #[serde(default)]
    pub submitted: Option<String>,
    /// BLAKE3 hash of the script's text, 32 hexadecimal digits.
    #[serde(default)]
    pub script_hash: Option<String>,
    /// Hash of the script's tokens without comments and literals: equal for the runs of a recurring job.
    #[serde(default)]
    pub script_shape: Option<String>,
}

impl JobSummary {
    /// The job's name, else its identifier, else its folder.
    pub fn label(&self) -> &str {
        let named = self.name.as_deref().or(self.id.as_deref());
        named.unwrap_or(&self.path)
    }

    /// Whether the log of an application ends before the application: it is running, or its driver died.
    pub fn is_unfinished(&self) -> bool {
        self.engine == Some(JobEngine::Spark) && self.state == JobState::Unknown
    }
}
