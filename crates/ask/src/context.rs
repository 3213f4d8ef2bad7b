//! The input of a language model for a saved run, next to the program's answer.

use agent::facts::{MeasuredAnswer, StepInput};
use agent::measures::{Measures, TableRow};
use agent::outline::{ScriptText, StageRow, ranks};
use agent::saved::{Answered, SavedRun};
use agent::wording::operator;
use report::measure::book;
use report::{Evidence, Report};
use runs::store::Turn;

use crate::said::{self, Said};
use crate::{Asked, stage, thing};
use runs::{InputSummary, RunSummary, StageSummary};

/// The input of the step `answer`.
pub fn input(
    question: &str,
    answer: MeasuredAnswer,
    turns: &[Turn],
    run: &Asked<'_>,
    redact: bool,
) -> StepInput {
    let known: Vec<Evidence> = run.cited.iter().chain(&answer.evidence).cloned().collect();
    let run = Asked::new(run.report, run.summary, run.earlier, &known);
    let turns = turns.iter().map(|turn| Answered {
        question: &turn.question,
        text: &turn.text,
        evidence: &turn.evidence,
    });
    let mut next = Some(said::next(&run));
    let saved = SavedRun {
        question: Some((question, answer)),
        turns: turns.collect(),
        stages: stages(&run, &mut next),
        tables: tables(&run, &mut next),
        ..saved(&run, redact)
    };
    saved.input()
}

/// The input of THINK 5 for advice on one finding of a run. It may cite only the report's evidence, as readers have no other.
pub fn advice_input(
    report: &Report,
    summary: &RunSummary,
    finding: &str,
    redact: bool,
) -> StepInput {
    let no_earlier = || None;
    let run = Asked::new(report, summary, &no_earlier, &[]);
    let saved = SavedRun {
        stages: stages(&run, &mut None),
        tables: tables(&run, &mut None),
        ..saved(&run, redact)
    };
    saved.about(finding)
}

/// The run, without its stages, its inputs and a question.
fn saved<'a>(run: &Asked<'a>, redact: bool) -> SavedRun<'a> {
    let script = run.summary.script.as_ref();
    SavedRun {
        report: run.report,
        question: None,
        turns: Vec::new(),
        errors: run.summary.error.iter().cloned().collect(),
        stages: Vec::new(),
        tables: Vec::new(),
        script: script.map(|s| ScriptText {
            file: s.file.clone(),
            text: s.text.clone(),
        }),
        code: run.summary.code.clone(),
        names: run.summary.masked_names(),
        redact,
    }
}

/// The stages of the run, with evidence numbered from `next` if they are to cite any. Stages of findings come first, then the
/// longest: a prompt shows the first ones that fit.
fn stages(run: &Asked<'_>, next: &mut Option<usize>) -> Vec<StageRow> {
    let summary = run.summary;
    let mut order: Vec<usize> = (0..summary.stages.len()).collect();
    let weight = |at: &usize| {
        let stage = &summary.stages[*at];
        let is_found = stage::findings(run, stage).next().is_some();
        (is_found, stage.get(&book::BUSY).unwrap_or(0.0))
    };
    order.sort_by(|a, b| {
        let (a, b) = (weight(a), weight(b));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    let ranks = ranks(&order);
    let row = |(at, s): (usize, &StageSummary)| {
        let describe = |said: &mut Said<'_>| stage::describe(said, run, at);
        let (measures, evidence) = described(run, next, describe);
        let language = run.report.language;
        let operators = s.operators.iter();
        let operators = operators.map(|o| operator(&o.id, &o.keys, language));
        StageRow {
            name: s.name.clone(),
            operators: operators.collect(),
            vertices: s.get(&book::VERTICES).map(|n| n as u64),
            lines: s.lines.clone(),
            measures,
            evidence,
            rank: ranks[at],
        }
    };
    summary.stages.iter().enumerate().map(row).collect()
}

/// The sentences about one thing, and the evidence they cite.
fn described(
    run: &Asked<'_>,
    next: &mut Option<usize>,
    describe: impl FnOnce(&mut Said<'_>),
) -> (Measures, Vec<Evidence>) {
    let mut said = Said::numbered(run, *next);
    describe(&mut said);
    *next = said.next();
    let (lines, evidence) = said.into_lines();
    (Measures { lines }, evidence)
}

/// The inputs of the run, the largest first.
fn tables(run: &Asked<'_>, next: &mut Option<usize>) -> Vec<TableRow> {
    let mut inputs: Vec<&InputSummary> = run.summary.inputs.iter().collect();
    let size = |i: &InputSummary| i.get(&book::STORED_BYTES).unwrap_or(-1.0);
    inputs.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let row = |(rank, input): (usize, &&InputSummary)| {
        let describe = |said: &mut Said<'_>| thing::describe_input(said, input);
        let (measures, evidence) = described(run, next, describe);
        TableRow {
            name: input.name.clone(),
            rank,
            measures,
            evidence,
        }
    };
    inputs.iter().enumerate().map(row).collect()
}
