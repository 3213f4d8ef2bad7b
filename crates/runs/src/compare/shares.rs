//! Splits the difference of two run times into parts by factor; the parts add up to it.
//!
//! The time of a stage on the critical path is modeled as work, tokens and waits: `work / vertices at once`, at least
//! the longest vertex, times the part that the model misses. A factor's part of the change is its Shapley value: the mean
//! effect of changing it after each set of the others. Waits, lost attempts and the driver's time are measured.

use std::collections::BTreeMap;

use report::measure::{Measure, book};
use report::{Segment, SegmentKind};

use super::contrast::Contrast;
use super::totals::total;
use super::{ComparedRun, StageChange};

/// Smaller changes of the input or the tokens are no explanation.
pub(super) const GROWTH: f64 = 1.1;
/// Rows inside a job may grow faster than its input, as join output does: by the input's growth to this power.
pub(super) const GROWTH_OF_ROWS: f64 = 1.5;
/// Factors of a stage's time.
const FACTORS: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Factor {
    /// Rows that follow from the inputs.
    Input,
    /// Rows that don't.
    Rows,
    PerRow,
    Tokens,
    /// Number of vertices.
    Vertices,
    /// The longest vertex against the mean.
    Imbalance,
    /// Waiting for a token.
    Capacity,
    Start,
    Lost,
    Queue,
    Compile,
    /// Time outside of stages.
    Driver,
    /// The stage is in one run only.
    Stage,
    /// Time that the model misses.
    Rest,
}

/// Seconds of the difference; negative if the slower run has less of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    pub(super) factor: Factor,
    /// Index into the stages of the comparison.
    pub(super) stage: Option<usize>,
    pub(super) seconds: f64,
}

/// Positive parts that add up to the difference.
pub(super) fn parts(runs: &Contrast<'_>, delta: f64) -> Vec<Part> {
    let clocks = [runs.slow, runs.fast].map(Clock::of);
    let mut parts = outside(runs, &clocks);
    for (at, stage) in runs.seen.stages.iter().enumerate() {
        let counts = match clocks.iter().all(|c| c.is_known) {
            true => clocks.iter().any(|c| c.has(runs.name_in(stage, c.run))),
            false => runs.is_deciding(stage),
        };
        if counts {
            of_stage(runs, &clocks, at, stage, &mut parts);
        }
    }
    net(parts, delta)
}

/// The factors that made the slower run slower, scaled to the difference; the rest is [`Factor::Rest`].
fn net(parts: Vec<Part>, delta: f64) -> Vec<Part> {
    let mut by_factor: BTreeMap<Factor, Vec<Part>> = BTreeMap::new();
    for part in parts.into_iter().filter(|p| p.seconds.is_finite()) {
        by_factor.entry(part.factor).or_default().push(part);
    }
    let mut kept: Vec<Part> = Vec::new();
    for of_factor in by_factor.into_values() {
        let net: f64 = of_factor.iter().map(|p| p.seconds).sum();
        let more: f64 = of_factor.iter().map(|p| p.seconds.max(0.0)).sum();
        if net <= 0.0 {
            continue;
        }
        let positive = of_factor.into_iter().filter(|p| p.seconds > 0.0);
        kept.extend(positive.map(|p| Part {
            seconds: p.seconds * net / more,
            ..p
        }));
    }
    let all: f64 = kept.iter().map(|p| p.seconds).sum();
    if all > delta {
        kept.iter_mut().for_each(|p| p.seconds *= delta / all);
    } else {
        kept.push(Part {
            factor: Factor::Rest,
            stage: None,
            seconds: delta - all,
        });
    }
    kept
}

/// The seconds of a run on its critical path, by stage.
struct Clock<'a> {
    run: &'a ComparedRun,
    is_known: bool,
    segments: BTreeMap<&'a str, Vec<&'a Segment>>,
}

impl<'a> Clock<'a> {
    fn of(run: &'a ComparedRun) -> Clock<'a> {
        let mut segments: BTreeMap<&str, Vec<&Segment>> = BTreeMap::new();
        let time = run.report.time.as_ref();
        for segment in time.iter().flat_map(|time| &time.segments) {
            let stage = segment.stage.as_deref().unwrap_or_default();
            segments.entry(stage).or_default().push(segment);
        }
        Clock {
            run,
            is_known: time.is_some_and(|time| !time.segments.is_empty()),
            segments,
        }
    }

    fn has(&self, stage: Option<&str>) -> bool {
        stage.is_some_and(|stage| self.segments.contains_key(stage))
    }

    fn seconds(&self, stage: &str, of: impl Fn(SegmentKind) -> bool) -> f64 {
        let segments = self.segments.get(stage).into_iter().flatten();
        segments.filter(|s| of(s.kind)).map(|s| s.seconds).sum()
    }
}

fn is_measured_apart(kind: SegmentKind) -> bool {
    use SegmentKind::{Compile, Driver, Idle, Queue, Retry, Startup};
    matches!(kind, Compile | Driver | Idle | Queue | Retry | Startup)
}

/// Queue, and time outside of stages.
fn outside(runs: &Contrast<'_>, [slow, fast]: &[Clock<'_>; 2]) -> Vec<Part> {
    let part = |factor, seconds| Part {
        factor,
        stage: None,
        seconds,
    };
    let mut parts = Vec::new();
    if let (Some(more), Some(less)) = (runs.slow.waited(), runs.fast.waited()) {
        parts.push(part(Factor::Queue, more - less));
        let compiled = runs.slow.compiled() - runs.fast.compiled();
        parts.push(part(Factor::Compile, compiled));
    }
    if slow.is_known && fast.is_known {
        use SegmentKind::{Driver, Idle, Unexplained};
        let between = |clock: &Clock<'_>| {
            clock.seconds("", |kind| matches!(kind, Driver | Idle | Unexplained))
        };
        parts.push(part(Factor::Driver, between(slow) - between(fast)));
    } else {
        parts.extend(lost(runs).map(|seconds| part(Factor::Lost, seconds)));
    }
    parts
}

/// Lost attempts cost their time divided by the number of vertices that ran concurrently.
fn lost(runs: &Contrast<'_>) -> Option<f64> {
    let lost = |run: &ComparedRun| total(&run.summary, &book::LOST_TIME);
    let busy = total(&runs.slow.summary, &book::VERTEX_TIME)?;
    let concurrent = busy / runs.slow.report.job.elapsed_seconds?.max(1.0);
    Some((lost(runs.slow)? - lost(runs.fast)?) / concurrent.max(1.0))
}

fn of_stage(
    runs: &Contrast<'_>,
    clocks: &[Clock<'_>; 2],
    at: usize,
    stage: &StageChange,
    parts: &mut Vec<Part>,
) {
    let mut push = |factor, seconds| {
        parts.push(Part {
            factor,
            stage: Some(at),
            seconds,
        });
    };
    let times = clocks.each_ref().map(|clock| time(runs, clock, stage));
    let [Some(slow), Some(fast)] = [0, 1].map(|n| runs.name_in(stage, clocks[n].run)) else {
        push(
            Factor::Stage,
            times[0].unwrap_or(0.0) - times[1].unwrap_or(0.0),
        );
        return;
    };
    let [Some(slow_time), Some(fast_time)] = times else {
        return;
    };
    let apart = |kind: SegmentKind| {
        clocks[0].seconds(slow, |k| k == kind) - clocks[1].seconds(fast, |k| k == kind)
    };
    push(Factor::Lost, apart(SegmentKind::Retry));
    push(Factor::Start, apart(SegmentKind::Startup));
    push(
        Factor::Driver,
        apart(SegmentKind::Driver) + apart(SegmentKind::Idle),
    );
    let Some(model) = Model::of(runs, stage, slow_time, fast_time) else {
        push(Factor::Rest, slow_time - fast_time);
        return;
    };
    let mut shares = model.shares();
    // Rows that grew much more than the input come from the job itself.
    let rows = model.values[0];
    let follows = GROWTH_OF_ROWS * runs.growth().ln() / (rows[0] / rows[1]).ln();
    if is_growth(runs.growth()) && follows.is_finite() {
        let own = shares[0].1 * (1.0 - follows.clamp(0.0, 1.0));
        shares[0].1 -= own;
        push(Factor::Rows, own);
    }
    // Longer waiting for the same tokens is capacity that the cluster did not give.
    let waited = apart(SegmentKind::CapacityWait).clamp(0.0, shares[5].1.max(0.0));
    shares[5].1 -= waited;
    push(Factor::Capacity, waited);
    shares
        .into_iter()
        .for_each(|(factor, seconds)| push(factor, seconds));
}

/// Seconds of a stage's work: on the critical path, or else its wall time.
fn time(runs: &Contrast<'_>, clock: &Clock<'_>, stage: &StageChange) -> Option<f64> {
    let name = runs.name_in(stage, clock.run)?;
    if clock.is_known && clock.has(Some(name)) {
        return Some(clock.seconds(name, |kind| !is_measured_apart(kind)));
    }
    let index = clock.run.summary.stage_named(name)?;
    let values = &clock.run.summary.stages[index];
    let times = [&book::SPAN, &book::MAX_RUN, &book::BUSY];
    times.iter().find_map(|m| values.get(m)).map(|ms| ms / 1e3)
}

/// A stage in the slower and in the faster run.
struct Model {
    /// Of [`Model::time`]'s arguments; the slower run's first.
    values: [[f64; 2]; FACTORS],
    factors: [Factor; FACTORS],
}

impl Model {
    fn of(runs: &Contrast<'_>, stage: &StageChange, slow: f64, fast: f64) -> Option<Model> {
        let pair = |measure: &Measure| {
            let (slow, fast) = runs.both(stage.numbers.get(measure))?;
            (slow > 0.0 && fast > 0.0).then_some([slow, fast])
        };
        let busy = pair(&book::BUSY)?;
        let vertices = pair(&book::VERTICES).unwrap_or([1.0; 2]);
        let volume = pair(&book::ROWS_IN).or_else(|| pair(&book::BYTES_READ));
        let input = runs.growth();
        let volume = volume.unwrap_or([input, 1.0]);
        let per_row = [0, 1].map(|n| busy[n] / 1e3 / volume[n]);
        let longest = pair(&book::MAX_RUN);
        let skew = longest.map_or([1.0; 2], |longest| {
            [0, 1].map(|n| (longest[n] * vertices[n] / busy[n]).max(1.0))
        });
        let tokens = runs.tokens().unwrap_or([f64::INFINITY; 2]);
        // More rows or vertices may follow from more input, but not from less of it, and vertices not beyond its growth.
        let growth = |[slow, fast]: [f64; 2]| (slow / fast).ln();
        let follows = |values| is_growth(input) && growth(values) * input.ln() > 0.0;
        let volume_factor = match follows(volume) {
            true => Factor::Input,
            false => Factor::Rows,
        };
        let most = GROWTH_OF_ROWS * input.ln().abs();
        let vertices_factor = match follows(vertices) && growth(vertices).abs() <= most {
            true => Factor::Input,
            false => Factor::Vertices,
        };
        let mut model = Model {
            values: [volume, per_row, tokens, vertices, skew, [1.0; 2]],
            factors: [
                volume_factor,
                Factor::PerRow,
                Factor::Tokens,
                vertices_factor,
                Factor::Imbalance,
                Factor::Rest,
            ],
        };
        for (n, time) in [slow, fast].into_iter().enumerate() {
            let modeled = model.time(if n == 0 { (1 << FACTORS) - 1 } else { 0 });
            model.values[FACTORS - 1][n] = time / modeled.max(1e-3);
        }
        Some(model)
    }

    /// Seconds with the factors of the slower run where a bit is set.
    fn time(&self, slower: usize) -> f64 {
        let of = |n: usize| self.values[n][usize::from(slower & (1 << n) == 0)];
        let [volume, per_row, tokens, vertices, skew, rest] = std::array::from_fn(of);
        let work = volume * per_row;
        let spread = work / tokens.min(vertices).max(1.0);
        spread.max(skew * work / vertices.max(1.0)) * rest
    }

    /// The Shapley values of the factors; they add up to the difference of the times.
    fn shares(&self) -> [(Factor, f64); FACTORS] {
        let factorial = |n: usize| (1..=n).product::<usize>() as f64;
        std::array::from_fn(|factor| {
            let without = (0..1 << FACTORS).filter(|set| set & (1 << factor) == 0);
            let effect = without.map(|set: usize| {
                let others = set.count_ones() as usize;
                let weight =
                    factorial(others) * factorial(FACTORS - 1 - others) / factorial(FACTORS);
                weight * (self.time(set | 1 << factor) - self.time(set))
            });
            (self.factors[factor], effect.sum())
        })
    }
}

/// Whether a ratio of inputs or tokens is more than noise.
pub(super) fn is_growth(ratio: f64) -> bool {
    !(1.0 / GROWTH..GROWTH).contains(&ratio)
}
