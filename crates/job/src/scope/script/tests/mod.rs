//! The meaning of scripts, construct by construct, and properties of any text.

mod flow;
mod properties;
mod recovery;
mod statements;

use super::{Script, Statement, StatementKind};

fn parse(text: &str) -> Script {
    let script = Script::parse("scope.script", text.to_owned());
    assert_eq!(script.errors, [], "in {text}");
    assert_eq!(script.tree().print(&script.text), text);
    script
}

fn one(text: &str) -> (Script, Statement) {
    let script = parse(text);
    let [statement] = script.statements.as_slice() else {
        panic!("in {text}: {:?}", script.statements);
    };
    let statement = statement.clone();
    (script, statement)
}

fn kinds(script: &Script) -> Vec<StatementKind> {
    script.statements.iter().map(|s| s.kind).collect()
}
