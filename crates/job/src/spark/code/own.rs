//! Whether a program is the one that an application ran.

use std::collections::{BTreeSet, HashSet};

use super::link::words;
use super::{Call, Program};
use crate::model::{Job, Operator, OperatorKind};
use crate::problem::Problem;

/// Shares of the names in the log that a program must have: one that does not set the name of the application, and one that
/// sets another name. Programs that ran have all names but those that they compute.
const LEAST: f64 = 0.5;
const LEAST_OF_OTHER: f64 = 0.75;

impl Job {
    /// Drops all programs, with a diagnostic, if the first one lacks the names in the log: another program ran. Returns whether it did.
    pub(super) fn drops_other_program(&mut self) -> bool {
        let Some(program) = self.program() else {
            return false;
        };
        let named = self.is_named_in(program);
        let [found, of] = self.names_in(program);
        let is_own = match named {
            Some(true) => true,
            Some(false) => of > 0 && found as f64 >= LEAST_OF_OTHER * of as f64,
            None => found as f64 >= LEAST * of as f64,
        };
        if is_own {
            return false;
        }
        let file = program.file.clone();
        let of = of + usize::from(named.is_some());
        self.note(&file, None, &Problem::OtherProgram(found, of));
        if let Some(app) = &mut self.spark {
            app.scripts.clear();
        }
        true
    }

    /// Names that the log has from its program: those in a program, and all. Its call sites are in none of the program's calls.
    fn names_in(&self, program: &Program) -> [usize; 2] {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let known: HashSet<&str> = program.text.split(|c: char| !is_name(c)).collect();
        let operators = self.stages.iter().flat_map(|s| &s.operators);
        let mut names: BTreeSet<String> = operators.flat_map(written).collect();
        // names that Spark makes up begin with an underscore
        names.retain(|name| !name.starts_with('_'));
        let found = names.iter().filter(|name| known.contains(name.as_str()));
        let sites = self.stages.iter().filter_map(|s| s.call_site.as_deref());
        let missing: BTreeSet<&str> = sites.filter(|site| program.site(site).is_some()).collect();
        [found.count(), names.len() + missing.len()]
    }

    /// Whether the program names the application as the log does; `None` if it gives no name.
    fn is_named_in(&self, program: &Program) -> Option<bool> {
        let setting = |call: &&Call| {
            matches!(
                call.name.as_str(),
                "appName" | "setAppName" | "SparkContext"
            )
        };
        let calls = program.calls.iter().filter(setting);
        let mut names = calls.filter_map(|call| {
            let argument = match call.name.as_str() {
                "SparkContext" => program.argument(call, 1, "appName"),
                _ => program.argument(call, 0, "name"),
            };
            program.string(program.bound(argument?, call.statement))
        });
        let first = names.next()?;
        let own = self.info.name.as_deref()?;
        Some(first == own || names.any(|name| name == own))
    }
}

/// The names that a program wrote for an operator: keys, and the columns of conditions. Operations on whole rows, such as
/// `distinct` and `intersect`, have all columns of a file as keys.
fn written(operator: &Operator) -> Vec<String> {
    use OperatorKind as K;
    let has_functions = !operator.args.contains("functions=[]");
    let is_keyed = match operator.kind {
        K::Aggregate => has_functions,
        K::Join | K::Window | K::Sort => true,
        _ => false,
    };
    let keys = operator.keys.iter().chain(&operator.right_keys);
    let of_rows = |key: &&String| key.starts_with("isnull(") || key.starts_with("coalesce(");
    let keys = keys.filter(|key| is_keyed && !of_rows(key));
    keys.flat_map(|key| words(key)).collect()
}
