//! Measurements of the whole job.

use report::format::{Number, STAGE, Seconds, without_stop};
use report::measure::{Entity, Measure, book};
use report::{JobState, Report, SegmentKind, Text, text};

use crate::Asked;
use crate::amount::AMOUNTS;
use crate::intent::{Intent, kind};
use crate::said::{Said, names};
use crate::word::{Cue, Quantity, Thing, Word};
use crate::{column, found, kinds, rank, setting, thing, time, verdict};
use runs::{InputSummary, StageSummary};

/// Inputs, places and findings named in an answer.
const SHOWN: usize = 3;

/// Stages with one vertex that are listed.
const SINGLE: usize = 8;

/// Measures of how evenly a stage is spread, and the least spread over vertices of an uneven stage.
#[rustfmt::skip]
const SPREAD: [&Measure; 5] = [
    &book::MAX_RUN, &book::RUN_MAX_OVER_MEAN, &book::ROWS_MAX, &book::ROWS_MAX_OVER_MEAN, &book::READ_MAX_OVER_MEAN,
];
const UNEVEN: f64 = 2.0;

/// Quantities with an answer of their own.
#[rustfmt::skip]
const COUNTS: [Quantity; 9] = [
    Quantity::Stages, Quantity::Duration, Quantity::Inputs, Quantity::Which, Quantity::Cost, Quantity::Identity, Quantity::Bound, Quantity::Single, Quantity::Settings,
];

/// The failure of the job, with its place if the question asks for it.
fn failed(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let text = intent.text.to_lowercase();
    let names_place = ["machine", "node", "机器", "节点", "顶点", "vertex"];
    let names_place = names_place.iter().any(|w| text.contains(w));
    if names_place || intent.asks(Quantity::Place) || intent.reading.shows(Cue::DataRow) {
        let first = run.report.findings.first();
        first.iter().for_each(|f| found::finding(said, f, true));
    }
    failure(said, run);
}

/// Answers a question about the job.
pub(crate) fn about(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let asks = |q| intent.asks(q);
    // "is spilling the bottleneck?" is about spilling
    let is_whole = intent.asks_why() || !intent.is_polar();
    let is_found = |cause| run.report.findings.iter().any(|f| f.cause == cause);
    let is_named = run.report.job.state != JobState::Failed
        && intent.causes.iter().any(|cause| is_found(*cause));
    let states_problem =
        intent.causes.is_empty() || asks(Quantity::Reason) && is_whole && !is_named;
    if run.report.job.state == JobState::Failed
        && (asks(Quantity::Reason) || asks(Quantity::Verdict) || intent.reading.shows(Cue::Failure))
    {
        failed(said, run, intent);
    }
    match run.report.job.state {
        JobState::Succeeded if intent.reading.shows(Cue::Failure) => {
            said.say(text!("作业没有失败", "The job did not fail"));
        }
        JobState::Unknown if intent.reading.shows(Cue::Failure) && run.summary.error.is_none() => {
            return said.say(text!(
                "没有文件说明作业是如何结束的，也没有文件记录失败",
                "No file says how the job ended, and none records a failure"
            ));
        }
        _ => {}
    }
    if asks(Quantity::Bound) {
        let said_by_it = |m: &&Measure| [&book::CPU_TIME, &book::WAIT].contains(m);
        let others = intent.measures.iter().filter(|m| !said_by_it(m));
        others.for_each(|m| rank::most(said, run, &[*m]));
        return time::balance(said, run, None);
    }
    let counts = intent.asked.iter();
    let counts =
        counts.clone().any(|q| COUNTS.contains(q)) || counts.clone().any(|q| kind(*q).is_some());
    let counts = counts || !intent.measures.is_empty();
    let wants_verdict = asks(Quantity::Verdict) && !counts || asks(Quantity::Reason);
    if asks(Quantity::Duration) && !asks(Quantity::Single) {
        time::duration(said, run);
    }
    // a sum lists the stages with most of it
    let has_sum = intent.measures.iter().any(|m| rank::SUMS.contains(m));
    let scan = &intent.reading;
    let times_kind = intent.asked.iter().any(|q| kind(*q).is_some());
    // "the longest gap" is no stage
    let is_of_kind = times_kind && !scan.has(Word::Noun(Thing::Stage));
    if asks(Quantity::Which) && !has_sum && !is_of_kind {
        rank::rank(said, run, intent);
    }
    measures(said, run, intent);
    if wants_verdict && states_problem {
        verdict::of_job(said, run, &intent.except);
    }
    if asks(Quantity::Account) || asks(Quantity::Share) && !asks(Quantity::Which) {
        time::account(said, run);
    }
    for segment in intent.asked.iter().filter_map(|q| kind(*q)) {
        // a measure says more than its absence from the critical path
        if intent.measures.is_empty() || time::seconds_of(run, segment, None) > 0.0 {
            time::time_of(said, run, segment, None);
            if scan.has(Word::Most) {
                time::longest(said, run, segment);
            }
        }
    }
    let asks_idle = asks(Quantity::Segment(SegmentKind::Idle)) && !intent.asks_why();
    if let Some(time) = run.report.time.as_ref().filter(|_| asks_idle) {
        time.remarks
            .iter()
            .for_each(|remark| said.say_line(without_stop(remark)));
    }
    let is_kind = |word: &Word| matches!(word, Word::Kind(_));
    let names_statement = scan.words.iter().any(is_kind);
    for quantity in &intent.asked {
        match quantity {
            // an account comes with the verdict
            Quantity::Account => {}
            // "where is the window?" asks for a statement, not for the lines of findings
            Quantity::Place if names_statement => {}
            quantity => answer(said, run, *quantity, intent),
        }
    }
}

/// Answers the part of a question about settings that is about the job: "which priority and how many tokens?".
pub(crate) fn beside_settings(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let of_job = intent.measures.iter().filter(|m| m.entity == Entity::Job);
    of_job.for_each(|m| rank::most(said, run, &[*m]));
    if intent.asks(Quantity::Identity) {
        identity(said, run.report);
    }
}

/// Answers one question about the job.
pub(crate) fn answer(said: &mut Said<'_>, run: &Asked<'_>, quantity: Quantity, intent: &Intent) {
    match quantity {
        Quantity::Account => time::account(said, run),
        Quantity::Stages => stages(said, run),
        Quantity::Inputs => inputs(said, run),
        Quantity::Cost => cost(said, run),
        Quantity::Place if run.summary.error.is_none() => kinds::lines(said, run),
        Quantity::Missing => missing(said, run),
        Quantity::Sources => sources(said, run),
        Quantity::Identity => identity(said, run.report),
        Quantity::Bound => time::balance(said, run, None),
        Quantity::Single => single(said, run),
        Quantity::Settings => setting::all(said, run, intent),
        _ => {}
    }
}

/// The measures that are asked for, over the stages of the job.
fn measures(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let queue = run.summary.values.value(&book::QUEUED);
    let queue = queue.filter(|_| intent.asks(Quantity::Segment(SegmentKind::Queue)));
    if let Some(queued) = queue {
        said.say_value(&book::QUEUED, queued, run.report.job.label(), run.vertex());
    }
    let is_told = |m: &Measure| queue.is_some() && *m == book::WAIT || AMOUNTS.contains(&m);
    let has_sum = intent.asks_for(&rank::SUMS);
    let is_ranked = intent.asks(Quantity::Which) && !has_sum;
    let is_spread = |m: &Measure| SPREAD.contains(&m);
    if intent.asks_for(&[&book::ROWS_MAX_OVER_MEAN]) {
        widest(said, run);
    }
    for mut one_question in intent.of_one_question(|m| !is_told(m) && !is_spread(m)) {
        let first = one_question[0];
        if *first == book::VERTICES {
            one_question.insert(0, &book::JOB_VERTICES);
        }
        // the rank of the stages has said it, but not the sum over them
        if !(is_ranked && first.entity == Entity::Stage) {
            rank::most(said, run, &one_question);
        }
    }
}

/// The stage that is spread least evenly.
fn widest(said: &mut Said<'_>, run: &Asked<'_>) {
    let of_data = [&book::ROWS_MAX_OVER_MEAN, &book::READ_MAX_OVER_MEAN];
    let ratio = |s: &StageSummary| {
        let known = of_data.iter().filter_map(|m| s.get(m)).reduce(f64::max);
        known.or(s.get(&book::RUN_MAX_OVER_MEAN)).unwrap_or(0.0)
    };
    let stages = run.summary.stages.iter();
    let Some(stage) = stages.max_by(|a, b| ratio(a).total_cmp(&ratio(b))) else {
        return;
    };
    if ratio(stage) < UNEVEN {
        let name = &stage.name;
        said.say(text!(
            "各阶段的数据都均匀，最不均匀的是 {name}",
            "The stages are even; the least even is {name}"
        ));
    }
    for measure in SPREAD {
        if let Some(value) = stage.values.value(measure) {
            said.say_value(measure, value, &stage.name, run.vertex());
        }
    }
}

pub(crate) fn failure(said: &mut Said<'_>, run: &Asked<'_>) {
    let error = match run.summary.error.as_deref() {
        Some(error) => {
            let error = report::format::cut(without_stop(error), 300);
            text!("：{error}", ": {error}")
        }
        None => Text::default(),
    };
    let after = match run.report.job.elapsed_seconds {
        Some(ran) => text!("运行 {ran}后", " after {ran}", ran = Seconds(ran)),
        None => Text::default(),
    };
    let sentence = text!(
        "作业{after}失败{error}",
        "The job failed{after}{error}",
        after = after,
        error = error
    );
    said.say(sentence);
}

fn stages(said: &mut Said<'_>, run: &Asked<'_>) {
    let names: Vec<&str> = run.summary.stages.iter().map(|s| s.name.as_str()).collect();
    let shown = &names[..names.len().min(8)];
    let more = match names.len() - shown.len() {
        0 => Text::default(),
        n => text!("，以及另外 {n} 个", " and {n} more"),
    };
    said.say(text!(
        "作业有 {stages}：{names}{more}",
        "The job has {stages}: {names}{more}",
        stages = STAGE.count(names.len() as f64),
        names = shown.join(said.language().select("、", ", ")),
        more = more
    ));
}

/// Says the stages with one vertex, the longest first.
fn single(said: &mut Said<'_>, run: &Asked<'_>) {
    let stages = run.summary.stages.iter();
    let is_single = |s: &&StageSummary| s.get(&book::VERTICES) == Some(1.0);
    let mut single: Vec<&StageSummary> = stages.filter(is_single).collect();
    let span = |s: &StageSummary| s.get(&book::SPAN).unwrap_or(0.0);
    single.sort_by(|a, b| span(b).total_cmp(&span(a)));
    let one = run.vertex().count(1.0);
    if single.is_empty() {
        return said.say(text!(
            "没有哪个阶段只有 {one}",
            "No stage has just {one}",
            one = one
        ));
    }
    let mut ids = Vec::new();
    let shown = single.iter().take(SINGLE).map(|stage| {
        let value = stage.values.value(&book::VERTICES);
        ids.extend(value.map(|v| said.evidence_of(&book::VERTICES, v, &stage.name, run.vertex())));
        let (name, time) = (&stage.name, Seconds(span(stage) / 1e3));
        text!("{name}（{time}）", "{name} ({time})", time = time).into(said.language())
    });
    let shown: Vec<String> = shown.collect();
    let sentence = text!(
        "有 {n}只有 {one}：{shown}",
        "{n} with just {one}: {shown}",
        n = STAGE.count(single.len() as f64),
        one = one,
        shown = names(&shown, said.language())
    );
    said.cite(sentence, &ids.concat());
}

/// The inputs, largest first.
fn inputs(said: &mut Said<'_>, run: &Asked<'_>) {
    let mut inputs: Vec<&InputSummary> = run.summary.inputs.iter().collect();
    let reads = |s: &&job::script::Statement| {
        use job::script::StatementKind::{Extract, SStream};
        matches!(s.kind, Extract | SStream)
    };
    let mut statements = run.statements().iter().filter(reads).peekable();
    if inputs.is_empty() && statements.peek().is_some() {
        let lines = statements.take(SHOWN * 2).map(|s| s.lines);
        return lines.for_each(|(first, last)| {
            thing::quote(said, run, first, last);
        });
    }
    if inputs.is_empty() {
        return said.say(text!(
            "没有文件说明作业的输入",
            "No file describes the inputs of the job"
        ));
    }
    let size = |i: &InputSummary| i.get(&book::STORED_BYTES).unwrap_or(-1.0);
    inputs.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.name.cmp(&b.name)));
    let language = said.language();
    let is_same = |a: &&InputSummary, b: &&InputSummary| a.name == b.name;
    let groups: Vec<&[&InputSummary]> = inputs.chunk_by(is_same).collect();
    let count = groups.len();
    let mut ids: Vec<String> = Vec::new();
    let shown: Vec<String> = groups
        .iter()
        .take(SHOWN)
        .map(|same| {
            ids.extend(column::evidence_of_input(said, same[0]));
            let times = match same.len() {
                1 => Text::default(),
                n => text!("，读取 {n} 次", ", read {n} times"),
            };
            let sizes = thing::sizes(same[0]).into(language);
            format!("{}{sizes}{}", same[0].name, times.into(language))
        })
        .collect();
    let sentence = text!(
        "作业有 {n}：{shown}",
        "The job reads {n}: {shown}",
        n = report::format::INPUT.count(count as f64),
        shown = names(&shown, language)
    );
    said.cite(sentence, &ids);
    let total = run.summary.values.value(&book::INPUT_BYTES);
    if let Some(total) = total.filter(|_| count > 1) {
        said.say_value(
            &book::INPUT_BYTES,
            total,
            run.report.job.label(),
            run.vertex(),
        );
    }
}

fn cost(said: &mut Said<'_>, run: &Asked<'_>) {
    let report = run.report;
    let Some(cost) = &report.cost else {
        return said.say(text!(
            "没有文件可以算出成本",
            "The files don't contain the cost of the run"
        ));
    };
    let wasted = cost.wasted_vertex_hours.filter(|hours| *hours > 0.0);
    let wasted = match wasted.map(Number) {
        Some(n) => text!("，其中 {n} 可以避免", ", {n} of them avoidable", n = n),
        None => Text::default(),
    };
    said.say(text!(
        "没有单价，算不出金额",
        "No price is known, so the cost is in hours, not in money"
    ));
    if let Some(hours) = cost.vertex_hours {
        said.say(text!(
            "这次运行用了 {hours}{wasted}",
            "The run took {hours}{wasted}",
            hours = report::hours_of(&cost.unit).count(hours),
            wasted = wasted
        ));
    }
    kinds::held(said, run);
}

fn missing(said: &mut Said<'_>, run: &Asked<'_>) {
    if run.report.missing_information.is_empty() {
        return said.say(text!(
            "不缺信息：规则需要的数据都有",
            "No file is missing: the rules have everything they need"
        ));
    }
    found::undecided(said, run, |_| true);
}

/// Says the sources of a report's answers.
fn sources(said: &mut Said<'_>, run: &Asked<'_>) {
    for found in run.report.findings.iter().take(SHOWN) {
        found::finding_of(said, run, &found.id, true);
    }
    let files: Vec<String> = run
        .report
        .files_read
        .iter()
        .map(|f| format!("`{}`", f.file))
        .collect();
    let sentence = text!(
        "数据来自 {files}",
        "The numbers come from {files}",
        files = names(&files, said.language())
    );
    said.say(sentence);
}

fn identity(said: &mut Said<'_>, report: &Report) {
    let job = &report.job;
    let label = job.label();
    let known = [
        (&job.owner, "由 {} 提交", "submitted by {}"),
        (&job.queue, "队列 {}", "in queue {}"),
        (&job.submitted, "提交时间 {}", "at {}"),
        (&job.id, "编号 {}", "id {}"),
    ];
    let fill = |pattern: &str, value: &str| pattern.replace("{}", value);
    let known = known.into_iter().filter_map(|(value, zh, en)| {
        let value = value.as_deref()?;
        Some(Text {
            zh: fill(zh, value),
            en: fill(en, value),
        })
    });
    let parts: Vec<Text> = known.collect();
    let parts = match parts.is_empty() {
        true => text!(
            "文件中没有提交人、队列和时间",
            "no file names its owner, queue or time"
        ),
        false => Text::joined(&parts, ["，", ", "]),
    };
    said.say(text!(
        "作业 {label}：{parts}",
        "Job {label}: {parts}",
        parts = parts
    ));
}
