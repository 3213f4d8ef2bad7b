//! Unified diff between two versions of a script.

use std::fmt::Write;
use std::ops::Range;

use imara_diff::{Algorithm, Hunk, InternedInput, Token};

/// Unchanged lines shown around a change.
const CONTEXT: u32 = 3;

/// A diff for readers and `patch`, with the number of changed lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptDiff {
    /// Unified diff; empty if the versions are the same.
    pub text: String,
    /// Lines that only the new version has.
    pub added: usize,
    /// Lines that only the old version has.
    pub removed: usize,
}

/// Compares two versions, each with a name for the header, in time linear in the number of lines.
pub fn diff((old_name, old): (&str, &str), (new_name, new): (&str, &str)) -> ScriptDiff {
    let lines = InternedInput::new(old, new);
    let mut diff = imara_diff::Diff::compute(Algorithm::Histogram, &lines);
    diff.postprocess_lines(&lines);
    let mut text = String::new();
    // The library's own writer of unified diffs (0.2.0) shows too many lines before a change close to the start.
    let hunks: Vec<Hunk> = diff.hunks().collect();
    let is_apart = |a: &Hunk, b: &Hunk| b.before.start - a.before.end > 2 * CONTEXT;
    for changes in hunks.chunk_by(|a, b| !is_apart(a, b)) {
        if text.is_empty() {
            text = format!("--- {old_name}\n+++ {new_name}\n");
        }
        write_hunk(&mut text, changes, &lines);
    }
    ScriptDiff {
        text,
        added: diff.count_additions() as usize,
        removed: diff.count_removals() as usize,
    }
}

/// Writes changes that share their context.
fn write_hunk(text: &mut String, changes: &[Hunk], lines: &InternedInput<&str>) {
    let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
        return;
    };
    let lead = first.before.start.min(CONTEXT);
    let trail = (lines.before.len() as u32 - last.before.end).min(CONTEXT);
    let old = range(first.before.start - lead..last.before.end + trail);
    let new = range(first.after.start - lead..last.after.end + trail);
    let _ = writeln!(text, "@@ -{old} +{new} @@");
    let mut write = |mark, tokens: &[Token]| {
        for &token in tokens {
            let line = lines.interner[token];
            let _ = write!(text, "{mark}{line}");
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    let of = |range: Range<u32>| range.start as usize..range.end as usize;
    let mut at = first.before.start - lead;
    for change in changes {
        write(' ', &lines.before[of(at..change.before.start)]);
        write('-', &lines.before[of(change.before.clone())]);
        write('+', &lines.after[of(change.after.clone())]);
        at = change.before.end;
    }
    write(' ', &lines.before[of(at..at + trail)]);
}

/// First line, from 1, and number of lines, if not 1; an empty range names the line before it.
fn range(lines: Range<u32>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_written_as_diff_u_writes_them() {
        for (old, new, expected, changed) in [
            ("a\nb\n", "a\nb\n", "", (0, 0)),
            ("", "a\n", "@@ -0,0 +1 @@\n+a\n", (1, 0)),
            (
                "a\nb",
                "a\nc",
                "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
                (1, 1),
            ),
            (
                "1\n2\n3\n4\n5\n6\n7\n8\n9",
                "1\n2\n3\n4\nx\n5\n6\n7\n8\n9",
                "@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+x\n 5\n 6\n 7\n",
                (1, 0),
            ),
            (
                "a\n1\n2\n3\n4\n5\n6\n7\nb\n",
                "1\n2\n3\n4\n5\n6\n7\nc\n",
                "@@ -1,4 +1,3 @@\n-a\n 1\n 2\n 3\n@@ -6,4 +5,4 @@\n 5\n 6\n 7\n-b\n+c\n",
                (1, 2),
            ),
        ] {
            let found = diff(("a/s", old), ("b/s", new));
            let header = match expected {
                "" => "",
                _ => "--- a/s\n+++ b/s\n",
            };
            assert_eq!(found.text, format!("{header}{expected}"));
            assert_eq!((found.added, found.removed), changed, "{expected}");
        }
    }
}
