//! The outcome of each rule, for `--explain-rules`: fired, cleared or abstained, with the facts
//! that it held against its thresholds.

use anstyle::AnsiColor;
use report::{Evidence, Report, RuleResult};

use super::layout::{pad, wrap};
use super::style::{DIM, HEADING};
use super::words::Words;
use crate::shown;

/// Columns of the longest code.
const CODE: usize = 30;

/// Renders the outcomes and the findings that are too small to matter.
pub fn render(report: &Report, columns: usize) -> String {
    let report = &shown(report);
    let words = Words::of(report);
    let mut out = format!("\n{HEADING}{}{HEADING:#}\n", words.rules());
    for rule in &report.rules {
        let (color, name) = match rule.outcome {
            RuleResult::Fired => (AnsiColor::Red, words.fired()),
            RuleResult::Cleared => (AnsiColor::Green, words.cleared()),
            RuleResult::Abstained => (AnsiColor::Yellow, words.abstained()),
            RuleResult::NotApplicable => (AnsiColor::Green, words.not_applicable()),
            RuleResult::Explained => (AnsiColor::Green, words.explained()),
        };
        let style = color.on_default();
        let by = rule
            .by
            .as_ref()
            .map_or_else(String::new, |id| format!(" → {id}"));
        out += &format!(
            "  {} {style}{name}{style:#}{by}\n",
            pad(rule.cause.code(), CODE)
        );
        for line in wrap(&rule.text, columns, "      ", "      ") {
            out += &format!("{line}\n");
        }
        for item in report.evidence_of(&rule.evidence) {
            out += &fact(item, words);
        }
    }
    for note in &report.notes {
        for line in wrap(
            &format!("{}{}{}", note.cause, words.colon(), note.summary),
            columns,
            "  · ",
            "    ",
        ) {
            out += &format!("{line}\n");
        }
    }
    out
}

fn fact(item: &Evidence, words: Words) -> String {
    let (metric, amount) = (&item.metric, words.amount(item));
    let expected = words.expectation(item);
    format!("      {DIM}{metric} = {amount}{expected}{DIM:#}\n")
}
