//! Tests over the table of this build.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::file::TokenTable;
use super::{StaticTable, TABLE, compound_parts, wordpiece};
use crate::embed::Embedder;

fn embed(text: &str) -> Vec<f32> {
    StaticTable::embedded().vector(text)
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn similarity(a: &str, b: &str) -> f32 {
    dot(&embed(a), &embed(b))
}

#[track_caller]
fn closer(text: &str, near: &str, far: &str) {
    let (near_by, far_by) = (similarity(text, near), similarity(text, far));
    assert!(
        near_by > far_by + 0.05,
        "`{text}`: {near_by:.3} to `{near}`, {far_by:.3} to `{far}`"
    );
}

#[test]
fn table_is_whole_and_its_digest_is_true() {
    let table = TokenTable::parse(TABLE).expect("the table is readable");
    assert_eq!(table.digest(), &blake3::hash(&TABLE[40..]).as_bytes()[..16]);
    for token in 0..table.len() as u32 {
        let text = table.bytes(token);
        let (word, continuation) = match text.strip_prefix(b"##") {
            Some(rest) if !rest.is_empty() => (rest, true),
            _ => (text, false),
        };
        let found = table.longest_prefix(word, continuation);
        assert_eq!(found, Some((token, word.len())));
    }
}

#[test]
fn damaged_tables_are_refused() {
    let is_refused = |bytes: &[u8]| TokenTable::parse(bytes).is_none();
    assert!(is_refused(b"") && is_refused(&[b'x'; 60]));
    assert!(is_refused(&TABLE[..TABLE.len() - 1]));
    for (at, value) in [(8, 9), (16, 3)] {
        let mut other = TABLE.to_vec();
        other[at] = value;
        assert!(is_refused(&other), "byte {at}");
    }
}

#[test]
fn tokens_are_those_of_the_reference_library() {
    let cases = include_str!("../../../data/wordpiece-cases.json");
    let cases: Vec<(String, Vec<String>)> = serde_json::from_str(cases).expect("readable");
    let table = TokenTable::parse(TABLE).expect("readable");
    for (text, expected) in cases {
        let mut found = Vec::new();
        wordpiece::words(&text, |word| {
            let before = found.len();
            wordpiece::pieces(&table, word.normal, |token| {
                found.push(String::from_utf8_lossy(table.bytes(token)).into_owned());
            });
            if found.len() == before {
                found.push("[UNK]".to_owned());
            }
        });
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn words_point_back_into_the_text() {
    let mut raw = Vec::new();
    let text = "Café,  maxRow数据 x";
    wordpiece::words(text, |word| raw.push(word.raw.to_owned()));
    assert_eq!(raw, ["Café", ",", "maxRow", "数", "据", "x"]);
}

#[test]
fn compound_identifiers_are_cut_at_capitals() {
    let parts = |raw| compound_parts(raw).map(|parts| parts.collect::<Vec<_>>());
    assert_eq!(parts("maxRowCount"), Some(vec!["max", "Row", "Count"]));
    assert_eq!(parts("JobId"), Some(vec!["Job", "Id"]));
    for whole in ["mRNA", "IgG", "SKEWJOIN", "Skew", "", "x", "größeWert"] {
        assert_eq!(parts(whole), None, "{whole}");
    }
}

#[test]
fn vectors_have_length_one_and_are_the_same_every_time() {
    let texts = "why is the join slow|数据倾斜|maxRowCount|Spark 数据倾斜 join|zqxj|ＳＣＯＰＥ";
    for text in texts.split('|') {
        let vector = embed(text);
        assert_eq!(vector.len(), StaticTable::embedded().dimension());
        assert!((dot(&vector, &vector) - 1.0).abs() < 1e-4, "{text}");
        assert_eq!(vector, embed(text), "{text}");
    }
}

/// They change with the table or the code; in the second case increase `CODE_VERSION`.
#[test]
fn vectors_are_those_of_this_code_version() {
    for (text, component, value) in [
        ("why is the join slow", 0, -0.0196),
        ("why is the join slow", 1, 0.1039),
        ("why is the join slow", 255, 0.0593),
        ("why is the join slow", 389, 0.2417),
        ("数据倾斜", 0, 0.0),
        ("数据倾斜", 328, -0.5241),
        ("数据倾斜", 389, 0.5241),
        ("maxRowCount", 0, -0.0085),
        ("maxRowCount", 1, 0.1745),
        ("maxRowCount", 260, -0.2438),
        ("maxRowCount", 268, 0.1673),
    ] {
        let found = embed(text)[component];
        assert!(
            (found - value).abs() < 2e-4,
            "`{text}`, {component}: {found}"
        );
    }
}

#[test]
fn a_text_in_which_nothing_is_known_gives_zero() {
    for text in ["", " \n\t", "…—!?", "\u{200b}", "🙂", "()[]{}"] {
        assert!(embed(text).iter().all(|&x| x == 0.0), "{text:?}");
    }
}

#[test]
fn texts_of_one_meaning_are_closer_than_others() {
    closer(
        "a car drove along the road",
        "the automobile travelled down the street",
        "the committee approved the annual budget",
    );
    closer(
        "the process ran out of memory",
        "insufficient RAM caused the program to crash",
        "the recipe needs two cups of flour",
    );
    closer(
        "drug treatment of hypertension",
        "medicine for high blood pressure",
        "repairing the brakes of a bicycle",
    );
}

#[test]
fn chinese_texts_are_compared_by_their_characters() {
    let (skew, keys) = ("数据倾斜怎么解决", "连接键分布不均");
    closer(skew, "处理数据倾斜的方法", "内存溢出与垃圾回收");
    closer(keys, "连接的键分布很不均匀", "小文件过多导致启动慢");
}

#[test]
fn identifiers_find_their_other_spellings() {
    closer("maxRowCount", "max_row_count", "minColumnWidth");
    closer(
        "SV3_Combine",
        "stage SV3_Combine failed",
        "stage SV1_Extract finished",
    );
    closer("ＳＫＥＷＪＯＩＮ", "SKEWJOIN hint", "BROADCASTRIGHT hint");
}

#[test]
fn fingerprint_names_code_and_table() {
    let fingerprint = StaticTable::embedded().fingerprint();
    assert!(fingerprint.starts_with("embedded-"), "{fingerprint}");
    assert_eq!(fingerprint.rsplit('-').next().map(str::len), Some(32));
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_a_unit_or_zero_vector(text in any::<String>()) {
        let vector = embed(&text);
        let length = dot(&vector, &vector);
        prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-3, "{length}");
    }

    #[test]
    fn any_mixed_word_is_survived(text in "[a-zA-Z0-9_.数据倾斜のé\u{301}\u{1F600}ＡＢ -]{0,300}") {
        let vector = embed(&text);
        prop_assert!(vector.iter().all(|x| x.is_finite()));
    }

    #[test]
    fn any_bytes_are_refused_as_a_table_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut table = b"SATOKTAB\x01".to_vec();
        table.extend(bytes);
        if let Some(table) = TokenTable::parse(&table) {
            table.longest_prefix(b"word", false);
        }
    }
}
