use proptest::prelude::*;

use super::markdown::MAX_TOKENS;
use super::*;

fn source(path: &str, text: &str) -> Source {
    Source::new(path, text.to_owned())
}

fn anchors(text: &str) -> Vec<String> {
    let source = source("experience/a.md", text);
    let document = Document::parse(&source);
    let pieces = pieces(&document).into_iter();
    pieces.map(|piece| piece.anchor).collect()
}

#[test]
fn every_section_is_a_chunk_and_small_subsections_share_one() {
    let text = "# T\n\nlead\n\n## Fix\n\n### Salting\n\na\n\n### Broadcast\n\nb\n\n### Hint {#hint}\n\nc\n\n## 取舍\n\nd\n";
    assert_eq!(anchors(text), ["top", "fix/salting", "hint", "取舍"]);
}

#[test]
fn ids_are_stable_under_edits_elsewhere() {
    let text = "# T\n\n## Cause\n\na\n\n## Fix\n\nb\n";
    let edited = "# T\n\n## Symptom\n\nnew\n\n## Cause\n\na, and more\n\n## Fix\n\nb\n";
    assert_eq!(anchors(text), ["cause", "fix"]);
    assert_eq!(anchors(edited), ["symptom", "cause", "fix"]);
    let twice = anchors("# T\n\n## Fix\n\na\n\n## Fix\n\nb\n");
    assert_eq!(twice, ["fix", "fix-2"]);
}

#[test]
fn a_case_that_fits_is_one_chunk() {
    let text = "# Case\n\n## Diagnosis\n\na\n\n## Result\n\nb\n";
    let chunks = chunks(&source("cases/a.md", text));
    let [only] = chunks.as_slice() else {
        panic!("{chunks:?}");
    };
    assert_eq!((&*only.id, &*only.title), ("cases/a.md#top", "Case"));
    assert_eq!(only.section, None);
}

#[test]
fn a_long_table_repeats_its_header_and_a_long_block_its_fence() {
    let rows = (0..200).map(|i| format!("| stage{i} | {i} rows |\n"));
    let rows: String = rows.collect();
    let table = format!("# T\n\n## Check\n\n| stage | rows |\n|---|---|\n{rows}");
    let pieces = chunks(&source("experience/a.md", &table));
    assert!(pieces.len() > 2);
    let header = "| stage | rows |\n|---|---|\n| stage";
    assert!(pieces[1..].iter().all(|c| c.text.starts_with(header)));
    assert_eq!(pieces[1].id, "experience/a.md#check~2");

    let lines = (0..200).map(|i| format!("SELECT a{i} FROM t{i};\n"));
    let lines: String = lines.collect();
    let code = format!("# T\n\n## Example\n\n```scope\n{lines}```\n");
    for chunk in chunks(&source("experience/a.md", &code)) {
        assert_eq!(chunk.text.matches("```").count(), 2, "{}", chunk.text);
        let inside = chunk.text.lines().filter(|line| line.starts_with("SELECT"));
        assert!(inside.clone().count() > 0 && inside.clone().all(|line| line.ends_with(';')));
    }
}

/// Markdown of all relevant kinds, and anything else.
fn markdown() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        "(#{1,4} [a-zA-Z倾斜键 ]{1,12}\n\n)",
        "([a-z数据倾斜 ,.。]{0,300}\n\n)",
        "(- [a-z ]{1,40}\n){1,30}",
        "(\\| [a-z]{1,5} \\| [0-9]{1,3} \\|\n)",
        "```[a-z]{0,5}\n([a-z ;]{0,60}\n){0,120}```\n\n",
        "\\| a \\| b \\|\n\\|---\\|---\\|\n(\\| [a-z]{1,30} \\| [0-9]{1,9} \\|\n){1,90}\n",
        "[a-z数]{1200,4000}\n\n",
        any::<String>(),
    ];
    prop::collection::vec(block, 0..12).prop_map(|blocks| blocks.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: prop::test_runner::RngSeed::Fixed(20_261_121),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn pieces_cover_the_text_slice_back_and_are_bounded(text in markdown(), case in any::<bool>()) {
        let path = if case { "cases/a.md" } else { "experience/a.md" };
        let source = Source::new(path, text);
        let document = Document::parse(&source);
        let pieces = pieces(&document);
        let mut end = document.body_start;
        for piece in &pieces {
            prop_assert!(source.text[end..piece.range.start].trim().is_empty(), "a gap");
            prop_assert!(piece.range.start >= end, "an overlap");
            end = piece.range.end;
            let text = piece.text(&source.text);
            let inner = text.strip_prefix(piece.frame.prefix.as_str()).and_then(|t| t.strip_suffix(piece.frame.suffix.as_str()));
            prop_assert!(inner.is_some_and(|inner| source.text[piece.range.clone()].contains(inner)));
            // Half as much again for headings at the start and repeated frames.
            let size = tokens::count(&text);
            prop_assert!(size <= MAX_TOKENS * 3 / 2, "{} tokens", size);
        }
        prop_assert!(source.text[end..].trim().is_empty(), "the end is missing");
        let ids: std::collections::HashSet<&String> = pieces.iter().map(|p| &p.anchor).collect();
        prop_assert_eq!(ids.len(), pieces.len(), "ids are unique");
    }

    #[test]
    fn any_text_is_analysed(text in any::<String>()) {
        for term in crate::analyze::terms(&text) {
            prop_assert!(!term.is_empty() && !term.contains(char::is_whitespace));
        }
    }
}
