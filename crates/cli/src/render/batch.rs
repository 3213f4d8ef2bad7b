//! How far a batch is, and the totals of its results as a table.

use batch::{Progress, Summary};
use report::format::{JOB, Seconds, Share};
use report::{Language, Localize};

use super::table::{Align, Table};

/// The causes with their jobs and seconds, then the whole.
pub(crate) fn table(summary: &Summary, progress: &Progress) -> String {
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
    let analyzed = summary.done + summary.failed;
    out.push_str(&format!(
        "{bold}{}{bold:#}: {} with a problem, {} healthy, {} inconclusive, {} failed\n",
        say(JOB.count(analyzed as f64)),
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
        "{analyzed} analyzed in {} ({:.1} jobs per second), {} had a result already\n",
        say(Seconds(progress.elapsed().as_secs_f64())),
        progress.rate(),
        progress.known
    ));
    out
}

/// `1,200 of 10,000 jobs, 32.5 per second, 4 failed, 4 min 31 s left`.
pub(crate) fn progress(progress: &Progress) -> String {
    let total = progress.total.map(|total| format!(" of {total}"));
    let left = progress.seconds_left();
    let left = left.map(|seconds| format!(", {} left", say(Seconds(seconds))));
    format!(
        "{}{} jobs, {:.1} per second, {} failed{}",
        progress.finished(),
        total.unwrap_or_default(),
        progress.rate(),
        progress.failed,
        left.unwrap_or_default()
    )
}

fn say(value: impl Localize) -> String {
    value.localize(Language::En)
}
