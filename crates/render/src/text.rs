//! A report on a terminal: the verdict first, then what to know and what to do, most seconds first.

use std::fmt::{self, Write as _};

use anstyle::AnsiColor;
use report::format::Seconds;
use report::{Evidence, Finding, Report, Suggestion, Verdict, text};

use super::account;
use super::layout::{bar, width, wrap, wrap_items, wrap_names};
use super::parts::{self, EVIDENCE_SHOWN, EXPERIENCES_SHOWN};
use super::style::{self, BOLD, DIM, HEADING};
use super::words::Words;
use crate::shown;

/// Cells of the bar that shows the share of the run.
const BAR: usize = 20;
/// Columns before the place of a piece of evidence.
const EVIDENCE_INDENT: usize = 5;
/// What to show, and in how many columns.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    pub columns: usize,
    /// Columns of drawings, which may be wider than text.
    pub drawing: usize,
    /// Shows the THINK steps, all evidence with its source, every diff and every experience.
    pub verbose: bool,
}

/// Renders a report with ANSI styles; the caller strips them outside of a terminal.
pub fn render(report: &Report, options: TextOptions) -> String {
    let report = &shown(report);
    let mut page = Page {
        out: String::new(),
        words: Words::of(report),
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
        let is_open = report.verdict == Verdict::InsufficientInformation;
        if is_open {
            self.missing(report)?;
        }
        self.time(report)?;
        self.findings(report)?;
        self.suggestions(report)?;
        self.experiences(report)?;
        if !is_open {
            self.missing(report)?;
        }
        self.diagnostics(report)?;
        if self.options.verbose {
            self.steps(report)?;
        }
        self.foot(report)
    }

    fn head(&mut self, report: &Report) -> fmt::Result {
        if report.partial {
            self.line(self.words.is_partial(), "", "")?;
        }
        if let Some(fallback) = &report.engine.fallback {
            self.line(fallback, "", "")?;
        }
        let style = style::verdict(report.verdict);
        let headline = self.words.headline(report);
        for line in wrap_names(&headline, self.options.columns, "", "  ") {
            writeln!(self.out, "{style}{line}{style:#}")?;
        }
        let job = &report.job;
        let mut facts = vec![format!("{} {}", self.words.subject(), job.label())];
        facts.extend(self.words.job_facts(report));
        self.line(&facts.join(" · "), "", "")?;
        if let Some(question) = &report.question {
            self.labelled(self.words.question(), question, "")?;
        }
        if let Some(answer) = &report.answer {
            self.labelled(self.words.answer(), &answer.text, "")?;
        }
        match self.words.fix_first(report) {
            Some((label, fix)) => self.labelled(&format!("{BOLD}{label}{BOLD:#}"), &fix, ""),
            None => Ok(()),
        }
    }

    fn time(&mut self, report: &Report) -> fmt::Result {
        let lines = account::waterfall(report, self.words, self.options.drawing);
        if lines.is_empty() {
            return Ok(());
        }
        self.heading(self.words.time())?;
        lines
            .iter()
            .try_for_each(|line| writeln!(self.out, "{line}"))
    }

    fn findings(&mut self, report: &Report) -> fmt::Result {
        if report.findings.is_empty() {
            return Ok(());
        }
        self.heading(self.words.findings())?;
        for (n, finding) in report.findings.iter().enumerate() {
            self.gap(n)?;
            self.finding(finding, report)?;
        }
        Ok(())
    }

    fn finding(&mut self, finding: &Finding, report: &Report) -> fmt::Result {
        let style = style::severity(finding.severity);
        let title = self.words.cause(finding.cause);
        let mut parts = vec![
            format!("{style}{}{style:#} {BOLD}{title}{BOLD:#}", finding.id),
            finding.cause.to_string(),
        ];
        parts.extend(self.words.finding_facts(finding));
        for line in wrap_items(&parts, self.options.columns, "   ") {
            writeln!(self.out, "{line}")?;
        }
        if let Some(saving) = self.words.saving(finding, report) {
            let share = Words::saved_share(finding, report);
            let drawn = share.map(|share| {
                let cells = bar(share, BAR);
                let filled = cells.trim_end();
                let empty = "·".repeat(cells.len() - filled.len());
                format!("{style}{filled}{style:#}{DIM}{empty}{DIM:#} ")
            });
            writeln!(self.out, "   {}{saving}", drawn.unwrap_or_default())?;
        }
        self.line(&finding.summary, "   ", "   ")?;
        let all: Vec<&Evidence> = report.evidence_of(&finding.evidence).collect();
        if self.options.verbose {
            return all.into_iter().try_for_each(|item| self.sourced(item));
        }
        let shown = parts::telling(&all, EVIDENCE_SHOWN);
        shown.iter().try_for_each(|item| self.evidence(item))?;
        match all.len() - shown.len() {
            0 => Ok(()),
            more => {
                let more = self
                    .words
                    .say(text!("另有 {more} 条：-v", "{more} more: -v"));
                writeln!(self.out, "   {DIM}· {more}{DIM:#}")
            }
        }
    }

    fn evidence(&mut self, item: &Evidence) -> fmt::Result {
        let text = format!("{} {}{}", item.id, item.text, self.words.expectation(item));
        self.line(&text, "   · ", "     ")
    }

    /// A piece of evidence with its metric, file and place.
    fn sourced(&mut self, item: &Evidence) -> fmt::Result {
        self.evidence(item)?;
        let place = match &item.source.locator {
            Some(locator) => format!("{} {locator}", item.source.file),
            None => item.source.file.clone(),
        };
        let fact = format!("{}  [{place}]", self.words.measured(item));
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
            let earlier = &report.suggestions[..n];
            let is_alternative = suggestion.finding.is_some()
                && earlier.iter().any(|s| s.finding == suggestion.finding);
            self.suggestion(suggestion, report, is_alternative)?;
        }
        Ok(())
    }

    /// A suggestion; the diff of an `alternative` only on demand.
    fn suggestion(
        &mut self,
        suggestion: &Suggestion,
        report: &Report,
        alternative: bool,
    ) -> fmt::Result {
        let target = suggestion
            .finding
            .as_deref()
            .map(|f| format!(" → {f}"))
            .unwrap_or_default();
        let kind = self.words.kind_of(suggestion);
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
        for [assignment, why] in self.words.settings(suggestion) {
            let line = format!("{assignment}{}{why}", self.words.colon());
            self.line(&line, "   ", "      ")?;
        }
        match &suggestion.diff {
            Some(_) if alternative && !self.options.verbose => {
                let command = format!("scopeagent fix {} {}", report.run_id, suggestion.id);
                writeln!(self.out, "   diff{}`{command}`", self.words.colon())?;
            }
            Some(diff) => self.out.push_str(&style::diff(diff.lines(), "   ")),
            None => {}
        }
        let check = self.words.check_of(suggestion);
        for line in wrap(check, self.options.columns, "   ", "   ") {
            writeln!(self.out, "{DIM}{line}{DIM:#}")?;
        }
        let mut remarks = self.words.remarks(suggestion);
        if !self.options.verbose && parts::saves_as_found(suggestion, report) {
            remarks.retain(|(label, _)| *label != self.words.gain());
        }
        for (label, text) in remarks {
            self.labelled(label, &text, "   ")?;
        }
        if suggestion.sources.is_empty() {
            return Ok(());
        }
        let label = self.words.experience();
        let sources = suggestion.sources.join(self.words.comma());
        let sources = format!("{label}{}{sources}", self.words.colon());
        let lines = wrap_names(&sources, self.options.columns, "   ", "     ");
        lines
            .iter()
            .try_for_each(|line| writeln!(self.out, "{line}"))
    }

    fn experiences(&mut self, report: &Report) -> fmt::Result {
        if report.experiences.is_empty() {
            return Ok(());
        }
        self.heading(self.words.experience())?;
        let shown = if self.options.verbose {
            u32::MAX
        } else {
            EXPERIENCES_SHOWN
        };
        for consulted in parts::consulted(report, shown) {
            let text = format!("{}  {}", consulted.title, consulted.document);
            self.line(&text, "  · ", "    ")?;
        }
        Ok(())
    }

    fn missing(&mut self, report: &Report) -> fmt::Result {
        if report.missing_information.is_empty() {
            return Ok(());
        }
        self.heading(self.words.missing())?;
        for gap in parts::gaps(report) {
            let text = format!("{}{}", gap.file_list(self.words), gap.facts(self.words));
            self.line(&text, "  · ", "    ")?;
            self.line(&gap.reason(self.words), "    ", "    ")?;
        }
        Ok(())
    }

    fn diagnostics(&mut self, report: &Report) -> fmt::Result {
        if report.diagnostics.is_empty() {
            return Ok(());
        }
        self.heading(self.words.diagnostics())?;
        for diagnostic in &report.diagnostics {
            let place = parts::place(diagnostic);
            let text = format!("{place}{}{}", self.words.colon(), diagnostic.message);
            self.line(&text, "  · ", "    ")?;
            if let Some(hint) = &diagnostic.hint {
                self.labelled(self.words.hint(), hint, "    ")?;
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
        let files = files.join(self.words.comma());
        self.labelled(self.words.files_read(), &files, "")
    }

    fn foot(&mut self, report: &Report) -> fmt::Result {
        writeln!(self.out)?;
        let (by, colon, run) = (
            self.words.reasoned_by(),
            self.words.colon(),
            self.words.run(),
        );
        let who = self.words.reasoner(report);
        let run = match report.run_id.as_str() {
            "" => String::new(),
            id => format!(" · {run} {id}"),
        };
        writeln!(self.out, "{DIM}{by}{colon}{who}{run}{DIM:#}")
    }

    /// An empty line before every item but the first.
    fn gap(&mut self, n: usize) -> fmt::Result {
        if n > 0 { writeln!(self.out) } else { Ok(()) }
    }

    fn heading(&mut self, text: &str) -> fmt::Result {
        writeln!(self.out, "\n{HEADING}{text}{HEADING:#}")
    }

    fn labelled(&mut self, label: &str, text: &str, indent: &str) -> fmt::Result {
        let text = format!("{label}{}{text}", self.words.colon());
        self.line(&text, indent, &format!("{indent}  "))
    }

    fn line(&mut self, text: &str, first: &str, rest: &str) -> fmt::Result {
        wrap(text, self.options.columns, first, rest)
            .iter()
            .try_for_each(|line| writeln!(self.out, "{line}"))
    }
}
