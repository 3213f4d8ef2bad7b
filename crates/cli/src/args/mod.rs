//! The command line: definitions only.

mod analysis;
mod batch;
mod knowledge;
mod localized;
mod pipeline;
mod runs;
mod serving;
mod whatif;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use report::Language;

use crate::config::Jobs;
use localized::named;

pub(crate) use analysis::{Analyze, Compare, Inspect, ReportFormat, Rules, Thinking};
pub(crate) use batch::{
    BatchAdvise, BatchCommand, BatchEnqueue, BatchPlan, BatchReport, BatchRun, BatchWork, Engine,
    Nats, since,
};
pub(crate) use knowledge::{
    CaseCommand, CaseFrom, Eval, Expand, Index, IndexCommand, KnowledgeCommand, Lint, Search,
};
pub(crate) use localized::language_of_call;
pub(crate) use pipeline::{Budget, History, MessageForm, Notify};
pub(crate) use runs::{Ask, FeedbackArgs, FeedbackCommand, Fix, Runs, SettingForm};
pub(crate) use serving::{Mcp, Serve, Serving};
pub(crate) use whatif::WhatIf;

/// Finds out why a SCOPE (Cosmos), U-SQL or Spark job is slow, expensive or failed, and says what to change.
/// ‖ 找出 SCOPE（Cosmos）、U-SQL 或 Spark 作业慢、贵或失败的原因，并说明怎么改。
#[derive(Debug, Parser)]
#[command(name = "scopeagent", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
#[command(next_help_heading = localized::GLOBAL)]
pub(crate) struct Global {
    /// Language of reports, help and errors, and of the documents that `search` finds. Default of a report: the configured language,
    /// otherwise the language of the question, otherwise the language of the system.
    /// ‖ 报告、帮助和错误的语言，也是 `search` 所找文档的语言。报告默认用配置的语言，否则用提问的语言，再否则用系统的语言。
    #[arg(long, global = true, value_name = "LANG", env = "SCOPEAGENT_LANG", value_parser = one_of(LANGUAGES))]
    pub(crate) lang: Option<Language>,
    /// Configuration file to use, and trust, instead of the nearest `scopeagent.toml`.
    /// ‖ 使用并信任这个配置文件，而不是最近的 `scopeagent.toml`。
    #[arg(long, global = true, value_name = "FILE", env = "SCOPEAGENT_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Knowledge folder (playbooks, cases, glossary). Default: `./knowledge`, else the built-in knowledge.
    /// ‖ 知识库目录（经验文档、案例、术语表）。默认：`./knowledge`，否则用内置知识。
    #[arg(long, global = true, value_name = "DIR", env = "SCOPEAGENT_KNOWLEDGE")]
    pub(crate) knowledge: Option<PathBuf>,
    /// Index folder. Default: `./index` next to `./knowledge`, else in the data folder.
    /// ‖ 索引目录。默认：`./knowledge` 旁的 `./index`，否则在数据目录中。
    #[arg(long, global = true, value_name = "DIR", env = "SCOPEAGENT_INDEX")]
    pub(crate) index: Option<PathBuf>,
    /// Embedder of the index: `embedded`, the name of a model, or a folder with `model.onnx`. Default: as configured.
    /// ‖ 索引的向量模型：`embedded`、模型名，或含 `model.onnx` 的目录。默认按配置。
    #[arg(long, global = true, value_name = "MODEL", env = "SCOPEAGENT_EMBEDDER")]
    pub(crate) embedder: Option<String>,
    /// When to use color. NO_COLOR is respected.
    /// ‖ 何时使用颜色。遵守 NO_COLOR。
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = named::<When>())]
    pub(crate) color: When,
    /// Same as `--color never`.
    /// ‖ 同 `--color never`。
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// Print only errors to stderr, and no progress.
    /// ‖ 标准错误只输出错误，不显示进度。
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Format of stderr: text for people, or one JSON object per line.
    /// ‖ 标准错误的格式：供人阅读的文本，或每行一个 JSON。
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "text",
        env = "SCOPEAGENT_LOG_FORMAT", value_parser = named::<LogFormat>()
    )]
    pub(crate) log_format: LogFormat,
    /// How much to write to stderr; `debug` includes every file and step.
    /// ‖ 标准错误的详细程度；`debug` 包括每个文件和步骤。
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        default_value = "info",
        env = "SCOPEAGENT_LOG_LEVEL", value_parser = named::<LogLevel>()
    )]
    pub(crate) log_level: LogLevel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    /// ‖ 供人阅读。
    Text,
    /// One JSON object per line.
    /// ‖ 每行一个 JSON。
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LogLevel {
    /// Errors.
    /// ‖ 错误。
    Error,
    /// Also warnings, e.g. a fallback.
    /// ‖ 另有警告，如改用其他分析方式。
    Warn,
    /// Also remarks.
    /// ‖ 另有提示。
    Info,
    /// Also every file and step.
    /// ‖ 另有每个文件和步骤。
    Debug,
    /// Also messages of libraries.
    /// ‖ 另有各库的消息。
    Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// If the output is a terminal.
    /// ‖ 输出到终端时。
    Auto,
    /// Always.
    /// ‖ 总是。
    Always,
    /// Never.
    /// ‖ 从不。
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find out why a job is slow, expensive or failed, and what to change.
    /// ‖ 找出作业慢、贵或失败的原因，以及怎么改。
    Analyze(Analyze),
    /// Ask a question about a saved run; it continues the conversation about that run.
    /// ‖ 就一次已保存的运行提问；接着此前关于它的对话。
    Ask(Ask),
    /// Analyze many jobs into a store, on one machine or many; resumable.
    /// ‖ 把许多作业分析到一个结果库，可用一台或多台机器；可中断后继续。
    #[command(subcommand)]
    Batch(BatchCommand),
    /// Compare two runs: the changes (times, rows, plan, inputs, script, findings), and the most likely reason.
    /// ‖ 比较两次运行：变化之处（时间、行数、计划、输入、脚本、发现）和最可能的原因。
    Compare(Compare),
    /// Show the runs of a recurring job: time, cost, input and plan, regressions and their likely reason.
    /// ‖ 显示一个周期性作业的各次运行：用时、成本、输入和计划，以及性能回退和可能的原因。
    History(History),
    /// Replay a run with other tokens, executors or input, or with suggestions applied: time and cost.
    /// ‖ 换令牌数、Executor 数、输入规模或应用建议后重放一次运行：时间与成本。
    #[command(name = "whatif")]
    WhatIf(WhatIf),
    /// Show the content of a job folder: stages, operators, channels, inputs, script.
    /// ‖ 显示作业目录的内容：阶段、算子、通道、输入、脚本。
    Inspect(Inspect),
    /// Search the knowledge base.
    /// ‖ 搜索知识库。
    Search(Search),
    /// Build the knowledge index or bring it up to date.
    /// ‖ 构建或更新知识库索引。
    Index(Index),
    /// Check the knowledge folder: front matter, headings, links, ids, coverage of causes.
    /// ‖ 检查知识库目录：头部信息、标题、链接、编号、原因覆盖。
    Lint(Lint),
    /// Extend the knowledge folder.
    /// ‖ 扩充知识库目录。
    #[command(subcommand)]
    Knowledge(KnowledgeCommand),
    /// Measure how well the index answers judged queries.
    /// ‖ 评测索引回答已评判查询的效果。
    Eval(Eval),
    /// Test an LLM profile: key, address, model, structured output, streaming.
    /// ‖ 测试一个 LLM 配置：密钥、地址、模型、结构化输出、流式输出。
    Doctor(Doctor),
    /// List the rules: purpose, required information, thresholds.
    /// ‖ 列出规则：检测内容、所需信息、阈值。
    Rules(Rules),
    /// List, show, export and delete saved runs.
    /// ‖ 列出、查看、导出和删除已保存的运行。
    #[command(subcommand)]
    Runs(Runs),
    /// Record the outcome of a suggestion, to improve later answers.
    /// ‖ 记录一条建议的结果，以改进之后的回答。
    Feedback(FeedbackArgs),
    /// Serve a web page: runs, reports, comparisons, the knowledge base, and new analyses.
    /// ‖ 提供网页：分析记录、报告、比较、经验库，以及新的分析。
    Serve(Serve),
    /// Show the diff of a suggestion, or apply it to the script.
    /// ‖ 显示一条建议的 diff，或将其应用到脚本。
    Fix(Fix),
    /// Print the JSON Schema of a report.
    /// ‖ 输出报告的 JSON Schema。
    Schema {
        #[command(flatten)]
        target: Target,
    },
    /// Run the MCP server, on stdin and stdout or over HTTP on this machine.
    /// ‖ 运行 MCP 服务，经标准输入输出或本机 HTTP。
    Mcp(Mcp),
    /// Print a skill file for coding agents: when and how to call this program.
    /// ‖ 输出供编程智能体使用的技能文件：何时、如何调用本程序。
    Skill {
        #[command(flatten)]
        target: Target,
    },
    /// Write resolved cases from runs into the knowledge base, and check them.
    /// ‖ 把运行写成已解决的案例收入知识库，并检查案例。
    #[command(subcommand)]
    Case(CaseCommand),
    /// Show the effective configuration.
    /// ‖ 显示生效的配置。
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Approve a project's `scopeagent.toml`, so that it may set keys, commands, addresses, prompts and roots.
    /// ‖ 批准项目的 `scopeagent.toml`，使其可以设置密钥、命令、地址、提示词和根目录。
    Trust(Trust),
    /// Write a commented `scopeagent.toml` and a knowledge folder with the built-in documents.
    /// ‖ 写出带注释的 `scopeagent.toml`，以及含内置文档的知识库目录。
    Init(Init),
    /// Print shell completions.
    /// ‖ 输出命令行补全脚本。
    Completions {
        /// The shell.
        /// ‖ 哪种 shell。
        shell: clap_complete::Shell,
    },
    /// Analyze jobs for another process of this program.
    #[command(hide = true)]
    Worker(Worker),
    /// Print the man page.
    /// ‖ 输出手册页。
    Man {
        /// Write one page per command into this folder instead.
        /// ‖ 改为在该目录中为每个命令写一页。
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal.
    /// ‖ 用于终端。
    Text,
    /// For programs.
    /// ‖ 供程序读取。
    Json,
}

/// Destination of the answer.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Write to this file instead of stdout.
    /// ‖ 写入该文件，而不是标准输出。
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// Bytes of memory for one job.
    #[arg(long)]
    pub(crate) job_memory: u64,
    /// Threads for the searches of one job.
    #[arg(long)]
    pub(crate) job_threads: usize,
    /// Arguments of the process that it works for.
    #[arg(last = true)]
    pub(crate) of: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Profile to test. Default: the configured one.
    /// ‖ 要测试的配置。默认：已配置的那个。
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Folder to write into.
    /// ‖ 写入哪个目录。
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Write your own configuration instead, which applies everywhere.
    /// ‖ 改为写用户自己的配置，处处生效。
    #[arg(long, conflicts_with = "folder")]
    pub(crate) user: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The file, or its folder. Default: the nearest `scopeagent.toml`.
    /// ‖ 文件或其所在目录。默认：最近的 `scopeagent.toml`。
    #[arg(conflicts_with = "list")]
    pub(crate) path: Option<PathBuf>,
    /// Withdraw the approval.
    /// ‖ 撤回批准。
    #[arg(long, conflicts_with = "list")]
    pub(crate) revoke: bool,
    /// List the approved files.
    /// ‖ 列出已批准的文件。
    #[arg(long)]
    pub(crate) list: bool,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every configured value and its origin.
    /// ‖ 显示已设置的每个值及其来源。
    Show {
        /// Output format.
        /// ‖ 输出格式。
        #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
        format: Format,
        /// Show the built-in values too: every value in effect.
        /// ‖ 也显示内置值：所有生效的值。
        #[arg(long)]
        all: bool,
    },
}

impl Command {
    /// The job folders that the call names.
    pub(crate) fn jobs(&self) -> Jobs<'_> {
        let mut jobs = Jobs::default();
        match self {
            Command::Analyze(args) => jobs.folders.extend(args.jobs.iter().map(PathBuf::as_path)),
            Command::Inspect(args) => jobs.folders.push(&args.job),
            Command::Compare(args) => jobs.folders.extend([&args.a, &args.b].map(Path::new)),
            Command::Batch(command) => jobs.collections.extend(command.collections()),
            _ => {}
        }
        jobs
    }
}

impl Cli {
    /// The command line with its texts in the language of the interface.
    pub(crate) fn localized() -> clap::Command {
        localized::localized(Cli::command())
    }

    /// Parses the command line.
    ///
    /// # Errors
    /// The exit status after help or a usage error was printed.
    pub(crate) fn read(words: impl Iterator<Item = OsString>) -> Result<Cli, i32> {
        let words: Vec<OsString> = words.collect();
        let matches = Cli::command().try_get_matches_from(&words);
        // texts are translated where one of them is shown
        let matches = matches.or_else(|_| Cli::localized().try_get_matches_from(&words));
        let parsed = matches.and_then(|matches| {
            let mut cli = Cli::from_arg_matches(&matches)?;
            let is_asked = matches.value_source("lang") == Some(ValueSource::CommandLine);
            if let Command::Search(search) = &mut cli.command {
                search.language = cli.global.lang.filter(|_| is_asked);
            }
            Ok(cli)
        });
        parsed.map_err(|error| {
            let text = localized::rendered(&error);
            // If stdout or stderr is closed, the message is lost.
            let _ = match error.use_stderr() {
                true => anstream::stderr().write_all(text.as_bytes()),
                false => anstream::stdout().write_all(text.as_bytes()),
            };
            error.exit_code()
        })
    }

    /// A worker adopts the arguments of its parent process, so that both have the same configuration, and
    /// prints only errors on stderr. Returns the limits of a job.
    pub(crate) fn into_worker(self) -> Result<(Cli, Option<Worker>), i32> {
        let Command::Worker(worker) = self.command else {
            return Ok((self, None));
        };
        let program = OsString::from("scopeagent");
        let mut cli = Cli::read(std::iter::once(program).chain(worker.of.iter().cloned()))?;
        cli.global.quiet = true;
        Ok((cli, Some(worker)))
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
        if let Some(language) = self.global.lang {
            layer.insert("language".to_owned(), language.code().into());
        }
        if let Some(embedder) = &self.global.embedder {
            layer.insert("embedder".to_owned(), embedder_layer(embedder).into());
        }
        layer
    }
}

/// Values by name, with their help in English and Chinese.
type Choices<T> = &'static [(&'static str, T, Option<(&'static str, &'static str)>)];

const LANGUAGES: Choices<Language> = &[
    ("zh", Language::Zh, Some(("Chinese", "中文"))),
    ("en", Language::En, Some(("English", "英文"))),
];

/// Parses the name of a value.
fn one_of<T: Copy + Send + Sync>(choices: Choices<T>) -> impl TypedValueParser<Value = T> {
    let named = choices.iter();
    let named = named.map(|(name, _, help)| {
        let help = help.map(|(en, zh)| report::interface().select(zh, en));
        PossibleValue::new(*name).help(help)
    });
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
