//! Parameters of the tools. Models read the comments: they are the schema's descriptions.

use std::str::FromStr;

use report::{JobEngine, Language};
use runs::store::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::Result;
use crate::whatif::{Amount, Asked, Factor};

/// Runs or applications in one answer.
pub(super) const MAX_RUNS: u32 = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalyzeJob {
    /// Folder of a job, or Spark event log, in an allowed root; or `http://HOST:18080/history/APP`.
    pub(super) job: String,
    /// The user's question, verbatim. Default: the problem, and its fix.
    #[serde(default)]
    pub(super) question: Option<String>,
    /// Language of the report. Default: the configured language, otherwise the language of the
    /// question.
    #[serde(default)]
    pub(super) language: Option<Language>,
    /// `quick` costs least; `deep` uses more experience and reads more files.
    #[serde(default)]
    pub(super) depth: Depth,
    /// Adds hypotheses and how to check each one.
    #[serde(default)]
    pub(super) hypotheses: bool,
    /// `offline` uses no LLM even if one is configured.
    #[serde(default)]
    pub(super) reasoner: Reasoner,
}

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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reasoner {
    #[default]
    Auto,
    Offline,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InspectJob {
    /// Folder of a job, or Spark event log, in an allowed root; or `http://HOST:18080/history/APP`.
    pub(super) job: String,
    /// Only this stage and the channels into and out of it. Large jobs have hundreds of stages.
    #[serde(default)]
    pub(super) stage: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchExperience {
    /// Words, a cause code (`skew.join_hot_key`), a counter, an error id or a piece of script; Chinese or English.
    pub(super) query: String,
    /// Number of passages.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 20))]
    pub(super) limit: u32,
    /// Only passages in this language.
    #[serde(default)]
    pub(super) language: Option<Language>,
    /// Only passages about jobs of this engine, or true of every engine: the `job.engine` of a report.
    #[serde(default)]
    pub(super) engine: Option<JobEngine>,
    /// Only playbooks about this cause; `skew.` with the dot matches every cause that starts with it.
    #[serde(default)]
    pub(super) cause: Option<String>,
}

fn five() -> u32 {
    5
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadJobFile {
    /// Folder of a job, or Spark event log, in an allowed root; or `http://HOST:18080/history/APP`.
    pub(super) job: String,
    /// Name of the file in that folder, as in `inspect_job` or in the evidence of a report.
    pub(super) file: String,
    /// First line, from 1. Reports name script lines.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(super) line: Option<u64>,
    /// First byte: `next_offset` of the previous part. Not together with `line`.
    #[serde(default)]
    pub(super) offset: Option<u64>,
    /// Maximum bytes of text.
    #[serde(default = "four_kib")]
    #[schemars(range(min = 1, max = 6_000))]
    pub(super) max_bytes: u64,
}

fn four_kib() -> u64 {
    4 << 10
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListRuns {
    /// Only runs of jobs with this text in their folder or name.
    #[serde(default)]
    pub(super) job: Option<String>,
    /// Number of runs, newest first.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 200))]
    pub(super) limit: u32,
}

fn twenty() -> u32 {
    20
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveFeedback {
    /// `run_id` of the report.
    pub(super) run_id: String,
    /// Id of the suggestion in that report: `S1`.
    pub(super) suggestion: String,
    /// What the user did with it.
    pub(super) action: Action,
    /// The reason, in one sentence.
    #[serde(default)]
    pub(super) note: Option<String>,
    /// Seconds that the change actually saved, measured on a later run of the job.
    #[serde(default)]
    pub(super) saved_seconds: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskRun {
    /// `run_id` of the report.
    pub(super) run_id: String,
    /// The user's question, verbatim, in Chinese or English.
    pub(super) question: String,
    /// `offline` uses no LLM even if one is configured.
    #[serde(default)]
    pub(super) reasoner: Reasoner,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompareRuns {
    /// The first run, normally the good one: a `run_id`, `last`, `last~1`, or a job.
    pub(super) a: String,
    /// The second run, in the same form.
    pub(super) b: String,
    /// Language of the answer.
    #[serde(default)]
    pub(super) language: Option<Language>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WhatIf {
    /// A `run_id`, or a job.
    pub(super) job: String,
    /// Tokens, or executors of a Spark application: `60`, `2x` or `50..400`.
    #[serde(default)]
    pub(super) count: Option<Written>,
    /// Cores of an executor.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(super) cores: Option<u32>,
    /// Factor of the input: `2` or `2x` for twice as much.
    #[serde(default)]
    pub(super) input: Option<Written>,
    /// Ids of findings (`F1`), or of suggestions of a saved run (`S1`), that are fixed.
    #[serde(default)]
    pub(super) fixed: Vec<String>,
    /// Settings of a Spark application, `KEY=VALUE`.
    #[serde(default)]
    pub(super) set: Vec<String>,
}

/// A number, or a text as on the command line.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Written {
    Number(f64),
    Text(String),
}

impl Written {
    /// Reads it as the command line does; a number stands before `unit`.
    fn read<T: FromStr<Err = String>>(&self, name: &str, unit: &str) -> Result<T> {
        let text = match self {
            Written::Number(number) => format!("{number}{unit}"),
            Written::Text(text) => text.clone(),
        };
        let number = format!("{text}{unit}");
        let read = text
            .parse()
            .or_else(|why| number.parse().map_err(|_: String| why));
        read.map_err(|why| {
            let text = report::visible_line(&text);
            error!(Usage: "`{name}` 不能是 `{text}`", "`{name}` can't be `{text}`").hint(why)
        })
    }
}

impl WhatIf {
    pub(super) fn change(&self) -> Result<Asked> {
        let count = self.count.as_ref().map(|n| n.read("count", ""));
        if self.cores == Some(0) {
            Written::Number(0.0).read::<Amount>("cores", "")?;
        }
        let input = self.input.as_ref().map(|n| n.read("input", "x"));
        Ok(Asked {
            count: count.transpose()?,
            cores: self.cores.map(|n| n as usize),
            input: input.transpose()?.unwrap_or(Factor(1.0)),
            fix: self.fixed.clone(),
            set: self.set.clone(),
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JobHistory {
    /// A `run_id`, `last`, or the job's name or a part of it.
    pub(super) job: String,
    /// Number of runs, the newest.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 200))]
    pub(super) limit: u32,
    /// Language of the answer.
    #[serde(default)]
    pub(super) language: Option<Language>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListApplications {
    /// Only this server: `http://HOST:18080`. Default: every allowed one.
    #[serde(default)]
    pub(super) server: Option<String>,
    /// Only applications that ended since this date or time, or within this duration: `2026-11-20`, `12h`, `7d`.
    #[serde(default)]
    pub(super) since: Option<String>,
    /// Only applications that took at least this long.
    #[serde(default)]
    pub(super) min_minutes: f64,
    /// Only applications of this user.
    #[serde(default)]
    pub(super) user: Option<String>,
    /// Number of applications, newest first.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 200))]
    pub(super) limit: u32,
}
