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
    ("scope", Engine::Scope, Some(("SCOPE and U-SQL", "SCOPE 与 U-SQL"))),
    ("spark", Engine::Spark, Some(("Apache Spark", "Apache Spark"))),
];

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for: words, a counter, an error id or a piece of script, in Chinese or English.
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Number of chunks to show.
    #[arg(short, long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) k: u16,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
    /// Language that the call asks for: only documents in it are searched.
    #[arg(skip)]
    pub(crate) language: Option<Language>,
    /// Search only what is about this engine or true of every engine.
    #[arg(long, value_name = "ENGINE", value_parser = one_of(ENGINES))]
    pub(crate) engine: Option<Engine>,
    /// Search only chunks for this step of an analysis.
    #[arg(long, value_name = "STEP", value_parser = PossibleValuesParser::new(StepId::THINK.map(StepId::id)))]
    pub(crate) step: Option<String>,
    /// Search only chunks with this facet: kind, problem_type, cause, section, language or step. Repeatable: values of one facet are
    /// alternatives, different facets must all match. `cause=skew` matches every cause of that group.
    #[arg(long, value_name = "FACET=VALUE", value_parser = facet)]
    pub(crate) filter: Vec<(String, String)>,
    /// Show rank and score in each branch, with boosts, and how the query was read.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Show the nearest chunks even if none fits well.
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
    #[arg(long, group = "rebuild")]
    pub(crate) rechunk: bool,
    /// Embed all texts again.
    #[arg(long, group = "rebuild")]
    pub(crate) reembed: bool,
    /// Rebuild everything from scratch.
    #[arg(long, group = "rebuild", visible_alias = "rebuild")]
    pub(crate) full: bool,
    /// Watch the knowledge folder and update the index whenever a document changes.
    #[arg(long)]
    pub(crate) watch: bool,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Check the index against its manifest, and that every chunk can be found.
    Verify {
        /// Output format.
        #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
        format: Format,
    },
    /// Show what the index contains and how it was built.
    Info {
        /// Output format.
        #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
        format: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// Fix what can be fixed without changing the content.
    #[arg(long, conflicts_with = "coverage")]
    pub(crate) fix: bool,
    /// Show which causes have playbooks with which sections, per language.
    #[arg(long)]
    pub(crate) coverage: bool,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Folder or file of judgements. Default: `judgements` of the knowledge folder.
    #[arg(long, value_name = "PATH", conflicts_with = "beir")]
    pub(crate) judgements: Option<PathBuf>,
    /// Collection in BEIR layout (corpus.jsonl, queries.jsonl, qrels/) to index and evaluate instead.
    #[arg(long, value_name = "DIR")]
    pub(crate) beir: Option<PathBuf>,
    /// Use only this set of judgements: `tune`, `heldout` or `fresh`; for BEIR the qrels file, by default `test`.
    #[arg(long, value_name = "PART")]
    pub(crate) split: Option<String>,
    /// Cut-off of nDCG and MRR.
    #[arg(short, long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) k: u16,
    /// Cut-off of recall.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) recall_at: u16,
    /// Fuse the branches by reciprocal rank instead of a convex combination.
    #[arg(long)]
    pub(crate) rrf: bool,
    /// Find the best weights on the `tune` part and check them on the `heldout` part.
    #[arg(long, conflicts_with_all = ["beir", "baseline"])]
    pub(crate) tune: bool,
    /// Show what each part of reading a query is worth on the `tune` set.
    #[arg(long, conflicts_with_all = ["beir", "baseline", "tune"])]
    pub(crate) ablate: bool,
    /// Earlier output of `eval --format json` to compare with.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Exit with status 10 if the hybrid branch is significantly worse than the baseline.
    #[arg(long, requires = "baseline")]
    pub(crate) gate: bool,
    /// Write the rankings as a TREC run.
    #[arg(long, value_name = "FILE")]
    pub(crate) run_out: Option<PathBuf>,
    /// Score a TREC run instead of the index.
    #[arg(long, value_name = "FILE")]
    pub(crate) run_in: Option<PathBuf>,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CaseCommand {
    /// Write `cases/NAME.md` in the knowledge folder from a run; a curator fills in what only people know.
    From(CaseFrom),
    /// Check cases: front matter, sections, places still to fill in.
    Check {
        /// Files. Default: every case in the knowledge folder.
        files: Vec<PathBuf>,
        /// Output format.
        #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
        format: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CaseFrom {
    /// Id of the run or the start of it, or `last`.
    pub(crate) run: String,
    /// Later run of the job with the change, to measure the result.
    #[arg(long, value_name = "RUN")]
    pub(crate) after: Option<String>,
    /// Name of the case. Default: derived from cause and run.
    #[arg(long, value_name = "NAME")]
    pub(crate) id: Option<String>,
    /// Don't mask the job's names, paths and literals.
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Overwrite a case of the same name.
    #[arg(long)]
    pub(crate) force: bool,
}
