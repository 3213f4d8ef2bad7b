//! What a question about a saved run looks at: the facts that the report and the run kept.

use std::collections::HashSet;
use std::sync::Arc;

use diagnosis::Completeness;
use report::{Language, Report, RuleResult, Suggestion};

use crate::code::CodeExcerpt;
use crate::facts::{Facts, MeasuredAnswer, Reading, Remembered, StepInput};
use crate::found::{Cleared, Found};
use crate::measures;
use crate::outline::{Outline, ScriptText, StageRow};
use crate::private;
use crate::terms::Terms;

/// A saved run, and what is asked about it.
pub struct SavedRun<'a> {
    pub report: &'a Report,
    /// The question, and its answer by the program; `None` if nothing was asked.
    pub question: Option<(&'a str, MeasuredAnswer)>,
    /// Earlier questions with their answers, oldest first.
    pub turns: &'a [(String, String)],
    pub stages: Vec<StageRow>,
    pub script: Option<ScriptText>,
    /// C# that the findings are about.
    pub code: Vec<CodeExcerpt>,
    /// Names that the owners of the job chose.
    pub names: Vec<String>,
    /// Whether those names are masked; script and code are then left out, as their words are not known.
    pub redact: bool,
}

impl SavedRun<'_> {
    /// What the step looks at.
    pub fn input(self) -> StepInput {
        let report = self.report;
        let language = report.language;
        let remembered = |(n, (question, answer)): (usize, &(String, String))| Remembered {
            step: format!("turn{}", n + 1),
            title: question.clone(),
            conclusion: serde_json::Value::Null,
            text: answer.clone(),
            lines: vec![answer.clone()],
        };
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
                names: self.names.clone(),
                stages: self.stages,
                statements: Vec::new(),
                tables: Vec::new(),
                script: self.script.filter(|_| !self.redact),
                code,
                errors: Vec::new(),
                unread: Vec::new(),
                parsed: Vec::new(),
            },
        };
        StepInput {
            suggestions: facts.found.suggestions.clone(),
            facts: Arc::new(facts),
            experiences: Vec::new(),
            memory: self.turns.iter().enumerate().map(remembered).collect(),
            reading: Reading::default(),
            answer,
        }
    }

    /// What THINK 5 looks at if it advises on one finding only.
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
        private::mask_of(names.chain(of_job).chain(path))
    }
}

fn found(report: &Report, language: Language) -> Found {
    let cleared = report
        .rules
        .iter()
        .filter(|r| r.outcome == RuleResult::Cleared);
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
        time: time
            .map(|account| measures::time(account, language))
            .unwrap_or_default(),
        cleared: cleared
            .map(|rule| Cleared {
                cause: rule.cause.code().to_owned(),
                by: rule.text.clone(),
            })
            .collect(),
        ruled_out: Vec::new(),
        missing: Vec::new(),
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
