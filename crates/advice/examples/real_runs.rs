//! Scores the diagnosis of real Spark runs with a known truth, and measures leave-one-source-out:
//! `real_runs SET… [--wrong] [--leave-one-out]`. With `--wrong`, every run that is not right is listed.
//!
//! A set is a folder made by `scripts/make-spark-runs`: `truth.json` and `logs/`. A run whose counterpart without the cause took no less
//! time is left out. With `--leave-one-out`, each threshold is set to half
//! and to twice its default. For each source, the values are chosen that are best on all other sources, and the source is
//! diagnosed with them.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line helper"
)]

use std::collections::BTreeSet;
use std::path::Path;

use advice::diagnose;
use diagnosis::{Settings, thresholds};
use job::{Catalogue, Job};
use report::{Language, Verdict};
use serde::Deserialize;

type Failure = Box<dyn std::error::Error>;

/// Multiples of its default that a threshold is set to.
const MULTIPLES: [f64; 2] = [0.5, 2.0];

/// Thresholds that state a purpose or bound a list, not a boundary between causes.
const FIXED: [&str; 3] = [
    "min_share",
    "completeness.min_relevance",
    "completeness.files_per_round",
];

#[derive(Deserialize)]
struct Truth {
    scenario: String,
    log: String,
    verdict: Verdict,
    causes: Vec<TrueCause>,
    acceptable_extra: Vec<String>,
    seconds_with: Option<f64>,
    seconds_without: Option<f64>,
    #[serde(default)]
    resource_only: bool,
    #[serde(default = "yes")]
    impact_reliable: bool,
}

#[derive(Deserialize)]
struct TrueCause {
    cause: String,
    #[serde(default)]
    alternatives: Vec<String>,
}

fn yes() -> bool {
    true
}

struct Run {
    truth: Truth,
    job: Job,
}

struct Source {
    name: String,
    runs: Vec<Run>,
}

/// Sums over runs.
#[derive(Clone, Default)]
struct Score {
    runs: usize,
    verdicts: usize,
    /// Runs with causes, and the precision of those whose causes are all found.
    sick: usize,
    strict: f64,
    sick_called_healthy: usize,
    healthy: usize,
    healthy_called_healthy: usize,
    /// Logarithms of estimated over measured savings.
    factors: Vec<f64>,
    /// Runs with a wrong verdict, a missed or an invented cause.
    wrong: Vec<String>,
}

impl Score {
    fn add(&mut self, run: &Run, settings: &Settings, catalogue: &Catalogue) {
        let found = diagnose(&run.job, catalogue, settings, Language::En);
        let truth = &run.truth;
        let codes: BTreeSet<&str> = found.findings.iter().map(|f| f.cause.code()).collect();
        let accepts = |t: &TrueCause, code: &str| {
            t.cause == code || t.alternatives.iter().any(|other| other == code)
        };
        let named = |t: &&TrueCause| codes.iter().any(|code| accepts(t, code));
        let hits = truth.causes.iter().filter(named).count();
        let invented = codes.iter().filter(|code| {
            let is_true = truth.causes.iter().any(|t| accepts(t, code));
            !is_true && !truth.acceptable_extra.iter().any(|extra| extra == *code)
        });
        let invented = invented.count();
        if found.verdict != truth.verdict || hits < truth.causes.len() || invented > 0 {
            let causes: Vec<&str> = truth.causes.iter().map(|t| t.cause.as_str()).collect();
            let line = format!(
                "{} {}: {:?} {causes:?}, found {:?} {codes:?}",
                truth.scenario, truth.log, truth.verdict, found.verdict
            );
            self.wrong.push(line);
        }
        self.runs += 1;
        self.verdicts += usize::from(found.verdict == truth.verdict);
        if !truth.causes.is_empty() {
            self.sick += 1;
            if hits == truth.causes.len() {
                self.strict += hits as f64 / (hits + invented) as f64;
            }
            self.sick_called_healthy += usize::from(found.verdict == Verdict::Healthy);
        }
        if truth.verdict == Verdict::Healthy {
            self.healthy += 1;
            self.healthy_called_healthy += usize::from(found.verdict == Verdict::Healthy);
        }
        if let (Some(saved), [cause]) = (saved(truth), truth.causes.as_slice()) {
            let own = found
                .findings
                .iter()
                .filter(|f| accepts(cause, f.cause.code()));
            let estimates = own.filter_map(|f| Some(f.impact.as_ref()?.seconds_saved));
            let factors = estimates.filter(|s| *s > 0.0).map(|s| (s / saved).ln());
            self.factors
                .extend(factors.min_by(|a, b| a.abs().total_cmp(&b.abs())));
        }
    }

    fn of(source: &Source, settings: &Settings) -> Score {
        let (mut score, catalogue) = (Score::default(), Catalogue::builtin());
        for run in &source.runs {
            score.add(run, settings, &catalogue);
        }
        score
    }

    fn join(mut self, other: Score) -> Score {
        self.runs += other.runs;
        self.verdicts += other.verdicts;
        self.sick += other.sick;
        self.strict += other.strict;
        self.sick_called_healthy += other.sick_called_healthy;
        self.healthy += other.healthy;
        self.healthy_called_healthy += other.healthy_called_healthy;
        self.factors.extend(other.factors);
        self.wrong.extend(other.wrong);
        self
    }

    /// Right verdicts and strictly right causes.
    fn points(&self) -> f64 {
        self.verdicts as f64 + self.strict
    }

    fn row(&self, name: &str) -> String {
        let mut factors: Vec<f64> = self.factors.iter().map(|f| f.abs()).collect();
        factors.sort_by(f64::total_cmp);
        let median = factors.get(factors.len() / 2);
        format!(
            "| {name} | {} | {:.2} | {:.2} | {} of {} | {} of {} | {} |",
            self.runs,
            self.verdicts as f64 / self.runs as f64,
            self.strict / self.sick.max(1) as f64,
            self.healthy_called_healthy,
            self.healthy,
            self.sick_called_healthy,
            self.sick,
            median.map_or_else(|| "–".to_owned(), |f| format!("{:.2}", f.exp())),
        )
    }
}

/// Whether the run without the declared cause took no less time, so that nothing shows that the cause cost anything.
fn is_refuted(truth: &Truth) -> bool {
    let pair = truth.seconds_with.zip(truth.seconds_without);
    let took_no_less = pair.is_some_and(|(with, without)| without >= with);
    !truth.causes.is_empty() && !truth.resource_only && took_no_less
}

/// Seconds that the cause cost by the measurement; `None` if the runs don't establish them.
fn saved(truth: &Truth) -> Option<f64> {
    let measured =
        truth.impact_reliable && !truth.resource_only && truth.verdict == Verdict::Problem;
    let saved = truth.seconds_with? - truth.seconds_without?;
    (measured && saved > 0.0).then_some(saved)
}

fn load(folder: &str) -> Result<Source, Failure> {
    let folder = Path::new(folder);
    let truth = std::fs::read(folder.join("truth.json"))?;
    let truth: Vec<Truth> = serde_json::from_slice(&truth)?;
    let mut runs = Vec::new();
    for truth in truth {
        if is_refuted(&truth) {
            eprintln!(
                "{}: left out, it takes no less time without its cause",
                truth.scenario
            );
            continue;
        }
        let job = job::load(&folder.join(&truth.log))?;
        runs.push(Run { truth, job });
    }
    let name = folder.file_name().unwrap_or_default();
    Ok(Source {
        name: name.to_string_lossy().into_owned(),
        runs,
    })
}

/// The points of each source, for a threshold with another value.
struct Candidate {
    name: &'static str,
    value: f64,
    points: Vec<f64>,
}

fn candidates(sources: &[Source]) -> Result<Vec<Candidate>, Failure> {
    let mut candidates = Vec::new();
    for threshold in thresholds() {
        if FIXED.contains(&threshold.name) {
            continue;
        }
        for multiple in MULTIPLES {
            let (name, value) = (threshold.name, threshold.default * multiple);
            let mut settings = Settings::default();
            settings.set(name, value)?;
            let points = sources.iter().map(|s| Score::of(s, &settings).points());
            let points = points.collect();
            eprintln!("{name} = {value}: {points:?}");
            candidates.push(Candidate {
                name,
                value,
                points,
            });
        }
    }
    Ok(candidates)
}

/// The settings that are best on all sources but one: for each threshold the value with most points, its default in doubt.
fn fitted(candidates: &[Candidate], default: &[f64], left_out: usize) -> Result<Settings, Failure> {
    let others = |points: &[f64]| -> f64 {
        let kept = points.iter().enumerate().filter(|(at, _)| *at != left_out);
        kept.map(|(_, p)| p).sum()
    };
    let base = others(default);
    let mut settings = Settings::default();
    let mut names: Vec<&str> = candidates.iter().map(|c| c.name).collect();
    names.dedup();
    for name in names {
        let own = candidates.iter().filter(|c| c.name == name);
        let best = own.max_by(|a, b| others(&a.points).total_cmp(&others(&b.points)));
        if let Some(best) = best.filter(|c| others(&c.points) > base + 1e-9) {
            eprintln!("  {} = {}", best.name, best.value);
            settings.set(best.name, best.value)?;
        }
    }
    Ok(settings)
}

fn main() -> Result<(), Failure> {
    let (options, sets): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    if sets.is_empty() {
        return Err("usage: real_runs SET… [--leave-one-out]".into());
    }
    let sources = sets
        .iter()
        .map(|s| load(s))
        .collect::<Result<Vec<_>, _>>()?;
    println!(
        "| source | runs | verdict | strict | healthy called healthy | sick called healthy | saving, median factor |"
    );
    println!("|---|---|---|---|---|---|---|");
    let default = Settings::default();
    let scores: Vec<Score> = sources.iter().map(|s| Score::of(s, &default)).collect();
    for (source, score) in sources.iter().zip(&scores) {
        println!("{}", score.row(&source.name));
    }
    let sum = |scores: Vec<Score>| scores.into_iter().fold(Score::default(), Score::join);
    let points: Vec<f64> = scores.iter().map(Score::points).collect();
    println!("{}", sum(scores.clone()).row("all"));
    if options.iter().any(|o| o == "--wrong") {
        for line in scores.iter().flat_map(|s| &s.wrong) {
            println!("{line}");
        }
    }
    if options.iter().any(|o| o == "--leave-one-out") {
        let candidates = candidates(&sources)?;
        let mut left_out = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            eprintln!("without {}", source.name);
            let score = Score::of(source, &fitted(&candidates, &points, at)?);
            println!("{}", score.row(&format!("{}, left out", source.name)));
            left_out.push(score);
        }
        println!("{}", sum(left_out).row("all, each left out"));
    }
    Ok(())
}
