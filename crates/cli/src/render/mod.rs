//! Rendering of the program's own answers; reports and comparisons are rendered by the crate `render`.

pub(crate) mod batch;
pub(crate) mod inspection;
pub(crate) mod layout;
pub(crate) mod whatif;

pub(crate) use ::render::{comparison, explained, history, html, markdown, table, text};

use agent::model::Preview;
use report::Report;
use runs::RunSummary;

use crate::args::ReportFormat;
use server::{Error, ErrorKind, Result};

/// A report in one of its forms.
pub(crate) fn report(
    report: &Report,
    summary: &RunSummary,
    format: ReportFormat,
    verbose: bool,
) -> Result<String> {
    match format {
        ReportFormat::Json => crate::json::pretty(report),
        ReportFormat::Markdown => Ok(markdown::render(report)),
        ReportFormat::Html => {
            html::render(report, summary).map_err(|e| Error::from_source(ErrorKind::Other, &e))
        }
        ReportFormat::Text => {
            let options = text::TextOptions {
                columns: layout::stdout_width(),
                drawing: layout::drawing_width(),
                verbose,
            };
            Ok(text::render(report, options))
        }
    }
}

/// The tools or the answer's schema that accompany a prompt.
fn tools_or_schema(preview: &Preview) -> String {
    let tools = preview.tools.iter().map(|tool| {
        let (name, about, schema) = (&tool.name, &tool.description, &tool.schema);
        format!("tool {name}: {about} {schema}\n")
    });
    let schema = preview
        .schema
        .iter()
        .map(|schema| format!("schema: {schema}\n"));
    let parts: String = tools.chain(schema).collect();
    if parts.is_empty() {
        parts
    } else {
        parts + "\n"
    }
}

/// The prompts of a dry run, step by step.
pub(crate) fn previews(previews: &[Preview]) -> String {
    let bold = anstyle::Style::new().bold();
    let parts = previews.iter().map(|p| {
        let cost = p.cost.map(|c| format!(" · {c:.4}")).unwrap_or_default();
        let cuts: String = p.cuts.iter().map(|cut| format!("cut: {cut}\n")).collect();
        format!(
            "{bold}{} · {} tokens{cost}{bold:#}\n{cuts}{}\n\n{}\n\n{}",
            p.steps.join(", "),
            p.tokens,
            p.system,
            p.user,
            tools_or_schema(p)
        )
    });
    parts.collect()
}
