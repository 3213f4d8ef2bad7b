//! What a language model is given of a saved run, next to the program's answer.

use agent::facts::{MeasuredAnswer, StepInput};
use agent::outline::{ScriptText, StageRow, ranks};
use agent::saved::SavedRun;
use report::Report;
use serde::{Deserialize, Serialize};

use super::{Asked, stage};
use crate::RunSummary;

/// Stages that are described, longest first.
const STAGES: usize = 40;

/// One question about a run with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub question: String,
    pub text: String,
    /// What the text cites.
    pub evidence: Vec<report::Evidence>,
    /// `offline` or `llm`.
    pub reasoner: report::ReasonerKind,
    /// RFC 3339, UTC.
    pub created_at: String,
}

/// What the step `answer` looks at.
pub fn input(
    question: &str,
    answer: MeasuredAnswer,
    turns: &[Turn],
    run: &Asked<'_>,
    redact: bool,
) -> StepInput {
    let turns: Vec<(String, String)> = turns
        .iter()
        .map(|t| (t.question.clone(), t.text.clone()))
        .collect();
    saved(run, Some((question, answer)), &turns, redact).input()
}

/// What THINK 5 looks at if it advises on one finding of a run.
pub fn advice_input(
    report: &Report,
    summary: &RunSummary,
    finding: &str,
    redact: bool,
) -> StepInput {
    let no_earlier = || None;
    let run = Asked::new(report, summary, &no_earlier, &[]);
    saved(&run, None, &[], redact).about(finding)
}

fn saved<'a>(
    run: &Asked<'a>,
    question: Option<(&'a str, MeasuredAnswer)>,
    turns: &'a [(String, String)],
    redact: bool,
) -> SavedRun<'a> {
    let script = run.summary.script.as_ref();
    SavedRun {
        report: run.report,
        question,
        turns,
        stages: stages(run),
        script: script.map(|s| ScriptText {
            file: s.file.clone(),
            text: s.text.clone(),
        }),
        code: run.summary.code.clone(),
        names: run.summary.private_names.clone(),
        redact,
    }
}

fn stages(run: &Asked<'_>) -> Vec<StageRow> {
    let summary = run.summary;
    let mut order: Vec<usize> = (0..summary.stages.len()).collect();
    let busy = |at: &usize| summary.stages[*at].busy_ms.unwrap_or(0.0);
    order.sort_by(|a, b| busy(b).total_cmp(&busy(a)));
    let ranks = ranks(&order);
    let row = |(at, s): (usize, &crate::StageSummary)| StageRow {
        name: s.name.clone(),
        operators: s
            .operators
            .iter()
            .map(|o| crate::with_keys(&o.id, &o.keys))
            .collect(),
        vertices: s.vertices,
        lines: s.lines.clone(),
        measures: match ranks[at] < STAGES {
            true => stage::described(run, at),
            false => Default::default(),
        },
        rank: ranks[at],
    };
    summary.stages.iter().enumerate().map(row).collect()
}
