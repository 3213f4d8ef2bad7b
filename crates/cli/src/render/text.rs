//! A report on a terminal: the verdict first, then what to know and what to do, most seconds first.

use std::fmt::{self, Write as _};

use anstyle::{AnsiColor, Effects, Style};
use report::format::{Seconds, Share, figure};
use report::{Evidence, EvidenceValue, Experience, Finding, Report, Severity, Suggestion, Verdict};

use super::layout::{DiffPart, bar, width, wrap, wrap_items, wrap_names};
use super::words::Words;

/// Cells of the bar that shows the share of the run.
const BAR: usize = 20;
/// Columns before the place of a piece of evidence.
const EVIDENCE_INDENT: usize = 5;
/// Experiences shown per step unless all are asked for; the JSON report has every one.
const EXPERIENCES_SHOWN: usize = 2;

/// What to show, and in how many columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextOptions {
    pub(crate) columns: usize,
    /// Shows the THINK steps and every experience.
    pub(crate) verbose: bool,
}

/// Renders a report with ANSI styles; the caller strips them where no terminal is.
pub(crate) fn render(report: &Report, options: TextOptions) -> String {
    let mut page = Page {
        out: String::new(),
        words: Words(report.language),
        options,
    };
    // Writing to a string cannot fail.
    let _ = page.report(report);
    page.out
}

struct Page {
    out: String,
    words: Words,
    options: TextOptions,
}

impl Page {
    fn report(&mut self, report: &Report) -> fmt::Result {
        self.head(report)?;
        self.findings(report)?;
        self.suggestions(report)?;
        self.experiences(report)?;
        self.missing(report)?;
        self.diagnostics(report)?;
        if self.options.verbose {
            self.steps(report)?;
        }
        self.foot(report)
    }

    fn head(&mut self, report: &Report) -> fmt::Result {
        let style = match report.verdict {
            Verdict::Problem => AnsiColor::Red.on_default(),
            Verdict::Healthy => AnsiColor::Green.on_default(),
            Verdict::InsufficientInformation => AnsiColor::Yellow.on_default(),
        };
        let style = style.effects(Effects::BOLD);
        write!(
            self.out,
            "{style}{}{style:#}",
            self.words.verdict(report.verdict)
        )?;
        if report.verdict == Verdict::Problem {
            write!(
                self.out,
                " · {}",
                self.words.problem_type(report.problem_type)
            )?;
        }
        writeln!(self.out)?;
        let job = &report.job;
        let name = job
            .name
            .as_deref()
            .or(job.id.as_deref())
            .unwrap_or(&job.path);
        let mut facts = vec![format!("{} {name}", self.words.job())];
        facts.extend(self.words.job_facts(job));
        self.line(&facts.join(" · "), "", "")?;
        if let Some(question) = &report.question {
            self.line(&format!("{}: {question}", self.words.question()), "", "  ")?;
        }
        Ok(())
    }

    fn findings(&mut self, report: &Report) -> fmt::Result {
        self.heading(self.words.findings())?;
        if report.findings.is_empty() {
            return self.line(self.words.no_findings(report.verdict), "  ", "  ");
        }
        for (n, finding) in report.findings.iter().enumerate() {
            self.gap(n)?;
            self.finding(finding, &report.evidence)?;
        }
        Ok(())
    }

    fn finding(&mut self, finding: &Finding, evidence: &[Evidence]) -> fmt::Result {
        let style = severity_style(finding.severity);
        let place = finding.stage.as_deref().unwrap_or(self.words.whole_job());
        let severity = self.words.severity(finding.severity);
        let mut parts = vec![
            format!(
                "{style}{}{style:#} {BOLD}{}{}",
                finding.id,
                finding.cause,
                BOLD.render_reset()
            ),
            place.to_owned(),
        ];
        parts.extend(finding.script_lines.map(|l| self.words.script_lines(l)));
        parts.push(format!("{style}{severity}{style:#}"));
        parts.push(format!(
            "{} {}",
            self.words.confidence(),
            self.words.say(Share(finding.confidence))
        ));
        for line in wrap_items(&parts, self.options.columns, "   ") {
            writeln!(self.out, "{line}")?;
        }
        if let Some(impact) = &finding.impact {
            let saved = self.words.say(Seconds(impact.seconds_saved));
            match impact.share_of_elapsed {
                Some(share) => {
                    let cells = bar(share, BAR);
                    let filled = cells.trim_end();
                    let empty = "·".repeat(cells.len() - filled.len());
                    let (saves, share) = (self.words.saves(), self.words.share_of_run(share));
                    writeln!(
                        self.out,
                        "   {style}{filled}{style:#}{DIM}{empty}{DIM:#} {saves} {saved} ({share})"
                    )?;
                }
                None => writeln!(self.out, "   {} {saved}", self.words.saves())?,
            }
        }
        self.line(&finding.summary, "   ", "   ")?;
        for item in finding
            .evidence
            .iter()
            .filter_map(|id| evidence.iter().find(|e| e.id == *id))
        {
            self.evidence(item)?;
        }
        Ok(())
    }

    fn evidence(&mut self, item: &Evidence) -> fmt::Result {
        let mut text = format!("{} {}", item.id, item.text);
        if let Some(expected) = &item.expected {
            let _ = write!(text, " ({} {expected})", self.words.expected());
        }
        self.line(&text, "   · ", "     ")?;
        let place = match &item.source.locator {
            Some(locator) => format!("{} {locator}", item.source.file),
            None => item.source.file.clone(),
        };
        let fact = format!("{} = {}  [{place}]", item.metric, value(&item.value));
        for line in wrap_names(&fact, self.options.columns - EVIDENCE_INDENT, "", "  ") {
            writeln!(self.out, "{:EVIDENCE_INDENT$}{DIM}{line}{DIM:#}", "")?;
        }
        Ok(())
    }

    fn suggestions(&mut self, report: &Report) -> fmt::Result {
        if report.suggestions.is_empty() {
            return Ok(());
        }
        self.heading(self.words.suggestions())?;
        for (n, suggestion) in report.suggestions.iter().enumerate() {
            self.gap(n)?;
            self.suggestion(suggestion)?;
        }
        Ok(())
    }

    fn suggestion(&mut self, suggestion: &Suggestion) -> fmt::Result {
        let target = suggestion
            .finding
            .as_deref()
            .map(|f| format!(" → {f}"))
            .unwrap_or_default();
        let kind = self.words.suggestion_kind(suggestion.kind);
        let cyan = AnsiColor::Cyan.on_default();
        let head = format!("{}{target} [{kind}] ", suggestion.id);
        write!(
            self.out,
            "{cyan}{}{cyan:#}{target} [{kind}] ",
            suggestion.id
        )?;
        let title = wrap(
            &suggestion.title,
            self.options.columns,
            &" ".repeat(width(&head)),
            "   ",
        );
        for (n, line) in title.iter().enumerate() {
            let indent = if n == 0 { "" } else { "   " };
            writeln!(self.out, "{indent}{BOLD}{}{BOLD:#}", line.trim_start())?;
        }
        for (n, step) in suggestion.steps.iter().enumerate() {
            self.line(step, &format!("   {}. ", n + 1), "      ")?;
        }
        if let Some(diff) = &suggestion.diff {
            self.diff(diff)?;
            let remark = self.words.check_of(suggestion);
            writeln!(self.out, "   {DIM}{remark}{DIM:#}")?;
        }
        self.labelled(self.words.gain(), &suggestion.gain)?;
        self.labelled(
            self.words.pros(),
            &suggestion.pros.join(self.words.semicolon()),
        )?;
        self.labelled(
            self.words.cons(),
            &suggestion.cons.join(self.words.semicolon()),
        )?;
        self.labelled(
            self.words.unverified(),
            &suggestion.unverified.join(self.words.semicolon()),
        )?;
        if suggestion.sources.is_empty() {
            return Ok(());
        }
        let sources = format!(
            "{}: {}",
            self.words.experience(),
            suggestion.sources.join(", ")
        );
        let lines = wrap_names(&sources, self.options.columns, "   ", "     ");
        lines
            .iter()
            .try_for_each(|line| writeln!(self.out, "{line}"))
    }

    /// Lines are not wrapped: a diff is there to be copied.
    fn diff(&mut self, diff: &str) -> fmt::Result {
        for line in diff.lines() {
            let style = match DiffPart::of(line) {
                DiffPart::File => BOLD,
                DiffPart::Place => AnsiColor::Cyan.on_default(),
                DiffPart::Added => AnsiColor::Green.on_default(),
                DiffPart::Removed => AnsiColor::Red.on_default(),
                DiffPart::Kept => Style::new(),
            };
            writeln!(self.out, "   {style}{line}{style:#}")?;
        }
        Ok(())
    }

    fn experiences(&mut self, report: &Report) -> fmt::Result {
        if report.experiences.is_empty() {
            return Ok(());
        }
        self.heading(self.words.experience())?;
        let shown = if self.options.verbose {
            usize::MAX
        } else {
            EXPERIENCES_SHOWN
        };
        // A chunk that several steps were given stands once.
        let mut chunks: Vec<(&Experience, Vec<&str>)> = Vec::new();
        for experience in report
            .experiences
            .iter()
            .filter(|e| e.rank as usize <= shown)
        {
            match chunks
                .iter_mut()
                .find(|(known, _)| known.chunk == experience.chunk)
            {
                Some((_, steps)) => steps.push(&experience.step),
                None => chunks.push((experience, vec![&experience.step])),
            }
        }
        for (experience, steps) in chunks {
            self.line(&experience.title, "  · ", "    ")?;
            writeln!(
                self.out,
                "    {DIM}{}  ({}){DIM:#}",
                experience.chunk,
                steps.join(", ")
            )?;
        }
        Ok(())
    }

    fn missing(&mut self, report: &Report) -> fmt::Result {
        if report.missing_information.is_empty() {
            return Ok(());
        }
        self.heading(self.words.missing())?;
        for missing in &report.missing_information {
            let present = if missing.present {
                self.words.in_folder()
            } else {
                self.words.not_in_folder()
            };
            let causes = report::codes(&missing.would_decide);
            let text = format!(
                "{} ({present}) · {} · {}: {causes}",
                missing.file,
                missing.info,
                self.words.would_decide()
            );
            self.line(&text, "  · ", "    ")?;
            self.line(&missing.reason, "    ", "    ")?;
        }
        Ok(())
    }

    fn diagnostics(&mut self, report: &Report) -> fmt::Result {
        if report.diagnostics.is_empty() {
            return Ok(());
        }
        self.heading(self.words.diagnostics())?;
        for diagnostic in &report.diagnostics {
            let place = [diagnostic.file.as_deref(), diagnostic.locator.as_deref()];
            let place: Vec<&str> = place.into_iter().flatten().collect();
            self.line(
                &format!("{}: {}", place.join(" "), diagnostic.message),
                "  · ",
                "    ",
            )?;
            if let Some(hint) = &diagnostic.hint {
                self.line(&format!("{}: {hint}", self.words.hint()), "    ", "    ")?;
            }
        }
        Ok(())
    }

    fn steps(&mut self, report: &Report) -> fmt::Result {
        self.heading(self.words.steps())?;
        for (n, step) in report.steps.iter().enumerate() {
            writeln!(
                self.out,
                "{BOLD}[THINK {}] {}{BOLD:#} {DIM}{}{DIM:#}",
                n + 1,
                step.title,
                self.words.say(Seconds(step.elapsed_ms / 1000.0))
            )?;
            self.line(&step.text, "   ", "   ")?;
        }
        let files: Vec<&str> = report.files_read.iter().map(|f| f.file.as_str()).collect();
        self.line(
            &format!("{}: {}", self.words.files_read(), files.join(", ")),
            "",
            "  ",
        )
    }

    fn foot(&mut self, report: &Report) -> fmt::Result {
        let engine = &report.engine;
        let who = match (&engine.provider, &engine.model) {
            (Some(provider), Some(model)) => format!("{provider} {model}"),
            (None, Some(model)) => model.clone(),
            _ => self.words.offline().to_owned(),
        };
        writeln!(self.out)?;
        if let Some(fallback) = &engine.fallback {
            self.line(fallback, "", "")?;
        }
        writeln!(
            self.out,
            "{DIM}{}: {who} · {} {}{DIM:#}",
            self.words.reasoned_by(),
            self.words.run(),
            report.run_id
        )
    }

    /// An empty line before every item but the first.
    fn gap(&mut self, n: usize) -> fmt::Result {
        if n > 0 { writeln!(self.out) } else { Ok(()) }
    }

    fn heading(&mut self, text: &str) -> fmt::Result {
        writeln!(self.out, "\n{HEADING}{text}{HEADING:#}")
    }

    fn labelled(&mut self, label: &str, text: &str) -> fmt::Result {
        if text.is_empty() {
            return Ok(());
        }
        self.line(&format!("{label}: {text}"), "   ", "     ")
    }

    fn line(&mut self, text: &str, first: &str, rest: &str) -> fmt::Result {
        wrap(text, self.options.columns, first, rest)
            .iter()
            .try_for_each(|line| writeln!(self.out, "{line}"))
    }
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const HEADING: Style = Style::new().bold().underline();

fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Critical | Severity::High => AnsiColor::Red.on_default(),
        Severity::Medium => AnsiColor::Yellow.on_default(),
        Severity::Low => AnsiColor::Blue.on_default(),
    }
}

/// A value as it is shown: at least three digits, thousands grouped.
pub(crate) fn value(value: &EvidenceValue) -> String {
    match value {
        EvidenceValue::Number(n) => figure(*n),
        EvidenceValue::Text(text) => text.clone(),
        EvidenceValue::Bool(yes) => yes.to_string(),
    }
}
