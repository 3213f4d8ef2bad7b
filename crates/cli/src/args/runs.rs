//! Arguments of the commands about kept runs and what people thought of them.

use clap::{Args, Subcommand, ValueEnum};

use super::{Format, ReportFormat};

/// What to do with runs.
#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// Lists runs, the newest first.
    List {
        /// Only runs of jobs whose folder or name contains this.
        #[arg(long, value_name = "TEXT")]
        job: Option<String>,
        /// At most so many.
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// How to print them.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Shows the report of a run again.
    Show {
        /// Identifier of the run, or its beginning.
        run: String,
        /// How to print the report.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: ReportFormat,
        /// Shows the THINK steps in the text report.
        #[arg(long, short)]
        verbose: bool,
    },
    /// Deletes a run with its feedback.
    Delete {
        /// Identifier of the run, or its beginning.
        run: String,
    },
    /// Prints the report of a run as JSON, or of all runs, one a line.
    Export {
        /// Identifier of the run, or its beginning; all runs if left out.
        run: Option<String>,
    },
}

/// Arguments of `feedback`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct FeedbackArgs {
    #[command(subcommand)]
    pub(crate) command: Option<FeedbackCommand>,
    /// Identifier of the run, or its beginning.
    #[arg(required = true)]
    pub(crate) run: Option<String>,
    /// What became of the suggestion.
    #[arg(required = true)]
    pub(crate) action: Option<Action>,
    /// The suggestion: S1.
    #[arg(required = true)]
    pub(crate) suggestion: Option<String>,
    /// Why, in a sentence.
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Seconds that the change really saved.
    #[arg(long, value_name = "N")]
    pub(crate) saved_seconds: Option<f64>,
}

/// Other things to do with feedback.
#[derive(Debug, Subcommand)]
pub(crate) enum FeedbackCommand {
    /// Shows what all feedback has taught.
    Effect {
        /// How to print it.
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

/// What became of a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
    /// It was taken.
    Accept,
    /// It was not.
    Ignore,
}
