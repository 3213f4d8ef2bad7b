//! Yes or no, where the records decide a question.

use job::script::hints;
use report::measure::{Measure, book};
use report::{Cause, JobState, ProblemType, RuleResult, Verdict, text};

use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::{self, *};
use crate::word::{Cue, Quantity, Thing};
use crate::{Asked, stage};
use runs::ExecutorSummary;

/// Trouble that a stage has or has not.
#[rustfmt::skip]
const TROUBLE: [&Measure; 5] = [&book::FAILED, &book::REVOKED, &book::ABANDONED, &book::SPILLED, &book::SPILLS];

/// Causes that are named by their trouble, besides skew.
#[rustfmt::skip]
const TROUBLES: [Cause; 11] = [
    Cause::ExecutorLost, Cause::FetchWait, Cause::HeapPressure, Cause::JoinExplosion, Cause::QueueWait, Cause::SlowMachine,
    Cause::SmallFiles, Cause::Spill, Cause::VertexRetries, Cause::TinyVertices, Cause::ParallelismTooLow,
];

/// Says yes or no before the answer to a question that asks for it, unless the answer says it in other words.
pub(crate) fn lead(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    if !intent.reading.asks_yes_no() || said.is_decided() {
        return;
    }
    let decided = said.affirmed().or_else(|| decide(run, intent));
    match decided {
        Some(true) => said.lead(text!("是", "Yes")),
        Some(false) => said.lead(text!("否", "No")),
        None if said.is_unknown() => said.lead(text!("无法确定", "Not known")),
        None => {}
    }
}

/// Whether the records decide a question for yes or no.
pub(crate) fn is_decided(run: &Asked<'_>, intent: &Intent) -> bool {
    intent.reading.asks_yes_no() && decide(run, intent).is_some()
}

/// Whether the records affirm a question about trouble, a cause or a verdict.
fn decide(run: &Asked<'_>, intent: &Intent) -> Option<bool> {
    let reading = &intent.reading;
    // "are the stages without a spill slower?" compares and excludes
    let is_other = [Not, Most, Least, Apart, Times, Define, Estimated];
    let is_about = |s: &Subject| matches!(s, Subject::Job | Subject::Stage(_));
    if reading.has_any(&is_other)
        || reading.shows(Cue::Would)
        || intent.asks(Quantity::Bound)
        // "did the retry succeed?"
        || intent.asks(Quantity::Remedy) && !intent.asks(Quantity::Verdict)
        || !intent.subjects.iter().all(is_about)
        || !intent.unknown.is_empty()
        || names_hint(intent)
    {
        return None;
    }
    if reading.has(Lost) && reading.has(Noun(Thing::Executor)) {
        let executors = &run.summary.executors;
        let is_lost = |e: &ExecutorSummary| e.values.get(&book::EXECUTOR_LOST).is_some();
        return (!executors.is_empty()).then(|| executors.iter().any(is_lost));
    }
    of_measures(run, intent)
        .or_else(|| of_causes(run, intent))
        .or_else(|| of_verdict(run, intent))
}

/// Whether it names a hint: "SKEWJOIN" is no skew.
fn names_hint(intent: &Intent) -> bool {
    hints_in(&intent.text).next().is_some()
}

/// Words of a text that are hints, as written.
pub(crate) fn hints_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let long = words.filter(|word| word.len() > 4);
    long.filter(|word| hints::find(&word.to_uppercase()).is_some())
}

/// Whether any vertex of the meant stages failed or spilled.
fn of_measures(run: &Asked<'_>, intent: &Intent) -> Option<bool> {
    let mut asked = intent
        .measures
        .iter()
        .filter(|m| TROUBLE.contains(m))
        .peekable();
    asked.peek()?;
    let stages = run.summary.stages.iter().enumerate();
    let is_meant = |at: usize| {
        intent.subjects.contains(&Subject::Job) || intent.subjects.contains(&Subject::Stage(at))
    };
    let stages: Vec<_> = stages.filter(|(at, _)| is_meant(*at)).collect();
    let values = asked.flat_map(|m| stages.iter().filter_map(|(_, s)| s.get(m)));
    values.map(|n| n > 0.0).reduce(|a, b| a || b)
}

/// Whether the words for a cause name a trouble: "broadcast" and "filter" name a technique.
fn is_trouble(cause: &Cause) -> bool {
    TROUBLES.contains(cause) || cause.problem_type() == ProblemType::DataSkew
}

/// Whether a rule found a named cause: in the meant stages, if any is named.
fn of_causes(run: &Asked<'_>, intent: &Intent) -> Option<bool> {
    let is_named = |cause: &Cause| intent.causes.contains(cause);
    if intent.causes.is_empty() || !intent.causes.iter().all(is_trouble) {
        return None;
    }
    let found = match intent.subjects[..] {
        [Subject::Stage(at)] => {
            let mut found = stage::findings(run, &run.summary.stages[at]);
            found.any(|f| is_named(&f.cause))
        }
        _ => run.report.findings.iter().any(|f| is_named(&f.cause)),
    };
    let rules = run.report.rules.iter().filter(|r| is_named(&r.cause));
    let outcomes: Vec<RuleResult> = rules.map(|r| r.outcome).collect();
    let is_cleared = |o: &RuleResult| matches!(o, RuleResult::Cleared | RuleResult::NotApplicable);
    match found {
        true => Some(true),
        false if !outcomes.is_empty() && outcomes.iter().all(is_cleared) => Some(false),
        false => None,
    }
}

/// Whether there is a problem, or whether all is well if that is asked.
fn of_verdict(run: &Asked<'_>, intent: &Intent) -> Option<bool> {
    if intent.reading.shows(Cue::Failure) && intent.measures.is_empty() {
        return match run.report.job.state {
            JobState::Failed => Some(true),
            JobState::Succeeded => Some(false),
            JobState::Cancelled | JobState::Unknown => None,
        };
    }
    let is_plain = |w: &Word| matches!(w, Filler | Other | Number | Each | Noun(Thing::Stage));
    let is_plain = intent.reading.words.iter().all(is_plain);
    if !intent.asks(Quantity::Verdict) || !intent.measures.is_empty() || !is_plain {
        return None;
    }
    let is_problem = match (&intent.subjects[..], run.report.verdict) {
        ([Subject::Stage(at)], Verdict::Problem) => {
            let mut found = stage::findings(run, &run.summary.stages[*at]);
            found.next().is_some()
        }
        (_, Verdict::Problem) => true,
        (_, Verdict::Healthy) => false,
        (_, Verdict::InsufficientInformation) => return None,
    };
    Some(is_problem != intent.reading.shows(Cue::Healthy))
}
