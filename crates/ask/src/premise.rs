//! Premises of a question that the run contradicts: "why does it spill?" about a stage that doesn't, "why did it take 10 minutes?"
//! about a run of four.

use report::format::Seconds;
use report::measure::{Entity, Measure, Unit, book};
use report::{Cause, ProblemType, Text, text};
use runs::StageSummary;

use crate::intent::{Intent, kind};
use crate::phrases::Quantity;
use crate::said::Said;
use crate::subject::Subject;
use crate::words::{Scan, Word};
use crate::{Asked, rank, record};

/// Trouble by its causes, its measures and their largest values without that trouble.
type Trouble = (fn(Cause) -> bool, &'static [&'static Measure], f64);

#[rustfmt::skip]
const TROUBLES: [Trouble; 5] = [
    (|c| c == Cause::Spill, &[&book::SPILLED, &book::SPILLS], 0.0),
    (|c| c == Cause::HeapPressure, &[&book::GC_SHARE], 0.05),
    (|c| c == Cause::VertexRetries, &[&book::FAILED, &book::REVOKED], 0.0),
    (|c| c == Cause::FetchWait, &[&book::FETCH_WAIT], 0.0),
    (|c| c.problem_type() == ProblemType::DataSkew,
        &[&book::RUN_MAX_OVER_MEAN, &book::ROWS_MAX_OVER_MEAN, &book::READ_MAX_OVER_MEAN], 1.5),
];

/// Part by which a stated number may differ from the measured one.
const NEAR: f64 = 0.25;

/// Says the measurements that a question takes for granted. Returns true if they are otherwise, so that nothing is left to answer.
pub(crate) fn check(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    if !intent.asks_why {
        return false;
    }
    number(said, run, intent);
    let is_refuted = trouble(said, run, intent) || strategy(said, run, intent);
    said.pin();
    is_refuted
}

/// The stages that a question is about; all of them if it names none.
fn stages<'a>(run: &'a Asked<'_>, intent: &Intent) -> (bool, Vec<&'a StageSummary>) {
    let all = &run.summary.stages;
    let named = intent.subjects.iter().filter_map(|s| match s {
        Subject::Stage(at) | Subject::Operator(at, _) => Some(&all[*at]),
        _ => None,
    });
    let named: Vec<&StageSummary> = named.collect();
    match named.is_empty() {
        true => (false, all.iter().collect()),
        false => (true, named),
    }
}

/// Says how much of a trouble there is. Returns true if there is none.
fn trouble(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let is_named = |(is_it, ..): &&Trouble| intent.causes.iter().any(|cause| is_it(*cause));
    let Some((is_it, measures, limit)) = TROUBLES.iter().find(is_named) else {
        return false;
    };
    let (is_part, stages) = stages(run, intent);
    let values = |stage: &&StageSummary| {
        let known = measures.iter().filter_map(|m| stage.get(m));
        known.collect::<Vec<f64>>()
    };
    let values: Vec<f64> = stages.iter().flat_map(values).collect();
    let is_found = |stage: Option<&str>| stages.iter().any(|s| Some(s.name.as_str()) == stage);
    let mut findings = run.report.findings.iter().filter(|f| is_it(f.cause));
    let is_found = findings.any(|f| !is_part || is_found(f.stage.as_deref()));
    let is_none = !is_found && !values.is_empty() && values.iter().all(|value| value <= limit);
    let mut causes = intent.causes.iter().filter(|cause| is_it(**cause));
    let title: Text = causes.next().map_or_else(Text::default, |cause| cause.title().into());
    if is_none {
        let name = match is_part {
            true => stages[0].name.clone(),
            false => run.report.job.label().to_owned(),
        };
        said.say(text!("并非如此：{name} 没有“{title}”", "Not so: {name} has no {title}", title = title));
    }
    for stage in stages.iter().filter(|_| is_part) {
        for measure in measures.iter() {
            if let Some(value) = stage.values.value(measure) {
                said.say_value(measure, value, &stage.name, run.vertex());
            }
        }
    }
    if !is_part && is_none {
        rank::most(said, run, measures);
    }
    is_none
}

/// Corrects a question why a join is a broadcast, or why it is none.
fn strategy(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let of_broadcast = |c: &Cause| matches!(c, Cause::MissedBroadcast | Cause::BroadcastTooLarge);
    let (_, stages) = stages(run, intent);
    let is_meant = |at: usize| run.summary.stages.get(at).is_some_and(|s| stages.iter().any(|n| n.name == s.name));
    let broadcasts = run.summary.edges.iter().filter(|e| e.exchange == "broadcast");
    let is_broadcast = broadcasts.clone().any(|e| is_meant(e.to) || is_meant(e.from));
    let is_denied = Scan::of(&intent.text).has(Word::Not);
    if !intent.causes.iter().any(of_broadcast) || is_broadcast != is_denied {
        return false;
    }
    let begun = said.len();
    for (at, stage) in run.summary.stages.iter().enumerate().filter(|(at, _)| is_meant(*at)) {
        let joins = stage.operators.iter().enumerate();
        for (o, _) in joins.filter(|(_, o)| matches!(o.kind.as_str(), "join" | "combine")) {
            record::strategy(said, run, at, o);
        }
    }
    said.len() > begun
}

/// Corrects a time or a count that a question states.
fn number(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let is_far = |stated: f64, known: f64| (stated - known).abs() > NEAR * known.max(1.0);
    let [subject] = &intent.subjects[..] else {
        return;
    };
    let (name, values) = match subject {
        Subject::Stage(at) => (run.summary.stages[*at].name.as_str(), &run.summary.stages[*at].values),
        Subject::Job => (run.report.job.label(), &run.summary.values),
        _ => return,
    };
    let vertex = run.vertex();
    let counts = intent.measures.iter().filter(|m| matches!(m.unit, Unit::Vertices | Unit::Tokens));
    let counts = counts.filter(|m| m.entity == Entity::Job || **m == &book::VERTICES);
    for (measure, value) in counts.filter_map(|m| Some((m, values.value(m)?))) {
        let is_stated = |n: &f64| !is_far(*n, value.number());
        if let (Some(stated), None) = (intent.numbers.first(), intent.numbers.iter().find(|n| is_stated(n))) {
            let ids = said.evidence_of(measure, value, name, vertex);
            let (sentence, stated) = (measure.sentence(name, value.number(), vertex), measure.shown(*stated, vertex));
            said.cite(text!("{sentence}，不是 {stated}", "{sentence}, not {stated}", sentence = sentence, stated = stated), &ids);
        }
    }
    let is_of_part = intent.asked.iter().any(|q| kind(*q).is_some()) || !intent.measures.is_empty();
    let (measure, unit) = match subject {
        Subject::Job => (&book::ELAPSED, 1.0),
        _ => (&book::SPAN, 1e-3),
    };
    let Some(value) = values.value(measure).filter(|_| !is_of_part && !intent.asks(Quantity::Change)) else {
        return;
    };
    let known = [Some(value.number() * unit), run.report.job.total_seconds.filter(|_| *subject == Subject::Job)];
    let is_known = |stated: &f64| known.iter().flatten().any(|known| !is_far(*stated, *known));
    let is_whole = *subject != Subject::Job || intent.names_job;
    if let [stated] = intent.durations[..]
        && !is_known(&stated)
        && is_whole
    {
        let ids = said.evidence_of(measure, value, name, vertex);
        let (sentence, stated) = (measure.sentence(name, value.number(), vertex), Seconds(stated));
        said.cite(text!("{sentence}，不是 {stated}", "{sentence}, not {stated}", sentence = sentence, stated = stated), &ids);
    }
}
