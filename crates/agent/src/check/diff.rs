//! Diffs that a model writes: they must apply, parse, keep the columns, use known hints, and not
//! change the result.

use std::iter::Peekable;

use equivalence::{Facts, Judgment};
use job::Job;
use job::script::Script;
use report::{Origin, SameResult, StaticText, Suggestion, Text, Verified, text};

#[derive(Debug)]
pub(super) struct Checked {
    /// The diff as it applies to the script's bytes; `None` if it changes the result.
    pub(super) diff: Option<String>,
    pub(super) verified: Verified,
    /// The remark about the result, unless it stays the same.
    pub(super) result: Option<Text>,
}

/// Why a diff is left out.
type Fault = StaticText;

const NO_SCRIPT: Fault = fault("没有可改的脚本", "there is no script to change");
const NOT_A_DIFF: Fault = fault("不是 unified diff", "the diff is not a unified diff");
const DOES_NOT_APPLY: Fault = fault(
    "diff 无法应用到脚本",
    "the diff does not apply to the script",
);
const CHANGES_NOTHING: Fault = fault("diff 没有改动任何内容", "the diff changes nothing");
const DOES_NOT_PARSE: Fault = fault(
    "diff 改后的脚本无法解析",
    "the script changed by the diff does not parse",
);
const LOSES_COLUMNS: Fault = fault(
    "diff 改后的脚本没有保持输出列",
    "the script changed by the diff does not keep the columns of its outputs",
);
const UNKNOWN_HINT: Fault = fault(
    "diff 改后的脚本含有未知的提示",
    "the script changed by the diff has a hint that is not known",
);

const fn fault(zh: &'static str, en: &'static str) -> Fault {
    Text { zh, en }
}

/// Checks a unified diff against the script of a job. A diff that makes the same change as one of `suggestions` needs no
/// execution.
///
/// # Errors
/// The fault of the diff.
pub(super) fn check(job: &Job, diff: &str, suggestions: &[Suggestion]) -> Result<Checked, Fault> {
    let script = job.script.as_ref().ok_or(NO_SCRIPT)?;
    let changed = apply(&script.text, diff)?;
    if changed == script.text {
        return Err(CHANGES_NOTHING);
    }
    let found = advice::verify_script(job, &changed);
    for (is_fine, fault) in [
        (found.parses, DOES_NOT_PARSE),
        (found.columns_preserved, LOSES_COLUMNS),
        (found.hints_known, UNKNOWN_HINT),
    ] {
        if !is_fine {
            return Err(fault);
        }
    }
    let diff = script.diff(&changed).text;
    let (same_result, result) = result(job, script, changed, suggestions);
    let verified = Verified {
        same_result,
        ..found
    };
    Ok(Checked {
        diff: (same_result != SameResult::Different).then_some(diff),
        verified,
        result,
    })
}

/// Whether the changed script gives the same rows, and the remark if not.
fn result(
    job: &Job,
    script: &Script,
    changed: String,
    suggestions: &[Suggestion],
) -> (SameResult, Option<Text>) {
    let proven = suggestions.iter().filter(|suggestion| {
        let verified = suggestion.verified.map(|verified| verified.same_result);
        suggestion.origin == Origin::Rules && verified == Some(SameResult::Proven)
    });
    let diffs = proven.filter_map(|suggestion| suggestion.diff.as_deref());
    let rewrites: Vec<String> = diffs
        .filter_map(|diff| apply(&script.text, diff).ok())
        .collect();
    let facts = Facts {
        tables: &job.tables,
        reads: &|class| advice::columns_read(job, class),
        rewrites: &rewrites,
    };
    match equivalence::judge(script, &Script::parse(&script.file, changed), &facts) {
        Judgment::Proven => (SameResult::Proven, None),
        Judgment::Tested => (SameResult::Tested, None),
        Judgment::Different(example) => {
            let said = text!(
                "diff 会改变结果：{example}；已略去",
                "the diff changes the result: {example}; it was left out",
                example = example.text()
            );
            (SameResult::Different, Some(said))
        }
        Judgment::Unknown(reason) => {
            let said = text!(
                "不知道结果是否不变：{reason}",
                "unknown whether the result stays the same: {reason}",
                reason = reason.text()
            );
            (SameResult::Unknown, Some(said))
        }
    }
}

/// The script with a unified diff applied; `None` if it doesn't fit.
pub fn apply_diff(script: &str, diff: &str) -> Option<String> {
    apply(script, diff).ok()
}

/// The script with the diff applied. Models write line feeds alone, even if the script has CRLF.
fn apply(text: &str, diff: &str) -> Result<String, Fault> {
    if text.contains("\r\n") {
        let plain = |text: &str| text.replace("\r\n", "\n");
        return Ok(apply(&plain(text), &plain(diff))?.replace('\n', "\r\n"));
    }
    let hunks = hunks(diff).ok_or(NOT_A_DIFF)?;
    patched(text, &hunks).ok_or(DOES_NOT_APPLY)
}

/// Lines that replace others, all with their line feeds.
struct Hunk<'a> {
    /// Where the new lines are expected, from 0.
    start: usize,
    old: Vec<&'a str>,
    new: Vec<&'a str>,
}

/// The hunks of a unified diff; `None` unless each is as long as its header says.
fn hunks(diff: &str) -> Option<Vec<Hunk<'_>>> {
    let mut lines = diff.split_inclusive('\n').peekable();
    let names_file = |line: &str| line.starts_with("--- ") || line.starts_with("+++ ");
    let is_header = |line: &str| line.starts_with("@@ ");
    while lines.next_if(|l| !names_file(l) && !is_header(l)).is_some() {}
    while lines.next_if(|l| names_file(l)).is_some() {}
    let mut hunks = Vec::new();
    while let Some(header) = lines.next_if(|l| is_header(l)) {
        hunks.push(hunk(header, &mut lines)?);
    }
    // A header behind other text is a hunk that would be lost.
    let complete = !hunks.is_empty() && !lines.any(is_header);
    (complete && hunks.is_sorted_by_key(|h| h.start)).then_some(hunks)
}

fn hunk<'a>(header: &str, lines: &mut Peekable<impl Iterator<Item = &'a str>>) -> Option<Hunk<'a>> {
    let (ranges, _) = header.strip_prefix("@@ ")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    let (_, old_lines) = range(old.strip_prefix('-')?)?;
    let (first, new_lines) = range(new.strip_prefix('+')?)?;
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let mut last = ' ';
    loop {
        let missing = old.len() < old_lines || new.len() < new_lines;
        let belongs = |l: &&str| l.starts_with('\\') || missing && !l.starts_with('@');
        let Some(line) = lines.next_if(belongs) else {
            break;
        };
        let mark = line.chars().next()?;
        match mark {
            ' ' | '\n' => {
                old.push(line.strip_prefix(' ').unwrap_or(line));
                new.push(line.strip_prefix(' ').unwrap_or(line));
            }
            '-' => old.push(&line[1..]),
            '+' => new.push(&line[1..]),
            // `\ No newline at end of file`
            '\\' => {
                for (side, other) in [(&mut old, '+'), (&mut new, '-')] {
                    if last != other {
                        let line = side.last_mut()?;
                        *line = line.strip_suffix('\n')?;
                    }
                }
            }
            _ => return None,
        }
        last = mark;
    }
    let start = first.saturating_sub(1);
    (old.len() == old_lines && new.len() == new_lines).then_some(Hunk { start, old, new })
}

/// First line and number of lines.
fn range(text: &str) -> Option<(usize, usize)> {
    let (first, lines) = text.split_once(',').unwrap_or((text, "1"));
    Some((first.parse().ok()?, lines.parse().ok()?))
}

/// The text with each hunk applied where its old lines are, closest to where they are expected.
fn patched(text: &str, hunks: &[Hunk<'_>]) -> Option<String> {
    let mut lines: Vec<(&str, bool)> = text.split_inclusive('\n').map(|l| (l, false)).collect();
    for hunk in hunks {
        let fits = |at: &usize| {
            let part = lines.get(*at..*at + hunk.old.len());
            part.is_some_and(|part| {
                part.iter()
                    .copied()
                    .eq(hunk.old.iter().map(|l| (*l, false)))
            })
        };
        let expected = hunk.start.min(lines.len());
        let at = (0..=lines.len())
            .flat_map(|distance| [expected.checked_sub(distance), Some(expected + distance)])
            .flatten()
            .find(fits)?;
        let new = hunk.new.iter().map(|l| (*l, true));
        lines.splice(at..at + hunk.old.len(), new);
    }
    Some(lines.into_iter().map(|(line, _)| line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_the_script_are_kept() {
        let diff = "--- a/s\n+++ b/s\n@@ -1,2 +1,3 @@\n a\n+x\n b\n";
        assert_eq!(apply("a\r\nb\r\n", diff).as_deref(), Ok("a\r\nx\r\nb\r\n"));
        assert_eq!(apply("a\nb\n", diff).as_deref(), Ok("a\nx\nb\n"));
        assert!(apply("c\nd\n", diff).is_err());
        assert!(apply("a\nb\n", "nothing of the kind").is_err());
    }

    #[test]
    fn hunks_are_applied_where_their_lines_are() {
        let text = "a\nb\nc\nd\ne";
        let last = "@@ -3,2 +3,2 @@ note\n d\n-e\n\\ No newline at end of file\n+f\n\\ No newline at end of file\n";
        for (diff, expected) in [
            ("@@ -2 +2 @@\n-b\n+x\n".to_owned(), Ok("a\nx\nc\nd\ne")),
            // five lines off, with text around
            (
                format!("Here:\n--- a\n+++ b\n{last}Done."),
                Ok("a\nb\nc\nd\nf"),
            ),
            (
                format!("@@ -1 +1,2 @@\n a\n+x\n{last}"),
                Ok("a\nx\nb\nc\nd\nf"),
            ),
            // not as long as the header says; out of order; a second hunk behind prose
            ("@@ -2,2 +2 @@\n-b\n+x\n".to_owned(), Err(NOT_A_DIFF)),
            (format!("{last}@@ -1 +1 @@\n-a\n+x\n"), Err(NOT_A_DIFF)),
            (format!("@@ -1 +1 @@\n-a\n+x\nand\n{last}"), Err(NOT_A_DIFF)),
            // the file's last line has no line feed
            ("@@ -5 +5 @@\n-e\n+f\n".to_owned(), Err(DOES_NOT_APPLY)),
        ] {
            assert_eq!(apply(text, &diff), expected.map(str::to_owned), "{diff}");
        }
    }
}
