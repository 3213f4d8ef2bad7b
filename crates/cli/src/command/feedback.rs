//! `scopeagent feedback`: records the outcome of a suggestion, and shows the effect of all
//! feedback.

use indexer::{Filter, Index, Kind, Query};
use report::say;
use runs::feedback::{Effect, LOOKED_AT, Moved, Preferences};
use runs::store::Feedback;

use crate::args::{FeedbackArgs, FeedbackCommand, Format};
use crate::config::Config;
use crate::exit::Exit;
use crate::render::table::{Table, columns};
use crate::session;
use crate::terminal::Terminal;
use server::{Error, ErrorKind, Result};

pub(crate) fn run(args: &FeedbackArgs, config: &Config, terminal: &Terminal) -> Result<Exit> {
    match &args.command {
        Some(FeedbackCommand::Effect { format }) => effect(*format, config, terminal),
        None => give(args, config, terminal),
    }
}

fn give(args: &FeedbackArgs, config: &Config, terminal: &Terminal) -> Result<Exit> {
    // The command line requires all three without a subcommand.
    let (Some(run), Some(action), Some(suggestion)) =
        (&args.run, args.action, args.suggestion.clone())
    else {
        return Ok(Exit::Usage);
    };
    let feedback = Feedback {
        action,
        suggestion,
        note: args.note.clone(),
        saved_seconds: args.saved_seconds,
    };
    let mut store = super::runs::open(config)?;
    let row = store.give_feedback(run, &feedback)?;
    let (suggestion, run) = (&row.suggestion, &row.run_id);
    terminal.remark(&say!(
        "已记录：运行 {run} 的 {suggestion}",
        "saved: {suggestion} of run {run}"
    ));
    Ok(Exit::Success)
}

fn effect(format: Format, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let preferences = preferences(config)?;
    let (chunks, kinds) = (preferences.chunk_effects(), preferences.kind_effects());
    let moved = if chunks.is_empty() {
        Vec::new()
    } else {
        let open = session::knowledge(config)?.open(false, terminal)?;
        let index = open.current()?;
        preferences
            .moved(&|cause, prior| ranked(&index, cause, prior))
            .map_err(|e| {
                Error::new(ErrorKind::Input, e).hint(say!(
                    "`scopeagent index verify` 检查是否损坏",
                    "`scopeagent index verify` checks for damage"
                ))
            })?
    };
    let value = serde_json::json!({ "chunks": chunks, "kinds": kinds, "moved": moved });
    super::show(terminal, format, &value, || match preferences.is_empty() {
        true => say!("还没有反馈\n", "no feedback yet\n"),
        false => format!("{}\n{}", chunk_table(&chunks, &moved), kind_table(&kinds)),
    })?;
    Ok(Exit::Success)
}

/// Chunks for a query of a cause's words.
fn ranked(
    index: &Index,
    cause: &str,
    prior: Option<&dyn Fn(&str) -> f32>,
) -> std::result::Result<Vec<String>, String> {
    let mut query = Query::new(cause.replace(['.', '_'], " "), LOOKED_AT);
    query.filter = Filter {
        kinds: vec![Kind::Experience, Kind::Case],
        causes: vec![cause.to_owned()],
        ..Filter::default()
    };
    query.prior = prior;
    let hits = index.search(&query).map_err(|error| error.to_string())?;
    Ok(hits.iter().map(|hit| hit.chunk.id.clone()).collect())
}

/// Feedback on each chunk, and how it moves the chunk among the hits on its cause.
fn chunk_table(effects: &[Effect], moved: &[Moved]) -> String {
    let titles = format!("{}|>rank", titles("chunk"));
    let mut table = Table::new(&columns(&titles));
    for effect in effects {
        let mut moved = moved.iter();
        let of = moved.find(|m| m.cause == effect.cause && m.chunk == effect.subject);
        let rank = |r: Option<usize>| r.map_or_else(|| "–".to_owned(), |r| r.to_string());
        let mut cells = cells(effect);
        cells.push(of.map_or_else(String::new, |m| {
            format!("{} → {}", rank(m.rank_before), rank(m.rank_after))
        }));
        table.row(cells);
    }
    table.render("")
}

fn preferences(config: &Config) -> Result<Preferences> {
    let rows = super::runs::open(config)?.feedback()?;
    Ok(Preferences::learn(&rows, jiff::Timestamp::now()))
}

fn kind_table(effects: &[Effect]) -> String {
    let mut table = Table::new(&columns(&titles("kind of suggestion")));
    effects.iter().for_each(|effect| table.row(cells(effect)));
    table.render("")
}

fn titles(subject: &str) -> String {
    format!("cause|{subject}|>accepted|>ignored|>preference")
}

/// Older feedback counts less.
fn cells(effect: &Effect) -> Vec<String> {
    vec![
        effect.cause.clone(),
        effect.subject.clone(),
        format!("{:.1}", effect.opinions.accepted),
        format!("{:.1}", effect.opinions.ignored),
        format!("{:+.2}", effect.preference),
    ]
}
