//! The run with other resources or more input, for the report: the points of the curve, and a sentence.

use report::format::{Noun, Share};
use report::{CurvePoint, CurveResource, JobEngine, Text, text};

use crate::impact::RunModel;
use crate::view::View;
use crate::whatif::{Change, Point, Resource, WhatIf};

/// Multiples of the present input; the point of the run as it was comes before them.
const INPUTS: [u64; 4] = [2, 3, 5, 10];

/// Tokens requested per token used at the peak, from which the request is too large: 41 % of the recurring pipelines of a
/// production cluster were above it.
const TOO_MANY: f64 = 2.0;

/// The points, and what they say about the resources; `None` if the run cannot be replayed with others.
pub(super) fn outlook(view: &View<'_>) -> Option<(Vec<CurvePoint>, Text)> {
    let (curve, model) = (view.curve()?, view.run.as_ref()?);
    let run = WhatIf::new(view.job, Some(model), Vec::new()).ok()?;
    let resource = match curve.resource {
        Resource::Tokens => CurveResource::Tokens,
        Resource::Executors { .. } => CurveResource::Executors,
    };
    let point = |resource, count, of: &Point| CurvePoint {
        resource,
        count,
        seconds: of.seconds,
        cost: of.hours,
    };
    let counts = curve.points.iter();
    let counts = counts.map(|of| point(resource, of.count as u64, of));
    let now = curve.points.iter().filter(|of| of.count == curve.now);
    let now = now.map(|of| point(CurveResource::Input, 1, of));
    let inputs = INPUTS.into_iter().filter_map(|times| {
        let input = times as f64;
        let change = Change {
            input,
            ..Change::default()
        };
        Some(point(CurveResource::Input, times, &run.at(&change).ok()?))
    });
    let nouns = view.job.engine().unwrap_or(JobEngine::Scope).resource();
    let conclusion = curve.conclusion(nouns[0]);
    let said = match requested(view, model, nouns) {
        None => conclusion,
        Some(requested) => text!(
            "{requested}；{conclusion}",
            "{requested}; {conclusion}",
            requested = requested,
            conclusion = conclusion,
        ),
    };
    Some((counts.chain(now).chain(inputs).collect(), said))
}

/// Tokens that a job requested against the tokens that it used, and their price.
fn requested(view: &View<'_>, run: &RunModel, [noun, hours]: [Noun; 2]) -> Option<Text> {
    let requested = f64::from(view.job.info.tokens.filter(|_| view.job.spark.is_none())?);
    let peak = run.peak().min(run.tokens) as f64;
    let held = requested * run.elapsed_s / 3600.0;
    let used = run.stages.iter().map(|s| s.work_s()).sum::<f64>() / 3600.0;
    let idle = (1.0 - used / held).clamp(0.0, 1.0);
    let half = match requested > TOO_MANY * peak {
        true => text!("，不到一半", ", less than half"),
        false => Text::default(),
    };
    Some(text!(
        "申请了 {asked}，同时最多用 {peak}{half}；付费的 {share}（{hours}）空闲",
        "{asked} were requested, and at most {peak} used at once{half}; {share} of the paid time ({hours}) is idle",
        asked = noun.count(requested),
        peak = noun.count(peak),
        half = half,
        share = Share(idle),
        hours = hours.count(held * idle),
    ))
}
