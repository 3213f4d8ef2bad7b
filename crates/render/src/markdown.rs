//! A report as Markdown, to be pasted into a ticket.

use std::fmt::{self, Write as _};

use report::format::Seconds;
use report::{Finding, Report, Suggestion, Verdict};

use super::account;
use super::parts::{self, EXPERIENCES_SHOWN};
use super::words::Words;
use crate::shown;
use report::markdown::{code, escaped, fenced};

/// Kinds of time by name in a row of the account.
const NAMES: usize = 4;

/// Renders a report.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    let report = &shown(report);
    // Writing to a string cannot fail.
    let _ = write_report(&mut out, report, Words::of(report));
    out
}

fn write_report(out: &mut String, report: &Report, words: Words) -> fmt::Result {
    let job = &report.job;
    writeln!(
        out,
        "# {}{}{}\n",
        escaped(job.label()),
        words.colon(),
        escaped(&words.headline(report))
    )?;
    let facts = words.job_facts(report);
    if !facts.is_empty() {
        writeln!(out, "{}\n", escaped(&facts.join(" · ")))?;
    }
    if let Some(question) = &report.question {
        writeln!(out, "> {}\n", escaped(question))?;
    }
    if let Some(answer) = &report.answer {
        writeln!(out, "{}\n", escaped(&answer.text))?;
    }
    if let Some((label, fix)) = words.fix_first(report) {
        writeln!(out, "**{label}**{}{}\n", words.colon(), escaped(&fix))?;
    }
    let is_open = report.verdict == Verdict::InsufficientInformation;
    if is_open {
        write_missing(out, report, words)?;
    }
    write_time(out, report, words)?;
    if !report.findings.is_empty() {
        writeln!(out, "## {}\n", words.findings())?;
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
    if !is_open {
        write_missing(out, report, words)?;
    }
    write_experiences(out, report, words)?;
    write_diagnostics(out, report, words)?;
    match report.run_id.as_str() {
        "" => Ok(()),
        id => writeln!(out, "{}{}{}", words.run(), words.colon(), code(id)),
    }
}

/// The time account, by start time.
fn write_time(out: &mut String, report: &Report, words: Words) -> fmt::Result {
    let totals = account::totals(report, words);
    if totals.is_empty() {
        return Ok(());
    }
    writeln!(out, "## {}\n\n{}\n", words.time(), totals.join(" · "))?;
    let Some(time) = &report.time else {
        return Ok(());
    };
    let heads = [
        words.what(),
        words.stage(),
        words.from(),
        words.seconds(),
        words.share(),
        words.finding(),
    ];
    writeln!(out, "| {} |\n|---|---|--:|--:|--:|---|", heads.join(" | "))?;
    for row in account::short_rows(time, account::ROWS) {
        let from = words.say(Seconds(row.start_seconds()));
        let (seconds, share) = row.amounts(time, words);
        let (title, place, findings) = (
            row.title(NAMES, words),
            row.place(words),
            row.findings.join(" "),
        );
        writeln!(
            out,
            "| {title} | {} | {from} | {seconds} | {share} | {findings} |",
            escaped(&place)
        )?;
    }
    writeln!(out)
}

fn write_missing(out: &mut String, report: &Report, words: Words) -> fmt::Result {
    if report.missing_information.is_empty() {
        return Ok(());
    }
    writeln!(out, "## {}\n", words.missing())?;
    for gap in parts::gaps(report) {
        let files: Vec<String> = gap.files.iter().map(|f| code(f)).collect();
        let (files, reason) = (files.join(words.comma()), escaped(&gap.reason(words)));
        let colon = words.colon();
        writeln!(
            out,
            "- {files}{}{colon}{reason}",
            escaped(&gap.facts(words))
        )?;
    }
    writeln!(out)
}

fn write_experiences(out: &mut String, report: &Report, words: Words) -> fmt::Result {
    let shown = parts::consulted(report, EXPERIENCES_SHOWN);
    if shown.is_empty() {
        return Ok(());
    }
    writeln!(out, "## {}\n", words.experience())?;
    for consulted in shown {
        let title = escaped(consulted.title);
        writeln!(out, "- {title} ({})", code(consulted.document))?;
    }
    writeln!(out)
}

fn write_diagnostics(out: &mut String, report: &Report, words: Words) -> fmt::Result {
    if report.diagnostics.is_empty() {
        return Ok(());
    }
    writeln!(out, "## {}\n", words.diagnostics())?;
    for diagnostic in &report.diagnostics {
        let hint = diagnostic
            .hint
            .as_ref()
            .map(|hint| format!(" {}{}{}", words.hint(), words.colon(), escaped(hint)))
            .unwrap_or_default();
        writeln!(
            out,
            "- {}{}{}{hint}",
            escaped(&parts::place(diagnostic)),
            words.colon(),
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
    let title = words.cause(finding.cause);
    let facts = escaped(&words.finding_facts(finding).join(" · "));
    writeln!(
        out,
        "### {} {title} (`{}`) · {facts}\n",
        finding.id, finding.cause
    )?;
    writeln!(out, "{}\n", escaped(&finding.summary))?;
    if let Some(saving) = words.saving(finding, report) {
        writeln!(out, "**{saving}**\n")?;
    }
    writeln!(
        out,
        "| {} | | | | |\n|---|---|---|---|---|",
        words.evidence()
    )?;
    for item in report.evidence_of(&finding.evidence) {
        let locator = item.source.locator.as_deref().unwrap_or("");
        let expected = escaped(&words.expectation(item));
        writeln!(
            out,
            "| {} | {}{expected} | {} | {} | {} |",
            item.id,
            escaped(&item.text),
            escaped(&item.metric),
            escaped(&words.amount(item)),
            code(format!("{} {locator}", item.source.file).trim_end())
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
        "### {}{target} [{}]: {}\n",
        suggestion.id,
        words.kind_of(suggestion),
        escaped(&suggestion.title)
    )?;
    for (n, step) in suggestion.steps.iter().enumerate() {
        writeln!(out, "{}. {}", n + 1, escaped(step))?;
    }
    let settings = words.settings(suggestion);
    if !settings.is_empty() && !suggestion.steps.is_empty() {
        writeln!(out)?;
    }
    for [assignment, why] in settings {
        writeln!(
            out,
            "- {}{}{}",
            code(&assignment),
            words.colon(),
            escaped(&why)
        )?;
    }
    if let Some(diff) = &suggestion.diff {
        writeln!(out, "\n{}", fenced("diff", diff))?;
    }
    if suggestion.verified.is_some() {
        writeln!(out, "\n{}", words.check_of(suggestion))?;
    }
    writeln!(out)?;
    for (label, text) in words.remarks(suggestion) {
        writeln!(out, "- {label}{}{}", words.colon(), escaped(&text))?;
    }
    if !suggestion.sources.is_empty() {
        let sources: Vec<String> = suggestion.sources.iter().map(|s| code(s)).collect();
        let sources = sources.join(words.comma());
        writeln!(out, "- {}{}{sources}", words.experience(), words.colon())?;
    }
    writeln!(out)
}
