//! Where the script has a name: its definition and its uses.

use report::format::cut;
use report::text;
use runs::OperatorSummary;

use crate::Asked;
use crate::intent::Intent;
use crate::said::Said;
use crate::spelling::is_name;

/// Lines of a definition, bytes that are quoted of one, and lines with a use.
const DEFINITION: usize = 12;
const QUOTED: usize = 480;
const USES: usize = 3;

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a text has a name as a whole word.
fn has(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
    })
}

/// Names of the script in a question.
pub(crate) fn names<'a>(run: &'a Asked<'a>, intent: &'a Intent, left: &[String]) -> Vec<&'a str> {
    let script = run.summary.script.as_ref().map_or("", |s| s.text.as_str());
    let words = intent.text.split(|c| !is_part(c));
    // an ordinary word that happens to be in the script is no name
    let is_capitals = |word: &str| word.len() > 3 && word.bytes().all(|b| b.is_ascii_uppercase());
    let is_left = |word: &str| left.iter().any(|l| l.contains(&word.to_lowercase()));
    let unknown = words.filter(|word| is_name(word) && is_left(word) || is_capitals(word));
    let named = intent.names.iter().map(String::as_str).chain(unknown);
    let mut names: Vec<&str> = named.filter(|name| has(script, name)).collect();
    names.dedup();
    names
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
    let first = lines.iter().position(|line| defines(&line))?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(lines[first]);
    let is_inside =
        |line: &&&str| line.trim().is_empty() || indent(line) > own || line.trim() == "{";
    let inside = lines[first + 1..].iter().take_while(is_inside).count();
    Some(first..first + 1 + inside)
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
    for (line, text) in uses.take(USES) {
        let text = cut(text.trim(), QUOTED);
        said.say(text!(
            "脚本第 {line} 行：`{text}`",
            "Script line {line}: `{text}`"
        ));
    }
    let statements = run.statements().iter();
    let is_use = |at: &u32| {
        let at = *at as usize;
        is_outside(&at) && all.get(at - 1).is_some_and(|line| has(line, name))
    };
    let used = statements.filter(|s| (s.lines.0..=s.lines.1).any(|at| is_use(&at)));
    let used: Vec<(u32, u32)> = used.map(|s| s.lines).collect();
    let stages = run.summary.stages.iter();
    let mut operators = stages.flat_map(|s| &s.operators);
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
