//! Arguments of the commands that look at jobs.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use report::Language;

use super::{Format, language};

/// What is asked, who answers, and how much is spent.
#[derive(Debug, Args)]
pub(crate) struct Thinking {
    /// What you want to know about the job.
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) question: Option<String>,
    /// Language of the report. Default: that of the question, else the configured one, else English.
    #[arg(long, value_name = "LANG", env = "SCOPEAGENT_LANG", value_parser = language())]
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
    #[arg(long, value_name = "LANG", env = "SCOPEAGENT_LANG", value_parser = language())]
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

impl From<Reasoner> for server::Mode {
    fn from(reasoner: Reasoner) -> server::Mode {
        match reasoner {
            Reasoner::Auto => server::Mode::Auto,
            Reasoner::Offline => server::Mode::Offline,
            Reasoner::Llm => server::Mode::Llm,
        }
    }
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

impl From<Severity> for report::Severity {
    fn from(severity: Severity) -> report::Severity {
        match severity {
            Severity::Low => report::Severity::Low,
            Severity::Medium => report::Severity::Medium,
            Severity::High => report::Severity::High,
            Severity::Critical => report::Severity::Critical,
        }
    }
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

/// How much an analysis may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Depth {
    Quick,
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

/// Arguments of `rules`.
#[derive(Debug, Args)]
pub(crate) struct Rules {
    /// Only causes that begin so: `skew`, `memory.spill`.
    pub(crate) cause: Option<String>,
    /// How to print them.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Language of the explanations.
    #[arg(long, value_name = "LANG", env = "SCOPEAGENT_LANG", value_parser = language())]
    pub(crate) lang: Option<Language>,
}
