//! Reads pasted counters: a largest value far above the mean is skew, whatever the counter is called.

/// From this ratio on, the unevenness itself is what a pasted line shows: below, vertices differ as much by chance.
const SKEWED: f64 = 4.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    Largest,
    Mean,
}

/// Values of different dimensions can't be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension {
    Seconds,
    Bytes,
    Count,
}

/// Words that announce a statistic; English ones match the start of a word, as in `maxDataRead`.
const ANNOUNCED: [(&str, Statistic); 13] = {
    use Statistic::*;
    [
        ("max", Largest),
        ("longest", Largest),
        ("largest", Largest),
        ("slowest", Largest),
        ("最大", Largest),
        ("最长", Largest),
        ("最多", Largest),
        ("最慢", Largest),
        ("avg", Mean),
        ("average", Mean),
        ("mean", Mean),
        ("median", Mean),
        ("平均", Mean),
    ]
};

const UNITS: [(&str, Dimension, f64); 24] = {
    use Dimension::*;
    [
        ("ms", Seconds, 1e-3),
        ("minutes", Seconds, 60.0),
        ("minute", Seconds, 60.0),
        ("min", Seconds, 60.0),
        ("million", Count, 1e6),
        ("m", Seconds, 60.0),
        ("seconds", Seconds, 1.0),
        ("sec", Seconds, 1.0),
        ("s", Seconds, 1.0),
        ("hours", Seconds, 3600.0),
        ("hour", Seconds, 3600.0),
        ("h", Seconds, 3600.0),
        ("kb", Bytes, 1e3),
        ("mb", Bytes, 1e6),
        ("gb", Bytes, 1e9),
        ("tb", Bytes, 1e12),
        ("billion", Count, 1e9),
        ("毫秒", Seconds, 1e-3),
        ("秒", Seconds, 1.0),
        ("分钟", Seconds, 60.0),
        ("分", Seconds, 60.0),
        ("小时", Seconds, 3600.0),
        ("万", Count, 1e4),
        ("亿", Count, 1e8),
    ]
};

/// How often the largest value of a counter exceeds its mean, if both are given and that is skew.
pub(super) fn skew(text: &str) -> Option<f64> {
    let values = values(&text.to_lowercase());
    let of = |statistic| values.iter().filter(move |(s, ..)| *s == statistic);
    let ratios = of(Statistic::Largest).flat_map(|(_, dimension, largest)| {
        let means = of(Statistic::Mean).filter(move |(_, d, mean)| d == dimension && *mean > 0.0);
        means.map(move |(_, _, mean)| largest / mean)
    });
    let ratio = ratios.fold(0.0, f64::max);
    (ratio >= SKEWED).then_some(ratio)
}

/// The values that a statistic announces.
fn values(text: &str) -> Vec<(Statistic, Dimension, f64)> {
    let mut out = Vec::new();
    let mut announced = None;
    let (mut rest, mut at_start) = (text, true);
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_digit() {
            let (value, dimension, length) = quantity(rest);
            if let Some(statistic) = announced.take() {
                out.push((statistic, dimension, value));
            }
            rest = &rest[length..];
            continue;
        }
        let may_start = at_start || !first.is_ascii();
        let mut words = ANNOUNCED.iter().filter(|_| may_start);
        if let Some((_, statistic)) = words.find(|(word, _)| rest.starts_with(word)) {
            announced = Some(*statistic);
        }
        at_start = !first.is_alphanumeric();
        rest = &rest[first.len_utf8()..];
    }
    out
}

/// A number with its unit, or several in a row (`38m12s`): value, dimension and bytes read.
fn quantity(text: &str) -> (f64, Dimension, usize) {
    let (mut total, mut at) = (0.0, 0);
    let mut dimension = Dimension::Count;
    loop {
        let number = &text[at..];
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let length = number.find(|c| !is_number(c)).unwrap_or(number.len());
        let digits = number[..length]
            .trim_end_matches(['.', ','])
            .replace(',', "");
        let (Ok(value), false) = (digits.parse::<f64>(), length == 0) else {
            return (total, dimension, at.max(1));
        };
        at += length;
        let spaced = &text[at..];
        let unit_text = spaced.trim_start_matches(' ');
        let unit = UNITS.iter().find(|(name, ..)| {
            let after = unit_text
                .strip_prefix(name)
                .and_then(|rest| rest.chars().next());
            unit_text.starts_with(name)
                && (!name.is_ascii() || !after.is_some_and(|c| c.is_ascii_alphabetic()))
        });
        let Some(&(name, unit_dimension, factor)) = unit else {
            return (total + value, dimension, at);
        };
        total += value * factor;
        dimension = unit_dimension;
        at += spaced.len() - unit_text.len() + name.len();
        let next = text[at..].trim_start_matches(' ');
        let continues =
            dimension == Dimension::Seconds && next.starts_with(|c: char| c.is_ascii_digit());
        if !continues {
            return (total, dimension, at);
        }
        at = text.len() - next.len();
    }
}

#[cfg(test)]
mod tests {
    use super::skew;

    #[test]
    fn a_largest_value_far_above_the_mean_is_skew() {
        for (text, expected) in [
            ("avg time 42 s, max time 38m12s", Some(55)),
            ("maxDataRead=96 GB meanDataRead=0.8 GB", Some(120)),
            ("平均 42 秒，最长 38 分 12 秒", Some(55)),
            ("最多读 8 亿行，平均 200 万行", Some(400)),
            ("max rows 812,334,112, avg rows 3,120,448", Some(260)),
            // even, of different dimensions, or without a mean
            ("avg 42 s, max 60 s", None),
            ("average input 1 MB, longest 38 min", None),
            ("max 900 rows", None),
            ("climax 900, average 1", None),
            ("", None),
        ] {
            assert_eq!(
                skew(text).map(|ratio| ratio.round() as i64),
                expected,
                "{text}"
            );
        }
    }
}
