//! What the rule files share: building candidates, and saying cleared or undecided.

use crate::impact::Saved;
use crate::rule::{Candidate, Examination, Undecided};
use crate::view::View;
use job::info::Information;
use report::format::{Seconds, Share};
use report::{Cause, Evidence, Finding, Impact, Severity, StaticText, Text, text};

/// A candidate before its severity and confidence are known.
#[derive(Debug)]
pub(crate) struct Symptom {
    pub(crate) cause: Cause,
    /// Index of the stage in which it shows.
    pub(crate) stage: Option<usize>,
    pub(crate) lines: Option<(u32, u32)>,
    pub(crate) summary: Text,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) saved: Option<Saved>,
    /// How the saving was computed.
    pub(crate) method: &'static str,
    /// Strength of the evidence, 0..1.
    pub(crate) strength: f64,
}

impl Symptom {
    fn candidate(self, view: &View<'_>) -> Candidate {
        let finding = Finding {
            id: String::new(),
            cause: self.cause,
            problem_type: self.cause.problem_type(),
            severity: severity(self.saved.as_ref().map(|s| s.share)),
            confidence: 0.0,
            stage: self.stage.map(|s| view.name(s).to_owned()),
            script_lines: self.lines.map(|(first, last)| [first, last]),
            summary: with_saving(self.summary, self.saved.as_ref()).into(view.language),
            evidence: Vec::new(),
            impact: self.saved.as_ref().map(|s| Impact {
                seconds_saved: s.seconds,
                share_of_elapsed: Some(s.share),
                method: self.method.to_owned(),
            }),
        };
        Candidate {
            finding,
            evidence: self.evidence,
            strength: self.strength.clamp(0.0, 1.0),
            fix: self.saved.map(|s| s.fix),
        }
    }
}

/// Severity by the share of the run: half of it, a fifth, a twentieth. A failed job has no share
/// and is critical.
fn severity(share: Option<f64>) -> Severity {
    match share {
        None => Severity::Critical,
        Some(s) if s >= 0.5 => Severity::Critical,
        Some(s) if s >= 0.2 => Severity::High,
        Some(s) if s >= 0.05 => Severity::Medium,
        Some(_) => Severity::Low,
    }
}

fn with_saving(summary: Text, saved: Option<&Saved>) -> Text {
    let Some(saved) = saved else { return summary };
    text!(
        "{summary}；修复后约可节省 {time}（{share}）",
        "{summary}; fixing this would save about {time} ({share})",
        summary = summary,
        time = Seconds(saved.seconds),
        share = Share(saved.share),
    )
}

impl Examination {
    /// Adds a cause that was seen.
    pub(crate) fn found(&mut self, view: &View<'_>, draft: Symptom) {
        self.candidates.push(draft.candidate(view));
    }

    /// Adds something that could not be decided.
    pub(crate) fn lacks(
        &mut self,
        info: Information,
        view: &View<'_>,
        stage: Option<usize>,
        reason: Text,
    ) {
        let share_at_stake = stage.map_or(1.0, |s| view.stake(s));
        self.undecided.push(Undecided {
            info,
            stage: stage.map(|s| view.name(s).to_owned()),
            share_at_stake,
            reason: reason.into(view.language),
        });
    }

    /// Says what cleared the cause.
    pub(crate) fn cleared_by(mut self, reason: Text) -> Examination {
        if self.candidates.is_empty() && self.undecided.is_empty() {
            self.cleared = Some(reason);
        }
        self
    }
}

/// A pair of sentences for an [`crate::rule::About`].
pub(crate) const fn both(zh: &'static str, en: &'static str) -> StaticText {
    StaticText { zh, en }
}
