//! Ids, names and values of one job, and their counterparts in another.
//!
//! Both jobs have the same finding, so rules wrote the same sentences about both, and both scripts often differ only in literals. If
//! two such texts have the same words in the same places, their differing words correspond. Values also correspond as evidence of the
//! same metric.

use std::collections::HashMap;
use std::ops::Range;

use report::{Evidence, EvidenceValue, Finding, Suggestion, Text, text};

use crate::check::quantity::{Figure, figures};
use crate::facts::StepInput;
use crate::wording::words;

/// Largest whole number that may be a mere count of things in the text ("two causes", "3 steps").
const COUNT: f64 = 12.0;

/// Relative difference that rounding in words ("about 1.2 billion") may make.
const ROUNDING: f64 = 0.011;

/// Factors between a value and how it may be said: percent, thousands, binary sizes, ms to s to
/// minutes to hours, and the Chinese ten thousand and hundred million.
const FACTORS: &[f64] = &[
    1.0,
    100.0,
    0.01,
    1e-3,
    1e3,
    1e-6,
    1e6,
    1e-9,
    1e9,
    1e-12,
    1e-4,
    1e-8,
    1.0 / 60.0,
    60.0,
    1.0 / 3600.0,
    1.0 / 60_000.0,
    1.0 / 3_600_000.0,
    1.0 / 1024.0,
    1.0 / 1_048_576.0,
    1.0 / 1_073_741_824.0,
    1.0 / 1_099_511_627_776.0,
];

/// How much values that advice rests on may differ if it is to hold all the same.
const ALIKE: f64 = 2.0;

/// Which values may take the place of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    Any,
    /// Only values of the same magnitude.
    Alike,
}

/// Counterpart of each word or number in the other job; `None` if it depends on the place.
type Words = HashMap<String, Option<String>>;

#[derive(Debug, Default)]
pub(super) struct Counterparts {
    ids: HashMap<String, String>,
    names: Words,
    /// Numbers as they are written, with the word behind them.
    quantities: Words,
    figures: Words,
    /// Measured values.
    values: Vec<(f64, f64)>,
    /// Script lines.
    lines: Vec<(u32, u32)>,
}

/// A word or a number of a text.
struct Token<'t> {
    span: Range<usize>,
    text: &'t str,
    figure: Option<Figure>,
}

impl Counterparts {
    pub(super) fn of(from: &StepInput, to: &StepInput) -> Counterparts {
        let mut found = Counterparts::default();
        let (a, b) = (&from.facts, &to.facts);
        for (a, b) in a.found.findings.iter().zip(&b.found.findings) {
            found.findings(a, b);
        }
        let metric = |e: &Evidence| e.metric.clone();
        for (a, b) in paired(&a.found.evidence, &b.found.evidence, metric) {
            found.evidence(a, b);
        }
        for (a, b) in paired(&from.suggestions, &to.suggestions, |s| s.kind.code()) {
            found.suggestions(a, b);
        }
        found.job(from, to);
        found.stages(from, to);
        if let (Some(a), Some(b)) = (&a.outline.script, &b.outline.script) {
            found.align(&a.text, &b.text);
            found.name(&a.file, &b.file);
        }
        found
    }

    pub(super) fn id(&self, id: &str) -> Option<String> {
        self.ids.get(id).cloned()
    }

    /// A text with the names and ids of the other job.
    pub(super) fn names(&self, text: &str) -> String {
        replaced(text, |token| match token.figure {
            None => self.ids.get(token.text).cloned().or_else(|| {
                let other = self.names.get(token.text)?;
                other.clone()
            }),
            Some(_) => None,
        })
    }

    /// A text as it would be written about the other job.
    ///
    /// # Errors
    /// Why the counterpart is unclear.
    pub(super) fn text(&self, text: &str, values: Values) -> Result<String, Text> {
        let mut fault = None;
        let moved = replaced(text, |token| {
            let other = match &token.figure {
                Some(figure) => self.number(text, token, figure, values),
                None => match (self.ids.get(token.text), self.names.get(token.text)) {
                    (Some(id), _) => Ok(Some(id.clone())),
                    (None, Some(None)) => Err(depends(token.text)),
                    (None, other) => Ok(other.cloned().flatten()),
                },
            };
            other.unwrap_or_else(|reason| {
                fault.get_or_insert(reason);
                None
            })
        });
        fault.map_or(Ok(moved), Err)
    }

    /// Counterpart of a number in the other job; `None` if it stays.
    fn number(
        &self,
        text: &str,
        token: &Token<'_>,
        figure: &Figure,
        values: Values,
    ) -> Result<Option<String>, Text> {
        if let Some(line) = self.line(text, token) {
            return Ok(Some(line));
        }
        let quoted = self
            .quantities
            .get(&quantity(text, token))
            .filter(|other| other.is_some())
            .or_else(|| self.figures.get(token.text));
        let other = match quoted {
            Some(Some(other)) => other.clone(),
            Some(None) => return Err(depends(token.text)),
            None => match self.measured(token, figure)? {
                Some(other) => other,
                None => return Ok(None),
            },
        };
        let (value, there) = (written(token.text), written(&other));
        let (low, high) = (value.min(there), value.max(there));
        if values == Values::Alike && high > low * ALIKE {
            let number = token.text;
            return Err(text!(
                "该作业的对应值为 {other}，而非 {number}",
                "the value is {other} here, not {number}"
            ));
        }
        Ok(Some(other))
    }

    /// The line of the other job's script, if a number is said to be a line: `lines 12–18`, `第 12 行`.
    fn line(&self, text: &str, token: &Token<'_>) -> Option<String> {
        let before = text[..token.span.start]
            .trim_end_matches(|c: char| c.is_ascii_digit() || " –-—、".contains(c));
        let is_line = ["line", "lines", "行", "第"]
            .iter()
            .any(|word| before.ends_with(word));
        let number: u32 = token.text.parse().ok().filter(|_| is_line)?;
        let (_, other) = self.lines.iter().find(|(line, _)| *line == number)?;
        Some(other.to_string())
    }

    /// The value of the other job, written like a number that says a measured value.
    fn measured(&self, token: &Token<'_>, figure: &Figure) -> Result<Option<String>, Text> {
        let tolerance = (figure.half * 1.0001).max(figure.value * ROUNDING);
        // a small number is a value as it is, or a count of things in the text
        let is_small = figure.value.fract() == 0.0 && figure.value <= COUNT;
        let factors = if is_small { &FACTORS[..1] } else { FACTORS };
        let decimals = token.text.split_once('.').map_or(0, |(_, d)| d.len());
        // "1.2 million"
        let word = figure.value / written(token.text);
        let mut found: Option<String> = None;
        for (a, b) in &self.values {
            let fits = |f: &&f64| (a.abs() * **f - figure.value).abs() <= tolerance;
            let Some(factor) = factors.iter().find(fits) else {
                continue;
            };
            let other = format!("{:.decimals$}", b.abs() * factor / word);
            let is_lost = *b != 0.0 && written(&other) == 0.0;
            if is_lost || found.as_ref().is_some_and(|known| *known != other) {
                return Err(depends(token.text));
            }
            found = Some(other);
        }
        Ok(found)
    }

    fn findings(&mut self, a: &Finding, b: &Finding) {
        self.ids.insert(a.id.clone(), b.id.clone());
        self.align(&a.summary, &b.summary);
        if let (Some(a), Some(b)) = (&a.stage, &b.stage) {
            self.name(a, b);
        }
        if let (Some(a), Some(b)) = (a.script_lines, b.script_lines) {
            self.lines.extend(a.into_iter().zip(b));
        }
        if let (Some(a), Some(b)) = (&a.impact, &b.impact) {
            self.values.push((a.seconds_saved, b.seconds_saved));
            self.values
                .extend(a.share_of_elapsed.zip(b.share_of_elapsed));
        }
    }

    fn evidence(&mut self, a: &Evidence, b: &Evidence) {
        self.ids.insert(a.id.clone(), b.id.clone());
        self.align(&a.text, &b.text);
        if let (Some(a), Some(b)) = (&a.expected, &b.expected) {
            self.align(a, b);
        }
        match (&a.value, &b.value) {
            (EvidenceValue::Number(a), EvidenceValue::Number(b)) => self.values.push((*a, *b)),
            (EvidenceValue::Text(a), EvidenceValue::Text(b)) => self.name(a, b),
            _ => {}
        }
    }

    fn suggestions(&mut self, a: &Suggestion, b: &Suggestion) {
        self.ids.insert(a.id.clone(), b.id.clone());
        if a.texts().count() == b.texts().count() {
            a.texts().zip(b.texts()).for_each(|(a, b)| self.align(a, b));
        }
    }

    fn job(&mut self, from: &StepInput, to: &StepInput) {
        let (a, b) = (&from.facts.job, &to.facts.job);
        self.name(&a.path, &b.path);
        for (a, b) in [(&a.name, &b.name), (&a.id, &b.id)] {
            if let (Some(a), Some(b)) = (a, b) {
                self.name(a, b);
            }
        }
        let counts = |n: Option<u64>| n.map(|n| n as f64);
        for (a, b) in [
            (a.elapsed_seconds, b.elapsed_seconds),
            (a.total_seconds, b.total_seconds),
            (counts(a.stages), counts(b.stages)),
            (counts(a.vertices), counts(b.vertices)),
        ] {
            self.values.extend(a.zip(b));
        }
    }

    /// The stage that the finding is about.
    fn stages(&mut self, from: &StepInput, to: &StepInput) {
        let of = |input: &StepInput| {
            let finding = input.facts.found.findings.first()?;
            let stages = &input.facts.outline.stages;
            let stage = stages
                .iter()
                .find(|s| Some(&s.name) == finding.stage.as_ref())?;
            Some(stage.clone())
        };
        let (Some(a), Some(b)) = (of(from), of(to)) else {
            return;
        };
        let counts = |n: Option<u64>| n.map(|n| n as f64);
        self.values
            .extend(counts(a.vertices).zip(counts(b.vertices)));
        self.lines
            .extend(a.lines.iter().copied().zip(b.lines.iter().copied()));
        for (a, b) in a.operators.iter().zip(&b.operators) {
            self.align(a, b);
        }
        if a.measures.lines.len() == b.measures.lines.len() {
            let lines = a.measures.lines.iter().zip(&b.measures.lines);
            lines.for_each(|(a, b)| self.align(a, b));
        }
    }

    /// Pairs the words of two texts that differ in names and values only.
    fn align(&mut self, a: &str, b: &str) {
        let (left, right) = (tokens(a), tokens(b));
        let is_same_kind =
            |(x, y): (&Token<'_>, &Token<'_>)| x.figure.is_some() == y.figure.is_some();
        if left.len() != right.len() || !left.iter().zip(&right).all(is_same_kind) {
            return;
        }
        for (x, y) in left.iter().zip(&right) {
            if x.figure.is_some() {
                add(&mut self.quantities, &quantity(a, x), y.text);
                add(&mut self.figures, x.text, y.text);
            } else if is_name(x.text) || is_name(y.text) {
                add(&mut self.names, x.text, y.text);
            }
        }
    }

    /// Pairs two names, and the words that they consist of.
    fn name(&mut self, a: &str, b: &str) {
        self.align(a, b);
        if tokens(a).len() == 1 && tokens(b).len() == 1 {
            add(&mut self.names, a, b);
        }
    }
}

fn add(words: &mut Words, a: &str, b: &str) {
    let known = words.entry(a.to_owned());
    let known = known.or_insert_with(|| Some(b.to_owned()));
    if known.as_deref() != Some(b) {
        *known = None;
    }
}

fn depends(what: &str) -> Text {
    text!(
        "无法确定 {what} 在该作业中对应什么",
        "it is not clear what {what} is in this job"
    )
}

/// The items that have the same key, in their order.
fn paired<'t, T, K: PartialEq>(
    a: &'t [T],
    b: &'t [T],
    key: impl Fn(&T) -> K,
) -> Vec<(&'t T, &'t T)> {
    let mut left: Vec<&T> = b.iter().collect();
    let pair = |item: &'t T| {
        let at = left.iter().position(|other| key(other) == key(item))?;
        Some((item, left.remove(at)))
    };
    a.iter().filter_map(pair).collect()
}

/// Names and numbers in their order.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let figures = figures(text).into_iter().map(|figure| Token {
        span: figure.span.clone(),
        text: &text[figure.span.clone()],
        figure: Some(figure),
    });
    let mut found: Vec<Token<'_>> = figures.collect();
    let is_outside = |span: &Range<usize>| {
        let next = found.partition_point(|figure| figure.span.end <= span.start);
        found.get(next).is_none_or(|f| f.span.start >= span.end)
    };
    let words = words(text).filter(|(span, _)| is_outside(span));
    let words = words.map(|(span, text)| Token {
        span,
        text,
        figure: None,
    });
    let words: Vec<Token<'_>> = words.collect();
    found.extend(words);
    found.sort_by_key(|token| token.span.start);
    found
}

/// The value of a number without the word behind it.
fn written(number: &str) -> f64 {
    number.replace(',', "").parse().unwrap_or(0.0)
}

/// A number with the word behind it: `12 min`.
fn quantity(text: &str, token: &Token<'_>) -> String {
    let behind = text[token.span.end..].trim_start_matches(' ');
    let letters = behind.find(|c: char| !c.is_ascii_alphabetic());
    let unit = match letters {
        Some(0) => behind.chars().take(1).collect(),
        Some(end) => behind[..end].to_owned(),
        None => behind.to_owned(),
    };
    format!("{} {unit}", token.text)
}

/// A word that is no word of a sentence.
fn is_name(word: &str) -> bool {
    let has = |test: fn(char) -> bool| word.contains(test);
    let is_mixed = word.len() > 1 && word[1..].contains(|c: char| c.is_ascii_uppercase());
    has(|c| matches!(c, '_' | '/' | '.' | '#' | '$')) || has(|c| c.is_ascii_digit()) || is_mixed
}

fn replaced(text: &str, mut other: impl FnMut(&Token<'_>) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for token in tokens(text) {
        out.push_str(&text[at..token.span.start]);
        match other(&token) {
            Some(other) => out.push_str(&other),
            None => out.push_str(token.text),
        }
        at = token.span.end;
    }
    out.push_str(&text[at..]);
    out
}
