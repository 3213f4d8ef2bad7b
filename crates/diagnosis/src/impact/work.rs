//! Work of each stage of the run: from vertex events if there are any, else from
//! counters or stage statistics, spread over the vertices by their totals and maxima.

use std::sync::Arc;

use job::Job;
use job::facts::{Account, Measured, StageFacts, value};
use job::model::Stage;
use job::runs::{RunState, StageRuns, VertexRun};

use super::edit::{RUN_NOISE, lose, noise};
use super::schedule::{MAX_VERTICES, StageWork, VertexWork};

/// Default seconds for starting a process: the median of the vertex events of
/// the simulated jobs.
const USUAL_START_S: f64 = 1.8;

/// Dispatching a vertex takes a few tenths of a second; a longer wait is a wait for a token.
pub const MAX_DISPATCH_S: f64 = 0.5;

/// Maximum number of modeled vertices in all stages together: a replay takes about a tenth of a second.
const MAX_ALL_VERTICES: u64 = 500_000;

/// Seconds between the end of a stage's inputs and the creation of its vertices, as seen between
/// the stages of jobs: the job manager polls.
const STAGE_HANDOVER_S: f64 = 0.4;

/// Source of a stage's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    Unknown,
    /// Stage statistics: a total and the largest vertex's bytes.
    Summary,
    /// Run-time counters: totals and the largest vertex's rows.
    Counters,
    /// The attempts of some vertices; totals for the others.
    SomeEvents,
    /// Every attempt.
    Events,
}

/// Work of every stage with its source, parallel to the job's stages.
pub(super) fn stage_works(
    job: &Job,
    facts: &[Arc<StageFacts>],
    tokens: usize,
) -> Vec<(StageWork, Basis)> {
    let mut inputs: Vec<Vec<usize>> = vec![Vec::new(); facts.len()];
    let edges = job.edges.iter().map(|e| (e.from, e.to));
    let before = edges.chain(job.order.iter().copied());
    for (from, to) in before.filter(|(from, _)| *from < facts.len()) {
        if let Some(inputs) = inputs.get_mut(to) {
            inputs.push(from);
        }
    }
    let most = most_vertices(facts);
    let ended: Vec<Option<i64>> = job.stages.iter().map(last_end).collect();
    // tasks of an application record their own dispatch time; all their waits are excluded
    let at_once = if job.spark.is_some() { 0 } else { tokens };
    let works = inputs.into_iter().zip(facts).enumerate();
    works
        .map(|(stage, (mut inputs, facts))| {
            inputs.sort_unstable();
            inputs.dedup();
            let (vertices, basis) = vertices(job.stages[stage].runs.as_ref(), facts, most, at_once);
            let handover_s = handover_s(job, stage, &inputs, &ended);
            let work = StageWork {
                inputs,
                handover_s,
                vertices,
            };
            (work, basis)
        })
        .collect()
}

/// Limit of modeled vertices per stage, so that all stages together stay bounded; only the largest stages are cut.
fn most_vertices(facts: &[Arc<StageFacts>]) -> u64 {
    let count = |f: &Arc<StageFacts>| f.vertices.as_ref().map_or(1, |n| n.value.min(MAX_VERTICES));
    let mut counts: Vec<u64> = facts.iter().map(count).collect();
    counts.sort_unstable();
    let mut left = MAX_ALL_VERTICES;
    for (at, count) in counts.iter().enumerate() {
        let share = left / (counts.len() - at) as u64;
        if *count > share {
            return share.max(1);
        }
        left -= count;
    }
    MAX_VERTICES
}

/// When the last attempt of a stage ended.
fn last_end(stage: &Stage) -> Option<i64> {
    let runs = stage.runs.iter().flat_map(|r| &r.runs);
    runs.map(|run| run.ended_ms).max()
}

/// Time of the driver or job manager between two stages. A driver's is in the log; a job manager's is
/// about the same everywhere.
fn handover_s(job: &Job, stage: usize, inputs: &[usize], ended: &[Option<i64>]) -> f64 {
    let usual = if inputs.is_empty() {
        0.0
    } else {
        STAGE_HANDOVER_S
    };
    if job.spark.is_none() {
        return usual;
    }
    let runs = job.stages[stage].runs.as_ref();
    let created = runs.and_then(|r| r.runs.iter().map(|v| v.created_ms).min());
    let ready = inputs
        .iter()
        .filter_map(|input| *ended.get(*input)?)
        .max()
        .or(job.info.started_ms);
    let waited = created.zip(ready).map(|(created, ready)| created - ready);
    waited.map_or(usual, |ms| ms.max(0) as f64 / 1000.0)
}

fn vertices(
    runs: Option<&StageRuns>,
    facts: &StageFacts,
    most: u64,
    at_once: usize,
) -> (Vec<VertexWork>, Basis) {
    let succeeded = facts.stated.as_ref().and_then(|s| value(&s.succeeded));
    // without a succeeded attempt, events do not show the stage's work
    let shows =
        |r: &&StageRuns| !r.runs.is_empty() && (r.completed > 0 || succeeded.unwrap_or(0.0) <= 0.0);
    if let Some(runs) = runs.filter(shows) {
        let mut vertices = from_events(runs, at_once);
        let unseen = unseen(facts, runs, &vertices, most);
        let basis = match unseen.is_empty() {
            true => Basis::Events,
            false => Basis::SomeEvents,
        };
        vertices.extend(unseen);
        return (vertices, basis);
    }
    let Some(count) = &facts.vertices else {
        return (Vec::new(), Basis::Unknown);
    };
    let count = count.value.clamp(1, most);
    let stated = facts.stated.as_ref();
    let (mut vertices, basis) = if let Some(spread) = from_counters(facts, count) {
        (spread, Basis::Counters)
    } else if let Some(spread) = stated.and_then(|s| from_statistics(s, count)) {
        (spread, Basis::Summary)
    } else {
        (Vec::new(), Basis::Unknown)
    };
    if let Some(stated) = stated {
        add_waste(stated, &mut vertices);
    }
    (vertices, basis)
}

/// One entry per vertex: its last useful attempt, with earlier failed ones as waste. Duplicates of
/// a running attempt are left out: they hold tokens, but delay no other vertex.
fn from_events(runs: &StageRuns, at_once: usize) -> Vec<VertexWork> {
    let mut by_vertex: Vec<&VertexRun> = runs.runs.iter().collect();
    by_vertex.sort_by_key(|r| (r.index, r.created_ms, r.ended_ms));
    let dispatch_s = dispatch_s(&by_vertex, at_once);
    let mut vertices: Vec<VertexWork> = by_vertex
        .chunk_by(|a, b| a.index == b.index)
        .map(vertex_of_attempts)
        .collect();
    for vertex in &mut vertices {
        vertex.start_s += dispatch_s;
        vertex.wasted_s += dispatch_s * f64::from(vertex.lost);
    }
    vertices
}

/// Seconds from holding a token to the start of the process, estimated by the shortest
/// twentieth of the waits of as many vertices as run at once.
fn dispatch_s(runs: &[&VertexRun], at_once: usize) -> f64 {
    let mut waits: Vec<i64> = runs
        .iter()
        .map(|r| (r.started_ms - r.queued_ms).max(0))
        .collect();
    waits.sort_unstable();
    waits.truncate(at_once);
    let shortest = waits.get(waits.len() / 20).copied().unwrap_or(0);
    (shortest as f64 / 1000.0).min(MAX_DISPATCH_S)
}

fn vertex_of_attempts(attempts: &[&VertexRun]) -> VertexWork {
    let seconds = |from: i64, to: i64| (to - from).max(0) as f64 / 1000.0;
    let useful = attempts
        .iter()
        .rposition(|r| r.state == RunState::Completed)
        .or_else(|| {
            attempts
                .iter()
                .rposition(|r| r.state != RunState::Abandoned)
        })
        .unwrap_or(attempts.len() - 1);
    let is_lost = |r: &VertexRun| matches!(r.state, RunState::Failed | RunState::Revoked);
    let others = attempts.iter().enumerate().filter(|(i, _)| *i != useful);
    let lost: Vec<f64> = others
        .filter(|(_, r)| is_lost(r))
        .map(|(_, r)| seconds(r.started_ms, r.ended_ms))
        .collect();
    let run = attempts[useful];
    VertexWork {
        start_s: seconds(run.started_ms, run.running_ms),
        run_s: seconds(run.running_ms, run.ended_ms),
        wasted_s: lost.iter().sum(),
        lost: lost.len() as u32,
        bytes: run.bytes_read as f64,
    }
}

/// Vertices that truncated events lack (the file ends before the slowest vertices). The other files
/// give their number; their time and bytes are the totals less the events.
fn unseen(facts: &StageFacts, runs: &StageRuns, seen: &[VertexWork], most: u64) -> Vec<VertexWork> {
    let stated = facts.stated.as_ref();
    let expected = stated
        .and_then(|s| value(&s.succeeded))
        .or_else(|| facts.vertices.as_ref().map(|n| n.value as f64))
        .unwrap_or(0.0);
    let missing = (expected - seen.len() as f64).min(most as f64);
    let counted = facts.counted.as_ref();
    let either = |of: fn(&Account) -> &Option<Measured>| {
        let known = stated.and_then(|s| value(of(s)));
        known.or_else(|| counted.and_then(|c| value(of(c))))
    };
    let total_ms = either(|a| &a.run_ms).unwrap_or(0.0);
    let held_s: f64 = seen.iter().map(|v| v.start_s + v.run_s).sum();
    let left_s = total_ms / 1000.0 - held_s;
    if missing < 1.0 || runs.sampled || left_s <= 0.0 {
        return Vec::new();
    }
    let total_bytes = either(|a| &a.bytes_read).unwrap_or(0.0);
    let left_bytes = (total_bytes - seen.iter().map(|v| v.bytes).sum::<f64>()).max(0.0);
    let share = match stated.and_then(|s| value(&s.bytes_read_max)) {
        Some(max) if left_bytes > 0.0 => Some(max / left_bytes),
        _ => None,
    };
    spread(missing as u64, left_s, Some(left_bytes), share)
}

/// Spreads the time of failed attempts, as the statistics sum it up, over as many vertices.
fn add_waste(stated: &Account, vertices: &mut [VertexWork]) {
    let known = |number| value(number).unwrap_or(0.0);
    let attempts = known(&stated.failed) + known(&stated.revoked);
    let wasted_s = known(&stated.failed_ms) / 1000.0;
    lose(vertices, attempts, wasted_s / attempts.max(1.0));
}

/// Equal vertices but one, which gets the share of the largest vertex's rows.
fn from_counters(facts: &StageFacts, count: u64) -> Option<Vec<VertexWork>> {
    let counted = facts.counted.as_ref()?;
    let elapsed_ms = value(&counted.run_ms)?;
    let inputs = facts.operators.iter().filter(|o| o.role.is_input());
    let largest = inputs
        .filter_map(|o| Some((value(&o.rows)?, value(&o.rows_max)?)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let share = largest
        .filter(|(rows, _)| *rows > 0.0)
        .map(|(rows, max)| max / rows);
    let stated = facts.stated.as_ref().and_then(|s| value(&s.bytes_read));
    let bytes = value(&counted.bytes_read).or(stated);
    Some(spread(count, elapsed_ms / 1000.0, bytes, share))
}

fn from_statistics(stated: &Account, count: u64) -> Option<Vec<VertexWork>> {
    let elapsed_ms = value(&stated.run_ms)?;
    let bytes = value(&stated.bytes_read);
    let share = match (value(&stated.bytes_read_max), bytes) {
        (Some(max), Some(all)) if all > 0.0 => Some(max / all),
        _ => None,
    };
    Some(spread(count, elapsed_ms / 1000.0, bytes, share))
}

fn spread(
    count: u64,
    total_s: f64,
    bytes: Option<f64>,
    largest_share: Option<f64>,
) -> Vec<VertexWork> {
    let n = count as f64;
    let start_s = USUAL_START_S.min(total_s / n / 2.0);
    let run_s = (total_s - start_s * n).max(0.0);
    let bytes = bytes.unwrap_or(0.0);
    let hot = largest_share.unwrap_or(1.0 / n).clamp(1.0 / n, 1.0);
    let cold = if count > 1 {
        (1.0 - hot) / (n - 1.0)
    } else {
        1.0
    };
    (0..count)
        .map(|i| {
            // totals hide the differences between vertices, but the slowest vertex decides
            let (share, own) = if i == 0 {
                (hot, 1.0)
            } else {
                (cold, noise(i as usize, count as usize, RUN_NOISE))
            };
            VertexWork {
                start_s,
                run_s: run_s * share * own,
                bytes: bytes * share,
                ..VertexWork::default()
            }
        })
        .collect()
}
