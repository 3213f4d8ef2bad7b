//! Times in a question, and the time that the user wants to reach.

use crate::Asked;
use crate::reading::Reading;
use crate::word::{Cue, Quantity};

/// The run time in a question that the user wants to reach, in seconds.
pub(crate) fn of(
    text: &str,
    reading: &Reading,
    asked: &[Quantity],
    run: &Asked<'_>,
) -> Option<f64> {
    let job = &run.report.job;
    let is_near = |said: f64, known: Option<f64>| {
        known.is_some_and(|k| (said - k).abs() <= 0.25 * k.max(30.0))
    };
    let is_known =
        |said: f64| is_near(said, job.elapsed_seconds) || is_near(said, job.total_seconds);
    let said = durations(text);
    let other = said.iter().copied().find(|s| !is_known(*s));
    let changes = asked.contains(&Quantity::Change);
    let elapsed = job.elapsed_seconds;
    let half = elapsed
        .filter(|_| reading.shows(Cue::Half) && !changes)
        .map(|s| s / 2.0);
    // the user explains a time of the run, or wants to reach one
    let sets_goal = reading.shows(Cue::Goal) && !reading.shows(Cue::Why);
    other.filter(|_| sets_goal && !changes).or(half)
}

/// Durations in a text, in seconds: `8 minutes`, `1.5h`, `12 分钟`.
pub(crate) fn durations(text: &str) -> Vec<f64> {
    const UNITS: &[(&str, f64)] = &[
        ("毫秒|ms", 0.001),
        ("秒|s|sec|secs|second|seconds", 1.0),
        ("分|m|min|mins|minute|minutes", 60.0),
        ("小时|个小时|h|hr|hrs|hour|hours", 3600.0),
        ("个半小时", 5400.0),
    ];
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    let mut rest = lower.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let number = &rest[at..];
        let end = number
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(number.len());
        let after = number[end..].trim_start_matches([' ', '-']);
        let word_end = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let is_it = |unit: &str| match unit.is_ascii() {
            true => after[..word_end] == *unit,
            false => after.starts_with(unit),
        };
        let fits = |(units, _): &&(&str, f64)| units.split('|').any(is_it);
        let unit = UNITS.iter().find(fits);
        if let (Some((_, seconds)), Ok(n)) = (unit, number[..end].parse::<f64>()) {
            found.push(n * seconds);
        }
        rest = &number[end..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_both_languages() {
        for (text, seconds) in [
            ("in half the time (8 minutes today)", &[480.0][..]),
            ("SLA(12 分钟)", &[720.0]),
            ("跑了 1.5 小时，想压到 30 分钟", &[5400.0, 1800.0]),
            ("2h or 45s", &[7200.0, 45.0]),
            ("1,000 rows in 3 stages", &[]),
        ] {
            assert_eq!(durations(text), seconds, "{text}");
        }
    }
}
