//! Scores diagnoses of simulated jobs against their truth, like the scoring script of the sample jobs.

use std::path::Path;

use diagnosis::{Diagnosis, Settings};
use job::{Catalogue, Job};
use report::{Language, Verdict};
use serde_json::Value;

/// Score of one job.
pub(crate) struct Scored {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) verdict_ok: bool,
    pub(crate) named_file: bool,
    pub(crate) found: Vec<String>,
    pub(crate) missed: Vec<String>,
    pub(crate) wrong: Vec<String>,
    pub(crate) stages: Vec<bool>,
    pub(crate) impact_log: Vec<f64>,
    pub(crate) confidences: Vec<(f64, bool)>,
}

impl Scored {
    /// 0 if a cause was missed, else the share of findings that are right.
    pub(crate) fn strict(&self) -> Option<f64> {
        let wanted = self.found.len() + self.missed.len();
        if wanted == 0 {
            return None;
        }
        let share = self.found.len() as f64 / (self.found.len() + self.wrong.len()).max(1) as f64;
        Some(if self.missed.is_empty() { share } else { 0.0 })
    }
}

/// Reads a folder, diagnoses it and compares with its truth.
pub(crate) fn score_folder(folder: &Path, truth: &Value) -> Scored {
    let job = job::load(folder).expect("a simulated job can be read");
    score(&diagnose(&job), truth)
}

/// Diagnoses with the defaults, in English.
pub(crate) fn diagnose(job: &Job) -> Diagnosis {
    let settings = Settings::default();
    advice::diagnose(job, &Catalogue::builtin(), &settings, Language::En)
}

fn texts(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|v| v.as_str().map(str::to_owned))
        .collect()
}

fn score(d: &Diagnosis, truth: &Value) -> Scored {
    let causes: Vec<&Value> = truth["causes"].as_array().into_iter().flatten().collect();
    let wanted: Vec<String> = causes
        .iter()
        .filter_map(|c| c["cause"].as_str().map(str::to_owned))
        .collect();
    let extra = texts(&truth["acceptable_extra"]);
    let codes: Vec<String> = d
        .findings
        .iter()
        .map(|f| f.cause.code().to_owned())
        .collect();
    let verdict = match d.verdict {
        Verdict::Problem => "problem",
        Verdict::Healthy => "healthy",
        Verdict::InsufficientInformation => "insufficient_information",
    };
    let mut files = texts(&truth["withheld"]["files"]);
    files.extend(truth["withheld"]["file"].as_str().map(str::to_owned));
    let mut scored = Scored {
        name: truth["job"].as_str().unwrap_or_default().to_owned(),
        kind: truth["kind"].as_str().unwrap_or_default().to_owned(),
        verdict_ok: truth["verdict"] == verdict,
        named_file: d
            .missing
            .iter()
            .any(|m| files.contains(&m.information.file)),
        found: codes
            .iter()
            .filter(|c| wanted.contains(c))
            .cloned()
            .collect(),
        missed: wanted
            .iter()
            .filter(|c| !codes.contains(c))
            .cloned()
            .collect(),
        wrong: codes
            .iter()
            .filter(|c| !wanted.contains(c) && !extra.contains(c))
            .cloned()
            .collect(),
        stages: Vec::new(),
        impact_log: Vec::new(),
        confidences: Vec::new(),
    };
    for f in &d.findings {
        let code = f.cause.code().to_owned();
        if wanted.contains(&code) || !extra.contains(&code) {
            scored
                .confidences
                .push((f.confidence, wanted.contains(&code)));
        }
        let Some(cause) = causes.iter().find(|c| c["cause"] == code.as_str()) else {
            continue;
        };
        if !cause["stage"].is_null() {
            let ok = texts(&cause["stages_ok"]);
            scored
                .stages
                .push(f.stage.as_ref().is_some_and(|s| ok.contains(s)));
        }
        if let (Some(truth), Some(impact)) = (cause["seconds_saved"].as_f64(), &f.impact) {
            scored
                .impact_log
                .push((impact.seconds_saved.max(1e-3) / truth).ln().abs());
        }
    }
    scored
}

/// Numbers over a set of jobs.
pub(crate) struct Summary {
    pub(crate) strict: f64,
    pub(crate) verdict: f64,
    pub(crate) stage: f64,
    pub(crate) healthy: f64,
    pub(crate) abstained_and_named: f64,
    pub(crate) impact_median_log: f64,
    pub(crate) calibration_error: f64,
    pub(crate) wrong: String,
}

/// Sums up; a share without a base is 1.
pub(crate) fn summarize(jobs: &[Scored]) -> Summary {
    let mean = |values: Vec<f64>| {
        if values.is_empty() {
            1.0
        } else {
            values.iter().sum::<f64>() / values.len() as f64
        }
    };
    let share =
        |values: Vec<bool>| mean(values.into_iter().map(|v| f64::from(u8::from(v))).collect());
    let mut logs: Vec<f64> = jobs.iter().flat_map(|j| j.impact_log.clone()).collect();
    logs.sort_by(f64::total_cmp);
    let of = |kind: &str| jobs.iter().filter(|j| j.kind == kind).collect::<Vec<_>>();
    let wrong: Vec<String> = jobs
        .iter()
        .filter(|j| !j.verdict_ok || !j.missed.is_empty() || !j.wrong.is_empty())
        .map(|j| {
            format!(
                "{} ({}): missed {:?}, wrong {:?}",
                j.name, j.kind, j.missed, j.wrong
            )
        })
        .collect();
    Summary {
        strict: mean(jobs.iter().filter_map(Scored::strict).collect()),
        verdict: share(jobs.iter().map(|j| j.verdict_ok).collect()),
        stage: share(jobs.iter().flat_map(|j| j.stages.clone()).collect()),
        healthy: share(of("none").iter().map(|j| j.verdict_ok).collect()),
        abstained_and_named: share(
            of("withheld")
                .iter()
                .map(|j| j.verdict_ok && j.named_file)
                .collect(),
        ),
        impact_median_log: logs.get(logs.len() / 2).copied().unwrap_or(0.0),
        calibration_error: calibration_error(jobs),
        wrong: wrong.join("\n"),
    }
}

/// Expected calibration error over ten bins.
fn calibration_error(jobs: &[Scored]) -> f64 {
    let all: Vec<(f64, bool)> = jobs.iter().flat_map(|j| j.confidences.clone()).collect();
    (0..10)
        .map(|bin| {
            let inside: Vec<&(f64, bool)> = all
                .iter()
                .filter(|(c, _)| ((c * 10.0) as usize).min(9) == bin)
                .collect();
            let said: f64 = inside.iter().map(|(c, _)| c).sum();
            let right = inside.iter().filter(|(_, ok)| *ok).count() as f64;
            (said - right).abs() / all.len().max(1) as f64
        })
        .sum()
}

impl Summary {
    /// Asserts the floors that the project is held to.
    pub(crate) fn assert_floors(&self) {
        let w = &self.wrong;
        assert!(self.strict >= 0.90, "strict score {:.3}\n{w}", self.strict);
        assert!(self.verdict >= 0.95, "verdict {:.3}\n{w}", self.verdict);
        assert!(self.stage >= 0.95, "stage {:.3}\n{w}", self.stage);
        assert!(self.healthy >= 1.0, "healthy {:.3}\n{w}", self.healthy);
        assert!(
            self.abstained_and_named >= 0.95,
            "abstained {:.3}\n{w}",
            self.abstained_and_named
        );
        assert!(
            self.impact_median_log <= 0.2,
            "impact {:.3}",
            self.impact_median_log
        );
        assert!(
            self.calibration_error <= 0.08,
            "calibration {:.3}",
            self.calibration_error
        );
    }
}
