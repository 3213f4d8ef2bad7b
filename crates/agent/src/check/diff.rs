//! Diffs that a model writes: they must apply, parse, keep the columns, and use known hints.

use job::Job;

use crate::report::Verified;

/// A diff that holds.
#[derive(Debug)]
pub(super) struct Checked {
    /// The diff as it applies to the script's bytes.
    pub(super) diff: String,
    /// What was verified.
    pub(super) verified: Verified,
}

/// Checks a unified diff against the script of a job.
///
/// # Errors
/// What is wrong with it, in a lower-case fragment.
pub(super) fn check(job: &Job, diff: &str) -> Result<Checked, String> {
    let script = job.script.as_ref().ok_or("there is no script to change")?;
    let changed = apply(&script.text, diff)?;
    if changed == script.text {
        return Err("the diff changes nothing".to_owned());
    }
    let found = diagnosis::verify_script(job, &changed);
    let faults = [
        (found.parses, "the changed script does not parse"),
        (
            found.columns_preserved,
            "the changed script does not keep the columns of its outputs",
        ),
        (
            found.hints_known,
            "the changed script has a hint that is not known",
        ),
    ];
    if let Some((_, fault)) = faults.iter().find(|(fine, _)| !fine) {
        return Err((*fault).to_owned());
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
fn apply(text: &str, diff: &str) -> Result<String, String> {
    let has_crlf = text.contains("\r\n");
    let plain = |text: &str| {
        if has_crlf {
            text.replace("\r\n", "\n")
        } else {
            text.to_owned()
        }
    };
    let diff = plain(diff);
    let patch = diffy::Patch::from_str(&diff).map_err(|_| "the diff is not a unified diff")?;
    if patch.hunks().is_empty() {
        return Err("the diff is not a unified diff".to_owned());
    }
    let changed =
        diffy::apply(&plain(text), &patch).map_err(|_| "the diff does not apply to the script")?;
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
