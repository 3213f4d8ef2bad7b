//! Changes of the script.

use job::script::diff;

use super::ScriptChange;
use crate::RunSummary;

/// Compares the texts; line endings don't count.
pub(super) fn change(a: &RunSummary, b: &RunSummary) -> ScriptChange {
    let (Some(old), Some(new)) = (&a.script, &b.script) else {
        return ScriptChange::Unknown;
    };
    let (x, y) = (unix(&old.text), unix(&new.text));
    if x == y {
        return ScriptChange::Same;
    }
    let (from, to) = (format!("A/{}", old.file), format!("B/{}", new.file));
    let diff = diff((&from, &x), (&to, &y));
    ScriptChange::Changed {
        added: diff.added,
        removed: diff.removed,
        diff: diff.text,
    }
}

fn unix(text: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
