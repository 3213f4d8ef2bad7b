//! The rows of one result: the job, its findings, the segments of its time account. Unknown is `None`, never 0.

use std::rc::Rc;

use jiff::Timestamp;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use report::measure::{Value, Values, book};
use report::{
    Finding, JobEngine, JobState, ProblemType, Segment, Severity, SuggestionKind, Verdict,
};

use super::object::{Digest, Proposal, Stored};
use super::path_of;
use crate::cluster::{ClusterKey, script_of};
use crate::result::Status;

/// All rows of one result.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    pub job: Rc<JobRow>,
    pub findings: Vec<FindingRow>,
    pub segments: Vec<SegmentRow>,
}

/// One analyzed job, or one that could not be analyzed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobRow {
    pub key: String,
    pub uri: String,
    /// Path of the result in the store.
    pub report: String,
    pub status: Status,
    pub tries: Option<u32>,
    pub reason: Option<String>,
    pub job_id: Option<String>,
    pub name: Option<String>,
    pub engine: Option<JobEngine>,
    pub state: Option<JobState>,
    pub owner: Option<String>,
    pub queue: Option<String>,
    pub submitted: Option<Timestamp>,
    /// Monday of the week of submission, UTC.
    pub week: Option<Date>,
    pub script_hash: Option<String>,
    pub script_shape: Option<String>,
    pub total_seconds: Option<f64>,
    pub avoidable_seconds: Option<f64>,
    pub explained_share: Option<f64>,
    pub cost_hours: Option<f64>,
    pub wasted_hours: Option<f64>,
    pub cost_unit: Option<String>,
    /// Measures of the job.
    pub values: Values,
    pub verdict: Option<Verdict>,
    pub problem_type: Option<ProblemType>,
    pub findings: Option<usize>,
    /// Codes, costliest finding first, separated by commas; `None` without findings.
    pub causes: Option<String>,
    /// Of the costliest finding.
    pub cause: Option<&'static str>,
    pub severity: Option<Severity>,
    pub script_lines: Option<[u32; 2]>,
    pub suggestion: Option<String>,
    pub suggestion_kind: Option<SuggestionKind>,
    pub gain: Option<String>,
    pub missing_file: Option<String>,
}

/// One finding of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct FindingRow {
    pub job: Rc<JobRow>,
    pub finding: Finding,
    pub cluster: ClusterKey,
    /// Its part of the job's avoidable seconds.
    pub avoidable_seconds: Option<f64>,
    /// The best suggestion that fixes it.
    pub suggestion: Option<Proposal>,
}

/// One cluster of findings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterRow {
    /// [`ClusterKey::id`].
    pub cluster: String,
    pub cause: String,
    /// Name of the script for people.
    pub script: Option<String>,
    pub stage_role: Option<String>,
    pub jobs: usize,
    pub findings: usize,
    pub avoidable_seconds: f64,
    /// Key of the job with the costliest finding.
    pub costliest: String,
    /// Best suggestion of the rules for that finding.
    pub suggestion: Option<String>,
    /// Advice of a model on a finding of the cluster.
    pub advice: Option<String>,
    /// Key of the result with that finding.
    pub advised: Option<String>,
    pub model: Option<String>,
    pub calls: Option<u32>,
    pub cost: Option<f64>,
}

/// One segment of a job's time account.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentRow {
    pub job: Rc<JobRow>,
    pub segment: Segment,
    /// Cause of the finding that claims it.
    pub cause: Option<&'static str>,
}

impl Rows {
    /// The rows of a result.
    pub fn of(mut stored: Stored) -> Rows {
        let digest = stored
            .report
            .take()
            .filter(|_| stored.status == Status::Done);
        let mut job = JobRow::new(stored);
        let Some(mut digest) = digest else {
            return Rows {
                job: Rc::new(job),
                findings: Vec::new(),
                segments: Vec::new(),
            };
        };
        job.fill(&digest);
        let job = Rc::new(job);
        let segments = std::mem::take(&mut digest.time).map_or_else(Vec::new, |t| t.segments);
        let segments = segments.into_iter().map(|segment| SegmentRow {
            job: Rc::clone(&job),
            cause: claimed_by(&segment, &digest.findings),
            segment,
        });
        let segments = segments.collect();
        let script = script_of(job.script_shape.as_deref(), job.name.as_deref());
        let parts = parts(job.avoidable_seconds, &digest.findings);
        let suggestions = digest.suggestions;
        let findings = digest.findings.into_iter().zip(parts);
        let findings = findings.map(|(finding, avoidable_seconds)| FindingRow {
            job: Rc::clone(&job),
            cluster: ClusterKey {
                cause: finding.cause.code(),
                script: script.clone(),
                role: finding.stage.as_deref().and_then(stage_role),
            },
            suggestion: suggestions
                .iter()
                .find(|s| s.finding.as_ref() == Some(&finding.id))
                .cloned(),
            avoidable_seconds,
            finding,
        });
        Rows {
            findings: findings.collect(),
            segments,
            job,
        }
    }
}

impl JobRow {
    /// The values that are known without a report.
    fn new(stored: Stored) -> JobRow {
        JobRow {
            report: path_of(&stored.key),
            key: stored.key,
            uri: stored.uri,
            status: stored.status,
            tries: stored.tries,
            reason: stored.reason,
            values: stored.summary.unwrap_or_default().values,
            ..JobRow::default()
        }
    }

    fn fill(&mut self, digest: &Digest) {
        let job = digest.job.clone();
        self.job_id = job.id;
        self.name = job.name;
        self.engine = job.engine;
        self.state = Some(job.state).filter(|s| *s != JobState::Unknown);
        self.owner = job.owner;
        self.queue = job.queue;
        self.submitted = job.submitted.and_then(|text| text.parse().ok());
        self.week = self.submitted.and_then(monday);
        self.script_hash = job.script_hash;
        self.script_shape = job.script_shape;
        self.total_seconds = job.total_seconds.and_then(millis);
        let stated = [
            (&book::ELAPSED, job.elapsed_seconds),
            (&book::STAGES, job.stages.map(|n| n as f64)),
            (&book::JOB_VERTICES, job.vertices.map(|n| n as f64)),
        ];
        for (measure, number) in stated {
            if self.values.get(measure).is_none() {
                self.values.set(measure, number.and_then(Value::unsaved));
            }
        }
        self.verdict = Some(digest.verdict);
        self.problem_type = Some(digest.problem_type);
        if let Some(time) = &digest.time {
            self.avoidable_seconds = time.avoidable_seconds.and_then(millis);
            self.explained_share = Some(time.explained_share).filter(|s| s.is_finite());
        }
        if let Some(cost) = &digest.cost {
            self.cost_hours = cost.vertex_hours.and_then(micros);
            self.wasted_hours = cost.wasted_vertex_hours.and_then(micros);
            self.cost_unit = Some(cost.unit.clone());
        }
        self.findings = Some(digest.findings.len());
        self.causes = causes(&digest.findings);
        if let Some(first) = digest.findings.first() {
            self.cause = Some(first.cause.code());
            self.severity = Some(first.severity);
            self.script_lines = first.script_lines;
        }
        if let Some(best) = digest.suggestions.first() {
            self.suggestion = Some(best.title.clone());
            self.suggestion_kind = Some(best.kind);
            self.gain = Some(best.gain.clone()).filter(|g| !g.is_empty());
        }
        let missing = digest.missing_information.first();
        self.missing_file = missing.map(|m| m.file.clone());
    }
}

/// Each cause once.
fn causes(findings: &[Finding]) -> Option<String> {
    let mut codes: Vec<&str> = Vec::new();
    for finding in findings {
        let code = finding.cause.code();
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    (!codes.is_empty()).then(|| codes.join(", "))
}

fn claimed_by(segment: &Segment, findings: &[Finding]) -> Option<&'static str> {
    let claimant = segment.finding.as_ref()?;
    let finding = findings.iter().find(|f| f.id == *claimant)?;
    Some(finding.cause.code())
}

/// Divides the avoidable seconds of a job among its findings in proportion to each fix's saving alone: fixes overlap, so only such
/// parts add up. `None` for a finding without an estimate.
fn parts(avoidable: Option<f64>, findings: &[Finding]) -> Vec<Option<f64>> {
    let saved = |f: &Finding| Some(f.impact.as_ref()?.seconds_saved).filter(|s| *s >= 0.0);
    let all: f64 = findings.iter().filter_map(saved).sum();
    let part = |f| Some(avoidable? * (saved(f)? / all)).filter(|s| s.is_finite());
    findings.iter().map(|f| part(f).and_then(millis)).collect()
}

/// The stage's role, which stays the same when the script is compiled again: `Combine_Reduce` of `SV3_Combine_Reduce`. `None` for a
/// name that is only a number.
pub(super) fn stage_role(stage: &str) -> Option<String> {
    let is_number = |head: &str| head.ends_with(|c: char| c.is_ascii_digit());
    let role = match stage.split_once('_') {
        Some((head, rest)) if is_number(head) => rest,
        _ => stage,
    };
    let named = !role.is_empty() && !role.contains(|c: char| c.is_ascii_digit());
    named.then(|| role.to_owned())
}

fn monday(submitted: Timestamp) -> Option<Date> {
    let date = submitted.to_zoned(TimeZone::UTC).date();
    let days = date.weekday().since(Weekday::Monday);
    date.checked_sub(jiff::Span::new().days(days)).ok()
}

/// Seconds to the millisecond, so that every output holds the same short number.
pub(super) fn millis(seconds: f64) -> Option<f64> {
    Some((seconds * 1e3).round() / 1e3).filter(|s| s.is_finite())
}

/// Hours to the millionth (3.6 ms).
fn micros(hours: f64) -> Option<f64> {
    Some((hours * 1e6).round() / 1e6).filter(|h| h.is_finite())
}

/// Code of a value of the contract.
pub(crate) fn code(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(code)) => code,
        _ => String::new(),
    }
}
