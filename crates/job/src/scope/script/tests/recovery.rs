//! An error costs one statement, never the next.

use crate::script::{Script, StatementKind};

/// Kinds of the statements and lines of the errors.
fn check(text: &str, kinds: &[StatementKind], lines: &[u32]) {
    let script = Script::parse("scope.script", text.to_owned());
    let found = super::kinds(&script);
    assert_eq!(found, kinds, "in {text}: {:?}", script.errors);
    let at: Vec<_> = script.errors.iter().map(|error| error.line).collect();
    assert_eq!(at, lines, "in {text}: {:?}", script.errors);
    assert_eq!(script.tree().print(&script.text), text);
}

use StatementKind::{Output, SStream, Select};

#[test]
fn a_bracket_that_is_never_closed_ends_with_its_statement() {
    check(
        "a = SELECT f(x FROM t;\nb = SELECT y FROM a;\nOUTPUT b TO @o;",
        &[Select, Select, Output],
        &[1],
    );
}

#[test]
fn a_missing_semicolon_is_noticed_where_the_next_statement_begins() {
    check(
        "a = SSTREAM @p\nb = SELECT y FROM a\nOUTPUT b TO @o;",
        &[SStream, Select, Output],
        &[1, 2],
    );
}

#[test]
fn what_is_superfluous_or_missing_is_an_error() {
    for text in [
        "a = SELECT x,, y FROM t;",
        "a = SELECT x y z FROM t;",
        "a = SELECT FROM t;",
        "a = SELECT x FROM;",
        "a = SELECT x FROM t WHERE;",
        "a = SELECT x FROM t WHERE y ==;",
        "a = SELECT x FROM t GROUP x;",
        "a = SELECT x FROM t)) WHERE y;",
        "a = SELECT x FROM t INNER B ON x == y;",
        "a = SELECT x AS FROM t;",
        "a = REDUCE t ON USING R();",
        "a = SELECT (x + ) FROM t;",
        "a = SELECT x FROM t OPTION;",
        "OUTPUT a TO;",
        "OUTPUT a TO @o CLUSTERED x;",
    ] {
        let text = format!("{text}\nb = SELECT y FROM a;");
        let script = Script::parse("scope.script", text.clone());
        let errors = &script.errors;
        assert!(!errors.is_empty(), "no error in {text}");
        assert!(errors.iter().all(|error| error.line == 1), "{errors:?}");
        assert_eq!(script.statements.len(), 2, "in {text}");
    }
}

#[test]
fn unclosed_literals_and_blocks_are_errors() {
    let errors = |text: &str| Script::parse("s", text.to_owned()).errors.len();
    assert!(errors("a = SELECT \"x FROM t;\nb = SSTREAM @p;") > 0);
    assert!(errors("#CS\nclass A {}\n") > 0);
}

#[test]
fn deep_nesting_neither_overflows_the_stack_nor_takes_long() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("SELECT a FROM (", ")"),
        ("f(", ")"),
        ("COUNT(", ")"),
        ("a ? b : (", ")"),
        ("CASE WHEN ", " END"),
    ] {
        let (open, close) = (open.repeat(50_000), close.repeat(50_000));
        let text = format!("x = SELECT {open}a{close};");
        let script = Script::parse("s", text.clone());
        assert_eq!(script.tree().print(&script.text), text);
        let open_only = format!("x = SELECT {open}");
        assert!(!Script::parse("s", open_only).errors.is_empty());
    }
}
