//! A comparison of two runs, for a terminal, a ticket and a page: the rows that all show.

mod html;
mod markdown;
mod sections;
mod text;

use report::format::{Change, Noun, Seconds, Share, figure};
use report::measure::{Better, Entity, Measure, book};
use report::text;
use runs::compare::{
    Comparison, EstimateChange, FindingChange, InputChange, Pair, Pairs, RunHeader, StageChange,
};

use super::words::Words;

pub use html::{body, page};
pub use markdown::render as markdown;
pub use text::render as text;

/// Stages, plan changes and estimates shown unless all are asked for; the JSON form has every one.
const SHOWN: usize = 8;

/// Changed numbers of a stage shown unless all are asked for.
const SHOWN_NUMBERS: usize = 5;

/// The words of the language and of the engine that ran both.
fn words_of(comparison: &Comparison) -> Words {
    let engine = comparison.b.engine;
    Words(
        comparison.language,
        engine.filter(|_| comparison.a.engine == engine),
    )
}

/// A number in both runs, ready to be shown.
struct Row {
    label: String,
    a: String,
    b: String,
    change: String,
    /// Whether it changed by more than noise.
    notable: bool,
    /// Whether B's is the worse one; `None` if neither is.
    is_worse: Option<bool>,
}

fn row(measure: &Measure, pair: Pair, words: Words) -> Row {
    let shown = |number: Option<f64>| known(number.map(|n| words.say(measure.cell(n))));
    Row {
        label: words.in_engine(measure.title(words.vertex())),
        a: shown(pair.a),
        b: shown(pair.b),
        change: change(pair, words),
        notable: pair.is_notable(),
        is_worse: match measure.better {
            Better::Less => grows(pair),
            Better::More => grows(pair).map(|grows| !grows),
            Better::Neither => None,
        },
    }
}

/// The rows of the measures that a thing has in either run.
fn rows(entity: Entity, numbers: &Pairs, words: Words) -> Vec<Row> {
    let pairs = book::of(entity).map(|measure| (measure, numbers.get(measure)));
    let known = pairs.filter(|(_, pair)| pair.a.is_some() || pair.b.is_some());
    known
        .map(|(measure, pair)| row(measure, pair, words))
        .collect()
}

fn known(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".to_owned())
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

fn percent(value: f64, words: Words) -> String {
    words.say(Share(value))
}

fn duration(seconds: f64, words: Words) -> String {
    words.say(Seconds(seconds))
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
    let known = book::of(Entity::Job).filter_map(|measure| {
        let mut totals = comparison.totals.iter();
        let total = totals.find(|total| total.metric == measure.id)?;
        Some(row(measure, total.values, words))
    });
    known.collect()
}

/// The seconds of a stage: wall time, else of its slowest vertex, else of all its vertices.
fn time_of(stage: &StageChange) -> Pair {
    let measures = [&book::SPAN, &book::MAX_RUN, &book::BUSY];
    let mut pairs = measures
        .map(|measure| stage.numbers.get(measure))
        .into_iter();
    let pair = pairs
        .find(|p| p.a.is_some() || p.b.is_some())
        .unwrap_or_default();
    let seconds = |ms: Option<f64>| ms.map(|ms| ms / 1e3);
    Pair {
        a: seconds(pair.a),
        b: seconds(pair.b),
    }
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

/// Notable changes of a stage other than its wall time: the largest `most`, in the order of the book, and the number of the others.
fn stage_numbers(stage: &StageChange, most: usize, words: Words) -> Vec<String> {
    let of_stage = book::of(Entity::Stage).filter(|m| **m != book::SPAN);
    let pairs = of_stage.map(|measure| (measure, stage.numbers.get(measure)));
    let notable: Vec<_> = pairs.filter(|(_, pair)| pair.is_notable()).collect();
    let size = |pair: Pair| pair.ratio().map_or(f64::INFINITY, |ratio| ratio.ln().abs());
    let mut largest: Vec<usize> = (0..notable.len()).collect();
    largest.sort_by(|a, b| size(notable[*b].1).total_cmp(&size(notable[*a].1)));
    largest.truncate(most);
    largest.sort_unstable();
    let shown = largest.iter().map(|at| notable[*at]);
    let shown = shown.map(|(measure, pair)| described(&row(measure, pair, words)));
    let more = notable.len() - largest.len();
    let more = (more > 0).then(|| words.say(text!("另有 {more} 项", "{more} more")));
    shown.chain(more).collect()
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
    let rows = rows(Entity::Input, &input.numbers, words);
    let shown = |row: &Row| match (input.in_a, input.in_b) {
        (true, true) => row.notable.then(|| described(row)),
        (true, false) => Some(format!("{} {}", row.label, row.a)),
        _ => Some(format!("{} {}", row.label, row.b)),
    };
    let mut numbers: Vec<String> = rows.iter().filter_map(shown).collect();
    if input.in_a && input.in_b && input.layout_a != input.layout_b {
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
fn estimates(change: &EstimateChange) -> [String; 2] {
    let of = |estimated: Option<f64>, rows: Option<f64>| {
        let [estimated, rows] = [estimated, rows].map(|n| known(n.map(|n| figure(n.round()))));
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
