//! Corrects Chinese words that were typed as others of the same sound, as input methods offer them: 数剧 for 数据.
//!
//! A pair of characters that no chunk has is replaced by one that sounds alike, if the pairs around it become so much more frequent.

use std::collections::HashMap;
use std::sync::LazyLock;

use pinyin::ToPinyin;

use super::{Correction, Vocabulary};
use crate::analyze::is_cjk;

/// How much more frequent the pairs must become, as a logarithm: as if a pair that no chunk has were in twenty. Chosen on the tuning judgments.
const GAIN: f64 = 3.0;

/// Characters that have a sound.
const CHARACTERS: std::ops::RangeInclusive<char> = '\u{4e00}'..='\u{9fa5}';

/// `text` with its misspelt pairs replaced.
pub(super) fn correct(
    text: &str,
    vocabulary: &dyn Vocabulary,
    corrections: &mut Vec<Correction>,
) -> String {
    if !text.contains(is_cjk) {
        return text.to_owned();
    }
    let mut text: Vec<char> = text.chars().collect();
    for at in 0..text.len().saturating_sub(1) {
        let pair = [text[at], text[at + 1]];
        let before = at.checked_sub(1).map(|before| text[before]);
        let after = text.get(at + 2).copied();
        let Some(to) = corrected(before, pair, after, vocabulary) else {
            continue;
        };
        text[at..at + 2].copy_from_slice(&to);
        let [from, to] = [pair, to].map(String::from_iter);
        corrections.push(Correction { from, to });
    }
    text.into_iter().collect()
}

/// The replacement of `pair` between its neighbors; `None` if the pair is known or no other pair fits
/// better.
fn corrected(
    before: Option<char>,
    pair: [char; 2],
    after: Option<char>,
    vocabulary: &dyn Vocabulary,
) -> Option<[char; 2]> {
    let frequency = |pair| (vocabulary.chunks(&String::from_iter(pair)) as f64).ln_1p();
    if !pair.into_iter().all(is_cjk) || frequency(pair) > 0.0 {
        return None;
    }
    let beside = |a: Option<char>, b: Option<char>| {
        let pair = a.zip(b).filter(|&(a, b)| is_cjk(a) && is_cjk(b));
        pair.map_or(0.0, |(a, b)| frequency([a, b]))
    };
    let around = |[a, b]: [char; 2]| beside(before, Some(a)) + beside(Some(b), after);
    let needed = around(pair) + GAIN;
    let firsts = like(pair[0]).map(|first| [first, pair[1]]);
    let seconds = like(pair[1]).map(|second| [pair[0], second]);
    let worth = |pair| {
        let frequency = frequency(pair);
        let worth = (frequency > 0.0).then(|| frequency + around(pair))?;
        (worth >= needed).then_some((worth, pair))
    };
    let fitting = firsts.chain(seconds).filter_map(worth);
    fitting.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, to)| to)
}

/// Characters that sound alike, the same one included.
fn like(c: char) -> impl Iterator<Item = char> {
    static ALIKE: LazyLock<HashMap<u64, Vec<char>>> = LazyLock::new(|| {
        let mut alike: HashMap<u64, Vec<char>> = HashMap::new();
        for c in CHARACTERS {
            if let Some(sound) = sound(c) {
                alike.entry(sound).or_default().push(c);
            }
        }
        alike
    });
    let alike = sound(c).and_then(|sound| ALIKE.get(&sound));
    alike.into_iter().flatten().copied()
}

/// The letters of a sound without tone, in one number; `zh` and `z`, `ang` and `an` are one, as many people speak.
fn sound(c: char) -> Option<u64> {
    let letters = c.to_pinyin()?.plain().as_bytes();
    let (first, rest) = letters.split_first()?;
    let rest = rest.iter().filter(|letter| !matches!(letter, b'h' | b'g'));
    let add = |all, &letter: &u8| all << 8 | u64::from(letter);
    Some(rest.fold(u64::from(*first), add))
}
