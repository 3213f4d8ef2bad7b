//! What was measured of the whole job.

use report::format::{Bytes, FILE, ROW, STAGE, Seconds, Share, list};
use report::{JobState, Language, Localize, Report, Segment, SegmentKind, Text, text};

use super::Asked;
use super::intent::{Intent, kind};
use super::said::Said;
use super::verdict;
use super::words::Quantity;
use crate::InputSummary;

/// Segments, stages and inputs named in an answer.
const SHOWN: usize = 3;

/// Answers what is asked of the job.
pub(super) fn about(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let asks = |q| intent.asks(q);
    let states_problem = intent.causes.is_empty() || asks(Quantity::Reason);
    if run.report.job.state == JobState::Failed
        && (asks(Quantity::Reason) || asks(Quantity::Verdict))
    {
        failure(said, run);
    }
    let counts = intent.asked.iter().any(|q| {
        use Quantity::*;
        matches!(
            q,
            Vertices
                | Stages
                | Rows
                | Bytes
                | Duration
                | Inputs
                | Which
                | Segment(_)
                | Cost
                | Identity
        )
    });
    let wants_verdict = asks(Quantity::Verdict) && !counts || asks(Quantity::Reason);
    if asks(Quantity::Duration) {
        duration(said, run);
    }
    if wants_verdict && states_problem {
        verdict::of_job(said, run);
    }
    if asks(Quantity::Account) {
        account(said, run);
    }
    for segment in intent.asked.iter().filter_map(|q| kind(*q)) {
        time_of(said, run, segment, None);
    }
    if asks(Quantity::Which) {
        super::stage::rank(said, run, intent);
    }
    for quantity in &intent.asked {
        match quantity {
            Quantity::Vertices => vertices(said, run),
            Quantity::Stages => stages(said, run),
            Quantity::Rows | Quantity::Bytes | Quantity::Inputs => inputs(said, run),
            Quantity::Spread => super::stage::widest(said, run),
            Quantity::Memory => super::stage::most_memory(said, run),
            Quantity::Cost => cost(said, run.report),
            Quantity::Place => places(said, run),
            Quantity::Missing => missing(said, run),
            Quantity::Sources => sources(said, run),
            Quantity::Identity => identity(said, run.report),
            _ => {}
        }
    }
}

fn failure(said: &mut Said<'_>, run: &Asked<'_>) {
    let error = match run.summary.error.as_deref() {
        Some(error) => {
            let error = report::format::cut(error.trim_end_matches(['.', '。']), 300);
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
    said.say(sentence, &[]);
}

fn elapsed(said: &mut Said<'_>, run: &Asked<'_>) -> Vec<String> {
    let Some(ran) = run.report.job.elapsed_seconds else {
        return Vec::new();
    };
    let source = run.summary.source.as_ref();
    let text = text!("作业运行 {ran}", "the job ran {ran}", ran = Seconds(ran));
    said.measured(("elapsed_seconds", ran, "s"), source, text)
}

/// How long the job took, and what came before its run.
pub(super) fn duration(said: &mut Said<'_>, run: &Asked<'_>) {
    let job = &run.report.job;
    let ids = elapsed(said, run);
    let mut before: Vec<String> = Vec::new();
    for (seconds, zh, en) in [
        (run.summary.compile_seconds, "编译", "compilation"),
        (run.summary.queued_seconds, "排队", "queue"),
    ] {
        before.extend(seconds.map(|s| {
            let text = text!("{zh} {s}", "{en} {s}", s = Seconds(s));
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
    said.say(sentence, &ids);
}

/// What the user believes against what the files say.
pub(super) fn belief(said: &mut Said<'_>, run: &Asked<'_>, belief: f64) {
    let Some(ran) = run.report.job.elapsed_seconds else {
        return;
    };
    let ids = elapsed(said, run);
    let sentence = text!(
        "这次运行用了 {ran}，而不是 {belief}",
        "This run took {ran}, not {belief}",
        ran = Seconds(ran),
        belief = Seconds(belief)
    );
    said.say(sentence, &ids);
}

/// Where the time went: the largest parts.
pub(super) fn account(said: &mut Said<'_>, run: &Asked<'_>) {
    let Some(time) = &run.report.time else {
        let sentence = text!(
            "没有文件说明时间花在哪里",
            "No file says where the time went"
        );
        said.say(sentence, &[]);
        duration(said, run);
        return verdict::undecided(said, run, |_| true);
    };
    let total = time.total_seconds();
    let mut parts: Vec<(f64, &Segment, Vec<String>)> = Vec::new();
    for segment in &time.segments {
        let is_same = |s: &Segment| s.kind == segment.kind && s.stage == segment.stage;
        match parts.iter_mut().find(|(_, s, _)| is_same(s)) {
            Some((seconds, _, ids)) => {
                *seconds += segment.seconds;
                ids.extend(segment.evidence.iter().cloned());
            }
            None => parts.push((segment.seconds, segment, segment.evidence.clone())),
        }
    }
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let language = said.language();
    let shown = parts
        .iter()
        .take(SHOWN)
        .filter(|(s, ..)| *s > 0.0 && total > 0.0);
    let mut ids: Vec<String> = Vec::new();
    let shown: Vec<String> = shown
        .map(|(seconds, segment, evidence)| {
            ids.extend(evidence.iter().take(1).cloned());
            part(*seconds, total, segment).into(language)
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
    said.say(sentence, &ids);
}

/// Items in a row; Chinese ones may be names, which “和” would stick to.
pub(super) fn names(items: &[String], language: Language) -> String {
    match language {
        Language::Zh => items.join("、"),
        Language::En => list(items, language),
    }
}

fn part(seconds: f64, total: f64, segment: &Segment) -> Text {
    let (time, share) = (Seconds(seconds), Share(seconds / total));
    match &segment.stage {
        Some(stage) => text!(
            "{stage} 的{kind}（{time}，占 {share}）",
            "{kind} in {stage} ({time}, {share})",
            kind = segment.kind.title(),
            time = time,
            share = share
        ),
        None => text!(
            "{kind}（{time}，占 {share}）",
            "{kind} ({time}, {share})",
            kind = segment.kind.title(),
            time = time,
            share = share
        ),
    }
}

/// Seconds of the critical path of one kind, in a stage or in the job.
pub(super) fn time_of(
    said: &mut Said<'_>,
    run: &Asked<'_>,
    kind: SegmentKind,
    stage: Option<&str>,
) {
    let Some(time) = &run.report.time else {
        return said.say(
            text!(
                "没有文件说明时间花在哪里",
                "No file says where the time went"
            ),
            &[],
        );
    };
    let fits = |s: &&Segment| {
        s.kind == kind && stage.is_none_or(|stage| s.stage.as_deref() == Some(stage))
    };
    let segments: Vec<&Segment> = time.segments.iter().filter(fits).collect();
    let seconds: f64 = segments.iter().map(|s| s.seconds).sum();
    let stated = match kind {
        SegmentKind::Queue => run.summary.queued_seconds,
        SegmentKind::Compile => run.summary.compile_seconds,
        _ => None,
    };
    if let (Some(stated), None, true) = (stated, stage, seconds <= 0.0) {
        let sentence = text!(
            "{kind}用时 {time}",
            "{kind}: {time}",
            kind = kind.title(),
            time = Seconds(stated)
        );
        return said.say(sentence, &[]);
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
            kind = kind.title(),
            time = Seconds(seconds),
            share = Share(seconds / time.total_seconds())
        ),
        false => text!(
            "关键路径上{place}没有{kind}的时间",
            "None of the critical path{place} is {kind}",
            place = place,
            kind = kind.title()
        ),
    };
    said.say(sentence, &ids);
}

fn vertices(said: &mut Said<'_>, run: &Asked<'_>) {
    let Some(n) = run.report.job.vertices else {
        return said.say(
            text!("没有文件给出顶点数", "No file gives the number of vertices"),
            &[],
        );
    };
    let stages = run.summary.stages.iter();
    let ids: Vec<String> = Vec::new();
    let largest = stages
        .filter_map(|s| Some((s.vertices?, s)))
        .max_by_key(|(n, _)| *n);
    let largest = match largest {
        Some((most, stage)) => text!(
            "，最多的阶段是 {name}，有 {most}",
            "; {name} has the most, {most}",
            name = stage.name,
            most = run.vertex().count(most as f64)
        ),
        None => Text::default(),
    };
    let sentence = text!(
        "作业共有 {n}，分布在 {stages}中{largest}",
        "The job has {n} in {stages}{largest}",
        n = run.vertex().count(n as f64),
        stages = STAGE.count(run.summary.stages.len() as f64),
        largest = largest
    );
    said.say(sentence, &ids);
}

fn stages(said: &mut Said<'_>, run: &Asked<'_>) {
    let names: Vec<String> = run.summary.stages.iter().map(|s| s.name.clone()).collect();
    let shown = &names[..names.len().min(8)];
    let more = match names.len() - shown.len() {
        0 => Text::default(),
        n => text!("，以及另外 {n} 个", " and {n} more"),
    };
    let sentence = text!(
        "作业有 {stages}：{names}{more}",
        "The job has {stages}: {names}{more}",
        stages = STAGE.count(names.len() as f64),
        names = shown.join(said.language().select("、", ", ")),
        more = more
    );
    said.say(sentence, &[]);
}

/// The inputs, largest first.
fn inputs(said: &mut Said<'_>, run: &Asked<'_>) {
    let mut inputs: Vec<&InputSummary> = run.summary.inputs.iter().collect();
    if inputs.is_empty() {
        return said.say(
            text!(
                "没有文件说明作业的输入",
                "No file describes the inputs of the job"
            ),
            &[],
        );
    }
    inputs.sort_by_key(|i| std::cmp::Reverse(i.bytes));
    let language = said.language();
    let count = inputs.len();
    let mut ids: Vec<String> = Vec::new();
    let shown: Vec<String> = inputs
        .iter()
        .take(SHOWN)
        .map(|input| {
            ids.extend(super::thing::evidence_of_input(said, input));
            format!("{}{}", input.name, sizes(input).into(language))
        })
        .collect();
    let sentence = text!(
        "作业有 {n}：{shown}",
        "The job reads {n}: {shown}",
        n = report::format::INPUT.count(count as f64),
        shown = names(&shown, language)
    );
    said.say(sentence, &ids);
}

/// Rows, bytes and files of an input in brackets.
pub(super) fn sizes(input: &InputSummary) -> Text {
    let mut parts: Vec<Text> = Vec::new();
    let both = |value: &dyn Localize| Text {
        zh: value.localize(Language::Zh),
        en: value.localize(Language::En),
    };
    parts.extend(input.rows.map(|n| both(&ROW.count(n as f64))));
    parts.extend(input.bytes.map(|n| both(&Bytes(n as f64))));
    parts.extend(input.files.map(|n| both(&FILE.count(n as f64))));
    let zh: Vec<&str> = parts.iter().map(|p| p.zh.as_str()).collect();
    let en: Vec<&str> = parts.iter().map(|p| p.en.as_str()).collect();
    match parts.is_empty() {
        true => Text::default(),
        false => Text {
            zh: format!("（{}）", zh.join("，")),
            en: format!(" ({})", en.join(", ")),
        },
    }
}

fn cost(said: &mut Said<'_>, report: &Report) {
    let Some(cost) = &report.cost else {
        return said.say(
            text!("没有文件可以算出成本", "No file tells what the run cost"),
            &[],
        );
    };
    let unit = &cost.unit;
    let hours = |n: Option<f64>| n.map(|n| format!("{n:.2}"));
    let wasted = match hours(cost.wasted_vertex_hours) {
        Some(n) => text!("，其中 {n} 可以避免", ", {n} of them avoidable"),
        None => Text::default(),
    };
    let plural = format!("{unit}s");
    let zh = match unit.as_str() {
        "vertex-hour" => "顶点小时",
        "AU-hour" => "AU 小时",
        _ => "执行器核小时",
    };
    if let Some(n) = hours(cost.vertex_hours) {
        let sentence = text!(
            "这次运行用了 {n} {zh}{wasted}",
            "The run took {n} {plural}{wasted}",
            wasted = wasted
        );
        said.say(sentence, &[]);
    }
}

/// The code of the findings.
fn places(said: &mut Said<'_>, run: &Asked<'_>) {
    let located = run
        .report
        .findings
        .iter()
        .filter_map(|f| Some((f, f.script_lines?)));
    let mut any = false;
    for (finding, [first, last]) in located.take(SHOWN) {
        any = true;
        let (id, title) = (&finding.id, finding.cause.title());
        let stage = match &finding.stage {
            Some(stage) => text!("，由阶段 {stage} 运行", ", run by {stage}"),
            None => Text::default(),
        };
        let sentence = text!(
            "{id}（{title}）在脚本第 {first}–{last} 行{stage}",
            "{id} ({title}) is in script lines {first}–{last}{stage}",
            title = title,
            stage = stage
        );
        said.say(sentence, &[]);
    }
    if !any {
        said.say(
            text!(
                "没有哪一段代码被规则指出",
                "No rule points at a piece of code"
            ),
            &[],
        );
    }
}

fn missing(said: &mut Said<'_>, run: &Asked<'_>) {
    if run.report.missing_information.is_empty() {
        return said.say(
            text!(
                "不缺信息：规则需要的数据都有",
                "Nothing is missing: the rules have everything they need"
            ),
            &[],
        );
    }
    verdict::undecided(said, run, |_| true);
}

/// What the answers of a report rest on.
fn sources(said: &mut Said<'_>, run: &Asked<'_>) {
    for found in run.report.findings.iter().take(SHOWN) {
        super::thing::finding(said, run, &found.id, true);
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
    said.say(sentence, &[]);
}

fn identity(said: &mut Said<'_>, report: &Report) {
    let job = &report.job;
    let label = job.label();
    let mut parts: Vec<Text> = Vec::new();
    parts.extend(
        job.owner
            .as_ref()
            .map(|who| text!("由 {who} 提交", "submitted by {who}")),
    );
    parts.extend(
        job.queue
            .as_ref()
            .map(|queue| text!("队列 {queue}", "in queue {queue}")),
    );
    parts.extend(
        job.submitted
            .as_ref()
            .map(|at| text!("提交时间 {at}", "at {at}")),
    );
    parts.extend(job.id.as_ref().map(|id| text!("编号 {id}", "id {id}")));
    let parts: Vec<String> = parts.into_iter().map(|p| p.into(report.language)).collect();
    let parts = match parts.is_empty() {
        true => text!(
            "文件中没有提交人、队列和时间",
            "no file names its owner, queue or time"
        ),
        false => Text {
            zh: parts.join("，"),
            en: parts.join(", "),
        },
    };
    said.say(
        text!(
            "作业 {label}：{parts}",
            "Job {label}: {parts}",
            parts = parts
        ),
        &[],
    );
}

/// Whether a time can be reached.
pub(super) fn goal(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let job = &run.report.job;
    let Some((goal, ran)) = intent.goal.zip(job.elapsed_seconds) else {
        return;
    };
    let ids = elapsed(said, run);
    let goal_time = Seconds(goal);
    if ran <= goal {
        let sentence = text!(
            "这次运行 {ran}，已经在 {goal}以内",
            "This run took {ran}, which is within {goal}",
            ran = Seconds(ran),
            goal = goal_time
        );
        return said.say(sentence, &ids);
    }
    let avoidable = run
        .report
        .time
        .as_ref()
        .and_then(|t| t.avoidable_seconds)
        .unwrap_or(0.0);
    let left = (ran - avoidable).max(0.0);
    let sentence = match (avoidable > 0.0, left <= goal) {
        (false, _) => text!(
            "已知的问题省不出时间，达不到 {goal}（这次 {ran}）",
            "Nothing that was found saves time, so {goal} is out of reach (this run: {ran})",
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
    said.say(sentence, &ids);
}
