//! Rules for `failure.user_code`, `failure.compile`, `failure.limit`, `failure.input` and `failure.external`: why
//! the job failed.

use super::support::{Symptom, lacks, rule};
use crate::facts::{at, fact};
use crate::measurements::failure;
use crate::rule::Examination;
use crate::view::View;
use ::failure::{Class, Failure as Reason};
use job::info::Information;
use job::model::{JobError, Source};
use job::script::StatementKind;
use report::format::TIME;
use report::{Evidence, Text, text};

/// Characters of a row that a summary shows.
const SHOWN_ROW: usize = 160;

rule! { USER_CODE = UserCodeFailure, examine;
    "作业在用户代码中失败：表达式、文件与行", "the job failed in user code: expression, file and line";
    needs ErrorDetails;
    helps VertexEvents, CompileResult;
    unless "作业没有失败", "the job did not fail";
    unless "错误属于另一类", "the error is of another kind";
    cleared "作业没有失败", "the job did not fail";
}

rule! { COMPILE = CompileFailure like USER_CODE;
    "作业编译失败", "the job failed to compile";
}

rule! { LIMIT = LimitFailure like USER_CODE;
    "作业触及限制：顶点时间、内存或临时数据", "the job failed on a limit: vertex time, memory, temporary data";
}

rule! { INPUT = InputFailure like USER_CODE;
    "作业因输入失败：缺失、损坏、与模式不符或无权访问", "the job failed on an input: missing, unreadable, mismatching or forbidden";
}

rule! { EXTERNAL = ExternalFailure like USER_CODE;
    "作业因外部原因失败：存储、服务、网络、系统，或被停止", "the job failed for a cause outside it: storage, service, network, system, or a stop";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    if let Some(reason) = view.failure() {
        if reason.class.cause() == result.cause {
            ended_by(view, result, reason);
        } else {
            result.attributed.push((reason.class.cause(), None));
        }
    } else if view.failed() {
        result.lacks(Information::ErrorDetails, view, None, unknown(view));
    } else if let Some(source) = view.job.info.sources.get("state") {
        result.under(0.0, || {
            vec![fact! { view, "State", "succeeded", source.clone();
            "作业没有失败", "the job did not fail" }]
        });
    } else if !super::is_local(view) {
        lacks! { result, view, JobTimes, None;
        "没有文件说明作业是否成功", "no file records whether the job succeeded" }
    }
}

/// Reason of a rule to abstain if no file shows why the job failed.
fn unknown(view: &View<'_>) -> Text {
    match view.job.spark {
        Some(_) => text!(
            "应用失败，但日志中没有异常说明原因",
            "the application failed, and no exception in the log gives the reason",
        ),
        None => text!(
            "作业失败，但没有错误文件说明原因",
            "the job failed, and no file gives the reason",
        ),
    }
}

/// Adds the failure of a job. It matters regardless of its stage's share of the run.
pub(super) fn ended_by(view: &View<'_>, result: &mut Examination, reason: &Reason<'_>) {
    result.found(view, symptom(view, reason));
    if let Some(found) = result.candidates.last_mut() {
        found.at_most = 1.0;
    }
}

/// Adds the failure of a job to a rule without other candidates, if it is of the rule's cause.
pub(super) fn or_ended_by(view: &View<'_>, result: &mut Examination) {
    let reason = view.failure().filter(|r| r.class.cause() == result.cause);
    if let Some(reason) = reason.filter(|_| result.candidates.is_empty()) {
        ended_by(view, result, reason);
    }
}

fn symptom(view: &View<'_>, reason: &Reason<'_>) -> Symptom {
    let stage = failure::stage_of(view, reason.error);
    Symptom {
        stage,
        lines: reason.error.and_then(|e| lines(view, e, stage)),
        summary: summarize(view, reason, stage),
        evidence: evidence(view, reason, stage),
        saved: None,
        method: "",
        strength: match (reason.class, reason.error) {
            (Class::Unknown, _) => 0.5,
            (_, Some(_)) => 1.0,
            (_, None) => 0.7,
        },
    }
}

fn summarize(view: &View<'_>, reason: &Reason<'_>, stage: Option<usize>) -> Text {
    let error = reason.error;
    let is_spark = view.job.spark.is_some();
    let message = quote(reason);
    let named = error.and_then(|e| e.stage.as_deref());
    let place = match stage.map(|s| view.name(s)).or(named) {
        Some(stage) => text!("{stage}", "{stage}"),
        None if is_spark => text!("应用", "the application"),
        None => text!("作业", "the job"),
    };
    match reason.class {
        Class::Compile if !is_spark => {
            let line = error.and_then(|e| e.script_line);
            let place = line.map_or_else(Text::default, |l| text!("第 {l} 行", " at line {l}"));
            text!(
                "脚本{place}编译失败：{message}",
                "the script does not compile{place}: {message}",
                place = place,
            )
        }
        Class::OtherLimit | Class::Time | Class::TempData => text!(
            "{place} 触及限制：{message}",
            "{place} hit a limit: {message}",
            place = place,
            message = error
                .and_then(|e| e.description.as_deref())
                .unwrap_or(&message),
        ),
        Class::UserCode => {
            let thrown = error.and_then(|e| e.exception.as_deref());
            text!(
                "{place} 的用户代码抛出异常{details}：{thrown}",
                "user code in {place} threw{details}: {thrown}",
                place = place,
                thrown = thrown.unwrap_or(&message),
                details = error.map_or_else(Text::default, |e| circumstances(view, e, stage)),
            )
        }
        class => text!(
            "{place}：{what}{details}：{message}",
            "{what} ({place}{details}): {message}",
            place = place,
            what = class.words(),
            details = error.map_or_else(Text::default, |e| circumstances(view, e, stage)),
        ),
    }
}

/// The line that names the failure, and the message of the error if it differs.
fn quote(reason: &Reason<'_>) -> String {
    /// Characters of a line that a summary shows.
    const SHOWN: usize = 400;
    let line = head(&reason.recognized.line, SHOWN);
    let message = reason
        .error
        .map(|e| e.message.trim())
        .filter(|m| !m.is_empty());
    match message {
        Some(message) if message.contains(&*reason.recognized.line) => head(message, SHOWN),
        Some(message) if !line.contains(message) && line.len() < 80 => {
            format!("{line}; {}", head(message, SHOWN))
        }
        _ => line,
    }
}

/// Place of an exception: frame, expression, vertex, machine and row, if known.
fn circumstances(view: &View<'_>, error: &JobError, stage: Option<usize>) -> Text {
    let mut said: Text = Text::default();
    let mut add = |zh: String, en: String| {
        said.zh += &zh;
        said.en += &en;
    };
    if let Some(frame) = &error.frame {
        add(format!("，位置 {frame}"), format!(" in {frame}"));
    }
    if let Some(e) = &error.expression {
        add(format!("，表达式 {e}"), format!(", evaluating {e}"));
    }
    let failed = failure::last_failure(view, error, stage);
    if let Some(vertex) = &failed.vertex {
        let (zh, en) = match view.job.spark {
            Some(_) => ("Task", "task"),
            None => ("顶点", "vertex"),
        };
        add(format!("，{zh} {vertex}"), format!(", in {en} {vertex}"));
    }
    if let Some(machine) = &failed.machine {
        add(format!("，机器 {machine}"), format!(" on {machine}"));
    }
    if let Some(row) = &error.row {
        let row = head(row, SHOWN_ROW);
        add(format!("，数据行 {row}"), format!(", on the row {row}"));
    }
    said
}

/// At most the first `most` characters.
fn head(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The statement at the error's line, else the statement of the stage's user code.
fn lines(view: &View<'_>, error: &JobError, stage: Option<usize>) -> Option<(u32, u32)> {
    if let Some(line) = error.script_line {
        let statement = view
            .job
            .script
            .as_ref()
            .and_then(|s| s.statement_at_line(line));
        return Some(statement.map_or((line, line), |s| s.lines));
    }
    if let Some(found) = error
        .expression
        .as_deref()
        .and_then(|e| statement_with(view, e))
    {
        return Some(found);
    }
    let Some(stage) = stage else {
        return only_statement(view, error.stage.as_deref()?);
    };
    let edge = view.inputs(stage).find(|e| View::is_shuffle(e));
    let by_edge = edge
        .and_then(|e| view.consumer_of(e))
        .and_then(|(op, _)| view.lines(stage, op));
    by_edge.or_else(|| view.lines(stage, 0))
}

/// Lines of the one statement of the kind that a stage is named after, for a job without a stage graph.
fn only_statement(view: &View<'_>, stage: &str) -> Option<(u32, u32)> {
    let kinds = [
        ("Extract", StatementKind::Extract),
        ("Process", StatementKind::Process),
        ("Reduce", StatementKind::Reduce),
        ("Combine", StatementKind::Combine),
    ];
    let (_, kind) = kinds
        .iter()
        .find(|(word, _)| stage.split('_').any(|w| w == *word))?;
    let statements = view.job.script.iter().flat_map(|s| &s.statements);
    let mut own = statements.filter(|s| s.kind == *kind);
    let first = own.next()?;
    own.next().is_none().then_some(first.lines)
}

/// Lines of the statement with an expression, ignoring differences in blanks.
fn statement_with(view: &View<'_>, expression: &str) -> Option<(u32, u32)> {
    let plain = |text: &str| {
        text.chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
    };
    let wanted = plain(expression);
    let script = view.job.script.as_ref().filter(|_| !wanted.is_empty())?;
    let mut holding = script
        .statements
        .iter()
        .filter(|s| plain(script.slice(&s.span)).contains(&wanted));
    holding.next().map(|s| s.lines)
}

fn evidence(view: &View<'_>, reason: &Reason<'_>, stage: Option<usize>) -> Vec<Evidence> {
    let error = reason.error;
    let mut facts = error.map_or_else(Vec::new, |e| error_facts(view, e, stage));
    facts.extend(error.and_then(|e| recognized(view, e, reason)));
    let runs = stage.and_then(|s| Some((s, view.job.stages[s].runs.as_ref()?)));
    if let Some((stage, runs)) = runs
        && let Some((event, times)) = runs.events.first()
    {
        let source = at(&runs.file, view.name(stage));
        facts.push(fact! { view, "vertex event", event, source;
        "{event}（{times}）", "{event} ({times})", times = TIME.count(*times as f64) });
    }
    if facts.is_empty()
        && let Some(source) = view.job.info.sources.get("state")
    {
        facts.push(fact! { view, "State", "failed", source.clone();
        "作业失败", "the job failed" });
    }
    facts
}

/// The line that identified the failure, and the program that writes such lines; `None` if the message is that line.
fn recognized(view: &View<'_>, error: &JobError, reason: &Reason<'_>) -> Option<Evidence> {
    let writer = reason.recognized.source?;
    let line = reason.recognized.line.as_str();
    let quoted = [
        Some(&error.message),
        error.exception.as_ref(),
        error.id.as_ref(),
    ];
    if quoted.into_iter().flatten().any(|text| text.contains(line)) {
        return None;
    }
    let source = Source {
        file: error.file.clone(),
        locator: error.internal.clone().filter(|at| at.starts_with("line ")),
    };
    Some(fact! { view, "reason", line, source;
    "{writer} 写下：{line}", "{writer} writes: {line}", line = head(line, 400) })
}

/// Facts of an error, deduplicated.
fn error_facts(view: &View<'_>, error: &JobError, stage: Option<usize>) -> Vec<Evidence> {
    let failed = failure::last_failure(view, error, stage);
    let message = Some(&error.message).filter(|m| error.expression.is_none() && !m.is_empty());
    let event = failed.source.clone();
    let of_vertex = || {
        event
            .clone()
            .unwrap_or_else(|| at(&error.file, "/internalDiagnostics"))
    };
    let said = [
        ("errorId", error.id.as_ref(), at(&error.file, "/errorId")),
        ("message", message, at(&error.file, "/message")),
        (
            "exception",
            error.exception.as_ref(),
            at(&error.file, "/details"),
        ),
        (
            "expression",
            error.expression.as_ref(),
            at(&error.file, "/message"),
        ),
        ("frame", error.frame.as_ref(), at(&error.file, "/details")),
        ("row", error.row.as_ref(), at(&error.file, "/description")),
        ("vertex", failed.vertex.as_ref(), of_vertex()),
        ("machine", failed.machine.as_ref(), of_vertex()),
    ];
    let fact = |(metric, value, source): (&str, Option<&String>, Source)| {
        let value = value?;
        let sentence = sentence(metric, value, view.job.spark.is_some());
        Some(view.word(metric, value, source, sentence))
    };
    said.into_iter().filter_map(fact).collect()
}

fn sentence(metric: &str, value: &str, of_spark: bool) -> Text {
    match metric {
        "errorId" => text!("错误号 {value}", "the error is {value}"),
        "exception" => text!("最内层异常：{value}", "the innermost exception: {value}"),
        "expression" => text!(
            "出错的表达式：{value}",
            "the expression that failed: {value}"
        ),
        "frame" => text!("抛出位置：{value}", "thrown in {value}"),
        "row" => text!("当时处理的数据行：{value}", "the current row: {value}"),
        "vertex" if of_spark => text!("失败的 Task：{value}", "the task that failed: {value}"),
        "vertex" => text!("失败的顶点：{value}", "the vertex that failed: {value}"),
        "machine" => text!("所在机器：{value}", "on machine {value}"),
        _ => text!("{value}", "{value}"),
    }
}
