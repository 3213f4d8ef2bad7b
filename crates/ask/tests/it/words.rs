//! Ordinary words never count as names that the run lacks.

use crate::question::answered;

/// The most frequent words of English, and function words and verbs of Chinese.
const WORDS: &str = include_str!("common_words.txt");

#[test]
fn no_ordinary_word_is_named_as_missing() {
    let [en, zh] = WORDS.lines().collect::<Vec<_>>()[..] else {
        panic!("a line for each language");
    };
    let asked = en.split(' ').flat_map(|word| {
        let capital = format!("{}{}", word[..1].to_uppercase(), &word[1..]);
        [
            format!("how many rows does SV1_Extract {word} read?"),
            format!("{capital} many rows does SV2_Combine read?"),
            format!("what about {word} in this job?"),
        ]
    });
    let asked_zh = zh.split(' ').flat_map(|word| {
        [
            format!("SV1_Extract {word}读了多少行？"),
            format!("{word}多少行？"),
        ]
    });
    for question in asked.chain(asked_zh).step_by(2) {
        let text = answered(&[], &question);
        assert!(
            !text.contains("No record answers") && !text.contains("没有记录回答"),
            "{question}: {text}"
        );
    }
}

#[test]
fn a_name_that_no_record_has_is_named_as_missing() {
    for question in [
        "how many rows with TenantKey does the join produce?",
        "how many rows with \"berlin\" does the join produce?",
    ] {
        let text = answered(&[], question);
        assert!(
            text.contains("No record answers") || text.contains("no `TenantKey`"),
            "{question}: {text}"
        );
    }
}

#[test]
fn short_questions_get_the_conclusion_or_the_first_change() {
    for (question, said) in [
        ("why?", "F1"),
        ("root cause?", "F1"),
        ("为啥?", "F1"),
        ("怎么改", "S1"),
        ("what do i change to get it thru?", "S1"),
        ("想让它快一点,先动哪里?", "S1"),
        ("bottleneck?", "SV2_Combine"),
    ] {
        let text = answered(&[], question);
        assert!(text.contains(said), "{question}: {text}");
    }
}
