//! What changed in the script.

use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiff};

use super::ScriptChange;
use crate::RunSummary;

/// After this the diff is coarser: two scripts of ten thousand lines that share nothing would take longer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Unchanged lines shown around a change.
const AROUND: usize = 3;

/// Compares the texts; line endings don't count.
pub(super) fn change(a: &RunSummary, b: &RunSummary) -> ScriptChange {
    let (Some(old), Some(new)) = (&a.script, &b.script) else {
        return ScriptChange::Unknown;
    };
    let (x, y) = (unix(&old.text), unix(&new.text));
    if x == y {
        return ScriptChange::Same;
    }
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .timeout(PATIENCE)
        .diff_lines(&x, &y);
    let count = |tag| diff.iter_all_changes().filter(|c| c.tag() == tag).count();
    ScriptChange::Changed {
        added: count(ChangeTag::Insert),
        removed: count(ChangeTag::Delete),
        diff: diff
            .unified_diff()
            .context_radius(AROUND)
            .header(&format!("A/{}", old.file), &format!("B/{}", new.file))
            .to_string(),
    }
}

fn unix(text: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
