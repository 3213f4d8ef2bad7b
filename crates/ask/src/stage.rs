//! Measurements of a stage.

use report::format::{Seconds, Share, list};
use report::measure::{Better, Entity, Measure, book};
use report::{Cause, Finding, Text, Verdict, text};

use crate::intent::{Intent, LOSSES, kind};
use crate::said::{self, Said};
use crate::word::Quantity;
use crate::{Asked, found, origin, rank, record, time};
use runs::StageSummary;

/// Measures that say how much a stage does.
#[rustfmt::skip]
const WORK: [&Measure; 5] = [
    &book::VERTICES, &book::BUSY_SHARE, &book::ROWS_IN, &book::BYTES_READ, &book::RUN_MAX_OVER_MEAN,
];

/// A stage is uneven from this ratio of its largest vertex to the mean; operators named as its longest.
const UNEVEN: f64 = 1.5;
const LONGEST: usize = 2;

/// Answers a question about a stage; without a quantity, states the most important measurements.
pub(crate) fn about(said: &mut Said<'_>, run: &Asked<'_>, at: usize, intent: &Intent) {
    let stage = &run.summary.stages[at];
    let asks = |q| intent.asks(q);
    let judges = asks(Quantity::Verdict) || asks(Quantity::Reason);
    let is_plain = intent.asks_nothing() && intent.causes.is_empty();
    let only_remedy =
        asks(Quantity::Remedy) && intent.asked.len() == 1 && intent.measures.is_empty();
    let judges =
        judges && (intent.asks_why() || intent.measures.is_empty()) || is_plain || only_remedy;
    if stage.never_ran {
        planned(said, run, at, intent);
        if judges {
            judge(said, run, at);
        }
        return;
    }
    if is_plain && !intent.asks_why() {
        does(said, run, at);
    }
    // the number that is asked for comes before its reason
    measures(said, run, at, intent);
    if judges && intent.asks_why() && intent.measures.is_empty() {
        why(said, run, at);
    } else if judges {
        judge(said, run, at);
    }
    for quantity in &intent.asked {
        match quantity {
            Quantity::Duration | Quantity::Account | Quantity::Share => times(said, run, at),
            Quantity::Bound => time::balance(said, run, Some(&stage.name)),
            Quantity::Place => place(said, run, stage),
            Quantity::Flow | Quantity::Inputs => record::flow(said, run, at),
            Quantity::Sources => {
                findings(run, stage).for_each(|f| found::finding_of(said, run, &f.id, true))
            }
            Quantity::Missing => found::undecided(said, run, |_| true),
            _ => {}
        }
    }
    for segment in intent.asked.iter().filter_map(|q| kind(*q)) {
        if intent.measures.is_empty() || time::seconds_of(run, segment, Some(&stage.name)) > 0.0 {
            time::time_of(said, run, segment, Some(&stage.name));
        }
    }
    if is_plain
        || judges
            && !intent.asks_why()
            && findings(run, stage).next().is_none()
            && intent.measures.is_empty()
    {
        times(said, run, at);
        work(said, run, stage);
    }
}

/// Says the values that are asked for, or that no file gives any of them.
fn measures(said: &mut Said<'_>, run: &Asked<'_>, at: usize, intent: &Intent) {
    let stage = &run.summary.stages[at];
    let name = &stage.name;
    // a time on the critical path may have answered it
    let is_answered = intent.asked.iter().any(|q| kind(*q).is_some());
    for one_question in intent.of_one_question(|m| m.entity == Entity::Stage) {
        let begun = said.len();
        for measure in &one_question {
            match stage.values.value(measure) {
                Some(_) if **measure == book::VERTICES => {
                    origin::vertices(said, run, stage, !intent.asks_for(&[&book::FAILED]));
                }
                Some(value) => said.say_value(measure, value, name, run.vertex()),
                None => {}
            }
        }
        if said.len() == begun && !is_answered {
            rank::unknown(said, one_question[0], Some(name), run.vertex());
        }
    }
    if intent.asks_for(&LOSSES) {
        record::attempts(said, stage);
    }
    if intent.measures.contains(&&book::PARTITIONS) || origin::is_asked(stage, intent) {
        origin::partitions(said, run, at);
    }
    if intent.asks_for(&[&book::WAIT]) {
        time::waited(said, run, at);
    }
}

/// Says why a stage takes its time: its findings, its rows of the account, its most uneven measures and its longest operators.
pub(crate) fn why(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let stage = &run.summary.stages[at];
    judge(said, run, at);
    times(said, run, at);
    time::rows_of(said, run, &stage.name);
    // waiting that takes most of the time is the reason
    let waits = stage.get(&book::QUEUE).zip(stage.get(&book::MEAN_RUN));
    let waits = waits.is_some_and(|(wait, run)| wait > run);
    for (measure, least) in [
        (&book::QUEUE, if waits { 0.0 } else { f64::INFINITY }),
        (&book::MEAN_RUN, if waits { 0.0 } else { f64::INFINITY }),
        (&book::RUN_MAX_OVER_MEAN, UNEVEN),
        (&book::ROWS_MAX_OVER_MEAN, UNEVEN),
    ] {
        let value = stage.values.value(measure).filter(|v| v.number() >= least);
        if let Some(value) = value {
            said.say_value(measure, value, &stage.name, run.vertex());
        }
    }
    let mut longest: Vec<_> = stage
        .operators
        .iter()
        .filter_map(|o| Some((o, o.values.value(&book::OWN_TIME)?)))
        .collect();
    longest.sort_by(|a, b| b.1.number().total_cmp(&a.1.number()));
    for (o, value) in longest.into_iter().take(LONGEST) {
        let name = o.name_in(&stage.name);
        said.say_value(&book::OWN_TIME, value, &name, run.vertex());
    }
}

/// Describes a stage: its operators with their keys, its script lines and its neighbors.
fn does(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let stage = &run.summary.stages[at];
    let name = &stage.name;
    let operators = stage.operators.iter().map(|o| {
        let own = o
            .names
            .first()
            .map_or(String::new(), |own| format!(" ({own})"));
        format!("{}{own}", runs::with_keys(&o.id, &o.keys))
    });
    let operators: Vec<String> = operators.collect();
    if !operators.is_empty() {
        said.say(text!(
            "{name} 的算子：{operators}",
            "{name} runs {operators}",
            operators = said::names(&operators, said.language())
        ));
    }
    if !stage.lines.is_empty() {
        place(said, run, stage);
    }
    record::flow(said, run, at);
}

/// Answers a question about a stage that did not run: only its plan is known.
fn planned(said: &mut Said<'_>, run: &Asked<'_>, at: usize, intent: &Intent) {
    let stage = &run.summary.stages[at];
    did_not_run(said, stage);
    if intent.asks(Quantity::Place) {
        place(said, run, stage);
    }
    if intent.asks(Quantity::Flow) || intent.asks(Quantity::Inputs) {
        record::flow(said, run, at);
    }
}

fn did_not_run(said: &mut Said<'_>, stage: &StageSummary) {
    let name = &stage.name;
    said.say(text!("{name} 没有运行", "{name} did not run"));
}

/// Says everything that is known of a stage; its operators are known.
pub(crate) fn describe(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let stage = &run.summary.stages[at];
    if stage.never_ran {
        did_not_run(said, stage);
    } else {
        times(said, run, at);
        for measure in book::of(Entity::Stage).filter(|m| **m != book::SPAN) {
            let value = stage.values.value(measure);
            // zero trouble is not mentioned
            let value = value.filter(|v| v.number() != 0.0 || measure.better != Better::Less);
            if let Some(value) = value.filter(|_| is_told(measure)) {
                said.say_value(measure, value, &stage.name, run.vertex());
            }
        }
    }
    record::flow(said, run, at);
}

/// Whether a measure says something that those before it don't.
fn is_told(measure: &Measure) -> bool {
    let is_work = WORK.contains(&measure) || *measure == book::MEAN_RUN;
    is_work || !measure.words.en.is_empty()
}

/// The findings about a stage: in it, or naming it among others.
pub(crate) fn findings<'a>(
    run: &'a Asked<'a>,
    stage: &'a StageSummary,
) -> impl Iterator<Item = &'a Finding> {
    let all = run.report.findings.iter();
    all.filter(|f| f.stage.as_deref() == Some(stage.name.as_str()) || covers(run, f, stage))
}

/// Least part of the trouble of its main stage that a further stage of a finding has.
const ALIKE: f64 = 0.5;

/// Whether a finding about another stage names this one, or its kind of trouble is as large there.
fn covers(run: &Asked<'_>, finding: &Finding, stage: &StageSummary) -> bool {
    let of_finding = run.report.evidence_of(&finding.evidence);
    let mut texts = of_finding.map(|e| e.text.as_str());
    // a first attempt has the name of its stage
    let name = stage.name.split(" (attempt").next().unwrap_or(&stage.name);
    if has_name(&finding.summary, name) || texts.any(|text| has_name(text, name)) {
        return true;
    }
    let trouble = match finding.cause {
        Cause::HeapPressure => &book::GC_SHARE,
        Cause::Spill => &book::SPILLED,
        Cause::FetchWait => &book::FETCH_WAIT,
        _ => return false,
    };
    let main = finding
        .stage
        .as_deref()
        .and_then(|s| run.summary.stage_named(s));
    let main = main.and_then(|at| run.summary.stages[at].get(trouble));
    let own = stage.get(trouble).filter(|own| *own > 0.0);
    own.zip(main).is_some_and(|(own, main)| own >= ALIKE * main)
}

/// Whether a text has a name as a whole: `Stage 1` is not in `Stage 13`.
fn has_name(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[at + name.len()..].starts_with(is_part))
}

/// Whether the stage is a problem, and which.
pub(crate) fn judge(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let stage = &run.summary.stages[at];
    let name = &stage.name;
    let mut found = findings(run, stage).peekable();
    if found.peek().is_some() {
        return found
            .enumerate()
            .for_each(|(n, f)| found::finding(said, f, n == 0));
    }
    match run.report.verdict {
        Verdict::Healthy => {
            let sentence = text!(
                "{name} 不是问题：适用的规则都有数据可查，结果都正常",
                "{name} is not a problem: every rule that applies had its facts, and all are fine"
            );
            said.say(sentence);
        }
        Verdict::Problem => {
            said.say(text!(
                "规则没有发现 {name} 本身的问题",
                "No rule found a problem in {name} itself"
            ));
            elsewhere(said, run);
        }
        Verdict::InsufficientInformation => {
            said.say(text!(
                "目前没有发现 {name} 的问题，但不能排除",
                "No problem was found in {name} so far, but none can be ruled out"
            ));
            found::undecided(said, run, |_| true);
        }
    }
}

/// Where the problem of the job is instead.
fn elsewhere(said: &mut Said<'_>, run: &Asked<'_>) {
    let Some(found) = run.report.findings.first() else {
        return;
    };
    let (id, title) = (&found.id, found.cause.title());
    let sentence = match &found.stage {
        Some(stage) => text!(
            "作业的主要问题在 {stage}：{title}（{id}）",
            "The main problem of the job is in {stage}: {title} ({id})",
            title = title
        ),
        None => text!(
            "作业的主要问题是{title}（{id}）",
            "The main problem of the job: {title} ({id})",
            title = title
        ),
    };
    said.cite(sentence, &found.evidence[..found.evidence.len().min(1)]);
}

/// How long it takes, and how much of that is on the critical path.
pub(crate) fn times(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let stage = &run.summary.stages[at];
    let name = &stage.name;
    let Some(value) = stage.values.value(&book::SPAN) else {
        return said.say(text!(
            "没有文件记录 {name} 的时间",
            "No file gives the times of {name}"
        ));
    };
    let span = Seconds(value.number() / 1e3);
    let ids = said.evidence_of(&book::SPAN, value, name, run.vertex());
    let path = run
        .on_path()
        .get(name.as_str())
        .copied()
        .filter(|s| *s > 0.0);
    let total = run.report.time.as_ref().map(|t| t.total_seconds());
    let path = match path.zip(total) {
        Some((seconds, total)) => text!(
            "，其中关键路径上 {seconds}，占全程的 {share}",
            ", {seconds} of it on the critical path ({share} of the whole time)",
            seconds = Seconds(seconds),
            share = Share(seconds / total)
        ),
        None if total.is_some() => text!("，不在关键路径上", ", off the critical path"),
        None => Text::default(),
    };
    let sentence = text!(
        "{name} 用时 {span}{path}",
        "{name} takes {span}{path}",
        span = span,
        path = path
    );
    said.cite(sentence, &ids);
}

/// The amount of work of a stage, and its share of the job's.
pub(crate) fn work(said: &mut Said<'_>, run: &Asked<'_>, stage: &StageSummary) {
    for measure in WORK {
        if let Some(value) = stage.values.value(measure) {
            said.say_value(measure, value, &stage.name, run.vertex());
        }
    }
}

pub(crate) fn place(said: &mut Said<'_>, run: &Asked<'_>, stage: &StageSummary) {
    let name = &stage.name;
    let file = run.summary.script.as_ref().map_or("", |s| s.file.as_str());
    let lines: Vec<String> = stage.lines.iter().map(u32::to_string).collect();
    let sentence = match lines.is_empty() {
        true => text!(
            "没有文件说明 {name} 运行脚本的哪些行",
            "No file tells which script lines {name} runs"
        ),
        false => text!(
            "{name} 运行脚本 {file} 中从第 {lines} 行开始的语句",
            "{name} runs the statements at lines {lines} of {file}",
            lines = list(&lines, said.language())
        ),
    };
    said.say(sentence);
}
