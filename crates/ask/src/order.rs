//! The measure for ranking stages, taken from the question.

use report::measure::{Entity, Measure, Unit, book};
use report::{Text, text};

use crate::Asked;
use runs::StageSummary;

/// The measure for ranking stages: time unless the question names another. Of several measures, a ratio to the mean wins, as more
/// data is not less even.
pub(crate) fn measure(asked: &[&'static Measure]) -> &'static Measure {
    let mut of_stages = asked.iter().filter(|m| m.entity == Entity::Stage);
    let ratio = of_stages.clone().find(|m| m.unit == Unit::Ratio);
    ratio.or(of_stages.next()).copied().unwrap_or(&book::SPAN)
}

/// The superlative of a measure.
pub(crate) fn superlative(measure: &Measure) -> Text {
    match measure.unit {
        Unit::Ms if *measure == book::SPAN => text!("用时最长", "longest time"),
        Unit::Ms => text!("{title}最长", "longest {title}", title = measure.title),
        Unit::Ratio => text!("最不均匀", "least even spread"),
        _ => text!("{title}最多", "most {title}", title = measure.title),
    }
}

/// The stages by a measure, most first.
pub(crate) fn ranked(run: &Asked<'_>, asked: &[&'static Measure]) -> Vec<(f64, usize)> {
    let measure = measure(asked);
    let path = run.on_path();
    let value = |s: &StageSummary| match *measure == book::SPAN && !path.is_empty() {
        // Stages off the critical path do not lengthen the job.
        true => path.get(s.name.as_str()).map(|seconds| seconds * 1e3),
        false => s.get(measure),
    };
    let stages = run.summary.stages.iter().enumerate();
    let mut ranked: Vec<(f64, usize)> =
        stages.filter_map(|(at, s)| Some((value(s)?, at))).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked
}
