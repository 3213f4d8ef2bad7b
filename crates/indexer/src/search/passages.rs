//! Order of the passages of a page. All evidence together decides the page; its passages are ordered by their own words and by the kind of
//! answer that the query asks for.

use std::collections::HashMap;

use super::fuse::Candidate;
use crate::model::Section;

/// Weight of a passage's own words relative to its section: its lead over the page's worst passage, as a share of the best BM25 score.
const WORDS: f32 = 0.6;

/// Malus for the rest of a section that was cut: it starts in the middle of an explanation.
const REST: f32 = 0.1;

/// Bonus for the kind of passage that the query asks for.
const ASKED: f32 = 0.4;

/// How useful a section is to a reader of a plain complaint. A symptom repeats the complaint; exceptions come last.
fn usual(section: Option<Section>) -> f32 {
    match section {
        Some(Section::Cause) => 0.30,
        Some(Section::Fix) => 0.28,
        None => 0.15,
        Some(Section::Check) => 0.05,
        Some(Section::Example) => 0.0,
        Some(Section::TradeOffs) => -0.15,
        Some(Section::Symptom) => -0.2,
        Some(Section::NotWhen) => -0.3,
    }
}

/// Words of a query that ask for a section, in lower case.
const ASKING: [(Section, &str); 3] = [
    (
        Section::Cause,
        "why|reason|how come|what does|what is|what's|meaning|caused by|为什么|为啥|为何|原因|怎么会|是什么|啥意思|什么意思",
    ),
    (
        Section::Fix,
        "how to|how do|how can|how should|how many|how much|should i|should we|what can|can i|can we|is there a|workaround|avoid|instead|\
         what would|which setting|what setting|solve|fix|怎么|如何|怎样|咋|应该|该|改成|改写|能不能|可以|要不要|有没有|解决|优化|避免|多少|多大|\
         多久|几个|还是|有用吗",
    ),
    (
        Section::TradeOffs,
        "worth|trade-off|downside|drawback|side effect|risk|safe|划算|代价|值得|风险|安全吗|副作用|缺点|坏处",
    ),
];

/// Phrases with words of [`ASKING`] that ask for a value, which is part of a fix, or only go on with a complaint.
const VALUES: &str = "what is a good|what is the best|what is the right|what is a reasonable|what's a good|what's the best|what's the right";
const STILL: &str = "还是没|还是不|还是很|还是慢|还是报|还是会|,还是|，还是";

/// A query asks how to check if a word of [`PLACES`] comes shortly before one of [`SEEING`], at most this number of words or Chinese characters apart.
const APART: usize = 6;
const APART_ZH: usize = 2;
const PLACES: &str = "how where way";
const SEEING: &str = "see tell know find check look looking measure verify confirm prove diagnose identify spot detect inspect";

/// Words after "tell" in a question that asks how to learn a fact; "tell Spark to" asks how to change a job.
const TOLD: &str = "if whether which what where why when that apart from";

const PLACES_ZH: &str = "怎么|如何|怎样|咋|哪里|哪儿|从哪|往哪|哪些";
const SEEING_ZH: &str = "看|查|知道|判断|确认|证明|找|定位|发现|诊断|区分|识别|排查";

/// Phrases that ask how to check by themselves.
const CHECKING: &str = "which counter|which metric|which number|diagnose|confirm|看哪|看什么|查哪|查什么|找出来|哪个指标|排查|定位";

fn asks_to_check(query: &str) -> bool {
    let has = |list: &str, word: &&str| list.split(' ').any(|other| other == *word);
    let words = query.split(|c: char| !c.is_ascii_alphabetic());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let learns = |at: usize| {
        let told = || words.get(at + 1).is_some_and(|word| has(TOLD, word));
        has(SEEING, &words[at]) && (words[at] != "tell" || told())
    };
    let sees = |at: usize| (at + 1..words.len()).take(APART).any(learns);
    let in_english = (0..words.len()).any(|at| has(PLACES, &words[at]) && sees(at));
    let sees_after = |rest: &str| {
        SEEING_ZH.split('|').any(|verb| {
            let found = rest.find(verb).map(|at| rest[..at].chars().count());
            found.is_some_and(|apart| apart <= APART_ZH)
        })
    };
    let in_chinese = PLACES_ZH.split('|').any(|place| {
        let mut found = query.match_indices(place);
        found.any(|(at, _)| sees_after(&query[at + place.len()..]))
    });
    in_english || in_chinese || CHECKING.split('|').any(|phrase| query.contains(phrase))
}

/// Bonus of each section for one query.
pub(crate) struct Asked(Vec<Section>);

impl Asked {
    pub(crate) fn by(query: &str) -> Asked {
        let mut query = query.to_lowercase();
        for (phrases, meaning) in [(VALUES, "how much"), (STILL, "")] {
            for phrase in phrases.split('|') {
                query = query.replace(phrase, meaning);
            }
        }
        let says = |words: &&str| words.split('|').any(|word| query.contains(word.trim()));
        let asked = ASKING.iter().filter(|(_, words)| says(words));
        let mut asked: Vec<Section> = asked.map(|(section, _)| *section).collect();
        if asks_to_check(&query) {
            // "how do I know" has the words of "how do I fix" as well
            asked.retain(|section| *section != Section::Fix);
            asked.push(Section::Check);
        }
        Asked(asked)
    }

    fn worth(&self, section: Option<Section>) -> f32 {
        let is_asked = section.is_some_and(|section| self.0.contains(&section));
        usual(section) + if is_asked { ASKED } else { 0.0 }
    }
}

/// Replaces `picked`, positions in `all`, so that each page keeps its places in the list and fills them with its best passages.
pub(crate) fn arrange(all: &[Candidate], picked: &[usize], asked: &Asked) -> Vec<usize> {
    let bm25 = |passage: &Candidate| passage.bm25.map_or(0.0, |ranked| ranked.score);
    let top = all.iter().map(bm25).fold(f32::MIN_POSITIVE, f32::max);
    let mut pages: HashMap<&str, Vec<(usize, f32)>> = HashMap::new();
    for &at in picked {
        pages.entry(all[at].document()).or_default();
    }
    for (at, passage) in all.iter().enumerate() {
        if let Some(of) = pages.get_mut(passage.document()) {
            let words = WORDS * bm25(passage) / top;
            let rest = if passage.is_rest() { REST } else { 0.0 };
            of.push((at, words + asked.worth(passage.section) - rest));
        }
    }
    let next = |&at: &usize| {
        let left = pages.get_mut(all[at].document())?;
        let best = (0..left.len()).reduce(|a, b| if left[b].1 > left[a].1 { b } else { a })?;
        Some(left.swap_remove(best).0)
    };
    picked.iter().filter_map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::fuse::Ranked;
    use crate::store::manifest::Ordinal;

    fn passage(section: Section, score: f32, id: &str) -> Candidate {
        Candidate {
            section: Some(section),
            bm25: Some(Ranked { rank: None, score }),
            id: id.to_owned(),
            ..Candidate::new(Ordinal::new(0, 0))
        }
    }

    #[test]
    fn the_rest_of_a_section_comes_after_its_start() {
        let start = passage(Section::Cause, 9.5, "a.md#cause");
        let rest = passage(Section::Cause, 10.0, "a.md#cause~2");
        let order = arrange(&[rest, start], &[0, 1], &Asked::by("slow join"));
        assert_eq!(order, [1, 0]);
    }

    #[test]
    fn a_fix_comes_before_a_check_unless_the_query_asks_how_to_check() {
        let all = [
            passage(Section::Check, 10.0, "a.md#check"),
            passage(Section::Fix, 8.5, "a.md#fix"),
        ];
        assert_eq!(arrange(&all, &[0, 1], &Asked::by("job slow")), [1, 0]);
        for query in [
            "how do I know which vertex is slow",
            "where in the UI can I see it",
            "怎么知道哪个顶点慢",
            "该看哪个指标",
        ] {
            assert_eq!(arrange(&all, &[0, 1], &Asked::by(query)), [0, 1], "{query}");
        }
        for query in [
            "how to speed it up",
            "how do I tell Spark to use more tasks",
        ] {
            assert_eq!(arrange(&all, &[0, 1], &Asked::by(query)), [1, 0], "{query}");
        }
    }
}
