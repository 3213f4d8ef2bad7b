//! Topics that name the mechanism of a finding of a Spark application, where its stage or evidence shows it.

use crate::case::Case;

/// The topic of a gather without a window.
pub(crate) fn of_gather(case: &Case<'_>) -> Option<&'static str> {
    let has_window = case.has_operator(|name| name.starts_with("Window"));
    (!has_window).then_some("spark coalesce to one partition")
}

/// The topic of expressions of a known kind.
pub(crate) fn of_expression(case: &Case<'_>) -> Option<&'static str> {
    let stage = case.stage.and_then(|at| case.job.stages.get(at))?;
    let computes = |functions: &[&str]| {
        let mut args = stage.operators.iter().map(|o| o.args.to_ascii_lowercase());
        args.any(|args| functions.iter().any(|function| args.contains(function)))
    };
    if computes(&["rlike", "regexp", " like "]) {
        return Some("spark costly expression regular expression");
    }
    computes(&["json"]).then_some("spark costly expression json parsing")
}

/// The topic of a driver that is busy with micro-batches.
pub(crate) fn of_driver(case: &Case<'_>) -> Option<&'static str> {
    let time = case.evidence_number("triggerExecution");
    time.map(|_| "spark driver micro-batches trigger")
}
