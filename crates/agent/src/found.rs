//! Results of the rules, in the form that the steps need.

use std::cmp::Reverse;

use diagnosis::{Completeness, Diagnosis, Missing, Suggested};
use job::Job;
use job::catalogue::Catalogue;
use report::{
    Cause, Evidence, Finding, JobState, ProblemType, RuleOutcome, RuleResult, Suggestion,
    SuggestionKind, Verdict,
};
use serde::Serialize;

use crate::conclusion::WantedFile;
use crate::measures::Measures;
use crate::outline::ListedFile;
use crate::relevance;

/// Preference needed to rank a suggestion above the previous one: two people who accepted it,
/// without an objection, make a sixth.
const PLACE: f32 = 0.15;

/// Feedback on a kind of suggestion for a cause.
pub type KindPrior<'a> = dyn Fn(&str, SuggestionKind) -> f32 + Sync + 'a;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    pub verdict: Verdict,
    pub problem_type: ProblemType,
    pub findings: Vec<Finding>,
    /// Evidence of the findings only.
    pub evidence: Vec<Evidence>,
    /// Where the time went.
    pub time: Measures,
    /// Causes that the facts rule out, if they could have been.
    pub cleared: Vec<Cleared>,
    /// How each rule ended.
    #[serde(skip)]
    pub outcomes: Vec<(Cause, RuleResult)>,
    /// Most relevant first.
    pub missing: Vec<Missing>,
    /// Files that could change a judgement although no rule insists on them, most useful first.
    #[serde(skip)]
    pub helpful: Vec<WantedFile>,
    pub completeness: Completeness,
    /// Minimum relevance of a recommended file that no rule needs.
    pub threshold: f64,
    /// The thresholds of the rules.
    #[serde(skip)]
    pub settings: diagnosis::Settings,
    /// Without the experience that supports them.
    #[serde(skip)]
    pub suggestions: Vec<Suggestion>,
    /// Search topic of each suggestion.
    #[serde(skip)]
    pub topics: Vec<String>,
}

/// A cause that the facts rule out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cleared {
    /// Code of the cause.
    pub cause: String,
    /// By what.
    pub by: String,
}

impl Found {
    /// Collects the rules' results; `unread` are the files that the rules did not see.
    pub(crate) fn of(
        job: &Job,
        diagnosis: &Diagnosis,
        (catalogue, settings): (&Catalogue, &diagnosis::Settings),
        unread: &[ListedFile],
        prior: Option<&KindPrior<'_>>,
    ) -> Found {
        let threshold = settings.get(&diagnosis::MIN_RELEVANCE);
        let (suggestions, topics) = by_feedback(diagnosis, prior);
        Found {
            verdict: diagnosis.verdict,
            problem_type: diagnosis.problem_type(),
            findings: diagnosis.findings.clone(),
            time: Measures::default(),
            evidence: diagnosis.evidence_of_findings().to_vec(),
            cleared: cleared(&diagnosis.rules, job.info.state),
            outcomes: outcomes(&diagnosis.rules),
            missing: diagnosis.missing.clone(),
            helpful: helpful(job, catalogue, unread),
            threshold,
            settings: settings.clone(),
            completeness: diagnosis.completeness,
            suggestions,
            topics,
        }
    }
}

pub(crate) fn outcomes(rules: &[RuleOutcome]) -> Vec<(Cause, RuleResult)> {
    rules.iter().map(|r| (r.cause, r.outcome)).collect()
}

/// Causes that the facts rule out. A failure cause is not listed for a job that succeeded.
pub(crate) fn cleared(rules: &[RuleOutcome], state: JobState) -> Vec<Cleared> {
    let has_failed = state != JobState::Succeeded;
    let cleared = rules
        .iter()
        .filter(|rule| rule.outcome == RuleResult::Cleared && (has_failed || !is_end(rule.cause)));
    let cleared = cleared.map(|rule| Cleared {
        cause: rule.cause.code().to_owned(),
        by: rule.text.clone(),
    });
    cleared.collect()
}

/// Whether a cause is how a job ends.
fn is_end(cause: Cause) -> bool {
    use Cause::{CompileFailure, ExternalFailure, InputFailure, LimitFailure, UserCodeFailure};
    matches!(
        cause,
        CompileFailure | LimitFailure | UserCodeFailure | InputFailure | ExternalFailure
    )
}

/// The suggestions and their topics. For one finding, the kinds that feedback favors come first.
fn by_feedback(
    diagnosis: &Diagnosis,
    prior: Option<&KindPrior<'_>>,
) -> (Vec<Suggestion>, Vec<String>) {
    let mut ordered = Vec::new();
    for finding in &diagnosis.findings {
        let of_finding = |s: &&Suggested| s.suggestion.finding.as_ref() == Some(&finding.id);
        let suggested = diagnosis.suggestions.iter().filter(of_finding);
        // The rules' order is worth something too: a place takes more than one click.
        let weighed = suggested.enumerate().map(|(place, s)| {
            let favor = prior.map_or(0.0, |p| p(finding.cause.code(), s.suggestion.kind));
            (favor - PLACE * place as f32, s)
        });
        let mut group: Vec<(f32, &Suggested)> = weighed.collect();
        group.sort_by(|a, b| b.0.total_cmp(&a.0));
        ordered.extend(group.into_iter().map(|(_, s)| s.clone()));
    }
    for (index, s) in ordered.iter_mut().enumerate() {
        s.suggestion.id = format!("S{}", index + 1);
    }
    ordered.into_iter().map(|s| (s.suggestion, s.topic)).unzip()
}

/// Unread files that hold information that makes a rule surer or more exact, those that serve
/// most rules first. A rule that has its needs may still judge otherwise with them.
fn helpful(job: &Job, catalogue: &Catalogue, unread: &[ListedFile]) -> Vec<WantedFile> {
    let mut found: Vec<(Reverse<usize>, u64, WantedFile)> = Vec::new();
    for listed in unread {
        let mut files = job.files.iter();
        let kind = files.find(|f| f.name == listed.file).map(|f| f.kind);
        let entry = kind.and_then(|kind| catalogue.entry(kind));
        let Some(entry) = entry.filter(|e| e.parser.is_some()) else {
            continue;
        };
        let served = relevance::served(entry).count();
        if served > 0 {
            let wanted = WantedFile {
                file: listed.file.clone(),
                reason: listed.reason.clone(),
                part: None,
            };
            found.push((Reverse(served), listed.bytes, wanted));
        }
    }
    // Most rules first; of equals the cheapest.
    found.sort_by(|(a, x, one), (b, y, other)| (a, x, &one.file).cmp(&(b, y, &other.file)));
    found.into_iter().map(|(_, _, wanted)| wanted).collect()
}
