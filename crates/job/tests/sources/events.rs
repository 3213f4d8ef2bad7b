//! Places in vertex events: `SV3_Combine/running to ended` is that time of every completed attempt.

use crate::files::Readings;

struct Attempt {
    stage: String,
    state: String,
    /// Created, queued, started, running, ended, in milliseconds.
    times: Vec<f64>,
    read: f64,
    written: f64,
}

pub(crate) fn readings(text: &str, locator: &str) -> Readings {
    let (stage, field) = locator.split_once('/').unwrap_or((locator, ""));
    let attempts: Vec<Attempt> = text.lines().filter_map(attempt).collect();
    let of_stage = attempts.iter().filter(|a| stage == "*" || a.stage == stage);
    let of_stage: Vec<&Attempt> = of_stage.collect();
    let completed = || of_stage.iter().filter(|a| a.state == "Completed");
    let between = |a: &Attempt, from: usize, to: usize| (a.times[to] - a.times[from]).max(0.0);
    let times = |from, to| completed().map(|a| between(a, from, to)).collect();
    let in_state = |state: &str| {
        let found = of_stage.iter().filter(|a| a.state == state);
        found.map(|_| 1.0).collect()
    };
    vec![match field {
        "created to started" => times(0, 2),
        "started to running" => times(2, 3),
        "running to ended" => times(3, 4),
        "running to ended, lost" => {
            let lost = of_stage.iter().filter(|a| a.state != "Completed");
            lost.map(|a| between(a, 3, 4)).collect()
        }
        "created to ended" => of_stage
            .iter()
            .flat_map(|a| [a.times[0], a.times[4]])
            .collect(),
        "bytes read" => completed().map(|a| a.read).collect(),
        "bytes written" => completed().map(|a| a.written).collect(),
        "completed" => in_state("Completed"),
        "failed" => in_state("Failed"),
        "revoked" => in_state("Revoked"),
        "abandoned" => {
            let told = ["Completed", "Failed", "Revoked"];
            let others = of_stage
                .iter()
                .filter(|a| !told.contains(&a.state.as_str()));
            others.map(|_| 1.0).collect()
        }
        // evidence of the rules about a stage as a whole
        "" => completed().map(|a| between(a, 3, 4)).collect(),
        _ => return Vec::new(),
    }]
}

fn attempt(line: &str) -> Option<Attempt> {
    let line = line.trim_end_matches('\r').strip_prefix("---HiPriTime ")?;
    let fields: Vec<&str> = line.split(',').collect();
    let number = |at: usize| fields.get(at).and_then(|f| f.trim().parse::<f64>().ok());
    Some(Attempt {
        stage: fields.get(2)?.split('[').next()?.to_owned(),
        state: (*fields.get(3)?).to_owned(),
        times: (5..10)
            .map(|at| time(fields.get(at)?))
            .collect::<Option<_>>()?,
        read: number(11)?,
        written: number(12)?,
    })
}

/// Milliseconds of `2025-09-20 16:21:14.106 PDT`.
fn time(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let written = format!("{}T{}", words.next()?, words.next()?);
    let time: jiff::civil::DateTime = written.parse().ok()?;
    let zoned = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond() as f64)
}

/// The times of two lines, every one of the first with every one of the second.
pub(crate) fn between(text: &str, from: &str, to: &str) -> Readings {
    let times = |line: &str| {
        let number = line
            .trim_start_matches("line ")
            .parse::<usize>()
            .unwrap_or(0);
        let line = text
            .lines()
            .nth(number.saturating_sub(1))
            .unwrap_or_default();
        let start = line
            .split_whitespace()
            .rev()
            .find_map(|word| word.parse::<f64>().ok());
        // 100 ns since 1601, in UTC, cut to milliseconds; attempts are in local time
        let zones = (-14..=14).map(|hours| f64::from(hours) * 3_600_000.0);
        let start = start.map(|ticks| (ticks / 1e4).floor() - 11_644_473_600_000.0);
        let starts = start
            .into_iter()
            .flat_map(move |ms| zones.clone().map(move |zone| ms + zone));
        let attempt = attempt(line).map(|a| a.times).unwrap_or_default();
        starts.chain(attempt).collect::<Vec<f64>>()
    };
    let (from, to) = (times(from), times(to));
    from.iter()
        .flat_map(|a| to.iter().map(move |b| vec![*a, *b]))
        .collect()
}
