//! Learning from feedback: a small, bounded, decaying preference per (cause, chunk) and per (cause,
//! kind of suggestion).
//!
//! A preference is `BOUND · (a − i) / (a + i + SMOOTHING)`, where `a` and `i` are the accepted and
//! ignored suggestions that cite it, each weighted by its age. It shifts ranks among
//! candidates that are close; it cannot lift an unrelated chunk or bury a good one.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::store::{Action, FeedbackRow};

/// Largest preference; an index accepts at most 1. It adds a fifth of it to fused scores in 0..1.
/// Neighbors differ by a few hundredths, so 0.5 moves a chunk by a few ranks and no more. Measured by
/// the test `learning`.
pub const BOUND: f32 = 0.5;
/// Neutral opinions that a preference starts with: the first click is worth a fifth of the bound.
pub const SMOOTHING: f64 = 4.0;
/// An opinion counts half after this many days: scripts, data and the engine change within a quarter.
pub const HALF_LIFE_DAYS: f64 = 90.0;
/// An ignored suggestion says less about its sources than an accepted one: it may be ignored for
/// lack of time.
pub const IGNORE_WEIGHT: f64 = 0.5;

/// Opinions on one thing, weighted by age.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Opinions {
    pub accepted: f64,
    pub ignored: f64,
}

impl Opinions {
    fn add(&mut self, action: Action, weight: f64) {
        match action {
            Action::Accept => self.accepted += weight,
            Action::Ignore => self.ignored += weight * IGNORE_WEIGHT,
        }
    }

    /// Within ±[`BOUND`].
    pub fn preference(self) -> f32 {
        let sum = self.accepted + self.ignored + SMOOTHING;
        BOUND * ((self.accepted - self.ignored) / sum) as f32
    }
}

/// Preferences learned from all feedback.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Preferences {
    chunks: Learned,
    kinds: Learned,
}

/// Opinions by cause and subject.
type Learned = BTreeMap<(String, String), Opinions>;

/// One learned preference, for `feedback effect`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    pub cause: String,
    /// Chunk id, or kind of suggestion.
    pub subject: String,
    #[serde(flatten)]
    pub opinions: Opinions,
    /// Added to the score.
    pub preference: f32,
}

impl Preferences {
    pub fn learn(rows: &[FeedbackRow], now: Timestamp) -> Preferences {
        let mut learned = Preferences::default();
        for row in rows {
            let Some(cause) = &row.cause else { continue };
            let weight = weight(&row.created_at, now);
            let add = |to: &mut Learned, subject: &String| {
                let opinions = to.entry((cause.clone(), subject.clone()));
                opinions.or_default().add(row.action, weight);
            };
            add(&mut learned.kinds, &row.kind);
            for chunk in &row.sources {
                add(&mut learned.chunks, chunk);
            }
        }
        learned
    }

    /// What to add to the score of a chunk for these causes: the mean over them, so that many causes
    /// don't add up.
    pub fn chunk(&self, causes: &[String], chunk: &str) -> f32 {
        mean(causes, |cause| {
            self.chunks.get(&(cause.to_owned(), chunk.to_owned()))
        })
    }

    /// The preference for a kind of suggestion that fixes a cause.
    pub fn kind(&self, cause: &str, kind: &str) -> f32 {
        let opinions = self.kinds.get(&(cause.to_owned(), kind.to_owned()));
        opinions.map_or(0.0, |o| o.preference())
    }

    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Preferences for chunks, the strongest first.
    pub fn chunk_effects(&self) -> Vec<Effect> {
        effects(&self.chunks)
    }

    /// Preferences for kinds of suggestions, the strongest first.
    pub fn kind_effects(&self) -> Vec<Effect> {
        effects(&self.kinds)
    }
}

/// The rank of a chunk among those retrieved for a cause, without and with feedback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    pub cause: String,
    pub chunk: String,
    /// 1-based rank without feedback; `None` if it is not among the first [`LOOKED_AT`].
    pub rank_before: Option<usize>,
    pub rank_after: Option<usize>,
}

/// The chunks for a cause, best first, with a preference added to the score of each.
pub type Ranked<'a> =
    dyn Fn(&str, Option<&dyn Fn(&str) -> f32>) -> Result<Vec<String>, String> + 'a;

/// Ranks that [`Preferences::moved`] looks at.
pub const LOOKED_AT: usize = 30;

impl Preferences {
    /// How feedback changes retrieval for each cause that it is about: the chunks that have a
    /// preference, with their ranks.
    ///
    /// # Errors
    /// The error of `ranked`.
    pub fn moved(&self, ranked: &Ranked<'_>) -> Result<Vec<Moved>, String> {
        let mut moved = Vec::new();
        let mut causes: Vec<&String> = self.chunks.keys().map(|(cause, _)| cause).collect();
        causes.dedup();
        for cause in causes {
            let before = ranked(cause, None)?;
            let causes = [cause.clone()];
            let prior = |chunk: &str| self.chunk(&causes, chunk);
            let after = ranked(cause, Some(&prior))?;
            let place =
                |ids: &[String], chunk: &str| ids.iter().position(|i| i == chunk).map(|p| p + 1);
            let mine = self.chunks.keys().filter(|(of, _)| of == cause);
            moved.extend(mine.map(|(_, chunk)| Moved {
                cause: cause.clone(),
                chunk: chunk.clone(),
                rank_before: place(&before, chunk),
                rank_after: place(&after, chunk),
            }));
        }
        Ok(moved)
    }
}

fn mean<'a>(causes: &[String], look_up: impl Fn(&str) -> Option<&'a Opinions>) -> f32 {
    if causes.is_empty() {
        return 0.0;
    }
    let opinions = causes.iter().filter_map(|cause| look_up(cause));
    opinions.map(|o| o.preference()).sum::<f32>() / causes.len() as f32
}

fn effects(learned: &Learned) -> Vec<Effect> {
    let effect = |((cause, subject), opinions): (&(String, String), &Opinions)| Effect {
        cause: cause.clone(),
        subject: subject.clone(),
        opinions: *opinions,
        preference: opinions.preference(),
    };
    let mut all: Vec<Effect> = learned.iter().map(effect).collect();
    all.sort_by(|a, b| b.preference.abs().total_cmp(&a.preference.abs()));
    all
}

/// How much an opinion still counts; one with an unreadable time counts as new.
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
    fn opinions_count_half_after_a_quarter() {
        let fresh = Preferences::learn(&[row(Action::Accept, "a", "2026-01-01T00:00:00Z")], now());
        let old = Preferences::learn(&[row(Action::Accept, "a", "2025-10-03T00:00:00Z")], now());
        let [fresh, old] = [fresh, old].map(|p| p.chunk_effects()[0].opinions.accepted);
        assert!((old / fresh - 0.5).abs() < 0.01, "{old} {fresh}");
    }

    #[test]
    fn causes_do_not_add_up_and_others_are_untouched() {
        let learned =
            Preferences::learn(&[row(Action::Accept, "a", "2026-01-01T00:00:00Z")], now());
        let both = learned.chunk(&["memory.spill".into(), "queue.wait".into()], "a");
        assert!((both - BOUND / 10.0).abs() < 1e-6, "{both}");
        assert_eq!(learned.chunk(&["memory.spill".into()], "b"), 0.0);
        assert_eq!(learned.chunk(&[], "a"), 0.0);
    }
}
