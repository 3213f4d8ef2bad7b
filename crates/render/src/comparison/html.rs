//! A comparison as a self-contained page.

use anstyle::{AnsiColor, Color};
use minijinja::value::Serde;
use runs::compare::Comparison;
use serde::Serialize;

use super::run_facts;
use super::sections::{Body, Section, sections};
use crate::html::{STYLE, environment};
use crate::layout::DiffPart;
use crate::shown;
use crate::table::Align;
use crate::words::Words;

const PAGE: &str = include_str!("comparison.html");

#[derive(Serialize)]
struct Page<'a> {
    style: &'static str,
    language: &'static str,
    headline: &'a str,
    runs: [(&'static str, String); 2],
    note: Option<&'static str>,
    sections: Vec<View>,
}

#[derive(Serialize, Default)]
struct View {
    heading: &'static str,
    items: Vec<(Cell, String)>,
    heads: Vec<(&'static str, bool)>,
    rows: Vec<(Vec<Cell>, String)>,
    diff: Vec<(&'static str, String)>,
    remark: String,
}

/// A text, and whether it is good or bad news.
#[derive(Serialize)]
struct Cell {
    class: &'static str,
    text: String,
}

/// Renders a comparison; with `all`, unchanged stages too.
///
/// # Errors
/// If the built-in page does not fit the comparison, which a test excludes.
pub fn render(comparison: &Comparison, all: bool) -> Result<String, minijinja::Error> {
    let comparison = &shown(comparison);
    let words = Words(comparison.language);
    let facts = |run| run_facts(run, words).join(" · ");
    let page = Page {
        style: STYLE,
        language: comparison.language.code(),
        headline: &comparison.headline,
        runs: [("A", facts(&comparison.a)), ("B", facts(&comparison.b))],
        note: (!comparison.same_job).then(|| words.other_job()),
        sections: sections(comparison, all).into_iter().map(view).collect(),
    };
    let mut environment = environment(comparison.language)?;
    environment.add_template("comparison.html", PAGE)?;
    environment
        .get_template("comparison.html")?
        .render(Serde(&page))
}

fn view(section: Section) -> View {
    let view = View {
        heading: section.heading,
        remark: section.remark,
        ..View::default()
    };
    match section.body {
        Body::Items(items) => View {
            items: items
                .into_iter()
                .map(|(lead, text)| (cell(&lead), text))
                .collect(),
            ..view
        },
        Body::Table { heads, rows } => View {
            heads: heads
                .into_iter()
                .map(|(head, align)| (head, align == Align::Right))
                .collect(),
            rows: rows
                .into_iter()
                .map(|(cells, facts)| (cells.iter().map(|c| cell(c)).collect(), facts.join(" · ")))
                .collect(),
            ..view
        },
        Body::Diff(diff) => View {
            diff: diff
                .lines()
                .map(|line| (DiffPart::of(line).class(), line.to_owned()))
                .collect(),
            ..view
        },
    }
}

/// The text of a terminal with the meaning of its color.
fn cell(styled: &str) -> Cell {
    let starts = |color: AnsiColor| {
        let style = color.on_default().fg_color(Some(Color::Ansi(color)));
        styled.contains(&format!("{style}")) || styled.contains(&format!("{}", style.bold()))
    };
    let class = match () {
        () if starts(AnsiColor::Red) => "worse",
        () if starts(AnsiColor::Green) => "better",
        () => "",
    };
    Cell {
        class,
        text: anstream::adapter::strip_str(styled).to_string(),
    }
}
