//! The material of a case, and its title.

use report::format::{Seconds, with_capital};
use report::{Finding, Report, text};

use crate::RunSummary;
use crate::store::FeedbackRow;

#[derive(Clone, Copy)]
pub struct Material<'a> {
    pub report: &'a Report,
    pub summary: &'a RunSummary,
    pub feedback: &'a [FeedbackRow],
    /// Run time of a later run with the change, in seconds.
    pub after_seconds: Option<f64>,
    /// `YYYY-MM-DD`.
    pub today: &'a str,
    /// `None` derives an id from the cause and the run.
    pub id: Option<&'a str>,
    /// Masks names, paths and literals of the job; `None` leaves them.
    pub hide: Option<&'a dyn Fn(&str) -> String>,
}

/// The cause, its stage, and its cost.
pub(super) fn title(material: &Material<'_>, top: &Finding) -> String {
    let cause = top.cause.code().replace(['.', '_'], " ");
    let capital = with_capital(&cause);
    let saved = top.impact.as_ref().map(|i| Seconds(i.seconds_saved));
    let text = match (&top.stage, saved) {
        (Some(stage), Some(saved)) => text!(
            "{stage}：{cause}，约 {saved}",
            "{capital} in {stage}, about {saved}",
            saved = saved
        ),
        (Some(stage), None) => text!("{stage}：{cause}", "{capital} in {stage}"),
        (None, _) => text!("作业：{cause}", "{capital}"),
    };
    text.into(material.report.language)
}
