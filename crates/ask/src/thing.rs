//! Known facts about operators, inputs, columns, files, script lines, findings, suggestions and evidence.

use job::script::Statement;
use report::format::{VERTEX, list, without_stop};
use report::measure::{Entity, book};
use report::{Text, text};

use crate::column::{self, evidence_of_input, values};
use crate::intent::Intent;
use crate::said::Said;
use crate::word::{Quantity, Thing, Word};
use crate::{Asked, found, record, stage, verdict};
use runs::InputSummary;

pub(crate) fn operator(said: &mut Said<'_>, run: &Asked<'_>, at: usize, operator: usize) {
    let stage = &run.summary.stages[at];
    let (o, name) = (&stage.operators[operator], &stage.name);
    let id = runs::with_keys(&o.id, &o.keys);
    said.say(text!("{id} 在阶段 {name} 中运行", "{id} runs in {name}"));
    for measure in book::of(Entity::Operator) {
        if let Some(value) = o.values.value(measure) {
            let of_stage = o.name_in(name);
            said.say_value(measure, value, &of_stage, run.vertex());
        }
    }
}

pub(crate) fn input(said: &mut Said<'_>, run: &Asked<'_>, at: usize, intent: &Intent) {
    let input = &run.summary.inputs[at];
    let mut operators = run.operators();
    if operators.any(|o| o.reads.is_some()) && record::readers(run, input).next().is_none() {
        said.say(text!(
            "没有语句读取 {name}",
            "No statement reads {name}",
            name = input.name
        ));
    }
    let scan = &intent.reading;
    if scan.has(Word::Noun(Thing::Column)) && !scan.has(Word::Key) {
        record::columns(said, &input.name, &record::columns_of(run, input));
    } else {
        describe_input(said, input);
        rows_read(said, run, input);
    }
    mentions(said, run, &input.name, Some(intent));
}

/// Says how many rows the operators read that scan an input, if no file gives the rows of the input.
pub(crate) fn rows_read(said: &mut Said<'_>, run: &Asked<'_>, input: &InputSummary) {
    for (stage, o) in record::readers(run, input) {
        let value = o.values.value(&book::OPERATOR_ROWS);
        if let Some(value) = value.filter(|_| input.get(&book::STORED_ROWS).is_none()) {
            said.say_value(&book::OPERATOR_ROWS, value, &o.name_in(stage), run.vertex());
        }
    }
}

/// Says how large an input is, how it is stored, and how its keys are spread.
pub(crate) fn describe_input(said: &mut Said<'_>, input: &InputSummary) {
    let name = &input.name;
    let ids = evidence_of_input(said, input);
    let parts = match input.values.value(&book::STORED_PARTITIONS) {
        Some(n) => text!(
            "，{n}",
            " in {n}",
            n = book::STORED_PARTITIONS.shown(n.number(), VERTEX)
        ),
        None => Text::default(),
    };
    let layout = match &input.layout {
        Some(layout) if layout == "none" => text!("，存储时未按键分区", ", stored without a key"),
        Some(layout) => text!("，存储方式 {layout}", ", stored by {layout}"),
        None => Text::default(),
    };
    let sentence = text!(
        "输入 {name}{sizes}{layout}{parts}",
        "Input {name}{sizes}{layout}{parts}",
        sizes = sizes(input),
        layout = layout,
        parts = parts
    );
    said.cite(sentence, &ids);
    let language = said.language();
    let mut keys: Vec<String> = input
        .columns
        .iter()
        .filter(|c| c.is_key)
        .map(|c| values(c, input.get(&book::STORED_ROWS)).into(language))
        .collect();
    keys.truncate(2);
    if !keys.is_empty() {
        let keys = keys.join(language.select("；", "; "));
        said.cite(text!("键：{keys}", "Keys: {keys}"), &ids);
    }
}

/// Rows, bytes and files of an input in brackets.
pub(crate) fn sizes(input: &InputSummary) -> Text {
    let sizes = [&book::STORED_ROWS, &book::STORED_BYTES, &book::STORED_FILES];
    let known = sizes.into_iter();
    let known = known.filter_map(|m| Some(m.shown(input.get(m)?, VERTEX)));
    let parts: Vec<Text> = known.collect();
    match parts.is_empty() {
        true => Text::default(),
        false => text!(
            "（{parts}）",
            " ({parts})",
            parts = Text::joined(&parts, ["，", ", "])
        ),
    }
}

/// Says the findings that mention a name.
fn mentions(said: &mut Said<'_>, run: &Asked<'_>, name: &str, intent: Option<&Intent>) {
    let asks = |q| intent.is_some_and(|intent| intent.asks(q));
    let judges = asks(Quantity::Reason) || asks(Quantity::Verdict) || asks(Quantity::Remedy);
    if !judges && intent.is_some_and(|intent| !intent.asks_nothing()) {
        return;
    }
    let report = run.report;
    let mut any = false;
    for found in &report.findings {
        let of_finding: Vec<String> = report
            .evidence_of(&found.evidence)
            .filter(|e| e.text.contains(name))
            .map(|e| e.id.clone())
            .collect();
        if found.summary.contains(name) || !of_finding.is_empty() {
            any = true;
            found::finding(said, found, false);
        }
    }
    if !any && intent.is_some() {
        said.say(text!(
            "没有哪个问题直接与 {name} 有关",
            "No finding is directly about {name}"
        ));
        if let Some(intent) = intent.filter(|_| judges) {
            verdict::of_job(said, run, &intent.except);
        }
    }
}

/// Says how the values of a column are spread, and who uses it; without an intent, everything.
pub(crate) fn column(said: &mut Said<'_>, run: &Asked<'_>, name: &str, intent: Option<&Intent>) {
    let language = said.language();
    let mut uses: Vec<String> = Vec::new();
    for stage in &run.summary.stages {
        let operators = stage
            .operators
            .iter()
            .filter(|o| o.keys.iter().any(|k| k == name));
        uses.extend(operators.map(|o| format!("{}/{}", stage.name, o.id)));
    }
    uses.truncate(6);
    column::spread(said, run, name);
    if !uses.is_empty() && intent.is_none_or(Intent::asks_nothing) {
        said.say(text!(
            "以 {name} 为键的算子：{uses}",
            "{name} is a key of {uses}",
            uses = list(&uses, language)
        ));
    }
    mentions(said, run, name, intent);
}

pub(crate) fn file(said: &mut Said<'_>, run: &Asked<'_>, name: &str) {
    let report = run.report;
    let is_it = |file: &str| file == name;
    let cites = report.evidence.iter().filter(|e| is_it(&e.source.file));
    let used = cites.count();
    said.say(match report.files_read.iter().find(|f| is_it(&f.file)) {
        Some(file) => text!(
            "`{name}` 已读取（{bytes}），报告中有 {used} 条证据来自它",
            "`{name}` was read ({bytes}); {used} pieces of evidence come from it",
            bytes = report::format::Bytes(file.bytes as f64)
        ),
        None => text!("作业目录中没有读到 `{name}`", "`{name}` was not read"),
    });
    let problems = report.diagnostics.iter();
    let problems = problems.filter(|d| d.file.as_deref() == Some(name));
    problems.for_each(|problem| said.say_line(&problem.message));
    let missing = report.missing_information.iter();
    let missing = missing.filter(|m| is_it(&m.file));
    missing.for_each(|missing| said.say_line(&missing.reason));
}

pub(crate) fn suggestion(said: &mut Said<'_>, run: &Asked<'_>, id: &str) {
    let Some(s) = run.report.suggestions.iter().find(|s| s.id == id) else {
        return;
    };
    let (title, gain) = (without_stop(&s.title), without_stop(&s.gain));
    said.say(text!("{id}：{title}", "{id}: {title}"));
    if !gain.is_empty() {
        said.say(text!("收益：{gain}", "Gain: {gain}"));
    }
    for (items, zh, en) in [
        (&s.steps, "步骤", "Steps"),
        (&s.pros, "优点", "Pros"),
        (&s.cons, "缺点", "Cons"),
    ] {
        let items: Vec<&str> = items.iter().map(|i| without_stop(i)).collect();
        let items = items.join(said.language().select("；", "; "));
        if !items.is_empty() {
            said.say(text!("{zh}：{items}", "{en}: {items}"));
        }
    }
    let lines: Vec<String> = changed(s.diff.as_deref().unwrap_or_default())
        .map(|line| line.to_string())
        .collect();
    if !lines.is_empty() {
        said.say(text!(
            "修改脚本第 {lines} 行",
            "It changes script lines {lines}",
            lines = list(&lines, said.language())
        ));
    }
    if let Some(finding) = &s.finding {
        found::finding_of(said, run, finding, false);
    }
}

pub(crate) fn evidence(said: &mut Said<'_>, run: &Asked<'_>, id: &str) {
    let Some(e) = run.report.evidence.iter().find(|e| e.id == id) else {
        return;
    };
    let text = without_stop(&e.text);
    let (file, place) = (
        &e.source.file,
        e.source.locator.as_deref().unwrap_or_default(),
    );
    said.cite(
        text!("{text}（{file} {place}）", "{text} ({file} {place})"),
        std::slice::from_ref(&e.id),
    );
}

/// Lines of a script that a diff replaces, from a line on; only new ones if it removes none.
#[derive(Debug, Default)]
pub(crate) struct Edit<'d> {
    pub(crate) line: u32,
    pub(crate) removed: Vec<&'d str>,
    pub(crate) added: Vec<&'d str>,
}

/// The changes of a diff.
pub(crate) fn edits(diff: &str) -> Vec<Edit<'_>> {
    let mut edits: Vec<Edit<'_>> = Vec::new();
    let (mut line, mut is_open) = (0, false);
    for text in diff.lines() {
        if let Some(hunk) = text.strip_prefix("@@ -") {
            let start = hunk.split([',', ' ']).next();
            line = start.and_then(|n| n.parse().ok()).unwrap_or(0);
            is_open = false;
            continue;
        }
        let (removed, added) = (text.strip_prefix('-'), text.strip_prefix('+'));
        let is_change = line > 0 && (removed.is_some() || added.is_some());
        if is_change && !is_open {
            edits.push(Edit {
                line,
                ..Edit::default()
            });
        }
        is_open = is_change;
        if let Some(edit) = edits.last_mut().filter(|_| is_change) {
            edit.removed.extend(removed);
            edit.added.extend(added);
        }
        line += u32::from(line > 0 && added.is_none());
    }
    edits
}

/// The lines of the script that a diff removes or replaces.
fn changed(diff: &str) -> impl Iterator<Item = u32> {
    let edits = edits(diff).into_iter();
    edits.flat_map(|edit| edit.line..edit.line + edit.removed.len() as u32)
}

/// Bytes of a statement that are quoted.
const QUOTED: usize = 240;

/// Statements that are quoted, and lines of one that isn't quoted for the sake of a single line.
const STATEMENTS: usize = 4;
const LONG: u32 = 12;

/// Script lines on one line, without their indents.
pub(crate) fn quoted(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let all = words.join(" ");
    match report::format::cut(&all, QUOTED) {
        whole if whole.len() == all.len() => all,
        cut => format!("{cut} …"),
    }
}

/// `line 12` or `lines 12–15`.
pub(crate) fn lines_of(from: u32, to: u32) -> Text {
    let lines = range(from, to);
    match from == to {
        true => text!("第 {lines} 行", "line {lines}"),
        false => text!("第 {lines} 行", "lines {lines}"),
    }
}

/// `12` or `12–15`.
fn range(from: u32, to: u32) -> String {
    match from == to {
        true => from.to_string(),
        false => format!("{from}–{to}"),
    }
}

/// Quotes some script lines with the statements that they belong to. Returns the lines of those statements.
pub(crate) fn quote(said: &mut Said<'_>, run: &Asked<'_>, first: u32, last: u32) -> (u32, u32) {
    let Some(script) = &run.summary.script else {
        return (first, last);
    };
    let lines: Vec<&str> = script.text.lines().collect();
    let count = lines.len();
    if first as usize > count {
        said.say(text!(
            "脚本只有 {count} 行",
            "The script has just {count} lines"
        ));
        return (first, last);
    }
    let meets = |s: &&Statement| s.lines.0 <= last && first <= s.lines.1;
    let statements: Vec<&Statement> = run.statements().iter().filter(meets).collect();
    let is_part = statements.iter().all(|s| s.lines != (first, last));
    // a program in Python is one long statement
    let is_program = |s: &&&Statement| last - first < LONG && s.lines.1 - s.lines.0 > LONG;
    let is_part = is_part && (first == last || statements.iter().any(|s| is_program(&s)));
    if is_part || statements.is_empty() {
        let text = lines.get(first as usize - 1..(last as usize).min(count));
        let text = quoted(&text.unwrap_or_default().join("\n"));
        said.say(text!(
            "脚本{lines}：`{text}`",
            "Script {lines}: `{text}`",
            lines = lines_of(first, last)
        ));
    }
    let quotable = statements.iter().filter(|s| !is_program(s));
    for s in quotable.take(STATEMENTS) {
        let text = quoted(run.text_of(s));
        let lines = range(s.lines.0, s.lines.1);
        let target = match &s.target {
            Some(target) => text!("（{target}）", " ({target})"),
            None => Text::default(),
        };
        said.say(text!(
            "脚本第 {lines} 行的语句{target}：`{text}`",
            "The statement in script lines {lines}{target}: `{text}`",
            target = target
        ));
    }
    let ends = statements.first().zip(statements.last());
    ends.map_or((first, last), |(a, b)| (a.lines.0, b.lines.1))
}

/// Quotes some script lines, says the stages that run them, and the findings there.
pub(crate) fn lines(said: &mut Said<'_>, run: &Asked<'_>, first: u32, last: u32, intent: &Intent) {
    let (from, to) = quote(said, run, first, last);
    let run_by = run_by(said, run, from, to);
    let there = run
        .report
        .findings
        .iter()
        .filter(|f| f.script_lines.is_some_and(|[a, b]| a <= to && from <= b));
    for found in there {
        found::finding(said, found, false);
    }
    for suggestion in run.report.suggestions.iter() {
        let diff = suggestion.diff.as_deref().unwrap_or_default();
        if changed(diff).any(|line| (first..=last).contains(&line)) {
            let (id, title) = (&suggestion.id, without_stop(&suggestion.title));
            said.say(text!(
                "建议 {id} 修改这里：{title}",
                "Suggestion {id} changes this: {title}"
            ));
            suggestion
                .finding
                .iter()
                .for_each(|id| found::finding_of(said, run, id, false));
        }
    }
    let measures = !intent.asks_nothing();
    run_by
        .iter()
        .take(2)
        .filter(|_| measures)
        .for_each(|at| stage::about(said, run, *at, intent));
}

/// Says the stages that run some script lines, and returns them.
pub(crate) fn run_by(said: &mut Said<'_>, run: &Asked<'_>, from: u32, to: u32) -> Vec<usize> {
    let stages = &run.summary.stages;
    let runs = |at: &usize| stages[*at].lines.iter().any(|l| (from..=to).contains(l));
    let run_by: Vec<usize> = (0..stages.len()).filter(runs).collect();
    let names: Vec<String> = run_by.iter().map(|at| stages[*at].name.clone()).collect();
    let range = range(from, to);
    if !names.is_empty() {
        said.say(text!(
            "脚本第 {range} 行由 {names} 运行",
            "Script lines {range} are run by {names}",
            names = list(&names, said.language())
        ));
    }
    run_by
}
