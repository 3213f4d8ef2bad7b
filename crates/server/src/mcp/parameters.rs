//! What the tools take. The comments are read by models: they are the schema's descriptions.

use report::Language;
use runs::store::Action;
use schemars::JsonSchema;
use serde::Deserialize;

/// Parameters of `analyze_job`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalyzeJob {
    /// Folder with the files of one job: absolute, or relative to an allowed root.
    pub(super) job: String,
    /// What the user wants to know, in the user's words. Left out: what is wrong, and what to change.
    #[serde(default)]
    pub(super) question: Option<String>,
    /// Language of the report. Left out: that of the question, else the configured one.
    #[serde(default)]
    pub(super) language: Option<Language>,
    /// `quick` spends least, `deep` looks at more experience and reads more files.
    #[serde(default)]
    pub(super) depth: Depth,
    /// Adds hypotheses with how each would be checked.
    #[serde(default)]
    pub(super) hypotheses: bool,
    /// `offline` asks no LLM even where one is configured.
    #[serde(default)]
    pub(super) reasoner: Reasoner,
}

/// How much an analysis may spend.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Depth {
    Quick,
    #[default]
    Normal,
    Deep,
}

impl From<Depth> for agent::Depth {
    fn from(depth: Depth) -> agent::Depth {
        match depth {
            Depth::Quick => agent::Depth::Quick,
            Depth::Normal => agent::Depth::Normal,
            Depth::Deep => agent::Depth::Deep,
        }
    }
}

/// Who reasons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reasoner {
    #[default]
    Auto,
    Offline,
}

/// Parameters of `inspect_job`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InspectJob {
    /// Folder with the files of one job: absolute, or relative to an allowed root.
    pub(super) job: String,
    /// Only this stage and the channels into and out of it. Large jobs have hundreds of stages.
    #[serde(default)]
    pub(super) stage: Option<String>,
}

/// Parameters of `search_experience`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchExperience {
    /// Words, a cause code (`skew.join_hot_key`), a counter, an error id or a piece of script; Chinese or English.
    pub(super) query: String,
    /// How many passages.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 20))]
    pub(super) limit: u32,
    /// Only passages in this language.
    #[serde(default)]
    pub(super) language: Option<Language>,
    /// Only playbooks of this cause; `skew.` with the dot takes every cause that begins so.
    #[serde(default)]
    pub(super) cause: Option<String>,
}

fn five() -> u32 {
    5
}

/// Parameters of `read_job_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadJobFile {
    /// Folder with the files of one job: absolute, or relative to an allowed root.
    pub(super) job: String,
    /// Name of the file in that folder, as in `inspect_job` or in the evidence of a report.
    pub(super) file: String,
    /// Line to begin at, from 1. Reports name script lines.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(super) line: Option<u64>,
    /// Byte of the text to begin at; `next_offset` of the part before. Not together with `line`.
    #[serde(default)]
    pub(super) offset: Option<u64>,
    /// Bytes of text at most.
    #[serde(default = "sixteen_kib")]
    #[schemars(range(min = 1, max = 262_144))]
    pub(super) max_bytes: u64,
}

fn sixteen_kib() -> u64 {
    16 << 10
}

/// Parameters of `list_runs`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListRuns {
    /// Only runs of jobs whose folder or name contains this.
    #[serde(default)]
    pub(super) job: Option<String>,
    /// How many, the newest first.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 200))]
    pub(super) limit: u32,
}

fn twenty() -> u32 {
    20
}

/// Parameters of `give_feedback`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveFeedback {
    /// `run_id` of the report.
    pub(super) run_id: String,
    /// Id of the suggestion in that report: `S1`.
    pub(super) suggestion: String,
    /// What the user did with it.
    pub(super) action: Action,
    /// Why, in a sentence.
    #[serde(default)]
    pub(super) note: Option<String>,
    /// Seconds that the change really saved, measured on a later run of the job.
    #[serde(default)]
    pub(super) saved_seconds: Option<f64>,
}
