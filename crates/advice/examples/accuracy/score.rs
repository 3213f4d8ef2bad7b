//! One diagnosis against the truth.

use std::path::Path;

use super::Failure;
use super::fit::{self, Judged};
use advice::diagnose;
use diagnosis::Settings;
use job::Catalogue;
use report::Language;
use serde_json::Value;

/// A diagnosis, scored.
pub(crate) struct Scored {
    label: String,
    pub(crate) kind: String,
    /// Mechanisms of its causes, or of the near miss.
    pub(crate) mechanisms: Vec<String>,
    pub(crate) truth: String,
    pub(crate) verdict: String,
    pub(crate) found: Vec<String>,
    pub(crate) missed: Vec<String>,
    pub(crate) invented: Vec<String>,
    /// Findings that the truth calls right or wrong; others are left out.
    pub(crate) judged: Vec<Judged>,
    /// |ln(estimated / true seconds saved)| of the causes found.
    pub(crate) impact: Vec<f64>,
    /// The same error for two causes together.
    pub(crate) joint: Option<f64>,
}

impl Scored {
    /// All causes found, none invented, and the right verdict.
    pub(crate) fn right(&self) -> bool {
        self.missed.is_empty() && self.invented.is_empty() && self.verdict == self.truth
    }

    pub(crate) fn is_healthy(&self) -> bool {
        self.truth == "healthy"
    }

    /// The job has a cause, but the verdict is healthy.
    pub(crate) fn dismissed(&self) -> bool {
        self.truth != "healthy" && self.verdict == "healthy"
    }

    /// One line about the errors.
    pub(crate) fn complaint(&self) -> String {
        format!(
            "{}: {}, {}; missed [{}], invented [{}], found [{}]; {}",
            self.label,
            self.kind,
            self.mechanisms.join(" + "),
            self.missed.join(" "),
            self.invented.join(" "),
            self.found.join(" "),
            self.verdict,
        )
    }
}

/// Diagnoses the job in `folder`.
pub(crate) fn score(folder: &Path, truth: &Value, label: String) -> Result<Scored, Failure> {
    let job = job::load(folder)?;
    let settings = Settings::default();
    let d = diagnose(&job, &Catalogue::builtin(), &settings, Language::En);
    let texts = |value: &Value, key: &str| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        let names = list.filter_map(|v| if key.is_empty() { v } else { &v[key] }.as_str());
        names.map(str::to_owned).collect()
    };
    let causes = &truth["causes"];
    let wanted = texts(causes, "cause");
    let extra = texts(&truth["acceptable_extra"], "");
    let codes: Vec<&str> = d.findings.iter().map(|f| f.cause.code()).collect();
    let is = |list: &[String], code: &str| list.iter().any(|c| c == code);
    let owned = |codes: Vec<&str>| codes.into_iter().map(str::to_owned).collect();
    let mut scored = Scored {
        label,
        kind: truth["kind"].as_str().unwrap_or_default().to_owned(),
        mechanisms: texts(&truth["mechanisms"], ""),
        truth: truth["verdict"].as_str().unwrap_or_default().to_owned(),
        verdict: serde_json::to_value(d.verdict)?
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        found: owned(codes.iter().copied().filter(|c| is(&wanted, c)).collect()),
        missed: wanted
            .iter()
            .filter(|w| !codes.contains(&w.as_str()))
            .cloned()
            .collect(),
        invented: owned(
            codes
                .iter()
                .copied()
                .filter(|c| !is(&wanted, c) && !is(&extra, c))
                .collect(),
        ),
        judged: Vec::new(),
        impact: Vec::new(),
        joint: None,
    };
    let log = |estimate: f64, truth: f64| {
        (estimate > 0.0 && truth > 0.0).then(|| (estimate / truth).ln().abs())
    };
    let avoidable = d.time.as_ref().and_then(|t| t.avoidable_seconds);
    if let (Some(estimate), Some(truth)) = (avoidable, truth["avoidable_seconds"].as_f64())
        && scored.kind == "two"
        && scored.missed.is_empty()
    {
        scored.joint = log(estimate, truth);
    }
    for (finding, strength) in d.findings.iter().zip(&d.strengths) {
        let code = finding.cause.code();
        let right = is(&wanted, code);
        if right || !is(&extra, code) {
            scored.judged.push(Judged {
                strength: *strength,
                share: finding.impact.as_ref().and_then(|i| i.share_of_elapsed),
                right,
            });
        }
        let cause = causes.as_array().into_iter().flatten();
        let cause = { cause }.find(|c| c["cause"] == code);
        let truth = cause.and_then(|c| c["seconds_saved"].as_f64());
        if let (Some(truth), Some(impact)) = (truth, &finding.impact) {
            scored.impact.extend(log(impact.seconds_saved, truth));
        }
    }
    Ok(scored)
}

/// Expected calibration error over ten bins; each finding with the confidence of `weights`.
pub(crate) fn calibration_error<'a>(
    judged: impl Iterator<Item = (&'a Judged, fit::Weights)>,
) -> Option<f64> {
    let mut bins = [(0.0, 0.0, 0.0); 10];
    let mut all = 0.0;
    for (j, weights) in judged {
        let p = fit::probability(weights, j);
        let bin = &mut bins[((p * 10.0) as usize).min(9)];
        bin.0 += 1.0;
        bin.1 += p;
        bin.2 += f64::from(u8::from(j.right));
        all += 1.0;
    }
    let off: f64 = bins.iter().map(|(_, p, right)| (p - right).abs()).sum();
    (all > 0.0).then(|| off / all)
}
