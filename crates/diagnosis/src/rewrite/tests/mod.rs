//! What each rewrite makes of a script, what it refuses, and what the checks find out.

mod checks;
mod rewrites;

use job::script::Script;

use super::Rewrite;

fn parse(text: &str) -> Script {
    let script = Script::parse("scope.script", text.to_owned());
    assert_eq!(script.errors, [], "in {text}");
    script
}

/// The new text, which must pass every check.
fn applied(script: &Script, rewrite: Option<Rewrite>) -> String {
    let rewrite = rewrite.expect("it can be rewritten");
    let text = rewrite.apply(script).expect("the edits fit together");
    let checked = rewrite.checked(script, &|_| None);
    assert!(checked.is_some(), "a check fails on:\n{text}");
    text
}
