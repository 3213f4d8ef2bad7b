//! What a case is written from, and its title.

use crate::picture::ScriptText;
use crate::shape::JobShape;
use crate::store::FeedbackRow;
use crate::wording::duration;
use report::{Finding, Language, Report};

/// What a case is written from.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// The report of the run.
    pub report: &'a Report,
    /// The shape of its job; `None` if an older program kept the run.
    pub shape: Option<&'a JobShape>,
    /// Its script.
    pub script: Option<&'a ScriptText>,
    /// What people thought of its suggestions.
    pub feedback: &'a [FeedbackRow],
    /// Run time of a later run with the change, in seconds.
    pub after_seconds: Option<f64>,
    /// Today, `YYYY-MM-DD`.
    pub today: &'a str,
    /// Name of the case; `None` makes one from the cause and the run.
    pub id: Option<&'a str>,
    /// Whether names, paths and literals of the job are masked.
    pub redact: bool,
}

/// What was found, where, and what it costs.
pub(super) fn title(material: &Material<'_>, top: &Finding) -> String {
    let cause = top.cause.code().replace(['.', '_'], " ");
    let place = top.stage.as_deref();
    let saved = top.impact.as_ref().map(|i| duration(i.seconds_saved));
    match (material.report.language, place, saved) {
        (Language::Zh, Some(stage), Some(saved)) => format!("{stage}：{cause}，约 {saved}"),
        (Language::Zh, stage, _) => format!("{}：{cause}", stage.unwrap_or("作业")),
        (Language::En, Some(stage), Some(saved)) => {
            format!("{} in {stage}, about {saved}", capital(&cause))
        }
        (Language::En, Some(stage), None) => format!("{} in {stage}", capital(&cause)),
        (Language::En, None, _) => capital(&cause),
    }
}

/// The text with a capital at its beginning.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + chars.as_str()
    })
}
