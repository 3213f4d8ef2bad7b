//! Command line: what can be asked for. Nothing here acts.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::Language;

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

/// What is asked, who answers, and how much is spent.
#[derive(Debug, Args)]
pub(crate) struct Thinking {
    /// What you want to know about the job.
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) question: Option<String>,
    /// Language of the report. Default: that of the question, else the configured one, else English.
    #[arg(long, value_name = "LANG", env = "SCOPEAGENT_LANG")]
    pub(crate) lang: Option<Language>,
    /// Who reasons. `auto` uses an LLM if one is configured, else the offline reasoner.
    #[arg(long, value_name = "WHO", default_value = "auto")]
    pub(crate) reasoner: Reasoner,
    /// LLM profile of the configuration to use.
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// Fails (status 4) if the LLM fails, instead of going on with the offline reasoner.
    #[arg(long)]
    pub(crate) no_fallback: bool,
    /// How much is spent: `quick` merges THINK 1–3 into one call, `deep` repeats steps over what was read.
    #[arg(long, value_name = "DEPTH", default_value = "normal")]
    pub(crate) depth: Depth,
    /// Adds the step on hypotheses: how each would be checked, and checks what files can decide.
    #[arg(long)]
    pub(crate) hypotheses: bool,
    /// Masks paths, names and literals before anything leaves the machine.
    #[arg(long)]
    pub(crate) redact: bool,
}

/// Arguments of `analyze`.
#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// Job folder.
    pub(crate) job: PathBuf,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    /// How to print the report.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,
    /// Shows what would be sent to the LLM, with tokens and price, and sends nothing.
    #[arg(long, conflicts_with = "replay")]
    pub(crate) dry_run: bool,
    /// Writes every call of the LLM into a file (JSON lines).
    #[arg(long, value_name = "FILE")]
    pub(crate) transcript: Option<PathBuf>,
    /// Takes the answers from such a file instead of a server.
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Ends with status 10 if a finding of this severity or worse is present.
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<Severity>,
    /// Does not keep the run (and cannot be given feedback on).
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Shows for every rule what became of it, and why.
    #[arg(long)]
    pub(crate) explain_rules: bool,
    /// Shows the THINK steps in the text report.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

impl Analyze {
    /// The arguments of an `analyze JOB` that is asked for in another way than on the command line.
    pub(crate) fn of(job: PathBuf, thinking: Thinking) -> Analyze {
        Analyze {
            job,
            thinking,
            format: ReportFormat::Text,
            dry_run: false,
            transcript: None,
            replay: None,
            fail_on: None,
            no_store: false,
            explain_rules: false,
            verbose: false,
        }
    }
}

impl Thinking {
    /// Facts and findings, without an LLM.
    pub(crate) fn of_facts() -> Thinking {
        Thinking {
            question: None,
            lang: None,
            reasoner: Reasoner::Offline,
            llm: None,
            no_fallback: false,
            depth: Depth::Quick,
            hypotheses: false,
            redact: false,
        }
    }
}

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Listens on this loopback address instead of stdin and stdout. Port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    pub(crate) http: Option<SocketAddr>,
    /// Folder whose jobs may be read; may be repeated. Default: `allowed_roots` of `[mcp]`, else the current folder.
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    /// Who reasons. `auto` uses an LLM if one is configured, else the offline reasoner.
    #[arg(long, value_name = "WHO", default_value = "auto")]
    pub(crate) reasoner: Reasoner,
    /// LLM profile of the configuration to use.
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// Masks paths, names and literals before anything is sent to an LLM.
    #[arg(long)]
    pub(crate) redact: bool,
}

/// An address that only this machine can reach.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text
        .parse()
        .map_err(|_| "expected an address and a port, such as 127.0.0.1:8719".to_owned())?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err("only loopback addresses (127.0.0.1, [::1]) are served: there is no login".to_owned())
    }
}

/// Arguments of `batch`.
#[derive(Debug, Args)]
pub(crate) struct Batch {
    /// Job folders, or folders of job folders.
    #[arg(required = true, value_name = "DIR")]
    pub(crate) jobs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    /// Jobs analysed at once. Default: one a processor.
    #[arg(long, short, value_name = "N", default_value_t = processors(), value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) workers: u16,
    /// Writes the lines into this file instead of stdout, and goes on where an earlier call stopped.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Tries jobs again that failed in an earlier call.
    #[arg(long, requires = "out")]
    pub(crate) retry_failed: bool,
    /// Puts the whole report into each line (a hundred kilobytes), not only its gist.
    #[arg(long)]
    pub(crate) reports: bool,
    /// Does not keep the runs.
    #[arg(long)]
    pub(crate) no_store: bool,
    /// How to print the summary where `--out` takes the lines.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

fn processors() -> u16 {
    let found = std::thread::available_parallelism().map_or(1, usize::from);
    u16::try_from(found).unwrap_or(u16::MAX).min(256)
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The first run (the good one, if one is): a job folder, or a run by its identifier, `last`, `last~1`, ….
    pub(crate) a: String,
    /// The second run, likewise.
    pub(crate) b: String,
    /// How to print the comparison.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: CompareFormat,
    /// Language. Default: the configured one, else that of the first run.
    #[arg(long, value_name = "LANG", env = "SCOPEAGENT_LANG")]
    pub(crate) lang: Option<Language>,
    /// Shows stages and inputs that did not change, and every change however small.
    #[arg(long)]
    pub(crate) all: bool,
}

/// How to print a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
    /// For a ticket.
    Markdown,
}

/// How to print a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a terminal.
    Text,
    /// The report contract, version 1.
    Json,
    /// For a ticket.
    Markdown,
    /// One self-contained page.
    Html,
}

/// Who reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reasoner {
    /// An LLM if one is configured, else offline.
    Auto,
    /// Without an LLM.
    Offline,
    /// With an LLM.
    Llm,
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

/// How to print other things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
}

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Job folder.
    pub(crate) job: PathBuf,
    /// How to print it.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Only this stage and the channels into and out of it.
    #[arg(long, value_name = "STAGE")]
    pub(crate) stage: Option<String>,
}

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for: words, a counter, an error id, a piece of script; Chinese or English.
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// How many chunks to show.
    #[arg(short, long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) k: u16,
    /// How to print them.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Only documents in this language.
    #[arg(long, value_name = "LANG")]
    pub(crate) lang: Option<Language>,
    /// Only chunks that suit this step of an analysis.
    #[arg(long, value_name = "STEP")]
    pub(crate) step: Option<Step>,
    /// Only chunks with this facet: kind, problem_type, cause, section, language or step. Of several values of
    /// one facet any will do; of several facets each must hold. `cause=skew` means every cause of that group.
    #[arg(long, value_name = "FACET=VALUE", value_parser = facet)]
    pub(crate) filter: Vec<(String, String)>,
    /// Shows the rank and score of each branch, and what was added to them.
    #[arg(long)]
    pub(crate) explain: bool,
}

/// A step of an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    Think1,
    Think2,
    Think3,
    Think4,
    Think5,
}

/// Splits `facet=value`.
fn facet(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "a facet and its value were expected, as in `section=fix`".to_owned())?;
    let (name, value) = (name.trim().replace('-', "_"), value.trim());
    if value.is_empty() {
        return Err(format!("`{name}` has no value"));
    }
    Ok((name, value.to_owned()))
}

/// How much an analysis may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Depth {
    Quick,
    Normal,
    Deep,
}

/// Arguments of `index`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Index {
    #[command(subcommand)]
    pub(crate) command: Option<IndexCommand>,
    /// Cuts all documents again; known texts keep their vectors.
    #[arg(long, group = "rebuild")]
    pub(crate) rechunk: bool,
    /// Embeds all texts again.
    #[arg(long, group = "rebuild")]
    pub(crate) reembed: bool,
    /// Builds everything again, as if there were no index.
    #[arg(long, group = "rebuild")]
    pub(crate) full: bool,
    /// Goes on watching the knowledge folder and updates when a document changes.
    #[arg(long)]
    pub(crate) watch: bool,
    /// How to print the summary.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Other things to do with the index.
#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Checks the index against its manifest, and that every chunk can be found.
    Verify {
        /// How to print what was found.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Shows what the index holds and how it was made.
    Info {
        /// How to print it.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

/// Arguments of `lint`.
#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// Mends what can be mended without changing what is said.
    #[arg(long, conflicts_with = "coverage")]
    pub(crate) fix: bool,
    /// Shows which causes have playbooks with which sections, per language.
    #[arg(long)]
    pub(crate) coverage: bool,
    /// How to print the findings.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Folder or file of judgements. Default: `judgements` of the knowledge folder.
    #[arg(long, value_name = "PATH", conflicts_with = "beir")]
    pub(crate) judgements: Option<PathBuf>,
    /// Collection in BEIR layout (corpus.jsonl, queries.jsonl, qrels/) to index and measure instead.
    #[arg(long, value_name = "DIR")]
    pub(crate) beir: Option<PathBuf>,
    /// Only judgements of this part: `tune` or `heldout`; for BEIR the qrels file. Default there: `test`.
    #[arg(long, value_name = "PART")]
    pub(crate) split: Option<String>,
    /// Cut-off of nDCG and MRR.
    #[arg(short, long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) k: u16,
    /// Cut-off of recall.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) recall_at: u16,
    /// Joins the branches by reciprocal rank instead of the convex mix.
    #[arg(long)]
    pub(crate) rrf: bool,
    /// Finds the best weights on the `tune` part and tries them on the `heldout` part.
    #[arg(long, conflicts_with_all = ["beir", "baseline"])]
    pub(crate) tune: bool,
    /// Earlier output of `eval --format json` to compare with.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Ends with status 10 if the hybrid branch is significantly worse than the baseline.
    #[arg(long, requires = "baseline")]
    pub(crate) gate: bool,
    /// Writes the rankings as a TREC run.
    #[arg(long, value_name = "FILE")]
    pub(crate) run_out: Option<PathBuf>,
    /// Scores a TREC run instead of the index.
    #[arg(long, value_name = "FILE")]
    pub(crate) run_in: Option<PathBuf>,
    /// How to print the scores.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
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

/// Arguments of `rules`.
#[derive(Debug, Args)]
pub(crate) struct Rules {
    /// Only causes that begin so: `skew`, `memory.spill`.
    pub(crate) cause: Option<String>,
    /// How to print them.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Language of the explanations.
    #[arg(long, value_name = "LANG", env = "SCOPEAGENT_LANG")]
    pub(crate) lang: Option<Language>,
}

/// What to do with runs.
#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// Lists runs, the newest first.
    List {
        /// Only runs of jobs whose folder or name contains this.
        #[arg(long, value_name = "TEXT")]
        job: Option<String>,
        /// At most so many.
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// How to print them.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Shows the report of a run again.
    Show {
        /// Identifier of the run, or its beginning.
        run: String,
        /// How to print the report.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: ReportFormat,
        /// Shows the THINK steps in the text report.
        #[arg(long, short)]
        verbose: bool,
    },
    /// Deletes a run with its feedback.
    Delete {
        /// Identifier of the run, or its beginning.
        run: String,
    },
    /// Prints the report of a run as JSON, or of all runs, one a line.
    Export {
        /// Identifier of the run, or its beginning; all runs if left out.
        run: Option<String>,
    },
}

/// Arguments of `feedback`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct FeedbackArgs {
    #[command(subcommand)]
    pub(crate) command: Option<FeedbackCommand>,
    /// Identifier of the run, or its beginning.
    #[arg(required = true)]
    pub(crate) run: Option<String>,
    /// What became of the suggestion.
    #[arg(required = true)]
    pub(crate) action: Option<Action>,
    /// The suggestion: S1.
    #[arg(required = true)]
    pub(crate) suggestion: Option<String>,
    /// Why, in a sentence.
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Seconds that the change really saved.
    #[arg(long, value_name = "N")]
    pub(crate) saved_seconds: Option<f64>,
}

/// Other things to do with feedback.
#[derive(Debug, Subcommand)]
pub(crate) enum FeedbackCommand {
    /// Shows what all feedback has taught.
    Effect {
        /// How to print it.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

/// What became of a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
    /// It was taken.
    Accept,
    /// It was not.
    Ignore,
}

/// What to do with cases.
#[derive(Debug, Subcommand)]
pub(crate) enum CaseCommand {
    /// Writes `cases/NAME.md` in the knowledge folder from a run; a curator fills in what only people know.
    From(CaseFrom),
    /// Checks cases: front matter, sections, places still to be filled in.
    Check {
        /// Files. Default: every case of the knowledge folder.
        files: Vec<PathBuf>,
        /// How to print what was found.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

/// Arguments of `case from`.
#[derive(Debug, Args)]
pub(crate) struct CaseFrom {
    /// Identifier of the run, its beginning, or `last`.
    pub(crate) run: String,
    /// Later run of the job with the change: the result is measured by it.
    #[arg(long, value_name = "RUN")]
    pub(crate) after: Option<String>,
    /// Name of the case. Default: made from the cause and the run.
    #[arg(long, value_name = "NAME")]
    pub(crate) id: Option<String>,
    /// Leaves names, paths and literals of the job as they are.
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Overwrites a case of the same name.
    #[arg(long)]
    pub(crate) force: bool,
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
