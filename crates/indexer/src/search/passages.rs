//! Order of the passages of a page. All evidence together decides the page; its passages are ordered by their own words and by the kind of
//! answer that the query asks for.

use std::collections::HashMap;

use crate::model::Section;

/// Weight of a passage's own words relative to its section: the share of the best BM25 score by which it beats the page's worst passage.
const WORDS: f32 = 0.8;

/// Malus for a second passage of the same section: after the cause, the fix says more than the rest of the cause.
const REPEATED: f32 = 0.2;

/// Malus for the rest of a section that was cut: it starts in the middle of an explanation.
const REST: f32 = 0.1;

/// Bonus for the kind of passage that the query asks for.
const ASKED: f32 = 0.3;

/// How useful a section is to a reader who asks for nothing in particular. A symptom repeats the complaint; exceptions come last.
fn usual(section: Option<Section>) -> f32 {
    match section {
        Some(Section::Cause) => 0.30,
        Some(Section::Fix) => 0.28,
        None => 0.15,
        Some(Section::Check) => 0.05,
        Some(Section::Example | Section::Symptom) => 0.0,
        Some(Section::TradeOffs) => -0.05,
        Some(Section::NotWhen) => -0.3,
    }
}

/// Words of a query that ask for a section, in lower case.
const ASKING: [(Section, &str); 4] = [
    (
        Section::Cause,
        "why|reason|how come|what does|what is|what's|meaning|caused by|为什么|为啥|为何|原因|怎么会|是什么|啥意思|什么意思",
    ),
    (
        Section::Check,
        "how do i tell|how can i tell|how to tell|how do i see|how do i know|how do i find|how to find|how can i find|how to check|how do i check|\
         where do i see|where to look|where do i look|which counter|which number|which metric|what should i look|what to look|\
         diagnose|confirm|怎么看|怎么判断|如何判断|怎么确认|如何确认|怎么查|往哪查|哪里看|从哪看|从哪里看|找出来|怎么找|排查|定位",
    ),
    (
        Section::Fix,
        "how to|how do|how can|how should|should i|should we|what can|can i|can we|is there a|workaround|avoid|instead|what would|which setting|\
         what setting|solve|fix|怎么|如何|怎样|咋|应该|改成|改写|能不能|可以|要不要|有没有|解决|优化|避免|多少|还是|有用吗",
    ),
    (
        Section::TradeOffs,
        "cost|cheap|expensive|bill|price|worth|trade-off|risk|safe|贵|成本|费用|账单|省钱|划算|代价|值得|风险|安全吗|副作用",
    ),
];

/// Bonus of each section for one query.
pub(crate) struct Asked(Vec<Section>);

impl Asked {
    pub(crate) fn by(query: &str) -> Asked {
        let query = query.to_lowercase();
        let says = |words: &&str| words.split('|').any(|word| query.contains(word.trim()));
        let asked = ASKING.iter().filter(|(_, words)| says(words));
        let mut asked: Vec<Section> = asked.map(|(section, _)| *section).collect();
        if asked.contains(&Section::Check) {
            // "how do I know" has the words of "how do I fix" as well
            asked.retain(|section| *section != Section::Fix);
        }
        Asked(asked)
    }

    fn worth(&self, section: Option<Section>) -> f32 {
        let is_asked = section.is_some_and(|section| self.0.contains(&section));
        usual(section) + if is_asked { ASKED } else { 0.0 }
    }
}

/// A candidate of a page.
#[derive(Clone, Copy)]
pub(crate) struct Passage<'a> {
    pub(crate) document: &'a str,
    /// Whether it continues another passage of its section.
    pub(crate) is_rest: bool,
    pub(crate) section: Option<Section>,
    pub(crate) bm25: f32,
}

/// Replaces `picked`, positions in `all`, so that each page keeps its places in the list and fills them with its best passages.
pub(crate) fn arrange(all: &[Passage<'_>], picked: &[usize], asked: &Asked) -> Vec<usize> {
    let top = all.iter().map(|p| p.bm25).fold(f32::MIN_POSITIVE, f32::max);
    let mut pages: HashMap<&str, Vec<(usize, f32)>> = HashMap::new();
    for &at in picked {
        pages.entry(all[at].document).or_default();
    }
    for (at, passage) in all.iter().enumerate() {
        if let Some(of) = pages.get_mut(passage.document) {
            let words = WORDS * passage.bm25 / top;
            let rest = if passage.is_rest { REST } else { 0.0 };
            of.push((at, words + asked.worth(passage.section) - rest));
        }
    }
    let next = |&at: &usize| {
        let left = pages.get_mut(all[at].document)?;
        let best = (0..left.len()).reduce(|a, b| if left[b].1 > left[a].1 { b } else { a })?;
        let (found, _) = left.swap_remove(best);
        let same = all[found].section;
        let repeated = left.iter_mut().filter(|(at, _)| all[*at].section == same);
        repeated.for_each(|(_, worth)| *worth -= REPEATED);
        Some(found)
    };
    picked.iter().filter_map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(section: Section, bm25: f32) -> Passage<'static> {
        Passage {
            document: "a",
            is_rest: false,
            section: Some(section),
            bm25,
        }
    }

    #[test]
    fn the_rest_of_a_section_comes_after_its_start() {
        let start = passage(Section::Cause, 9.5);
        let rest = Passage {
            is_rest: true,
            ..passage(Section::Cause, 10.0)
        };
        let order = arrange(&[rest, start], &[0, 1], &Asked::by("slow join"));
        assert_eq!(order, [1, 0]);
    }

    #[test]
    fn a_fix_comes_before_a_check_unless_the_query_asks_how_to_check() {
        let all = [passage(Section::Check, 10.0), passage(Section::Fix, 8.5)];
        assert_eq!(arrange(&all, &[0, 1], &Asked::by("job slow")), [1, 0]);
        let asked = Asked::by("how do I know which vertex is slow");
        assert_eq!(arrange(&all, &[0, 1], &asked), [0, 1]);
    }
}
