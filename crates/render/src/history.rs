//! The runs of a recurring job, as text.

use report::format::{Bytes, Change, Number, RUN, Ratio, Seconds};
use report::{Language, Text, text};
use runs::history::{JobHistory, PastRun, Signal};

use super::layout::wrap;
use super::table::{Align, Table, columns};
use super::words::Words;

/// The history without the escapes of a terminal, for other programs.
pub fn plain(history: &JobHistory, language: Language) -> String {
    anstream::adapter::strip_str(&text(history, language, usize::MAX)).to_string()
}

/// The table of runs, oldest first, each regression with its reason.
pub fn text(history: &JobHistory, language: Language, columns: usize) -> String {
    let words = Words::new(language);
    let regressions = history
        .runs
        .iter()
        .filter(|run| run.is_first_regression)
        .count();
    let empty = history.runs.iter().filter(|run| !run.has_data()).count();
    let runs = RUN.count((history.runs.len() - empty) as f64);
    let runs = match empty {
        0 => text!("{runs}", "{runs}", runs = runs),
        empty => text!(
            "{runs}，另有 {empty} 次没有数据",
            "{runs}, {empty} more without data",
            runs = runs
        ),
    };
    let mut out = words.say(text!(
        "{job}：{runs}，{count}性能回退\n\n",
        "{job}: {runs}, {count}\n\n",
        job = report::visible_line(&history.job).into_owned(),
        runs = runs,
        count = match regressions {
            0 => text!("没有", "no regression"),
            1 => text!("1 次", "1 regression"),
            n => text!("{n} 次", "{n} regressions"),
        }
    ));
    out += &table(history, words).render_within("", Some(columns));
    for run in history.runs.iter().filter(|run| run.is_first_regression) {
        out += &format!(
            "\n{}\n",
            wrap(&regression(run, words), columns, "", "").join("\n")
        );
    }
    out
}

/// Columns of the table of runs.
pub fn heads(words: Words) -> Vec<(&'static str, Align)> {
    columns(words.0.select(
        "提交时间|>用时|>排队|>用量|>输入|计划|变化|运行编号",
        "submitted|>time|>queue|>used|>input|plan|changes|run",
    ))
}

fn table(history: &JobHistory, words: Words) -> Table {
    let mut table = Table::new(&heads(words));
    for row in rows(history, words) {
        table.foreign_row(row.into());
    }
    table
}

/// A row per run, oldest first.
pub fn rows<'a>(history: &'a JobHistory, words: Words) -> Vec<[String; 8]> {
    let mut plans: Vec<&'a str> = Vec::new();
    let mut row = |run: &'a PastRun| {
        let seconds = |s: Option<f64>| shown(s.map(|s| words.say(Seconds(s))));
        let plan = run.plan.as_deref().map(|plan| {
            let known = plans.iter().position(|p| *p == plan);
            known.unwrap_or_else(|| {
                plans.push(plan);
                plans.len() - 1
            }) + 1
        });
        let input = match (run.input_bytes, run.input_rows) {
            (Some(bytes), _) => Some(words.say(Bytes(bytes))),
            (None, rows) => rows.map(|rows| words.say(report::format::ROW.count(rows))),
        };
        [
            run.submitted.get(..16).unwrap_or("–").replace('T', " "),
            seconds(run.elapsed_seconds),
            seconds(run.queued_seconds),
            shown(run.cost.map(|cost| words.say(Number(cost)))),
            shown(input),
            shown(plan.map(|n| n.to_string())),
            changes(run, words).join(words.comma()),
            run.run_id.clone(),
        ]
    };
    history.runs.iter().map(&mut row).collect()
}

fn shown(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".to_owned())
}

/// The remarkable changes of a run.
fn changes(run: &PastRun, words: Words) -> Vec<String> {
    let mut changes = Vec::new();
    if run.failed {
        changes.push(words.say(text!("失败", "failed")));
    }
    if let Some((time, usual)) = run
        .elapsed_seconds
        .zip(run.usual_seconds)
        .filter(|_| run.is_regression)
    {
        let change = Change::between(usual, time);
        changes.push(words.say(text!("变慢 {change}", "slower {change}", change = change)));
    }
    changes.extend(
        run.signals
            .iter()
            .map(|signal| words.say(signal_text(*signal))),
    );
    changes
}

fn signal_text(signal: Signal) -> Text {
    match signal {
        Signal::PlanChanged => text!("计划改变", "plan changed"),
        Signal::ScriptChanged => text!("脚本改变", "script changed"),
        Signal::DataGrew { ratio } => text!(
            "数据增长 {ratio}",
            "data grew {ratio}",
            ratio = Ratio(ratio)
        ),
        Signal::CapacityFell { ratio } => {
            text!(
                "资源减少为 {ratio}",
                "capacity fell to {ratio}",
                ratio = Ratio(ratio)
            )
        }
    }
}

/// A regression, and its likely reason.
pub fn regression(run: &PastRun, words: Words) -> String {
    let known = |seconds: Option<f64>| Seconds(seconds.unwrap_or(f64::NAN));
    let reason = run.reason.clone().unwrap_or_default();
    words.say(text!(
        "{run_id}（B）用时 {time}，通常约 {usual}，超出该作业自身的波动。与正常的 {good}（A）相比，最可能的原因：{reason}。",
        "{run_id} (B) took {time}, usually about {usual}: more than the job's own spread. Most likely reason, compared with the good run {good} (A): {reason}.",
        run_id = run.run_id.clone(),
        time = known(run.elapsed_seconds),
        usual = known(run.usual_seconds),
        good = run.compared_with.clone().unwrap_or_default(),
        reason = reason
    ))
}
