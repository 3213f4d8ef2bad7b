//! `scopeagent search`: asks the knowledge base.

use std::fmt::Write as _;

use indexer::{Hit, Query};

use crate::args::{Format, Search};
use crate::config::{Config, Language};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::knowledge::Knowledge;
use crate::render::layout::{shorten, stdout_width, wrap};
use crate::terminal::Terminal;

/// Lines of a chunk that are shown.
const LINES_SHOWN: usize = 4;

/// Runs the command.
pub(crate) fn run(args: &Search, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let index = Knowledge::locate(config)?.open(terminal)?;
    let mut query = Query::new(args.query.join(" "), usize::from(args.k));
    query
        .filter
        .languages
        .extend(args.lang.map(|lang| match lang {
            Language::Zh => indexer::Language::Zh,
            Language::En => indexer::Language::En,
        }));
    let hits = index
        .search(&query)
        .map_err(|e| CliError::from_source(Exit::Failure, &e))?;
    match args.format {
        Format::Json => terminal.print(&super::json(&hits)?)?,
        Format::Text => terminal.print(&text(&hits, args.explain))?,
    }
    Ok(Exit::Success)
}

fn text(hits: &[Hit], explain: bool) -> String {
    let columns = stdout_width();
    let mut out = String::new();
    for hit in hits {
        let chunk = &hit.chunk;
        let place = [std::slice::from_ref(&chunk.title), &chunk.heading_path]
            .concat()
            .join(" › ");
        let bold = anstyle::Style::new().bold();
        let dim = anstyle::Style::new().dimmed();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:>2}. {bold}{}{bold:#}",
            hit.rank,
            shorten(&place, columns.saturating_sub(4))
        );
        let _ = writeln!(out, "    {dim}{} · {:.3}{dim:#}", chunk.id, hit.score);
        if explain {
            let _ = writeln!(out, "    {dim}{}{dim:#}", explanation(hit));
        }
        for line in wrap(&chunk.text, columns, "    ", "    ")
            .into_iter()
            .filter(|l| !l.trim().is_empty())
            .take(LINES_SHOWN)
        {
            let _ = writeln!(out, "{line}");
        }
    }
    if hits.is_empty() {
        out.push_str("nothing found\n");
    }
    out
}

fn explanation(hit: &Hit) -> String {
    let branch = |rank: Option<usize>, score: Option<f32>| match (rank, score) {
        (Some(rank), Some(score)) => format!("#{rank} ({score:.3})"),
        (None, Some(score)) => format!("unranked ({score:.3})"),
        _ => "–".to_owned(),
    };
    format!(
        "bm25 {} · vector {} · fused {:.3} · boost {:+.3} · prior {:+.3}",
        branch(hit.bm25_rank, hit.bm25_score),
        branch(hit.vector_rank, hit.vector_score),
        hit.fused,
        hit.boost,
        hit.prior
    )
}
