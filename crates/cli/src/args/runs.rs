//! Arguments of the commands about saved runs and feedback.

use std::path::PathBuf;

use ::runs::store::Action;
use clap::{Args, Subcommand, ValueEnum};

use server::Mode;

use super::analysis::REASONERS;
use super::localized::named;
use super::{Choices, Format, ReportFormat, Target, one_of};

const ACTIONS: Choices<Action> = &[
    ("accept", Action::Accept, Some(("It was applied", "已采用"))),
    (
        "ignore",
        Action::Ignore,
        Some(("It was not applied", "未采用")),
    ),
];

#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// Id of the run or the start of it, or `last`.
    /// ‖ 运行编号或其开头，或 `last`。
    pub(crate) run: String,
    /// What you want to know, in Chinese or English.
    /// ‖ 想了解什么，中文或英文。
    pub(crate) question: String,
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
    /// Mask paths, names and literals before anything leaves the machine.
    /// ‖ 任何内容离开本机之前，遮盖路径、名称和字面值。
    #[arg(long)]
    pub(crate) redact: bool,
    /// Don't save the question; later questions then don't continue it.
    /// ‖ 不保存这个问题；之后的问题也就不会接着它。
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs, newest first.
    /// ‖ 列出运行，最新的在前。
    List {
        /// List only runs of jobs with this text in their folder or name.
        /// ‖ 只列出目录或名称中含有此内容的作业的运行。
        #[arg(long, value_name = "TEXT")]
        job: Option<String>,
        /// Maximum number of runs.
        /// ‖ 最多列出多少次运行。
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Output format.
        /// ‖ 输出格式。
        #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
        format: Format,
    },
    /// Show the report of a run.
    /// ‖ 显示一次运行的报告。
    Show {
        /// Id of the run or the start of it, or `last`.
        /// ‖ 运行编号或其开头，或 `last`。
        run: String,
        /// Format of the report. Default: by the extension of `--out`, otherwise text.
        /// ‖ 报告的格式。默认取决于 `--out` 的扩展名，否则为文本。
        #[arg(long, short, value_name = "FORMAT", value_parser = named::<ReportFormat>())]
        format: Option<ReportFormat>,
        #[command(flatten)]
        target: Target,
        /// Show the THINK steps in the text report.
        /// ‖ 在文本报告中显示 THINK 各步骤。
        #[arg(long, short)]
        verbose: bool,
    },
    /// Delete a run and its feedback.
    /// ‖ 删除一次运行及其反馈。
    Delete {
        /// Id of the run or the start of it, or `last`.
        /// ‖ 运行编号或其开头，或 `last`。
        run: String,
    },
    /// Print the report of a run as JSON, or all reports, one per line.
    /// ‖ 以 JSON 输出一次运行的报告，或所有报告（每行一份）。
    Export {
        /// Id of the run or the start of it. Default: all runs.
        /// ‖ 运行编号或其开头。默认：所有运行。
        run: Option<String>,
        #[command(flatten)]
        target: Target,
    },
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct FeedbackArgs {
    #[command(subcommand)]
    pub(crate) command: Option<FeedbackCommand>,
    /// Id of the run or the start of it, or `last`.
    /// ‖ 运行编号或其开头，或 `last`。
    #[arg(required = true)]
    pub(crate) run: Option<String>,
    /// Outcome of the suggestion.
    /// ‖ 这条建议的结果。
    #[arg(required = true, value_parser = one_of(ACTIONS))]
    pub(crate) action: Option<Action>,
    /// Id of the suggestion, e.g. S1.
    /// ‖ 建议的编号，如 S1。
    #[arg(required = true)]
    pub(crate) suggestion: Option<String>,
    /// The reason, in one sentence.
    /// ‖ 用一句话说明原因。
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Seconds that the change actually saved.
    /// ‖ 改动实际节省的秒数。
    #[arg(long, value_name = "N")]
    pub(crate) saved_seconds: Option<f64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FeedbackCommand {
    /// Show how feedback changes retrieval and ranking.
    /// ‖ 显示反馈如何影响检索和排序。
    Effect {
        /// Output format.
        /// ‖ 输出格式。
        #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
        format: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Fix {
    /// Id of the run or the start of it, or `last`.
    /// ‖ 运行编号或其开头，或 `last`。
    pub(crate) run: String,
    /// Id of the suggestion, e.g. S1.
    /// ‖ 建议的编号，如 S1。
    pub(crate) suggestion: String,
    /// Print the settings of the suggestion in a form to paste.
    /// ‖ 以可粘贴的形式输出建议的设置。
    #[arg(long = "as", value_name = "FORM", value_parser = named::<SettingForm>(), conflicts_with = "write")]
    pub(crate) form: Option<SettingForm>,
    /// Apply the diff to the script, which must be as it was analyzed; a backup stays next to it.
    /// ‖ 将 diff 应用到脚本；脚本须与分析时相同，旁边会留下备份。
    #[arg(long)]
    pub(crate) write: bool,
    /// Script to change. Default: the script in the job folder.
    /// ‖ 要修改的脚本。默认：作业目录中的脚本。
    #[arg(long, value_name = "FILE", requires = "write")]
    pub(crate) script: Option<PathBuf>,
}

/// SettingForm of settings of Spark.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SettingForm {
    /// `--conf` of `spark-submit` ‖ `spark-submit` 的 `--conf`
    Conf,
    /// `spark.conf.set`, and the builder of the session ‖ `spark.conf.set` 与会话的 builder
    Python,
    /// `SET` of SQL ‖ SQL 的 `SET`
    Sql,
    /// Lines of `spark-defaults.conf` ‖ `spark-defaults.conf` 的行
    Properties,
}
