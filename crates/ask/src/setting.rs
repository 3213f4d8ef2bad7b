//! Settings of a Spark application: the values in force, and the values that suggestions set.

use report::{JobEngine, Setting, Text, text};

use crate::Asked;
use crate::intent::Intent;
use crate::said::Said;
use crate::word::{Cue, Quantity};

/// Settings listed without a name.
const LISTED: usize = 12;

/// Says the value of a setting, and the value that a suggestion would set.
pub(crate) fn about(said: &mut Said<'_>, run: &Asked<'_>, key: &str, intent: &Intent) {
    let value = run
        .summary
        .settings
        .get(key)
        .map(|[value, _]| value.as_str());
    if let (Some(value @ ("true" | "false")), true) = (value, intent.asks(Quantity::Settings)) {
        said.affirm(value == "true");
    }
    let sentence = match run.summary.settings.get(key) {
        Some([value, origin]) => text!(
            "{key} = {value}{origin}",
            "{key} is {value}{origin}",
            origin = origin_of(origin)
        ),
        None => text!("日志中没有设置 {key}", "the log does not set {key}"),
    };
    said.say(sentence);
    let suggestions = run.report.suggestions.iter();
    let mut wanted = suggestions.flat_map(|s| s.settings.iter().map(move |setting| (s, setting)));
    match wanted.find(|(_, setting)| setting.key == key) {
        Some((suggestion, setting)) => {
            let id = &suggestion.id;
            let (suggested, reason) = (&setting.suggested, &setting.reason);
            said.say(text!(
                "建议 {id} 把 {key} 设为 {suggested}：{reason}",
                "{id} sets {key} to {suggested}: {reason}"
            ));
        }
        None if intent.asks(Quantity::Remedy)
            || intent.asks(Quantity::Verdict)
            || intent.is_polar() =>
        {
            said.say(text!("没有建议要改 {key}", "no suggestion changes {key}"))
        }
        None => {}
    }
}

/// Says a value that a suggestion sets.
pub(crate) fn suggested(said: &mut Said<'_>, setting: &Setting) {
    let (key, suggested, current) = (&setting.key, &setting.suggested, &setting.current);
    let now = match current {
        None => Text::default(),
        Some(now) => text!("（现在 {now}）", " ({now} now)"),
    };
    said.say(text!(
        "{key} = {suggested}{now}",
        "{key} = {suggested}{now}",
        now = now
    ));
}

/// Lists the settings of the application; only the settings of executors if executors are named.
pub(crate) fn list(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    if intent.asks(Quantity::Remedy) {
        return;
    }
    if run.report.job.engine != Some(JobEngine::Spark) || run.summary.settings.is_empty() {
        if hints(said, run) {
            return;
        }
        return said.say(text!(
            "没有文件给出作业的设置",
            "No file gives the settings of the job"
        ));
    }
    let is_named = |key: &str| match intent.reading.shows(Cue::Executor) {
        true => key.starts_with("spark.executor.") || key.starts_with("spark.dynamicAllocation."),
        false => true,
    };
    let settings = run.summary.settings.iter().filter(|(key, _)| is_named(key));
    // settings of the log come before defaults
    let mut settings: Vec<_> = settings.collect();
    settings.sort_by_key(|(_, [_, origin])| origin != "log");
    let shown = settings.iter().take(LISTED).map(|(key, [value, origin])| {
        text!(
            "{key} = {value}{origin}",
            "{key} = {value}{origin}",
            origin = origin_of(origin)
        )
    });
    let shown: Vec<Text> = shown.collect();
    said.say(text!(
        "设置：{shown}",
        "Settings: {shown}",
        shown = Text::joined(&shown, ["；", "; "])
    ));
}

/// Says the hints of the script, which are the settings of a SCOPE job. Returns false if it has none.
pub(crate) fn hints(said: &mut Said<'_>, run: &Asked<'_>) -> bool {
    let text = run.summary.script.as_ref().map_or("", |s| s.text.as_str());
    let hints = run.statements().iter().flat_map(|s| &s.hints);
    let shown = hints.take(LISTED).map(|hint| {
        let line = text
            .get(..hint.span.start)
            .unwrap_or_default()
            .matches('\n')
            .count()
            + 1;
        let value = hint
            .value
            .as_ref()
            .map_or(String::new(), |value| format!("={value}"));
        text!(
            "第 {line} 行 {name}{value}",
            "{name}{value} in line {line}",
            name = hint.name
        )
    });
    let shown: Vec<Text> = shown.collect();
    if shown.is_empty() {
        return false;
    }
    said.say(text!(
        "脚本中的提示：{shown}",
        "Hints of the script: {shown}",
        shown = Text::joined(&shown, ["；", "; "])
    ));
    true
}

/// The default that a value comes from; empty for a value that the log sets.
fn origin_of(origin: &str) -> Text {
    match origin.strip_prefix("default of ") {
        Some(version) => text!(
            "（Spark {version} 的默认值）",
            " (default of Spark {version})"
        ),
        None if origin == "default" => text!("（默认值）", " (default)"),
        None => Text::default(),
    }
}
