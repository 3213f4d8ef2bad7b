//! Small pieces of wording that both languages and all steps share: figures, sizes, lists.

use job::model::ExchangeKind;

use crate::report::Language;

/// A number as people write it: whole where it is large, three significant digits otherwise, with
/// commas between thousands.
pub(crate) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let magnitude = value.abs();
    if magnitude >= 100.0 || value.fract() == 0.0 {
        return with_commas(value.round());
    }
    let decimals = if magnitude >= 10.0 {
        1
    } else if magnitude >= 1.0 {
        2
    } else {
        3
    };
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn with_commas(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if value < 0.0 && digits != "0" {
        format!("-{out}")
    } else {
        out
    }
}

/// Joins items as a sentence does: `a, b and c`, `a、b和c`.
pub(crate) fn list(items: &[String], language: Language) -> String {
    let (comma, and) = match language {
        Language::Zh => ("、", "和"),
        Language::En => (", ", " and "),
    };
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{}{and}{last}", head.join(comma)),
    }
}

/// A fragment as a sentence: a capital at its beginning (unless it begins with a name) and a stop
/// at its end.
pub(crate) fn sentence(text: &str, language: Language) -> String {
    let text = text.trim();
    let first_word = text.split_whitespace().next().unwrap_or_default();
    let is_plain = first_word
        .chars()
        .all(|c| c.is_ascii_lowercase() || c == ',');
    let mut out = match (is_plain, text.chars().next()) {
        (true, Some(first)) => format!(
            "{}{}",
            first.to_ascii_uppercase(),
            &text[first.len_utf8()..]
        ),
        _ => text.to_owned(),
    };
    if !out.is_empty() && !out.ends_with(['.', '。', '!', '?', '！', '？', ':', '：']) {
        out.push(match language {
            Language::Zh => '。',
            Language::En => '.',
        });
    }
    out
}

/// The sentence that names the experience behind a text; empty without any.
pub(crate) fn citing(chunks: &[String], language: Language) -> String {
    match language {
        _ if chunks.is_empty() => String::new(),
        Language::Zh => format!("相关经验：{}。", chunks.join(", ")),
        Language::En => format!(" Experience: {}.", chunks.join(", ")),
    }
}

/// Code of an exchange in pictures, shapes and comparisons.
pub(crate) fn exchange_code(exchange: ExchangeKind) -> &'static str {
    match exchange {
        ExchangeKind::Hash => "hash",
        ExchangeKind::Range => "range",
        ExchangeKind::Broadcast => "broadcast",
        ExchangeKind::Gather => "gather",
        ExchangeKind::OneToOne => "one_to_one",
        ExchangeKind::Unknown => "unknown",
    }
}

/// Seconds as a person says them: `3.2 s`, `12 min 5 s`, `3 h 20 min`.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as i64;
    match whole {
        ..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Bytes as a person says them, in powers of 1,024.
pub(crate) fn bytes(value: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let steps = (0..UNITS.len() - 1)
        .take_while(|i| value >= 1024_f64.powi(*i as i32 + 1))
        .count();
    let digits = usize::from(steps > 0);
    format!(
        "{:.digits$} {}",
        value / 1024_f64.powi(steps as i32),
        UNITS[steps]
    )
}

/// `text` cut to at most `max` bytes at a character boundary.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max.min(text.len()))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_what_matters() {
        for (value, expected) in [
            (0.0, "0"),
            (3.0, "3"),
            (41.23, "41.2"),
            (0.0456, "0.046"),
            (1234.5, "1,235"),
            (1_047_020.0, "1,047,020"),
            (-1500.0, "-1,500"),
            (2.5, "2.5"),
        ] {
            assert_eq!(figure(value), expected, "{value}");
        }
    }

    #[test]
    fn lists_end_with_and() {
        let items = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        assert_eq!(list(&items, Language::En), "a, b and c");
        assert_eq!(list(&items, Language::Zh), "a、b和c");
        assert_eq!(list(&items[..1], Language::Zh), "a");
    }

    #[test]
    fn fragments_become_sentences() {
        let en = |text| sentence(text, Language::En);
        assert_eq!(en("the stage is slow"), "The stage is slow.");
        assert_eq!(en("SV3_Combine is slow."), "SV3_Combine is slow.");
        assert_eq!(en("tables.json holds it"), "tables.json holds it.");
        assert_eq!(sentence("倾斜", Language::Zh), "倾斜。");
    }

    #[test]
    fn cutting_keeps_characters_whole() {
        assert_eq!(cut("倾斜", 4), "倾");
        assert_eq!(cut("ab", 9), "ab");
    }
}
