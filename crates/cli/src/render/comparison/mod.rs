//! A comparison of two runs, for a terminal and for a ticket: the same rows, told once here.

mod markdown;
mod text;

use report::EvidenceValue;
use runs::compare::{
    Comparison, EstimateChange, FindingChange, InputChange, Pair, StageChange, Total, TotalMetric,
};

use super::layout::{bytes, duration};
use super::words::Words;

pub(crate) use markdown::render as markdown;
pub(crate) use text::render as text;

/// Stages, plan changes and estimates shown unless all are asked for; the JSON form has every one.
const SHOWN: usize = 8;

/// How a number is written.
type Written = fn(f64) -> String;

/// A number in both runs, ready to be shown.
struct Row {
    label: String,
    a: String,
    b: String,
    change: String,
    /// Whether it changed by more than noise.
    notable: bool,
}

fn row(label: impl Into<String>, pair: Pair, written: Written) -> Row {
    Row {
        label: label.into(),
        a: known(pair.a, written),
        b: known(pair.b, written),
        change: change(pair),
        notable: pair.is_notable(),
    }
}

fn known(value: Option<f64>, written: Written) -> String {
    value.map_or_else(|| "–".to_owned(), written)
}

/// `+52 %`, or `×3.4` for what more than doubled or halved.
fn change(pair: Pair) -> String {
    match (pair.ratio(), pair.difference()) {
        (Some(ratio), _) if ratio >= 2.0 => format!("×{ratio:.1}"),
        (Some(ratio), _) if ratio <= 0.5 && ratio > 0.0 => format!("÷{:.1}", 1.0 / ratio),
        (Some(ratio), _) if (ratio - 1.0).abs() < 0.005 => "=".to_owned(),
        (Some(ratio), _) => format!("{:+.0} %", (ratio - 1.0) * 100.0).replace('-', "−"),
        (None, Some(0.0)) => "=".to_owned(),
        _ => String::new(),
    }
}

fn count(value: f64) -> String {
    super::text::value(&EvidenceValue::Number(value.round()))
}

fn ratio(value: f64) -> String {
    format!("{value:.1}")
}

fn percent(value: f64) -> String {
    format!("{:.0} %", value * 100.0)
}

/// Numbers of the whole job.
fn totals(comparison: &Comparison, words: Words) -> Vec<Row> {
    let of = |total: &Total| {
        let written: Written = match total.metric {
            TotalMetric::ElapsedSeconds
            | TotalMetric::QueuedSeconds
            | TotalMetric::CompileSeconds
            | TotalMetric::VertexSeconds
            | TotalMetric::LostSeconds => duration,
            TotalMetric::InputBytes | TotalMetric::ShuffledBytes => bytes,
            _ => count,
        };
        row(words.total(total.metric), total.values, written)
    };
    comparison.totals.iter().map(of).collect()
}

/// The time of a stage that its change is told by: wall time, else its slowest vertex, else all of
/// its vertices.
fn time_of(stage: &StageChange) -> Pair {
    let pairs = [stage.span_seconds, stage.max_seconds, stage.busy_seconds];
    let told = |p: &&Pair| p.a.is_some() || p.b.is_some();
    pairs.iter().find(told).copied().unwrap_or_default()
}

/// What is to be known of a stage besides its numbers: in which run it is, what it was called, whether
/// it decided when the job ended.
fn stage_marks(stage: &StageChange, words: Words) -> Vec<String> {
    let mut marks = Vec::new();
    match (&stage.a, &stage.b) {
        (Some(a), Some(b)) if a != b => marks.push(format!(
            "{} {a} ({:.0} %)",
            words.was(),
            stage.confidence * 100.0
        )),
        (None, Some(_)) => marks.push(words.only_b().to_owned()),
        (Some(_), None) => marks.push(words.only_a().to_owned()),
        _ => {}
    }
    if stage.critical {
        marks.push(words.critical_path().to_owned());
    }
    marks
}

/// What changed in a stage besides its time: notable numbers only.
fn stage_numbers(stage: &StageChange, words: Words) -> Vec<String> {
    let rows = [
        row(words.rows_in(), stage.rows_in, count),
        row(words.rows_out(), stage.rows_out, count),
        row(words.bytes_read(), stage.bytes_read, bytes),
        row(words.bytes_written(), stage.bytes_written, bytes),
        row(words.vertices_run(), stage.vertices, count),
        row(words.slowest_over_mean(), stage.max_over_mean, ratio),
        row(words.vertex_time(), stage.busy_seconds, duration),
        row(words.waiting(), stage.wait_seconds, duration),
        row(words.gc(), stage.gc_share, percent),
        row(words.spilling(), stage.spills, count),
        row(words.lost_time(), stage.lost_seconds, duration),
    ];
    rows.into_iter()
        .filter(|r| r.notable)
        .map(|r| told(&r))
        .collect()
}

/// `rows in 1,000 → 2,000 (×2.0)`.
fn told(row: &Row) -> String {
    if row.change.is_empty() {
        format!("{} {} → {}", row.label, row.a, row.b)
    } else {
        format!("{} {} → {} ({})", row.label, row.a, row.b, row.change)
    }
}

/// What a finding cost in each run.
fn finding_cost(finding: &FindingChange) -> String {
    match (finding.seconds.a, finding.seconds.b) {
        (Some(a), Some(b)) => format!("{} → {}", duration(a), duration(b)),
        (Some(one), None) | (None, Some(one)) => duration(one),
        (None, None) => String::new(),
    }
}

/// What changed of an input; empty if nothing did.
fn input_numbers(input: &InputChange, words: Words) -> Vec<String> {
    let rows = [
        row(words.bytes_word(), input.bytes, bytes),
        row(words.rows_word(), input.rows, count),
        row(words.files_word(), input.files, count),
    ];
    let both = input.in_a && input.in_b;
    let mut numbers: Vec<String> = rows
        .iter()
        .filter(|r| r.notable || (!both && (r.a != "–" || r.b != "–")))
        .map(told)
        .collect();
    if both && input.layout_a != input.layout_b {
        let layout = |l: &Option<String>| l.clone().unwrap_or_else(|| "–".to_owned());
        numbers.push(format!(
            "{} {} → {}",
            words.stored_as(),
            layout(&input.layout_a),
            layout(&input.layout_b)
        ));
    }
    numbers
}

fn input_name(input: &InputChange, words: Words) -> String {
    match (&input.name_in_a, input.in_a, input.in_b) {
        (Some(other), ..) => format!("{} ({} {other})", input.name, words.was()),
        (None, false, true) => format!("{} ({})", input.name, words.only_b()),
        (None, true, false) => format!("{} ({})", input.name, words.only_a()),
        _ => input.name.clone(),
    }
}

/// The estimate of an operator beside its rows, in both runs.
fn estimate_sides(change: &EstimateChange) -> [String; 2] {
    let side = |estimated: Option<f64>, rows: Option<f64>| {
        format!("{} / {}", known(estimated, count), known(rows, count))
    };
    [
        side(change.estimated.a, change.rows.a),
        side(change.estimated.b, change.rows.b),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_read_as_people_say_them() {
        let told = |a, b| {
            change(Pair {
                a: Some(a),
                b: Some(b),
            })
        };
        assert_eq!(told(10.0, 15.2), "+52 %");
        assert_eq!(told(10.0, 8.0), "−20 %");
        assert_eq!(told(10.0, 34.0), "×3.4");
        assert_eq!(told(34.0, 10.0), "÷3.4");
        assert_eq!(told(10.0, 10.01), "=");
        assert_eq!(told(0.0, 5.0), "");
        assert_eq!(change(Pair::default()), "");
    }
}
