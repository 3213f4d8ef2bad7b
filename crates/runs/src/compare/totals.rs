//! Numbers of the whole job.

use report::measure::{Entity, Measure, book};

use super::{ComparedRun, Pair, Total};
use crate::{RunSummary, StageSummary, sum};

/// The numbers that at least one run has, in the order of the book.
pub(super) fn totals(a: &ComparedRun, b: &ComparedRun) -> Vec<Total> {
    let pair = |measure: &'static Measure| {
        let [a, b] = [a, b].map(|run| match *measure == book::ELAPSED {
            true => run.report.job.elapsed_seconds,
            false => total(&run.summary, measure),
        });
        (measure, Pair::new(a, b))
    };
    let all = book::of(Entity::Job).map(pair);
    let same_engine = a.report.job.engine == b.report.job.engine;
    // tokens of SCOPE and slots of Spark are different resources
    let known = all.filter(|(measure, values)| {
        values.is_known() && (same_engine || **measure != book::TOKENS)
    });
    let total = |(measure, values): (&Measure, Pair)| Total {
        metric: measure.id.to_owned(),
        values,
    };
    known.map(total).collect()
}

/// A number of the whole job. Version 0.1.0 saved numbers of stages and inputs only.
pub(crate) fn total(summary: &RunSummary, measure: &'static Measure) -> Option<f64> {
    summary.get(measure).or_else(|| match measure.id {
        id if id == book::VERTEX_TIME.id => of_stages(summary, &book::BUSY).map(|ms| ms / 1e3),
        id if id == book::LOST_TIME.id => of_stages(summary, &book::LOST_WORK).map(|ms| ms / 1e3),
        id if id == book::JOB_VERTICES.id => of_stages(summary, &book::VERTICES),
        id if id == book::STAGES.id => Some(summary.stages.len() as f64).filter(|n| *n > 0.0),
        id if id == book::SHUFFLED.id => {
            sum(summary.edges.iter().map(|e| e.get(&book::BYTES_CROSSING)))
        }
        id if id == book::INPUT_ROWS.id => {
            of_inputs(summary, &book::STORED_ROWS).or_else(|| of_roots(summary, &book::ROWS_IN))
        }
        id if id == book::INPUT_BYTES.id => {
            of_inputs(summary, &book::STORED_BYTES).or_else(|| of_roots(summary, &book::BYTES_READ))
        }
        _ => None,
    })
}

fn of_inputs(summary: &RunSummary, measure: &Measure) -> Option<f64> {
    sum(summary.inputs.iter().map(|i| i.get(measure)))
}

/// Sum over stages without an incoming channel.
fn of_roots(summary: &RunSummary, measure: &Measure) -> Option<f64> {
    let is_fed = |stage: usize| summary.edges.iter().any(|e| e.to == stage);
    let stages = summary.stages.iter().enumerate();
    let roots = stages.filter(|(at, _)| !is_fed(*at));
    sum(roots.map(|(_, stage): (_, &StageSummary)| stage.get(measure)))
}

fn of_stages(summary: &RunSummary, measure: &Measure) -> Option<f64> {
    sum(summary.stages.iter().map(|s| s.get(measure)))
}
