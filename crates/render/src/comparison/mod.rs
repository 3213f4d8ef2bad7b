//! A comparison of two runs, for a terminal, a ticket and a page: the rows that all show.

mod html;
mod markdown;
mod sections;
mod text;

use report::format::{Bytes, Change, Noun, Ratio, Seconds, Share, figure};
use report::text;
use runs::compare::{
    Comparison, EstimateChange, FindingChange, InputChange, Pair, RunHeader, StageChange, Total,
    TotalMetric,
};

use super::words::Words;

pub use html::{body, page};
pub use markdown::render as markdown;
pub use text::render as text;

/// Stages, plan changes and estimates shown unless all are asked for; the JSON form has every one.
const SHOWN: usize = 8;

/// How a number is written.
type Written = fn(f64, Words) -> String;

/// A number in both runs, ready to be shown.
struct Row {
    label: String,
    a: String,
    b: String,
    change: String,
    /// Whether it changed by more than noise.
    notable: bool,
    grows: Option<bool>,
}

fn row(label: &str, pair: Pair, written: Written, words: Words) -> Row {
    Row {
        label: label.to_owned(),
        a: known(pair.a, written, words),
        b: known(pair.b, written, words),
        change: change(pair, words),
        notable: pair.is_notable(),
        grows: grows(pair),
    }
}

fn known(value: Option<f64>, written: Written, words: Words) -> String {
    value.map_or_else(|| "–".to_owned(), |n| written(n, words))
}

/// `+52 %`; `×3.4` (`为原来的 3.4 倍`) for a value that at least doubled or halved.
fn change(pair: Pair, words: Words) -> String {
    match (pair.ratio(), pair.difference()) {
        (Some(ratio), _) if ratio >= 2.0 => {
            words.say(text!("为原来的 {ratio:.1} 倍", "×{ratio:.1}"))
        }
        (Some(ratio), _) if ratio <= 0.5 && ratio > 0.0 => {
            let inverse = 1.0 / ratio;
            words.say(text!("为原来的 1/{inverse:.1}", "÷{inverse:.1}"))
        }
        (Some(ratio), _) if (ratio - 1.0).abs() < 0.005 => "=".to_owned(),
        (Some(ratio), _) => words.say(Change(Some(ratio - 1.0))),
        (None, Some(0.0)) => "=".to_owned(),
        _ => String::new(),
    }
}

/// Whether a number is larger in B; `None` if it is the same or cannot be compared.
fn grows(pair: Pair) -> Option<bool> {
    pair.difference().filter(|d| *d != 0.0).map(|d| d > 0.0)
}

fn count(value: f64, _: Words) -> String {
    figure(value.round())
}

fn ratio(value: f64, words: Words) -> String {
    words.say(Ratio(value))
}

fn percent(value: f64, words: Words) -> String {
    words.say(Share(value))
}

fn duration(seconds: f64, words: Words) -> String {
    words.say(Seconds(seconds))
}

fn bytes(value: f64, words: Words) -> String {
    words.say(Bytes(value))
}

/// `3 stages changed little or not at all`; empty if there is no rest.
fn rest(n: usize, noun: Noun, what: &str, words: Words) -> String {
    if n == 0 {
        return String::new();
    }
    let space = words.0.select("", " ");
    format!("{}{space}{what}", words.say(noun.count(n as f64)))
}

/// A run's name, outcome, time, verdict and folder.
fn run_facts(run: &RunHeader, words: Words) -> Vec<String> {
    let mut facts = vec![run.name.clone(), words.state(run.state).to_owned()];
    facts.extend(run.elapsed_seconds.map(|s| duration(s, words)));
    facts.push(words.verdict(run.verdict, &run.causes));
    facts.push(match &run.run_id {
        Some(id) => format!("{} {id}", words.run()),
        None => run.path.clone(),
    });
    facts
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
        row(words.total(total.metric), total.values, written, words)
    };
    comparison.totals.iter().map(of).collect()
}

/// The time of a stage: wall time, else of its slowest vertex, else of all its vertices.
fn time_of(stage: &StageChange) -> Pair {
    let pairs = [stage.span_seconds, stage.max_seconds, stage.busy_seconds];
    let is_known = |p: &&Pair| p.a.is_some() || p.b.is_some();
    pairs.iter().find(is_known).copied().unwrap_or_default()
}

/// The run of a stage, its earlier name, and whether it is on the critical path.
fn stage_marks(stage: &StageChange, words: Words) -> Vec<String> {
    let mut marks = Vec::new();
    match (&stage.a, &stage.b) {
        (Some(a), Some(b)) if a != b => marks.push(format!(
            "{} {a} ({})",
            words.was(),
            percent(stage.confidence, words)
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

/// Notable changes of a stage other than its time.
fn stage_numbers(stage: &StageChange, words: Words) -> Vec<String> {
    let rows = [
        row(words.rows_in(), stage.rows_in, count, words),
        row(words.rows_out(), stage.rows_out, count, words),
        row(words.bytes_read(), stage.bytes_read, bytes, words),
        row(words.bytes_written(), stage.bytes_written, bytes, words),
        row(words.vertices_run(), stage.vertices, count, words),
        row(words.slowest_over_mean(), stage.max_over_mean, ratio, words),
        row(words.vertex_time(), stage.busy_seconds, duration, words),
        row(words.waiting(), stage.wait_seconds, duration, words),
        row(words.gc(), stage.gc_share, percent, words),
        row(words.spilling(), stage.spills, count, words),
        row(words.lost_time(), stage.lost_seconds, duration, words),
    ];
    rows.into_iter()
        .filter(|r| r.notable)
        .map(|r| described(&r))
        .collect()
}

/// `rows in 1,000 → 2,000 (×2.0)`.
fn described(row: &Row) -> String {
    if row.change.is_empty() {
        format!("{} {} → {}", row.label, row.a, row.b)
    } else {
        format!("{} {} → {} ({})", row.label, row.a, row.b, row.change)
    }
}

/// Cost of a finding in each run.
fn finding_cost(finding: &FindingChange, words: Words) -> String {
    let duration = |seconds| duration(seconds, words);
    match (finding.seconds.a, finding.seconds.b) {
        (Some(a), Some(b)) => format!("{} → {}", duration(a), duration(b)),
        (Some(one), None) | (None, Some(one)) => duration(one),
        (None, None) => String::new(),
    }
}

/// Changes of an input; empty without a change.
fn input_numbers(input: &InputChange, words: Words) -> Vec<String> {
    let rows = [
        row(words.bytes_word(), input.bytes, bytes, words),
        row(words.rows_word(), input.rows, count, words),
        row(words.files_word(), input.files, count, words),
    ];
    let both = input.in_a && input.in_b;
    let mut numbers: Vec<String> = rows
        .iter()
        .filter(|r| r.notable || (!both && (r.a != "–" || r.b != "–")))
        .map(described)
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

/// A name with a note in brackets.
fn noted(name: &str, note: &str, words: Words) -> String {
    words.say(text!("{name}（{note}）", "{name} ({note})"))
}

fn input_name(input: &InputChange, words: Words) -> String {
    match (&input.name_in_a, input.in_a, input.in_b) {
        (Some(other), ..) => noted(&input.name, &format!("{} {other}", words.was()), words),
        (None, false, true) => noted(&input.name, words.only_b(), words),
        (None, true, false) => noted(&input.name, words.only_a(), words),
        _ => input.name.clone(),
    }
}

/// The estimate of an operator and its rows, in both runs.
fn estimates(change: &EstimateChange, words: Words) -> [String; 2] {
    let of = |estimated: Option<f64>, rows: Option<f64>| {
        let [estimated, rows] = [estimated, rows].map(|n| known(n, count, words));
        format!("{estimated} / {rows}")
    };
    [
        of(change.estimated.a, change.rows.a),
        of(change.estimated.b, change.rows.b),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::Language;

    #[test]
    fn changes_read_naturally() {
        for (a, b, zh, en) in [
            (10.0, 15.2, "+52 %", "+52 %"),
            (10.0, 8.0, "−20 %", "−20 %"),
            (10.0, 34.0, "为原来的 3.4 倍", "×3.4"),
            (34.0, 10.0, "为原来的 1/3.4", "÷3.4"),
            (10.0, 10.01, "=", "="),
            (0.0, 5.0, "", ""),
        ] {
            let pair = Pair {
                a: Some(a),
                b: Some(b),
            };
            assert_eq!(change(pair, Words::new(Language::Zh)), zh);
            assert_eq!(change(pair, Words::new(Language::En)), en);
        }
        assert_eq!(change(Pair::default(), Words::new(Language::En)), "");
    }
}
