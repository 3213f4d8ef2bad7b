//! Single vertices of a stage: the longest, those that read most, and the attempts without a result.

use job::Job;
use job::runs::{RunState, StageRuns, VertexRun};
use serde::{Deserialize, Serialize};

/// Completed vertices kept by each order, lost attempts and messages of a stage, and bytes of a message.
const FIRST: usize = 6;
const LOST: usize = 40;
const MESSAGES: usize = 3;
const MESSAGE: usize = 300;

/// A completed vertex.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VertexSummary {
    /// 7 of `SV2_Reduce[7]`.
    pub index: u32,
    pub machine: String,
    pub ran_ms: u64,
    pub bytes_read: u64,
}

/// An attempt at a vertex without a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LostAttempt {
    /// `SV2_Reduce[7]`.
    pub vertex: String,
    pub machine: String,
    /// `failed` or `revoked`.
    pub state: String,
    pub ran_ms: u64,
}

/// The name of the machine of an attempt; empty if it is unknown.
fn machine(runs: &StageRuns, run: &VertexRun) -> String {
    let name = runs.machines.get(run.machine as usize);
    name.map(ToString::to_string).unwrap_or_default()
}

fn ran_ms(run: &VertexRun) -> u64 {
    run.ended_ms.saturating_sub(run.running_ms).max(0) as u64
}

/// The first attempts of a stage without a result.
pub(super) fn lost(job: &Job, stage: usize, runs: &StageRuns) -> Vec<LostAttempt> {
    let state = |run: &VertexRun| match run.state {
        RunState::Failed => Some("failed"),
        RunState::Revoked => Some("revoked"),
        _ => None,
    };
    let lost = runs.runs.iter().filter_map(|run| Some((run, state(run)?)));
    let attempt = |(run, state): (&VertexRun, &str)| LostAttempt {
        vertex: format!("{}[{}]", job.stages[stage].name, run.index),
        machine: machine(runs, run),
        state: state.to_owned(),
        ran_ms: ran_ms(run),
    };
    lost.map(attempt).take(LOST).collect()
}

pub(super) fn messages(runs: &StageRuns) -> Vec<(String, u64)> {
    let cut = |text: &str| {
        report::format::cut(text.lines().next().unwrap_or_default(), MESSAGE).to_owned()
    };
    let events = runs.events.iter().take(MESSAGES);
    events.map(|(text, count)| (cut(text), *count)).collect()
}

/// The completed vertices that ran longest and those that read most, the longest first.
pub(super) fn first(runs: &StageRuns) -> Vec<VertexSummary> {
    let completed = runs.runs.iter().filter(|r| r.state == RunState::Completed);
    let mut completed: Vec<&VertexRun> = completed.collect();
    completed.sort_by_key(|run| std::cmp::Reverse(run.bytes_read));
    let mut kept: Vec<&VertexRun> = completed.iter().take(FIRST).copied().collect();
    completed.sort_by_key(|run| std::cmp::Reverse(ran_ms(run)));
    kept.extend(completed.iter().take(FIRST));
    kept.sort_by_key(|run| (std::cmp::Reverse(ran_ms(run)), run.index));
    kept.dedup_by_key(|run| run.index);
    let vertex = |run: &VertexRun| VertexSummary {
        index: run.index,
        machine: machine(runs, run),
        ran_ms: ran_ms(run),
        bytes_read: run.bytes_read,
    };
    kept.into_iter().map(vertex).collect()
}

pub(super) fn slowest(job: &Job, stage: usize, runs: &StageRuns) -> Option<[String; 2]> {
    let completed = runs.runs.iter().filter(|r| r.state == RunState::Completed);
    let slowest = completed.max_by_key(|run| ran_ms(run))?;
    let name = format!("{}[{}]", job.stages[stage].name, slowest.index);
    Some([name, machine(runs, slowest)])
}
