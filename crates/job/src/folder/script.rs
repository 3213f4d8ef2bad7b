//! Chooses the user's script among those of a folder.

use super::reader::JobReader;
use crate::problem::Problem;

/// Syntax errors named per script; the first few show what is wrong with the rest.
const MAX_SYNTAX_ERRORS: usize = 10;

impl JobReader {
    /// The script is the file that the stages were compiled from; else the one with the name of a
    /// user's script (a cluster folder also contains the compiler's `request.script`); else the
    /// largest.
    pub(super) fn choose_script(&mut self) {
        let defined = self
            .job
            .stages
            .iter()
            .flat_map(|s| &s.operators)
            .find_map(|o| o.file.as_deref());
        let base = |name: &str| {
            name.rsplit(['/', '\\'])
                .next()
                .unwrap_or(name)
                .to_ascii_lowercase()
        };
        let defined = defined.map(base);
        let rank = |name: &str, text: &str| {
            let own = base(name);
            let by_user = own.ends_with(".usql") || own == "scope.script";
            (
                Some(&own) == defined.as_ref(),
                by_user,
                own != "request.script",
                text.len(),
            )
        };
        let best = self
            .scripts
            .iter()
            .max_by_key(|(name, text)| rank(name, text));
        // a local run whose script was not kept has it in its algebra
        let Some((name, text)) = best.or(self.job.embedded_script.as_ref()).cloned() else {
            return;
        };
        if self
            .job
            .script
            .as_ref()
            .is_none_or(|script| script.file != name)
        {
            let script = crate::script::Script::parse(&name, text);
            for error in script.errors.iter().take(MAX_SYNTAX_ERRORS) {
                let place = Some(format!("line {}", error.line));
                let problem = Problem::Syntax(error.message.clone());
                self.job.note(&name, place, &problem);
            }
            self.job.script = Some(script);
        }
    }
}
