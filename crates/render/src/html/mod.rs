//! A report as HTML: one self-contained file, without network and script, which its policy forbids; or the body of a page that is
//! served, with links and forms. Light and dark, readable on paper. The form is in `body.html`; the drawings are SVG made here.

mod charts;
mod dag;
pub mod escape;
mod gantt;
pub mod prose;
mod svg;

use std::collections::BTreeMap;

use minijinja::value::Serde;
use minijinja::{Environment, State};
use report::format::Seconds;
use report::{
    Diagnostic, Evidence, Experience, FileRead, Finding, JobEngine, Language, Report, Step,
    Suggestion, Verdict,
};
use runs::RunSummary;
use serde::Serialize;

use super::layout::DiffPart;
use super::words::Words;
use super::{account, parts};

/// Frame of every page that is one file. Its policy allows the page's script, if any, by the hash in `script_hash`.
pub const FRAME: (&str, &str) = ("frame.html", include_str!("frame.html"));

const TEMPLATES: [(&str, &str); 7] = [
    FRAME,
    ("report.html", include_str!("report.html")),
    ("body.html", include_str!("body.html")),
    ("account.html", include_str!("account.html")),
    ("missing.html", include_str!("missing.html")),
    (
        "comparison.html",
        include_str!("../comparison/comparison.html"),
    ),
    (
        "comparison-body.html",
        include_str!("../comparison/body.html"),
    ),
];
/// Colors by name; dark if the system or `color-scheme` of the root requests it.
pub const PALETTE: &str = include_str!("palette.css");
/// [`PALETTE`], and the styles of a report.
pub const STYLE: &str = concat!(include_str!("palette.css"), include_str!("report.css"));

/// Content of a served page in addition to a file.
#[derive(Default, Serialize)]
pub struct Served {
    /// Address of the page, below which its files and diffs are.
    pub base: String,
    /// Whether files of the job can be opened.
    pub has_files: bool,
    /// Proves that a form comes from this page.
    pub token: String,
    /// Experience that suggestions cite, by chunk.
    pub passages: BTreeMap<String, Passage>,
    /// Feedback by suggestion: `accepted` or `ignored`. `None` if feedback is impossible.
    pub feedback: Option<BTreeMap<String, &'static str>>,
}

/// A passage of the knowledge base, as HTML.
#[derive(Serialize)]
pub struct Passage {
    pub title: String,
    pub html: String,
}

/// Everything that the page shows; drawings are markup, all else is text.
#[derive(Serialize)]
struct Page<'a> {
    style: &'static str,
    language: &'static str,
    /// Whether the page has Spark's words.
    is_spark: bool,
    served: Option<&'a Served>,
    report: ReportFields<'a>,
    headline: String,
    fix_first: Option<(&'static str, String)>,
    name: &'a str,
    facts: Vec<String>,
    reasoner: String,
    evidence: BTreeMap<&'a str, EvidenceView<'a>>,
    totals: Vec<String>,
    gantt: Option<gantt::Gantt<'a>>,
    findings: Vec<FindingView<'a>>,
    suggestions: Vec<SuggestionView<'a>>,
    gaps: Vec<GapView<'a>>,
    consulted: Vec<parts::Consulted<'a>>,
    dag: String,
    timeline: Option<String>,
    script_file: Option<&'a str>,
    script: Vec<ScriptLine<'a>>,
}

/// Fields of the report that the page prints unchanged.
#[derive(Serialize)]
struct ReportFields<'a> {
    run_id: &'a str,
    verdict: Verdict,
    question: Option<&'a str>,
    answer: Option<&'a str>,
    fallback: Option<&'a str>,
    steps: Vec<StepView<'a>>,
    files_read: &'a [FileRead],
    diagnostics: &'a [Diagnostic],
}

/// A step with the experience that it was given.
#[derive(Serialize)]
struct StepView<'a> {
    id: &'a str,
    title: &'a str,
    elapsed_ms: f64,
    text: &'a str,
    remarks: &'a [String],
    experiences: Vec<&'a Experience>,
    /// JSON.
    conclusion: String,
}

/// A line of the script with its margin.
#[derive(Serialize)]
struct ScriptLine<'a> {
    number: u32,
    text: String,
    /// Findings about this line.
    findings: Vec<&'a str>,
    /// Findings that start at this line.
    begins: Vec<&'a str>,
}

/// A line of a diff with the class that colors it.
#[derive(Serialize)]
struct DiffLine {
    class: &'static str,
    text: String,
}

/// A finding with its drawing.
#[derive(Serialize)]
struct FindingView<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    title: String,
    facts: Vec<String>,
    saving: Option<String>,
    share_percent: Option<f64>,
    /// Evidence that is shown at once, and the rest.
    shown: Vec<&'a str>,
    rest: Vec<&'a str>,
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
    /// Settings with the reason for their value.
    assignments: Vec<[String; 2]>,
}

/// Missing information in words.
#[derive(Serialize)]
struct GapView<'a> {
    files: Vec<&'a str>,
    facts: String,
    reason: String,
}

/// The templates of reports and comparisons in one language.
///
/// # Errors
/// If a built-in template is wrong, which a test excludes.
pub fn environment(language: Language) -> Result<Environment<'static>, minijinja::Error> {
    let words = Words::new(language);
    let mut environment = escape::environment();
    for (name, template) in TEMPLATES {
        environment.add_template(name, template)?;
    }
    environment.add_function("word", move |state: &State, name: &str| {
        let is_spark = state.lookup("is_spark").is_some_and(|is| is.is_true());
        let words = Words(language, is_spark.then_some(JobEngine::Spark));
        match words.by_name(name) {
            // the space after an English colon stays
            mark if mark.ends_with(' ') => mark.to_owned(),
            phrase => words.in_engine(phrase),
        }
    });
    environment.add_function("seconds", move |ms: f64| words.say(Seconds(ms / 1000.0)));
    environment.add_function("document", |chunk: &str| {
        parts::document_of(chunk).to_owned()
    });
    Ok(environment)
}

/// Renders a report with the charts of its job.
///
/// # Errors
/// If the built-in page does not fit the report, which a test excludes.
pub fn render(report: &Report, summary: &RunSummary) -> Result<String, minijinja::Error> {
    let environment = environment(report.language)?;
    fill(&environment, "report.html", report, summary, None)
}

/// Renders the body of a served page, with the templates of the report's language.
///
/// # Errors
/// If the built-in page does not fit the report, which a test excludes.
pub fn body(
    environment: &Environment,
    report: &Report,
    summary: &RunSummary,
    served: &Served,
) -> Result<String, minijinja::Error> {
    fill(environment, "body.html", report, summary, Some(served))
}

fn fill(
    environment: &Environment,
    template: &str,
    report: &Report,
    summary: &RunSummary,
    served: Option<&Served>,
) -> Result<String, minijinja::Error> {
    let page = page(report, summary, served);
    environment.get_template(template)?.render(Serde(&page))
}

fn page<'a>(report: &'a Report, summary: &'a RunSummary, served: Option<&'a Served>) -> Page<'a> {
    let words = Words::of(report);
    let findings = report.findings.iter();
    let suggestions = report.suggestions.iter();
    let evidence = report.evidence.iter();
    let gap = |gap: parts::Gap<'a>| GapView {
        facts: gap.facts(words),
        reason: gap.reason(words),
        files: gap.files,
    };
    Page {
        style: STYLE,
        language: report.language.code(),
        is_spark: report.job.engine == Some(JobEngine::Spark),
        served,
        report: ReportFields {
            run_id: &report.run_id,
            verdict: report.verdict,
            question: report.question.as_deref(),
            answer: report.answer.as_ref().map(|a| a.text.as_str()),
            fallback: report.engine.fallback.as_deref(),
            steps: report.steps.iter().map(|s| step_view(s, report)).collect(),
            files_read: &report.files_read,
            diagnostics: &report.diagnostics,
        },
        headline: words.headline(report),
        fix_first: words.fix_first(report),
        name: report.job.label(),
        facts: words.job_facts(report),
        reasoner: words.reasoner(report),
        evidence: evidence
            .map(|e| (e.id.as_str(), evidence_view(e, words)))
            .collect(),
        totals: account::totals(report, words),
        gantt: gantt::gantt(report, summary, words),
        findings: findings
            .map(|f| finding_view(f, report, summary, words))
            .collect(),
        suggestions: suggestions.map(|s| suggestion_view(s, words)).collect(),
        consulted: parts::consulted(report, u32::MAX),
        gaps: parts::gaps(report).into_iter().map(gap).collect(),
        dag: dag::draw(summary, &hot_stages(report), words),
        timeline: summary
            .timeline
            .as_ref()
            .map(|t| charts::timeline(t, summary, words)),
        script_file: summary.script.as_ref().map(|s| s.file.as_str()),
        script: script_lines(report, summary),
    }
}

fn step_view<'a>(step: &'a Step, report: &'a Report) -> StepView<'a> {
    let given = report.experiences.iter().filter(|e| e.step == step.id);
    StepView {
        id: &step.id,
        title: &step.title,
        elapsed_ms: step.elapsed_ms,
        text: &step.text,
        remarks: &step.remarks,
        experiences: given.collect(),
        conclusion: format!("{:#}", step.conclusion),
    }
}

fn finding_view<'a>(
    finding: &'a Finding,
    report: &'a Report,
    summary: &RunSummary,
    words: Words,
) -> FindingView<'a> {
    let share = Words::saved_share(finding, report);
    // Findings about one stage have the same plots.
    let of_stage = report.findings.iter().find(|f| f.stage == finding.stage);
    let is_first = of_stage.is_some_and(|first| first.id == finding.id);
    let mut stages = summary.stages.iter();
    let stage = stages.find(|s| Some(&s.name) == finding.stage.as_ref());
    let all: Vec<&Evidence> = report.evidence_of(&finding.evidence).collect();
    let shown = parts::telling(&all, parts::EVIDENCE_SHOWN);
    let is_shown = |item: &&&Evidence| shown.iter().any(|known| known.id == item.id);
    let rest = all.iter().filter(|item| !is_shown(item));
    FindingView {
        rest: rest.map(|item| item.id.as_str()).collect(),
        shown: shown.iter().map(|item| item.id.as_str()).collect(),
        finding,
        title: words.cause(finding.cause),
        facts: words.finding_facts(finding),
        saving: words.saving(finding, report),
        share_percent: share.map(|s| (s * 1000.0).round() / 10.0),
        charts: stage
            .filter(|_| is_first)
            .map_or_else(String::new, |s| charts::spread(s, words)),
    }
}

fn evidence_view(item: &Evidence, words: Words) -> EvidenceView<'_> {
    EvidenceView {
        item,
        shown: words.amount(item),
        expectation: words.expectation(item),
    }
}

fn suggestion_view(suggestion: &Suggestion, words: Words) -> SuggestionView<'_> {
    SuggestionView {
        suggestion,
        kind_word: words.kind_of(suggestion),
        lines: diff_lines(suggestion.diff.as_deref().unwrap_or_default()),
        check: words.check_of(suggestion),
        assignments: words.settings(suggestion),
        remarks: words.remarks(suggestion),
    }
}

/// Stages in findings, with the id of each.
fn hot_stages(report: &Report) -> Vec<(String, String)> {
    let of = |finding: &Finding| Some((finding.stage.clone()?, finding.id.clone()));
    report.findings.iter().filter_map(of).collect()
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
            findings: ranges
                .iter()
                .filter(|(_, [first, last])| (*first..=*last).contains(&number))
                .map(|(id, _)| *id)
                .collect(),
            begins: ranges
                .iter()
                .filter(|(_, [first, _])| *first == number)
                .map(|(id, _)| *id)
                .collect(),
        }
    };
    script.text.lines().enumerate().map(line).collect()
}
