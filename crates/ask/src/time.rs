//! Time of a job: its duration, where the time went, and the reachable time.

use report::format::{Seconds, Share, list};
use report::measure::{Measure, book};
use report::{Segment, SegmentKind, Text, text};

use crate::intent::Intent;
use crate::said::{Said, names};
use crate::{Asked, found};

/// One of two uses of time is the main one from this ratio on.
const MAINLY: f64 = 2.0;

/// Share of the CPU time in the run time below which vertices mostly wait.
const WAITING: f64 = 0.3;

/// Segments named in an answer.
const SHOWN: usize = 3;

pub(super) fn elapsed(said: &mut Said<'_>, run: &Asked<'_>) -> Vec<String> {
    evidence_of(said, run, &book::ELAPSED)
}

/// Evidence of a measure of the job.
fn evidence_of(said: &mut Said<'_>, run: &Asked<'_>, measure: &Measure) -> Vec<String> {
    let Some(value) = run.summary.values.value(measure) else {
        return Vec::new();
    };
    said.evidence_of(measure, value, run.report.job.label(), run.vertex())
}

/// Says how long the job took, and the time before its run.
pub(crate) fn duration(said: &mut Said<'_>, run: &Asked<'_>) {
    let job = &run.report.job;
    let mut ids = elapsed(said, run);
    let mut before: Vec<String> = Vec::new();
    for measure in [&book::COMPILED, &book::QUEUED] {
        ids.extend(evidence_of(said, run, measure));
        before.extend(run.summary.get(measure).map(|seconds| {
            let (title, time) = (measure.title, Seconds(seconds));
            let text = text!(
                "{title} {time}",
                "{title} {time}",
                title = title,
                time = time
            );
            text.into(said.language())
        }));
    }
    let before = match list(&before, said.language()) {
        none if none.is_empty() => Text::default(),
        parts => text!("，其中{parts}", ", including {parts}"),
    };
    let sentence = match (job.elapsed_seconds, job.total_seconds) {
        (Some(ran), Some(total)) => text!(
            "作业运行 {ran}；从提交到结束 {total}{before}",
            "The job ran {ran}; {total} from submission to end{before}",
            ran = Seconds(ran),
            total = Seconds(total),
            before = before
        ),
        (Some(ran), None) => text!("作业运行 {ran}", "The job ran {ran}", ran = Seconds(ran)),
        (None, _) => text!(
            "没有文件记录作业的运行时间",
            "No file gives the run time of the job"
        ),
    };
    said.cite(sentence, &ids);
}

/// Where the time went: the largest parts.
pub(crate) fn account(said: &mut Said<'_>, run: &Asked<'_>) {
    let Some(time) = &run.report.time else {
        let sentence = text!(
            "没有文件说明时间花在哪里",
            "No file says where the time went"
        );
        said.say(sentence);
        duration(said, run);
        return found::undecided(said, run, |_| true);
    };
    let total = time.total_seconds();
    let mut parts = time.sums(|s| (s.time_use(), &s.stage));
    parts.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    let language = said.language();
    let mut ids: Vec<String> = Vec::new();
    let shown: Vec<String> = parts
        .iter()
        .take(SHOWN)
        .map(|sum| {
            let mut evidence = sum.segments().flat_map(|s| &s.evidence);
            ids.extend(evidence.next().cloned());
            part(run, sum.seconds(), total, sum.first).into(language)
        })
        .collect();
    if shown.is_empty() {
        return;
    }
    let sentence = text!(
        "从提交到结束共 {total}，主要用于：{parts}",
        "Of {total} from submission to end, most goes into {parts}",
        total = Seconds(total),
        parts = names(&shown, language)
    );
    said.cite(sentence, &ids);
}

fn part(run: &Asked<'_>, seconds: f64, total: f64, segment: &Segment) -> Text {
    let kind = segment.time_use().title_in(run.report.job.engine);
    let (time, share) = (Seconds(seconds), Share(seconds / total));
    match &segment.stage {
        Some(stage) => text!(
            "{stage} 的{kind}（{time}，占 {share}）",
            "{kind} in {stage} ({time}, {share})",
            kind = kind,
            time = time,
            share = share
        ),
        None => text!(
            "{kind}（{time}，占 {share}）",
            "{kind} ({time}, {share})",
            kind = kind,
            time = time,
            share = share
        ),
    }
}

/// Whether computing or reading and moving data takes the time, of a stage or of the job.
pub(crate) fn balance(said: &mut Said<'_>, run: &Asked<'_>, stage: Option<&str>) {
    use SegmentKind::{Compute, Exchange, Gc, Read, Sort, Spill, UserCode};
    let seconds = |kinds: &[SegmentKind]| {
        let kinds = kinds.iter();
        // an empty sum is -0
        kinds.map(|kind| seconds_of(run, *kind, stage)).sum::<f64>() + 0.0
    };
    let computing = seconds(&[Compute, UserCode, Sort, Gc]);
    let data = seconds(&[Read, Exchange, Spill]);
    let time = run.report.time.iter();
    let segments = time.flat_map(|time| &time.segments);
    let of_stage = segments.filter(|s| stage.is_none_or(|name| s.stage.as_deref() == Some(name)));
    let total: f64 = of_stage.map(|s| s.seconds).sum();
    if computing + data <= 0.0 {
        return said.say(text!(
            "没有文件说明计算和读写数据各用多少时间",
            "No file tells the time of computing from the time of reading and moving data"
        ));
    }
    let place = match stage {
        Some(stage) => text!("{stage} 在关键路径上的", "{stage}'s "),
        None => text!("从提交到结束的", ""),
    };
    let waits = cpu_share(said, run, stage).is_some_and(|share| share < WAITING);
    let mut operators = run
        .summary
        .stages
        .iter()
        .filter(|s| stage.is_none_or(|name| s.name == name))
        .flat_map(|s| &s.operators);
    let is_python = operators.any(|o| o.id.contains("Python") || o.id.contains("Pandas"));
    let verdict = match computing / data {
        ratio if waits && ratio >= 1.0 && is_python => text!(
            "不受 JVM 的 CPU 限制：时间用在 Python 代码或等待上",
            "not bound by the CPU of the JVM: the time goes into the Python code, or into waiting"
        ),
        ratio if waits && ratio >= 1.0 => text!(
            "不受 CPU 限制，大部分时间在等待",
            "not CPU-bound: most of the time is waiting"
        ),
        _ if computing + data < total / 2.0 => text!(
            "大部分时间两者都不是，而是启动、等待或长尾",
            "most of the time is neither, but start-up, waiting or stragglers"
        ),
        ratio if ratio >= MAINLY => text!("主要受 CPU 限制", "mainly CPU-bound"),
        ratio if ratio <= 1.0 / MAINLY => text!("主要受 I/O 限制", "mainly I/O-bound"),
        _ => text!("CPU 和 I/O 都占相当部分", "bound by CPU and I/O alike"),
    };
    said.say(text!(
        "{place} {total} 中，计算用 {computing}（{share}），读取和传输数据用 {data}（{other}）：{verdict}",
        "Of {place}{total} on the critical path, computing takes {computing} ({share}), reading and moving data {data} ({other}): {verdict}",
        place = place,
        total = Seconds(total),
        computing = Seconds(computing),
        share = Share(computing / total),
        data = Seconds(data),
        other = Share(data / total),
        verdict = verdict
    ));
}

/// Says the CPU time of a stage, or of the job, next to the run time of its vertices, and of its user code. Returns the share of the CPU time.
fn cpu_share(said: &mut Said<'_>, run: &Asked<'_>, stage: Option<&str>) -> Option<f64> {
    let vertex = run.vertex();
    let stages = run.summary.stages.iter();
    let stages: Vec<_> = stages
        .filter(|s| stage.is_none_or(|name| s.name == name))
        .collect();
    let sum = |measure| -> f64 { stages.iter().filter_map(|s| s.get(measure)).sum() };
    let (cpu, busy) = (sum(&book::CPU_TIME), sum(&book::BUSY));
    if cpu <= 0.0 || busy <= 0.0 {
        return None;
    }
    let first = stages
        .first()
        .and_then(|s| Some((s, s.values.value(&book::CPU_TIME)?)));
    let ids = first.map(|(s, value)| said.evidence_of(&book::CPU_TIME, value, &s.name, vertex));
    said.cite(
        text!(
            "{vertices}共运行 {busy}，其中 CPU 时间 {cpu}（{share}）",
            "The {vertices} run {busy} in all, with {cpu} of CPU time ({share})",
            vertices = Text {
                zh: vertex.bare(),
                en: vertex.plural(2.0),
            },
            busy = Seconds(busy / 1e3),
            cpu = Seconds(cpu / 1e3),
            share = Share(cpu / busy)
        ),
        &ids.unwrap_or_default(),
    );
    for (s, o) in stages
        .iter()
        .flat_map(|s| s.operators.iter().map(move |o| (s, o)))
    {
        let value = o.values.value(&book::OWN_TIME);
        if let Some(value) = value.filter(|_| !o.names.is_empty() && o.kind != "output") {
            said.say_value(&book::OWN_TIME, value, &o.name_in(&s.name), vertex);
        }
    }
    Some(cpu / busy)
}

/// Seconds of the critical path of one kind, in a stage or in the job.
pub(crate) fn seconds_of(run: &Asked<'_>, kind: SegmentKind, stage: Option<&str>) -> f64 {
    let segments = run.report.time.iter().flat_map(|time| &time.segments);
    let fits = |s: &&Segment| {
        s.kind == kind && stage.is_none_or(|stage| s.stage.as_deref() == Some(stage))
    };
    segments.filter(fits).map(|s| s.seconds).sum()
}

/// Describes the time of a stage on the critical path, the longest first.
pub(crate) fn rows_of(said: &mut Said<'_>, run: &Asked<'_>, stage: &str) {
    let is_own = |s: &Segment| s.stage.as_deref() == Some(stage);
    let title = text!("{stage} 在关键路径上的时间", "{stage} on the critical path");
    kinds_of(said, run, is_own, title);
}

/// Says the uses of the time before an event. Returns false without an account of the time.
pub(crate) fn before(said: &mut Said<'_>, run: &Asked<'_>, event: Text, seconds: f64) -> bool {
    let title = text!(
        "{event}之前的 {time}",
        "The {time} before {event}",
        time = Seconds(seconds),
        event = event
    );
    kinds_of(
        said,
        run,
        |s| s.start_seconds + s.seconds <= seconds + 1e-3,
        title,
    )
}

/// Says the longest kinds of time of some parts of the critical path.
fn kinds_of(
    said: &mut Said<'_>,
    run: &Asked<'_>,
    is_meant: impl Fn(&Segment) -> bool,
    title: Text,
) -> bool {
    let segments = run.report.time.iter().flat_map(|time| &time.segments);
    let mut sums: Vec<(f64, &Segment)> = Vec::new();
    for segment in segments.filter(|s| is_meant(s)) {
        match sums.iter_mut().find(|(_, s)| s.kind == segment.kind) {
            Some((seconds, _)) => *seconds += segment.seconds,
            None => sums.push((segment.seconds, segment)),
        }
    }
    sums.sort_by(|a, b| b.0.total_cmp(&a.0));
    sums.truncate(SHOWN);
    let ids = sums.iter().filter_map(|(_, s)| s.evidence.first().cloned());
    let ids: Vec<String> = ids.collect();
    let shown = sums.iter().map(|(seconds, segment)| {
        let kind = segment.time_use().title_in(run.report.job.engine);
        let time = Seconds(*seconds);
        text!("{kind} {time}", "{kind} {time}", kind = kind, time = time).into(said.language())
    });
    let shown: Vec<String> = shown.collect();
    if !shown.is_empty() {
        let shown = names(&shown, said.language());
        said.cite(
            text!("{title}：{shown}", "{title}: {shown}", title = title),
            &ids,
        );
    }
    !shown.is_empty()
}

/// Says the seconds of the critical path of one kind, in a stage or in the job.
pub(crate) fn time_of(
    said: &mut Said<'_>,
    run: &Asked<'_>,
    kind: SegmentKind,
    stage: Option<&str>,
) {
    let Some(time) = &run.report.time else {
        return said.say(text!(
            "没有文件说明时间花在哪里",
            "No file says where the time went"
        ));
    };
    let fits = |s: &&Segment| {
        s.kind == kind && stage.is_none_or(|stage| s.stage.as_deref() == Some(stage))
    };
    let segments: Vec<&Segment> = time.segments.iter().filter(fits).collect();
    let seconds: f64 = segments.iter().map(|s| s.seconds).sum();
    let stated = match kind {
        SegmentKind::Queue => Some(&book::QUEUED),
        SegmentKind::Compile => Some(&book::COMPILED),
        _ => None,
    };
    let stated = stated.and_then(|m| Some((m, run.summary.get(m)?)));
    if let (Some((measure, stated)), None, true) = (stated, stage, seconds <= 0.0) {
        let sentence = text!(
            "{kind}用时 {time}",
            "{kind}: {time}",
            kind = kind.title_in(run.report.job.engine),
            time = Seconds(stated)
        );
        let ids = evidence_of(said, run, measure);
        return said.cite(sentence, &ids);
    }
    let ids: Vec<String> = segments
        .iter()
        .flat_map(|s| s.evidence.iter().take(1))
        .take(SHOWN)
        .cloned()
        .collect();
    let place = match stage {
        Some(stage) => text!("{stage} 中", " in {stage}"),
        None => Text::default(),
    };
    let sentence = match seconds > 0.0 {
        true => text!(
            "关键路径上{place}的{kind}用时 {time}，占全程的 {share}",
            "On the critical path, {kind}{place} takes {time}, {share} of the whole time",
            place = place,
            kind = kind.title_in(run.report.job.engine),
            time = Seconds(seconds),
            share = Share(seconds / time.total_seconds())
        ),
        false => text!(
            "关键路径上{place}没有{kind}的时间",
            "The critical path{place} has no {kind}",
            place = place,
            kind = kind.title_in(run.report.job.engine)
        ),
    };
    said.cite(sentence, &ids);
}

/// Says the longest part of a kind of time, and when it was.
pub(crate) fn longest(said: &mut Said<'_>, run: &Asked<'_>, kind: SegmentKind) {
    let segments = run.report.time.iter().flat_map(|time| &time.segments);
    let own = segments.filter(|s| s.kind == kind);
    let Some(longest) = own.max_by(|a, b| a.seconds.total_cmp(&b.seconds)) else {
        return;
    };
    let ids: Vec<String> = longest.evidence.iter().take(1).cloned().collect();
    said.cite(
        text!(
            "最长的一段为 {time}，从提交后 {start}开始",
            "The longest one takes {time}, from {start} after the submission on",
            time = Seconds(longest.seconds),
            start = Seconds(longest.start_seconds)
        ),
        &ids,
    );
}

/// Whether a time can be reached.
pub(crate) fn goal(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let job = &run.report.job;
    let Some((goal, ran)) = intent.goal.zip(job.elapsed_seconds) else {
        return;
    };
    let ids = elapsed(said, run);
    let goal_time = Seconds(goal);
    let time = run.report.time.as_ref();
    let avoidable = time.and_then(|t| t.avoidable_seconds).unwrap_or(0.0);
    let left = (ran - avoidable).max(0.0);
    said.affirm(left <= goal);
    if ran <= goal {
        let sentence = text!(
            "这次运行 {ran}，已经在 {goal}以内",
            "This run took {ran}, which is within {goal}",
            ran = Seconds(ran),
            goal = goal_time
        );
        return said.cite(sentence, &ids);
    }
    let sentence = match (avoidable > 0.0, left <= goal) {
        (false, _) => text!(
            "已知的问题省不出时间，达不到 {goal}（这次 {ran}）",
            "No finding saves time, so {goal} is out of reach (this run: {ran})",
            goal = goal_time,
            ran = Seconds(ran)
        ),
        (true, true) => text!(
            "解决全部问题后约为 {left}，可以达到 {goal}",
            "With everything fixed it would take about {left}, which reaches {goal}",
            left = Seconds(left),
            goal = goal_time
        ),
        (true, false) => text!(
            "解决全部问题后约为 {left}，仍达不到 {goal}；还差 {gap}",
            "With everything fixed it would still take about {left}, {gap} more than {goal}",
            left = Seconds(left),
            goal = goal_time,
            gap = Seconds(left - goal)
        ),
    };
    said.cite(sentence, &ids);
}

/// Share of the tokens that other stages must hold for a stage to wait for them.
const HELD: f64 = 0.6;

/// Says which stage held the tokens while the vertices of a stage waited for them.
pub(crate) fn waited(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let timeline = run.summary.timeline.as_ref();
    let running = timeline.map_or(&[][..], |t| &t.running);
    let (Some(own), Some(tokens)) = (running.get(at), run.summary.get(&book::TOKENS)) else {
        return;
    };
    let first = own.iter().position(|n| *n > 0.0).unwrap_or(0);
    let held =
        |stage: &[f32]| f64::from(stage.iter().take(first).sum::<f32>()) / first.max(1) as f64;
    let held = running.iter().map(|stage| held(stage)).enumerate();
    let most = held
        .filter(|(n, _)| *n != at)
        .max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((other, held)) = most.filter(|(_, held)| *held >= HELD * tokens) {
        said.say(text!(
            "此前 {other} 平均占用 {held}（作业共 {tokens}）",
            "Until then, {other} held {held} of {tokens} on average",
            other = run.summary.stages[other].name,
            held = report::format::TOKEN.count(held.round()),
            tokens = report::format::Number(tokens)
        ));
    }
}
