//! Looks numbers up in the files of a job by the places that a source names, without the readers of the program.

use std::path::{Path, PathBuf};

use report::Source;
use report::measure::Fold;
use serde_json::Value as Json;

use crate::{events, log, xml};

/// A job folder, or an event log.
pub(crate) struct Files {
    path: PathBuf,
    log: Option<log::Log>,
}

/// What a place can hold: several lists of numbers where its name is ambiguous or its unit is another one.
pub(crate) type Readings = Vec<Vec<f64>>;

impl Files {
    pub(crate) fn open(path: &Path) -> Files {
        Files {
            path: path.to_path_buf(),
            log: path.is_file().then(|| log::Log::read(path)),
        }
    }

    pub(crate) fn is_log(&self) -> bool {
        self.log.is_some()
    }

    fn text(&self, file: &str) -> Result<String, String> {
        let bytes = std::fs::read(self.path.join(file)).map_err(|e| format!("{file}: {e}"))?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.trim_start_matches('\u{feff}').to_owned())
    }

    /// The numbers at a place.
    pub(crate) fn readings(&self, source: &Source) -> Result<Readings, String> {
        let locator = source.locator.as_deref();
        if let Some(log) = &self.log {
            return Ok(locator.map_or_else(Vec::new, |locator| log.readings(locator)));
        }
        let text = self.text(&source.file)?;
        let Some(locator) = locator else {
            return Ok(Vec::new());
        };
        if let Some((from, to)) = locator
            .split_once(" to ")
            .filter(|(from, _)| from.starts_with("line "))
        {
            return Ok(events::between(&text, from, to));
        }
        if let Some(line) = locator.strip_prefix("line ") {
            let number: usize = line.parse().map_err(|_| locator.to_owned())?;
            let line = text.lines().nth(number - 1).ok_or("no such line")?;
            return Ok(vec![tokens(line)]);
        }
        if locator.starts_with('/') {
            let json: Json = serde_json::from_str(&text).map_err(|e| e.to_string())?;
            let value = json.pointer(locator).ok_or("no such pointer")?;
            return Ok(vec![of_json(value)]);
        }
        match text.trim_start().starts_with('<') {
            true => Ok(xml::readings(&text, locator)),
            false => Ok(events::readings(&text, locator)),
        }
    }

    /// Whether the numbers at a place, folded, give this number.
    pub(crate) fn check(
        &self,
        fold: Option<Fold>,
        source: &Source,
        number: f64,
    ) -> Result<(), String> {
        let readings = self.readings(source)?;
        let holds = |numbers: &Vec<f64>| match fold {
            None => numbers.iter().any(|n| is_same(*n, number)),
            Some(fold) => is_same(folded(fold, numbers), number),
        };
        match readings.iter().any(holds) {
            true => Ok(()),
            false => {
                let shown: Vec<_> = readings
                    .iter()
                    .map(|r| &r[..r.len().min(5)])
                    .take(4)
                    .collect();
                Err(format!(
                    "{source:?} has {shown:?} and not {number} ({fold:?})"
                ))
            }
        }
    }
}

pub(crate) fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}

fn folded(fold: Fold, numbers: &[f64]) -> f64 {
    let max = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let min = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let sum: f64 = numbers.iter().sum();
    match fold {
        Fold::Sum => sum,
        Fold::Mean => sum / numbers.len() as f64,
        Fold::Max if numbers.is_empty() => 0.0,
        Fold::Max => max,
        Fold::Min => min,
        Fold::Count => numbers.len() as f64,
        Fold::Span => max - min,
        Fold::Median => {
            let mut sorted = numbers.to_vec();
            sorted.sort_by(f64::total_cmp);
            // the reader takes the lower of two middle ones
            sorted
                .get(sorted.len().saturating_sub(1) / 2)
                .copied()
                .unwrap_or(f64::NAN)
        }
    }
}

/// Every number in a JSON value.
fn of_json(value: &Json) -> Vec<f64> {
    match value {
        Json::Number(n) => n.as_f64().into_iter().collect(),
        Json::String(text) => of_text(text),
        Json::Array(items) => items.iter().flat_map(of_json).collect(),
        Json::Object(fields) => fields.values().flat_map(of_json).collect(),
        _ => Vec::new(),
    }
}

/// The numbers that a text may stand for: itself, its seconds as a time span, the numbers in it.
pub(crate) fn of_text(text: &str) -> Vec<f64> {
    let mut numbers: Vec<f64> = text.trim().parse().into_iter().collect();
    let parts: Vec<&str> = text.trim().split(':').collect();
    if let [hours, minutes, seconds] = parts[..] {
        let (days, hours) = hours.split_once('.').unwrap_or(("0", hours));
        let all = [days, hours, minutes, seconds].map(str::parse::<f64>);
        if let [Ok(d), Ok(h), Ok(m), Ok(s)] = all {
            let seconds = d * 86_400.0 + h * 3600.0 + m * 60.0 + s;
            numbers.extend([seconds, seconds * 1e3]);
        }
    }
    if let Some(duration) = text.trim().strip_prefix("PT") {
        let seconds = iso_seconds(duration);
        numbers.extend([seconds, seconds * 1e3]);
    }
    numbers.extend(tokens(text));
    numbers
}

/// Seconds of an ISO 8601 duration behind `PT`: `1M30.5S`.
fn iso_seconds(duration: &str) -> f64 {
    let parts = duration.split_inclusive(|c: char| c.is_ascii_alphabetic());
    let seconds = parts.map(|part| {
        let (number, unit) = part.split_at(part.len().saturating_sub(1));
        let scale = match unit {
            "H" => 3600.0,
            "M" => 60.0,
            _ => 1.0,
        };
        scale * number.parse().unwrap_or(0.0)
    });
    seconds.sum()
}

fn tokens(text: &str) -> Vec<f64> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.filter_map(|word| word.parse().ok()).collect()
}
