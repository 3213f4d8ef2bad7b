//! A comparison as a self-contained page, or as the body of one that is served.

use minijinja::Environment;
use minijinja::value::Serde;
use runs::compare::Comparison;
use serde::Serialize;

use super::sections::{Body, Marked, Section, sections};
use super::{run_facts, words_of};
use crate::html::{STYLE, environment};
use crate::layout::DiffPart;
use crate::table::Align;

#[derive(Serialize)]
struct Page<'a> {
    style: &'static str,
    language: &'static str,
    headline: &'a str,
    runs: [(&'static str, String); 2],
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
pub fn page(comparison: &Comparison, all: bool) -> Result<String, minijinja::Error> {
    let environment = environment(comparison.language)?;
    fill(&environment, "comparison.html", comparison, all)
}

/// Renders the body of a page that is served, with the templates of the comparison's language.
///
/// # Errors
/// As for [`page`].
pub fn body(
    environment: &Environment,
    comparison: &Comparison,
    all: bool,
) -> Result<String, minijinja::Error> {
    fill(environment, "comparison-body.html", comparison, all)
}

fn fill(
    environment: &Environment,
    template: &str,
    comparison: &Comparison,
    all: bool,
) -> Result<String, minijinja::Error> {
    let words = words_of(comparison);
    let facts = |run| run_facts(run, words).join(" · ");
    let page = Page {
        style: STYLE,
        language: comparison.language.code(),
        headline: &comparison.headline,
        runs: [("A", facts(&comparison.a)), ("B", facts(&comparison.b))],
        sections: sections(comparison, all).into_iter().map(view).collect(),
    };
    environment.get_template(template)?.render(Serde(&page))
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
                .map(|(lead, text)| (cell(lead), text))
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
                .map(|(cells, facts)| (cells.into_iter().map(cell).collect(), facts.join(" · ")))
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

fn cell(marked: Marked) -> Cell {
    Cell {
        class: match marked.is_worse {
            Some(true) => "worse",
            Some(false) => "better",
            None => "",
        },
        text: marked.text,
    }
}
