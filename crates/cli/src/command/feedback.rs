//! `scopeagent feedback`: what became of a suggestion, and what all feedback has taught.

use agent::feedback::{Effect, Preferences};
use agent::store::{Action, Feedback};

use crate::args::{self, FeedbackArgs, FeedbackCommand, Format};
use crate::config::Config;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::terminal::Terminal;

/// Stores an opinion, or shows what opinions have taught.
pub(crate) fn run(args: &FeedbackArgs, config: &Config, terminal: &Terminal) -> Result<Exit> {
    match &args.command {
        Some(FeedbackCommand::Effect { format }) => effect(*format, config, terminal),
        None => give(args, config, terminal),
    }
}

fn give(args: &FeedbackArgs, config: &Config, terminal: &Terminal) -> Result<Exit> {
    // The command line requires all three where no subcommand is given.
    let (Some(run), Some(action), Some(suggestion)) =
        (&args.run, args.action, args.suggestion.clone())
    else {
        return Ok(Exit::Usage);
    };
    let action = match action {
        args::Action::Accept => Action::Accept,
        args::Action::Ignore => Action::Ignore,
    };
    let feedback = Feedback {
        action,
        suggestion,
        note: args.note.clone(),
        saved_seconds: args.saved_seconds,
    };
    let mut store = super::runs::open(config)?;
    let row = store
        .give_feedback(run, &feedback)
        .map_err(super::runs::error)?;
    terminal.remark(&format!("noted: {} of run {}", row.suggestion, row.run_id));
    Ok(Exit::Success)
}

fn effect(format: Format, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let learnt = preferences(config)?;
    let (chunks, kinds) = (learnt.chunk_effects(), learnt.kind_effects());
    match format {
        Format::Json => terminal.print(&super::json(
            &serde_json::json!({ "chunks": chunks, "kinds": kinds }),
        )?)?,
        Format::Text if learnt.is_empty() => terminal.print("no feedback yet\n")?,
        Format::Text => {
            terminal.print(&table("chunk", &chunks))?;
            terminal.print(&format!("\n{}", table("kind of suggestion", &kinds)))?;
        }
    }
    Ok(Exit::Success)
}

/// What all stored feedback has taught.
pub(crate) fn preferences(config: &Config) -> Result<Preferences> {
    let rows = super::runs::open(config)?
        .feedback()
        .map_err(super::runs::error)?;
    Ok(Preferences::learn(&rows, jiff::Timestamp::now()))
}

fn table(subject: &'static str, effects: &[Effect]) -> String {
    let mut table = Table::new(&[
        ("cause", Align::Left),
        (subject, Align::Left),
        ("accepted", Align::Right),
        ("ignored", Align::Right),
        ("adds to score", Align::Right),
    ]);
    for effect in effects {
        table.row(vec![
            effect.cause.clone(),
            effect.subject.clone(),
            format!("{:.1}", effect.opinions.accepted),
            format!("{:.1}", effect.opinions.ignored),
            format!("{:+.3}", effect.preference),
        ]);
    }
    table.render("")
}
