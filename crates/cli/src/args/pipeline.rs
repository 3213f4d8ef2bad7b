//! Arguments for pipelines: a budget, a baseline, and how to report them.

use std::path::PathBuf;

use ::runs::budget::Limits;
use clap::{Args, ValueEnum};

use super::localized::named;
use super::{Format, Target};

#[derive(Debug, Args)]
pub(crate) struct Budget {
    /// Limits of a run, e.g. `time=20m,cost=5,findings=high`: exit with status 10 if it breaks one, 11 if that is unknown.
    /// ‖ 一次运行的上限，如 `time=20m,cost=5,findings=high`：超出时以状态 10 结束，无法判断时以 11 结束。
    #[arg(long, value_name = "LIMITS", value_parser = limits)]
    pub(crate) budget: Option<Limits>,
    /// Compare the run with the good runs of the job before it, in the same way.
    /// ‖ 同时与该作业此前的正常运行比较，结束状态相同。
    #[arg(long, value_name = "WHICH", value_parser = named::<Baseline>())]
    pub(crate) baseline: Option<Baseline>,
    /// Write the checks to this file as JUnit XML.
    /// ‖ 把检查结果以 JUnit XML 写入该文件。
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print the checks as annotations of GitHub Actions.
    /// ‖ 以 GitHub Actions 注解的形式输出检查结果。
    #[arg(long)]
    pub(crate) github: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Baseline {
    /// The good runs before it: a run far outside of the job's own spread breaks the budget.
    /// ‖ 此前的正常运行：远超该作业自身波动的运行视为超出预算。
    LastGood,
}

impl Budget {
    pub(crate) fn is_given(&self) -> bool {
        self.budget.is_some() || self.baseline.is_some()
    }
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// Id of a run or `last`, or a job's name or part of it.
    /// ‖ 运行编号或 `last`，或作业名称（可只写一部分）。
    pub(crate) job: String,
    /// Maximum number of runs, the newest.
    /// ‖ 最多显示最近多少次运行。
    #[arg(long, default_value_t = 30)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) gate: Budget,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) target: Target,
}

fn limits(text: &str) -> Result<Limits, String> {
    Limits::parse(text).map_err(|part| {
        format!(
            "`{part}` is no limit: expected time=20m, cost=5 or findings=low|medium|high|critical"
        )
    })
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Notify {
    /// Send a message to this address when it is done: a webhook, or that of a Slack or Teams channel.
    /// ‖ 完成后向该地址发送消息：webhook，或 Slack、Teams 频道的 webhook。
    #[arg(long, value_name = "URL", env = "SCOPEAGENT_NOTIFY", hide_env_values = true, value_parser = address)]
    pub(crate) notify: Option<url::Url>,
    /// Form of the message.
    /// ‖ 消息的形式。
    #[arg(long, value_name = "FORMAT", default_value = "json", requires = "notify", value_parser = named::<MessageForm>())]
    pub(crate) notify_format: MessageForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageForm {
    /// One JSON object with title, text and facts.
    /// ‖ 一个 JSON 对象，含标题、正文和要点。
    Json,
    /// For Slack.
    /// ‖ 用于 Slack。
    Slack,
    /// An adaptive card for Teams.
    /// ‖ 用于 Teams 的自适应卡片。
    Teams,
}

fn address(text: &str) -> Result<url::Url, String> {
    let url = url::Url::parse(text).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| "expected http:// or https://".to_owned())
}
