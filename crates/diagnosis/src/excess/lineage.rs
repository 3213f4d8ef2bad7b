//! Rounds of a loop that compute all rounds before them again, because no round stores its result.

use std::collections::{BTreeSet, HashMap};

use job::model::{Application, Execution, SparkNode};
use report::{Cause, text};

use super::{Excess, Parts, Unclaimed};
use crate::facts::fact;
use crate::measurements::plan_parts::below_caches;
use report::format::{Number, Share, TIME};

/// The metric of a round's plan.
pub const STEPS: &str = "steps of the plan";

/// From this many rounds on, growing plans of the same action are a loop and no chance.
const MIN_ROUNDS: usize = 4;

/// Largest deviation of the steps that a round adds from their mean, as a share: every round adds the same steps, but adaptive execution may
/// drop some.
const LIKE: f64 = 0.35;

/// An execution, and the number of its steps that compute rows not read from a cache.
#[derive(Clone, Copy)]
struct Round<'a> {
    execution: &'a Execution,
    steps: usize,
}

impl<'a> Round<'a> {
    fn of(execution: &'a Execution) -> Round<'a> {
        let below = below_caches(&execution.plan).into_iter();
        let steps = below.filter(|below| !below).count();
        Round { execution, steps }
    }
}

/// Rounds of one loop, in their order.
struct Rounds<'a> {
    all: Vec<Round<'a>>,
    /// Steps that each round adds.
    added: f64,
}

pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let app = unclaimed.batch_application()?;
    let found = loops(app).into_iter().map(|rounds| {
        let parts = parts_of(unclaimed, app, &rounds);
        (rounds, parts)
    });
    let seconds = |parts: &Parts| parts.iter().map(|(_, s)| s).sum::<f64>();
    let (rounds, parts) = found.max_by(|a, b| seconds(&a.1).total_cmp(&seconds(&b.1)))?;
    let (first, last) = (rounds.all.first()?, rounds.all.last()?);
    let count = rounds.all.len() as f64;
    let repeated = 1.0 - rounds.added / last.steps as f64;
    let action = last.execution.description.as_deref().unwrap_or_default();
    let steps = |of: &Round<'_>| {
        let n = of.steps as f64;
        fact! { view, STEPS, n, "count", app.at_line(of.execution.line);
        "执行 {id} 的计划有 {n} 步", "the plan of execution {id} has {n} steps", id = of.execution.id.to_string(), n = Number(n) }
    };
    Some(Excess {
        cause: Cause::IneffectiveCache,
        evidence: vec![steps(first), steps(last)],
        parts,
        stages: Vec::new(),
        summary: text!(
            "循环执行了 {n} {action}，每一轮都重新计算之前的所有轮次：计划从 {from} 步增长到 {to} 步，最后一轮有 {share} 是重复的",
            "a loop runs {action} {n}, and each round computes all rounds before it again: the plan grows from {from} to {to} steps, and {share} of the last round are repetition",
            n = TIME.count(count),
            from = Number(first.steps as f64),
            to = Number(last.steps as f64),
            share = Share(repeated),
        ),
        certainty: 0.85,
        method: "time of each round, less the share of its plan that the round adds",
    })
}

/// Successive executions of the same action, the plan of each larger by about the same number of steps.
fn loops(app: &Application) -> Vec<Rounds<'_>> {
    let mut growing: Vec<Vec<Round<'_>>> = Vec::new();
    let mut of_actions: HashMap<&Option<String>, usize> = HashMap::new();
    for execution in &app.executions {
        let round = Round::of(execution);
        let newest = of_actions.entry(&execution.description);
        let at = *newest
            .and_modify(|at| {
                // a plan that does not grow begins another loop
                if growing[*at]
                    .last()
                    .is_some_and(|last| last.steps >= round.steps)
                {
                    *at = growing.len();
                }
            })
            .or_insert(growing.len());
        match growing.get_mut(at) {
            Some(rounds) => rounds.push(round),
            None => growing.push(vec![round]),
        }
    }
    growing.into_iter().filter_map(rounds_of).collect()
}

fn rounds_of(all: Vec<Round<'_>>) -> Option<Rounds<'_>> {
    let (first, last) = (all.first()?, all.last()?);
    let added = (last.steps - first.steps) as f64 / (all.len() - 1).max(1) as f64;
    let mut pairs = all.windows(2);
    let is_even = pairs.all(|pair| {
        let more = (pair[1].steps - pair[0].steps) as f64;
        (more / added - 1.0).abs() <= LIKE
    });
    let is_loop =
        all.len() >= MIN_ROUNDS && is_even && last.steps as f64 >= added * (MIN_ROUNDS - 1) as f64;
    is_loop.then_some(Rounds { all, added })
}

/// The sources of a plan: caches by their columns without numbers, files by their place.
fn sources(plan: &[SparkNode]) -> BTreeSet<String> {
    let parents: BTreeSet<usize> = plan.iter().filter_map(|n| n.parent).collect();
    let below = below_caches(plan);
    let is_source = |at: usize| !below[at] && (plan[at].reads_cache() || !parents.contains(&at));
    let named = |node: &SparkNode| match node.metadata.get("Location") {
        Some(place) => place.clone(),
        None => node
            .text
            .split(['#', '['])
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    (0..plan.len())
        .filter(|at| is_source(*at))
        .map(|at| named(&plan[at]))
        .collect()
}

/// The unclaimed parts of the rounds, and of later executions that contain several rounds, each with the seconds of its repeated steps.
fn parts_of(unclaimed: &Unclaimed<'_>, app: &Application, rounds: &Rounds<'_>) -> Parts {
    let Some((origin, last)) = unclaimed.view.job.info.submitted_ms.zip(rounds.all.last()) else {
        return Parts::new();
    };
    let known = sources(&last.execution.plan);
    let contains_rounds = |of: &&Execution| {
        let read = sources(&of.plan);
        !read.is_empty() && read.is_subset(&known)
    };
    let later = app
        .executions
        .iter()
        .filter(|e| e.started_ms > last.execution.started_ms);
    let later = later.filter(contains_rounds).map(Round::of);
    let all = rounds.all.iter().skip(1).copied().chain(later);
    let span = |round: Round<'_>| {
        let (from, to) = round.execution.started_ms.zip(round.execution.ended_ms)?;
        let repeated = 1.0 - rounds.added / round.steps.max(1) as f64;
        let seconds = |ms: i64| (ms - origin) as f64 / 1000.0;
        (repeated > 0.0).then_some((seconds(from), seconds(to), repeated))
    };
    let mut spans: Vec<(f64, f64, f64)> = all.filter_map(span).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let repeated = |at: f64| {
        let begun = spans.partition_point(|(from, ..)| *from <= at);
        spans[..begun].last().filter(|(_, to, _)| at < *to)
    };
    let parts = unclaimed.parts().filter_map(|(at, part)| {
        let (_, _, share) = repeated((part.span.from + part.span.to) / 2.0)?;
        Some((at, part.span.seconds() * share))
    });
    parts.collect()
}
