//! Searches of a step: its sections, and a topic per relevant finding.

use std::collections::BTreeSet;

use indexer::{Filter, Section};

use crate::facts::Facts;
use crate::step::StepId;
use report::{Finding, MissingInformation, RuleResult, Verdict};

/// Maximum findings with a search of their own; more would leave each a single chunk.
const FINDINGS_ASKED: usize = 3;

/// Parts of a playbook that serve a step, one for each place of its list (with more places they start again), and what
/// to look for if there are none. Notes without sections serve the steps that take
/// cases; a section that serves another step is left to it.
pub(super) fn widths(step: StepId, facts: &Facts) -> &'static [&'static [Section]] {
    match step {
        // Without a finding, the useful sections are those on how to decide.
        _ if facts.found.findings.is_empty() => &[&[Section::Check]],
        StepId::Classify => &[&[Section::Symptom]],
        StepId::KeyCode => &[&[Section::Example]],
        StepId::Experience => &[&[Section::Cause, Section::NotWhen, Section::Cause], &[]],
        StepId::Completeness => &[&[Section::Check]],
        StepId::Hypotheses => &[&[Section::Symptom, Section::Check]],
        StepId::Advice | StepId::Answer => {
            &[&[Section::Fix, Section::TradeOffs, Section::Fix], &[]]
        }
    }
}

/// Whether cases serve a step: how the cause arose elsewhere, and how it was fixed.
pub(super) fn takes_cases(step: StepId) -> bool {
    matches!(step, StepId::Experience | StepId::Advice)
}

/// Subject of a search.
#[derive(Clone, PartialEq)]
pub(super) struct Topic {
    pub(super) text: String,
    /// Codes of causes; empty for jobs in general.
    pub(super) causes: Vec<String>,
    pub(super) prefer: Filter,
}

/// The topics of a step: the findings, and the causes with undecided rules. Hypotheses cover only undecided causes.
pub(super) fn topics(step: StepId, facts: &Facts) -> Vec<Topic> {
    let mut topics: Vec<Topic> = Vec::new();
    if step != StepId::Hypotheses {
        let mut seen = BTreeSet::new();
        let findings = facts.found.findings.iter();
        let distinct = findings.filter(|f| seen.insert(f.cause));
        let asked = distinct.take(FINDINGS_ASKED);
        topics.extend(asked.map(|finding| about(step, finding, facts)));
    }
    let is_about_gaps = matches!(step, StepId::Completeness | StepId::Hypotheses);
    let is_early = matches!(
        step,
        StepId::Classify | StepId::KeyCode | StepId::Experience
    );
    if is_about_gaps || topics.is_empty() && !is_early {
        let undecided = |cause: &String| {
            let mut open = facts.found.causes(RuleResult::Abstained);
            open.any(|code| code == cause)
        };
        let causes = gaps(facts).flat_map(|m| m.would_decide.iter().map(|c| c.code().to_owned()));
        let causes: BTreeSet<String> = causes.filter(undecided).collect();
        if !causes.is_empty() {
            topics.push(in_general(step, causes.into_iter().collect(), facts));
        } else if topics.is_empty() && facts.found.verdict == Verdict::InsufficientInformation {
            topics.push(in_general(step, Vec::new(), facts));
        }
    }
    let has_findings = step != StepId::Hypotheses && !topics.is_empty();
    if let Some(question) = facts.question.as_ref().filter(|_| has_findings) {
        topics.push(Topic {
            text: question.clone(),
            causes: Vec::new(),
            prefer: Filter::default(),
        });
    }
    topics
}

/// The topic of a step about some causes, or about jobs in general: from the user's question and the missing
/// information.
fn in_general(step: StepId, causes: Vec<String>, facts: &Facts) -> Topic {
    let mut parts: Vec<String> = facts.question.clone().into_iter().collect();
    parts.extend(gaps(facts).map(|m| format!("{} {}", m.info, m.reason)));
    parts.extend(causes.iter().map(|cause| words(cause)));
    let job = facts.terms.job;
    parts.push(format!("{job} {}", step.title(facts.language)));
    Topic {
        text: parts.join(" "),
        causes,
        prefer: Filter {
            steps: vec![step.id().to_owned()],
            ..Filter::default()
        },
    }
}

/// The same for all steps before the advice: passages on a cause are ranked once, and each step takes its
/// sections.
fn about(step: StepId, finding: &Finding, facts: &Facts) -> Topic {
    let (found, cause) = (&facts.found, finding.cause.code());
    let cause_words = words(cause);
    let mut parts = vec![cause_words.as_str(), &finding.summary];
    match step {
        StepId::Advice | StepId::Answer => {
            let suggestions = found.suggestions.iter().zip(&found.topics);
            let mine = suggestions.filter(|(s, _)| s.finding.as_deref() == Some(&finding.id));
            parts.extend(mine.map(|(_, topic)| topic.as_str()));
        }
        _ => {}
    }
    Topic {
        text: parts.join(" "),
        prefer: Filter {
            causes: vec![cause.to_owned()],
            problem_types: vec![finding.problem_type.code().to_owned()],
            ..Filter::default()
        },
        causes: vec![cause.to_owned()],
    }
}

fn words(cause: &str) -> String {
    cause.replace(['.', '_'], " ")
}

/// The most relevant gaps; with all of them a query would be about everything.
fn gaps(facts: &Facts) -> impl Iterator<Item = &MissingInformation> {
    let missing = facts.found.missing.iter().take(3);
    missing.map(|m| &m.information)
}
