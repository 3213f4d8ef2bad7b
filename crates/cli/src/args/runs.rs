//! Arguments of the commands about saved runs and feedback.

use ::runs::store::Action;
use clap::{Args, Subcommand};

use server::Mode;

use super::analysis::REASONERS;
use super::{Choices, Format, ReportFormat, one_of};

const ACTIONS: Choices<Action> = &[
    ("accept", Action::Accept, Some("It was applied")),
    ("ignore", Action::Ignore, Some("It was not applied")),
];

#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// Id of the run or the start of it, or `last`.
    pub(crate) run: String,
    /// What you want to know, in Chinese or English.
    pub(crate) question: String,
    /// Who reasons: `auto` uses an LLM if one is configured, otherwise the offline reasoner.
    #[arg(long, value_name = "WHO", default_value = "auto", value_parser = one_of(REASONERS))]
    pub(crate) reasoner: Mode,
    /// LLM profile to use.
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// Fail with status 4 if the LLM fails, instead of falling back to the offline reasoner.
    #[arg(long)]
    pub(crate) no_fallback: bool,
    /// Mask paths, names and literals before anything leaves the machine.
    #[arg(long)]
    pub(crate) redact: bool,
    /// Don't save the question; later questions then don't continue it.
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs, newest first.
    List {
        /// List only runs of jobs whose folder or name contains this.
        #[arg(long, value_name = "TEXT")]
        job: Option<String>,
        /// Maximum number of runs.
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Output format.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Show the report of a run.
    Show {
        /// Id of the run or the start of it, or `last`.
        run: String,
        /// Format of the report.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: ReportFormat,
        /// Show the THINK steps in the text report.
        #[arg(long, short)]
        verbose: bool,
    },
    /// Delete a run and its feedback.
    Delete {
        /// Id of the run or the start of it, or `last`.
        run: String,
    },
    /// Print the report of a run as JSON, or all reports, one per line.
    Export {
        /// Id of the run or the start of it. Default: all runs.
        run: Option<String>,
    },
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct FeedbackArgs {
    #[command(subcommand)]
    pub(crate) command: Option<FeedbackCommand>,
    /// Id of the run or the start of it, or `last`.
    #[arg(required = true)]
    pub(crate) run: Option<String>,
    /// What happened to the suggestion.
    #[arg(required = true, value_parser = one_of(ACTIONS))]
    pub(crate) action: Option<Action>,
    /// Id of the suggestion, e.g. S1.
    #[arg(required = true)]
    pub(crate) suggestion: Option<String>,
    /// The reason, in one sentence.
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Seconds that the change actually saved.
    #[arg(long, value_name = "N")]
    pub(crate) saved_seconds: Option<f64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FeedbackCommand {
    /// Show how feedback changes retrieval and ranking.
    Effect {
        /// Output format.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}
