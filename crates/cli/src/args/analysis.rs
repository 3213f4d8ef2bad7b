//! Arguments of the commands that work on jobs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agent::Depth;
use clap::{Args, ValueEnum};
use report::Severity;
use server::Mode;

use super::localized::named;
use super::{Choices, Format, Target, one_of, pipeline};
use crate::budget::Budget;

pub(super) const REASONERS: Choices<Mode> = &[
    (
        "auto",
        Mode::Auto,
        Some((
            "An LLM if one is configured, otherwise offline",
            "配置了 LLM 就用 LLM，否则离线",
        )),
    ),
    (
        "offline",
        Mode::Offline,
        Some(("Without an LLM", "不用 LLM")),
    ),
    ("llm", Mode::Llm, Some(("With an LLM", "用 LLM"))),
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
    /// ‖ 想了解这个作业的什么。
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) question: Option<String>,
    /// Who reasons: `auto` uses an LLM if one is configured, otherwise the offline reasoner.
    /// ‖ 由谁分析：`auto` 在配置了 LLM 时用 LLM，否则离线分析。
    #[arg(long, value_name = "WHO", default_value = "auto", value_parser = one_of(REASONERS))]
    pub(crate) reasoner: Mode,
    /// LLM profile to use.
    /// ‖ 使用哪个 LLM 配置。
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// Fail with status 4 if the LLM fails, instead of falling back to the offline reasoner.
    /// ‖ LLM 失败时以状态 4 结束，而不改用离线分析。
    #[arg(long)]
    pub(crate) no_fallback: bool,
    /// How much to spend: `quick` merges THINK 1–3 into one call, `deep` repeats steps after reading more files.
    /// ‖ 投入多少：`quick` 把 THINK 1–3 合为一次调用，`deep` 读了更多文件后重做各步骤。
    #[arg(long, value_name = "DEPTH", default_value = "normal", value_parser = one_of(DEPTHS))]
    pub(crate) depth: Depth,
    /// Add the hypotheses step: how to check each one, and which ones the files can settle.
    /// ‖ 增加假设步骤：每个假设如何验证，哪些可由文件判定。
    #[arg(long)]
    pub(crate) hypotheses: bool,
    /// Mask paths, names and literals before anything leaves the machine.
    /// ‖ 任何内容离开本机之前，遮盖路径、名称和字面值。
    #[arg(long)]
    pub(crate) redact: bool,
}

/// Limits for the analysis of one job.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Limits {
    /// Stop analyzing a job after this many seconds and count it as failed. Default for `batch` and `mcp`: 3600.
    /// ‖ 一个作业的分析超过这个秒数即中止，计为失败。`batch` 与 `mcp` 默认 3600。
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(crate) job_timeout: Option<u64>,
    /// Memory that the analysis of a job may take, in bytes; with more it counts as failed. Limited on Linux only. Default for `batch` and `mcp`: 4 GiB.
    /// ‖ 分析一个作业最多可用的内存（字节），超出计为失败。仅在 Linux 上生效。`batch` 与 `mcp` 默认 4 GiB。
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1 << 20..))]
    pub(crate) job_memory: Option<u64>,
}

impl Limits {
    /// The budget, with defaults for missing values.
    pub(crate) fn budget(self) -> Budget {
        let usual = Budget::default();
        Budget {
            time: self.job_timeout.map_or(usual.time, Duration::from_secs),
            memory: self.job_memory.unwrap_or(usual.memory),
            ..usual
        }
    }

    pub(crate) fn is_given(self) -> bool {
        self.job_timeout.is_some() || self.job_memory.is_some()
    }
}

#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// Jobs: folders, event logs or archives, local or at az://, abfss://, s3://, gs://; or Spark applications on a History Server, http://HOST:18080/history/APP.
    /// ‖ 作业：目录、事件日志或归档文件，可在本地或 az://、abfss://、s3://、gs://；也可以是 History Server 上的 Spark 应用，http://HOST:18080/history/APP。
    #[arg(required = true, value_name = "JOB")]
    pub(crate) jobs: Vec<PathBuf>,
    /// The script that the Spark application ran: PySpark, SQL or Scala. Default: the one next to its log.
    /// ‖ Spark 应用运行的脚本：PySpark、SQL 或 Scala。默认用日志旁边的脚本。
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) thinking: Thinking,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Stop analyzing a job after this many seconds, with a partial report. `--job-timeout` and `--job-memory` replace this limit.
    /// ‖ 一个作业的分析超过这个秒数即停止，给出不完整的报告。给出 `--job-timeout` 或 `--job-memory` 时以它们为准。
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(crate) time_limit: u64,
    /// Format of the report. Default: by the extension of `--out`, otherwise text.
    /// ‖ 报告的格式。默认取决于 `--out` 的扩展名，否则为文本。
    #[arg(long, short, value_name = "FORMAT", value_parser = named::<ReportFormat>())]
    pub(crate) format: Option<ReportFormat>,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Show the requests to the LLM, with tokens and price, without sending them.
    /// ‖ 只显示将发给 LLM 的请求、token 数与价格，不发送。
    #[arg(long, conflicts_with = "replay")]
    pub(crate) dry_run: bool,
    /// Write every LLM call to a file (JSON lines).
    /// ‖ 把每次 LLM 调用写入文件（每行一个 JSON）。
    #[arg(long, value_name = "FILE")]
    pub(crate) transcript: Option<PathBuf>,
    /// Take the answers from such a file instead of a server.
    /// ‖ 回答取自这样的文件，而不是服务器。
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Exit with status 10 if there is a finding of at least this severity.
    /// ‖ 有不低于该严重程度的问题时，以状态 10 结束。
    #[arg(long, value_name = "SEVERITY", value_parser = one_of(SEVERITIES))]
    pub(crate) fail_on: Option<Severity>,
    #[command(flatten)]
    pub(crate) gate: pipeline::Budget,
    /// Don't save the run; feedback is then impossible.
    /// ‖ 不保存这次运行；之后无法反馈。
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Show the outcome of every rule, and why.
    /// ‖ 显示每条规则的结果及原因。
    #[arg(long)]
    pub(crate) explain_rules: bool,
    /// Show the THINK steps in the text report.
    /// ‖ 在文本报告中显示 THINK 各步骤。
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The first run, normally the good one: a job (see `analyze`), or the id of a saved run, `last`, `last~1`, ….
    /// ‖ 第一次运行，通常是正常的那次：作业（同 `analyze`），或已保存运行的编号、`last`、`last~1` 等。
    pub(crate) a: String,
    /// The second run, in the same form.
    /// ‖ 第二次运行，写法相同。
    pub(crate) b: String,
    /// Format of the comparison. Default: by the extension of `--out`, otherwise text.
    /// ‖ 比较结果的格式。默认取决于 `--out` 的扩展名，否则为文本。
    #[arg(long, short, value_name = "FORMAT", value_parser = named::<ReportFormat>())]
    pub(crate) format: Option<ReportFormat>,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Show unchanged stages and inputs too, and every change however small.
    /// ‖ 也显示没有变化的阶段和输入，以及再小的变化。
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a terminal.
    /// ‖ 用于终端。
    Text,
    /// For programs; `schema` prints the schema of a report.
    /// ‖ 供程序读取；`schema` 输出报告的格式定义。
    Json,
    /// For a ticket.
    /// ‖ 用于工单。
    Markdown,
    /// One self-contained page.
    /// ‖ 一个自包含的网页。
    Html,
}

impl ReportFormat {
    /// The format that was given, else the one of a file's extension.
    pub(crate) fn of(given: Option<ReportFormat>, target: &Target) -> ReportFormat {
        let out = target.out.as_deref().and_then(Path::extension);
        let extension = out.and_then(|e| e.to_str()).unwrap_or_default();
        given.unwrap_or(match extension.to_ascii_lowercase().as_str() {
            "json" => ReportFormat::Json,
            "md" | "markdown" => ReportFormat::Markdown,
            "html" | "htm" => ReportFormat::Html,
            _ => ReportFormat::Text,
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Job: a folder, an event log or an archive, local or at az://, abfss://, s3://, gs://; or a Spark application on a History Server, http://HOST:18080/history/APP.
    /// ‖ 作业：目录、事件日志或归档文件，可在本地或 az://、abfss://、s3://、gs://；也可以是 History Server 上的 Spark 应用，http://HOST:18080/history/APP。
    pub(crate) job: PathBuf,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Show only this stage and the channels into and out of it.
    /// ‖ 只显示这个阶段及其上下游通道。
    #[arg(long, value_name = "STAGE")]
    pub(crate) stage: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Rules {
    /// Show only causes that start with this: `skew`, `memory.spill`.
    /// ‖ 只显示以此开头的原因：`skew`、`memory.spill`。
    pub(crate) cause: Option<String>,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}
