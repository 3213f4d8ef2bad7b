//! Arguments of the commands that work on jobs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use agent::Depth;
use clap::{Args, ValueEnum};
use report::{Language, Severity};
use server::Mode;

use super::{Choices, Format, LANGUAGES, one_of};
use crate::budget::Budget;

pub(super) const REASONERS: Choices<Mode> = &[
    (
        "auto",
        Mode::Auto,
        Some("An LLM if one is configured, otherwise offline"),
    ),
    ("offline", Mode::Offline, Some("Without an LLM")),
    ("llm", Mode::Llm, Some("With an LLM")),
];

const DEPTHS: Choices<Depth> = &[
    ("quick", Depth::Quick, None),
    ("normal", Depth::Normal, None),
    ("deep", Depth::Deep, None),
];

const SEVERITIES: Choices<Severity> = &[
    ("low", Severity::Low, None),
    ("medium", Severity::Medium, None),
    ("high", Severity::High, None),
    ("critical", Severity::Critical, None),
];

/// The question, who answers it, and how much to spend.
#[derive(Debug, Args)]
pub(crate) struct Thinking {
    /// What you want to know about the job.
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) question: Option<String>,
    /// Language of the report. Default: the configured one, else that of the question, else English.
    #[arg(long, value_name = "LANG", env = "SCOPEAGENT_LANG", value_parser = one_of(LANGUAGES))]
    pub(crate) lang: Option<Language>,
    /// Who reasons: `auto` uses an LLM if one is configured, otherwise the offline reasoner.
    #[arg(long, value_name = "WHO", default_value = "auto", value_parser = one_of(REASONERS))]
    pub(crate) reasoner: Mode,
    /// LLM profile to use.
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// Fail with status 4 if the LLM fails, instead of falling back to the offline reasoner.
    #[arg(long)]
    pub(crate) no_fallback: bool,
    /// How much to spend: `quick` merges THINK 1–3 into one call, `deep` repeats steps after reading more files.
    #[arg(long, value_name = "DEPTH", default_value = "normal", value_parser = one_of(DEPTHS))]
    pub(crate) depth: Depth,
    /// Add the hypotheses step: how to check each one, and which ones the files can settle.
    #[arg(long)]
    pub(crate) hypotheses: bool,
    /// Mask paths, names and literals before anything leaves the machine.
    #[arg(long)]
    pub(crate) redact: bool,
}

/// What one job may take.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Limits {
    /// End the analysis of a job after so many seconds; it counts as failed. Default for `batch` and `mcp`: 3600.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(crate) job_timeout: Option<u64>,
    /// Memory that the analysis of a job may take, in bytes; with more it counts as failed. Limited on Linux only. Default for `batch` and `mcp`: 4 GiB.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1 << 20..))]
    pub(crate) job_memory: Option<u64>,
}

impl Limits {
    /// The budget, with the defaults where nothing is given.
    pub(crate) fn budget(self) -> Budget {
        Budget {
            time: self.job_timeout.map_or(Budget::TIME, Duration::from_secs),
            memory: self.job_memory.unwrap_or(Budget::MEMORY),
        }
    }

    pub(crate) fn is_given(self) -> bool {
        self.job_timeout.is_some() || self.job_memory.is_some()
    }
}

#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// Job folder.
    pub(crate) job: PathBuf,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Format of the report.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,
    /// Show what would be sent to the LLM, with tokens and price, but send nothing.
    #[arg(long, conflicts_with = "replay")]
    pub(crate) dry_run: bool,
    /// Write every LLM call to a file (JSON lines).
    #[arg(long, value_name = "FILE")]
    pub(crate) transcript: Option<PathBuf>,
    /// Take the answers from such a file instead of a server.
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Exit with status 10 if there is a finding of at least this severity.
    #[arg(long, value_name = "SEVERITY", value_parser = one_of(SEVERITIES))]
    pub(crate) fail_on: Option<Severity>,
    /// Don't save the run; feedback is then impossible.
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Show the outcome of every rule, and why.
    #[arg(long)]
    pub(crate) explain_rules: bool,
    /// Show the THINK steps in the text report.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Serve on this loopback address instead of stdin and stdout. Port 0 picks a free port.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    pub(crate) http: Option<SocketAddr>,
    /// Folder whose jobs may be read; repeatable. Default: `allowed_roots` of `[mcp]`, else the current folder.
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    /// Who reasons: `auto` uses an LLM if one is configured, otherwise the offline reasoner.
    #[arg(long, value_name = "WHO", default_value = "auto", value_parser = one_of(REASONERS))]
    pub(crate) reasoner: Mode,
    /// LLM profile to use.
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// Mask paths, names and literals before anything is sent to an LLM.
    #[arg(long)]
    pub(crate) redact: bool,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// An address that only this machine can reach.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text
        .parse()
        .map_err(|_| "expected an address and a port, e.g. 127.0.0.1:8719".to_owned())?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err("only loopback addresses (127.0.0.1, [::1]) are allowed: there is no login".to_owned())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Batch {
    /// Job folders, or folders of job folders.
    #[arg(required = true, value_name = "DIR")]
    pub(crate) jobs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Jobs to analyze concurrently. Default: one per CPU.
    #[arg(long, short, value_name = "N", default_value_t = cpus(), value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) workers: u16,
    /// Write the lines to this file instead of stdout, and resume where an earlier call stopped.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Retry jobs that failed in an earlier call.
    #[arg(long, requires = "out")]
    pub(crate) retry_failed: bool,
    /// Put the whole report (about 100 KB) into each line instead of a summary.
    #[arg(long)]
    pub(crate) reports: bool,
    /// Don't save the runs.
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Format of the summary when `--out` takes the lines.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

fn cpus() -> u16 {
    let found = std::thread::available_parallelism().map_or(1, usize::from);
    u16::try_from(found).unwrap_or(u16::MAX).min(256)
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The first run, normally the good one: a job folder, or the id of a saved run, `last`, `last~1`, ….
    pub(crate) a: String,
    /// The second run, in the same form.
    pub(crate) b: String,
    /// Format of the comparison.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: CompareFormat,
    /// Language. Default: the configured one, else that of the first run.
    #[arg(long, value_name = "LANG", env = "SCOPEAGENT_LANG", value_parser = one_of(LANGUAGES))]
    pub(crate) lang: Option<Language>,
    /// Show unchanged stages and inputs too, and every change however small.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
    /// For a ticket.
    Markdown,
}

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

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Job folder.
    pub(crate) job: PathBuf,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Show only this stage and the channels into and out of it.
    #[arg(long, value_name = "STAGE")]
    pub(crate) stage: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Rules {
    /// Show only causes that start with this: `skew`, `memory.spill`.
    pub(crate) cause: Option<String>,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Language of the explanations.
    #[arg(long, value_name = "LANG", env = "SCOPEAGENT_LANG", value_parser = one_of(LANGUAGES))]
    pub(crate) lang: Option<Language>,
}
