//! The change of a resource that a question is about: "twice the tokens", “executor 从 8 个减到 2 个”.

use std::ops::Range;

use crate::reading::Reading;
use crate::vocabulary::length;
use crate::word::{Amount, Cue, Resource, Word};

/// Characters between an amount and its resource: "twice as many tokens", “executor 从 8 个减到 2 个”.
const APART: usize = 24;

/// Characters of a question that is no more than a change: "twice the executors?".
const BRIEF: usize = 24;

/// Words before and after the present amount: "from 8", "instead of 8", “从 8”; "8 → 2", “8 个改成 2 个”.
const BEFORE_PRESENT: &str = "from|instead of|rather than|not|than|从|由|而不是|不是|现在|目前";
const BEFORE_NEW: &str =
    "to|->|→|=>|down to|up to|改成|改为|换成|换为|变成|变为|减到|降到|加到|增加到|提高到|调到|到";

/// Words between the present and the new amount: “80 个 token 改成 200 个”.
const UNITS: &str = "个|台|核|tokens|token|令牌|executors|executor|aus|au|cores|core";

/// Units of times and sizes: a number before them is no count.
const OTHER_UNITS: &str =
    "分钟|分|秒|小时|天|毫秒|行|gb|mb|kb|tb|gib|mib|min|s |sec|hour|ms|%|rows";

/// A resource and its new amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wanted {
    pub(super) resource: Resource,
    pub(super) amount: Amount,
}

impl Wanted {
    /// The change of a resource that a question is about; `None` if it is about something else.
    pub(super) fn of(question: &Reading) -> Option<Wanted> {
        if question.shows(Cue::Surplus) {
            let counts = [Resource::Tokens, Resource::Executors, Resource::Cores];
            let named = counts
                .into_iter()
                .find(|r| question.has(Word::Resource(*r)));
            let amount = Amount::Times(1.0);
            return named.map(|resource| Wanted { resource, amount });
        }
        let is_brief = question.text().chars().count() <= BRIEF;
        let is_thought = is_brief || question.shows(Cue::Thought);
        if !is_thought || question.shows_any(&[Cue::Past, Cue::Why]) {
            return None;
        }
        let wanted = change(question)?;
        // a number of rows or bytes is no change of the input
        let is_count = matches!(wanted.amount, Amount::Count(_));
        let is_open = wanted.amount == Amount::Open;
        match wanted.resource {
            Resource::Input if is_count => None,
            Resource::Partitions if is_open => None,
            _ => Some(wanted),
        }
    }
}

/// An amount with its place in the text.
#[derive(Debug)]
struct Found {
    amount: Amount,
    place: Range<usize>,
}

/// The resource with the new amount that is nearest to it.
fn change(question: &Reading) -> Option<Wanted> {
    let text = question.text();
    let resources = resources(question);
    let amounts = amounts(question, &resources);
    let distance = |found: &Found, place: &Range<usize>| {
        let gap = match found.place.end <= place.start {
            true => &text[found.place.end..place.start],
            false => text.get(place.end..found.place.start)?,
        };
        // "half the time with these tokens" is about the time
        let is_other = Reading::of(gap).shows(Cue::OtherAmount);
        let length = gap.chars().count();
        let is_other = is_other || is_of_time(&text[found.place.end..]);
        (length <= APART && !is_other).then_some((found.amount == Amount::Open, length))
    };
    let near = resources.into_iter().flat_map(|(resource, place)| {
        let distance = &distance;
        let near = amounts
            .iter()
            .filter_map(move |found| Some((distance(found, &place)?, found)));
        near.map(move |(distance, found)| (distance, resource, found.amount))
    });
    let nearest = near.min_by_key(|(distance, ..)| *distance)?;
    let (_, resource, amount) = nearest;
    Some(Wanted { resource, amount })
}

/// Whether the words after an amount are about the time: "halve the run time".
fn is_of_time(after: &str) -> bool {
    const ADJECTIVES: [&str; 8] = [
        "the",
        "its",
        "my",
        "our",
        "run",
        "running",
        "total",
        "execution",
    ];
    let words = after.split(|c: char| !c.is_ascii_alphabetic());
    let mut words = words.filter(|word| !word.is_empty() && !ADJECTIVES.contains(word));
    matches!(words.next(), Some("time" | "runtime" | "duration"))
}

/// The resources that a question names, with their places.
fn resources(question: &Reading) -> Vec<(Resource, Range<usize>)> {
    question.places(|word| match word {
        Word::Resource(resource) => Some(*resource),
        _ => None,
    })
}

/// The amounts of a text, without the present ones: "from 8 to 2", "2 instead of 8", “8 个改成 2 个”.
fn amounts(question: &Reading, resources: &[(Resource, Range<usize>)]) -> Vec<Found> {
    let text = question.text();
    let mut found: Vec<Found> = Vec::new();
    let mut add = |amount: Amount, place: Range<usize>| {
        let is_new = |f: &Found| f.place.end <= place.start || place.end <= f.place.start;
        if found.iter().all(is_new) {
            found.push(Found { amount, place });
        }
    };
    let words = |open: bool| {
        question.places(move |word| match word {
            Word::Amount(amount) => Some(*amount).filter(|a| (*a == Amount::Open) == open),
            _ => None,
        })
    };
    words(false)
        .into_iter()
        .for_each(|(amount, place)| add(amount, place));
    let spelled = question.places(|word| match word {
        Word::Numeral(n) => Some(*n),
        _ => None,
    });
    let spelled = spelled.into_iter();
    for (n, place) in spelled.chain(digits(text)) {
        let after = text[place.end..].trim_start();
        let is_times = text[place.clone()].ends_with('倍')
            || after.starts_with('倍')
            || length("x", after).is_some()
            || length("times", after).is_some();
        let is_other = !is_times && OTHER_UNITS.split('|').any(|unit| after.starts_with(unit));
        // "executor 2" is one of the executors
        let is_id = resources.iter().any(|(_, named)| {
            named.end <= place.start && text[named.end..place.start].trim().is_empty()
        });
        let sign = sign(text, &place);
        // "one" and “两个” count other things too
        let word = &text[place.clone()];
        let is_word = (word == "one" || !word.is_ascii()) && !is_times && sign.is_none();
        if n <= 0.0 || is_other || is_word || !is_times && (is_id || is_present(text, &place)) {
            continue;
        }
        let amount = match sign {
            _ if is_times => Amount::Times(n),
            Some(sign) => Amount::Plus(sign * n),
            None => Amount::Count(n),
        };
        add(amount, place);
    }
    let many = question.places(|word| (*word == Word::Cue(Cue::Many)).then_some(Amount::Open));
    let many = many.into_iter().filter(|_| question.shows(Cue::Needs));
    for (amount, place) in words(true).into_iter().chain(many) {
        add(amount, place);
    }
    found
}

/// Whether a number is added to the present amount, or taken away from it: "two more", "add 2", “再加两个”, “减少 3 个”.
fn sign(text: &str, place: &Range<usize>) -> Option<f64> {
    let before = text[..place.start].trim_end();
    let after = text[place.end..].trim_start();
    let begins = |words: &str| words.split('|').any(|word| length(word, after).is_some());
    let ends = |words: &str| {
        words.split('|').any(|word| {
            let head = before.strip_suffix(word);
            head.is_some_and(|h| {
                !word.is_ascii() || !h.ends_with(|c: char| c.is_ascii_alphabetic())
            })
        })
    };
    if begins("more|additional|extra")
        || ends("加|再给|多给|多|add|adding|another|extra|additional")
    {
        Some(1.0)
    } else if begins("fewer|less") || ends("减少|减|少|去掉|少给|remove|removing|take away")
    {
        Some(-1.0)
    } else {
        None
    }
}

/// The numbers of a text in digits.
fn digits(text: &str) -> impl Iterator<Item = (f64, Range<usize>)> {
    let starts = text.char_indices().filter(|(at, c)| {
        let is_inside = text[..*at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
        c.is_ascii_digit() && !is_inside
    });
    starts.filter_map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
        let number = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ',']);
        let n = number.replace(',', "").parse().ok()?;
        Some((n, at..at + number.len()))
    })
}

/// Whether a number is the present amount, next to the one that would replace it.
fn is_present(text: &str, place: &Range<usize>) -> bool {
    let before = text[..place.start].trim_end();
    let mut after = text[place.end..].trim_start();
    while let Some(rest) = UNITS.split('|').find_map(|unit| after.strip_prefix(unit)) {
        after = rest.trim_start();
    }
    let is_before = |word: &str| {
        let head = before.strip_suffix(word);
        let is_whole =
            |head: &str| !word.is_ascii() || !head.ends_with(|c: char| c.is_ascii_alphabetic());
        head.is_some_and(is_whole)
    };
    let is_after = |word: &str| match word.is_ascii() && word.starts_with(char::is_alphabetic) {
        true => length(word, after).is_some(),
        false => after.starts_with(word),
    };
    BEFORE_PRESENT.split('|').any(is_before) || BEFORE_NEW.split('|').any(is_after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_resources_are_told_from_goals_and_from_the_past() {
        use Amount::{Count, Open, Plus, Times};
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
                "Would doubling the executors halve the run time?",
                Some((Executors, Times(2.0))),
            ),
            (
                "how fast would it be on 4x the cores",
                Some((Cores, Times(4.0))),
            ),
            ("Could it run in half the time?", None),
            ("Why did it get twice the data since last week?", None),
            (
                "Would two more executors help?",
                Some((Executors, Plus(2.0))),
            ),
            ("再加两个 executor 能快吗?", Some((Executors, Plus(2.0)))),
            ("token 减少 10 个会怎样", Some((Tokens, Plus(-10.0)))),
            ("token 从 25 加到 50 有用吗", Some((Tokens, Count(50.0)))),
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
            (
                "80 个 token 改成 200 个会怎样",
                Some((Tokens, Count(200.0))),
            ),
            (
                "把 token 由 80 个换成 30 个要多久",
                Some((Tokens, Count(30.0))),
            ),
            (
                "executor 从 8 个减到 2 个会怎样",
                Some((Executors, Count(2.0))),
            ),
            ("token 80 → 200 能快多少", Some((Tokens, Count(200.0)))),
            (
                "What if we go from 80 to 200 tokens?",
                Some((Tokens, Count(200.0))),
            ),
            (
                "Would it be slower with 20 tokens instead of 60?",
                Some((Tokens, Count(20.0))),
            ),
            (
                "What if I give it 120 instead of 50 tokens?",
                Some((Tokens, Count(120.0))),
            ),
            (
                "instead of 8 executors, what if we use 4?",
                Some((Executors, Count(4.0))),
            ),
            (
                "How long would it take if we changed 8 executors to 3?",
                Some((Executors, Count(3.0))),
            ),
        ] {
            let found = Wanted::of(&Reading::of(question)).map(|w| (w.resource, w.amount));
            assert_eq!(found, expected, "{question}");
        }
    }
}
