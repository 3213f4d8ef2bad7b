//! Words a diagnosis in the report's language: findings, evidence and suggestions with
//! their ids.
//!
//! Evidence is numbered in the order in which the ranked findings use it, each fact once.

use std::collections::HashMap;

use diagnosis::model::{self as found, Diagnosis, Fact, Outcome};
use job::Job;
use job::catalogue::Catalogue;

use crate::conclusion::WantedFile;
use crate::facts::{Cleared, Missing, Score};
use crate::request::KindPrior;
use report::{
    Evidence, Finding, Language, MissingInformation, Origin, ProblemType, RuleOutcome, RuleResult,
    Source, Suggestion,
};

/// Preference by which a suggestion passes the one before it: two people who accepted it, with
/// nobody against it, make a sixth.
const PLACE: f32 = 0.15;

/// Deduplicated evidence with ids.
#[derive(Default)]
pub(crate) struct Numbered {
    pub evidence: Vec<Evidence>,
    known: HashMap<FactKey, String>,
}

/// What makes two facts the same: metric, file, locator, value.
type FactKey = (String, String, Option<String>, String);

impl Numbered {
    /// Id of a fact; a fact that is already there keeps its id.
    fn id(&mut self, fact: &Fact, language: Language) -> String {
        let value = serde_json::to_string(&fact.value).unwrap_or_default();
        let key = (
            fact.metric.clone(),
            fact.source.file.clone(),
            fact.source.locator.clone(),
            value,
        );
        let evidence = &mut self.evidence;
        let id = self.known.entry(key).or_insert_with(|| {
            let id = format!("E{}", evidence.len() + 1);
            evidence.push(entry(id.clone(), fact, language));
            id
        });
        id.clone()
    }

    /// Ids of facts, each once.
    fn ids(&mut self, facts: &[Fact], language: Language) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for fact in facts {
            let id = self.id(fact, language);
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }
}

fn entry(id: String, fact: &Fact, language: Language) -> Evidence {
    Evidence {
        id,
        metric: fact.metric.clone(),
        value: fact.value.clone(),
        unit: fact.unit.map(str::to_owned),
        expected: fact.expected.clone(),
        source: Source {
            file: fact.source.file.clone(),
            locator: fact.source.locator.clone(),
        },
        text: fact.text.pick(language).to_owned(),
    }
}

/// Findings with their evidence; ids are `prefix` and a number.
pub(crate) fn findings(
    found: &[found::Finding],
    prefix: &str,
    numbered: &mut Numbered,
    language: Language,
) -> Vec<Finding> {
    let word = |(index, finding): (usize, &found::Finding)| Finding {
        id: format!("{prefix}{}", index + 1),
        cause: finding.cause,
        problem_type: finding.cause.problem_type(),
        severity: finding.severity,
        confidence: finding.confidence.clamp(0.0, 1.0),
        stage: finding.stage.clone(),
        script_lines: finding.script_lines.map(|(first, last)| [first, last]),
        summary: finding.summary.pick(language).to_owned(),
        evidence: numbered.ids(&finding.evidence, language),
        impact: finding.impact.clone(),
    };
    found.iter().enumerate().map(word).collect()
}

pub(crate) fn rules(
    diagnosis: &Diagnosis,
    numbered: &mut Numbered,
    language: Language,
) -> Vec<RuleOutcome> {
    let mut word = |rule: &found::RuleOutcome| {
        let (outcome, text, lacking) = match &rule.outcome {
            Outcome::Fired { findings } => (RuleResult::Fired, findings.to_string(), Vec::new()),
            Outcome::Cleared { by } => (
                RuleResult::Cleared,
                by.pick(language).to_owned(),
                Vec::new(),
            ),
            Outcome::Abstained { lacking } => {
                (RuleResult::Abstained, lacking.join(", "), lacking.clone())
            }
        };
        RuleOutcome {
            cause: rule.cause,
            outcome,
            by: None,
            text,
            lacking: lacking.into_iter().map(str::to_owned).collect(),
            evidence: numbered.ids(&rule.facts, language),
        }
    };
    diagnosis.rules.iter().map(&mut word).collect()
}

/// The suggestions of a diagnosis, without their sources, and their topics. For one finding, the
/// kinds that feedback favors come first.
pub(crate) fn suggestions(
    diagnosis: &Diagnosis,
    findings: &[Finding],
    prior: Option<&KindPrior<'_>>,
    language: Language,
) -> (Vec<Suggestion>, Vec<String>) {
    let mut order: Vec<&found::Suggestion> = diagnosis.suggestions.iter().collect();
    if let Some(prior) = prior {
        let favour = |s: &found::Suggestion| {
            findings
                .get(s.finding)
                .map_or(0.0, |f| prior(f.cause.code(), s.kind))
        };
        let place = |s: &found::Suggestion| {
            let of_finding = diagnosis
                .suggestions
                .iter()
                .filter(|o| o.finding == s.finding);
            of_finding.take_while(|o| !std::ptr::eq(*o, s)).count()
        };
        // The rules' order is worth something too: a place takes more than one click.
        let worth = |s: &found::Suggestion| favour(s) - PLACE * place(s) as f32;
        order.sort_by(|a, b| {
            a.finding
                .cmp(&b.finding)
                .then(worth(b).total_cmp(&worth(a)))
        });
    }
    // A topic is worded in English; what the reader of another language can read is found by the title.
    let topic = |s: &found::Suggestion| match language {
        Language::En => s.topic.clone(),
        Language::Zh => format!("{} {}", s.topic, s.title.zh),
    };
    let word = |(index, s): (usize, &found::Suggestion)| {
        (suggestion(index, s, findings, language), topic(s))
    };
    order.into_iter().enumerate().map(word).unzip()
}

fn suggestion(
    index: usize,
    s: &found::Suggestion,
    findings: &[Finding],
    language: Language,
) -> Suggestion {
    let all = |texts: &[found::Text]| texts.iter().map(|t| t.pick(language).to_owned()).collect();
    Suggestion {
        id: format!("S{}", index + 1),
        finding: findings.get(s.finding).map(|f| f.id.clone()),
        kind: s.kind,
        title: s.title.pick(language).to_owned(),
        steps: all(&s.steps),
        diff: s.diff.clone(),
        verified: s.verified.filter(|_| s.diff.is_some()),
        gain: s.gain.pick(language).to_owned(),
        pros: all(&s.pros),
        cons: all(&s.cons),
        sources: Vec::new(),
        origin: Origin::Rules,
        unverified: Vec::new(),
    }
}

/// What is missing, most relevant first.
pub(crate) fn missing(diagnosis: &Diagnosis, language: Language) -> Vec<Missing> {
    let entry = |m: &found::MissingInformation| Missing {
        information: MissingInformation {
            info: m.info.to_owned(),
            file: m.file.clone(),
            present: m.present,
            would_decide: m.would_decide.clone(),
            reason: m.reason.pick(language).to_owned(),
        },
        relevance: m.relevance,
        parser: m.parser.clone(),
    };
    diagnosis.completeness.missing.iter().map(entry).collect()
}

/// Unread files that hold information by which a rule gets surer or more exact, those that serve
/// most rules first. A rule that has its needs may still judge otherwise with them.
pub(crate) fn helpful(job: &Job, catalogue: &Catalogue, language: Language) -> Vec<WantedFile> {
    let mut found: Vec<(usize, u64, WantedFile)> = Vec::new();
    for file in job.files.iter().filter(|f| !f.read) {
        let Some(entry) = catalogue.entry(file.kind).filter(|e| e.parser.is_some()) else {
            continue;
        };
        let serves = |rule: &&&dyn diagnosis::Rule| {
            let about = rule.about();
            let wanted = about.needs.iter().chain(about.helps);
            wanted.into_iter().any(|info| entry.provides.contains(info))
        };
        let causes: Vec<&str> = diagnosis::rules()
            .iter()
            .filter(serves)
            .map(|rule| rule.about().cause.code())
            .collect();
        if causes.is_empty() {
            continue;
        }
        let reason = match language {
            Language::Zh => format!(
                "{}；可能影响对 {} 的判断",
                entry.title.zh,
                some(&causes, "、", "等")
            ),
            Language::En => format!(
                "{}; bears on {}",
                entry.title.en,
                some(&causes, ", ", " and others")
            ),
        };
        found.push((
            causes.len(),
            file.bytes,
            WantedFile {
                file: file.name.clone(),
                reason,
            },
        ));
    }
    // Most rules first; of equals the cheapest.
    found.sort_by(|a, b| {
        b.0.cmp(&a.0)
            .then(a.1.cmp(&b.1))
            .then(a.2.file.cmp(&b.2.file))
    });
    found.into_iter().map(|(_, _, wanted)| wanted).collect()
}

/// The first three of some names.
fn some(names: &[&str], comma: &str, more: &str) -> String {
    let shown = names
        .iter()
        .take(3)
        .copied()
        .collect::<Vec<_>>()
        .join(comma);
    if names.len() > 3 {
        format!("{shown}{more}")
    } else {
        shown
    }
}

/// Causes that the facts rule out.
pub(crate) fn cleared(diagnosis: &Diagnosis, language: Language) -> Vec<Cleared> {
    let clear = |rule: &found::RuleOutcome| match &rule.outcome {
        Outcome::Cleared { by } => Some(Cleared {
            cause: rule.cause.code().to_owned(),
            by: by.pick(language).to_owned(),
        }),
        Outcome::Fired { .. } | Outcome::Abstained { .. } => None,
    };
    diagnosis.rules.iter().filter_map(clear).collect()
}

/// Completeness as the specification scores it.
pub(crate) fn score(diagnosis: &Diagnosis) -> Score {
    let c = &diagnosis.completeness;
    Score {
        score: c.score,
        minimum: c.minimum,
        sufficient: c.sufficient,
        progress: c.progress,
    }
}

/// Class of the top finding; `none` without one.
pub(crate) fn top_problem_type(findings: &[Finding]) -> ProblemType {
    findings
        .first()
        .map_or(ProblemType::None, |f| f.problem_type)
}
