//! The totals of a batch, as a table.

use crate::batch::Summary;

use report::format::{JOB, Seconds, Share};
use report::{Language, Localize};

use super::table::{Align, Table};

/// The causes with their jobs and seconds, then the whole.
pub(crate) fn table(summary: &Summary, new: usize, took_seconds: f64) -> String {
    let mut table = Table::new(&[
        ("cause", Align::Left),
        ("jobs", Align::Right),
        ("findings", Align::Right),
        ("would save", Align::Right),
    ]);
    for (cause, of) in summary.ranked() {
        table.row(vec![
            cause.to_owned(),
            of.jobs.to_string(),
            of.findings.to_string(),
            if of.seconds_saved > 0.0 {
                say(Seconds(of.seconds_saved))
            } else {
                "–".to_owned()
            },
        ]);
    }
    let mut out = table.render("  ");
    if !out.is_empty() {
        out.push('\n');
    }
    let bold = anstyle::Style::new().bold();
    out.push_str(&format!(
        "{bold}{}{bold:#}: {} with a problem, {} healthy, {} inconclusive, {} unreadable\n",
        say(JOB.count((summary.done + summary.failed) as f64)),
        summary.problem,
        summary.healthy,
        summary.insufficient_information,
        summary.failed
    ));
    if summary.elapsed_seconds > 0.0 {
        out.push_str(&format!(
            "total run time {}; fixing the costliest finding of each job would save {} ({})\n",
            say(Seconds(summary.elapsed_seconds)),
            say(Seconds(summary.seconds_saved)),
            say(Share(summary.seconds_saved / summary.elapsed_seconds))
        ));
    }
    out.push_str(&format!(
        "{new} analyzed in {} ({:.1} jobs per second)\n",
        say(Seconds(took_seconds)),
        new as f64 / took_seconds.max(0.001)
    ));
    out
}

fn say(value: impl Localize) -> String {
    value.localize(Language::En)
}
