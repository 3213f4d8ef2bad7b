//! Chooses the user's script among those of a folder.

use super::reader::JobReader;
use crate::problem::Problem;
use crate::text::base_name;

/// Syntax errors named per script; the first few show what is wrong with the rest.
const MAX_SYNTAX_ERRORS: usize = 10;

impl JobReader {
    /// The script is the file that the stages were compiled from; else the one with the name of a
    /// user's script (a cluster folder also contains the compiler's `request.script`); else the
    /// largest.
    pub(super) fn choose_script(&mut self) {
        let mut operators = self.job.stages.iter().flat_map(|s| &s.operators);
        let defined = operators.find_map(|o| o.file.as_deref()).map(base_name);
        let rank = |(name, text): &&(String, String)| {
            let own = base_name(name);
            let compiled = Some(&own) == defined.as_ref();
            let by_user = own.ends_with(".usql") || own == "scope.script";
            (compiled, by_user, own != "request.script", text.len())
        };
        let best = self.scripts.iter().max_by_key(rank);
        // a local run whose script was not kept has it in its algebra
        let Some((name, text)) = best.or(self.job.embedded_script.as_ref()).cloned() else {
            return;
        };
        let known = self.job.script.as_ref();
        if known.is_none_or(|script| script.file != name) {
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
