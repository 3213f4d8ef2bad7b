//! Numbers in prose against the numbers that are known.
//!
//! A number is known if it occurs in the facts, findings, suggestions, experience or files that the
//! step saw, as written, rounded, as a percentage, or in another unit of size or time.

use std::ops::Range;

/// Largest whole number that may be a mere count of things in the text ("two causes", "3 steps").
pub(crate) const COUNT: f64 = 12.0;

/// Relative difference that rounding in words ("about 1.2 billion") may make.
pub(crate) const ROUNDING: f64 = 0.011;

/// Factors between a value and how it may be said: percent, thousands, binary sizes, ms to s to
/// minutes to hours, and the Chinese ten thousand and hundred million.
pub(crate) const FACTORS: &[f64] = &[
    1.0,
    100.0,
    0.01,
    1e-3,
    1e3,
    1e-6,
    1e6,
    1e-9,
    1e9,
    1e-12,
    1e-4,
    1e-8,
    1.0 / 60.0,
    60.0,
    1.0 / 3600.0,
    1.0 / 60_000.0,
    1.0 / 3_600_000.0,
    1.0 / 1024.0,
    1.0 / 1_048_576.0,
    1.0 / 1_073_741_824.0,
    1.0 / 1_099_511_627_776.0,
];

/// A number in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// Where it stands.
    pub(crate) span: Range<usize>,
    /// Its value as written, without its unit.
    pub(crate) value: f64,
    /// Half of the last digit written.
    pub(crate) half: f64,
}

/// Every number that may be quoted.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Sorted, positive.
    values: Vec<f64>,
    /// Sorted; the part of `values` that units and percentages are applied to.
    measured: Vec<f64>,
}

impl Numbers {
    /// Collects numbers: `measured` values and every number in `texts`.
    pub(super) fn new<'a>(
        measured: impl IntoIterator<Item = f64>,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Numbers {
        let finite = measured.into_iter().filter(|v| v.is_finite());
        let mut measured: Vec<f64> = finite.map(f64::abs).collect();
        let mut values: Vec<f64> = measured.clone();
        for text in texts {
            values.extend(figures(text).into_iter().map(|f| f.value));
        }
        let shares = measured.iter().filter(|v| **v <= 1.0);
        let others: Vec<f64> = shares.map(|v| 1.0 - v).collect();
        measured.extend(others);
        measured.sort_by(f64::total_cmp);
        values.sort_by(f64::total_cmp);
        values.dedup();
        Numbers { values, measured }
    }

    /// Whether a number of an answer is known.
    pub(super) fn knows(&self, figure: &Figure) -> bool {
        let value = figure.value;
        let is_count = value.fract() == 0.0 && value <= COUNT;
        is_count
            || near(&self.values, value, figure.half)
            || FACTORS
                .iter()
                .any(|factor| near(&self.measured, value / factor, figure.half / factor))
    }
}

/// Whether a sorted list holds a value within rounding.
fn near(sorted: &[f64], value: f64, half: f64) -> bool {
    let rounding = if half >= 0.5 {
        ROUNDING / 10.0
    } else {
        ROUNDING
    };
    let tolerance = (half * 1.0001).max(value * rounding);
    let start = sorted.partition_point(|v| *v < value - tolerance);
    sorted.get(start).is_some_and(|v| *v <= value + tolerance)
}

/// The numbers of a text, leaving out those that are parts of names (`SV3`, `Join_5`, `E4`), of
/// file names and of dates.
pub(crate) fn figures(text: &str) -> Vec<Figure> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let end = end_of(bytes, at);
        if !is_part_of_name(text, at, end) {
            found.extend(figure(text, at..end));
        }
        at = end;
    }
    found
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
    joins(before) || dotted || after == Some('_') || letters > 4
}

fn figure(text: &str, span: Range<usize>) -> Option<Figure> {
    let digits = text[span.clone()].replace(',', "");
    let value: f64 = digits.parse().ok()?;
    let decimals = digits.split_once('.').map_or(0, |(_, d)| d.len());
    let half = 0.5 * 10_f64.powi(-i32::try_from(decimals).ok()?);
    let factor = word_factor(&text[span.end..]);
    Some(Figure {
        span,
        value: value * factor,
        half: half * factor,
    })
}

/// Factor of a word behind a number.
fn word_factor(rest: &str) -> f64 {
    let rest = rest.trim_start_matches(' ');
    let words = [
        ("万亿", 1e12),
        ("亿", 1e8),
        ("万", 1e4),
        ("trillion", 1e12),
        ("billion", 1e9),
        ("million", 1e6),
        ("thousand", 1e3),
    ];
    let named = words.iter().find(|(word, _)| rest.starts_with(word));
    named.map_or(1.0, |(_, factor)| *factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(text: &str) -> Vec<String> {
        let known = Numbers::new(
            [41.23, 0.4137, 840.4, 1_047_020.0, 3_221_225_472.0, 95_000.0],
            ["script lines 18–25, 200 vertices"],
        );
        let unknown = figures(text).into_iter().filter(|f| !known.knows(f));
        unknown.map(|f| text[f.span].to_owned()).collect()
    }

    #[test]
    fn quotations_within_rounding_are_known() {
        for text in [
            "41.2 times",
            "about 41x",
            "41%",
            "41.4 %",
            "saves 840 s",
            "14 minutes",
            "1,047,020 rows",
            "1.05 million rows",
            "104.7 万行",
            "3 GB",
            "3.0 GiB",
            "3.22 GB",
            "95 s",
            "line 18",
            "200 vertices",
            "two steps, 3 files",
            "59% of the rest",
        ] {
            assert_eq!(unknown(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn invented_numbers_are_not() {
        let text = "99.5 times and 1,200,000 rows";
        assert_eq!(unknown(text), ["99.5", "1,200,000"]);
        assert_eq!(unknown("占 87%"), ["87"]);
        assert_eq!(unknown("需要 3000 秒"), ["3000"]);
    }

    #[test]
    fn names_are_no_numbers() {
        // Only the index in brackets.
        let found = figures("SV35_Combine[77] E44 F17 Join_55 v2.6.1 cl100k");
        assert_eq!(found.len(), 1);
    }
}
