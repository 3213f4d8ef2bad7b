//! Whether the tokens of a job are used, and whether they suffice.

use report::format::{Seconds, Share as Part, without_stop};
use report::measure::book;
use report::{CurvePoint, CurveResource, JobEngine, text};

use super::is_whole;
use crate::Asked;
use crate::intent::Intent;
use crate::said::Said;
use crate::word::{Cue, Resource, Word};

/// A part of the held time from which tokens count as used up, and a speed-up that is worth more of them.
const FULL: f64 = 0.9;
const WORTH: f64 = 1.05;

/// Says how long the job held its resources, and for which part of that vertices ran. Returns that part.
pub(crate) fn held(said: &mut Said<'_>, run: &Asked<'_>) -> Option<f64> {
    let [_, hours] = run.report.job.engine.unwrap_or(JobEngine::Scope).resource();
    let count = match run.report.job.engine {
        Some(JobEngine::Spark) => run.summary.get(&book::EXECUTORS),
        _ => run.summary.get(&book::TOKENS),
    };
    let mut points = run.report.time.iter().flat_map(|time| &time.curve);
    let now =
        points.find(|p| p.resource != CurveResource::Input && Some(p.count as f64) == count)?;
    let ran = run.report.cost.as_ref()?.vertex_hours?;
    let share = (now.cost > 0.0).then_some(ran / now.cost)?;
    said.say(text!(
        "占用的 {held}（{seconds}）中有 {share} 在运行顶点",
        "Vertices ran for {share} of the {held} ({seconds}) that the job held",
        held = hours.count(now.cost),
        seconds = Seconds(now.cost * 3600.0),
        share = Part(share)
    ));
    Some(share)
}

/// Says which part of the tokens ran vertices, and whether more of them would be faster.
pub(super) fn used(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let names = reading
        .has_any(&[Resource::Tokens, Resource::Executors, Resource::Cores].map(Word::Resource));
    let asks_use =
        reading.has(Word::Of(&book::BUSY_SLOTS)) || reading.has(Word::Named(&book::BUSY_SLOTS));
    let is_measured = run.summary.get(&book::BUSY_SLOTS).is_some();
    let time = run.report.time.iter();
    let points = time.clone().flat_map(|time| &time.curve);
    let points: Vec<&CurvePoint> = points
        .filter(|p| p.resource != CurveResource::Input)
        .collect();
    let tokens = run.summary.get(&book::TOKENS);
    let now = points.iter().find(|p| Some(p.count as f64) == tokens);
    let (Some(now), true) = (now, names && asks_use && !is_measured && is_whole(intent)) else {
        return false;
    };
    let [noun, _] = run.report.job.engine.unwrap_or(JobEngine::Scope).resource();
    if let Some(share) = held(said, run) {
        said.affirm(share >= FULL);
    }
    let is_of_slots = |line: &&String| ["token", "AU", "令牌"].iter().any(|w| line.contains(w));
    let remarks = time.flat_map(|time| &time.remarks).filter(is_of_slots);
    remarks.for_each(|line| said.say_line(without_stop(line)));
    let faster = points.iter().max_by_key(|p| p.count);
    let faster = faster.filter(|p| p.count > now.count && p.seconds * WORTH <= now.seconds);
    if let Some(more) = faster.filter(|_| reading.shows(Cue::Enough)) {
        said.say(text!(
            "更多会更快：用 {count}，运行约 {time}，而不是 {present}",
            "More would be faster: with {count}, the run would take about {time} instead of {present}",
            count = noun.count(more.count as f64),
            time = Seconds(more.seconds),
            present = Seconds(now.seconds)
        ));
    }
    true
}
