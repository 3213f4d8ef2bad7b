//! Words a diagnosis in the report's language: findings, evidence, suggestions with their ids, and
//! the tables of stages, statements and names that the steps look at.
//!
//! Evidence is numbered in the order in which the ranked findings use it, each fact once.

use std::collections::{BTreeSet, HashMap};

use diagnosis::model::{self as found, Diagnosis, Fact, Outcome};
use job::Job;
use job::catalogue::Catalogue;
use job::model as files;

use crate::conclusion::WantedFile;
use crate::report::{
    Diagnostic, DiagnosticSeverity, Evidence, EvidenceSource, EvidenceValue, Finding, Impact,
    JobState, JobSummary, Language, MissingInformation, Origin, ProblemType, RuleOutcome,
    RuleResult, Severity, Suggestion, SuggestionKind, Verdict, Verified,
};
use crate::request::KindPrior;
use crate::view::{Cleared, Missing, Score, ScriptText, StageRow, StatementRow, UnreadFile};

/// Facts that have got an id, each once.
#[derive(Default)]
pub(crate) struct Numbered {
    pub(crate) evidence: Vec<Evidence>,
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
        value: value_of(&fact.value),
        unit: fact.unit.map(str::to_owned),
        expected: fact.expected.clone(),
        source: EvidenceSource {
            file: fact.source.file.clone(),
            locator: fact.source.locator.clone(),
        },
        text: language.pick(&fact.text).to_owned(),
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
        cause: finding.cause.code().to_owned(),
        problem_type: problem_type(finding.cause.problem_type()),
        severity: severity(finding.severity),
        confidence: finding.confidence.clamp(0.0, 1.0),
        stage: finding.stage.clone(),
        script_lines: finding.script_lines.map(|(first, last)| [first, last]),
        summary: language.pick(&finding.summary).to_owned(),
        evidence: numbered.ids(&finding.evidence, language),
        impact: finding.impact.as_ref().map(impact),
    };
    found.iter().enumerate().map(word).collect()
}

/// What became of each rule.
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
                language.pick(by).to_owned(),
                Vec::new(),
            ),
            Outcome::Abstained { lacking } => {
                (RuleResult::Abstained, lacking.join(", "), lacking.clone())
            }
        };
        RuleOutcome {
            cause: rule.cause.code().to_owned(),
            outcome,
            text,
            lacking: lacking.into_iter().map(str::to_owned).collect(),
            evidence: numbered.ids(&rule.facts, language),
        }
    };
    diagnosis.rules.iter().map(&mut word).collect()
}

fn value_of(value: &found::Value) -> EvidenceValue {
    match value {
        // JSON has no infinity; such a ratio is said in words.
        found::Value::Number(number) if !number.is_finite() => {
            EvidenceValue::Text(number.to_string())
        }
        found::Value::Number(number) => EvidenceValue::Number(*number),
        found::Value::Text(text) => EvidenceValue::Text(text.clone()),
        found::Value::Bool(yes) => EvidenceValue::Bool(*yes),
    }
}

fn impact(impact: &found::Impact) -> Impact {
    Impact {
        seconds_saved: impact.seconds_saved,
        share_of_elapsed: impact.share_of_elapsed,
        method: impact.method.clone(),
    }
}

/// The suggestions of a diagnosis, without their sources, and the topics of the latter. For one
/// finding, the kinds that feedback favours come first.
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
                .map_or(0.0, |f| prior(&f.cause, suggestion_kind(s.kind)))
        };
        order.sort_by(|a, b| {
            a.finding
                .cmp(&b.finding)
                .then(favour(b).total_cmp(&favour(a)))
        });
    }
    let word = |(index, s): (usize, &found::Suggestion)| {
        (suggestion(index, s, findings, language), s.topic.clone())
    };
    order.into_iter().enumerate().map(word).unzip()
}

fn suggestion(
    index: usize,
    s: &found::Suggestion,
    findings: &[Finding],
    language: Language,
) -> Suggestion {
    let all = |texts: &[found::Text]| texts.iter().map(|t| language.pick(t).to_owned()).collect();
    Suggestion {
        id: format!("S{}", index + 1),
        finding: findings.get(s.finding).map(|f| f.id.clone()),
        kind: suggestion_kind(s.kind),
        title: language.pick(&s.title).to_owned(),
        steps: all(&s.steps),
        diff: s.diff.clone(),
        verified: s.verified.filter(|_| s.diff.is_some()).map(verified),
        gain: language.pick(&s.gain).to_owned(),
        pros: all(&s.pros),
        cons: all(&s.cons),
        sources: Vec::new(),
        origin: Origin::Rules,
        unverified: Vec::new(),
    }
}

fn verified(v: found::Verified) -> Verified {
    Verified {
        parses: v.parses,
        columns_preserved: v.columns_preserved,
        hints_known: v.hints_known,
    }
}

/// What is missing, most relevant first.
pub(crate) fn missing(diagnosis: &Diagnosis, language: Language) -> Vec<Missing> {
    let entry = |m: &found::MissingInformation| Missing {
        information: MissingInformation {
            info: m.info.to_owned(),
            file: m.file.clone(),
            present: m.present,
            would_decide: m.would_decide.iter().map(|c| c.code().to_owned()).collect(),
            reason: language.pick(&m.reason).to_owned(),
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
            by: language.pick(by).to_owned(),
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

/// Verdict in the words of the report.
pub(crate) fn verdict(diagnosis: &Diagnosis) -> Verdict {
    match diagnosis.verdict {
        found::Verdict::Problem => Verdict::Problem,
        found::Verdict::Healthy => Verdict::Healthy,
        found::Verdict::InsufficientInformation => Verdict::InsufficientInformation,
    }
}

/// Class of the top finding; `none` without one.
pub(crate) fn top_problem_type(findings: &[Finding]) -> ProblemType {
    findings
        .first()
        .map_or(ProblemType::None, |f| f.problem_type)
}

fn problem_type(of: found::ProblemType) -> ProblemType {
    match of {
        found::ProblemType::DataSkew => ProblemType::DataSkew,
        found::ProblemType::ExcessiveShuffle => ProblemType::ExcessiveShuffle,
        found::ProblemType::Other => ProblemType::Other,
        found::ProblemType::None => ProblemType::None,
    }
}

fn severity(of: found::Severity) -> Severity {
    match of {
        found::Severity::Low => Severity::Low,
        found::Severity::Medium => Severity::Medium,
        found::Severity::High => Severity::High,
        found::Severity::Critical => Severity::Critical,
    }
}

fn suggestion_kind(of: found::SuggestionKind) -> SuggestionKind {
    match of {
        found::SuggestionKind::Rewrite => SuggestionKind::Rewrite,
        found::SuggestionKind::Hint => SuggestionKind::Hint,
        found::SuggestionKind::Parameter => SuggestionKind::Parameter,
        found::SuggestionKind::Layout => SuggestionKind::Layout,
        found::SuggestionKind::Investigate => SuggestionKind::Investigate,
    }
}

/// Name, state and size of a job; what no file tells is `None`.
pub(crate) fn summary(job: &Job) -> JobSummary {
    let vertices: Option<u64> = (0..job.stages.len())
        .map(|stage| job.vertex_count(stage).map(|count| count.value))
        .sum();
    JobSummary {
        id: job.info.id.clone(),
        name: job.info.name.clone(),
        path: job.path.display().to_string(),
        state: match job.info.state {
            files::JobState::Succeeded => JobState::Succeeded,
            files::JobState::Failed => JobState::Failed,
            files::JobState::Cancelled => JobState::Cancelled,
            files::JobState::Unknown => JobState::Unknown,
        },
        elapsed_seconds: job.info.elapsed_seconds.filter(|s| s.is_finite()),
        stages: (!job.stages.is_empty()).then_some(job.stages.len() as u64),
        vertices: vertices.filter(|_| !job.stages.is_empty()),
    }
}

/// The stages, one line each.
pub(crate) fn stages(job: &Job) -> Vec<StageRow> {
    let row = |(index, stage): (usize, &files::Stage)| StageRow {
        name: stage.name.clone(),
        operators: stage.operators.iter().map(operator).collect(),
        vertices: job.vertex_count(index).map(|count| count.value),
        lines: stage
            .operators
            .iter()
            .filter_map(|o| o.line)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
    };
    job.stages.iter().enumerate().map(row).collect()
}

fn operator(operator: &files::Operator) -> String {
    if operator.keys.is_empty() {
        operator.id.clone()
    } else {
        format!("{} ({})", operator.id, operator.keys.join(", "))
    }
}

/// The statements of the script, one line each.
pub(crate) fn statements(job: &Job) -> Vec<StatementRow> {
    let Some(script) = &job.script else {
        return Vec::new();
    };
    script
        .statements
        .iter()
        .map(|statement| StatementRow {
            target: statement.target.clone(),
            kind: format!("{:?}", statement.kind).to_lowercase(),
            lines: [statement.lines.0, statement.lines.1],
            inputs: statement
                .query
                .inputs
                .iter()
                .filter(|i| !i.name.is_empty())
                .map(|i| i.name.clone())
                .collect(),
            hints: statement
                .hints
                .iter()
                .map(|hint| script.slice(&hint.span).to_owned())
                .collect(),
        })
        .collect()
}

/// The script's text.
pub(crate) fn script(job: &Job) -> Option<ScriptText> {
    let script = job.script.as_ref().filter(|s| !s.text.is_empty())?;
    Some(ScriptText {
        file: script.file.clone(),
        text: script.text.trim_start_matches('\u{feff}').to_owned(),
    })
}

/// Every name that an answer may use: stages, operators, columns, tables, rowsets, classes, files.
pub(crate) fn names(job: &Job) -> Vec<String> {
    let mut names = BTreeSet::new();
    for stage in &job.stages {
        names.insert(stage.name.clone());
        for operator in &stage.operators {
            names.extend([operator.id.clone(), operator.class_name.clone()]);
            names.extend(operator.keys.iter().chain(&operator.right_keys).cloned());
            let channels = operator.inputs.iter().chain(&operator.outputs);
            names.extend(
                channels
                    .flat_map(|c| &c.schema)
                    .map(|column| column.name.clone()),
            );
        }
    }
    for table in &job.tables {
        names.insert(table.name.clone());
        names.extend(table.columns.iter().map(|c| c.name.clone()));
    }
    names.extend(
        job.codegen
            .iter()
            .flat_map(|c| &c.classes)
            .map(|class| class.name.clone()),
    );
    names.extend(job.files.iter().map(|file| file.name.clone()));
    names.remove("");
    names.into_iter().collect()
}

/// Names that the people of the job chose.
pub(crate) fn private_names(job: &Job) -> Vec<String> {
    let mut names = BTreeSet::new();
    for table in &job.tables {
        names.extend([table.name.clone()]);
        names.extend(table.path.clone());
        names.extend(table.columns.iter().map(|c| c.name.clone()));
        names.extend(
            table
                .columns
                .iter()
                .flat_map(|c| &c.top_values)
                .map(|v| v.value.clone()),
        );
    }
    let channels = job
        .stages
        .iter()
        .flat_map(|s| &s.operators)
        .flat_map(|o| o.inputs.iter().chain(&o.outputs));
    names.extend(
        channels
            .flat_map(|c| &c.schema)
            .map(|column| column.name.clone()),
    );
    let classes = job
        .codegen
        .iter()
        .flat_map(|c| &c.classes)
        .filter(|class| class.user_code);
    names.extend(classes.map(|class| class.name.clone()));
    names.into_iter().collect()
}

/// Errors of a failed job in a line each.
pub(crate) fn errors(job: &Job) -> Vec<String> {
    let line = |e: &files::JobError| match &e.id {
        Some(id) => format!("{id}: {}", e.message),
        None => e.message.clone(),
    };
    job.errors.iter().map(line).collect()
}

/// Files that have not been read, with what the catalogue says about them.
pub(crate) fn unread(job: &Job, catalogue: &Catalogue, language: Language) -> Vec<UnreadFile> {
    let pick = |b: &job::catalogue::Bilingual| match language {
        Language::Zh => b.zh.clone(),
        Language::En => b.en.clone(),
    };
    let useful =
        |file: &&files::JobFile| !file.read && !matches!(file.kind, files::FileKind::Ignored);
    let entry = |file: &files::JobFile| {
        let known = catalogue.entry(file.kind);
        UnreadFile {
            file: file.name.clone(),
            description: known.map(|e| pick(&e.description)).unwrap_or_default(),
            bytes: file.bytes,
            parser: known.and_then(|e| e.parser.clone()),
        }
    };
    job.files.iter().filter(useful).map(entry).collect()
}

/// What the readers could not make sense of.
pub(crate) fn diagnostics(job: &Job) -> Vec<Diagnostic> {
    let entry = |d: &files::Diagnostic| Diagnostic {
        severity: match d.severity {
            files::Severity::Error => DiagnosticSeverity::Error,
            files::Severity::Warning => DiagnosticSeverity::Warning,
        },
        file: d.file.clone(),
        locator: d.locator.clone(),
        message: d.message.clone(),
        hint: d.hint.clone(),
    };
    job.diagnostics.iter().map(entry).collect()
}
