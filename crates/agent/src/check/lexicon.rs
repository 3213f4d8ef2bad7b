//! Words around numbers in both languages: units, magnitudes, number words, hedges, limits and directions.

use std::ops::Range;

/// The unit or the counted thing of a number, in base units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    Seconds,
    Bytes,
    /// Shares and factors: 22 % is 0.22, 3.6 times is 3.6.
    Ratio,
    Rows,
    Vertices,
    /// Other things that are counted, by their English plural.
    Count(&'static str),
    /// A line of the script.
    Line,
    /// The number of a stage, task or executor: part of a name.
    Index,
    #[default]
    Plain,
}

/// Words with `|` between them; where it is allowed, one that ends with `*` may go on.
pub(super) type Words = &'static str;

/// Words that make a number approximate.
pub(super) const HEDGES: Words =
    "about|around|roughly|approximately|nearly|almost|some|~|≈|大约|约|近|接近|大概|将近";

/// Words before a limit that the value stays below.
pub(super) const BELOW_BEFORE: Words =
    "below|under|less than|fewer than|lower than|smaller than|<|<=|≤|不到|低于|少于|小于|不足";

/// Words before a limit that the value exceeds.
pub(super) const ABOVE_BEFORE: Words = "above|over|more than|exceeds|exceeding|greater than|higher than|larger than|>|>=|≥|超过|高于|多于|大于";

/// Words behind an amount that make it a decrease.
pub(super) const DOWN_AFTER: Words = "less|lower|smaller|fewer|below|under|shorter|faster";

/// Words before an amount that make it a decrease.
pub(super) const DOWN_BEFORE: Words =
    "低|少|小|短|快|减少|降低|下降|缩短|down by|drops by|lower by|shrinks by";

/// Nouns followed by a number that is part of a name.
pub(super) const INDEXED: Words =
    "stage|task|vertex|executor|job|machine|attempt|round|step|think|阶段|顶点|任务|轮|第";

/// Numbers as words; longer ones first where one contains another.
pub(super) const WORDS: &[(Words, f64)] = &[
    ("two thirds|two-thirds", 2.0 / 3.0),
    ("three quarters|three-quarters", 0.75),
    ("a third|one third", 1.0 / 3.0),
    ("a quarter|one quarter", 0.25),
    ("a fifth", 0.2),
    ("half", 0.5),
    ("twice|double|doubles", 2.0),
    ("triple", 3.0),
    ("tenfold", 10.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("twelve", 12.0),
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("hundred", 100.0),
    ("三分之一", 1.0 / 3.0),
    ("三分之二", 2.0 / 3.0),
    ("四分之一", 0.25),
    ("四分之三", 0.75),
    ("五分之一", 0.2),
    ("一半", 0.5),
    ("两倍", 2.0),
    ("三倍", 3.0),
    ("四倍", 4.0),
    ("五倍", 5.0),
    ("十倍", 10.0),
    ("百倍", 100.0),
];

/// Whether a number word is a factor without a unit behind it.
pub(super) fn is_multiple(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let words = ["twice", "double", "doubles", "triple", "tenfold"];
    words.contains(&word.as_str()) || word.ends_with('倍')
}

/// The unit that a text begins with: what it counts, its factor, another factor, and its length.
type Found = (Unit, f64, Option<f64>, usize);

const UNITS: &[(Words, Unit, f64, Option<f64>)] = &[
    (
        "milliseconds|millisecond|ms|毫秒",
        Unit::Seconds,
        1e-3,
        None,
    ),
    ("seconds|second|secs|sec|s|秒", Unit::Seconds, 1.0, None),
    ("minutes|minute|mins|min|分钟|分", Unit::Seconds, 60.0, None),
    ("hours|hour|hrs|h|小时", Unit::Seconds, 3600.0, None),
    ("days|天", Unit::Seconds, 86_400.0, None),
    ("%|percent|per cent|百分点", Unit::Ratio, 0.01, None),
    ("×|x|times|-fold|fold|倍", Unit::Ratio, 1.0, None),
    ("kib", Unit::Bytes, 1024.0, None),
    ("mib", Unit::Bytes, 1_048_576.0, None),
    ("gib", Unit::Bytes, 1_073_741_824.0, None),
    ("tib", Unit::Bytes, 1_099_511_627_776.0, None),
    ("kb", Unit::Bytes, 1e3, Some(1024.0)),
    ("mb", Unit::Bytes, 1e6, Some(1_048_576.0)),
    ("gb", Unit::Bytes, 1e9, Some(1_073_741_824.0)),
    ("tb", Unit::Bytes, 1e12, Some(1_099_511_627_776.0)),
    ("bytes|byte|b|字节", Unit::Bytes, 1.0, None),
];

/// Counted things, by their words.
const NOUNS: &[(Words, Unit)] = &[
    ("rows|row|records|行|记录", Unit::Rows),
    ("vertices|vertex|tasks|task|顶点|任务", Unit::Vertices),
    ("stages|阶段", Unit::Count("stages")),
    ("files|文件", Unit::Count("files")),
    ("columns|列", Unit::Count("columns")),
    ("partitions|分区", Unit::Count("partitions")),
    ("executors|executor", Unit::Count("executors")),
    ("distinct values|values|不同值|值", Unit::Count("values")),
    ("tokens|令牌", Unit::Count("tokens")),
    ("lines", Unit::Count("lines")),
    ("attempts", Unit::Count("attempts")),
];

/// Chinese measure words between a number and its noun.
const MEASURES: &[&str] = &["个", "条", "名", "台"];

pub(super) fn unit(rest: &str, has_magnitude: bool) -> Option<Found> {
    let trimmed = rest.trim_start_matches([' ', '\u{a0}']);
    let skipped = rest.len() - trimmed.len();
    let counted = counted(trimmed).map(|(unit, length)| (unit, 1.0, None, skipped + length));
    if counted.is_some() {
        return counted;
    }
    // After a magnitude only a thing that is counted follows; `63.0 M s` is no duration.
    let mut units = UNITS.iter().filter(|_| !has_magnitude);
    let fits = |word: &&str| begins(trimmed, word) && !is_other_word(trimmed, word);
    units.find_map(|(words, unit, factor, other)| {
        let word = words.split('|').find(fits)?;
        Some((*unit, *factor, *other, skipped + word.len()))
    })
}

fn counted(text: &str) -> Option<(Unit, usize)> {
    let measure = MEASURES.iter().find(|m| text.starts_with(**m));
    let rest = measure.map_or(text, |m| &text[m.len()..]);
    let noun = rest.trim_start();
    let skipped = text.len() - noun.len();
    NOUNS.iter().find_map(|(words, unit)| {
        let word = words.split('|').find(|word| begins(noun, word))?;
        Some((*unit, skipped + word.len()))
    })
}

/// Chinese words that begin like a unit.
fn is_other_word(text: &str, unit: &str) -> bool {
    let next = text[unit.len()..].chars().next();
    unit == "分" && next.is_some_and(|c| "区之组别布开析支配".contains(c))
        || unit == "天" && next.is_some_and(|c| "然".contains(c))
}

/// Whether a text begins with a word that ends there.
pub(super) fn begins(text: &str, word: &str) -> bool {
    let Some(start) = text.get(..word.len()) else {
        return false;
    };
    let next = text[word.len()..].chars().next();
    let ends = next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
    start.eq_ignore_ascii_case(word)
        && (ends || !word.ends_with(|c: char| c.is_ascii_alphanumeric()))
}

/// The factor of the magnitude that a text begins with, and its length; 1 without one.
pub(super) fn magnitude(rest: &str) -> (f64, usize) {
    let trimmed = rest.trim_start_matches([' ', '\u{a0}']);
    let skipped = rest.len() - trimmed.len();
    for (word, factor) in MAGNITUDES {
        if begins(trimmed, word) && trimmed.starts_with(word) {
            let behind = trimmed[word.len()..].trim_start();
            // `512 B` is a size.
            if *word == "B" && counted(behind).is_none() {
                continue;
            }
            return (*factor, skipped + word.len());
        }
    }
    (1.0, 0)
}

const MAGNITUDES: &[(&str, f64)] = &[
    ("万亿", 1e12),
    ("亿", 1e8),
    ("百万", 1e6),
    ("千万", 1e7),
    ("万", 1e4),
    ("千", 1e3),
    ("trillion", 1e12),
    ("billion", 1e9),
    ("million", 1e6),
    ("thousand", 1e3),
    ("K", 1e3),
    ("k", 1e3),
    ("M", 1e6),
    ("B", 1e9),
];

/// Whether a word of a text is not part of a longer one.
pub(super) fn is_whole(text: &str, span: &Range<usize>) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let word = &text[span.clone()];
    let starts = !is_letter(text[..span.start].chars().next_back());
    let ends = !is_letter(text[span.end..].chars().next());
    !word.is_ascii() || starts && ends
}

/// Whether a text ends with one of some words.
pub(super) fn ends_with_word(text: &str, words: &str) -> bool {
    ending(text, words).is_some()
}

fn ending(text: &str, words: &str) -> Option<usize> {
    let text = text.trim_end();
    words.split('|').find_map(|word| {
        let start = text.len().checked_sub(word.len())?;
        let tail = text.get(start..)?;
        (tail.eq_ignore_ascii_case(word) && is_whole(text, &(start..text.len()))).then_some(start)
    })
}

/// A text without the word that it ends with.
pub(super) fn without_word<'t>(text: &'t str, words: &str) -> &'t str {
    ending(text, words).map_or(text, |start| text[..start].trim_end())
}

pub(super) fn starts_with_word(text: &str, words: &str) -> bool {
    words.split('|').any(|word| begins(text, word))
}

/// Where a text contains one of some words: English ones as whole words.
pub(super) fn find_word(lower: &str, words: &str) -> Option<usize> {
    let places = words.split('|').filter_map(|word| find_one(lower, word));
    places.min()
}

pub(super) fn has_word(lower: &str, words: &str) -> bool {
    words.split('|').any(|word| find_one(lower, word).is_some())
}

/// A word that ends with `*` may go on.
fn find_one(lower: &str, word: &str) -> Option<usize> {
    let stem = word.trim_end_matches('*');
    let place = lower.match_indices(stem).find(|(at, _)| {
        // Only its beginning counts for a stem.
        let text = if stem == word {
            lower
        } else {
            &lower[..at + stem.len()]
        };
        is_whole(text, &(*at..at + stem.len()))
    });
    place.map(|(at, _)| at)
}
