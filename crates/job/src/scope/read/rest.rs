//! Answers of the ADLA REST interface: the job, and statistics per stage (`JobStatistics.json`).

use serde_json::Value;

use super::error::from_json;
use super::job_info::{Rank, offer, state};
use super::{Input, StageIndex};
use crate::bounds::{self, Quota};
use crate::json::{self, number, text};
use crate::model::{Job, StageSummary};
use crate::time::{duration_ms, iso_ms, span_seconds};

/// Examples of the interface wrap the answer; the answer itself is bare.
const WRAPPED: &str = "/responses/200/body";

fn body(value: &Value) -> (&Value, &'static str) {
    value
        .pointer(WRAPPED)
        .map_or((value, ""), |body| (body, WRAPPED))
}

/// Reads the statistics of every stage: each number under its own name, durations in
/// milliseconds; nested objects with their names joined (`usedVertexPeakMemSize.maximum`).
pub(crate) fn statistics(input: &Input<'_>, job: &mut Job) {
    let (value, fault) = json::parse(input.text);
    if let Some(value) = &value {
        let (body, prefix) = body(value);
        let mut index = StageIndex::of(job, input.name);
        let stages = body.get("stages").and_then(Value::as_array);
        for (at, stage) in stages.into_iter().flatten().enumerate() {
            let Some(name) = stage.get("stageName").and_then(text) else {
                continue;
            };
            let mut summary = StageSummary {
                file: input.name.to_owned(),
                pointer: format!("{prefix}/stages/{at}"),
                ..StageSummary::default()
            };
            numbers(stage, "", &mut summary);
            let fits = job.keeps(Quota::Values, summary.values.len(), input.name);
            if let Some(at) = index.at(job, &name).filter(|_| fits) {
                job.stages[at].summary = Some(summary);
            }
        }
    }
    job.fault(input.name, fault);
}

fn numbers(value: &Value, prefix: &str, summary: &mut StageSummary) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let name = format!("{prefix}{name}");
        match value {
            // the interface nests one level
            Value::Object(_) if prefix.is_empty() => numbers(value, &format!("{name}."), summary),
            Value::String(s) => summary.values.extend(duration_ms(s).map(|ms| (name, ms))),
            value => summary.values.extend(number(value).map(|n| (name, n))),
        }
    }
}

pub(crate) fn read_job(input: &Input<'_>, job: &mut Job) {
    let (value, fault) = json::parse(input.text);
    if let Some(value) = &value {
        fields(input, value, job);
        job.bound_fields(input.name);
    }
    job.fault(input.name, fault);
}

fn fields(input: &Input<'_>, value: &Value, job: &mut Job) {
    let (body, prefix) = body(value);
    let rank = Rank::Service;
    let at = |name: &str| input.at(format!("{prefix}/{name}"));
    let field = |name: &str| body.pointer(&format!("/{name}")).filter(|v| !v.is_null());
    let words = |name: &str| field(name).and_then(text);
    let time = |name: &str| words(name).and_then(|t| iso_ms(&t));
    let seconds = |name: &str| {
        let written = words(name)?;
        let seconds = duration_ms(&written).map(|ms| ms / 1e3);
        let seconds = seconds.or_else(|| span_seconds(&written));
        seconds.and_then(bounds::seconds)
    };
    let info = &mut job.info;
    offer!(info.id, rank, words("jobId"), at("jobId"));
    offer!(info.name, rank, words("name"), at("name"));
    let submitted = time("submitTime");
    offer!(info.submitted_ms, rank, submitted, at("submitTime"));
    offer!(info.started_ms, rank, time("startTime"), at("startTime"));
    offer!(info.ended_ms, rank, time("endTime"), at("endTime"));
    let whole = |name: &str| field(name).and_then(number);
    let tokens = whole("degreeOfParallelism").filter(|n| *n >= 1.0);
    let tokens = tokens.and_then(bounds::parts_of);
    offer!(info.tokens, rank, tokens, at("degreeOfParallelism"));
    let priority = whole("priority").map(|n| n as i64);
    offer!(info.priority, rank, priority, at("priority"));
    let place = "properties/totalRunningTime";
    let run = seconds(place).filter(|s| *s > 0.0);
    offer!(info.elapsed_seconds, rank, run, at(place));
    let place = "properties/totalQueuedTime";
    offer!(info.queued_seconds, rank, seconds(place), at(place));
    let place = "properties/totalCompilationTime";
    offer!(info.compile_seconds, rank, seconds(place), at(place));
    let result = words("result").map(|w| state(&w)).unwrap_or_default();
    info.offer_state(rank, result, at("result"));
    let list = |name| field(name).and_then(Value::as_array).into_iter().flatten();
    for record in list("stateAuditRecords") {
        let entered = record.get("timeStamp").and_then(text);
        let entered = entered.and_then(|t| iso_ms(&t));
        let state = record.get("newState").and_then(text);
        info.states.extend(state.zip(entered));
    }
    for (name, key) in [
        ("properties/runtimeVersion", "RuntimeName"),
        ("properties/yarnApplicationId", "YarnApplicationId"),
        ("submitter", "UserName"),
    ] {
        if let Some(value) = words(name) {
            info.other.entry(key.to_owned()).or_insert(value);
        }
    }
    let errors = list("errorMessage").filter_map(|e| from_json(input.name, e));
    job.failed_with(input.name, errors);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JobState;

    #[test]
    fn numbers_and_durations_of_stages() {
        let text = r#"{"stages":[{"stageName":"SV1","totalCount":58,"totalFailedTime":"PT41.5S",
            "maxDataReadVertex":{"name":"SV1[3]","dataRead":7},"totalProgress":100}]}"#;
        let mut job = Job::default();
        statistics(&Input::new("s.json", text), &mut job);
        let summary = job.stages[0].summary.as_ref().expect("summary");
        assert_eq!(summary.values["totalCount"], 58.0);
        assert_eq!(summary.values["totalFailedTime"], 41_500.0);
        assert_eq!(summary.values["maxDataReadVertex.dataRead"], 7.0);
        assert_eq!(summary.pointer, "/stages/0");
    }

    #[test]
    fn a_wrapped_job() {
        let text = r#"{"responses":{"200":{"body":{"jobId":"j","degreeOfParallelism":5,"result":"Failed",
            "errorMessage":[{"errorId":"E","message":"m","innerError":{"details":"d"}}],
            "properties":{"totalRunningTime":"PT2M"}}}}}"#;
        let mut job = Job::default();
        read_job(&Input::new("j.json", text), &mut job);
        assert_eq!(job.info.tokens, Some(5));
        assert_eq!(job.info.elapsed_seconds, Some(120.0));
        assert_eq!(job.info.state, JobState::Failed);
        assert_eq!(job.errors[0].details.as_deref(), Some("d"));
        let place = job.info.sources["tokens"].locator.as_deref();
        assert_eq!(place, Some("/responses/200/body/degreeOfParallelism"));
    }
}
