//! What each rewrite makes of a script, what it refuses, and what the checks find out.

mod checks;
mod rewrites;

use job::script::Script;
use simulator::exec::World;

use super::Rewrite;

/// Tables on which scripts are run before and after.
const TABLES: &str = r#"{ "tables": [
    { "name": "l", "path": "l", "rows": 1000, "columns": [
        { "name": "K", "type": "long?", "distinct": 40, "nulls": 90, "top_values": [{ "value": "7", "count": 400 }] },
        { "name": "A", "type": "long", "distinct": 40 }, { "name": "U", "type": "long?", "distinct": 40 }] },
    { "name": "r", "path": "r", "rows": 1000, "columns": [
        { "name": "K", "type": "long?", "distinct": 40 }, { "name": "B", "type": "long", "distinct": 40 }] },
    { "name": "t", "path": "t", "rows": 1000, "columns": [
        { "name": "K", "type": "long", "distinct": 5 }, { "name": "U", "type": "long", "distinct": 40 },
        { "name": "X", "type": "long", "distinct": 40 }, { "name": "Time", "type": "DateTime", "distinct": 900 }] }] }"#;

fn parse(text: &str) -> Script {
    let script = Script::parse("scope.script", text.to_owned());
    assert_eq!(script.errors, [], "in {text}");
    script
}

/// The new text, which must pass every check and, where its tables are known, give the same rows.
fn applied(script: &Script, rewrite: Option<Rewrite>) -> String {
    let Some(rewrite) = rewrite else {
        panic!("not rewritten:\n{}", script.text)
    };
    let text = rewrite.apply(script).expect("the edits fit together");
    let checked = rewrite.checked(script, &|_| None);
    assert!(checked.is_some(), "a check fails on:\n{text}");
    if script.text.contains("@t)") || script.text.contains("@l)") {
        for seed in 1..4 {
            let world = World::new(TABLES, "", seed).expect("the tables are read");
            let difference = world.compare(script, &parse(&text)).expect("both run");
            assert_eq!(difference, None, "{text}");
        }
    }
    text
}
