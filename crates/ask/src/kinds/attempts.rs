//! Attempts without a result: their number, their errors, and their run time.

use report::format::{ATTEMPT, Seconds, Share as Part, TIME, list, without_stop};
use report::measure::book;
use report::{Cause, JobState, SegmentKind, Text, text};
use runs::StageSummary;

use super::{meant, some, stages};
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::*;
use crate::word::{Cue, Quantity, Thing};
use crate::{Asked, found, record, time as account};

/// Errors, and vertices with their attempts, that are named.
const ERRORS: usize = 4;
const SHOWN: usize = 4;

const MAX_FAILURES: &str = "spark.task.maxFailures";

/// Parts of messages about the user's own code.
const USER: &str = "_USER_|PythonException|UserCode|Unhandled exception";

fn lost(stage: &StageSummary) -> f64 {
    let counts = [&book::FAILED, &book::REVOKED];
    counts.iter().filter_map(|m| stage.get(m)).sum()
}

/// A part of the run time of all vertices below which lost attempts don't matter.
const HARMLESS: f64 = 0.05;

/// Words that are about nothing but trouble that is over: "did it hurt us?".
const HURTS: &str = "hurt|harm|cost us|slow us|delay us|要紧|耽误|碍事";

/// Says whether lost attempts did harm: "one task failed, do I have to worry?".
pub(super) fn harm(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let names_lost = [Of(&book::FAILED), Of(&book::REVOKED), Named(&book::FAILED)];
    let hurts = || HURTS.split('|').any(|word| reading.text().contains(word));
    let is_about = reading.has_any(&names_lost) || reading.shows(Cue::Failure) || hurts();
    let asks = reading.shows(Cue::Harm) && reading.asks_yes_no() && !reading.shows(Cue::Would);
    let lost: Vec<&StageSummary> = meant(run, intent).filter(|s| lost(s) > 0.0).collect();
    if !asks || !is_about || lost.is_empty() || run.report.job.state != JobState::Succeeded {
        return false;
    }
    let sum = |stages: &[&StageSummary], measure| -> f64 {
        stages.iter().filter_map(|s| s.get(measure)).sum()
    };
    let all: Vec<&StageSummary> = run.summary.stages.iter().collect();
    let (wasted, busy) = (sum(&lost, &book::LOST_WORK), sum(&all, &book::BUSY));
    let share = (wasted + busy > 0.0).then(|| wasted / (wasted + busy));
    let is_found = run
        .report
        .findings
        .iter()
        .any(|f| f.cause == Cause::VertexRetries);
    let is_harm = is_found || share.is_some_and(|share| share >= HARMLESS);
    said.affirm(is_harm);
    let path = account::seconds_of(run, SegmentKind::Retry, None);
    let share = match share {
        Some(share) => text!(
            "{time}，占所有顶点运行时间的 {share}；关键路径上的重试用时 {path}",
            "{time}, {share} of the run time of all vertices; retries take {path} on the critical path",
            time = Seconds(wasted / 1e3),
            share = Part(share),
            path = Seconds(path)
        ),
        None => text!("{time}", "{time}", time = Seconds(wasted / 1e3)),
    };
    said.say(text!(
        "作业成功：没有结果的尝试都重试成功了，它们共运行 {share}",
        "The job succeeded: what had no result was repeated and succeeded; the attempts without a result ran {share}",
        share = share
    ));
    count(said, run, &lost);
    errors(said, &lost);
    let mut findings = run.report.findings.iter();
    if let Some(own) = findings.find(|f| f.cause == Cause::VertexRetries) {
        found::finding(said, own, false);
    }
    true
}

/// Says how often a stage was run, and why more than once.
pub(super) fn of_stage(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let named = stages(intent);
    let base = |at: &usize| {
        let name = run.summary.stages[*at].name.as_str();
        name.split(" (attempt").next().unwrap_or(name)
    };
    let Some(own) = named.first().map(base) else {
        return false;
    };
    let is_one = named.len() > 1 && named.iter().all(|at| base(at) == own);
    let is_vertex = intent.reading.has(Noun(Thing::Vertex));
    if !is_one || is_vertex || !intent.reading.shows(Cue::Attempted) {
        return false;
    }
    let names: Vec<String> = named
        .iter()
        .map(|at| run.summary.stages[*at].name.clone())
        .collect();
    let names = some(&names, SHOWN, said.language());
    said.say(text!(
        "{own} 运行了 {times}：{names}",
        "{own} was attempted {times}: {names}",
        times = TIME.count(named.len() as f64)
    ));
    let lost = |f: &&report::Finding| matches!(f.cause, Cause::ExecutorLost | Cause::VertexRetries);
    let findings = run.report.findings.iter().filter(lost);
    findings.for_each(|f| found::finding(said, f, false));
    let meant: Vec<&StageSummary> = named.iter().map(|at| &run.summary.stages[*at]).collect();
    errors(said, &meant);
    true
}

/// Says the failure of the job with its place and its row, for a question about the failed data or an exception: “哪个字段的什么值”.
pub(super) fn of_job(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    const DATA: &str = "what value|which value|which field|what field|bad value|bad row|what row|which row|which record|哪个字段|什么值|哪个值|哪一行数据|哪行数据|哪条";
    let text = intent.reading.text();
    let asks = DATA.split('|').any(|word| text.contains(word));
    let is_failure = intent.reading.shows(Cue::Failure) || intent.reading.has(Lost);
    let found = run
        .report
        .findings
        .first()
        .filter(|f| f.cause.code().starts_with("failure."));
    match found {
        Some(f) if asks && is_failure && run.report.job.state == JobState::Failed => {
            found::finding(said, f, true);
            true
        }
        _ => false,
    }
}

/// Says how many attempts were lost, their errors and their time.
pub(super) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let named = stages(intent);
    let meant = meant(run, intent).filter(|s| lost(s) > 0.0);
    let meant: Vec<&StageSummary> = meant.collect();
    let names_lost = [Of(&book::FAILED), Of(&book::REVOKED), Named(&book::FAILED)];
    let is_error = reading.shows(Cue::Error) || reading.shows(Cue::Failure);
    let is_about = reading.has_any(&names_lost) || is_error && !reading.has(Noun(Thing::Executor));
    // the failure of the job has its own conclusion
    let is_of_job = run.report.job.state == JobState::Failed && named.is_empty();
    let counts = reading.has_any(&[Number, Share, Time])
        || reading.shows(Cue::Wasted)
        || reading.shows(Cue::Kinds);
    // “为什么还是成功了” asks why the job did not fail
    let asks_success = reading.shows(Cue::Succeeded) && run.report.job.state == JobState::Succeeded;
    let is_other =
        intent.asks_why() != asks_success || intent.asks(Quantity::Gain) || reading.has(Define);
    let asks_vertex = reading.has(Which) && reading.has(Noun(Thing::Vertex));
    let asks_vertex = asks_vertex && !reading.has(Place) && !reading.shows(Cue::DataRow);
    let is_finding = |s: &Subject| matches!(s, Subject::Finding(_));
    if !is_about
        || meant.is_empty()
        || intent.subjects.iter().any(is_finding)
        || is_other
        || is_of_job && !asks_vertex && !(counts && reading.has_any(&names_lost))
    {
        return false;
    }
    let text = reading.text();
    let names = |words: &str| words.split('|').any(|word| text.contains(word));
    if counts && !is_error && names("revo|收回|抢占|preempt") && !names("fail|失败") {
        meant.iter().take(SHOWN).for_each(|s| revoked(said, run, s));
        let is_alone = |s: &&StageSummary| s.get(&book::FAILED).unwrap_or(0.0) == 0.0;
        let alone: Vec<&StageSummary> = meant.iter().copied().filter(is_alone).collect();
        time(said, run, &alone);
        return true;
    }
    let is_time = reading.is_time() || reading.shows(Cue::Wasted);
    if is_time {
        time(said, run, &meant);
    }
    if reading.asks_yes_no() && intent.causes.contains(&Cause::CpuBoundUdo) {
        let messages = meant.iter().flat_map(|s| &s.messages);
        let of_user = |(text, _): &(String, u64)| USER.split('|').any(|part| text.contains(part));
        said.affirm(messages.clone().any(of_user));
    } else if reading.asks_yes_no() && !named.is_empty() {
        said.affirm(true);
    }
    if intent.asks_why() {
        retried(said, run);
    }
    if is_error && !counts {
        errors(said, &meant);
    }
    count(said, run, &meant);
    if named.is_empty() && is_error && intent.is_polar() {
        said.say(text!("作业没有失败", "The job did not fail"));
    }
    // a time that is asked for needs no list of errors
    let only_time = is_time && !is_error;
    match reading.has_any(&[Noun(Thing::Machine), Noun(Thing::Executor)]) {
        _ if only_time => {}
        true => meant
            .iter()
            .take(SHOWN)
            .for_each(|stage| record::attempts(said, stage)),
        false => errors(said, &meant),
    }
    if !is_time {
        time(said, run, &meant);
    }
    if reading.shows(Cue::Error) || intent.asks(Quantity::Place) {
        let mut findings = run.report.findings.iter();
        if let Some(own) = findings.find(|f| f.cause == Cause::VertexRetries) {
            found::finding(said, own, false);
        }
    }
    true
}

/// Says the number of failed and of revoked attempts of each stage, and their vertices.
fn count(said: &mut Said<'_>, run: &Asked<'_>, stages: &[&StageSummary]) {
    for stage in stages.iter().take(SHOWN) {
        let both = [&book::FAILED, &book::REVOKED];
        let known = both
            .iter()
            .filter_map(|m| Some((*m, stage.values.value(m)?)));
        let known: Vec<_> = known.filter(|(_, v)| v.number() > 0.0).collect();
        let ids = said.evidence_of_all(&known, &stage.name, run.vertex());
        let [failed, revoked] = both.map(|m| stage.get(m).unwrap_or(0.0));
        let mut vertices: Vec<&str> = stage.lost.iter().map(|l| l.vertex.as_str()).collect();
        vertices.sort();
        let vertices = vertices.chunk_by(|a, b| a == b);
        let mut vertices: Vec<(usize, &str)> = vertices.map(|own| (own.len(), own[0])).collect();
        vertices.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let vertices = vertices.into_iter().map(|(count, name)| match count {
            1 => name.to_owned(),
            _ => format!("{name} × {count}"),
        });
        let vertices: Vec<String> = vertices.collect();
        let of = match stage.lost.len() as f64 == failed + revoked {
            true => some(&vertices, SHOWN, said.language()),
            false => String::new(),
        };
        let of = match of.is_empty() {
            true => Text::default(),
            false => text!("（{of}）", " ({of})"),
        };
        said.cite(
            text!(
                "{name} 失败的尝试：{failed}，被收回的尝试：{revoked}{of}",
                "Failed attempts of {name}: {failed}, revoked attempts: {revoked}{of}",
                name = stage.name,
                of = of
            ),
            &ids,
        );
    }
}

/// Says how many attempts of a stage were revoked, and their vertices.
fn revoked(said: &mut Said<'_>, run: &Asked<'_>, stage: &StageSummary) {
    let Some(value) = stage
        .values
        .value(&book::REVOKED)
        .filter(|v| v.number() > 0.0)
    else {
        return;
    };
    let ids = said.evidence_of(&book::REVOKED, value, &stage.name, run.vertex());
    let own = stage.lost.iter().filter(|lost| lost.state == "revoked");
    let vertices: Vec<String> = own.map(|lost| lost.vertex.clone()).collect();
    let (name, count) = (&stage.name, value.number() as usize);
    // the list of lost attempts is bounded
    let vertices = match vertices.len() == count {
        true => some(&vertices, SHOWN, said.language()),
        false => String::new(),
    };
    let vertices = match vertices.is_empty() {
        true => Text::default(),
        false => text!("（{vertices}）", " ({vertices})"),
    };
    said.cite(
        text!(
            "{name} 被收回的尝试：{count}{vertices}",
            "Revoked attempts of {name}: {count}{vertices}",
            vertices = vertices
        ),
        &ids,
    );
}

/// Whether a message only says how an attempt ended.
fn is_outcome(message: &str) -> bool {
    ["abandoned", "revoked", "cancelled"]
        .iter()
        .any(|word| message.contains(word))
}

/// Says the errors of lost attempts with their counts.
fn errors(said: &mut Said<'_>, stages: &[&StageSummary]) {
    let messages = stages
        .iter()
        .flat_map(|s| s.messages.iter().map(move |m| (s, m)));
    let own = messages.filter(|(_, (text, _))| !is_outcome(text));
    let language = said.language();
    let shown = own.take(ERRORS).map(|(stage, (text, count))| {
        let (name, message) = (&stage.name, without_stop(text));
        text!(
            "{name} {count} `{message}`",
            "`{message}` {count} in {name}",
            count = TIME.count(*count as f64)
        )
        .into(language)
    });
    let shown: Vec<String> = shown.collect();
    if !shown.is_empty() {
        let shown = shown.join(language.select("；", "; "));
        said.say(text!("错误：{shown}", "Errors: {shown}"));
    }
}

/// Says how long lost attempts ran.
fn time(said: &mut Said<'_>, run: &Asked<'_>, stages: &[&StageSummary]) {
    let known = stages
        .iter()
        .filter_map(|s| Some((s, s.values.value(&book::LOST_WORK)?)));
    let known: Vec<_> = known.filter(|(_, v)| v.number() > 0.0).collect();
    let total: f64 = known.iter().map(|(_, v)| v.number()).sum();
    let ids = known
        .iter()
        .take(SHOWN)
        .flat_map(|(s, v)| said.evidence_of(&book::LOST_WORK, v, &s.name, run.vertex()));
    let ids: Vec<String> = ids.collect();
    if total > 0.0 {
        let sentence = text!(
            "没有结果的尝试共运行 {time}",
            "The attempts without a result ran {time} in all",
            time = Seconds(total / 1e3)
        );
        said.cite(sentence, &ids);
    }
}

/// Says why failed attempts did not fail the job.
fn retried(said: &mut Said<'_>, run: &Asked<'_>) {
    let limit = run
        .summary
        .settings
        .get(MAX_FAILURES)
        .map(|[limit, _]| limit);
    said.say(match limit {
        Some(limit) => text!(
            "失败的尝试重试后成功：{key} = {limit}，一个 Task 失败 {limit} 次才会使作业失败",
            "Each failed attempt was repeated and a later one succeeded: {key} = {limit}, so only {limit} failures of one task fail the job",
            key = MAX_FAILURES
        ),
        None => text!(
            "作业成功，因为失败的顶点重试后成功",
            "The job succeeded because the failed vertices were repeated and then succeeded"
        ),
    });
}

/// Says the attempts at one vertex. Returns false if none was lost.
pub(super) fn of_vertex(said: &mut Said<'_>, stage: &StageSummary, name: &str) -> bool {
    let own: Vec<_> = stage
        .lost
        .iter()
        .filter(|lost| lost.vertex == name)
        .collect();
    let ran = own.iter().map(|lost| {
        let time = Seconds(lost.ran_ms as f64 / 1e3);
        text!(
            "{machine}（{time}）",
            "{machine} ({time})",
            machine = lost.machine,
            time = time
        )
        .into(said.language())
    });
    let ran: Vec<String> = ran.collect();
    let ran = list(&ran, said.language());
    let failed = own.iter().filter(|lost| lost.state != "revoked").count();
    let (all, revoked) = (own.len(), own.len() - failed);
    said.say(text!(
        "{name} 有 {all} 次尝试没有结果（失败 {failed} 次，被收回 {revoked} 次）：{ran}",
        "{times} of {name} had no result ({failed} failed, {revoked} revoked): {ran}",
        times = ATTEMPT.count(all as f64)
    ));
    if failed > 1 {
        let again = failed - 1;
        said.say(text!(
            "第一次之后重试了 {again} 次",
            "So it was retried {times} after the first attempt",
            times = TIME.count(again as f64)
        ));
    }
    errors(said, &[stage]);
    all > 0
}
