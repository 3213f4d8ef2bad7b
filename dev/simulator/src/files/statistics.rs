//! `JobStatistics.json`: one entry per stage, as the job service reports it.

use crate::outcome::{Clock, Outcome};
use crate::schedule::State;
use serde_json::{Value, json};

/// Writes the file.
pub(crate) fn write(o: &Outcome) -> String {
    let end = Clock::at(o.ids.submitted, o.before_start() + o.run.elapsed).iso();
    let stages: Vec<Value> = o.physical.live().map(|(i, _)| stage(o, i)).collect();
    let file = json!({"lastUpdateTimeUtc": end, "finalizingTimeUtc": end, "stages": stages});
    let file = super::json::sorted(file);
    let text = if o.spec.seed.is_multiple_of(2) {
        serde_json::to_string_pretty(&file)
    } else {
        serde_json::to_string(&file)
    };
    text.unwrap_or_default()
}

/// An ISO 8601 duration.
fn duration(seconds: f64) -> String {
    let millis = libm::round(seconds * 1000.0) as u64;
    let (h, m, s) = (
        millis / 3_600_000,
        millis / 60_000 % 60,
        (millis % 60_000) as f64 / 1000.0,
    );
    let mut text = "PT".to_owned();
    if h > 0 {
        text.push_str(&format!("{h}H"));
    }
    if m > 0 {
        text.push_str(&format!("{m}M"));
    }
    text + &format!("{s:.3}S")
}

fn stage(o: &Outcome, index: usize) -> Value {
    let s = &o.physical.stages[index];
    let done = o.done(index);
    let count = |state: State| {
        o.run
            .attempts
            .iter()
            .filter(|a| a.stage == index && a.state == state)
            .count()
    };
    let spent = |state: State| -> f64 {
        o.run
            .attempts
            .iter()
            .filter(|a| a.stage == index && a.state == state)
            .map(|a| a.ended - a.started)
            .sum()
    };
    let sum = |values: &[f64]| -> u64 { done.iter().map(|&v| values[v]).sum::<f64>() as u64 };
    let read = sum(&s.read);
    let max = done.iter().map(|&v| s.read[v]).fold(0.0, f64::max);
    let min = done
        .iter()
        .map(|&v| s.read[v])
        .fold(f64::INFINITY, f64::min);
    let temp: f64 = s
        .ops
        .iter()
        .filter(|op| op.channel.is_some())
        .map(|op| done.iter().map(|&v| op.bytes[v]).sum::<f64>())
        .sum();
    let mut entry = json!({
        "stageName": s.name,
        "totalCount": s.vertices,
        "scheduledCount": 0,
        "runningCount": 0,
        "succeededCount": done.len(),
        "failedCount": count(State::Failed),
        "duplicateDiscardCount": count(State::Abandoned),
        "revocationCount": count(State::Revoked),
        "readFailureCount": o.run.attempts.iter()
            .filter(|a| a.stage == index && a.why == crate::schedule::Why::ReadFailure && a.state == State::Failed).count(),
        "dataToRead": s.read.iter().sum::<f64>() as u64,
        "dataRead": read,
        "dataReadCrossPod": read / 13,
        "dataReadIntraPod": read - read / 13,
        "dataWritten": sum(&s.written),
        "tempDataWritten": temp as u64,
        "maxVertexDataRead": max as u64,
        "minVertexDataRead": if min.is_finite() { min as u64 } else { 0 },
        "totalProgress": 100 * done.len() / s.vertices.max(1),
        "totalSucceededTime": duration(spent(State::Completed)),
        "totalFailedTime": duration(spent(State::Failed)),
    });
    if !o.spec.seed.is_multiple_of(3) {
        newer(o, index, &done, &mut entry);
    }
    entry
}

/// Fields of newer versions of the service: the extreme vertices.
fn newer(o: &Outcome, index: usize, done: &[usize], entry: &mut Value) {
    let s = &o.physical.stages[index];
    let held = |v: usize| {
        s.ops.iter().map(|op| op.held[v]).sum::<f64>()
            + 1.1e8
            + if s.managed { s.heap } else { 0.0 }
    };
    let vertex = |v: usize| {
        json!({
            "name": format!("{}[{v}]", s.name),
            "vertexId": o.vertex_guid(index, v, 0),
            "executionTime": duration(o.seconds(index, v)),
            "dataRead": s.read[v] as u64,
            "peakMemUsage": held(v) as u64,
        })
    };
    let largest = |key: &dyn Fn(usize) -> f64| {
        done.iter()
            .copied()
            .max_by(|&x, &y| key(x).total_cmp(&key(y)))
    };
    let total: f64 = done.iter().map(|&v| o.seconds(index, v)).sum();
    entry["totalPeakMemUsage"] = json!(done.iter().map(|&v| held(v)).sum::<f64>() as u64);
    entry["totalExecutionTime"] = json!(duration(total));
    if let (Some(slow), Some(fat), Some(big)) = (
        largest(&|v| o.seconds(index, v)),
        largest(&held),
        largest(&|v| s.read[v]),
    ) {
        entry["maxExecutionTimeVertex"] = vertex(slow);
        entry["maxPeakMemUsageVertex"] = vertex(fat);
        entry["maxDataReadVertex"] = vertex(big);
    }
}
