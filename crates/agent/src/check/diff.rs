//! Diffs that a model writes: they must apply, parse, keep the columns, and use known hints.

use job::Job;

use report::Verified;

#[derive(Debug)]
pub(super) struct Checked {
    /// The diff as it applies to the script's bytes.
    pub(super) diff: String,
    pub(super) verified: Verified,
}

/// What is wrong with a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    NoScript,
    NotADiff,
    DoesNotApply,
    ChangesNothing,
    DoesNotParse,
    LosesColumns,
    UnknownHint,
}

impl Fault {
    pub(super) fn en(self) -> &'static str {
        match self {
            Fault::NoScript => "there is no script to change",
            Fault::NotADiff => "the diff is not a unified diff",
            Fault::DoesNotApply => "the diff does not apply to the script",
            Fault::ChangesNothing => "the diff changes nothing",
            Fault::DoesNotParse => "the script changed by the diff does not parse",
            Fault::LosesColumns => {
                "the script changed by the diff does not keep the columns of its outputs"
            }
            Fault::UnknownHint => "the script changed by the diff has a hint that is not known",
        }
    }

    pub(super) fn zh(self) -> &'static str {
        match self {
            Fault::NoScript => "没有可改的脚本",
            Fault::NotADiff => "不是 unified diff",
            Fault::DoesNotApply => "diff 无法应用到脚本",
            Fault::ChangesNothing => "diff 没有改动任何内容",
            Fault::DoesNotParse => "diff 改后的脚本无法解析",
            Fault::LosesColumns => "diff 改后的脚本没有保持输出列",
            Fault::UnknownHint => "diff 改后的脚本含有未知的提示",
        }
    }
}

/// Checks a unified diff against the script of a job.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check(job: &Job, diff: &str) -> Result<Checked, Fault> {
    let script = job.script.as_ref().ok_or(Fault::NoScript)?;
    let changed = apply(&script.text, diff)?;
    if changed == script.text {
        return Err(Fault::ChangesNothing);
    }
    let found = diagnosis::verify_script(job, &changed);
    let faults = [
        (found.parses, Fault::DoesNotParse),
        (found.columns_preserved, Fault::LosesColumns),
        (found.hints_known, Fault::UnknownHint),
    ];
    if let Some((_, fault)) = faults.iter().find(|(fine, _)| !fine) {
        return Err(*fault);
    }
    let diff = diffy::DiffOptions::new()
        .set_original_filename(format!("a/{}", script.file))
        .set_modified_filename(format!("b/{}", script.file))
        .create_patch(&script.text, &changed)
        .to_string();
    Ok(Checked {
        diff,
        verified: Verified {
            parses: true,
            columns_preserved: true,
            hints_known: true,
        },
    })
}

/// The script with the diff applied. Models write line feeds alone, whatever the script has.
fn apply(text: &str, diff: &str) -> Result<String, Fault> {
    let has_crlf = text.contains("\r\n");
    let plain = |text: &str| {
        if has_crlf {
            text.replace("\r\n", "\n")
        } else {
            text.to_owned()
        }
    };
    let diff = plain(diff);
    let patch = diffy::Patch::from_str(&diff).map_err(|_| Fault::NotADiff)?;
    if patch.hunks().is_empty() {
        return Err(Fault::NotADiff);
    }
    let changed = diffy::apply(&plain(text), &patch).map_err(|_| Fault::DoesNotApply)?;
    Ok(if has_crlf {
        changed.replace('\n', "\r\n")
    } else {
        changed
    })
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
}
