//! Facts: small functions that read or compute one value of a job and say where it stands.
//!
//! They know the shape of the files, not what a value means.

use job::facts::Measured;
use job::model::{Source, Stage};

use crate::model::{Fact, Text, Value};

/// A sentence in both languages.
pub(crate) fn text(zh: impl Into<String>, en: impl Into<String>) -> Text {
    Text {
        zh: zh.into(),
        en: en.into(),
    }
}

/// A number with its place.
pub(crate) fn number(
    metric: &str,
    value: f64,
    unit: &'static str,
    source: Source,
    says: Text,
) -> Fact {
    Fact {
        metric: metric.to_owned(),
        value: value.into(),
        unit: Some(unit),
        expected: None,
        source,
        text: says,
    }
}

/// A text with its place.
pub(crate) fn word(metric: &str, value: &str, source: Source, says: Text) -> Fact {
    Fact {
        metric: metric.to_owned(),
        value: Value::Text(value.to_owned()),
        unit: None,
        expected: None,
        source,
        text: says,
    }
}

impl Fact {
    /// Says what a healthy job would show.
    #[must_use]
    pub(crate) fn expecting(mut self, expected: impl Into<String>) -> Fact {
        self.expected = Some(expected.into());
        self
    }
}

/// A number as the file has it; `None` if no file has it.
pub(crate) fn measured<'a>(
    number_of: impl Into<Option<&'a Measured>>,
    unit: &'static str,
) -> Option<Fact> {
    let found = number_of.into()?;
    let (name, place) = (found.metric, found.subject());
    let shown = with_unit(found.value, unit);
    let says = text(
        format!("{place} 的 {name} 为 {shown}"),
        format!("{name} of {place} is {shown}"),
    );
    Some(number(name, found.value, unit, found.source(), says))
}

/// A place in the vertex events of a stage.
pub(crate) fn events_source(stage: &Stage) -> Option<Source> {
    let runs = stage.runs.as_ref()?;
    Some(Source {
        file: runs.file.clone(),
        locator: Some(stage.name.clone()),
    })
}

/// A number as a person reads it: `2.1 GB`, `1.4 million rows`, `37 s`.
pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "bytes" => bytes(value),
        "ms" => seconds(value / 1000.0),
        "s" => seconds(value),
        "ratio" => format!("{value:.1}×"),
        "%" => format!("{value:.0} %"),
        "share" => percent(value),
        "rows" | "vertices" | "files" | "count" | "partitions" => count(value),
        _ => format!("{} {unit}", count(value)),
    }
}

/// `1,234,567`, from ten million on `12.3 M`.
pub(crate) fn count(value: f64) -> String {
    if value.abs() >= 1e9 {
        return format!("{:.2} G", value / 1e9);
    }
    if value.abs() >= 1e7 {
        return format!("{:.1} M", value / 1e6);
    }
    let digits = format!("{:.0}", value.abs());
    let mut out = String::with_capacity(digits.len() + 4);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    if value < 0.0 { format!("-{out}") } else { out }
}

/// `2.1 GB` (decimal, as the files' tools print them).
pub(crate) fn bytes(value: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")];
    match UNITS.iter().find(|(size, _)| value.abs() >= *size) {
        Some((size, name)) => format!("{:.1} {name}", value / size),
        None => format!("{value:.0} B"),
    }
}

/// `37 s`, from two minutes on `4.2 min`, from two hours on `3.1 h`.
pub(crate) fn seconds(value: f64) -> String {
    if value >= 7200.0 {
        format!("{:.1} h", value / 3600.0)
    } else if value >= 120.0 {
        format!("{:.1} min", value / 60.0)
    } else if value >= 10.0 {
        format!("{value:.0} s")
    } else {
        format!("{value:.1} s")
    }
}

/// `41 %`, under one percent with a digit more.
pub(crate) fn percent(share: f64) -> String {
    if share.abs() < 0.1 {
        format!("{:.1} %", share * 100.0)
    } else {
        format!("{:.0} %", share * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_a_person_would_write_them() {
        assert_eq!(count(1_234_567.0), "1,234,567");
        assert_eq!(count(999.0), "999");
        assert_eq!(bytes(2_142_961_860.0), "2.1 GB");
        assert_eq!(seconds(862.3), "14.4 min");
        assert_eq!(percent(0.034), "3.4 %");
    }
}
