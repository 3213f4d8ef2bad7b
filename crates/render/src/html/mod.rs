//! A report as one self-contained HTML page: no network and no script, which its policy forbids; light and dark, readable
//! on paper. The page's form is in `report.html`; the drawings are SVG made here.

mod charts;
mod dag;
mod gantt;
mod svg;

use std::collections::BTreeMap;

use minijinja::Environment;
use minijinja::value::Serde;
use report::{Evidence, Finding, Report, Suggestion};
use runs::RunSummary;
use serde::Serialize;

use super::layout::DiffPart;
use super::words::Words;
use super::{account, parts};
use crate::shown;

const PAGE: &str = include_str!("report.html");
const ACCOUNT: &str = include_str!("account.html");
const STYLE: &str = include_str!("report.css");

/// Everything that the page shows; drawings are markup, all else is text.
#[derive(Serialize)]
struct Page<'a> {
    style: &'static str,
    report: &'a Report,
    headline: String,
    name: &'a str,
    facts: Vec<String>,
    reasoner: String,
    evidence: BTreeMap<&'a str, EvidenceView<'a>>,
    totals: Vec<String>,
    gantt: Option<gantt::Gantt<'a>>,
    findings: Vec<FindingView<'a>>,
    suggestions: Vec<SuggestionView<'a>>,
    gaps: Vec<GapView<'a>>,
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
    title: String,
    facts: Vec<String>,
    saving: Option<String>,
    share_percent: Option<f64>,
    charts: String,
}

/// Evidence in words.
#[derive(Serialize)]
struct EvidenceView<'a> {
    #[serde(flatten)]
    item: &'a Evidence,
    shown: String,
    expectation: String,
}

/// A suggestion in words.
#[derive(Serialize)]
struct SuggestionView<'a> {
    #[serde(flatten)]
    suggestion: &'a Suggestion,
    kind_word: String,
    lines: Vec<DiffLine>,
    check: &'static str,
    remarks: Vec<(&'static str, String)>,
}

/// Missing information in words.
#[derive(Serialize)]
struct GapView<'a> {
    files: Vec<&'a str>,
    facts: String,
    reason: String,
}

/// Renders a report with what can be drawn of its job.
///
/// # Errors
/// If the built-in page does not fit the report, which a test excludes.
pub fn render(report: &Report, summary: &RunSummary) -> Result<String, minijinja::Error> {
    let (report, summary) = (&shown(report), &shown(summary));
    let words = Words(report.language);
    let mut environment = Environment::new();
    environment.add_template("report.html", PAGE)?;
    environment.add_template("account.html", ACCOUNT)?;
    environment.add_function("word", move |name: &str| words.by_name(name));
    environment.add_function("code", |text: &str| {
        minijinja::Value::from_safe_string(svg::with_code(text))
    });
    let findings = report.findings.iter();
    let suggestions = report.suggestions.iter();
    let page = Page {
        style: STYLE,
        report,
        headline: words.headline(report),
        name: report.job.label(),
        facts: words.job_facts(&report.job),
        reasoner: words.reasoner(&report.engine),
        evidence: report
            .evidence
            .iter()
            .map(|e| (e.id.as_str(), evidence_view(e, words)))
            .collect(),
        totals: account::totals(report, words),
        gantt: gantt::gantt(report, summary, words),
        findings: findings
            .map(|f| finding_view(f, report, summary, words))
            .collect(),
        suggestions: suggestions.map(|s| suggestion_view(s, words)).collect(),
        gaps: parts::gaps(report)
            .into_iter()
            .map(|gap| GapView {
                facts: gap.facts(words),
                reason: gap.reason().to_owned(),
                files: gap.files,
            })
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
    report: &Report,
    summary: &RunSummary,
    words: Words,
) -> FindingView<'a> {
    let share = finding.impact.as_ref().and_then(|i| i.share_of_elapsed);
    let mut stages = summary.stages.iter();
    let stage = stages.find(|s| Some(&s.name) == finding.stage.as_ref());
    FindingView {
        finding,
        title: words.say(finding.cause.title()),
        facts: words.finding_facts(finding),
        saving: words.saving(finding, report),
        share_percent: share.map(|s| (s * 1000.0).round() / 10.0),
        charts: stage.map_or_else(String::new, |s| charts::spread(s, words)),
    }
}

fn evidence_view(item: &Evidence, words: Words) -> EvidenceView<'_> {
    EvidenceView {
        item,
        shown: parts::value(&item.value),
        expectation: words.expectation(item),
    }
}

fn suggestion_view(suggestion: &Suggestion, words: Words) -> SuggestionView<'_> {
    SuggestionView {
        suggestion,
        kind_word: words.kind_of(suggestion),
        lines: diff_lines(suggestion.diff.as_deref().unwrap_or_default()),
        check: words.check_of(suggestion),
        remarks: words.remarks(suggestion),
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
