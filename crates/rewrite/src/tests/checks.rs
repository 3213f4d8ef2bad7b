//! Results of the checks, and the format of diffs.

use std::collections::BTreeSet;

use super::parse;
use crate::{Edit, Rewrite, verify};
use report::Verified;

const TEXT: &str = "A = SELECT K, X FROM (SSTREAM @a);\nB = SELECT K, SUM(X) AS S FROM A GROUP BY K;\n\
    OUTPUT B TO SSTREAM @o CLUSTERED BY K;\n";

/// Checks the text with one part replaced, the statements of `touched` being named.
fn check(from: &str, to: &str, touched: &[usize]) -> (bool, bool, bool) {
    let script = parse(TEXT);
    assert!(TEXT.contains(from));
    let touched: BTreeSet<usize> = touched.iter().copied().collect();
    let verified = verify(&script, &TEXT.replace(from, to), &touched, &|_| None);
    let Verified {
        parses,
        columns_preserved,
        hints_known,
        ..
    } = verified;
    (parses, columns_preserved, hints_known)
}

#[test]
fn a_harmless_change_passes() {
    assert_eq!(
        check("A = SELECT", "[ROWCOUNT=5]\nA = SELECT", &[0]),
        (true, true, true)
    );
    assert_eq!(
        check("SELECT K, X", "SELECT X, K", &[0]),
        (true, false, true),
        "another order"
    );
}

#[test]
fn new_syntax_errors_are_found() {
    assert!(!check("GROUP BY K", "GROUP K", &[1]).0);
    assert!(!check("(SSTREAM @a)", "(SSTREAM @a", &[0]).0);
}

#[test]
fn lost_renamed_and_retyped_columns_are_found() {
    assert!(!check("AS S", "AS T", &[1]).1, "another name");
    assert!(
        !check("SELECT K, SUM(X) AS S", "SELECT SUM(X) AS S", &[1]).1,
        "one less"
    );
    assert!(!check("SUM(X)", "COUNT(X)", &[1]).1, "another type");
    assert!(
        !check("SELECT K, X", "SELECT K, (int) X AS X", &[0]).1,
        "another type, further up"
    );
    assert!(!check("OUTPUT B", "OUTPUT A", &[2]).1, "another rowset");
    assert!(!check("@o", "@p", &[2]).1, "another path");
}

#[test]
fn statements_that_are_not_named_may_not_change() {
    assert!(!check("SELECT K, X", "SELECT K, X, Y", &[1]).1);
    assert!(!check("OUTPUT B TO SSTREAM @o CLUSTERED BY K;\n", "", &[0]).1);
    assert!(!check("CLUSTERED BY K", "CLUSTERED BY S", &[0]).1);
}

#[test]
fn hints_that_do_not_exist_are_found() {
    assert!(!check("A = SELECT", "[SKEWED=1]\nA = SELECT", &[0]).2);
    assert!(!check("A = SELECT", "[SKEWJOIN=(SIDE=LEFT)]\nA = SELECT", &[0]).2);
}

#[test]
fn unknown_hints_that_were_there_before_do_not_matter() {
    let text = format!("[OWNHINT=1]\n{TEXT}");
    let script = parse(&text);
    let new = text.replace("A = SELECT", "[ROWCOUNT=5]\nA = SELECT");
    assert!(verify(&script, &new, &BTreeSet::from([0]), &|_| None).hints_known);
}

#[test]
fn line_ends_and_byte_order_marks_survive() {
    let text = format!("\u{feff}{}", TEXT.replace('\n', "\r\n"));
    let script = parse(&text);
    let mut rewrite = Rewrite::default();
    rewrite.line_before(&script, 1, "[ROWCOUNT=5]");
    let new = rewrite.apply(&script.text).expect("the edit fits");
    assert!(
        new.starts_with('\u{feff}') && new.contains("[ROWCOUNT=5]\r\nB = "),
        "{new:?}"
    );
    assert_eq!(new.matches('\n').count(), new.matches("\r\n").count());
    let checked = rewrite.checked(&script, &|_| None).expect("it passes");
    assert!(
        checked
            .diff
            .starts_with("--- a/scope.script\n+++ b/scope.script\n@@ -1,3 +1,4 @@\n")
    );
    assert!(
        checked.diff.contains("\n+[ROWCOUNT=5]\r\n"),
        "{:?}",
        checked.diff
    );
}

#[test]
fn edits_that_overlap_or_change_nothing_make_no_diff() {
    let script = parse(TEXT);
    let edit = |start, end, text: &str| Edit {
        span: start..end,
        text: text.to_owned(),
    };
    let overlapping = Rewrite {
        edits: vec![edit(0, 5, "x"), edit(3, 8, "y")],
        ..Rewrite::default()
    };
    assert_eq!(overlapping.apply(&script.text), None);
    let idle = Rewrite {
        edits: vec![edit(0, 1, "A")],
        ..Rewrite::default()
    };
    assert_eq!(idle.checked(&script, &|_| None), None);
}
