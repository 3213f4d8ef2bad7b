//! Arguments of the commands that keep and search the experience base.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use report::Language;

use super::{Format, language};

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for: words, a counter, an error id, a piece of script; Chinese or English.
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// How many chunks to show.
    #[arg(short, long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) k: u16,
    /// How to print them.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Only documents in this language.
    #[arg(long, value_name = "LANG", value_parser = language())]
    pub(crate) lang: Option<Language>,
    /// Only chunks that suit this step of an analysis.
    #[arg(long, value_name = "STEP")]
    pub(crate) step: Option<Step>,
    /// Only chunks with this facet: kind, problem_type, cause, section, language or step. Of several values of
    /// one facet any will do; of several facets each must hold. `cause=skew` means every cause of that group.
    #[arg(long, value_name = "FACET=VALUE", value_parser = facet)]
    pub(crate) filter: Vec<(String, String)>,
    /// Shows the rank and score of each branch, and what was added to them.
    #[arg(long)]
    pub(crate) explain: bool,
}

/// A step of an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    Think1,
    Think2,
    Think3,
    Think4,
    Think5,
}

/// Splits `facet=value`.
fn facet(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "a facet and its value were expected, as in `section=fix`".to_owned())?;
    let (name, value) = (name.trim().replace('-', "_"), value.trim());
    if value.is_empty() {
        return Err(format!("`{name}` has no value"));
    }
    Ok((name, value.to_owned()))
}

/// Arguments of `index`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Index {
    #[command(subcommand)]
    pub(crate) command: Option<IndexCommand>,
    /// Cuts all documents again; known texts keep their vectors.
    #[arg(long, group = "rebuild")]
    pub(crate) rechunk: bool,
    /// Embeds all texts again.
    #[arg(long, group = "rebuild")]
    pub(crate) reembed: bool,
    /// Builds everything again, as if there were no index.
    #[arg(long, group = "rebuild")]
    pub(crate) full: bool,
    /// Goes on watching the knowledge folder and updates when a document changes.
    #[arg(long)]
    pub(crate) watch: bool,
    /// How to print the summary.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Other things to do with the index.
#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Checks the index against its manifest, and that every chunk can be found.
    Verify {
        /// How to print what was found.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Shows what the index holds and how it was made.
    Info {
        /// How to print it.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

/// Arguments of `lint`.
#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// Mends what can be mended without changing what is said.
    #[arg(long, conflicts_with = "coverage")]
    pub(crate) fix: bool,
    /// Shows which causes have playbooks with which sections, per language.
    #[arg(long)]
    pub(crate) coverage: bool,
    /// How to print the findings.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Folder or file of judgements. Default: `judgements` of the knowledge folder.
    #[arg(long, value_name = "PATH", conflicts_with = "beir")]
    pub(crate) judgements: Option<PathBuf>,
    /// Collection in BEIR layout (corpus.jsonl, queries.jsonl, qrels/) to index and measure instead.
    #[arg(long, value_name = "DIR")]
    pub(crate) beir: Option<PathBuf>,
    /// Only judgements of this part: `tune` or `heldout`; for BEIR the qrels file. Default there: `test`.
    #[arg(long, value_name = "PART")]
    pub(crate) split: Option<String>,
    /// Cut-off of nDCG and MRR.
    #[arg(short, long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) k: u16,
    /// Cut-off of recall.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) recall_at: u16,
    /// Joins the branches by reciprocal rank instead of the convex mix.
    #[arg(long)]
    pub(crate) rrf: bool,
    /// Finds the best weights on the `tune` part and tries them on the `heldout` part.
    #[arg(long, conflicts_with_all = ["beir", "baseline"])]
    pub(crate) tune: bool,
    /// Earlier output of `eval --format json` to compare with.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Ends with status 10 if the hybrid branch is significantly worse than the baseline.
    #[arg(long, requires = "baseline")]
    pub(crate) gate: bool,
    /// Writes the rankings as a TREC run.
    #[arg(long, value_name = "FILE")]
    pub(crate) run_out: Option<PathBuf>,
    /// Scores a TREC run instead of the index.
    #[arg(long, value_name = "FILE")]
    pub(crate) run_in: Option<PathBuf>,
    /// How to print the scores.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// What to do with cases.
#[derive(Debug, Subcommand)]
pub(crate) enum CaseCommand {
    /// Writes `cases/NAME.md` in the knowledge folder from a run; a curator fills in what only people know.
    From(CaseFrom),
    /// Checks cases: front matter, sections, places still to be filled in.
    Check {
        /// Files. Default: every case of the knowledge folder.
        files: Vec<PathBuf>,
        /// How to print what was found.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

/// Arguments of `case from`.
#[derive(Debug, Args)]
pub(crate) struct CaseFrom {
    /// Identifier of the run, its beginning, or `last`.
    pub(crate) run: String,
    /// Later run of the job with the change: the result is measured by it.
    #[arg(long, value_name = "RUN")]
    pub(crate) after: Option<String>,
    /// Name of the case. Default: made from the cause and the run.
    #[arg(long, value_name = "NAME")]
    pub(crate) id: Option<String>,
    /// Leaves names, paths and literals of the job as they are.
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Overwrites a case of the same name.
    #[arg(long)]
    pub(crate) force: bool,
}
