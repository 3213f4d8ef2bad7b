//! `scopeagent search`: searches the knowledge base.

use std::fmt::Write as _;

use clap::ValueEnum;
use indexer::{Filter, Hit, Kind, Query, Section};

use crate::args::{Format, Search, Step};
use crate::config::Config;
use crate::exit::Exit;
use crate::render::layout::{shorten, stdout_width, wrap};
use crate::session;
use crate::terminal::Terminal;
use server::{Error, ErrorKind, Result};

const LINES_SHOWN: usize = 4;

/// Runs the command.
pub(crate) fn run(args: &Search, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let index = session::open(config, terminal, &runtime)?.index()?;
    let mut query = Query::new(args.query.join(" "), usize::from(args.k));
    query.filter = filter(args)?;
    let hits = index.search(&query)?;
    match args.format {
        Format::Json => terminal.print(&super::json(&hits)?)?,
        Format::Text => terminal.print(&text(&hits, args.explain))?,
    }
    Ok(Exit::Success)
}

fn filter(args: &Search) -> Result<Filter> {
    let mut filter = Filter::default();
    filter.languages.extend(args.lang);
    filter.steps.extend(args.step.and_then(|step| {
        let value = step.to_possible_value()?;
        Some(value.get_name().to_owned())
    }));
    for (facet, value) in &args.filter {
        add(&mut filter, facet, value).map_err(|known| {
            Error::new(
                ErrorKind::Usage,
                format!("`--filter {facet}={value}` is unknown"),
            )
            .hint(format!("use one of: {known}"))
        })?;
    }
    Ok(filter)
}

/// Adds a facet.
///
/// # Errors
/// What is possible instead of an unknown facet or value.
fn add(filter: &mut Filter, facet: &str, value: &str) -> std::result::Result<(), String> {
    let known = |names: Vec<&str>| names.join(", ");
    match facet {
        "kind" => {
            let kind = Kind::parse(value);
            filter.kinds.push(
                kind.ok_or_else(|| known(Kind::ALL.iter().map(|kind| kind.as_str()).collect()))?,
            );
        }
        "section" => {
            let section = Section::parse(value);
            filter.sections.push(section.ok_or_else(|| {
                known(
                    Section::ALL
                        .iter()
                        .map(|section| section.as_str())
                        .collect(),
                )
            })?);
        }
        "language" => {
            let language = indexer::Language::parse(value);
            filter
                .languages
                .push(language.ok_or_else(|| known(vec!["zh", "en"]))?);
        }
        "step" => {
            let step = Step::from_str(value, true).map_err(|_| {
                let steps = Step::value_variants().iter();
                let names =
                    steps.filter_map(|step| Some(step.to_possible_value()?.get_name().to_owned()));
                names.collect::<Vec<_>>().join(", ")
            })?;
            let name = step.to_possible_value();
            filter
                .steps
                .extend(name.map(|name| name.get_name().to_owned()));
        }
        "problem_type" => filter.problem_types.push(value.to_owned()),
        "cause" if value.contains('.') => filter.causes.push(value.to_owned()),
        "cause" => filter.causes.push(format!("{value}.")),
        _ => {
            return Err(known(vec![
                "kind",
                "problem_type",
                "cause",
                "section",
                "language",
                "step",
            ]));
        }
    }
    Ok(())
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
    let reranked = hit
        .rerank_score
        .map(|score| format!(" · reranked {score:.3}"))
        .unwrap_or_default();
    format!(
        "bm25 {} · vector {} · fused {:.3} · boost {:+.3} · prior {:+.3}{reranked}",
        branch(hit.bm25_rank, hit.bm25_score),
        branch(hit.vector_rank, hit.vector_score),
        hit.fused,
        hit.boost,
        hit.prior
    )
}
