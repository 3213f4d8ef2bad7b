//! Numbers in prose with their units, signs and bounds, in both languages: `12 min 58 s`, `630 万行`, `below 2`.

use std::ops::Range;

pub(crate) use super::lexicon::Unit;
use super::lexicon::{
    self, ABOVE_BEFORE, BELOW_BEFORE, DOWN_AFTER, DOWN_BEFORE, HEDGES, INDEXED, WORDS,
};

/// The side of a limit that a phrase names: `below 2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Below,
    Above,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Quantity {
    /// The number as it is written, without its unit.
    pub(crate) span: Range<usize>,
    /// End of the unit.
    pub(crate) end: usize,
    /// In the base unit.
    pub(crate) value: f64,
    /// The number in the unit that it is written with.
    pub(crate) raw: f64,
    /// Another reading: GB as GiB.
    pub(crate) other: Option<f64>,
    /// Half of the last digit, in the base unit.
    pub(crate) half: f64,
    pub(crate) unit: Unit,
    pub(crate) is_percent: bool,
    pub(crate) is_hedged: bool,
    pub(crate) is_negative: bool,
    pub(crate) bound: Option<Bound>,
    /// Less, shorter or lower by this much.
    pub(crate) is_down: bool,
    /// Quoted as code.
    pub(crate) is_code: bool,
}

/// A number without its unit.
struct Figure {
    span: Range<usize>,
    /// Its value as written, without the word for its magnitude.
    value: f64,
    /// Half of the last digit written.
    half: f64,
    is_word: bool,
}

/// The quantities of a text in their order.
pub(crate) fn quantities(text: &str) -> Vec<Quantity> {
    let mut figures: Vec<Figure> = spans(text).filter_map(|span| bare(text, span)).collect();
    figures.extend(words(text));
    figures.sort_by_key(|figure| figure.span.start);
    let mut found: Vec<Quantity> = Vec::new();
    for figure in figures {
        let Some(quantity) = quantity(text, &figure, found.last()) else {
            continue;
        };
        match found.last_mut() {
            Some(last) if continues(text, last, &quantity) => {
                last.value += quantity.value;
                last.half = quantity.half;
                last.end = quantity.end;
            }
            _ => found.push(quantity),
        }
    }
    mark_code(text, &mut found);
    found
}

/// Whether a quantity is the second part of a duration: `12 min` and `58 s`.
fn continues(text: &str, last: &Quantity, next: &Quantity) -> bool {
    let between = text[last.end..next.span.start].trim();
    last.unit == Unit::Seconds
        && next.unit == Unit::Seconds
        && matches!(between, "" | "零" | "and")
        && next.value < last.value / last.raw.max(1.0)
}

fn quantity(text: &str, figure: &Figure, last: Option<&Quantity>) -> Option<Quantity> {
    if figure.is_word {
        return spelled_out(text, figure);
    }
    let before = text[..figure.span.start].trim_end();
    let (magnitude, length) = lexicon::magnitude(&text[figure.span.end..]);
    let end = figure.span.end + length;
    if before.ends_with("百分之") {
        let unit = (Unit::Ratio, 0.01, None);
        return Some(made(text, figure, end, unit, magnitude));
    }
    let found = lexicon::unit(&text[end..], length > 0);
    let (mut unit, factor, other, taken) = found.unwrap_or((Unit::Plain, 1.0, None, 0));
    let is_line = names_lines(text, &figure.span, last);
    if is_line && matches!(unit, Unit::Plain | Unit::Rows | Unit::Count("lines")) {
        unit = Unit::Line;
    } else if matches!(unit, Unit::Plain) && lexicon::ends_with_word(before, INDEXED) {
        unit = Unit::Index;
    }
    let mut quantity = made(text, figure, end + taken, (unit, factor, other), magnitude);
    quantity.is_percent = unit == Unit::Ratio && factor < 1.0;
    Some(quantity)
}

/// Whether a number is a script line: `lines 12–18`, `第 12 行`.
fn names_lines(text: &str, span: &Range<usize>, last: Option<&Quantity>) -> bool {
    let before = text[..span.start].trim_end_matches([' ', '–', '-', '—']);
    let follows = last.is_some_and(|q| q.unit == Unit::Line && q.span.end == before.len());
    let is_ordinal = || {
        let rest = &text[span.end..];
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || " –-—".contains(c));
        before.ends_with('第') && rest.starts_with('行')
    };
    follows || lexicon::ends_with_word(before, "line|lines") || is_ordinal()
}

fn made(
    text: &str,
    figure: &Figure,
    end: usize,
    (unit, factor, other): (Unit, f64, Option<f64>),
    magnitude: f64,
) -> Quantity {
    let (before, after) = (&text[..figure.span.start], text[end..].trim_start());
    let lead = before.trim_end_matches([' ', '*', '`', '(', '（']);
    let is_hedged = lexicon::ends_with_word(lead, HEDGES) || after.starts_with("左右");
    let lead = lexicon::without_word(lead, HEDGES);
    let bound = match () {
        () if lexicon::ends_with_word(lead, BELOW_BEFORE) => Some(Bound::Below),
        () if lexicon::ends_with_word(lead, ABOVE_BEFORE) => Some(Bound::Above),
        () if after.starts_with("以下") || after.starts_with("以内") => Some(Bound::Below),
        () if after.starts_with("以上") => Some(Bound::Above),
        () => None,
    };
    let is_down = lexicon::starts_with_word(after, DOWN_AFTER)
        || bound.is_none() && lexicon::ends_with_word(lead, DOWN_BEFORE);
    let mut signs = before.chars().rev();
    let is_negative = matches!(signs.next(), Some('-' | '−'))
        && signs
            .next()
            .is_none_or(|c| !c.is_alphanumeric() && c != ']' && c != ')');
    let scale = magnitude * factor;
    Quantity {
        span: figure.span.clone(),
        end,
        value: figure.value * scale,
        raw: figure.value,
        other: other.map(|factor| figure.value * magnitude * factor),
        half: figure.half * scale,
        unit,
        is_hedged,
        is_negative,
        bound,
        is_down,
        ..Quantity::default()
    }
}

/// A number word counts only where its unit shows that it is a quantity: `three times`, `一半的行`.
fn spelled_out(text: &str, figure: &Figure) -> Option<Quantity> {
    let (value, end) = (figure.value, figure.span.end);
    let is_fraction = value.fract() != 0.0;
    let (unit, factor, taken) = match lexicon::unit(&text[end..], false) {
        _ if is_fraction || lexicon::is_multiple(&text[figure.span.clone()]) => {
            (Unit::Ratio, 1.0, 0)
        }
        Some((unit @ (Unit::Seconds | Unit::Ratio | Unit::Bytes), factor, _, taken)) => {
            (unit, factor, taken)
        }
        _ => return None,
    };
    let mut quantity = made(text, figure, end + taken, (unit, factor, None), 1.0);
    quantity.half = quantity.value * 0.06;
    quantity.is_hedged = false;
    quantity.is_percent = value < 1.0;
    Some(quantity)
}

/// Marks the numbers between backticks.
fn mark_code(text: &str, found: &mut [Quantity]) {
    let ticks: Vec<usize> = text.match_indices('`').map(|(at, _)| at).collect();
    for quantity in found {
        let before = ticks.partition_point(|at| *at < quantity.span.start);
        quantity.is_code = before % 2 == 1 && before < ticks.len();
    }
}

/// The places of the numbers of a text, leaving out the parts of names (`SV3`, `Join_5`, `E4`), of file names and of dates.
fn spans(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    let numbers = std::iter::from_fn(move || {
        let start = at + text[at..].find(|c: char| c.is_ascii_digit())?;
        at = end_of(text.as_bytes(), start);
        Some(start..at)
    });
    numbers.filter(|span| !is_part_of_name(text, span.start, span.end))
}

/// End of a number: digits, one decimal point, commas between thousands.
fn end_of(bytes: &[u8], start: usize) -> usize {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = start;
    let mut has_point = false;
    loop {
        if is_digit(at) {
            at += 1;
        } else if bytes.get(at) == Some(&b'.') && !has_point && is_digit(at + 1) {
            has_point = true;
            at += 1;
        } else if bytes.get(at) == Some(&b',')
            && !has_point
            && (1..=3).all(|n| is_digit(at + n))
            && !is_digit(at + 4)
        {
            at += 1;
        } else {
            return at;
        }
    }
}

/// Digits that touch letters or `_` before, or a version or date around, belong to a name.
fn is_part_of_name(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let joins =
        |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '#');
    let dotted = before == Some('.')
        || (after == Some('.') && text[end + 1..].starts_with(|c: char| c.is_ascii_digit()));
    // Units may touch a number (`12s`, `3GB`, `5x`); longer runs of letters are names.
    let behind = text[end..].chars();
    let letters = behind.take_while(|c| c.is_ascii_alphanumeric() || *c == '_');
    let letters = letters.count();
    // `app-2026-0001`
    let word = text[..start].rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let word = word.take(1).collect::<String>();
    let hyphened = word.ends_with('-') && word.starts_with(|c: char| c.is_ascii_alphabetic());
    joins(before) || dotted || hyphened || after == Some('_') || letters > 4
}

fn bare(text: &str, span: Range<usize>) -> Option<Figure> {
    let digits = text[span.clone()].replace(',', "");
    let decimals = digits.split_once('.').map_or(0, |(_, d)| d.len());
    Some(Figure {
        span,
        value: digits.parse().ok()?,
        half: 0.5 * 10_f64.powi(-i32::try_from(decimals).ok()?),
        is_word: false,
    })
}

/// Numbers that are written as words.
fn words(text: &str) -> Vec<Figure> {
    let lower = text.to_ascii_lowercase();
    let mut found: Vec<Figure> = Vec::new();
    for (words, value) in WORDS {
        for word in words.split('|') {
            for (at, _) in lower.match_indices(word) {
                let span = at..at + word.len();
                let overlaps =
                    |other: &Figure| other.span.start < span.end && span.start < other.span.end;
                if lexicon::is_whole(&lower, &span) && !found.iter().any(overlaps) {
                    found.push(Figure {
                        span,
                        value: *value,
                        half: 0.0,
                        is_word: true,
                    });
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(f64, Unit)> {
        let found = quantities(text).into_iter();
        let rounded = |v: f64| (v * 1e6).round() / 1e6;
        found.map(|q| (rounded(q.value), q.unit)).collect()
    }

    #[test]
    fn units_of_both_languages_are_read() {
        use Unit::*;
        for (text, expected) in [
            ("ran 12 min 58 s", vec![(778.0, Seconds)]),
            ("运行 2 分 51 秒", vec![(171.0, Seconds)]),
            ("3 h 20 min", vec![(12_000.0, Seconds)]),
            ("915 毫秒", vec![(0.915, Seconds)]),
            ("7.5 M rows", vec![(7.5e6, Rows)]),
            ("6300 万行", vec![(6.3e7, Rows)]),
            ("21.9 万行", vec![(219_000.0, Rows)]),
            ("1.5 B rows", vec![(1.5e9, Rows)]),
            ("512 B", vec![(512.0, Bytes)]),
            ("1.5 KiB", vec![(1536.0, Bytes)]),
            ("占 19 %", vec![(0.19, Ratio)]),
            ("百分之 19", vec![(0.19, Ratio)]),
            ("3.6 times the mean", vec![(3.6, Ratio)]),
            ("是均值的 13.5 倍", vec![(13.5, Ratio)]),
            ("twice the mean", vec![(2.0, Ratio)]),
            ("half of the rows", vec![(0.5, Ratio)]),
            ("三倍", vec![(3.0, Ratio)]),
            ("16 个顶点", vec![(16.0, Vertices)]),
            ("lines 31–40", vec![(31.0, Line), (40.0, Line)]),
            ("脚本第 31–40 行", vec![(31.0, Line), (40.0, Line)]),
            ("Stage 4 has 16 tasks", vec![(4.0, Index), (16.0, Vertices)]),
            ("16 分区", vec![(16.0, Count("partitions"))]),
            ("one vertex and two steps", vec![]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn signs_bounds_and_hedges_are_read() {
        let one = |text: &str| quantities(text).remove(0);
        assert!(one("−22 % of the rows").is_negative);
        assert!(!one("rows 12").is_negative && !one("SV3[15]-22 %").is_negative);
        assert_eq!(one("below 2").bound, Some(Bound::Below));
        assert_eq!(one("不到 2 倍").bound, Some(Bound::Below));
        assert_eq!(one("more than about 3 times").bound, Some(Bound::Above));
        assert!(one("about 25 s").is_hedged && one("约 25 秒").is_hedged);
        assert!(one("3.6 times below the mean").is_down && one("比均值低 3.6 倍").is_down);
    }

    #[test]
    fn names_are_no_numbers() {
        // Only the index in brackets.
        let found = spans("SV35_Combine[77] E44 F17 Join_55 v2.6.1 cl100k");
        assert_eq!(found.count(), 1);
    }
}
