//! Times and durations in the forms that job files use, as milliseconds.

/// Milliseconds since 1970 of an ISO time; UTC if it has no offset.
pub(crate) fn iso_ms(text: &str) -> Option<i64> {
    let text = text.trim();
    let time = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    });
    time.map(|t| t.as_millisecond())
}

/// Milliseconds since 1970 of a FILETIME (ticks of 100 ns since 1601).
pub(crate) fn filetime_ms(ticks: i64) -> Option<i64> {
    // 11,644,473,600 s are between 1601 and 1970
    let ms = (ticks / 10_000).checked_sub(11_644_473_600_000);
    ms.filter(|ms| *ms > 0)
}

pub(crate) fn ticks_seconds(ticks: f64) -> f64 {
    ticks / 1e7
}

/// Seconds of a .NET time span: `[-][d.]hh:mm:ss[.fffffff]`.
pub(crate) fn span_seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let rest = text.strip_prefix('-');
    let (sign, text) = rest.map_or((1.0, text), |rest| (-1.0, rest));
    let parts: Vec<&str> = text.split(':').collect();
    let [first, minutes, seconds] = parts[..] else {
        return None;
    };
    let (days, hours) = first.split_once('.').unwrap_or(("0", first));
    let number = |text: &str| -> Option<f64> {
        let number: f64 = text.parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    };
    let total = number(days)? * 86_400.0 + number(hours)? * 3_600.0 + number(minutes)? * 60.0;
    Some(sign * (total + number(seconds)?))
}

/// Milliseconds of an ISO 8601 duration: `PT3H9M54.875S`, `P1DT2H`. Months and years have no
/// fixed length and make it `None`.
pub(crate) fn duration_ms(text: &str) -> Option<f64> {
    let text = text.trim();
    let span: jiff::Span = match text {
        "PT" => return Some(0.0),
        _ if text.starts_with('P') => text.parse().ok()?,
        _ => return None,
    };
    let days_have_24_hours = jiff::SpanRelativeTo::days_are_24_hours();
    Some(span.to_duration(days_have_24_hours).ok()?.as_millis_f64())
}

/// Milliseconds of a duration in a setting of Spark: `30s`, `500ms`, `2min`; a bare number counts in units of
/// `unit` milliseconds.
pub(crate) fn setting_ms(text: &str, unit: i64) -> Option<i64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => unit,
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    digits.trim().parse::<i64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_every_unit() {
        for (text, expected) in [
            ("500", Some(500)),
            ("500ms", Some(500)),
            ("30s", Some(30_000)),
            ("30 s", Some(30_000)),
            ("2m", Some(120_000)),
            ("2min", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("1week", None),
            ("s", None),
            ("", None),
        ] {
            assert_eq!(setting_ms(text, 1), expected, "{text}");
        }
        assert_eq!(setting_ms("60", 1_000), Some(60_000));
    }

    #[test]
    fn forms_of_job_files() {
        for (text, ms) in [
            ("2024-06-27T15:42:53.8837980-07:00", Some(1_719_528_173_883)),
            ("1970-01-01T00:00:01", Some(1_000)),
            ("yesterday", None),
        ] {
            assert_eq!(iso_ms(text), ms);
        }
        let ms = filetime_ms(129_140_295_499_437_263);
        assert_eq!(ms, Some(1_269_555_949_943));
        assert_eq!(filetime_ms(i64::MIN), None);
        assert!(span_seconds("00:03:32.6206294").is_some_and(|s| (s - 212.620_629_4).abs() < 1e-9));
        assert_eq!(span_seconds("1.02:00:00"), Some(93_600.0));
        assert_eq!(span_seconds("-00:00:01"), Some(-1.0));
        assert_eq!(span_seconds("1:2"), None);
        assert_eq!(duration_ms("PT3H9M54.875S"), Some(11_394_875.0));
        assert_eq!(duration_ms("P1DT1S"), Some(86_401_000.0));
        assert_eq!(duration_ms("P1M"), None);
        assert_eq!(duration_ms("PT"), Some(0.0));
    }
}
