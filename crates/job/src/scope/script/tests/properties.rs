//! Properties of any text.

use proptest::prelude::*;

use crate::script::Script;

/// Pieces that exercise the parser: words, brackets, directives, truncated literals.
const PIECES: &str = "SELECT |FROM |WHERE |a|b.c| = |,|;|(|)|[|]|{|}|\n|\r\n| |#IF (x)\n|#ELSE\n|\
    #ENDIF\n|#CS\n|#ENDCS|\"|'|@|@@x@@|/*|*/|//|\\|JOIN |ON |GROUP BY |REDUCE |OUTPUT |TO |\
    EXTRACT |SSTREAM |COMBINE |WITH |USING |PRODUCE |UNION ALL |BEGIN |END |IF |THEN |LOOP |\
    DECLARE |CREATE |INSERT |VALUES |AS |<|>|=>|? |: |AND |COUNT(|OPTION(|1.5e|中文|\u{feff}|\
    OVER |from x in |CASE |WHEN |PARAMS |ORDER BY |\0";

fn script_like() -> impl Strategy<Value = String> {
    pieces(|_| true)
}

/// Script-like text without pieces that can hide the text after them, such as an open comment.
fn visible_script_like() -> impl Strategy<Value = String> {
    pieces(|piece| !piece.contains(['#', '"', '\'', '/', '@']))
}

fn pieces(keep: impl Fn(&str) -> bool) -> impl Strategy<Value = String> {
    let pieces: Vec<&str> = PIECES.split('|').filter(|piece| keep(piece)).collect();
    let piece = prop::sample::select(pieces);
    prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let script = Script::parse("x", text.to_owned());
    prop_assert_eq!(script.tree().print(&script.text), text);
    let inside =
        |span: &std::ops::Range<usize>| span.start <= span.end && text.get(span.clone()).is_some();
    for statement in &script.statements {
        prop_assert!(inside(&statement.span), "{:?}", statement.span);
        prop_assert!(statement.lines.0 <= statement.lines.1);
        let query = &statement.query;
        prop_assert!(query.columns.iter().all(|column| inside(&column.span)));
        let mut uses = query.columns.iter().flat_map(|c| &c.expression.uses);
        prop_assert!(uses.all(|column| inside(&column.span)));
        let mut definitions = query.inputs.iter().filter_map(|input| input.definition);
        prop_assert!(definitions.all(|definition| definition < statement.index));
    }
    let mut pairs = script.statements.windows(2);
    prop_assert!(pairs.all(|pair| pair[0].span.end <= pair[1].span.start));
    prop_assert!(script.errors.iter().all(|error| inside(&error.span)));
    let flow = script.flow();
    for rowset in &flow.rowsets {
        let mut others = rowset.inputs.iter().chain(&rowset.readers);
        prop_assert!(others.all(|&index| index < flow.rowsets.len()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_printed_back(text in "\\PC{0,200}") {
        check(&text)?;
    }

    #[test]
    fn anything_like_a_script_is_printed_back(text in script_like()) {
        check(&text)?;
    }

    #[test]
    fn a_broken_statement_never_hurts_the_next(broken in visible_script_like()) {
        let text = format!("{broken};\nlast = SELECT x FROM t;\n");
        let script = Script::parse("x", text);
        let last = script.statements.iter().find(|s| s.target.as_deref() == Some("last"));
        prop_assert!(last.is_some_and(|s| s.query.inputs[0].name == "t"), "{:?}", script.statements);
    }
}
