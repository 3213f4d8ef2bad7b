//! Shorter forms of texts in a prompt: the script, the diff of a suggestion, the line of an earlier conclusion.

use crate::facts::Facts;
use crate::found::Found;

/// Script lines kept on either side of a finding when the script is cut.
const LINES_AROUND: usize = 12;

/// Changed lines shown of a diff.
const DIFF_LINES: usize = 12;

/// A script with line numbers, without blank lines. Of blocks of C#, only the lines of findings; `windowed`, of the rest only what
/// surrounds them.
pub(super) fn script(text: &str, facts: &Facts, windowed: bool) -> String {
    let statements = &facts.outline.statements;
    let is_in = |number: usize, [first, last]: [u32; 2], around: usize| {
        let first = (first as usize).saturating_sub(around);
        (first..=last as usize + around).contains(&number)
    };
    let places = || facts.found.findings.iter().filter_map(|f| f.script_lines);
    let has_place = places().next().is_some();
    let is_shown = |number: usize| {
        let mut blocks = statements.iter().filter(|s| s.kind == "csblock");
        if blocks.any(|block| is_in(number, block.lines, 0)) {
            return places().any(|place| is_in(number, place, 0));
        }
        match (windowed, has_place) {
            (false, _) => true,
            (true, true) => places().any(|place| is_in(number, place, LINES_AROUND)),
            (true, false) => statements.iter().any(|s| s.lines[0] as usize == number),
        }
    };
    let lines: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
    let mut out: Vec<String> = Vec::new();
    for run in lines.chunk_by(|(a, _), (b, _)| is_shown(*a) == is_shown(*b)) {
        if is_shown(run[0].0) {
            let filled = run.iter().filter(|(_, line)| !line.trim().is_empty());
            out.extend(filled.map(|(number, line)| format!("{number} {line}")));
        } else {
            out.push(format!("… {}", run.len()));
        }
    }
    out.join("\n")
}

/// A line without the summaries of findings, which the prompt has above: their ids take their place.
pub(super) fn without_summaries(line: &str, found: &Found) -> String {
    found.findings.iter().fold(line.to_owned(), |line, f| {
        let bare = report::format::without_stop(&f.summary);
        let rest = bare
            .char_indices()
            .nth(1)
            .map_or(bare, |(at, _)| &bare[at..]);
        // A sentence may begin with a capital.
        let at = line.find(rest).filter(|_| rest.len() > 1);
        match at.and_then(|at| line[..at].char_indices().last()) {
            Some((at, first)) => {
                let end = at + first.len_utf8() + rest.len();
                format!("{}[{}]{}", &line[..at], f.id, &line[end..])
            }
            None => line,
        }
    })
}

/// The changed lines of a diff.
pub(super) fn changed_lines(diff: &str) -> String {
    let is_change = |line: &&str| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
    };
    let all = diff.lines().filter(is_change).count();
    let mut shown: Vec<String> = diff
        .lines()
        .filter(is_change)
        .take(DIFF_LINES)
        .map(str::to_owned)
        .collect();
    if all > shown.len() {
        shown.push(format!("… {}", all - shown.len()));
    }
    shown.join("\n")
}
