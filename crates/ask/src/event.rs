//! Points of time of a run, and the time between two of them: "from the first executor to the end".

use report::format::Seconds;
use report::measure::book;
use report::{Text, text};

use crate::Asked;
use crate::names::{Known, Named};
use crate::phrases::Phrases;
use crate::said::Said;
use crate::subject::Subject;
use crate::wording::Wording;

/// A point of time with its evidence.
struct Event {
    name: Text,
    /// Since the submission.
    seconds: f64,
    ids: Vec<String>,
}

/// Words of events that every run has.
#[derive(Clone, Copy, PartialEq)]
enum Point {
    Submission,
    FirstExecutor,
    FirstStage,
    Compiled,
    Start,
    End,
}

#[rustfmt::skip]
const POINTS: &[(Point, Phrases, Phrases)] = &[
    (Point::FirstExecutor, "第一个 executor|首个 executor|第一个executor|executor 就绪", "first executor|first worker"),
    (Point::FirstStage, "第一个 job|首个 job|第一个阶段|第一个 stage|第一个顶点|第一个 task|第一个任务",
        "first job|first stage|first vertex|first task|first spark job"),
    (Point::Submission, "提交|应用启动|应用开始|应用起", "submission|submitted|submit|submitting|application start*|app start*|application launch*"),
    (Point::Compiled, "编译完|编译结束|编译好", "compiled|compilation end*|compilation finish*|end of compilation|compiling end*"),
    (Point::End, "结束|完成|跑完|失败|挂掉", "end|ends|ended|the end|finish*|complet*|fail*|died|done"),
    (Point::Start, "开始|启动", "start|starts|started|begin*|began"),
];

const ENDS: (Phrases, Phrases) = ("结束|完成|跑完|完", "end|ends|ended|finish*|complet*|done");

/// Words before the first event, and between two events.
const OPENERS: &str = "from |between |after |since |从|自|距|到";
const BETWEEN: &str = " to | until | till | before | and |到|至|后多久|之后多久|后过了多久|，|,";

/// Answers a question about the time between two events. Returns false for any other question.
pub(crate) fn answer(said: &mut Said<'_>, run: &Asked<'_>, question: &str) -> bool {
    let wording = Wording::of(question);
    let asks = wording.has(
        "多久|多长|多少时间|几秒|多少秒|间隔|隔了|相隔|用时|耗时|花了多",
        "how long|how much time|how many seconds|how many minutes|gap|delay|time between|elapsed|time from|time passed|time passes",
    );
    let lower = question.to_ascii_lowercase();
    let opener = OPENERS.split('|').filter_map(|word| lower.find(word)).min();
    let Some(opener) = opener.filter(|_| asks) else {
        return false;
    };
    // "its first start" belongs to the stage of the question
    let own = stage_of(run, question);
    // the first separator with an event on both sides
    let begun = said.len();
    for word in BETWEEN.split('|') {
        for (at, _) in lower.match_indices(word).filter(|(at, _)| *at > opener) {
            let parts = [&question[opener..at], &question[at + word.len()..]];
            let [first, second] = parts.map(|part| event(said, run, part, own));
            let Some((first, second)) = first.zip(second) else {
                continue;
            };
            // the whole time is no span between two events
            let is_whole =
                first.seconds == 0.0 && Some(second.seconds) == run.report.job.total_seconds;
            if first.name != second.name && !is_whole {
                say_between(said, [first, second]);
                return true;
            }
        }
    }
    said.truncate(begun);
    false
}

fn say_between(said: &mut Said<'_>, events: [Event; 2]) {
    let mut ids: Vec<String> = events[0].ids.clone();
    ids.extend(events[1].ids.clone());
    let [(a, from), (b, to)] = events.map(|event| (event.name, event.seconds));
    said.cite(
        text!(
            "从{a}到{b}共 {gap}（提交后 {from}到 {to}，按关键路径）",
            "{gap} from {a} to {b} ({from} to {to} after the submission, by the critical path)",
            gap = Seconds((to - from).abs()),
            a = a,
            b = b,
            from = Seconds(from),
            to = Seconds(to)
        ),
        &ids,
    );
}

/// Answers when a stage started or ended. Returns false for any other question.
pub(crate) fn when(said: &mut Said<'_>, run: &Asked<'_>, question: &str) -> bool {
    let wording = Wording::of(question);
    let asks = wording.has(
        "什么时候|何时|几时",
        "when did|when does|when was|at what time",
    );
    let of_stage = asks
        && wording.has(
            "开始|结束|完成",
            "start*|begin|end|finish|complete|ended|finished",
        );
    let own = stage_of(run, question);
    let Some(event) = own
        .filter(|_| of_stage)
        .and_then(|at| stage(run, at, question))
    else {
        return false;
    };
    said.cite(
        text!(
            "{name}：提交后 {time}",
            "{name} came {time} after the submission",
            name = event.name,
            time = Seconds(event.seconds)
        ),
        &event.ids,
    );
    true
}

/// The event that a part of a question names; a start or an end may be that of the question's own stage.
fn event(said: &mut Said<'_>, run: &Asked<'_>, part: &str, own: Option<usize>) -> Option<Event> {
    if let Some(at) = stage_of(run, part) {
        return stage(run, at, part);
    }
    let wording = Wording::of(part);
    let (point, ..) = POINTS.iter().find(|(_, zh, en)| wording.has(zh, en))?;
    if let (Point::Start | Point::End, Some(at)) = (point, own) {
        return stage(run, at, part);
    }
    let job = &run.report.job;
    let total = job.total_seconds;
    let mut measured = |measure| {
        let value = run.summary.values.value(measure)?;
        let ids = said.evidence_of(measure, value, job.label(), run.vertex());
        Some((value.number(), ids))
    };
    let (name, found) = match point {
        Point::Submission => (text!("提交", "the submission"), Some((0.0, Vec::new()))),
        Point::FirstExecutor => (
            text!("第一个 Executor 就绪", "the first executor"),
            measured(&book::FIRST_EXECUTOR),
        ),
        Point::Compiled => (
            text!("编译结束", "the end of the compilation"),
            measured(&book::COMPILED),
        ),
        Point::FirstStage => (
            text!("第一个阶段开始", "the start of the first stage"),
            on_path(run, None).map(|(from, _, [id, _])| (from, id)),
        ),
        Point::Start => (
            text!("运行开始", "the start of the run"),
            measured(&book::ELAPSED).and_then(|(ran, ids)| Some((total? - ran, ids))),
        ),
        Point::End => (
            text!("结束", "the end"),
            total.map(|total| (total, Vec::new())),
        ),
    };
    let (seconds, ids) = found?;
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

/// The start or the end of a stage.
fn stage(run: &Asked<'_>, at: usize, part: &str) -> Option<Event> {
    let name = &run.summary.stages[at].name;
    let (from, to, [first, last]) = on_path(run, Some(name))?;
    Some(match Wording::of(part).has(ENDS.0, ENDS.1) {
        true => Event {
            name: text!(" {name} 结束", "the end of {name}"),
            seconds: to,
            ids: last,
        },
        false => Event {
            name: text!(" {name} 开始", "the start of {name}"),
            seconds: from,
            ids: first,
        },
    })
}

/// First and last second of a stage, or of any, on the critical path, with the evidence of both.
fn on_path(run: &Asked<'_>, name: Option<&str>) -> Option<(f64, f64, [Vec<String>; 2])> {
    let segments = run.report.time.iter().flat_map(|time| &time.segments);
    let own = segments
        .filter(|s| s.stage.is_some() && name.is_none_or(|n| s.stage.as_deref() == Some(n)));
    let own: Vec<_> = own.collect();
    let first = own
        .iter()
        .min_by(|a, b| a.start_seconds.total_cmp(&b.start_seconds))?;
    let end = |s: &report::Segment| s.start_seconds + s.seconds;
    let last = own.iter().max_by(|a, b| end(a).total_cmp(&end(b)))?;
    let ids = [first, last].map(|s| s.evidence.iter().take(1).cloned().collect());
    Some((first.start_seconds, end(last), ids))
}
