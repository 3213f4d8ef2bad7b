//! A report as one self-contained HTML page: no network, no script needed, light and dark, readable
//! on paper. The page's form is in `report.html`; the drawings are SVG made here.

mod charts;
mod dag;
mod svg;

use minijinja::Environment;
use minijinja::value::Serde;
use report::format::{Bytes, Seconds, Share};
use report::{Evidence, Finding, Report};
use runs::RunSummary;
use serde::Serialize;

use super::layout::DiffPart;
use super::text::value;
use super::words::Words;

const PAGE: &str = include_str!("report.html");
const STYLE: &str = include_str!("report.css");

/// Everything that the page shows; drawings are markup, all else is text.
#[derive(Serialize)]
struct Page<'a> {
    style: &'static str,
    report: &'a Report,
    verdict: &'static str,
    problem: &'static str,
    facts: Vec<String>,
    no_findings: &'static str,
    findings: Vec<FindingView<'a>>,
    diffs: Vec<Option<Vec<DiffLine>>>,
    kinds: Vec<&'static str>,
    dag: String,
    timeline: Option<String>,
    script_file: Option<&'a str>,
    script: Vec<ScriptLine<'a>>,
}

/// A line of the script with its margin.
#[derive(Serialize)]
struct ScriptLine<'a> {
    number: u32,
    text: String,
    /// Whether a finding is about it.
    marked: bool,
    /// Findings whose first line this is.
    begins: Vec<&'a str>,
}

/// A line of a diff with the class that colors it.
#[derive(Serialize)]
struct DiffLine {
    class: &'static str,
    text: String,
}

/// A finding with what is drawn next to it.
#[derive(Serialize)]
struct FindingView<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    severity_word: &'static str,
    confidence_percent: String,
    saved: Option<String>,
    lines: Option<String>,
    share_percent: Option<f64>,
    share: Option<String>,
    evidence_items: Vec<&'a Evidence>,
    values: Vec<String>,
    run_histogram: Option<String>,
    bytes_histogram: Option<String>,
}

/// Renders a report with what can be drawn of its job.
///
/// # Errors
/// If the built-in page does not fit the report, which a test excludes.
pub(crate) fn render(report: &Report, summary: &RunSummary) -> Result<String, minijinja::Error> {
    let words = Words(report.language);
    let mut environment = Environment::new();
    environment.add_template("report.html", PAGE)?;
    environment.add_function("word", move |name: &str| words.by_name(name));
    environment.add_function("code", |text: &str| {
        minijinja::Value::from_safe_string(svg::with_code(text))
    });
    let page = Page {
        style: STYLE,
        report,
        verdict: words.verdict(report.verdict),
        problem: words.problem_type(report.problem_type),
        facts: words.job_facts(&report.job),
        no_findings: words.no_findings(report.verdict),
        findings: report
            .findings
            .iter()
            .map(|f| finding_view(f, report, summary, words))
            .collect(),
        diffs: report
            .suggestions
            .iter()
            .map(|s| s.diff.as_deref().map(diff_lines))
            .collect(),
        kinds: report
            .suggestions
            .iter()
            .map(|s| words.suggestion_kind(s.kind))
            .collect(),
        dag: dag::draw(summary, &hot_stages(report), words),
        timeline: summary
            .timeline
            .as_ref()
            .map(|t| charts::timeline(t, summary, words)),
        script_file: summary.script.as_ref().map(|s| s.file.as_str()),
        script: script_lines(report, summary),
    };
    environment
        .get_template("report.html")?
        .render(Serde(&page))
}

fn finding_view<'a>(
    finding: &'a Finding,
    report: &'a Report,
    summary: &RunSummary,
    words: Words,
) -> FindingView<'a> {
    let items: Vec<&Evidence> = finding
        .evidence
        .iter()
        .filter_map(|id| report.evidence.iter().find(|e| e.id == *id))
        .collect();
    let stage = summary
        .stages
        .iter()
        .find(|s| Some(&s.name) == finding.stage.as_ref());
    let time = |ms: f64| words.say(Seconds(ms / 1000.0));
    let size = |n: f64| words.say(Bytes(n));
    FindingView {
        finding,
        severity_word: words.severity(finding.severity),
        confidence_percent: words.say(Share(finding.confidence)),
        saved: finding
            .impact
            .as_ref()
            .map(|i| words.say(Seconds(i.seconds_saved))),
        lines: finding.script_lines.map(|lines| words.script_lines(lines)),
        share: finding
            .impact
            .as_ref()
            .and_then(|i| i.share_of_elapsed)
            .map(|s| words.share_of_run(s)),
        share_percent: finding
            .impact
            .as_ref()
            .and_then(|i| i.share_of_elapsed)
            .map(|s| (s * 1000.0).round() / 10.0),
        values: items.iter().map(|e| value(&e.value)).collect(),
        evidence_items: items,
        run_histogram: stage
            .and_then(|s| s.run_ms.as_ref())
            .map(|h| charts::histogram(h, words.run_time_per_vertex(), words, time)),
        bytes_histogram: stage
            .and_then(|s| s.vertex_bytes_read.as_ref())
            .map(|h| charts::histogram(h, words.bytes_read_per_vertex(), words, size)),
    }
}

/// Stages in findings, by the id of the first finding about each.
fn hot_stages(report: &Report) -> Vec<(String, String)> {
    let mut hot: Vec<(String, String)> = Vec::new();
    for finding in &report.findings {
        if let Some(stage) = &finding.stage
            && hot.iter().all(|(name, _)| name != stage)
        {
            hot.push((stage.clone(), finding.id.clone()));
        }
    }
    hot
}

fn diff_lines(diff: &str) -> Vec<DiffLine> {
    diff.lines()
        .map(|line| DiffLine {
            class: DiffPart::of(line).class(),
            text: line.to_owned(),
        })
        .collect()
}

fn script_lines<'a>(report: &'a Report, summary: &RunSummary) -> Vec<ScriptLine<'a>> {
    let Some(script) = &summary.script else {
        return Vec::new();
    };
    let ranges: Vec<(&str, [u32; 2])> = report
        .findings
        .iter()
        .filter_map(|f| Some((f.id.as_str(), f.script_lines?)))
        .collect();
    let line = |(i, text): (usize, &str)| {
        let number = i as u32 + 1;
        ScriptLine {
            number,
            text: text.to_owned(),
            marked: ranges
                .iter()
                .any(|(_, [first, last])| (*first..=*last).contains(&number)),
            begins: ranges
                .iter()
                .filter(|(_, [first, _])| *first == number)
                .map(|(id, _)| *id)
                .collect(),
        }
    };
    script.text.lines().enumerate().map(line).collect()
}
