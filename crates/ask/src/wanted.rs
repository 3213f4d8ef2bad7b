//! The change of a resource that a question is about: "twice the tokens", “executor 从 8 个减到 2 个”.

use super::wording::Wording;

/// Words between an amount and its resource: "twice as many tokens".
const APART: usize = 4;

/// The same in Chinese characters: "令牌数增加到两倍".
const APART_ZH: usize = 8;

/// Characters after the resource: "executor 从 8 个减到 2 个".
const AFTER_ZH: usize = 14;

/// Characters of a question that is no more than a change: "twice the executors?".
const BRIEF: usize = 24;

/// The resource that a question would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resource {
    Tokens,
    Executors,
    Cores,
    Input,
    /// Memory and hardware: no record shows their effect.
    Memory,
    Hardware,
}

const RESOURCES: &[(Resource, &str, &str)] = &[
    (Resource::Tokens, "令牌|token|au ", "token*|au|aus"),
    (
        Resource::Executors,
        "executor|执行器|节点",
        "executor*|worker*|node*",
    ),
    (Resource::Cores, "核", "core*|cpu*|slot*"),
    (Resource::Input, "输入|数据", "input*|data|rows"),
    (Resource::Memory, "内存", "memory|ram|heap"),
    (
        Resource::Hardware,
        "磁盘|硬盘|网络|带宽",
        "disk*|ssd*|network|bandwidth|machine*",
    ),
];

const FACTORS: &[(f64, &str, &str)] = &[
    (0.25, "四分之一", "quarter"),
    (0.5, "一半|减半|半数|少一半", "half|halve|halved|halving"),
    (
        2.0,
        "双倍|翻倍|翻一倍|加倍|翻一番|翻番|多一倍|增加一倍|加一倍|大一倍|涨一倍",
        "twice|double|doubled|doubling",
    ),
    (3.0, "", "triple|tripled|tripling|thrice"),
    (4.0, "翻两番", "quadruple|quadrupled"),
];

/// Numbers in words before "times" and “倍”.
const NUMBERS: [(&str, &str, f64); 9] = [
    ("两", "two", 2.0),
    ("二", "two", 2.0),
    ("三", "three", 3.0),
    ("四", "four", 4.0),
    ("五", "five", 5.0),
    ("六", "six", 6.0),
    ("八", "eight", 8.0),
    ("十", "ten", 10.0),
    ("百", "hundred", 100.0),
];

/// Words of a change that is only thought of.
const THOUGHT: (&str, &str) = (
    "如果|假如|要是|若|会|多久|多长时间|能|换成|给它|改成|快多少|慢多少|怎么样|怎样|需要|够|用 |呢|行不行|可以|有用|帮助|要不要|减到|降到|加到|增加到",
    "would|if|could|will|can|with|how long|how fast|how much time|what about|instead of|need*|enough|happens|help*|too many|too few|\
     worth|should",
);

/// Words of changes in the past.
const PAST: (&str, &str) = (
    "上次|上周|昨天|以前|相比|变慢了|比之前",
    "since|last|yesterday|previous|used to|compared|than before|did",
);

/// Words of a question whether the present count is too large.
const SURPLUS: (&str, &str) = (
    "太多|用不完|用不了|过多|是不是多了|浪费",
    "than we need*|than need*|than it need*|too many|over-provisioned|overprovisioned",
);

/// Words before the new amount, where the present one is named as well: "from 8 to 2".
const TO: [&str; 6] = ["减到", "降到", "加到", "增加到", "改成", "到"];

/// Words of more or less without a number.
const OPEN: (&str, &str) = (
    "更多|更少|增加|减少|需要多少|够不够|够吗|多一些|少一些|加大|调大|加 |加点|多给|减 |再加|多加",
    "more|fewer|less|additional|extra|enough|adding|reducing",
);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Amount {
    Times(f64),
    Count(f64),
    /// "more", "fewer"
    Open,
}

/// A resource and its new amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wanted {
    pub(super) resource: Resource,
    pub(super) amount: Amount,
}

impl Wanted {
    /// The change of a resource that a question is about; `None` if it is about something else.
    pub(super) fn of(question: &str) -> Option<Wanted> {
        let wording = Wording::of(question);
        if wording.has(SURPLUS.0, SURPLUS.1) {
            let mut counts = RESOURCES.iter().take(3);
            let named = counts.find(|(_, zh, en)| wording.has(zh, en));
            let amount = Amount::Times(1.0);
            return named.map(|(resource, ..)| Wanted {
                resource: *resource,
                amount,
            });
        }
        let is_brief = question.chars().count() <= BRIEF;
        let is_thought = is_brief || wording.has(THOUGHT.0, THOUGHT.1);
        if !is_thought || wording.has(PAST.0, PAST.1) || wording.has("为什么|为何", "why") {
            return None;
        }
        let wanted = in_english(&wording).or_else(|| in_chinese(&question.to_lowercase()))?;
        // a number of rows or bytes is no change of the input
        let is_count = matches!(wanted.amount, Amount::Count(_));
        (wanted.resource != Resource::Input || !is_count).then_some(wanted)
    }
}

fn in_english(wording: &Wording) -> Option<Wanted> {
    let words = wording.words();
    let fits = |word: &str, en: &str| {
        en.split('|').any(|phrase| match phrase.strip_suffix('*') {
            Some(stem) => word.starts_with(stem),
            None => word == phrase,
        })
    };
    let resource_at = |word: &str| {
        let mut all = RESOURCES.iter();
        all.find(|(.., en)| fits(word, en)).map(|found| found.0)
    };
    let amount_at = |at: usize| {
        let word = words[at].as_str();
        let factor = FACTORS.iter().find(|(.., en)| fits(word, en));
        let factor = factor.map(|(factor, ..)| *factor);
        let factor = factor.or_else(|| word.strip_suffix('x')?.parse().ok());
        let spelled = NUMBERS.iter().find(|(_, name, _)| *name == word);
        let number = spelled.map(|(.., n)| *n).or_else(|| word.parse().ok());
        let is_times = words.get(at + 1).is_some_and(|next| next == "times");
        match (factor, number) {
            (Some(factor), _) => Some(Amount::Times(factor)),
            (None, Some(n)) if is_times => Some(Amount::Times(n)),
            (None, Some(n)) => Some(Amount::Count(n)),
            _ if OPEN.1.split('|').any(|open| open == word) => Some(Amount::Open),
            _ if word == "many" && wording.has("", "need*|should|required") => Some(Amount::Open),
            _ => None,
        }
    };
    (0..words.len()).find_map(|at| {
        // "from 8 to 2 executors" is a change to 2
        let is_present = at > 0 && words[at - 1] == "from";
        let amount = amount_at(at).filter(|_| !is_present)?;
        let amount = Some(amount).filter(|a| !matches!(a, Amount::Count(n) if *n <= 0.0))?;
        // "reduce the executors from 8 to 2"
        let is_new = at > 0 && words[at - 1] == "to";
        let before = words[..at].iter().rev().skip(1).take(APART);
        let before = before.filter_map(|word| resource_at(word)).next();
        if let (true, Some(resource)) = (is_new, before) {
            return Some(Wanted { resource, amount });
        }
        let near = words.iter().skip(at + 1).take(APART);
        // "half the time with these tokens" is about the time
        let near = near.take_while(|word| {
            !matches!(
                word.as_str(),
                "time" | "minutes" | "seconds" | "hours" | "with"
            )
        });
        let resource = near.filter_map(|word| resource_at(word)).next()?;
        Some(Wanted { resource, amount })
    })
}

fn in_chinese(question: &str) -> Option<Wanted> {
    let mut places = RESOURCES.iter().flat_map(|(resource, zh, _)| {
        let found = zh
            .split('|')
            .filter_map(|word| Some((question.find(word)?, word.len())));
        found.map(|(at, length)| (*resource, at, length))
    });
    places.find_map(|(resource, at, length)| {
        let before: Vec<char> = question[..at].chars().rev().take(APART_ZH).collect();
        let before: String = before.into_iter().rev().collect();
        // "executor 1 比 executor 0" has the ids of two of them
        let before = match question[..at].contains(&question[at..at + length]) {
            true => String::new(),
            false => before,
        };
        let after: String = question[at + length..].chars().take(AFTER_ZH).collect();
        // "executor 2" is one of them
        let is_id = after.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let amount = amount_in(&before).or_else(|| amount_in(&after).filter(|_| !is_id))?;
        Some(Wanted { resource, amount })
    })
}

/// The amount in a few Chinese characters.
fn amount_in(text: &str) -> Option<Amount> {
    let is_in = |words: &str| {
        let mut words = words.split('|').filter(|word| !word.is_empty());
        words.any(|word| text.contains(word))
    };
    if let Some((factor, ..)) = FACTORS.iter().find(|(_, zh, _)| is_in(zh)) {
        return Some(Amount::Times(*factor));
    }
    let spelled = NUMBERS
        .iter()
        .find(|(zh, ..)| text.contains(&format!("{zh}倍")));
    let mut to = TO.iter();
    let text = to
        .find_map(|word| text.split_once(word))
        .map_or(text, |(_, new)| new);
    let digits: String = text
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    match (spelled, digits.parse::<f64>()) {
        (Some((.., n)), _) => Some(Amount::Times(*n)),
        (_, Ok(n)) if text.contains('倍') => Some(Amount::Times(n)),
        (_, Ok(n)) if n > 0.0 => Some(Amount::Count(n)),
        _ if is_in(OPEN.0) => Some(Amount::Open),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_resources_are_told_from_goals_and_from_the_past() {
        use Amount::{Count, Open, Times};
        use Resource::{Cores, Executors, Input, Memory, Tokens};
        for (question, expected) in [
            (
                "How long would it take with twice the tokens?",
                Some((Tokens, Times(2.0))),
            ),
            (
                "Would half as many executors do?",
                Some((Executors, Times(0.5))),
            ),
            (
                "How long will three times the input take?",
                Some((Input, Times(3.0))),
            ),
            ("What if it had 200 tokens?", Some((Tokens, Count(200.0)))),
            ("Would more memory help?", Some((Memory, Open))),
            (
                "how fast would it be on 4x the cores",
                Some((Cores, Times(4.0))),
            ),
            ("Could it run in half the time?", None),
            ("Why did it get twice the data since last week?", None),
            ("Why is it slow?", None),
            ("How many executors does it need?", Some((Executors, Open))),
            ("双倍 executor 会快多少", Some((Executors, Times(2.0)))),
            ("executor 翻倍", Some((Executors, Times(2.0)))),
            ("三倍的输入会怎样", Some((Input, Times(3.0)))),
            ("令牌翻倍要多久？", Some((Tokens, Times(2.0)))),
            ("如果用 200 个令牌，要多久？", Some((Tokens, Count(200.0)))),
            ("Executor 减半会慢多少？", Some((Executors, Times(0.5)))),
            ("输入变成 3 倍要多久？", Some((Input, Times(3.0)))),
            ("能不能一半时间跑完？", None),
        ] {
            let found = Wanted::of(question).map(|w| (w.resource, w.amount));
            assert_eq!(found, expected, "{question}");
        }
    }
}
