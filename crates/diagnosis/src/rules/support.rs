//! Shared code of the rules: building candidates, and clearing or abstaining.

use std::collections::HashSet;

use crate::impact::{Basis, Saved};
use crate::rule::{Candidate, Examination, Reading, Undecided, severity};
use crate::settings::MIN_SHARE;
use crate::view::View;
use job::info::Information;
use job::model::Edge;
use report::{Cause, Evidence, Impact, Text, text};

/// A rule as a table: its name, its cause and the function that looks for it; the cause in both languages; the information that the
/// rule needs and that helps; its thresholds; the observations that would rule the cause out; the sentence that clears it.
macro_rules! rule {
    ($name:ident = $cause:ident, $examine:path; $zh:literal, $en:literal; needs $($need:ident),+;
     $(helps $($help:ident),+;)? $(thresholds $($threshold:path),+;)? $(unless $unless_zh:literal, $unless_en:literal;)+
     $(cleared $cleared_zh:literal, $cleared_en:literal;)?) => {
        pub(crate) static $name: $crate::rule::Rule = $crate::rule::Rule {
            cause: report::Cause::$cause,
            what: report::StaticText { zh: $zh, en: $en },
            needs: &[$(job::info::Information::$need),+],
            helps: &[$($(job::info::Information::$help),+)?],
            thresholds: &[$($(&$threshold),+)?],
            counter_evidence: &[$(report::StaticText { zh: $unless_zh, en: $unless_en }),+],
            cleared: &[$(report::StaticText { zh: $cleared_zh, en: $cleared_en })?],
            examine: $examine,
        };
    };
    ($name:ident = $cause:ident like $other:ident; $zh:literal, $en:literal; $(thresholds $($threshold:path),+;)?) => {
        pub(crate) static $name: $crate::rule::Rule = $crate::rule::Rule {
            cause: report::Cause::$cause,
            what: report::StaticText { zh: $zh, en: $en },
            $(thresholds: &[$(&$threshold),+],)?
            ..$other
        };
    };
}
pub(super) use rule;

/// An undecided place: the missing information and the stage; then the reason, as in [`text!`].
macro_rules! lacks {
    ($result:expr, $view:expr, $info:ident, $stage:expr; $($reason:tt)+) => {
        $result.lacks(job::info::Information::$info, $view, $stage, report::text!($($reason)+))
    };
}
pub(super) use lacks;

/// A candidate before its severity and confidence are known.
#[derive(Debug, Default)]
pub(crate) struct Symptom {
    /// Index of the stage with the symptom.
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
    /// `wasted` is the cost in vertex-hours of a symptom that costs no time.
    fn candidate(
        self,
        cause: Cause,
        view: &View<'_>,
        certainty: Option<f64>,
        wasted: Option<f64>,
    ) -> Candidate {
        let known = |s: usize| view.basis(s) != Basis::Unknown;
        let saved = self.saved.filter(|_| self.stage.is_none_or(known));
        let share = saved.as_ref().map(|s| s.share);
        let unknown = share.is_none() && wasted.is_none() && !view.failed();
        let seconds = match wasted {
            Some(_) => Some(0.0),
            None => saved.as_ref().map(|s| s.seconds),
        };
        let impact = seconds.map(|seconds_saved| Impact {
            seconds_saved,
            share_of_elapsed: share,
            method: self.method.to_owned(),
            vertex_hours_saved: wasted,
        });
        let summary = with_cost(self.summary, unknown);
        let mut found = Candidate::new(view, cause, self.stage, summary, self.evidence);
        found.finding.severity = severity(share, view.failed());
        found.finding.script_lines = self.lines.map(Into::into);
        found.finding.impact = impact;
        Candidate {
            strength: self.strength.clamp(0.0, 1.0),
            certainty: certainty.unwrap_or(match share {
                None if unknown => UNKNOWN_MATTERS,
                Some(share) if self.stage.is_some_and(|s| is_total(view, s)) => {
                    matters(view, share)
                }
                _ => 1.0,
            }),
            at_most: at_most(view, self.stage, share),
            fix: saved.map(|s| s.fix),
            ..found
        }
    }
}

/// Probability that a place over its limits costs a relevant share, if its cost is
/// unknown.
const UNKNOWN_MATTERS: f64 = 0.5;

/// Error factor of a share that was computed from totals instead of the times of
/// the vertices.
const TOTALS_MARGIN: f64 = 2.0;

/// Whether the work of a stage comes from totals, at least in part.
fn is_total(view: &View<'_>, stage: usize) -> bool {
    view.basis(stage) != Basis::Events
}

/// Probability that a share computed from totals is relevant: all shares within the margin are equally likely, on
/// a scale of ratios.
fn matters(view: &View<'_>, share: f64) -> f64 {
    let above = share * TOTALS_MARGIN / view.limit(&MIN_SHARE);
    (above.ln() / (2.0 * TOTALS_MARGIN.ln())).clamp(0.0, 1.0)
}

/// Largest share of the run that a cause could cost.
fn at_most(view: &View<'_>, stage: Option<usize>, share: Option<f64>) -> f64 {
    let stake = stage.map_or(1.0, |s| view.stake(s));
    match (share, stage) {
        (None, _) => stake,
        (Some(share), Some(s)) if is_total(view, s) => {
            (share * TOTALS_MARGIN).min(stake).max(share)
        }
        (Some(share), _) => share,
    }
}

/// The summary, with a remark if the cost is unknown.
fn with_cost(summary: Text, unknown: bool) -> Text {
    if !unknown {
        return summary;
    }
    text!(
        "{summary}；现有文件无法判断它耗费多少时间",
        "{summary}; these files don't show its cost in time",
        summary = summary,
    )
}

impl Examination {
    /// Adds a place over the limits.
    pub(crate) fn found(&mut self, view: &View<'_>, symptom: Symptom) {
        self.candidates
            .push(symptom.candidate(self.cause, view, None, None));
    }

    /// Adds a place over the limits that costs vertex-hours and no time.
    /// It is `independent` if it remains with every other finding fixed.
    pub(crate) fn wastes(
        &mut self,
        view: &View<'_>,
        symptom: Symptom,
        vertex_hours: f64,
        independent: bool,
    ) {
        let candidate = symptom.candidate(self.cause, view, None, Some(vertex_hours));
        self.candidates.push(Candidate {
            independent,
            ..candidate
        });
    }

    /// Adds a place over the limits with an unchecked alternative explanation;
    /// `certainty` is the probability that this one is right.
    pub(crate) fn suspected(&mut self, view: &View<'_>, symptom: Symptom, certainty: f64) {
        self.candidates
            .push(symptom.candidate(self.cause, view, Some(certainty), None));
    }

    /// Adds a candidate that another run would not have.
    pub(crate) fn by_chance(&mut self, view: &View<'_>, symptom: Symptom) {
        let candidate = symptom.candidate(self.cause, view, None, None);
        self.candidates.push(Candidate {
            by_chance: true,
            ..candidate
        });
    }

    /// Adds a measured place within the limits. `of_limit` is the measured value over its
    /// limit; the evidence of the place closest to its limit is kept.
    pub(crate) fn under(&mut self, of_limit: f64, evidence: impl FnOnce() -> Vec<Evidence>) {
        self.in_order += 1;
        if self.closest.as_ref().is_none_or(|c| of_limit > c.of_limit) {
            let evidence = evidence();
            self.closest = Some(Reading { of_limit, evidence });
        }
    }

    /// Adds a place over the limits because of another cause.
    pub(crate) fn attributed(&mut self, view: &View<'_>, cause: Cause, stage: usize) {
        let stage = Some(view.name(stage).to_owned());
        self.attributed.push((cause, stage));
    }

    /// Adds an alternative with a saving, or with an unknown one.
    pub(crate) fn offer(&mut self, view: &View<'_>, draft: Symptom) {
        if draft.saved.as_ref().is_none_or(|s| s.seconds > 0.0) {
            self.found(view, draft);
        }
    }

    /// Adds a place that could not be decided.
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

    /// Adds the exchanges into stages without a candidate or an undecided place of the rule:
    /// their data volume was measured, or is unknown.
    pub(crate) fn exchanges(&mut self, view: &View<'_>, relevant: impl Fn(&Edge) -> bool) {
        let found = self.candidates.iter().map(|c| &c.finding.stage);
        let open = self.undecided.iter().map(|u| &u.stage);
        let seen: HashSet<String> = found.chain(open).flatten().cloned().collect();
        let edges = view
            .job
            .edges
            .iter()
            .filter(|e| relevant(e) && !view.failed());
        for edge in edges.filter(|e| !seen.contains(view.name(e.to))) {
            if edge.bytes_written.is_none() {
                let reason = text!(
                    "不知道有多少数据经过交换进入 {stage}",
                    "the amount of data in the exchange into {stage} is unknown",
                    stage = view.name(edge.to),
                );
                self.lacks(Information::RuntimeCounters, view, Some(edge.to), reason);
                continue;
            }
            let share = view.fraction(edge.to, view.exchange_ms(edge));
            self.under(share.min(0.99), || {
                let written = view.node(edge.from, edge.uid);
                let fact = written.and_then(|o| view.measured(&o.bytes, "bytes"));
                fact.into_iter().collect()
            });
        }
    }

    /// Sets the sentence about all places within the limits.
    pub(crate) fn cleared_by(&mut self, reason: Text) {
        self.cleared = Some(reason);
    }
}
