//! A comparison on a terminal: the first line says what differs and why, big changes come first.

use std::fmt::{self, Write as _};

use anstyle::{AnsiColor, Effects, Style};
use report::format::{CHANGE, INPUT, LINE, Noun, OPERATOR, STAGE};
use runs::compare::{Comparison, FindingStatus, Pair, Reason, RunHeader, ScriptChange};

use super::{
    SHOWN, duration, estimates, finding_cost, grows, input_name, input_numbers, known, percent,
    stage_marks, stage_numbers, time_of, totals,
};
use crate::render::layout::{bar, shorten, width, wrap, wrap_items, wrap_names};
use crate::render::style::{self, BOLD, DIM, HEADING};
use crate::render::table::{Align, Table};
use crate::render::words::Words;

/// Cells of the bar that shows how much of the difference a reason explains.
const BAR: usize = 10;
/// Lines of the script's diff shown unless all are asked for.
const DIFF_LINES: usize = 40;
/// Columns of a name in a table before it is cut.
const NAME: usize = 30;

/// Renders a comparison with ANSI styles; the caller strips them where no terminal is. With `all`,
/// unchanged stages and every change are shown.
pub(crate) fn render(comparison: &Comparison, columns: usize, all: bool) -> String {
    let mut page = Page {
        out: String::new(),
        words: Words(comparison.language),
        columns,
        all,
    };
    // Writing to a string cannot fail.
    let _ = page.comparison(comparison);
    page.out
}

struct Page {
    out: String,
    words: Words,
    columns: usize,
    all: bool,
}

impl Page {
    fn comparison(&mut self, c: &Comparison) -> fmt::Result {
        for line in wrap(&c.headline, self.columns, "", "") {
            writeln!(self.out, "{BOLD}{line}{BOLD:#}")?;
        }
        writeln!(self.out)?;
        self.run("A", &c.a)?;
        self.run("B", &c.b)?;
        if !c.same_job {
            let yellow = AnsiColor::Yellow.on_default();
            for line in wrap(self.words.other_job(), self.columns, "", "") {
                writeln!(self.out, "{yellow}{line}{yellow:#}")?;
            }
        }
        self.reasons(&c.reasons)?;
        self.findings(c)?;
        self.totals(c)?;
        self.stages(c)?;
        self.plan(c)?;
        self.inputs(c)?;
        self.estimates(c)?;
        self.script(c)?;
        self.gaps(c)
    }

    fn run(&mut self, name: &str, run: &RunHeader) -> fmt::Result {
        let mut facts = vec![run.name.clone(), self.words.state(run.state).to_owned()];
        facts.extend(run.elapsed_seconds.map(|s| duration(s, self.words)));
        facts.push(self.words.verdict(run.verdict, &run.causes));
        facts.push(match &run.run_id {
            Some(id) => format!("{} {id}", self.words.run()),
            None => run.path.clone(),
        });
        let lines = wrap_names(&facts.join(" · "), self.columns - 3, "", "");
        for (n, line) in lines.iter().enumerate() {
            let mark = if n == 0 { name } else { " " };
            writeln!(self.out, "{BOLD}{mark}{BOLD:#}  {line}")?;
        }
        Ok(())
    }

    fn reasons(&mut self, reasons: &[Reason]) -> fmt::Result {
        self.heading(self.words.why())?;
        for reason in reasons {
            let cells = reason.share.map(|share| bar(share, BAR));
            let filled = cells.as_deref().unwrap_or("").trim_end();
            let empty = "·".repeat(BAR - filled.chars().count());
            let yellow = AnsiColor::Yellow.on_default();
            let share = match reason.share {
                Some(share) => format!("{:>6}", percent(share, self.words)),
                None => "     –".to_owned(),
            };
            write!(
                self.out,
                "  {yellow}{filled}{yellow:#}{DIM}{empty}{DIM:#} {share}  "
            )?;
            let indent = " ".repeat(BAR + 11);
            let text = format!(
                "{} · {} {}",
                reason.text,
                self.words.confidence(),
                percent(reason.confidence, self.words).replace(' ', "\u{a0}")
            );
            for (n, line) in wrap(&text, self.columns, &indent, &indent)
                .iter()
                .enumerate()
            {
                let shown = if n == 0 { line.trim_start() } else { line };
                writeln!(self.out, "{}", shown.replace('\u{a0}', " "))?;
            }
        }
        Ok(())
    }

    fn findings(&mut self, c: &Comparison) -> fmt::Result {
        if c.findings.is_empty() {
            return Ok(());
        }
        self.heading(self.words.findings())?;
        let statuses: Vec<&str> = c
            .findings
            .iter()
            .map(|f| self.words.finding_status(f.status))
            .collect();
        let widest = statuses.iter().map(|w| width(w)).max().unwrap_or(0);
        for (finding, word) in c.findings.iter().zip(statuses) {
            let style = match finding.status {
                FindingStatus::New | FindingStatus::Worse => AnsiColor::Red.on_default(),
                FindingStatus::Gone | FindingStatus::Better => AnsiColor::Green.on_default(),
                FindingStatus::Same => Style::new(),
            };
            let space = " ".repeat(widest - width(word));
            let place = finding.stage.as_deref().unwrap_or(self.words.whole_job());
            let mut parts = vec![format!("{} · {place}", finding.cause)];
            parts.extend(Some(finding_cost(finding, self.words)).filter(|cost| !cost.is_empty()));
            let severities =
                [finding.severity_a, finding.severity_b].map(|s| s.map(|s| self.words.severity(s)));
            parts.push(match severities {
                [Some(a), Some(b)] if a != b => format!("{a} → {b}"),
                [a, b] => b.or(a).unwrap_or_default().to_owned(),
            });
            let text = parts.join(" · ");
            writeln!(self.out, "  {style}{word}{style:#}{space}  {text}")?;
        }
        Ok(())
    }

    fn totals(&mut self, c: &Comparison) -> fmt::Result {
        let rows = totals(c, self.words);
        if rows.is_empty() {
            return Ok(());
        }
        self.heading(self.words.the_whole_job())?;
        let mut table = Table::new(&[
            ("", Align::Left),
            ("A", Align::Right),
            ("B", Align::Right),
            ("", Align::Right),
        ]);
        for row in rows {
            let change = marked(&row.change, row.grows.filter(|_| row.notable));
            table.row(vec![row.label, row.a, row.b, change]);
        }
        self.out.push_str(&table.render("  "));
        Ok(())
    }

    fn stages(&mut self, c: &Comparison) -> fmt::Result {
        if c.stages.is_empty() {
            return Ok(());
        }
        self.heading(self.words.stages_heading())?;
        let shown: Vec<_> = c
            .stages
            .iter()
            .filter(|s| self.all || s.notable)
            .take(if self.all { usize::MAX } else { SHOWN })
            .collect();
        let mut table = Table::new(&[
            (self.words.stage(), Align::Left),
            ("A", Align::Right),
            ("B", Align::Right),
            ("", Align::Right),
            ("", Align::Left),
        ]);
        for stage in &shown {
            let time = time_of(stage);
            let name = stage.b.as_ref().or(stage.a.as_ref());
            table.row(vec![
                shorten(name.map_or("", String::as_str), NAME),
                known(time.a, duration, self.words),
                known(time.b, duration, self.words),
                marked(
                    &signed(time, self.words),
                    grows(time).filter(|_| time.is_notable()),
                ),
                stage_marks(stage, self.words).join(", "),
            ]);
        }
        let rendered = table.render("  ");
        let mut lines = rendered.lines();
        if let Some(head) = lines.next() {
            writeln!(self.out, "{head}")?;
        }
        for (line, stage) in lines.zip(&shown) {
            writeln!(self.out, "{line}")?;
            for line in wrap_items(&stage_numbers(stage, self.words), self.columns - 4, "") {
                writeln!(self.out, "    {DIM}{line}{DIM:#}")?;
            }
        }
        self.more(
            c.stages.len() - shown.len(),
            STAGE,
            self.words.stages_alike(),
        )
    }

    fn plan(&mut self, c: &Comparison) -> fmt::Result {
        if c.plan.is_empty() {
            return Ok(());
        }
        self.heading(self.words.plan())?;
        let shown = if self.all { c.plan.len() } else { SHOWN };
        for change in c.plan.iter().take(shown) {
            let kind = self.words.plan_change(change.kind);
            let values = match (&change.a, &change.b) {
                (Some(a), Some(b)) => format!(": {a} → {b}"),
                (Some(one), None) | (None, Some(one)) => format!(": {one}"),
                (None, None) => String::new(),
            };
            let text = format!("{kind} {}{values}", change.place);
            for line in wrap_names(&text, self.columns, "  · ", "    ") {
                writeln!(self.out, "{line}")?;
            }
        }
        self.more(
            c.plan.len().saturating_sub(shown),
            CHANGE,
            self.words.more_changes(),
        )
    }

    fn inputs(&mut self, c: &Comparison) -> fmt::Result {
        let changed: Vec<(String, String)> = c
            .inputs
            .iter()
            .map(|i| {
                (
                    input_name(i, self.words),
                    input_numbers(i, self.words).join(" · "),
                )
            })
            .filter(|(_, numbers)| self.all || !numbers.is_empty())
            .collect();
        if c.inputs.is_empty() {
            return Ok(());
        }
        self.heading(self.words.inputs())?;
        for (name, numbers) in &changed {
            let text = if numbers.is_empty() {
                name.clone()
            } else {
                format!("{name}: {numbers}")
            };
            for line in wrap_names(&text, self.columns, "  · ", "    ") {
                writeln!(self.out, "{line}")?;
            }
        }
        self.more(
            c.inputs.len() - changed.len(),
            INPUT,
            self.words.inputs_alike(),
        )
    }

    fn estimates(&mut self, c: &Comparison) -> fmt::Result {
        if c.estimates.is_empty() {
            return Ok(());
        }
        self.heading(self.words.estimates())?;
        let mut table = Table::new(&[
            (self.words.operator(), Align::Left),
            ("A", Align::Right),
            ("B", Align::Right),
        ]);
        let shown = if self.all { c.estimates.len() } else { SHOWN };
        for change in c.estimates.iter().take(shown) {
            let [a, b] = estimates(change, self.words);
            table.row(vec![format!("{}/{}", change.stage, change.operator), a, b]);
        }
        self.out.push_str(&table.render("  "));
        self.more(
            c.estimates.len().saturating_sub(shown),
            OPERATOR,
            self.words.more_changes(),
        )
    }

    fn script(&mut self, c: &Comparison) -> fmt::Result {
        self.heading(self.words.script())?;
        let diff = match &c.script {
            ScriptChange::Same => return writeln!(self.out, "  {}", self.words.script_same()),
            ScriptChange::Unknown => {
                return writeln!(self.out, "  {}", self.words.script_unknown());
            }
            ScriptChange::Changed { diff, .. } => diff,
        };
        let all = diff.lines().count();
        let shown = if self.all { all } else { DIFF_LINES };
        self.out
            .push_str(&style::diff(diff.lines().take(shown), "  "));
        self.more(all.saturating_sub(shown), LINE, self.words.more_lines())
    }

    fn gaps(&mut self, c: &Comparison) -> fmt::Result {
        if c.not_compared.is_empty() {
            return Ok(());
        }
        self.heading(self.words.not_compared())?;
        for gap in &c.not_compared {
            for line in wrap(&gap.reason, self.columns, "  · ", "    ") {
                writeln!(self.out, "{line}")?;
            }
        }
        Ok(())
    }

    fn more(&mut self, n: usize, noun: Noun, what: &str) -> fmt::Result {
        if n == 0 {
            return Ok(());
        }
        let text = super::rest(n, noun, what, self.words);
        writeln!(self.out, "  {DIM}{text}{DIM:#}")
    }

    fn heading(&mut self, text: &str) -> fmt::Result {
        writeln!(self.out, "\n{HEADING}{text}{HEADING:#}")
    }
}

/// `+12.3 s`.
fn signed(pair: Pair, words: Words) -> String {
    match pair.difference() {
        Some(d) if d.abs() < 0.05 => "=".to_owned(),
        Some(d) if d < 0.0 => format!("−{}", duration(-d, words)),
        Some(d) => format!("+{}", duration(d, words)),
        None => String::new(),
    }
}

/// A change in red if it grows, in green if it shrinks; noise has no color.
fn marked(change: &str, grows: Option<bool>) -> String {
    let color = match grows {
        Some(true) => AnsiColor::Red,
        Some(false) => AnsiColor::Green,
        None => return change.to_owned(),
    };
    let style = color.on_default().effects(Effects::BOLD);
    format!("{style}{change}{style:#}")
}
