//! What feedback teaches: a small, bounded, fading preference per (cause, chunk) and per
//! (cause, kind of suggestion).
//!
//! A preference is `BOUND · (a − i) / (a + i + SMOOTHING)`, where `a` and `i` are the accepted and
//! ignored suggestions that touched it, each weighted by its age. It shifts ranks among
//! candidates that are close; it cannot lift an unrelated chunk or bury a good one.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::store::{Action, FeedbackRow};

/// Largest preference. Fused scores lie in 0..1 and neighbours differ by a few hundredths, so a
/// tenth moves a chunk by a few ranks and no more.
pub const BOUND: f32 = 0.1;
/// Opinions that a preference starts with on neither side: the first click counts a fifth of the bound.
pub const SMOOTHING: f64 = 4.0;
/// After so many days an opinion counts half: scripts, data and the engine change within a quarter.
pub const HALF_LIFE_DAYS: f64 = 90.0;
/// An ignored suggestion says less about its sources than an accepted one: it may be ignored for
/// lack of time.
pub const IGNORE_WEIGHT: f64 = 0.5;

/// Opinions on one thing, weighted by age.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Opinions {
    /// Accepted.
    pub accepted: f64,
    /// Ignored.
    pub ignored: f64,
}

impl Opinions {
    fn add(&mut self, action: Action, weight: f64) {
        match action {
            Action::Accept => self.accepted += weight,
            Action::Ignore => self.ignored += weight * IGNORE_WEIGHT,
        }
    }

    /// The preference that they make, within ±[`BOUND`].
    pub fn preference(self) -> f32 {
        let sum = self.accepted + self.ignored + SMOOTHING;
        BOUND * ((self.accepted - self.ignored) / sum) as f32
    }
}

/// Preferences learnt from all feedback.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Preferences {
    chunks: BTreeMap<(String, String), Opinions>,
    kinds: BTreeMap<(String, String), Opinions>,
}

/// One learnt preference, for `feedback effect`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// Cause that it is about.
    pub cause: String,
    /// Chunk id, or kind of suggestion.
    pub subject: String,
    /// What was said.
    #[serde(flatten)]
    pub opinions: Opinions,
    /// What it adds to the score.
    pub preference: f32,
}

impl Preferences {
    /// Learns from every opinion as of `now`.
    pub fn learn(rows: &[FeedbackRow], now: Timestamp) -> Preferences {
        let mut learnt = Preferences::default();
        for row in rows {
            let Some(cause) = &row.cause else { continue };
            let weight = weight(&row.created_at, now);
            learnt
                .kinds
                .entry((cause.clone(), row.kind.clone()))
                .or_default()
                .add(row.action, weight);
            for chunk in &row.sources {
                learnt
                    .chunks
                    .entry((cause.clone(), chunk.clone()))
                    .or_default()
                    .add(row.action, weight);
            }
        }
        learnt
    }

    /// What to add to the score of a chunk when these causes are looked at: the mean over the
    /// causes, so that many causes do not add up.
    pub fn chunk(&self, causes: &[String], chunk: &str) -> f32 {
        mean(causes, |cause| {
            self.chunks.get(&(cause.to_owned(), chunk.to_owned()))
        })
    }

    /// What speaks for a kind of suggestion when a cause is to be mended.
    pub fn kind(&self, cause: &str, kind: &str) -> f32 {
        self.kinds
            .get(&(cause.to_owned(), kind.to_owned()))
            .map_or(0.0, |o| o.preference())
    }

    /// Whether nothing was learnt.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Everything learnt about chunks, the strongest first.
    pub fn chunk_effects(&self) -> Vec<Effect> {
        effects(&self.chunks)
    }

    /// Everything learnt about kinds of suggestions, the strongest first.
    pub fn kind_effects(&self) -> Vec<Effect> {
        effects(&self.kinds)
    }
}

fn mean<'a>(causes: &[String], look_up: impl Fn(&str) -> Option<&'a Opinions>) -> f32 {
    if causes.is_empty() {
        return 0.0;
    }
    let sum: f32 = causes
        .iter()
        .filter_map(|cause| look_up(cause))
        .map(|o| o.preference())
        .sum();
    sum / causes.len() as f32
}

fn effects(learnt: &BTreeMap<(String, String), Opinions>) -> Vec<Effect> {
    let mut all: Vec<Effect> = learnt
        .iter()
        .map(|((cause, subject), opinions)| Effect {
            cause: cause.clone(),
            subject: subject.clone(),
            opinions: *opinions,
            preference: opinions.preference(),
        })
        .collect();
    all.sort_by(|a, b| b.preference.abs().total_cmp(&a.preference.abs()));
    all
}

/// How much an opinion still counts; one without a readable time counts as new.
fn weight(created_at: &str, now: Timestamp) -> f64 {
    let Ok(created) = created_at.parse::<Timestamp>() else {
        return 1.0;
    };
    let days = (now.as_second() - created.as_second()) as f64 / 86_400.0;
    0.5_f64.powf(days.max(0.0) / HALF_LIFE_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(action: Action, chunk: &str, created_at: &str) -> FeedbackRow {
        FeedbackRow {
            run_id: "01".into(),
            suggestion: "S1".into(),
            action,
            cause: Some("memory.spill".into()),
            kind: "hint".into(),
            sources: vec![chunk.into()],
            note: None,
            saved_seconds: None,
            created_at: created_at.into(),
        }
    }

    fn now() -> Timestamp {
        "2026-01-01T00:00:00Z".parse().expect("time")
    }

    fn learn(rows: &[FeedbackRow]) -> f32 {
        Preferences::learn(rows, now()).chunk(&["memory.spill".into()], "a")
    }

    #[test]
    fn one_click_moves_a_fifth_of_the_bound() {
        let one = learn(&[row(Action::Accept, "a", "2026-01-01T00:00:00Z")]);
        assert!((one - BOUND / 5.0).abs() < 1e-6, "{one}");
    }

    #[test]
    fn many_clicks_stay_within_the_bound() {
        let many = vec![row(Action::Ignore, "a", "2026-01-01T00:00:00Z"); 10_000];
        let preference = learn(&many);
        assert!((-BOUND..-0.9 * BOUND).contains(&preference), "{preference}");
    }

    #[test]
    fn opinions_fade_by_half_in_a_quarter() {
        let fresh = Preferences::learn(&[row(Action::Accept, "a", "2026-01-01T00:00:00Z")], now());
        let old = Preferences::learn(&[row(Action::Accept, "a", "2025-10-03T00:00:00Z")], now());
        let [fresh, old] = [fresh, old].map(|p| p.chunk_effects()[0].opinions.accepted);
        assert!((old / fresh - 0.5).abs() < 0.01, "{old} {fresh}");
    }

    #[test]
    fn causes_do_not_add_up_and_others_are_untouched() {
        let learnt = Preferences::learn(&[row(Action::Accept, "a", "2026-01-01T00:00:00Z")], now());
        let both = learnt.chunk(&["memory.spill".into(), "queue.wait".into()], "a");
        assert!((both - BOUND / 10.0).abs() < 1e-6, "{both}");
        assert_eq!(learnt.chunk(&["memory.spill".into()], "b"), 0.0);
        assert_eq!(learnt.chunk(&[], "a"), 0.0);
    }
}
