//! Questions about runs: who answers, the run before, and the conversation.

use agent::conclusion::Reply;
use agent::facts::{MeasuredAnswer, StepInput};
use agent::{Concluded, Observer};
use ask::Asked;
use job::Job;
use report::{Checks, Evidence, ReasonerKind, Report, Usage, say};
use runs::RunSummary;
use runs::compare::{ComparedRun, Origin};
use runs::store::Turn;
use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::compare::no_report;
use crate::error::Result;
use crate::reasoner::ReasonerChoice;
use crate::session::Session;

/// A question about a saved run.
pub struct Question {
    /// Id of the run or the start of it, or `last`.
    pub run: String,
    pub text: String,
    pub reasoner: ReasonerChoice,
    /// Whether to save the question and its answer with the run.
    pub save: bool,
    pub cancel: CancellationToken,
}

/// The answer to a question about a saved run. MCP clients see the comment of each field.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Answered {
    /// Identifier of the run.
    pub run_id: String,
    /// The question.
    pub question: String,
    /// The answer, with the ids of its evidence in brackets.
    pub text: String,
    /// Evidence that the text cites.
    pub evidence: Vec<Evidence>,
    /// Who answered.
    pub engine: report::Engine,
    /// `None` without an LLM.
    pub usage: Option<Usage>,
    /// `None` without an LLM.
    pub checks: Option<Checks>,
    pub language: report::Language,
}

impl Session {
    /// Answers the question of a report from the measurements of the run.
    pub(crate) fn measured_answer(&self, report: &Report, job: &Job) -> Option<MeasuredAnswer> {
        let question = report.question.as_deref()?;
        let summary = RunSummary::of(job);
        let earlier = || self.earlier_run(report, &summary);
        let asked = Asked::new(report, &summary, &earlier, &[]);
        Some(ask::answer(question, &[], &asked))
    }

    /// The last run of the same job before this one. Repeated analyses of the same run count once.
    fn earlier_run(&self, report: &Report, summary: &RunSummary) -> Option<ComparedRun> {
        let run = ComparedRun {
            report: report.clone(),
            summary: summary.clone(),
            origin: Origin::Kept,
        };
        let runs = self.with_store_if_any(|store| store.runs_like(&run, &|_| true));
        let runs = runs.ok()?.into_iter().rev();
        let mut earlier = runs.filter(|other| is_before(&other.report, report));
        earlier.next()
    }

    /// A run in the language of a question: its job analyzed again if it is still there, else as it is, with new sentences in that language.
    fn in_language_of(
        &self,
        question: &str,
        mut report: Report,
        summary: RunSummary,
    ) -> Result<(Report, RunSummary)> {
        let language = report::Language::of(question);
        if language == report.language {
            return Ok((report, summary));
        }
        Ok(match self.run_in(&report.run_id, language)? {
            Some(again) => (again.report, again.summary),
            None => {
                report.language = language;
                (report, summary)
            }
        })
    }

    /// Answers a question about a saved run and saves both with it. Blocks; must not be called from a thread that serves asynchronous tasks.
    ///
    /// # Errors
    /// If there is no such run, it has no report, or the LLM failed without a fallback.
    pub fn ask(&self, asked: &Question, observer: &mut dyn Observer) -> Result<Answered> {
        let run = asked.run.as_str();
        let (report, summary, turns) = self
            .with_store(|store| Ok((store.report(run)?, store.summary(run)?, store.turns(run)?)))?;
        let report = report.ok_or_else(|| no_report(run))?;
        let summary = summary.unwrap_or_default();
        let (report, summary) = self.in_language_of(&asked.text, report, summary)?;
        let cited: Vec<Evidence> = turns.iter().flat_map(|t| t.evidence.clone()).collect();
        let earlier = || self.earlier_run(&report, &summary);
        let context = Asked::new(&report, &summary, &earlier, &cited);
        let before = report
            .question
            .iter()
            .chain(turns.iter().map(|t| &t.question));
        let before: Vec<String> = before.cloned().collect();
        let measured = ask::answer(&asked.text, &before, &context);
        let reasoners = self.reasoners(&asked.reasoner)?;
        let input = ask::input(
            &asked.text,
            measured,
            &turns,
            &context,
            asked.reasoner.redact,
        );
        let services = self.services(reasoners, asked.reasoner.redact, &asked.cancel);
        let replied = agent::reply(&input, &services, observer);
        let replied = self.block_on(replied)?;
        let answered = answered(asked, &report, &input, replied);
        let turn = Turn {
            question: answered.question.clone(),
            text: answered.text.clone(),
            evidence: answered.evidence.clone(),
            reasoner: answered.engine.reasoner,
            created_at: jiff::Timestamp::now().to_string(),
        };
        if asked.save
            && let Err(error) = self.with_store(|store| store.add_turn(&report.run_id, &turn))
        {
            let error = error.one_line();
            self.monitor().warn(&say!(
                "回答没有保存：{error}",
                "the answer is not saved: {error}"
            ));
        }
        Ok(answered)
    }
}

/// The reply, else the program's own answer, with the evidence that it cites.
fn answered(
    asked: &Question,
    report: &Report,
    input: &StepInput,
    replied: Concluded<Reply>,
) -> Answered {
    let Concluded {
        conclusion: reply,
        engine,
        usage,
        checks,
        ..
    } = replied;
    let own = || input.answer.as_ref().map(|answer| answer.text.clone());
    let text = Some(reply.text).filter(|text| !text.trim().is_empty());
    let text = text.or_else(own).unwrap_or_default();
    let all = report.evidence.iter().chain(input.cited());
    let is_cited = |e: &&Evidence| reply.evidence.contains(&e.id) || agent::cites(&text, &e.id);
    let mut evidence: Vec<Evidence> = Vec::new();
    for e in all.filter(is_cited) {
        if evidence.iter().all(|known| known.id != e.id) {
            evidence.push(e.clone());
        }
    }
    Answered {
        run_id: report.run_id.clone(),
        question: llm::hide(&asked.text).into_owned(),
        text: llm::hide(&text).into_owned(),
        evidence,
        usage: usage.filter(|_| engine.reasoner == ReasonerKind::Llm),
        engine,
        checks,
        language: report.language,
    }
}

/// Whether a report is about an earlier run of the same job.
fn is_before(other: &Report, report: &Report) -> bool {
    let is_other = other.job.id != report.job.id
        || other.job.id.is_none() && other.job.path != report.job.path;
    match (&other.job.submitted, &report.job.submitted) {
        (Some(a), Some(b)) => is_other && a < b,
        _ => is_other,
    }
}
