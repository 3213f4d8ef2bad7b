//! Changes between two runs: times, rows, bytes, vertices, estimates, plan, inputs, script, findings, and the most likely reason
//! of the difference.
//!
//! Works on the data in the run store (report and summary), so no job folder is needed. Data missing from a run is listed in
//! `not_compared` and is no difference.

mod claims;
mod contrast;
mod findings;
mod inputs;
mod matching;
mod measured;
mod model;
mod plan;
mod reason;
mod script;
mod shares;
mod stages;
mod totals;
mod wording;

use report::measure::book;
use report::{Language, Report, SegmentKind};

use crate::RunSummary;
pub(crate) use inputs::undated;
pub use model::*;
pub(crate) use totals::total;

/// Changes below this share count as noise: two runs of the same script on the same data differ by
/// a few percent.
const NOISE: f64 = 0.1;

/// One of the two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRun {
    pub report: Report,
    pub summary: RunSummary,
    pub origin: Origin,
}

impl ComparedRun {
    /// Seconds before the job ran.
    fn before(&self) -> Option<f64> {
        let job = &self.report.job;
        let before = job.total_seconds.zip(job.elapsed_seconds);
        let before = before.map(|(total, ran)| (total - ran).max(0.0));
        before.or_else(|| self.summary.get(&book::QUEUED))
    }

    fn compiled(&self) -> f64 {
        let segments = self.report.time.iter().flat_map(|time| &time.segments);
        let compiled = segments.filter(|s| s.kind == SegmentKind::Compile);
        compiled.map(|s| s.seconds).sum()
    }

    /// Seconds before the job ran, without compilation.
    fn waited(&self) -> Option<f64> {
        Some((self.before()? - self.compiled()).max(0.0))
    }
}

pub fn compare(a: &ComparedRun, b: &ComparedRun, language: Language) -> Comparison {
    let pairs = matching::stages(&a.summary, &b.summary);
    let mut comparison = Comparison {
        schema_version: COMPARISON_VERSION,
        language,
        a: header(a),
        b: header(b),
        same_job: inputs::same_job(a, b),
        headline: String::new(),
        reasons: Vec::new(),
        totals: totals::totals(a, b),
        findings: findings::changes(a, b, &pairs),
        stages: stages::changes(a, b, &pairs),
        plan: plan::changes(&a.summary, &b.summary, &pairs),
        inputs: inputs::changes(a, b),
        estimates: plan::estimates(&a.summary, &b.summary, &pairs),
        script: script::change(&a.summary, &b.summary),
        not_compared: wording::gaps(a, b, language),
    };
    comparison.reasons = reason::reasons(a, b, &comparison, language);
    comparison.headline = wording::headline(&comparison);
    comparison
}

fn header(run: &ComparedRun) -> RunHeader {
    let job = &run.report.job;
    RunHeader {
        run_id: (run.origin != Origin::Folder).then(|| run.report.run_id.clone()),
        name: job.label().to_owned(),
        path: job.path.clone(),
        state: job.state,
        verdict: run.report.verdict,
        engine: job.engine,
        causes: run.report.findings.iter().map(|f| f.cause).collect(),
        elapsed_seconds: job.elapsed_seconds,
        total_seconds: job.total_seconds,
        origin: run.origin,
    }
}
