//! Recurring jobs: which runs belong together, and which are slower than the job's own spread allows.

use report::measure::book;
use report::{Language, Report};
use runs::RunSummary;
use runs::budget::{Outcome, baseline};
use runs::history::{JobHistory, PastRun, Signal};
use runs::store::Store;

use crate::support::{self, values};

/// Published percentiles of the spread (deviation over mean) within recurring pipelines: of the run time, and of the input's rows.
const TIME: [(f64, f64); 7] = [
    (0.05, 0.11),
    (0.25, 0.17),
    (0.5, 0.23),
    (0.75, 0.30),
    (0.9, 0.40),
    (0.95, 0.53),
    (0.99, 0.94),
];
const INPUT: [(f64, f64); 7] = [
    (0.05, 0.0),
    (0.25, 0.002),
    (0.5, 0.045),
    (0.75, 0.24),
    (0.9, 0.60),
    (0.95, 1.06),
    (0.99, 2.6),
];

/// A value of a distribution given by percentiles.
fn quantile(percentiles: &[(f64, f64)], at: f64) -> f64 {
    let upper = percentiles
        .iter()
        .position(|(p, _)| *p >= at)
        .unwrap_or(percentiles.len() - 1);
    let ((p, low), (q, high)) = (percentiles[upper.max(1) - 1], percentiles[upper.max(1)]);
    low + (high - low) * ((at - p) / (q - p)).clamp(0.0, 1.0)
}

/// Standard normal numbers from a seed.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / (1u64 << 31) as f64
    }

    /// A factor with this deviation over mean.
    fn factor(&mut self, spread: f64) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        let sigma = (1.0 + spread * spread).ln().sqrt();
        (sigma * normal).exp()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Change {
    Plan,
    Data,
    Capacity,
}

/// Thirty runs; from run `onset` on, the job takes `slower` times as long because of a change.
fn simulated(
    job: usize,
    seed: u64,
    slower: f64,
    regression: Option<(usize, Change)>,
) -> JobHistory {
    let at = (job as f64 + 0.5) / 40.0;
    let (time, input) = (quantile(&TIME, at), quantile(&INPUT, (at * 7.0).fract()));
    let mut noise = Noise(seed * 1000 + job as u64);
    let run = |n: usize| {
        let change = regression
            .filter(|(onset, _)| n >= *onset)
            .map(|(_, change)| change);
        let of = |wanted, factor| if change == Some(wanted) { factor } else { 1.0 };
        PastRun {
            run_id: format!("{n:02}"),
            elapsed_seconds: Some(
                600.0 * noise.factor(time) * if change.is_some() { slower } else { 1.0 },
            ),
            input_bytes: Some(1e11 * noise.factor(input) * of(Change::Data, 2.2)),
            tokens: Some(100.0 * of(Change::Capacity, 0.4)),
            plan: Some(
                if change == Some(Change::Plan) {
                    "b"
                } else {
                    "a"
                }
                .to_owned(),
            ),
            ..PastRun::default()
        }
    };
    let mut history = JobHistory {
        job: format!("job {job}"),
        unit: None,
        runs: (0..30).map(run).collect(),
    };
    history.mark();
    history
}

/// 40 jobs × 30 runs, 25 times: every second job gets slower in some run, and must be marked within five runs. Returns the recall,
/// the false alarms per ordinary run, and the share of regressions whose change is a signal.
fn marked(slower: f64) -> [f64; 3] {
    let (mut regressions, mut found, mut signals, mut healthy, mut alarms) = (0, 0, 0, 0, 0);
    let changes = [Change::Plan, Change::Data, Change::Capacity];
    for (seed, job) in (0..25).flat_map(|seed| (0..40).map(move |job| (seed, job))) {
        let onset = 12 + (job * 5 + seed as usize) % 12;
        let regression = (job % 2 == 0).then(|| (onset, changes[job / 2 % 3]));
        let history = simulated(job, seed, slower, regression);
        let end = regression.map_or(30, |(onset, _)| onset);
        healthy += end;
        alarms += history.runs[..end]
            .iter()
            .filter(|run| run.is_first_regression)
            .count();
        let Some((onset, change)) = regression else {
            continue;
        };
        regressions += 1;
        found += usize::from(
            history.runs[onset..onset + 5]
                .iter()
                .any(|run| run.is_regression),
        );
        signals += usize::from(
            history.runs[onset]
                .signals
                .iter()
                .any(|signal| match signal {
                    Signal::PlanChanged => change == Change::Plan,
                    Signal::DataGrew { .. } => change == Change::Data,
                    Signal::CapacityFell { .. } => change == Change::Capacity,
                    Signal::ScriptChanged => false,
                }),
        );
    }
    [
        found as f64 / regressions as f64,
        alarms as f64 / healthy as f64,
        signals as f64 / regressions as f64,
    ]
}

#[test]
fn regressions_beyond_the_spread_are_marked_and_ordinary_runs_are_not() {
    for slower in [1.5, 2.0, 3.0] {
        let [recall, rate, signals] = marked(slower);
        eprintln!(
            "{slower} times as slow: recall {recall:.3}, false alarms per 100 runs {:.2}, signals {signals:.2}",
            rate * 100.0
        );
        assert!(slower < 2.0 || recall >= 0.9, "{slower}: {recall}");
        assert!(rate <= 0.01, "{slower}: {rate}");
        assert!(signals >= 0.8, "{slower}: {signals}");
    }
}

fn save(store: &mut Store, n: usize, name: &str, seconds: f64, tokens: f64) -> Report {
    let mut report = support::report();
    report.run_id = format!("01RUN{n:02}");
    report.job.name = Some(name.to_owned());
    report.job.id = Some(format!("{name}-{n}"));
    report.job.submitted = Some(format!("2026-11-{:02}T03:00:00Z", n + 1));
    report.job.elapsed_seconds = Some(seconds);
    // Jobs of other names have the same plan and an input of the same name.
    let operator = runs::OperatorSummary {
        kind: "aggregate".into(),
        ..runs::OperatorSummary::default()
    };
    let input = runs::InputSummary {
        name: "clicks.ss".into(),
        ..runs::InputSummary::default()
    };
    let stage = runs::StageSummary {
        name: "SV1".into(),
        operators: vec![operator],
        critical: true,
        values: values(
            "x",
            &[
                (&book::BUSY, 4e6),
                (&book::SPAN, seconds * 1e3),
                (&book::VERTICES, 100.0),
                (&book::ROWS_IN, 1e6),
            ],
        ),
        ..runs::StageSummary::default()
    };
    let summary = RunSummary {
        values: values("x", &[(&book::TOKENS, tokens)]),
        stages: vec![stage],
        inputs: vec![input],
        ..RunSummary::default()
    };
    let run = store
        .begin(&report.run_id, "jobs/daily", None, Language::En)
        .expect("begin");
    store.finish(run, &report, &summary).expect("finish");
    report
}

#[test]
fn runs_of_a_job_are_recognized_by_name_and_a_regression_has_its_reason() {
    let folder = tempfile::tempdir().expect("folder");
    let mut store = Store::open(folder.path()).expect("open");
    for n in 0..8 {
        save(
            &mut store,
            n,
            &format!("daily-clicks-202611{:02}", n + 1),
            100.0 + n as f64,
            40.0,
        );
    }
    save(&mut store, 8, "other", 5.0, 40.0);
    save(&mut store, 9, "daily-clicks-20261110", 400.0, 10.0);
    for name in ["daily-clicks", "daily-clicks-20261103", "last", "01RUN03"] {
        let history = store
            .history(name, &|_| true, Language::En)
            .expect("a history");
        assert_eq!(history.runs.len(), 9, "{name}");
        let newest = history.runs.last().expect("a run");
        assert!(newest.is_first_regression, "{newest:#?}");
        assert_eq!(
            newest.reason.as_deref(),
            Some("B ran with 10 tokens, A with 40 tokens")
        );
        assert!(
            matches!(newest.signals[..], [Signal::CapacityFell { .. }]),
            "{newest:#?}"
        );
        assert_eq!(baseline(&history).outcome, Outcome::Broken);
    }
    assert!(store.history("last", &|_| false, Language::En).is_err());
    assert!(store.history("weekly", &|_| true, Language::En).is_err());
    let other = store
        .history("other", &|_| true, Language::En)
        .expect("a history");
    assert_eq!(baseline(&other).outcome, Outcome::Inconclusive);
}
