//! Arguments of the commands that maintain and search the knowledge base.

use std::path::PathBuf;

use agent::StepId;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use indexer::Engine;
use report::Language;

use super::localized::named;
use super::{Choices, Format, one_of};

const ENGINES: Choices<Engine> = &[
    (
        "scope",
        Engine::Scope,
        Some(("SCOPE and U-SQL", "SCOPE 与 U-SQL")),
    ),
    (
        "spark",
        Engine::Spark,
        Some(("Apache Spark", "Apache Spark")),
    ),
];

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for: words, a counter, an error id or a piece of script, in Chinese or English.
    /// ‖ 要找什么：词语、计数器、错误编号或一段脚本，中英文均可。
    #[arg(required_unless_present = "explain")]
    pub(crate) query: Vec<String>,
    /// Number of chunks to show.
    /// ‖ 显示多少个片段。
    #[arg(short, long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) k: u16,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
    /// Language that the call asks for: only documents in it are searched.
    #[arg(skip)]
    pub(crate) language: Option<Language>,
    /// Search only passages about this engine or about every engine.
    /// ‖ 只搜索关于该引擎或适用于各引擎的内容。
    #[arg(long, value_name = "ENGINE", value_parser = one_of(ENGINES))]
    pub(crate) engine: Option<Engine>,
    /// Search only chunks for this step of an analysis.
    /// ‖ 只搜索用于该分析步骤的片段。
    #[arg(long, value_name = "STEP", value_parser = PossibleValuesParser::new(StepId::THINK.map(StepId::id)))]
    pub(crate) step: Option<String>,
    /// Search only chunks with this facet: kind, problem_type, cause, section, language or step. Repeatable: values of one facet are
    /// alternatives, different facets must all match. `cause=skew` matches every cause of that group.
    /// ‖ 只搜索带有该属性的片段：kind、problem_type、cause、section、language 或 step。可多次给出：同一属性的多个值满足其一，不同属性须全部满足。`cause=skew` 匹配该组的所有原因。
    #[arg(long, value_name = "FACET=VALUE", value_parser = facet)]
    pub(crate) filter: Vec<(String, String)>,
    /// Show rank and score in each branch, with boosts, and how the query was read. With the name of a page: why it was or wasn't found.
    /// ‖ 显示各分支的名次与得分、加权，以及查询如何被理解。给出文档名时：说明它为何被找到或未被找到。
    #[arg(long, value_name = "PAGE", num_args = 0..=1, default_missing_value = "")]
    pub(crate) explain: Option<String>,
    /// Show the nearest chunks even if none fits well.
    /// ‖ 即使没有合适的，也显示最接近的片段。
    #[arg(long)]
    pub(crate) all: bool,
}

fn facet(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "expected a facet and its value, e.g. `section=fix`".to_owned())?;
    let (name, value) = (name.trim().replace('-', "_"), value.trim());
    if value.is_empty() {
        return Err(format!("`{name}` has no value"));
    }
    Ok((name, value.to_owned()))
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Index {
    #[command(subcommand)]
    pub(crate) command: Option<IndexCommand>,
    /// Chunk all documents again; known texts keep their vectors.
    /// ‖ 重新切分所有文档；已有文本保留向量。
    #[arg(long, group = "rebuild")]
    pub(crate) rechunk: bool,
    /// Embed all texts again.
    /// ‖ 重新计算所有文本的向量。
    #[arg(long, group = "rebuild")]
    pub(crate) reembed: bool,
    /// Rebuild everything from scratch.
    /// ‖ 全部重建。
    #[arg(long, group = "rebuild", visible_alias = "rebuild")]
    pub(crate) full: bool,
    /// Watch the knowledge folder and update the index whenever a document changes.
    /// ‖ 监视知识库目录，文档一有变化就更新索引。
    #[arg(long)]
    pub(crate) watch: bool,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Check the index against its manifest, and that every chunk can be found.
    /// ‖ 对照清单检查索引，并确认每个片段都能找到。
    Verify {
        /// Output format.
        /// ‖ 输出格式。
        #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
        format: Format,
    },
    /// Show the content of the index and how it was built.
    /// ‖ 显示索引的内容及其构建方式。
    Info {
        /// Output format.
        /// ‖ 输出格式。
        #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
        format: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// Fix problems that can be fixed without changing the content.
    /// ‖ 修正不影响内容的问题。
    #[arg(long, conflicts_with = "coverage")]
    pub(crate) fix: bool,
    /// List the causes that have playbooks, with their sections, per language.
    /// ‖ 按语言列出已有经验文档的原因及其章节。
    #[arg(long)]
    pub(crate) coverage: bool,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Folder or file of judgements. Default: `judgements` of the knowledge folder.
    /// ‖ 评判数据的目录或文件。默认：知识库目录中的 `judgements`。
    #[arg(long, value_name = "PATH")]
    pub(crate) judgements: Option<PathBuf>,
    /// Use only this set of judgements: `tune`, `heldout` or `fresh`.
    /// ‖ 只用这一组评判：`tune`、`heldout` 或 `fresh`。
    #[arg(long, value_name = "PART")]
    pub(crate) split: Option<String>,
    /// Cut-off of nDCG and MRR.
    /// ‖ nDCG 与 MRR 的截断位置。
    #[arg(short, long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) k: u16,
    /// Cut-off of recall.
    /// ‖ 召回率的截断位置。
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) recall_at: u16,
    /// Earlier output of `eval --format json` to compare with.
    /// ‖ 用于比较的、以前 `eval --format json` 的输出。
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Exit with status 10 if the hybrid branch is significantly worse than the baseline.
    /// ‖ 混合检索显著差于基线时，以状态 10 结束。
    #[arg(long, requires = "baseline")]
    pub(crate) gate: bool,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KnowledgeCommand {
    /// Add generated questions to a page, so that people who ask in other words find it: questions of runs whose accepted suggestions cite
    /// the page, judged queries that it answers, and with `--llm` questions of an LLM. They go into `questions.toml` next to the page.
    /// ‖ 为一篇文档增加生成的问题，使换一种说法提问的人也能找到它：所采纳建议引用了该文档的运行中的提问、该文档能回答的已评判查询，以及用 `--llm` 由 LLM 写出的问题。它们写入文档旁的 `questions.toml`。
    Expand(Expand),
}

#[derive(Debug, Args)]
pub(crate) struct Expand {
    /// Path of the page in the knowledge folder, or the name of its file.
    /// ‖ 文档在知识库目录中的路径，或其文件名。
    pub(crate) page: String,
    /// Also ask an LLM that has read the page. Default profile: as configured.
    /// ‖ 另请读过该文档的 LLM 提问。默认用所配置的 LLM。
    #[arg(long, value_name = "PROFILE", num_args = 0..=1, default_missing_value = "")]
    pub(crate) llm: Option<String>,
    /// Questions to request from the LLM.
    /// ‖ 请 LLM 写多少个问题。
    #[arg(long, value_name = "N", default_value_t = 12, requires = "llm", value_parser = clap::value_parser!(u16).range(1..=30))]
    pub(crate) count: u16,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CaseCommand {
    /// Write `cases/NAME.md` in the knowledge folder from a run; a curator adds the knowledge that only
    /// people have.
    /// ‖ 由一次运行在知识库中写出 `cases/NAME.md`；只有人知道的内容由维护者补充。
    From(CaseFrom),
    /// Check cases: front matter, sections, places still to fill in.
    /// ‖ 检查案例：头部信息、章节、待补充之处。
    Check {
        /// Files. Default: every case in the knowledge folder.
        /// ‖ 文件。默认：知识库中的所有案例。
        files: Vec<PathBuf>,
        /// Output format.
        /// ‖ 输出格式。
        #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
        format: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CaseFrom {
    /// Id of the run or the start of it, or `last`.
    /// ‖ 运行编号或其开头，或 `last`。
    pub(crate) run: String,
    /// Later run of the job with the change, to measure the result.
    /// ‖ 改动之后的运行，用于衡量效果。
    #[arg(long, value_name = "RUN")]
    pub(crate) after: Option<String>,
    /// Name of the case. Default: derived from cause and run.
    /// ‖ 案例名称。默认由原因和运行得出。
    #[arg(long, value_name = "NAME")]
    pub(crate) id: Option<String>,
    /// Don't mask the job's names, paths and literals.
    /// ‖ 不遮盖作业的名称、路径和字面值。
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Overwrite a case of the same name.
    /// ‖ 覆盖同名案例。
    #[arg(long)]
    pub(crate) force: bool,
}
