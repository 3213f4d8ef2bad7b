use super::*;

/// Each is in this many chunks.
const CHUNKS: u64 = 30;

/// Knows the stems of a few words.
struct Few(&'static [&'static str]);

impl Vocabulary for Few {
    fn chunks(&self, term: &str) -> u64 {
        if self.0.contains(&term) { CHUNKS } else { 0 }
    }

    fn starting_with(&self, first: char) -> BTreeMap<String, u64> {
        let known = self.0.iter().filter(|term| term.starts_with(first));
        known.map(|term| ((*term).to_owned(), CHUNKS)).collect()
    }
}

const KNOWN: Few = Few(&["broadcast", "join", "partit", "skew", "garbag", "max"]);

fn reading(text: &str) -> Reading {
    read(text, &Glossary::default(), &KNOWN)
}

fn sum_of_expansion(name: &str, rivals: usize) -> f32 {
    let name = name.to_owned();
    let terms = expansion_terms(&Expansion { name, rivals });
    terms.iter().map(|(_, weight)| weight).sum()
}

#[test]
fn an_added_name_weighs_as_much_as_its_words_in_either_language() {
    let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
    assert!(near(sum_of_expansion("hot key", 1), 2.0 * EXPANSION_WEIGHT));
    assert!(near(
        sum_of_expansion("数据倾斜", 1),
        2.0 * EXPANSION_WEIGHT
    ));
    assert!(near(
        sum_of_expansion("数据倾斜", 4),
        0.5 * EXPANSION_WEIGHT
    ));
    assert!(near(sum_of_expansion("键", 1), EXPANSION_WEIGHT));
}

#[test]
fn the_words_of_the_query_count_in_full() {
    let glossary = Glossary::parse("[[term]]\nen = [\"hot spot\", \"hot key\"]\n");
    let words = read("hot spot", &glossary, &KNOWN).words;
    let weight = |term: &str| words.terms.iter().find(|(t, _)| t == term).map(|(_, w)| *w);
    assert_eq!(weight("hot"), Some(1.0));
    assert_eq!(weight("key"), Some(EXPANSION_WEIGHT));
}

#[test]
fn names_of_engines_weigh_little_and_phrases_that_only_ask_nothing() {
    let glossary = Glossary::parse("[systems]\nproducts = [\"Spark\"]\n");
    let own = read("spark 倾斜怎么看", &glossary, &KNOWN).own;
    let expected = [
        ("spark", PRODUCT),
        ("倾", 1.0),
        ("倾斜", 1.0),
        ("斜", 1.0),
        ("看", 1.0),
    ];
    assert_eq!(
        own,
        expected.map(|(term, weight)| (term.to_owned(), weight))
    );
}

#[test]
fn misspelt_words_are_corrected_and_known_ones_kept() {
    for (text, expected) in [
        ("brodcast joim", "broadcast join"),
        ("repair the partiton", "repair the partit"),
        ("garbadge", "garbag"),
        ("join broadcast", "join broadcast"),
        // too far from anything, too short, or a name
        ("kubernetes", "kubernetes"),
        ("joi", "joi"),
        ("SV3_Joim", "SV3_Joim"),
    ] {
        let read = reading(text);
        assert_eq!(read.text, expected);
        assert_eq!(read.corrections.is_empty(), text == expected, "{text}");
    }
}

#[test]
fn a_pair_typed_as_another_of_the_same_sound_is_corrected() {
    const WORDS: Few = Few(&["数据", "据倾", "倾斜", "作业", "很慢", "时间", "排队"]);
    let corrected = |text| read(text, &Glossary::default(), &WORDS).text;
    for (typed, meant) in [
        ("数剧倾协，作叶很漫", "数据倾斜，作业很慢"),
        // `sijian` is how many people say `shijian`
        ("四间", "时间"),
        // a pair that is known stays, and so does one that sounds like none
        ("数据倾斜", "数据倾斜"),
        ("鸡蛋 join", "鸡蛋 join"),
    ] {
        assert_eq!(corrected(typed), meant);
    }
}
