//! Where the script has a name: its definition and its uses.

use job::script::{Statement, StatementKind};
use report::format::cut;
use report::{Language, text};
use runs::OperatorSummary;

use crate::Asked;
use crate::intent::Intent;
use crate::reading::Reading;
use crate::said::Said;
use crate::spelling::is_name;
use crate::word::{Cue, Word};

/// Lines of a definition, bytes that are quoted of one, and lines with a use.
const DEFINITION: usize = 12;
const QUOTED: usize = 480;
const USES: usize = 4;

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a text has a name as a whole word.
pub(crate) fn has(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
    })
}

/// Names of the script in a question; for a question about places, other words of the script too.
pub(crate) fn names<'a>(run: &'a Asked<'a>, intent: &'a Intent, scan: &Reading) -> Vec<&'a str> {
    let script = run.summary.script.as_ref().map_or("", |s| s.text.as_str());
    let words = intent.text.split(|c| !is_part(c));
    let is_chinese = Language::of(&intent.text) == Language::Zh;
    let asks_place = scan.has(Word::Place) || intent.reading.shows(Cue::Where);
    let is_capitals = |word: &str| word.bytes().all(|b| b.is_ascii_uppercase());
    let is_left = |word: &str| scan.left.iter().any(|l| l.contains(&word.to_lowercase()));
    // an ordinary word that happens to be in the script is no name
    let is_named = |word: &&str| {
        let is_of_script = asks_place && (is_chinese || is_left(word)) || is_capitals(word);
        word.len() > 3 && (is_name(word) && is_left(word) || is_of_script)
    };
    let named = intent.names.iter().map(String::as_str);
    let named = named.chain(words.filter(is_named));
    let mut names: Vec<&str> = named.chain(expressions(&intent.text)).collect();
    // a script often has the name of its job in a comment
    names.retain(|name| run.report.job.name.as_deref() != Some(*name) && has(script, name));
    names.dedup();
    names
}

/// Expressions in a question: `rn <= 1`.
fn expressions(text: &str) -> impl Iterator<Item = &str> {
    let is_outside = |c: char| !c.is_ascii() || matches!(c, '(' | ')' | ',' | '?' | '`');
    let parts = text.split(is_outside).map(str::trim);
    let is_expression =
        |part: &&str| part.len() > 3 && part.contains(['<', '>', '=']) && !part.contains("->");
    parts.filter(is_expression)
}

/// The lines of the script with a name or within its definition, by their numbers.
pub(crate) fn lines<'a>(run: &'a Asked<'a>, name: &str) -> Vec<(usize, &'a str)> {
    let script = run.summary.script.as_ref().map_or("", |s| s.text.as_str());
    let all: Vec<&str> = script.lines().collect();
    let defined = definition(&all, name);
    let is_there = |at: usize| defined.as_ref().is_some_and(|d| d.contains(&at));
    let lines = all.iter().copied().enumerate();
    let there = lines.filter(|(at, text)| is_there(*at) || has(text, name));
    there.map(|(at, text)| (at + 1, text)).collect()
}

/// The lines of the function or class of a name, by their indices.
fn definition(lines: &[&str], name: &str) -> Option<std::ops::Range<usize>> {
    let defines = |line: &&str| {
        let words = ["def ", "class "].iter();
        let after = words.filter_map(|word| line.split_once(word).map(|(_, after)| after));
        let mut after = after.filter_map(|after| after.strip_prefix(name));
        after.any(|rest| !rest.starts_with(is_part))
    };
    let first = lines.iter().position(defines)?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(lines[first]);
    let is_inside =
        |line: &&&str| line.trim().is_empty() || indent(line) > own || line.trim() == "{";
    let inside = lines[first + 1..].iter().take_while(is_inside).count();
    Some(first..first + 1 + inside)
}

/// The lines of the statements that use a name.
pub(crate) fn statements(run: &Asked<'_>, name: &str) -> Vec<(u32, u32)> {
    let uses = |s: &&Statement| {
        let is_other = matches!(s.kind, StatementKind::Declare | StatementKind::CsBlock);
        !is_other && has(run.text_of(s), name)
    };
    let used = run.statements().iter().filter(uses);
    used.map(|s| s.lines).collect()
}

/// Quotes the definition of a name and the lines that use it, with the stages that run it.
pub(crate) fn say(said: &mut Said<'_>, run: &Asked<'_>, name: &str) {
    let script = run.summary.script.as_ref().map_or("", |s| s.text.as_str());
    let all: Vec<&str> = script.lines().collect();
    let defined = definition(&all, name);
    if let Some(range) = &defined {
        let (first, last) = (range.start + 1, range.end);
        let body = &all[range.start..range.end.min(range.start + DEFINITION)];
        let text: Vec<&str> = body.iter().map(|line| line.trim()).collect();
        let text = cut(text.join(" ").trim(), QUOTED).to_owned();
        said.say(text!(
            "脚本第 {first}–{last} 行定义 {name}：`{text}`",
            "Script lines {first}–{last} define {name}: `{text}`"
        ));
    }
    let is_outside = |at: &usize| defined.as_ref().is_none_or(|d| !d.contains(&(at - 1)));
    let uses = lines(run, name)
        .into_iter()
        .filter(|(at, _)| is_outside(at));
    let uses: Vec<(usize, &str)> = uses.collect();
    if let more @ 1.. = uses.len().saturating_sub(1) {
        let count = more + 1;
        said.say(text!(
            "{name} 用在 {count} 行",
            "{name} is used in {count} lines"
        ));
    }
    for (line, text) in uses.into_iter().take(USES) {
        let text = cut(text.trim(), QUOTED);
        said.say(text!(
            "脚本第 {line} 行：`{text}`",
            "Script line {line}: `{text}`"
        ));
    }
    let used = statements(run, name);
    let mut operators = run.operators();
    let is_known = operators.any(|o| o.names.iter().any(|n| n == name));
    for stage in &run.summary.stages {
        let runs = |o: &&OperatorSummary| {
            let at = |line: u32| used.iter().any(|(a, b)| (*a..=*b).contains(&line));
            match is_known {
                true => o.names.iter().any(|n| n == name),
                false => o.line.is_some_and(at),
            }
        };
        let ids: Vec<&str> = stage
            .operators
            .iter()
            .filter(runs)
            .map(|o| o.id.as_str())
            .collect();
        if !ids.is_empty() {
            let (ids, stage) = (ids.join(", "), &stage.name);
            said.say(text!(
                "运行它的算子：{stage}/{ids}",
                "Run by {ids} in {stage}"
            ));
        }
    }
}
