//! A report as Markdown, to be pasted into a ticket.

use std::fmt::{self, Write as _};

use report::format::{Seconds, Share};
use report::{Finding, Report, Suggestion, Verdict};

use super::text::value;
use super::words::Words;

/// Experiences shown per step; the JSON report has every one.
const EXPERIENCES_SHOWN: u32 = 2;

/// Renders a report.
pub(crate) fn render(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_report(&mut out, report, Words(report.language));
    out
}

fn write_report(out: &mut String, report: &Report, words: Words) -> fmt::Result {
    let job = &report.job;
    let name = job
        .name
        .as_deref()
        .or(job.id.as_deref())
        .unwrap_or(&job.path);
    writeln!(
        out,
        "# {}: {}\n",
        escaped(name),
        words.verdict(report.verdict)
    )?;
    let mut facts = Vec::new();
    if report.verdict == Verdict::Problem {
        facts.push(words.problem_type(report.problem_type).to_owned());
    }
    facts.extend(words.job_facts(job));
    if !facts.is_empty() {
        writeln!(out, "{}\n", facts.join(" · "))?;
    }
    if let Some(question) = &report.question {
        writeln!(out, "> {}\n", escaped(question))?;
    }
    writeln!(out, "## {}\n", words.findings())?;
    if report.findings.is_empty() {
        writeln!(out, "{}\n", words.no_findings(report.verdict))?;
    }
    for finding in &report.findings {
        write_finding(out, finding, report, words)?;
    }
    if !report.suggestions.is_empty() {
        writeln!(out, "## {}\n", words.suggestions())?;
        report
            .suggestions
            .iter()
            .try_for_each(|s| write_suggestion(out, s, words))?;
    }
    if !report.missing_information.is_empty() {
        writeln!(out, "## {}\n", words.missing())?;
        for missing in &report.missing_information {
            let causes = report::codes(&missing.would_decide);
            writeln!(
                out,
                "- `{}` ({}): {} {}: {causes}",
                missing.file,
                missing.info,
                escaped(&missing.reason),
                words.would_decide()
            )?;
        }
        writeln!(out)?;
    }
    write_experiences(out, report, words)?;
    write_diagnostics(out, report, words)?;
    writeln!(out, "{}: `{}`", words.run(), report.run_id)
}

/// The chunks that the steps were given, each once, the first of each step.
fn write_experiences(out: &mut String, report: &Report, words: Words) -> fmt::Result {
    let mut listed: Vec<&str> = Vec::new();
    for experience in report
        .experiences
        .iter()
        .filter(|e| e.rank <= EXPERIENCES_SHOWN)
    {
        if listed.contains(&experience.chunk.as_str()) {
            continue;
        }
        if listed.is_empty() {
            writeln!(out, "## {}\n", words.experience())?;
        }
        listed.push(&experience.chunk);
        writeln!(
            out,
            "- {} (`{}`)",
            escaped(&experience.title),
            experience.chunk
        )?;
    }
    if listed.is_empty() {
        Ok(())
    } else {
        writeln!(out)
    }
}

fn write_diagnostics(out: &mut String, report: &Report, words: Words) -> fmt::Result {
    if report.diagnostics.is_empty() {
        return Ok(());
    }
    writeln!(out, "## {}\n", words.diagnostics())?;
    for diagnostic in &report.diagnostics {
        let place = [diagnostic.file.as_deref(), diagnostic.locator.as_deref()];
        let place: Vec<&str> = place.into_iter().flatten().collect();
        let hint = diagnostic
            .hint
            .as_ref()
            .map(|hint| format!(" {}: {}", words.hint(), escaped(hint)))
            .unwrap_or_default();
        writeln!(
            out,
            "- {}: {}{hint}",
            escaped(&place.join(" ")),
            escaped(&diagnostic.message)
        )?;
    }
    writeln!(out)
}

fn write_finding(
    out: &mut String,
    finding: &Finding,
    report: &Report,
    words: Words,
) -> fmt::Result {
    let place = finding.stage.as_deref().unwrap_or(words.whole_job());
    let lines = finding
        .script_lines
        .map(|lines| format!(" · {}", words.script_lines(lines)))
        .unwrap_or_default();
    writeln!(
        out,
        "### {} `{}` · {place}{lines} · {} · {} {}\n",
        finding.id,
        finding.cause,
        words.severity(finding.severity),
        words.confidence(),
        words.say(Share(finding.confidence))
    )?;
    writeln!(out, "{}\n", escaped(&finding.summary))?;
    if let Some(impact) = &finding.impact {
        let share = impact
            .share_of_elapsed
            .map(|s| format!(" ({})", words.share_of_run(s)))
            .unwrap_or_default();
        writeln!(
            out,
            "**{} {}**{share}\n",
            words.saves(),
            words.say(Seconds(impact.seconds_saved))
        )?;
    }
    writeln!(
        out,
        "| {} | | | | |\n|---|---|---|---|---|",
        words.evidence()
    )?;
    for item in finding
        .evidence
        .iter()
        .filter_map(|id| report.evidence.iter().find(|e| e.id == *id))
    {
        let locator = item.source.locator.as_deref().unwrap_or("");
        let unit = item.unit.as_deref().unwrap_or("");
        let expected = item
            .expected
            .as_ref()
            .map(|e| format!(" ({} {})", words.expected(), cell(e)))
            .unwrap_or_default();
        writeln!(
            out,
            "| {} | {}{expected} | {} | {} {unit} | `{} {}` |",
            item.id,
            escaped(&item.text),
            cell(&item.metric),
            cell(&value(&item.value)),
            cell(&item.source.file),
            cell(locator)
        )?;
    }
    writeln!(out)
}

fn write_suggestion(out: &mut String, suggestion: &Suggestion, words: Words) -> fmt::Result {
    let target = suggestion
        .finding
        .as_deref()
        .map(|f| format!(" → {f}"))
        .unwrap_or_default();
    writeln!(
        out,
        "### {}{target}: {}\n",
        suggestion.id,
        escaped(&suggestion.title)
    )?;
    for (n, step) in suggestion.steps.iter().enumerate() {
        writeln!(out, "{}. {}", n + 1, escaped(step))?;
    }
    if let Some(diff) = &suggestion.diff {
        writeln!(out, "\n```diff\n{}\n```", diff.trim_end())?;
        writeln!(out, "\n{}", words.check_of(suggestion))?;
    }
    writeln!(out, "\n- {}: {}", words.gain(), escaped(&suggestion.gain))?;
    for (label, items) in [
        (words.pros(), &suggestion.pros),
        (words.cons(), &suggestion.cons),
        (words.unverified(), &suggestion.unverified),
    ] {
        if !items.is_empty() {
            let items = items.join(words.semicolon());
            writeln!(out, "- {label}: {}", escaped(&items))?;
        }
    }
    if !suggestion.sources.is_empty() {
        let sources: Vec<String> = suggestion
            .sources
            .iter()
            .map(|s| format!("`{s}`"))
            .collect();
        writeln!(out, "- {}: {}", words.experience(), sources.join(", "))?;
    }
    writeln!(out)
}

/// Text of a job in Markdown: marks that would format it are shown as they are.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '_' | '<' | '>' | '[' | ']' | '`' | '#' | '|') {
            out.push('\\');
        }
        out.push(if c == '\n' { ' ' } else { c });
    }
    out
}

pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
