//! A comparison for a ticket.

use runs::compare::Comparison;

use super::sections::{Body, Section, sections};
use super::{run_facts, words_of};
use crate::shown;
use crate::table::Align;
use crate::words::Words;
use report::markdown::{escaped, fenced};

/// Renders a comparison; with `all`, unchanged stages too.
pub fn render(comparison: &Comparison, all: bool) -> String {
    let comparison = &shown(comparison);
    let words = words_of(comparison);
    let mut out = format!("# {}\n\n", escaped(&comparison.headline));
    for (name, run) in [("A", &comparison.a), ("B", &comparison.b)] {
        let facts = run_facts(run, words).join(" · ");
        out += &format!("- **{name}** {}\n", escaped(&facts));
    }
    for section in sections(comparison, all) {
        out += &as_markdown(&section, words);
    }
    out
}

fn as_markdown(section: &Section, words: Words) -> String {
    let mut out = format!("\n## {}\n\n", section.heading);
    match &section.body {
        Body::Items(items) => {
            for (lead, text) in items {
                let lead = escaped(&lead.text);
                let gap = if lead.is_empty() { "" } else { " · " };
                out += &format!("- {lead}{gap}{}\n", escaped(text));
            }
        }
        Body::Table { heads, rows } => {
            let (names, marks): (Vec<&str>, Vec<&str>) = heads
                .iter()
                .map(|(head, align)| match align {
                    Align::Left => (*head, "---"),
                    Align::Right => (*head, "--:"),
                })
                .unzip();
            out += &format!("| {} | |\n|{}|---|\n", names.join(" | "), marks.join("|"));
            for (cells, facts) in rows {
                let cells = cells.iter().map(|cell| escaped(&cell.text));
                let facts = std::iter::once(escaped(&facts.join(words.semicolon())));
                let cells: Vec<_> = cells.chain(facts).collect();
                out += &format!("| {} |\n", cells.join(" | "));
            }
        }
        Body::Diff(diff) if diff.is_empty() => {}
        Body::Diff(diff) => out += &(fenced("diff", diff) + "\n"),
    }
    if !section.remark.is_empty() {
        out += &format!("\n{}\n", section.remark);
    }
    out
}
