//! Styles of a terminal.

use anstyle::{AnsiColor, Effects, Style};
use report::{Severity, Verdict};

use super::layout::DiffPart;

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const HEADING: Style = Style::new().bold().underline();

pub fn verdict(verdict: Verdict) -> Style {
    let color = match verdict {
        Verdict::Problem => AnsiColor::Red,
        Verdict::Healthy => AnsiColor::Green,
        Verdict::InsufficientInformation => AnsiColor::Yellow,
    };
    color.on_default().effects(Effects::BOLD)
}

pub fn severity(severity: Severity) -> Style {
    match severity {
        Severity::Critical | Severity::High => AnsiColor::Red.on_default(),
        Severity::Medium => AnsiColor::Yellow.on_default(),
        Severity::Low => AnsiColor::Blue.on_default(),
    }
}

/// A diff with indented lines. They are not wrapped, so that the diff can be copied.
pub fn diff<'a>(lines: impl Iterator<Item = &'a str>, indent: &str) -> String {
    let line = |line| {
        let style = match DiffPart::of(line) {
            DiffPart::File => BOLD,
            DiffPart::Place => AnsiColor::Cyan.on_default(),
            DiffPart::Added => AnsiColor::Green.on_default(),
            DiffPart::Removed => AnsiColor::Red.on_default(),
            DiffPart::Kept => Style::new(),
        };
        format!("{indent}{style}{line}{style:#}\n")
    };
    lines.map(line).collect()
}
