//! Command line: what can be asked for. Nothing here acts.

mod analysis;
mod knowledge;
mod runs;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use report::Language;

pub(crate) use analysis::{
    Analyze, Batch, Compare, CompareFormat, Inspect, Mcp, ReportFormat, Rules, Thinking,
};
pub(crate) use knowledge::{CaseCommand, CaseFrom, Eval, Index, IndexCommand, Lint, Search, Step};
pub(crate) use runs::{Action, FeedbackArgs, FeedbackCommand, Runs};

/// Finds out why a SCOPE (Cosmos) or U-SQL job is slow, expensive or failed, and says what to change.
#[derive(Debug, Parser)]
#[command(name = "scopeagent", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Configuration file to use instead of the nearest `scopeagent.toml`.
    #[arg(long, global = true, value_name = "FILE", env = "SCOPEAGENT_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Knowledge folder (playbooks, cases, glossary). Default: `./knowledge`, else the built-in one.
    #[arg(long, global = true, value_name = "DIR", env = "SCOPEAGENT_KNOWLEDGE")]
    pub(crate) knowledge: Option<PathBuf>,
    /// Index folder. Default: `./index` beside `./knowledge`, else in the data folder.
    #[arg(long, global = true, value_name = "DIR", env = "SCOPEAGENT_INDEX")]
    pub(crate) index: Option<PathBuf>,
    /// Embedder of the index: `embedded`, the name of a model, or a folder with `model.onnx`. Default: as configured.
    #[arg(long, global = true, value_name = "MODEL", env = "SCOPEAGENT_EMBEDDER")]
    pub(crate) embedder: Option<String>,
    /// When to colour. NO_COLOR is honoured.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
    /// The same as `--color never`.
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// No progress and no remarks on stderr; errors are still shown. The same as `--log-level error` without progress.
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// How to write what goes to stderr: for people, or one JSON object a line.
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "text",
        env = "SCOPEAGENT_LOG_FORMAT"
    )]
    pub(crate) log_format: LogFormat,
    /// How much goes to stderr: `debug` tells every file and step.
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        default_value = "info",
        env = "SCOPEAGENT_LOG_LEVEL"
    )]
    pub(crate) log_level: LogLevel,
}

/// How to write the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One object a line.
    Json,
}

/// How much to log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LogLevel {
    /// What went wrong.
    Error,
    /// And what was done otherwise than asked.
    Warn,
    /// And remarks.
    Info,
    /// And every file and step.
    Debug,
    /// And what the libraries say.
    Trace,
}

/// When to do something that only suits a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal.
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Says why a job is slow, expensive or failed, and what to change.
    Analyze(Analyze),
    /// Analyses many job folders in one call: one JSON line a job, a table at the end; can be stopped and gone on with.
    Batch(Batch),
    /// Says what changed between two runs, and the most probable reason: times, rows, plan, inputs, script, findings.
    Compare(Compare),
    /// Shows what a job folder holds: stages, operators, channels, inputs, script.
    Inspect(Inspect),
    /// Searches the knowledge base.
    Search(Search),
    /// Builds the knowledge index, or brings it up to date.
    Index(Index),
    /// Checks the knowledge folder: front matter, headings, links, ids, coverage of the causes.
    Lint(Lint),
    /// Measures how well the index answers judged queries.
    Eval(Eval),
    /// Tries an LLM profile: key, address, model, structured output, streaming.
    Doctor(Doctor),
    /// Lists the rules: what each looks for, what it needs, its thresholds.
    Rules(Rules),
    /// The runs that were kept.
    #[command(subcommand)]
    Runs(Runs),
    /// Says what became of a suggestion, so that later answers are better.
    Feedback(FeedbackArgs),
    /// Serves the tools to an MCP client, on stdin and stdout or over HTTP on this machine.
    Mcp(Mcp),
    /// Resolved cases: written from a run for the knowledge base, and checked.
    #[command(subcommand)]
    Case(CaseCommand),
    /// The configuration in force.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Writes a commented `scopeagent.toml` and a knowledge folder with the built-in documents.
    Init(Init),
    /// Prints the completions of a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Prints the man page.
    Man {
        /// Writes a page for every command into this folder instead.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

/// How to print other things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Profile to try. Default: the configured one.
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// How to print what was seen.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Arguments of `init`.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Folder to write into.
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
}

/// What to do with the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Shows every value that is set, and where it comes from.
    Show {
        /// How to print them.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

impl Cli {
    /// The flags that stand for configuration values, as the topmost layer.
    pub(crate) fn flags(&self) -> toml::Table {
        let mut layer = toml::Table::new();
        for (key, folder) in [
            ("knowledge", &self.global.knowledge),
            ("index", &self.global.index),
        ] {
            if let Some(folder) = folder {
                layer.insert(
                    key.to_owned(),
                    toml::Value::String(folder.display().to_string()),
                );
            }
        }
        if let Some(embedder) = &self.global.embedder {
            layer.insert("embedder".to_owned(), toml::Value::Table(chosen(embedder)));
        }
        layer
    }
}

/// Parses `zh` and `en`.
fn language() -> impl TypedValueParser<Value = Language> {
    let value = |language: Language, name| PossibleValue::new(language.code()).help(name);
    let languages = [
        value(Language::Zh, "Chinese"),
        value(Language::En, "English"),
    ];
    PossibleValuesParser::new(languages)
        .try_map(|code| Language::parse(&code).ok_or("neither `zh` nor `en`"))
}

/// The part of the configuration that `--embedder` stands for.
fn chosen(embedder: &str) -> toml::Table {
    let (provider, model) = match embedder {
        "embedded" => ("embedded", None),
        model => ("fastembed", Some(model)),
    };
    let mut table = toml::Table::new();
    for (key, value) in [("provider", Some(provider)), ("model", model)] {
        if let Some(value) = value {
            table.insert(key.to_owned(), toml::Value::String(value.to_owned()));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_holds_together() {
        super::Cli::command().debug_assert();
    }
}
