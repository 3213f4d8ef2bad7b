//! A comparison as part of a page.

use runs::compare::Comparison;

use super::run_facts;
use super::sections::{Body, Marked, Section, sections};
use crate::html::svg::{escape, with_code};
use crate::layout::DiffPart;
use crate::shown;
use crate::table::Align;
use crate::words::Words;

/// Renders a comparison; with `all`, unchanged stages too.
pub fn render(comparison: &Comparison, all: bool) -> String {
    let comparison = &shown(comparison);
    let words = Words(comparison.language);
    let mut out = format!(
        "<header class=\"verdict\"><h1>{}</h1>",
        with_code(&comparison.headline)
    );
    for (name, run) in [("A", &comparison.a), ("B", &comparison.b)] {
        let facts = escape(&run_facts(run, words).join(" · "));
        out += &format!("<p class=\"job\"><b>{name}</b> {facts}</p>");
    }
    out += "</header>";
    if !comparison.same_job {
        out += &format!("<p class=\"warn\">{}</p>", words.other_job());
    }
    out.extend(sections(comparison, all).iter().map(as_html));
    out
}

fn as_html(section: &Section) -> String {
    let body = match &section.body {
        Body::Items(items) => {
            let item = |(lead, text): &(Marked, String)| {
                format!("<li>{} {}</li>", marked(lead), with_code(text))
            };
            let items: String = items.iter().map(item).collect();
            format!("<ul class=\"reasons\">{items}</ul>")
        }
        Body::Table { heads, rows } => table(heads, rows),
        Body::Diff(diff) if diff.is_empty() => String::new(),
        Body::Diff(diff) => {
            let line = |line: &str| {
                let class = DiffPart::of(line).class();
                format!("<span class=\"{class}\">{}</span>\n", escape(line))
            };
            let lines: String = diff.lines().map(line).collect();
            format!("<pre class=\"diff\" tabindex=\"0\">{lines}</pre>")
        }
    };
    let remark = match section.remark.as_str() {
        "" => String::new(),
        remark => format!("<p class=\"legend\">{}</p>", escape(remark)),
    };
    format!(
        "<section><h2>{}</h2>{body}{remark}</section>",
        section.heading
    )
}

fn table(heads: &[(&str, Align)], rows: &[(Vec<Marked>, Vec<String>)]) -> String {
    let class = |align: Align| match align {
        Align::Left => "",
        Align::Right => " class=\"number\"",
    };
    let head = |(head, align): &(&str, Align)| format!("<th{}>{head}</th>", class(*align));
    let row = |(cells, facts): &(Vec<Marked>, Vec<String>)| {
        let cells = cells.iter().zip(heads).enumerate();
        let cells: String = cells
            .map(|(at, (cell, (_, align)))| {
                let facts = match facts.join(" · ") {
                    facts if at == 0 && !facts.is_empty() => {
                        format!("<br><small>{}</small>", escape(&facts))
                    }
                    _ => String::new(),
                };
                format!("<td{}>{}{facts}</td>", class(*align), marked(cell))
            })
            .collect();
        format!("<tr>{cells}</tr>")
    };
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"changes\"><thead><tr>{}</tr></thead>{}</table></div>",
        heads.iter().map(head).collect::<String>(),
        rows.iter().map(row).collect::<String>()
    )
}

fn marked(text: &Marked) -> String {
    let shown = escape(&text.text);
    match text.is_worse {
        Some(true) => format!("<span class=\"worse\">{shown}</span>"),
        Some(false) => format!("<span class=\"better\">{shown}</span>"),
        None if shown.is_empty() => shown,
        None => format!("<span>{shown}</span>"),
    }
}
