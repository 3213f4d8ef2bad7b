//! Chooses the user's script among the scripts of a folder.

use super::reader::JobReader;
use crate::link::ScriptFit;
use crate::problem::Problem;
use crate::script::Script;
use crate::text::base_name;

/// Syntax errors named per script; further ones usually follow from the first few.
const MAX_SYNTAX_ERRORS: usize = 10;
/// Scripts of a folder that are compared with the plan.
const MAX_SCRIPTS: usize = 8;

impl JobReader {
    /// Chooses the file that the stages were compiled from; else the one with the name of a
    /// user's script (a cluster folder also contains the compiler's `request.script`); else the
    /// largest. A script that does not fit the plan did not run: the next fitting one is taken, or none.
    pub(super) fn choose_script(&mut self) {
        let mut operators = self.job.stages.iter().flat_map(|s| &s.operators);
        let defined = operators.find_map(|o| o.file.as_deref()).map(base_name);
        let rank = |(name, text): &(String, String)| {
            let own = base_name(name);
            let compiled = Some(&own) == defined.as_ref();
            let by_user = own.ends_with(".usql") || own == "scope.script";
            (compiled, by_user, own != "request.script", text.len())
        };
        let mut scripts: Vec<&(String, String)> = self.scripts.iter().collect();
        scripts.sort_by_key(|script| std::cmp::Reverse(rank(script)));
        // a local run without its script has a copy of it in the algebra
        scripts.extend(&self.job.embedded_script);
        let mut other = None;
        let mut chosen = None;
        let mut known = self.job.script.take();
        for (name, text) in scripts.into_iter().take(MAX_SCRIPTS) {
            let is_known = known.as_ref().is_some_and(|known| known.file == *name);
            let parsed = known.take_if(|_| is_known);
            let script = parsed.unwrap_or_else(|| Script::parse(name, text.clone()));
            let mut take = |script, shifts| chosen = Some((script, shifts, is_known));
            match self.job.fit_of(&script) {
                ScriptFit::Same => take(script, Vec::new()),
                ScriptFit::Shifted(shifts) => take(script, shifts),
                ScriptFit::Other { found, of } => {
                    other.get_or_insert((name.clone(), found, of));
                    continue;
                }
            }
            break;
        }
        match (chosen, other) {
            (Some((script, shifts, is_known)), _) => self.take_script(script, shifts, is_known),
            (None, Some((name, found, of))) => {
                let known = std::mem::replace(&mut self.job.script_of_another_run, true);
                self.job.line_shifts = Vec::new();
                if !known {
                    self.job.note(&name, None, &Problem::OtherScript(found, of));
                }
            }
            (None, None) => {}
        }
    }

    fn take_script(&mut self, script: Script, shifts: Vec<(u32, i64)>, is_known: bool) {
        self.job.script_of_another_run = false;
        let errors = script.errors.iter().filter(|_| !is_known);
        for error in errors.take(MAX_SYNTAX_ERRORS) {
            let place = Some(format!("line {}", error.line));
            let problem = Problem::Syntax(error.message.clone());
            self.job.note(&script.file, place, &problem);
        }
        let moved = shifts.iter().find(|(_, by)| *by != 0);
        if let Some((_, by)) = moved.filter(|_| self.job.line_shifts.is_empty()) {
            self.job
                .note(&script.file, None, &Problem::ShiftedScript(*by));
        }
        self.job.line_shifts = shifts;
        self.job.script = Some(script);
    }
}
