//! The slower of two runs against the faster one.

use super::totals::total;
use super::{ComparedRun, Comparison, Pair, Reason, ReasonKind, StageChange};
use report::measure::{Measure, book};
use report::{Language, Text};

/// How reliable the estimate of each kind of reason is. A measured wait is certain; a model of the stages is good; slower rows
/// are only the remainder.
fn reliability(kind: ReasonKind) -> f64 {
    match kind {
        ReasonKind::Failure | ReasonKind::NoDifference => 1.0,
        ReasonKind::Queue | ReasonKind::Compile | ReasonKind::Finding => 0.95,
        ReasonKind::Script
        | ReasonKind::Plan
        | ReasonKind::Settings
        | ReasonKind::Tokens
        | ReasonKind::Data => 0.85,
        ReasonKind::LostWork | ReasonKind::Machines | ReasonKind::Driver => 0.7,
        ReasonKind::Imbalance | ReasonKind::Rows | ReasonKind::Vertices => 0.65,
        ReasonKind::WorkPerRow => 0.5,
        ReasonKind::Unknown => 0.2,
    }
}

pub(super) struct Contrast<'a> {
    pub(super) slow: &'a ComparedRun,
    pub(super) fast: &'a ComparedRun,
    pub(super) slow_is_b: bool,
    /// Extra seconds of the slower run, including the queue if both runs have it.
    pub(super) delta: Option<f64>,
    pub(super) seen: &'a Comparison,
    language: Language,
}

impl Contrast<'_> {
    /// `A` and `B`, the slower run first.
    pub(super) fn names(&self) -> (&'static str, &'static str) {
        self.slower_first("A", "B")
    }

    /// A pair of values of A and B, the slower run's first.
    pub(super) fn slower_first<T>(&self, a: T, b: T) -> (T, T) {
        if self.slow_is_b { (b, a) } else { (a, b) }
    }

    pub(super) fn both(&self, pair: Pair) -> Option<(f64, f64)> {
        Some(self.slower_first(pair.a?, pair.b?))
    }

    fn of_jobs(&self, measure: &'static Measure) -> Option<[f64; 2]> {
        let values = [self.slow, self.fast].map(|run| total(&run.summary, measure));
        let [Some(slow), Some(fast)] = values else {
            return None;
        };
        (slow > 0.0 && fast > 0.0).then_some([slow, fast])
    }

    /// Ratio of the slower run's input to the faster one's; 1 if unknown.
    pub(super) fn growth(&self) -> f64 {
        let amounts = self.input().map(|(_, amounts)| amounts);
        amounts.map_or(1.0, |[slow, fast]| slow / fast)
    }

    /// The inputs of both runs; `None` if the slower application only reads the same more often, in as many more jobs.
    pub(super) fn input(&self) -> Option<(&'static Measure, [f64; 2])> {
        let measures = [&book::INPUT_BYTES, &book::INPUT_ROWS];
        let mut known = measures
            .into_iter()
            .filter_map(|m| Some((m, self.of_jobs(m)?)));
        let jobs = self.of_jobs(&book::SPARK_JOBS).map_or(1.0, ratio);
        known
            .next()
            .filter(|(_, amounts)| is_alike(jobs) || !is_alike(ratio(*amounts) / jobs))
    }

    /// Whether the sizes of the inputs are those in the store; an application's log has the bytes that it read.
    pub(super) fn is_stored(&self) -> bool {
        self.slow.report.job.engine != Some(report::JobEngine::Spark)
    }

    /// Tokens of both runs, where both are known and the same resource.
    pub(super) fn tokens(&self) -> Option<[f64; 2]> {
        let engines = [self.slow, self.fast].map(|run| run.report.job.engine);
        self.of_jobs(&book::TOKENS)
            .filter(|_| engines[0] == engines[1])
    }

    pub(super) fn name_in<'s>(&self, stage: &'s StageChange, run: &ComparedRun) -> Option<&'s str> {
        let (slow, fast) = self.slower_first(&stage.a, &stage.b);
        let name = if std::ptr::eq(run, self.slow) {
            slow
        } else {
            fast
        };
        name.as_deref()
    }

    pub(super) fn name<'s>(&self, stage: &'s StageChange) -> Option<&'s String> {
        let (slow, fast) = self.slower_first(stage.a.as_ref(), stage.b.as_ref());
        slow.or(fast)
    }

    /// Whether a stage could have made the run longer: one on the critical path, any where none is known.
    pub(super) fn is_deciding(&self, stage: &StageChange) -> bool {
        stage.critical || !self.seen.stages.iter().any(|s| s.critical)
    }

    pub(super) fn reason(
        &self,
        kind: ReasonKind,
        seconds: Option<f64>,
        stage: Option<&String>,
        text: Text,
    ) -> Reason {
        let delta = self.delta.filter(|delta| *delta > 0.0);
        let share = seconds.zip(delta).map(|(s, delta)| s / delta);
        // Half for being found at all, half for explaining the difference; an obvious reason needs no share.
        let explained = match kind {
            ReasonKind::Failure | ReasonKind::NoDifference => 1.0,
            _ => share.unwrap_or(0.0),
        };
        let confidence = reliability(kind) * (0.5 + 0.5 * explained);
        Reason {
            kind,
            seconds,
            share,
            confidence: (confidence * 100.0).round() / 100.0,
            stage: stage.cloned(),
            cause: None,
            text: self.in_words(text),
        }
    }

    fn in_words(&self, text: Text) -> String {
        let engine = self.slow.report.job.engine;
        report::engine_words(text.into(self.language), engine, self.language)
    }
}

fn ratio([slow, fast]: [f64; 2]) -> f64 {
    slow / fast
}

/// Whether a ratio is closer to 1 than to 2.
fn is_alike(ratio: f64) -> bool {
    (0.67..1.5).contains(&ratio)
}

pub(super) fn oriented<'a>(
    a: &'a ComparedRun,
    b: &'a ComparedRun,
    seen: &'a Comparison,
    language: Language,
) -> Contrast<'a> {
    let elapsed = |run: &ComparedRun| run.report.job.elapsed_seconds;
    let elapsed = Pair::new(elapsed(a), elapsed(b)).difference();
    let queued = Pair::new(a.before(), b.before()).difference();
    let difference = elapsed.map(|e| e + queued.unwrap_or(0.0));
    // Without run times, the work of the vertices decides which run is the slower one.
    let work: f64 = seen.stages.iter().map(|s| s.weight_seconds).sum();
    let slow_is_b = difference.unwrap_or(work) >= 0.0;
    let (slow, fast) = if slow_is_b { (b, a) } else { (a, b) };
    Contrast {
        slow,
        fast,
        slow_is_b,
        delta: difference.map(f64::abs),
        seen,
        language,
    }
}
