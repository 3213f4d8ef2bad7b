//! Whether the job has ended, and whether stages ran.

use report::format::{Seconds, without_stop};
use report::measure::book;
use report::{JobState, text};

use super::{is_whole, some, stages};
use crate::intent::Intent;
use crate::said::Said;
use crate::word::Word::*;
use crate::word::{Cue, Thing};
use crate::{Asked, job, time};

/// Stages named.
const SHOWN: usize = 6;

/// Says whether the job has ended, and how far it got.
pub(super) fn finished(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let asks_last = reading.shows(Cue::LastStep);
    let is_part = reading.has_any(&[
        Noun(Thing::Vertex),
        Noun(Thing::Stage),
        Noun(Thing::Executor),
    ]);
    if !is_whole(intent) || is_part || !reading.shows(Cue::Finished) && !asks_last {
        return false;
    }
    match run.report.job.state {
        JobState::Succeeded => {
            said.affirm(true);
            time::duration(said, run);
        }
        JobState::Failed => {
            said.affirm(false);
            job::failure(said, run);
        }
        JobState::Cancelled => {
            said.affirm(false);
            said.say(text!("作业被取消", "The job was cancelled"));
        }
        JobState::Unknown => {
            let problems = run.report.diagnostics.iter();
            let lacks = run.report.missing_information.iter();
            let reasons = problems.map(|d| &d.message).chain(lacks.map(|m| &m.reason));
            let reasons: Vec<&String> = reasons.take(1).collect();
            if reasons.is_empty() {
                return false;
            }
            said.affirm(false);
            reasons.iter().for_each(|r| said.say_line(without_stop(r)));
        }
    }
    if run.report.job.state != JobState::Succeeded || asks_last {
        last(said, run);
    }
    true
}

/// Says the last work of the run, and the stages that did not run.
fn last(said: &mut Said<'_>, run: &Asked<'_>) {
    let segments = run.report.time.iter().flat_map(|time| &time.segments);
    let end = segments
        .filter(|s| s.stage.is_some())
        .max_by(|a, b| (a.start_seconds + a.seconds).total_cmp(&(b.start_seconds + b.seconds)));
    if let Some((stage, s)) = end.and_then(|s| Some((s.stage.as_ref()?, s))) {
        let ids: Vec<String> = s.evidence.iter().take(1).cloned().collect();
        said.cite(
            text!(
                "最后运行的阶段是 {stage}，到提交后 {time} 为止",
                "The last stage that ran is {stage}, until {time} after the submission",
                time = Seconds(s.start_seconds + s.seconds)
            ),
            &ids,
        );
    }
    let idle = run.summary.stages.iter().filter(|s| s.never_ran);
    let idle: Vec<String> = idle.map(|s| s.name.clone()).collect();
    if !idle.is_empty() {
        let names = some(&idle, SHOWN, said.language());
        said.say(text!("没有运行：{names}", "Did not run: {names}"));
    }
}

/// Says whether the named stages ran.
pub(super) fn ran(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let named = stages(intent);
    let others = [
        Most,
        Least,
        Apart,
        Times,
        In,
        Out,
        Number,
        Time,
        Each,
        Mean,
        Not,
        Noun(Thing::Vertex),
    ];
    let is_other = intent.reading.has_any(&others) || !intent.causes.is_empty();
    if named.is_empty()
        || is_other
        || !intent.reading.shows(Cue::Ran)
        || !intent.reading.asks_yes_no()
    {
        return false;
    }
    let runs = |at: &usize| {
        let stage = &run.summary.stages[*at];
        !stage.never_ran && stage.get(&book::VERTICES) != Some(0.0)
    };
    said.affirm(named.iter().all(runs));
    for at in named {
        let stage = &run.summary.stages[at];
        let planned = stage.values.value(&book::PLANNED);
        match (runs(&at), planned) {
            (true, _) => crate::stage::times(said, run, at),
            (false, Some(planned)) => {
                let ids = said.evidence_of(&book::PLANNED, planned, &stage.name, run.vertex());
                said.cite(
                    text!(
                        "{name} 没有运行（计划有 {count}）",
                        "{name} did not run ({count} planned)",
                        name = stage.name,
                        count = run.vertex().count(planned.number())
                    ),
                    &ids,
                );
            }
            (false, None) => said.say(text!(
                "{name} 没有运行",
                "{name} did not run",
                name = stage.name
            )),
        }
    }
    true
}
