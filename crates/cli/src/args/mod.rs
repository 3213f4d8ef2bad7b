//! The command line. Nothing here acts.

mod analysis;
mod knowledge;
mod runs;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use report::Language;

use crate::config::Jobs;

pub(crate) use analysis::{
    Analyze, Batch, Compare, CompareFormat, Inspect, Mcp, ReportFormat, Rules, Thinking,
};
pub(crate) use knowledge::{CaseCommand, CaseFrom, Eval, Index, IndexCommand, Lint, Search};
pub(crate) use runs::{Ask, FeedbackArgs, FeedbackCommand, Runs};

/// Finds out why a SCOPE (Cosmos) or U-SQL job is slow, expensive or failed, and says what to change.
#[derive(Debug, Parser)]
#[command(name = "scopeagent", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Configuration file to use, and trust, instead of the nearest `scopeagent.toml`.
    #[arg(long, global = true, value_name = "FILE", env = "SCOPEAGENT_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Knowledge folder (playbooks, cases, glossary). Default: `./knowledge`, else the built-in knowledge.
    #[arg(long, global = true, value_name = "DIR", env = "SCOPEAGENT_KNOWLEDGE")]
    pub(crate) knowledge: Option<PathBuf>,
    /// Index folder. Default: `./index` next to `./knowledge`, else in the data folder.
    #[arg(long, global = true, value_name = "DIR", env = "SCOPEAGENT_INDEX")]
    pub(crate) index: Option<PathBuf>,
    /// Embedder of the index: `embedded`, the name of a model, or a folder with `model.onnx`. Default: as configured.
    #[arg(long, global = true, value_name = "MODEL", env = "SCOPEAGENT_EMBEDDER")]
    pub(crate) embedder: Option<String>,
    /// When to use color. NO_COLOR is respected.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
    /// Same as `--color never`.
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// Print only errors to stderr, and no progress.
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Format of stderr: text for people, or one JSON object per line.
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "text",
        env = "SCOPEAGENT_LOG_FORMAT"
    )]
    pub(crate) log_format: LogFormat,
    /// How much to write to stderr; `debug` includes every file and step.
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        default_value = "info",
        env = "SCOPEAGENT_LOG_LEVEL"
    )]
    pub(crate) log_level: LogLevel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LogLevel {
    /// Errors.
    Error,
    /// Also warnings, e.g. a fallback.
    Warn,
    /// Also remarks.
    Info,
    /// Also every file and step.
    Debug,
    /// Also messages of libraries.
    Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// If the output is a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find out why a job is slow, expensive or failed, and what to change.
    Analyze(Analyze),
    /// Analyze many job folders: one JSON line per job and a summary table; resumable.
    Batch(Batch),
    /// Ask a question about a saved run; it continues the conversation about that run.
    Ask(Ask),
    /// Compare two runs: what changed (times, rows, plan, inputs, script, findings), and the most likely reason.
    Compare(Compare),
    /// Show what a job folder contains: stages, operators, channels, inputs, script.
    Inspect(Inspect),
    /// Search the knowledge base.
    Search(Search),
    /// Build the knowledge index or bring it up to date.
    Index(Index),
    /// Check the knowledge folder: front matter, headings, links, ids, coverage of causes.
    Lint(Lint),
    /// Measure how well the index answers judged queries.
    Eval(Eval),
    /// Test an LLM profile: key, address, model, structured output, streaming.
    Doctor(Doctor),
    /// List the rules: what each one detects, what it needs, its thresholds.
    Rules(Rules),
    /// List, show, export and delete saved runs.
    #[command(subcommand)]
    Runs(Runs),
    /// Record what happened to a suggestion, to improve later answers.
    Feedback(FeedbackArgs),
    /// Run the MCP server, on stdin and stdout or over HTTP on this machine.
    Mcp(Mcp),
    /// Write resolved cases from runs into the knowledge base, and check them.
    #[command(subcommand)]
    Case(CaseCommand),
    /// Show the effective configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Approve a project's `scopeagent.toml`, so that it may set keys, commands, addresses, prompts and roots.
    Trust(Trust),
    /// Write a commented `scopeagent.toml` and a knowledge folder with the built-in documents.
    Init(Init),
    /// Print shell completions.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Analyze jobs for another process of this program.
    #[command(hide = true)]
    Worker(Worker),
    /// Print the man page.
    Man {
        /// Write one page per command into this folder instead.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// Bytes of memory for one job.
    #[arg(long)]
    pub(crate) job_memory: u64,
    /// Arguments of the process that it works for.
    #[arg(last = true)]
    pub(crate) of: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Profile to test. Default: the configured one.
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Folder to write into.
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Write your own configuration instead, which applies everywhere.
    #[arg(long, conflicts_with = "folder")]
    pub(crate) user: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The file, or its folder. Default: the nearest `scopeagent.toml`.
    #[arg(conflicts_with = "list")]
    pub(crate) path: Option<PathBuf>,
    /// Withdraw the approval.
    #[arg(long, conflicts_with = "list")]
    pub(crate) revoke: bool,
    /// List the approved files.
    #[arg(long)]
    pub(crate) list: bool,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every value that is set, and where it comes from.
    Show {
        /// Output format.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

impl Command {
    /// The job folders that the call names.
    pub(crate) fn jobs(&self) -> Jobs<'_> {
        let mut jobs = Jobs::default();
        match self {
            Command::Analyze(args) => jobs.folders.push(&args.job),
            Command::Inspect(args) => jobs.folders.push(&args.job),
            Command::Compare(args) => jobs.folders.extend([&args.a, &args.b].map(Path::new)),
            Command::Batch(args) => jobs
                .collections
                .extend(args.jobs.iter().map(PathBuf::as_path)),
            _ => {}
        }
        jobs
    }
}

impl Cli {
    /// A worker takes the arguments of the process that it works for as its own, so that both have the same
    /// configuration, and says nothing on stderr but errors. Returns the memory that a job may take.
    pub(crate) fn as_worker(&mut self) -> Option<u64> {
        let Command::Worker(worker) = &self.command else {
            return None;
        };
        let memory = worker.job_memory;
        let program = OsString::from("scopeagent");
        *self = Cli::parse_from(std::iter::once(program).chain(worker.of.iter().cloned()));
        self.global.quiet = true;
        Some(memory)
    }

    /// Flags that set configuration values, as the topmost layer.
    pub(crate) fn flags(&self) -> toml::Table {
        let folders = [
            ("knowledge", &self.global.knowledge),
            ("index", &self.global.index),
        ];
        let set = folders.map(|(key, folder)| Some((key, folder.as_ref()?.display().to_string())));
        let set = set.into_iter().flatten();
        let mut layer: toml::Table = set
            .map(|(key, path)| (key.to_owned(), path.into()))
            .collect();
        if let Some(embedder) = &self.global.embedder {
            layer.insert("embedder".to_owned(), embedder_layer(embedder).into());
        }
        layer
    }
}

/// Values by name, with their help.
type Choices<T> = &'static [(&'static str, T, Option<&'static str>)];

const LANGUAGES: Choices<Language> = &[
    ("zh", Language::Zh, Some("Chinese")),
    ("en", Language::En, Some("English")),
];

/// Parses the name of a value.
fn one_of<T: Copy + Send + Sync>(choices: Choices<T>) -> impl TypedValueParser<Value = T> {
    let named = choices.iter();
    let named = named.map(|(name, _, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(named).try_map(|text| {
        let chosen = choices.iter().find(|(name, ..)| *name == text);
        chosen.map(|(_, value, _)| *value).ok_or("unknown")
    })
}

/// The `[embedder]` table for `--embedder`.
fn embedder_layer(embedder: &str) -> toml::Table {
    let keys = match embedder {
        "embedded" => vec![("provider", "embedded")],
        model => vec![("provider", "fastembed"), ("model", model)],
    };
    let keys = keys.into_iter();
    keys.map(|(key, value)| (key.to_owned(), value.into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
