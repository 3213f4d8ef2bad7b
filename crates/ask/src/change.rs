//! Changes since the last saved run of the same job.

use report::format::{Change, Seconds, without_stop};
use report::measure::book;
use report::text;

use crate::Asked;
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use runs::compare::{self, ComparedRun, Origin, ReasonKind};

/// Reasons named.
const REASONS: usize = 3;

pub(crate) fn since(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let Some(earlier) = (run.earlier)() else {
        let sentence = text!(
            "没有保存这个作业更早的一次运行，无法说明变化；用 `scopeagent compare` 可以比较两个作业目录",
            "No earlier run of this job is saved to compare with; `scopeagent compare` compares two job folders"
        );
        return said.say(sentence);
    };
    let now = ComparedRun {
        report: run.report.clone(),
        summary: run.summary.clone(),
        origin: Origin::Kept,
    };
    let language = said.language();
    let comparison = compare::compare(&earlier, &now, language);
    let submitted = earlier.report.job.submitted.as_deref();
    let when = submitted
        .and_then(|s| s.get(..10))
        .unwrap_or(&earlier.report.run_id);
    let times = earlier
        .report
        .job
        .elapsed_seconds
        .zip(run.report.job.elapsed_seconds);
    let sentence = match times {
        Some((before, after)) => text!(
            "与上一次运行（{when}）相比：从 {before}变为 {after}（{change}）",
            "Since the last run ({when}) the run time went from {before} to {after} ({change})",
            before = Seconds(before),
            after = Seconds(after),
            change = Change::between(before, after)
        ),
        None => text!(
            "与上一次运行（{when}）比较",
            "Compared with the last run ({when})"
        ),
    };
    said.say(sentence);
    for subject in &intent.subjects {
        if let Subject::Stage(at) = subject {
            stage(said, &run.summary.stages[*at].name, &comparison);
        }
    }
    for (n, reason) in comparison.reasons.iter().take(REASONS).enumerate() {
        let text = without_stop(&reason.text);
        let sentence = match (reason.kind, n) {
            (ReasonKind::NoDifference, _) => text!("{text}", "{text}"),
            (_, 0) => text!("最可能的原因：{text}", "Most likely reason: {text}"),
            _ => text!("另外：{text}", "Also: {text}"),
        };
        said.say(sentence);
    }
}

fn stage(said: &mut Said<'_>, name: &str, comparison: &compare::Comparison) {
    let mut stages = comparison.stages.iter();
    let Some(change) = stages.find(|s| s.b.as_deref() == Some(name)) else {
        return;
    };
    let span = change.numbers.get(&book::SPAN);
    if let Some((a, b)) = span.a.zip(span.b) {
        let [a, b] = [a, b].map(|ms| ms / 1e3);
        let sentence = text!(
            "{name} 从 {a}变为 {b}（{change}）",
            "{name} went from {a} to {b} ({change})",
            a = Seconds(a),
            b = Seconds(b),
            change = Change::between(a, b)
        );
        said.say(sentence);
    } else if change.a.is_none() {
        said.say(text!("上一次运行没有 {name}", "The last run had no {name}"));
    }
}
