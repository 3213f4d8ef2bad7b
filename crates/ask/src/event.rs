//! Points of time of a run, and the time between two of them: "from the first executor to the end".

use report::format::Seconds;
use report::measure::book;
use report::{Segment, StaticText, Text, text};

use crate::names::{Known, Named};
use crate::reading::Reading;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::{Cue, Point, Word};
use crate::{Asked, time};

/// A point of time, in seconds since the submission, with its evidence.
struct Event {
    name: Text,
    seconds: f64,
    ids: Vec<String>,
}

/// Events that every run has, with their names.
#[rustfmt::skip]
const POINTS: &[(Point, StaticText)] = &[
    (Point::Measured(&book::FIRST_EXECUTOR), StaticText { zh: "第一个 Executor 就绪", en: "the first executor" }),
    (Point::FirstStage, StaticText { zh: "第一个阶段开始", en: "the start of the first stage" }),
    (Point::Submission, StaticText { zh: "提交", en: "the submission" }),
    (Point::Measured(&book::COMPILED), StaticText { zh: "编译结束", en: "the end of the compilation" }),
    (Point::End, StaticText { zh: "结束", en: "the end" }),
    (Point::Start, StaticText { zh: "运行开始", en: "the start of the run" }),
];

/// Words before the first event, and between two events.
const OPENERS: &str = "from |between |after |since |从|自|距|到";
const BETWEEN: &str = " to | until | till | before | and |到|至|后多久|之后多久|后过了多久|，|,";

/// Answers a question about the time between two events, or of a stage's start or end. Returns false for any other question.
pub(crate) fn answer(said: &mut Said<'_>, run: &Asked<'_>, question: &str) -> bool {
    let reading = Reading::of(question);
    let asks_span = reading.shows(Cue::Span);
    let asks_when = reading.shows(Cue::Moment) && reading.shows(Cue::StartOrEnd);
    let own = stage_of(run, question);
    if let Some(event) = own
        .filter(|_| asks_when)
        .and_then(|at| stage(run, at, question))
    {
        let (name, time) = (event.name, Seconds(event.seconds));
        let sentence = text!(
            "{name}：提交后 {time}",
            "{name}: {time} after the submission",
            name = name,
            time = time
        );
        said.cite(sentence, &event.ids);
        return true;
    }
    let lower = question.to_ascii_lowercase();
    let before = lower.find("before ").filter(|_| reading.shows(Cue::What));
    let before = before
        .map(|at| &question[at..])
        .or(question.split_once("之前").map(|(part, _)| part));
    let is_early = reading.shows(Cue::What) && own.is_some();
    if let Some(event) = before
        .filter(|_| is_early)
        .and_then(|part| event(said, run, part, own))
    {
        return time::before(said, run, event.name, event.seconds);
    }
    let opener = OPENERS.split('|').filter_map(|word| lower.find(word)).min();
    let Some(opener) = opener.filter(|_| asks_span) else {
        return false;
    };
    let begun = said.len();
    // the first separator with an event on both sides
    for word in BETWEEN.split('|') {
        for (at, _) in lower.match_indices(word).filter(|(at, _)| *at > opener) {
            let parts = [&question[opener..at], &question[at + word.len()..]];
            let [Some(a), Some(b)] = parts.map(|part| event(said, run, part, own)) else {
                continue;
            };
            // the whole time is no span between two events
            let is_whole = a.seconds == 0.0 && Some(b.seconds) == run.report.job.total_seconds;
            if a.name != b.name && !is_whole {
                say_between(said, a, b);
                return true;
            }
        }
    }
    said.truncate(begun);
    false
}

fn say_between(said: &mut Said<'_>, a: Event, b: Event) {
    let ids = [a.ids, b.ids].concat();
    said.cite(
        text!(
            "从{a}到{b}共 {gap}（提交后 {from}到 {to}，按关键路径）",
            "{gap} from {a} to {b} ({from} to {to} after the submission, by the critical path)",
            gap = Seconds((b.seconds - a.seconds).abs()),
            from = Seconds(a.seconds),
            to = Seconds(b.seconds),
            a = a.name,
            b = b.name
        ),
        &ids,
    );
}

/// The event that a part of a question names; a start or an end may belong to the question's stage.
fn event(said: &mut Said<'_>, run: &Asked<'_>, part: &str, own: Option<usize>) -> Option<Event> {
    if let Some(at) = stage_of(run, part) {
        return stage(run, at, part);
    }
    let reading = Reading::of(part);
    let (point, name) = POINTS.iter().find(|(p, _)| reading.has(Word::Point(*p)))?;
    if let (Point::Start | Point::End, Some(at)) = (point, own) {
        return stage(run, at, part);
    }
    let job = &run.report.job;
    let mut measured = |measure| {
        let value = run.summary.values.value(measure)?;
        let ids = said.evidence_of(measure, value, job.label(), run.vertex());
        Some((value.number(), ids))
    };
    let (seconds, ids) = match point {
        Point::Submission => (0.0, Vec::new()),
        Point::Measured(measure) => measured(measure)?,
        Point::FirstStage => {
            let first =
                on_path(run, None).min_by(|a, b| a.start_seconds.total_cmp(&b.start_seconds))?;
            (first.start_seconds, cited(first))
        }
        Point::Start => {
            let (ran, ids) = measured(&book::ELAPSED)?;
            (job.total_seconds? - ran, ids)
        }
        Point::End => (job.total_seconds?, Vec::new()),
    };
    let name = (*name).into();
    Some(Event { name, seconds, ids })
}

/// The stage that a text names.
fn stage_of(run: &Asked<'_>, text: &str) -> Option<usize> {
    let named = Named::of(text, &Known::of(run));
    named.subjects.iter().find_map(|s| match s {
        Subject::Stage(at) => Some(*at),
        _ => None,
    })
}

/// The start or the end of a stage on the critical path.
fn stage(run: &Asked<'_>, at: usize, part: &str) -> Option<Event> {
    let name = &run.summary.stages[at].name;
    let end = |s: &Segment| s.start_seconds + s.seconds;
    let is_end = Reading::of(part).has(Word::Point(Point::End));
    let (segment, seconds, name) = if is_end {
        let last = on_path(run, Some(name)).max_by(|a, b| end(a).total_cmp(&end(b)))?;
        (last, end(last), text!(" {name} 结束", "the end of {name}"))
    } else {
        let first =
            on_path(run, Some(name)).min_by(|a, b| a.start_seconds.total_cmp(&b.start_seconds))?;
        (
            first,
            first.start_seconds,
            text!(" {name} 开始", "the start of {name}"),
        )
    };
    let ids = cited(segment);
    Some(Event { name, seconds, ids })
}

fn cited(segment: &Segment) -> Vec<String> {
    segment.evidence.iter().take(1).cloned().collect()
}

/// The parts of the critical path that are in a stage, or in any.
fn on_path<'a>(run: &'a Asked<'_>, name: Option<&'a str>) -> impl Iterator<Item = &'a Segment> {
    let segments = run.report.time.iter().flat_map(|time| &time.segments);
    segments
        .filter(move |s| s.stage.is_some() && name.is_none_or(|n| s.stage.as_deref() == Some(n)))
}
