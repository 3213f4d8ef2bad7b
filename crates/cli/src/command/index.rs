//! `scopeagent index`: brings the knowledge index up to date.

use indexer::build::Summary;

use crate::args::{Format, Index};
use crate::config::Config;
use crate::error::Result;
use crate::exit::Exit;
use crate::knowledge::Knowledge;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &Index, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let knowledge = Knowledge::locate(config)?;
    let summary = knowledge.update(terminal)?;
    match args.format {
        Format::Json => terminal.print(&super::json(&summary)?)?,
        Format::Text => terminal.print(&text(&summary, &knowledge))?,
    }
    Ok(Exit::Success)
}

fn text(summary: &Summary, knowledge: &Knowledge) -> String {
    let mut out = format!(
        "{} chunks in `{}` ({} documents added, {} changed, {} removed, {} unchanged; {} texts embedded, {} from the cache)\n",
        summary.chunks,
        knowledge.index.display(),
        summary.added.len(),
        summary.changed.len(),
        summary.removed.len(),
        summary.unchanged,
        summary.embedded,
        summary.cached,
    );
    for (sign, documents) in [('+', &summary.added), ('~', &summary.changed), ('-', &summary.removed)] {
        for document in documents {
            out.push_str(&format!("  {sign} {document}\n"));
        }
    }
    out
}
