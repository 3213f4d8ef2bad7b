//! Arguments of `scopeagent batch`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use batch::{Shard, Wanted};
use clap::{Args, Subcommand};

use super::Format;
use super::analysis::{Limits, Thinking};
use super::localized::named;
use super::pipeline::Notify;
use crate::budget::Budget;

#[derive(Debug, Subcommand)]
pub(crate) enum BatchCommand {
    /// List jobs and write the manifest of a store.
    /// ‖ 列出作业，写入结果库的清单。
    Plan(BatchPlan),
    /// Analyze the planned jobs that have no result yet; resumable, and any number of calls may share a store.
    /// ‖ 分析清单中还没有结果的作业；可中断后继续，多个进程可共用一个结果库。
    Run(Box<BatchRun>),
    /// Send the planned jobs that have no result to NATS JetStream.
    /// ‖ 把清单中还没有结果的作业发送到 NATS JetStream。
    Enqueue(Box<BatchEnqueue>),
    /// Analyze jobs that NATS JetStream hands out, until there are none left.
    /// ‖ 分析 NATS JetStream 分发的作业，直到全部完成。
    Work(Box<BatchWork>),
    /// Ask an LLM for advice on the findings, once per cause, script and kind of stage; resumable, and any number of calls may share a store.
    /// ‖ 按原因、脚本和阶段作用归组，每组问一次 LLM，取得修改建议；可中断后继续，多个进程可共用一个结果库。
    Advise(BatchAdvise),
    /// Write all results as tables (Parquet, CSV) and one HTML page.
    /// ‖ 把全部结果写成表格（Parquet、CSV）和一个 HTML 页面。
    Report(BatchReport),
}

#[derive(Debug, Args)]
pub(crate) struct BatchPlan {
    /// Folders of jobs, jobs or archives: local, or az://, abfss://, s3://, gs://; or Spark History Servers, http://HOST:18080/, or single applications on them, http://HOST:18080/history/APP.
    /// ‖ 作业目录、其上级目录或归档文件：可在本地或 az://、abfss://、s3://、gs://；也可以是 Spark History Server，http://HOST:18080/，或其中的一个应用，http://HOST:18080/history/APP。
    #[arg(required = true, value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Where manifest and results go: a folder, or az://, abfss://, s3://, gs://.
    /// ‖ 清单和结果的存放位置：目录，或 az://、abfss://、s3://、gs://。
    #[arg(long, short, value_name = "STORE")]
    pub(crate) out: String,
    #[command(flatten)]
    pub(crate) listing: Listing,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct BatchRun {
    /// A planned store; with `--out`, the jobs to plan and to analyze.
    /// ‖ 已有清单的结果库；使用 `--out` 时为要列出并分析的作业。
    #[arg(required = true, value_name = "STORE|SOURCE")]
    pub(crate) places: Vec<String>,
    /// Plan the sources into this store first.
    /// ‖ 先把这些作业列入该结果库。
    #[arg(long, short, value_name = "STORE")]
    pub(crate) out: Option<String>,
    #[command(flatten)]
    pub(crate) listing: Listing,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    #[command(flatten)]
    pub(crate) engine: Engine,
    /// Analyze only this part of the jobs: INDEX from 0 to COUNT - 1.
    /// ‖ 只分析其中一部分作业：INDEX 为 0 到 COUNT - 1。
    #[arg(long, value_name = "INDEX/COUNT", default_value_t = Shard::WHOLE)]
    pub(crate) shard: Shard,
    /// Retry jobs that failed in an earlier call.
    /// ‖ 重试上次失败的作业。
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

/// Which applications of a History Server are planned.
#[derive(Debug, Args)]
pub(crate) struct Listing {
    /// Of a History Server: only applications that ended since then: `7d`, `12h`, or a date such as `2026-11-20` (UTC).
    /// ‖ 对 History Server：只列出此后结束的应用：`7d`、`12h`，或日期，如 `2026-11-20`（UTC）。
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<String>,
    /// Of a History Server: only applications that ran at least this long, e.g. `10m`.
    /// ‖ 对 History Server：只列出运行时间不少于此值的应用，如 `10m`。
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    min_duration: Option<f64>,
    /// Of a History Server: only applications of this user.
    /// ‖ 对 History Server：只列出该用户的应用。
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

impl Listing {
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            since: self.since.clone(),
            least_seconds: self.min_duration.unwrap_or(0.0),
            user: self.user.clone(),
            most: None,
        }
    }
}

/// How to reach NATS.
#[derive(Debug, Args)]
pub(crate) struct Nats {
    /// Address of a NATS server with JetStream; several separated by commas.
    /// ‖ 启用 JetStream 的 NATS 服务器地址；多个用逗号分隔。
    #[arg(
        long = "nats",
        value_name = "URL",
        env = "SCOPEAGENT_NATS",
        hide_env_values = true
    )]
    pub(crate) urls: String,
    /// File with a user's JWT and key.
    /// ‖ 包含用户 JWT 和密钥的文件。
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
    /// ‖ 已有清单的结果库。
    pub(crate) store: String,
    #[command(flatten)]
    pub(crate) nats: Nats,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    /// Retry jobs that failed in an earlier call.
    /// ‖ 重试上次失败的作业。
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct BatchWork {
    /// The store that was enqueued.
    /// ‖ 已入队的结果库。
    pub(crate) store: String,
    #[command(flatten)]
    pub(crate) nats: Nats,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    #[command(flatten)]
    pub(crate) engine: Engine,
    /// Seconds after which the jobs of a silent worker go to others. The first worker of a queue decides.
    /// ‖ 工作进程沉默多少秒后，其作业转给其他进程。由队列的第一个工作进程决定。
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub(crate) ack_wait: u64,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

/// How a process analyzes jobs.
#[derive(Debug, Args)]
pub(crate) struct Engine {
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Jobs to analyze concurrently. Default: one per CPU.
    /// ‖ 同时分析的作业数。默认每个 CPU 一个。
    #[arg(long, short, value_name = "N", default_value_t = cpus(), value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) workers: u16,
    /// Spark History Server that jobs of the manifest may be read from, http://HOST:18080; repeatable. Servers of the SOURCEs are allowed anyway.
    /// ‖ 允许从中读取清单所列作业的 Spark History Server，http://HOST:18080，可多次给出。SOURCE 所在的服务器无须再给。
    #[arg(long = "history-server", value_name = "URL")]
    pub(crate) history_servers: Vec<String>,
    /// Serve counters for Prometheus at http://ADDRESS:PORT/metrics while it runs.
    /// ‖ 运行期间在 http://ADDRESS:PORT/metrics 提供 Prometheus 指标。
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct BatchAdvise {
    /// A store with results.
    /// ‖ 有结果的结果库。
    pub(crate) store: String,
    /// LLM profile to use.
    /// ‖ 使用哪个 LLM 配置。
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// Mask paths, names and literals before anything leaves the machine.
    /// ‖ 任何内容离开本机之前，遮盖路径、名称和字面值。
    #[arg(long)]
    pub(crate) redact: bool,
    /// The most that advice in this store may cost, earlier calls included, in the currency of the profile's prices.
    /// ‖ 该结果库的建议最多可花多少（以 LLM 配置中价格的货币计），包括此前的调用。
    #[arg(long, value_name = "COST", value_parser = amount)]
    pub(crate) max_cost: Option<f64>,
    /// The most LLM calls for advice in this store, earlier calls included.
    /// ‖ 该结果库的建议最多可调用多少次 LLM，包括此前的调用。
    #[arg(long, value_name = "N")]
    pub(crate) max_calls: Option<u64>,
    /// Calls at the same time.
    /// ‖ 同时进行的调用数。
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) concurrency: u16,
    /// Show calls, tokens and price, and the prompt of the costliest cluster, without asking.
    /// ‖ 只显示调用次数、token 数、价格和代价最高的一组的提示词，不发送。
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask again about clusters without a usable answer.
    /// ‖ 对此前得不到可用回答的问题簇再次询问。
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct BatchReport {
    /// A store with results.
    /// ‖ 有结果的结果库。
    pub(crate) store: String,
    /// Folder to write into. Default: `report` in a local store.
    /// ‖ 输出目录。默认为本地结果库中的 `report`。
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the reports of the N costliest jobs as pages.
    /// ‖ 将最耗时的 N 个作业的报告写成网页。
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) pages: usize,
    #[command(flatten)]
    pub(crate) notify: Notify,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

impl BatchCommand {
    /// Local folders that contain jobs, and remote places, which do not exist as folders.
    pub(crate) fn collections(&self) -> impl Iterator<Item = &Path> {
        let places = match self {
            BatchCommand::Plan(args) => args.sources.as_slice(),
            BatchCommand::Run(args) => &args.places,
            BatchCommand::Enqueue(_)
            | BatchCommand::Work(_)
            | BatchCommand::Advise(_)
            | BatchCommand::Report(_) => &[],
        };
        places.iter().map(Path::new)
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = ::runs::budget::duration(text);
    seconds.ok_or_else(|| "expected a duration: 90s, 10m, 2h or 7d".to_owned())
}

/// A time in UTC: the date itself, or a duration before now.
pub(crate) fn since(text: &str) -> Result<String, String> {
    if text.parse::<jiff::civil::Date>().is_ok() || text.parse::<jiff::Timestamp>().is_ok() {
        return Ok(text.to_owned());
    }
    let seconds =
        seconds(text).map_err(|_| "expected a date, or a duration: 12h or 7d".to_owned())?;
    let now = jiff::Timestamp::now();
    let then = now.checked_sub(jiff::SignedDuration::from_secs_f64(seconds.min(1e9)));
    Ok(then.unwrap_or(now).to_string())
}

/// A cost.
fn amount(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok();
    let amount = amount.filter(|n: &f64| n.is_finite() && *n >= 0.0);
    amount.ok_or_else(|| "expected a number from 0".to_owned())
}

impl Engine {
    /// The budget of each of the jobs that are analyzed concurrently.
    pub(crate) fn budget(&self) -> Budget {
        self.limits.budget().shared_by(usize::from(self.workers))
    }
}

fn cpus() -> u16 {
    u16::try_from(Budget::default().threads)
        .unwrap_or(u16::MAX)
        .min(256)
}

#[cfg(test)]
mod tests {
    use super::since;

    #[test]
    fn a_time_is_a_date_or_a_duration_before_now() {
        assert_eq!(since("2026-11-22").as_deref(), Ok("2026-11-22"));
        let week = since("7d").expect("a duration");
        let week: jiff::Timestamp = week.parse().expect("a time");
        let ago = jiff::Timestamp::now().duration_since(week).as_secs();
        assert!((604_800..604_900).contains(&ago), "{ago}");
        assert!(since("soon").is_err());
    }
}
