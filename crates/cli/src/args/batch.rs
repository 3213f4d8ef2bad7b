//! Arguments of `scopeagent batch`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use batch::Shard;
use clap::{Args, Subcommand};

use super::Format;
use super::analysis::{Limits, Thinking};

#[derive(Debug, Subcommand)]
pub(crate) enum BatchCommand {
    /// List jobs and write the manifest of a store.
    Plan(BatchPlan),
    /// Analyze the planned jobs that have no result yet; resumable, and any number of calls may share a store.
    Run(Box<BatchRun>),
    /// Send the planned jobs that have no result to NATS JetStream.
    Enqueue(Box<BatchEnqueue>),
    /// Analyze jobs that NATS JetStream hands out, until there are none left.
    Work(Box<BatchWork>),
}

#[derive(Debug, Args)]
pub(crate) struct BatchPlan {
    /// Folders of jobs, jobs or archives: local, or az://, abfss://, s3://, gs://.
    #[arg(required = true, value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Where manifest and results go: a folder, or az://, abfss://, s3://, gs://.
    #[arg(long, short, value_name = "STORE")]
    pub(crate) out: String,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct BatchRun {
    /// A planned store; with `--out`, the jobs to plan and to analyze.
    #[arg(required = true, value_name = "STORE|SOURCE")]
    pub(crate) places: Vec<String>,
    /// Plan the sources into this store first.
    #[arg(long, short, value_name = "STORE")]
    pub(crate) out: Option<String>,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    #[command(flatten)]
    pub(crate) engine: Engine,
    /// Analyze only this part of the jobs: INDEX from 0 to COUNT - 1.
    #[arg(long, value_name = "INDEX/COUNT", default_value_t = Shard::WHOLE)]
    pub(crate) shard: Shard,
    /// Retry jobs that failed in an earlier call.
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// How to reach NATS.
#[derive(Debug, Args)]
pub(crate) struct Nats {
    /// Address of a NATS server with JetStream; several separated by commas.
    #[arg(
        long = "nats",
        value_name = "URL",
        env = "SCOPEAGENT_NATS",
        hide_env_values = true
    )]
    pub(crate) urls: String,
    /// File with a user's JWT and key.
    #[arg(
        long = "nats-credentials",
        value_name = "FILE",
        env = "SCOPEAGENT_NATS_CREDENTIALS"
    )]
    pub(crate) credentials: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BatchEnqueue {
    /// A planned store.
    pub(crate) store: String,
    #[command(flatten)]
    pub(crate) nats: Nats,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    /// Retry jobs that failed in an earlier call.
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct BatchWork {
    /// The store that was enqueued.
    pub(crate) store: String,
    #[command(flatten)]
    pub(crate) nats: Nats,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    #[command(flatten)]
    pub(crate) engine: Engine,
    /// Seconds after which the jobs of a silent worker go to others. The first worker of a queue decides.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub(crate) ack_wait: u64,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// How a process analyzes jobs.
#[derive(Debug, Args)]
pub(crate) struct Engine {
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Jobs to analyze concurrently. Default: one per CPU.
    #[arg(long, short, value_name = "N", default_value_t = cpus(), value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) workers: u16,
    /// Serve counters for Prometheus at http://ADDRESS:PORT/metrics while it runs.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
}

impl BatchCommand {
    /// Local folders that contain jobs, and remote ones, which are none.
    pub(crate) fn collections(&self) -> impl Iterator<Item = &Path> {
        let places = match self {
            BatchCommand::Plan(args) => args.sources.as_slice(),
            BatchCommand::Run(args) => &args.places,
            BatchCommand::Enqueue(_) | BatchCommand::Work(_) => &[],
        };
        places.iter().map(Path::new)
    }
}

fn cpus() -> u16 {
    let found = std::thread::available_parallelism().map_or(1, usize::from);
    u16::try_from(found).unwrap_or(u16::MAX).min(256)
}
