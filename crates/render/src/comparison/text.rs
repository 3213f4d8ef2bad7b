//! A comparison on a terminal: the first line names the difference and its reason, and big changes
//! come first.

use anstyle::{AnsiColor, Effects};
use runs::compare::Comparison;

use super::sections::{Body, Marked, Section, sections};
use super::{run_facts, words_of};
use crate::layout::{pad, width, wrap, wrap_items, wrap_names};
use crate::shown;
use crate::style::{self, BOLD, DIM, HEADING};
use crate::table::Table;

/// Width of an item's first column; a longer entry moves its text to the right.
const LEAD: usize = 24;

/// Renders a comparison with ANSI styles; the caller strips them where no terminal is. With `all`,
/// unchanged stages and every change are shown.
pub fn render(comparison: &Comparison, columns: usize, all: bool) -> String {
    let comparison = &shown(comparison);
    let words = words_of(comparison);
    let mut lines: Vec<String> = Vec::new();
    let headline = wrap(&comparison.headline, columns, "", "");
    lines.extend(headline.iter().map(|l| format!("{BOLD}{l}{BOLD:#}")));
    lines.push(String::new());
    for (name, run) in [("A", &comparison.a), ("B", &comparison.b)] {
        let facts = run_facts(run, words).join(" · ");
        let start = format!("{BOLD}{name}{BOLD:#}  ");
        lines.extend(wrap_names(&facts, columns, &start, "   "));
    }
    let mut out = lines.join("\n") + "\n";
    for section in sections(comparison, all) {
        out += &in_columns(&section, columns);
    }
    out
}

fn in_columns(section: &Section, columns: usize) -> String {
    let mut out = format!("\n{HEADING}{}{HEADING:#}\n", section.heading);
    match &section.body {
        Body::Items(items) => {
            let items = items.iter().map(|(lead, text)| (painted(lead), text));
            let items: Vec<_> = items.collect();
            let widest = items.iter().map(|(lead, _)| width(lead)).max().unwrap_or(0);
            let column = widest.min(LEAD);
            let rest = " ".repeat(column + 4);
            for (lead, text) in &items {
                let first = format!("  {}  ", pad(lead, column));
                for line in wrap(text, columns, &first, &rest) {
                    out += &format!("{line}\n");
                }
                if text.is_empty() {
                    out += &format!("  {lead}\n");
                }
            }
        }
        Body::Table { heads, rows } => {
            let mut table = Table::new(heads);
            for (cells, _) in rows {
                table.row(cells.iter().map(painted).collect());
            }
            let rendered = table.render("  ");
            // The first line has the headings.
            let facts =
                std::iter::once([].as_slice()).chain(rows.iter().map(|(_, f)| f.as_slice()));
            for (line, facts) in rendered.lines().zip(facts) {
                out += &format!("{line}\n");
                for line in wrap_items(facts, columns - 4, "") {
                    out += &format!("    {DIM}{line}{DIM:#}\n");
                }
            }
        }
        Body::Diff(diff) => out += &style::diff(diff.lines(), "  "),
    }
    if !section.remark.is_empty() {
        out += &format!("  {DIM}{}{DIM:#}\n", section.remark);
    }
    out
}

fn painted(text: &Marked) -> String {
    let color = match text.is_worse {
        Some(true) => AnsiColor::Red,
        Some(false) => AnsiColor::Green,
        None => return text.text.clone(),
    };
    let style = color.on_default().effects(Effects::BOLD);
    format!("{style}{}{style:#}", text.text)
}
