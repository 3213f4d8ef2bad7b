//! Rendering of the program's own answers; reports and comparisons are rendered by the crate `render`.

pub(crate) mod batch;
pub(crate) mod inspection;
pub(crate) mod layout;
pub(crate) mod whatif;

pub(crate) use ::render::{comparison, explained, history, html, markdown, table, text};

use agent::model::Preview;
use llm::LIST_PRICES_OF;
use report::Report;
use report::format::CALL;
use runs::RunSummary;
use serde::Serialize;

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

/// Calls, tokens and price of a dry run, then its prompts; lines that a prompt shares with the one before are shown once.
pub(crate) fn previews(previews: &[Preview]) -> String {
    let bold = anstyle::Style::new().bold();
    let mut out = format!("{bold}{}{bold:#}\n\n", Planned::of(previews).said());
    let mut before: Option<&Preview> = None;
    for p in previews {
        out.push_str(&prompt(p, before));
        before = Some(p);
    }
    out
}

/// A prompt, without its common beginning with the one before.
pub(crate) fn prompt(p: &Preview, before: Option<&Preview>) -> String {
    let bold = anstyle::Style::new().bold();
    let (steps, tokens) = (p.steps.join(", "), p.tokens);
    let mut out = format!("{bold}{steps} · {tokens} tokens{bold:#}\n");
    p.cuts
        .iter()
        .for_each(|cut| out.push_str(&format!("cut: {cut}\n")));
    if before.is_none_or(|before| before.system != p.system) {
        out.push_str(&format!("{}\n\n", p.system));
    }
    let lines = p.user.lines();
    let earlier = before.map_or("", |before| before.user.as_str()).lines();
    let same = earlier
        .zip(lines.clone())
        .take_while(|(a, b)| a == b)
        .count();
    if same > 0 {
        let as_before = report::say!(
            "（前 {same} 行与上一步相同）",
            "(the first {same} lines are the same as in the step before)"
        );
        out.push_str(&format!("{as_before}\n"));
    }
    lines
        .skip(same)
        .for_each(|line| out.push_str(&format!("{line}\n")));
    out + &format!("\n{}", tools_or_schema(p))
}

/// The calls that a dry run would make.
#[derive(Debug, Serialize)]
pub(crate) struct Planned {
    calls: usize,
    tokens_in: usize,
    /// Of ordinary answers.
    tokens_out: usize,
    /// `None` if no price is known.
    cost: Option<f64>,
    /// Whether the cost is by the list price: the profile has no prices.
    is_list_price: bool,
}

impl Planned {
    pub(crate) fn of(previews: &[Preview]) -> Planned {
        Planned {
            calls: previews.len(),
            tokens_in: previews.iter().map(|p| p.tokens).sum(),
            tokens_out: previews.iter().map(|p| p.tokens_out).sum(),
            cost: previews.iter().map(|p| p.cost).sum(),
            is_list_price: previews.iter().any(|p| p.is_list_price),
        }
    }

    /// Calls, tokens and price in a sentence.
    pub(crate) fn said(&self) -> String {
        let cost = match self.cost.map(|cost| format!("{cost:.2}")) {
            Some(cost) if self.is_list_price => report::say!(
                "约 {cost} 美元（按 {LIST_PRICES_OF} 的公开价，请以服务商的价格为准）",
                "about {cost} US dollars (list price of {LIST_PRICES_OF}; check with your provider)"
            ),
            Some(cost) => report::say!("约 {cost}", "about {cost}"),
            None => report::say!(
                "未知（请在配置中设置 price_per_million_in 和 price_per_million_out）",
                "unknown (set price_per_million_in and price_per_million_out in the profile)"
            ),
        };
        report::say!(
            "{calls}；发送 {read} 个 token，收到约 {written} 个；价格：{cost}",
            "{calls}; {read} tokens to send, about {written} to receive; price: {cost}",
            calls = CALL.count(self.calls as f64),
            read = self.tokens_in.to_string(),
            written = self.tokens_out.to_string()
        )
    }
}
