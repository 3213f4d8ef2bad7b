//! Input of a question about a saved run: the facts in the report and the run.

use std::collections::HashSet;
use std::sync::Arc;

use diagnosis::{Completeness, Missing};
use report::{Evidence, Language, MissingInformation, Report, RuleResult, Suggestion};

use crate::facts::{Facts, MeasuredAnswer, Reading, Remembered, StepInput};
use crate::found::{self, Found};
use crate::measures::{self, TableRow};
use crate::outline::{Outline, ScriptText, StageRow};
use crate::private;
use crate::terms::Terms;
use job::model::CodeExcerpt;

/// A question about a run, answered earlier.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'a> {
    pub question: &'a str,
    pub text: &'a str,
    /// Evidence that the text cites.
    pub evidence: &'a [Evidence],
}

/// A saved run and a question about it.
pub struct SavedRun<'a> {
    pub report: &'a Report,
    /// The question, and its answer by the program; `None` without a question.
    pub question: Option<(&'a str, MeasuredAnswer)>,
    /// The conversation so far, oldest question first.
    pub turns: Vec<Answered<'a>>,
    /// Why the job failed; masked word by word where names are.
    pub errors: Vec<String>,
    pub stages: Vec<StageRow>,
    pub tables: Vec<TableRow>,
    pub script: Option<ScriptText>,
    /// C# that the findings are about.
    pub code: Vec<CodeExcerpt>,
    /// Names that the owners of the job chose.
    pub names: Vec<String>,
    /// Whether those names are masked; script and code are then left out, as their words are not known.
    pub redact: bool,
}

impl SavedRun<'_> {
    /// The input of the step.
    pub fn input(self) -> StepInput {
        let report = self.report;
        let language = report.language;
        let memory = self.remembered();
        let mask = self.redact.then(|| self.mask());
        let (question, answer) = self.question.unzip();
        let code = if self.redact { Vec::new() } else { self.code };
        let facts = Facts {
            language,
            question: question.map(str::to_owned),
            terms: Terms::of(report.job.engine.into(), language),
            job: report.job.clone(),
            mask,
            found: found(report, language),
            outline: Outline {
                names: self.names,
                stages: self.stages,
                tables: self.tables,
                script: self.script.filter(|_| !self.redact),
                code,
                errors: self.errors,
                ..Outline::default()
            },
        };
        StepInput {
            suggestions: facts.found.suggestions.clone(),
            facts: Arc::new(facts),
            experiences: Vec::new(),
            memory,
            reading: Reading::default(),
            answer,
        }
    }

    /// The conversation; each piece of evidence is listed with the first answer that cites it, unless the findings or the present
    /// answer list it.
    fn remembered(&self) -> Vec<Remembered> {
        let present = self
            .question
            .iter()
            .flat_map(|(_, answer)| &answer.evidence);
        let findings = self.report.findings.iter().flat_map(|f| &f.evidence);
        let mut listed: HashSet<&str> = findings.map(String::as_str).collect();
        listed.extend(present.map(|e| e.id.as_str()));
        let mut memory = Vec::new();
        for (n, turn) in self.turns.iter().enumerate() {
            let new = turn.evidence.iter().filter(|e| listed.insert(&e.id));
            memory.push(Remembered {
                step: format!("turn{}", n + 1),
                title: turn.question.to_owned(),
                conclusion: serde_json::Value::Null,
                text: turn.text.to_owned(),
                lines: vec![turn.text.to_owned()],
                evidence: new.cloned().collect(),
            });
        }
        memory
    }

    /// The input of THINK 5 for advice on one finding.
    pub fn about(self, finding: &str) -> StepInput {
        let mut input = self.input();
        let found = &mut Arc::make_mut(&mut input.facts).found;
        found.findings.retain(|f| f.id == finding);
        let cited: HashSet<&String> = found.findings.iter().flat_map(|f| &f.evidence).collect();
        found.evidence.retain(|e| cited.contains(&e.id));
        if let Some(finding) = found.findings.first() {
            found.problem_type = finding.problem_type;
        }
        let fixes = |s: &Suggestion| s.finding.as_deref() == Some(finding);
        found.suggestions.retain(fixes);
        input.suggestions.retain(fixes);
        input
    }

    fn mask(&self) -> llm::Mask {
        let job = &self.report.job;
        let of_job = job
            .name
            .iter()
            .chain(&job.id)
            .chain(&job.owner)
            .chain(&job.queue);
        let names = self.names.iter().map(|name| (name.as_str(), "name"));
        let of_job = of_job.map(|name| (name.as_str(), "job"));
        let path = std::iter::once((job.path.as_str(), "path"));
        let errors = self.errors.iter().map(String::as_str);
        private::mask_of(names.chain(of_job).chain(path), errors)
    }
}

fn found(report: &Report, language: Language) -> Found {
    let time = report.time.as_ref();
    let undecided = report
        .rules
        .iter()
        .filter(|r| r.outcome == RuleResult::Abstained);
    let decided = 1.0 - undecided.count() as f64 / report.rules.len().max(1) as f64;
    let ids = report.findings.iter().flat_map(|f| &f.evidence);
    let ids: HashSet<&String> = ids.collect();
    let evidence = report.evidence.iter().filter(|e| ids.contains(&e.id));
    Found {
        verdict: report.verdict,
        problem_type: report.problem_type,
        findings: report.findings.clone(),
        evidence: evidence.cloned().collect(),
        time: measures::time(time, &report.job, language),
        cleared: found::cleared(&report.rules, report.job.state),
        outcomes: found::outcomes(&report.rules),
        missing: report.missing_information.iter().map(missing).collect(),
        helpful: Vec::new(),
        completeness: Completeness {
            score: decided,
            minimum: 0.0,
            sufficient: report.missing_information.is_empty(),
            progress: decided,
        },
        threshold: 0.0,
        settings: diagnosis::Settings::default(),
        suggestions: report.suggestions.clone(),
        topics: Vec::new(),
    }
}

/// How relevant a file is, a report does not say.
fn missing(information: &MissingInformation) -> Missing {
    Missing {
        information: information.clone(),
        relevance: 0.0,
        parser: None,
    }
}
