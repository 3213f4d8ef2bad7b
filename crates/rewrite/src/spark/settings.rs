//! Sets Spark's settings in a program.

use job::code::Program;
use report::Setting;

use super::{Rewrite, lines_after};

/// Changes the settings that the program sets itself, and sets the others after the session was created. `None` if one
/// of them can only be set at the start of the application.
pub fn set(program: &Program, settings: &[&Setting]) -> Option<Rewrite> {
    let mut rewrite = Rewrite::default();
    let mut new = Vec::new();
    for setting in settings {
        let mut set = program.calls.iter().filter(|call| {
            let key = call.arguments.first().and_then(|a| program.string(a.node));
            matches!(call.name.as_str(), "config" | "set") && key == Some(setting.key.as_str())
        });
        match set.next_back() {
            Some(call) => {
                let value = program.syntax.span(call.arguments.get(1)?.node);
                rewrite.replace(call.statement, value, format!("\"{}\"", setting.suggested));
            }
            None if setting.is_of_session() => new.push(format!(
                "conf.set(\"{}\", \"{}\")",
                setting.key, setting.suggested
            )),
            None => return None,
        }
    }
    if !new.is_empty() {
        let mut sessions = program.statements.iter().enumerate().filter(|(_, s)| {
            let value = s.value.map_or("", |at| program.text_of(at));
            s.function.is_none() && value.contains(".getOrCreate(")
        });
        let (at, session) = sessions.next()?;
        let name = session.target.as_deref()?;
        let lines: Vec<String> = new.iter().map(|line| format!("{name}.{line}")).collect();
        lines_after(program, at, &lines, &mut rewrite)?;
    }
    (!rewrite.edits.is_empty()).then_some(rewrite)
}
