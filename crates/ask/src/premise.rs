//! Premises of a question that the run contradicts: "why does it spill?" about a stage that doesn't, "why did it take 10 minutes?"
//! about a run of four.

use report::measure::{Entity, Measure, Unit, book};
use report::{Cause, ProblemType, RuleResult, SegmentKind, Text, text};
use runs::StageSummary;

use crate::intent::{Intent, kind};
use crate::reading::Reading;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::{Cue, Quantity, Thing, Word};
use crate::{Asked, rank, record, time, verdict};

/// Trouble by its causes, its measures and their largest values without that trouble.
type Trouble = (fn(Cause) -> bool, &'static [&'static Measure], f64);

#[rustfmt::skip]
const TROUBLES: [Trouble; 6] = [
    (|c| c == Cause::Spill, &[&book::SPILLED, &book::SPILLS], 0.0),
    (|c| c == Cause::HeapPressure, &[&book::GC_SHARE], 0.05),
    (|c| c == Cause::VertexRetries, &[&book::FAILED, &book::REVOKED], 0.0),
    (|c| c == Cause::QueueWait, &[&book::QUEUED], 0.0),
    (|c| c == Cause::FetchWait, &[&book::FETCH_WAIT], 0.0),
    (|c| c.problem_type() == ProblemType::DataSkew, &[&book::ROWS_MAX_OVER_MEAN, &book::READ_MAX_OVER_MEAN], 1.5),
];

/// Tolerance of a stated number, as a part of the measured one.
const NEAR: f64 = 0.25;

/// Says the measurements that a question takes for granted. Returns true if the measurements differ, which answers the question.
pub(crate) fn check(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    if intent.reading.shows(Cue::Strategy) {
        return strategies(said, run, intent);
    }
    if !intent.asks_why() {
        let asks = intent.is_polar() && !intent.asks(Quantity::Remedy) && asks_strategy(intent);
        if asks {
            said.affirm(broadcasts(run, &stages(run, intent).1));
        }
        return asks && strategies(said, run, intent);
    }
    number(said, run, intent);
    let is_refuted = first(said, run, intent)
        || absent(said, run, intent)
        || executors(said, run, intent)
        || trouble(said, run, intent)
        || strategy(said, run, intent)
        || cached(said, run, intent);
    said.pin();
    is_refuted
}

/// Whether a question names trouble that vertices have, which "and why?" after it asks the reason of.
pub(crate) fn names_trouble(reading: &Reading) -> bool {
    let causes = reading.causes();
    let is_named = TROUBLES
        .iter()
        .any(|(is_it, ..)| causes.iter().any(|cause| is_it(*cause)));
    (is_named || reading.shows(Cue::Failure)) && !reading.shows(Cue::Executor)
}

/// "is it a broadcast join?"
fn asks_strategy(intent: &Intent) -> bool {
    let scan = &intent.reading;
    let is_setting = |s: &Subject| matches!(s, Subject::Setting(_));
    scan.has(Word::Kind("JOIN"))
        && scan.has(Word::Kind("BROADCAST"))
        && !intent.subjects.iter().any(is_setting)
}

/// Corrects a question why a stage is the first by a measure. Returns false, as the stage has its own reasons.
fn first(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let scan = &intent.reading;
    let ([Subject::Stage(at)], true) = (&intent.subjects[..], scan.has(Word::Most)) else {
        return false;
    };
    // "why does its slowest task take so long?"
    let is_of_vertex = scan.has(Word::Noun(Thing::Vertex));
    let ranked = rank::ranked(run, &intent.measures);
    if ranked.first().is_some_and(|(_, first)| first != at) && !is_of_vertex {
        let name = &run.summary.stages[*at].name;
        said.say(text!(
            "并非如此：排在最前的阶段不是 {name}",
            "Not so: {name} is not the first"
        ));
        rank::rank(said, run, intent);
        return true;
    }
    false
}

/// Corrects a question about operators of a kind that the run lacks.
fn absent(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let (kinds, name): (&[&str], Text) = match () {
        _ if reading.has(Word::Kind("REDUCE")) => (&["reduce"], text!(" REDUCE", "reducer")),
        _ if reading.has(Word::Kind("JOIN")) => (&["join", "combine"], text!("连接", "join")),
        _ => return false,
    };
    let mut operators = run.operators().peekable();
    let is_known = operators.peek().is_some();
    let is_absent = is_known && !operators.any(|o| kinds.contains(&o.kind.as_str()));
    if is_absent {
        said.say(text!(
            "并非如此：这次运行中没有{name}",
            "Not so: this run has no {name}",
            name = name
        ));
        verdict::of_job(said, run, &[]);
    }
    is_absent
}

/// Corrects a question why executors were lost.
fn executors(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let all = &run.summary.executors;
    let is_lost = all
        .iter()
        .any(|e| e.values.get(&book::EXECUTOR_LOST).is_some());
    let is_named =
        intent.reading.shows(Cue::Executor) && intent.causes.contains(&Cause::ExecutorLost);
    let is_refuted = is_named && !all.is_empty() && !is_lost;
    if is_refuted {
        said.say(text!(
            "并非如此：没有丢失 Executor",
            "Not so: no executor was lost"
        ));
    }
    is_refuted
}

/// Corrects a question why a cache is not used.
fn cached(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let scan = &intent.reading;
    scan.has(Word::Noun(Thing::Cache)) && scan.has(Word::Not) && record::cache(said, run)
}

/// The stages that a question is about; all of them if it names none.
fn stages<'a>(run: &'a Asked<'_>, intent: &Intent) -> (bool, Vec<&'a StageSummary>) {
    let all = &run.summary.stages;
    let named = intent.subjects.iter().filter_map(|s| match s {
        Subject::Stage(at) | Subject::Operator(at, _) => Some(&all[*at]),
        _ => None,
    });
    let mut named: Vec<&StageSummary> = named.collect();
    // "the join on StoreId"
    let columns = intent.subjects.iter().filter_map(|s| match s {
        Subject::Column(name) => Some(name),
        _ => None,
    });
    let joins = |name: &String, s: &StageSummary| {
        let mut joins = s.operators.iter().filter(|o| record::is_join(o));
        joins.any(|o| o.keys.contains(name))
    };
    for name in columns.filter(|_| intent.reading.has(Word::Kind("JOIN"))) {
        named.extend(all.iter().filter(|s| joins(name, s)));
    }
    match named.is_empty() {
        true => (false, all.iter().collect()),
        false => (true, named),
    }
}

/// Says how much of a trouble there is. Returns true if the run has no such trouble.
fn trouble(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let is_named = |(is_it, ..): &&Trouble| intent.causes.iter().any(|cause| is_it(*cause));
    let Some((is_it, measures, limit)) = TROUBLES.iter().find(is_named) else {
        return false;
    };
    let (is_part, stages) = stages(run, intent);
    // stages wait for capacity as well
    let waits = time::seconds_of(run, SegmentKind::CapacityWait, None) > 0.0;
    if is_it(Cause::QueueWait) && (is_part || waits) {
        return false;
    }
    let of_job = measures.iter().filter_map(|m| run.summary.get(m));
    let of_stages = stages
        .iter()
        .flat_map(|s| measures.iter().filter_map(move |m| s.get(m)));
    let values: Vec<f64> = of_job.chain(of_stages).collect();
    let rules = run
        .report
        .rules
        .iter()
        .filter(|r| intent.causes.contains(&r.cause));
    let mut outcomes = rules.clone().map(|r| r.outcome);
    let is_cleared =
        outcomes.clone().next().is_some() && outcomes.all(|o| o == RuleResult::Cleared);
    let is_found = |stage: Option<&str>| stages.iter().any(|s| Some(s.name.as_str()) == stage);
    let mut findings = run
        .report
        .findings
        .iter()
        .filter(|f| intent.causes.contains(&f.cause));
    let is_found = findings.any(|f| !is_part || !is_it(f.cause) || is_found(f.stage.as_deref()));
    let is_none = match values.is_empty() {
        true => is_cleared,
        false => values.iter().all(|value| value <= limit),
    };
    let is_none = is_none && !is_found;
    let mut causes = intent.causes.iter().filter(|cause| is_it(**cause));
    let title: Text = causes
        .next()
        .map_or_else(Text::default, |cause| cause.title().into());
    if is_none {
        let name = match is_part {
            true => stages[0].name.clone(),
            false => run.report.job.label().to_owned(),
        };
        said.say(text!(
            "并非如此：{name} 没有“{title}”",
            "Not so: {name} has no {title}",
            title = title
        ));
    }
    for stage in stages.iter().filter(|_| is_part) {
        for measure in measures.iter() {
            if let Some(value) = stage.values.value(measure) {
                said.say_value(measure, value, &stage.name, run.vertex());
            }
        }
    }
    let is_of_job = measures.iter().any(|m| m.entity == Entity::Job);
    if !is_part && !values.is_empty() && (is_none || is_of_job) {
        rank::most(said, run, measures);
    }
    for rule in rules.filter(|_| is_none && values.is_empty()) {
        said.say_line(&rule.text);
    }
    is_none
}

/// Corrects a question about the reason why a join is or is not a broadcast.
fn strategy(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let of_broadcast = |c: &Cause| matches!(c, Cause::MissedBroadcast | Cause::BroadcastTooLarge);
    let (_, stages) = stages(run, intent);
    let is_broadcast = broadcasts(run, &stages);
    let is_denied = intent.reading.has(Word::Not);
    let is_found = run.report.findings.iter().any(|f| of_broadcast(&f.cause));
    let is_refuted = intent.causes.iter().any(of_broadcast) && is_broadcast == is_denied;
    is_refuted && !is_found && strategies(said, run, intent)
}

/// Whether rows are broadcast to or from some stages.
fn broadcasts(run: &Asked<'_>, stages: &[&StageSummary]) -> bool {
    let name = |at: usize| run.summary.stages.get(at).map(|s| &s.name);
    let is_meant = |at: usize| stages.iter().any(|s| Some(&s.name) == name(at));
    let mut broadcasts = run
        .summary
        .edges
        .iter()
        .filter(|e| e.exchange == "broadcast");
    broadcasts.any(|e| is_meant(e.to) || is_meant(e.from))
}

/// Says how the joins are run that a question is about.
fn strategies(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let (_, meant) = stages(run, intent);
    let begun = said.len();
    for (at, stage) in run.summary.stages.iter().enumerate() {
        let is_meant = meant.iter().any(|s| s.name == stage.name);
        let joins = stage.operators.iter().enumerate();
        for (o, _) in joins.filter(|(_, o)| is_meant && record::is_join(o)) {
            record::strategy(said, run, at, o);
        }
    }
    said.len() > begun
}

/// The numbers of a text before one of some units: "300 tokens", “300 个令牌”.
fn claimed(text: &str, units: &str) -> Vec<f64> {
    let is_digit = |c: char| c.is_ascii_digit();
    let starts = text.char_indices().filter(|(at, c)| {
        is_digit(*c)
            && !text[..*at].ends_with(|c: char| c.is_ascii_alphanumeric() || "_.[".contains(c))
    });
    let number = |(at, _): (usize, char)| {
        let rest = &text[at..];
        let after = rest.trim_start_matches(|c: char| is_digit(c) || c == ',');
        let unit = after.trim_start_matches([' ', '个']);
        let is_unit = units.split('|').any(|word| unit.starts_with(word));
        let digits = rest[..rest.len() - after.len()].replace(',', "");
        digits.parse().ok().filter(|_| is_unit)
    };
    starts.filter_map(number).collect()
}

/// Words before a number that make its time a moment or a part of the run: "the first 12 seconds", “第 3 分钟”.
const MOMENTS: &str = "first |last |from |after |at |minute |second |前|后|第|从";

fn is_moment(text: &str) -> bool {
    let is_number = |rest: &str| rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let mut words = MOMENTS.split('|');
    words.any(|word| {
        let mut places = text.match_indices(word);
        places.any(|(at, _)| is_number(&text[at + word.len()..]))
    })
}

/// Corrects a time or a count that a question states.
fn number(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let (name, values, time, second) = match &intent.subjects[..] {
        [Subject::Stage(at)] => {
            let stage = &run.summary.stages[*at];
            (stage.name.as_str(), &stage.values, &book::SPAN, 1e3)
        }
        [Subject::Job] => (
            run.report.job.label(),
            &run.summary.values,
            &book::ELAPSED,
            1.0,
        ),
        _ => return,
    };
    let numbers: Vec<f64> = intent.reading.numbers().collect();
    let durations = intent.durations();
    let counts = intent.measures.iter().copied();
    let counts = counts.filter(|m| matches!(m.unit, Unit::Vertices | Unit::Tokens));
    let mut stated: Vec<(&Measure, &[f64], f64)> = counts.map(|m| (m, &numbers[..], 1.0)).collect();
    let names_part = intent.asked.iter().any(|q| kind(*q).is_some()) || !intent.measures.is_empty();
    let is_whole = intent.subjects != [Subject::Job] || intent.reading.shows(Cue::Job);
    let is_part = names_part || is_moment(intent.reading.text());
    if is_whole && !is_part && !intent.asks(Quantity::Change) {
        stated.push((time, &durations, second));
    }
    // "we gave it 300 tokens, why doesn't it use them?"
    let claimed = |units: &str| claimed(intent.reading.text(), units);
    let [tokens, executors] = ["token|令牌|au|core|核|slot", "executor|worker"].map(claimed);
    let values = match (&tokens[..], &executors[..]) {
        ([], []) => values,
        _ => &run.summary.values,
    };
    stated.extend([
        (&book::TOKENS, &tokens[..], 1.0),
        (&book::EXECUTORS, &executors[..], 1.0),
    ]);
    let total = run
        .report
        .job
        .total_seconds
        .filter(|_| *time == book::ELAPSED);
    for (measure, numbers, unit) in stated {
        let (Some(value), Some(first)) = (values.value(measure), numbers.first()) else {
            continue;
        };
        let known = [
            Some(value.number()),
            total.filter(|_| *measure == book::ELAPSED),
        ];
        let is_near = |n: f64| {
            known
                .iter()
                .flatten()
                .any(|k| (n - k).abs() <= NEAR * k.max(1.0))
        };
        if !numbers.iter().any(|n| is_near(n * unit)) {
            let ids = said.evidence_of(measure, value, name, run.vertex());
            let sentence = text!(
                "{sentence}，不是 {stated}",
                "{sentence}, not {stated}",
                sentence = measure.sentence(name, value.number(), run.vertex()),
                stated = measure.shown(first * unit, run.vertex())
            );
            said.cite(sentence, &ids);
        }
    }
}
