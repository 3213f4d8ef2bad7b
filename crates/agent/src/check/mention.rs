//! A text as sentences and clauses, with their names, citations and numbers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use job::Job;

use super::causes::{self, Mention, Stance};
use super::concepts::{Concepts, Mood};
use super::lexicon::{Words, ends_with_word};
use super::quantity::{Quantity, Unit, quantities};
use crate::facts::StepInput;
use crate::wording::{is_id, words};

/// The names of a job, by kind.
#[derive(Debug, Default)]
pub(crate) struct Entities {
    stages: HashMap<String, String>,
    /// In lower case and as they are written.
    tables: HashMap<String, String>,
    columns: HashMap<String, String>,
    /// Columns that the operators of a stage read, write or are keyed on.
    columns_of: BTreeMap<String, HashSet<String>>,
}

impl Entities {
    pub(crate) fn of(input: &StepInput, job: &Job) -> Entities {
        let mut found = Entities::default();
        let outline = &input.facts.outline;
        let named = outline.stages.iter().map(|s| &s.name);
        let of_findings = input
            .facts
            .found
            .findings
            .iter()
            .filter_map(|f| f.stage.as_ref());
        for name in named.chain(of_findings) {
            found.stages.insert(name.to_lowercase(), name.clone());
        }
        for table in &job.tables {
            let name = table.name.clone();
            found.tables.insert(name.to_lowercase(), name);
            for column in &table.columns {
                found.column(&column.name);
            }
        }
        let tables = outline.tables.iter();
        let tables = tables.map(|t| (t.name.to_lowercase(), t.name.clone()));
        found.tables.extend(tables);
        for stage in &job.stages {
            let mut own = HashSet::new();
            for operator in &stage.operators {
                let channels = operator.inputs.iter().chain(&operator.outputs);
                let schema = channels.flat_map(|c| c.schema.iter().map(|c| &c.name));
                let keys = operator.keys.iter().chain(&operator.right_keys);
                own.extend(schema.chain(keys).map(|name| plain(name).to_lowercase()));
            }
            own.iter().for_each(|name| found.column(name));
            found.columns_of.insert(stage.name.clone(), own);
        }
        for row in &outline.stages {
            found.keys_of_row(row);
        }
        // A table's name is no sign of a column.
        let Entities {
            columns, tables, ..
        } = &mut found;
        columns.retain(|name, _| !tables.contains_key(name));
        found
    }

    /// The keys in parentheses behind the operators of a row, as saved runs have them.
    fn keys_of_row(&mut self, row: &crate::outline::StageRow) {
        let mut keys = Vec::new();
        for operator in &row.operators {
            let inside = operator.split_once(['(', '（']).map(|(_, rest)| rest);
            let inside = inside.unwrap_or_default().trim_end_matches([')', '）']);
            let parts = inside.split([',', '、', ' ']).map(str::trim);
            keys.extend(
                parts
                    .filter(|k| !k.is_empty())
                    .map(|k| plain(k).to_lowercase()),
            );
        }
        keys.iter().for_each(|key| self.column(key));
        let own = self.columns_of.entry(row.name.clone()).or_default();
        // Without the plan only the keys are known; other columns are then not held against a stage.
        if !own.is_empty() {
            own.extend(keys);
        }
    }

    fn column(&mut self, name: &str) {
        let name = plain(name);
        if name.len() > 1 {
            self.columns.insert(name.to_lowercase(), name.to_owned());
        }
    }

    /// Whether a stage is known not to have a column.
    pub(crate) fn lacks(&self, stage: &str, column: &str) -> bool {
        let own = self.columns_of.get(stage);
        own.is_some_and(|own| !own.is_empty() && !own.contains(column))
    }
}

/// A column without the input that it belongs to.
fn plain(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Part of a clause up to a comma, with the topics of its numbers.
#[derive(Debug, Clone)]
pub(crate) struct Phrase {
    pub(crate) span: Range<usize>,
    pub(crate) quantities: Vec<Quantity>,
    pub(crate) concepts: Concepts,
    pub(crate) mood: Mood,
}

/// The text between two semicolons or stops.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clause {
    pub(crate) span: Range<usize>,
    /// Which line of the text it is in.
    pub(crate) line: usize,
    /// Which sentence of the text it is in.
    pub(crate) sentence: usize,
    pub(crate) lower: String,
    pub(crate) phrases: Vec<Phrase>,
    /// Ids of evidence, findings, suggestions and passages, where each ends, and whether it is in brackets.
    pub(crate) ids: Vec<(usize, String, bool)>,
    pub(crate) stages: BTreeSet<String>,
    pub(crate) columns: BTreeSet<String>,
    pub(crate) tables: BTreeSet<String>,
    /// Other identifiers: operators, classes, settings.
    pub(crate) others: BTreeSet<String>,
    pub(crate) causes: Vec<Mention>,
    pub(crate) concepts: Concepts,
    pub(crate) mood: Mood,
}

/// A number of a text, with its surroundings.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) text: &'a str,
    pub(crate) clause: &'a Clause,
    pub(crate) phrase: &'a Phrase,
    pub(crate) quantity: &'a Quantity,
}

impl<'a> Claim<'a> {
    pub(crate) fn number(self) -> &'a str {
        &self.text[self.quantity.span.clone()]
    }

    /// The topics of its phrase, else of its clause.
    pub(crate) fn concepts(self) -> Concepts {
        match self.phrase.concepts.is_empty() {
            true => self.clause.concepts,
            false => self.phrase.concepts,
        }
    }
}

impl Clause {
    /// The numbers of the clause of a text.
    pub(crate) fn claims<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Claim<'a>> {
        self.phrases.iter().flat_map(move |phrase| {
            let quantities = phrase.quantities.iter();
            quantities.map(move |quantity| Claim {
                text,
                clause: self,
                phrase,
                quantity,
            })
        })
    }
}

/// The clauses of a text.
pub(crate) fn clauses(text: &str, entities: &Entities) -> Vec<Clause> {
    let numbers = quantities(text);
    let mut found = Vec::new();
    let (mut line, mut sentence, mut start) = (0, 0, 0);
    let mut heading: Option<Stance> = None;
    for (end, break_) in breaks(text) {
        if !text[start..end].trim().is_empty() {
            let lower = text[start..end].to_lowercase();
            let is_item = lower.trim_start().starts_with("- ");
            let under = heading.filter(|_| is_item || !found.is_empty());
            let mut clause = clause(text, start..end, &numbers, entities, under);
            (clause.line, clause.sentence) = (line, sentence);
            found.push(clause);
        }
        match break_ {
            Break::Clause => {}
            Break::Sentence => sentence += 1,
            Break::Line => {
                let line_start = text[..end].rfind('\n').map_or(0, |at| at + 1);
                let whole = text[line_start..end].to_lowercase();
                if !whole.trim_start().starts_with("- ") {
                    heading = causes::heading(&whole);
                }
                (line, sentence) = (line + 1, sentence + 1);
            }
        }
        start = text[end..]
            .char_indices()
            .nth(1)
            .map_or(text.len(), |(at, _)| end + at);
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Break {
    Clause,
    Sentence,
    Line,
}

/// The ends of clauses, with the kind of each end; the last is the end of the text.
fn breaks(text: &str) -> Vec<(usize, Break)> {
    let mut found = Vec::new();
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next();
        match c {
            '(' | '（' => depth += 1,
            ')' | '）' => depth = (depth - 1).max(0),
            '\n' => depth = 0,
            _ => {}
        }
        let kind = match c {
            '\n' => Some(Break::Line),
            '。' | '！' | '？' => Some(Break::Sentence),
            '.' | '!' | '?' if next.is_none_or(char::is_whitespace) => {
                (!is_abbreviated(&text[..at])).then_some(Break::Sentence)
            }
            ';' | '；' if depth == 0 => Some(Break::Clause),
            _ => None,
        };
        found.extend(kind.map(|kind| (at, kind)));
    }
    found.push((text.len(), Break::Line));
    found
}

/// Whether a stop ends an abbreviation or the number of a list item.
fn is_abbreviated(before: &str) -> bool {
    let word = before.rsplit([' ', '\n', '(']).next().unwrap_or_default();
    let is_item = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let line = before.rsplit('\n').next().unwrap_or_default();
    matches!(word, "e.g" | "i.e" | "vs" | "approx" | "etc") || is_item && line.trim() == word
}

fn clause(
    text: &str,
    span: Range<usize>,
    numbers: &[Quantity],
    entities: &Entities,
    under: Option<Stance>,
) -> Clause {
    let lower = said(&text[span.clone()]);
    let mut clause = Clause {
        phrases: phrases(text, &span, numbers),
        causes: causes::mentions(&lower, under),
        concepts: Concepts::of(&lower),
        mood: Mood::of(&lower),
        lower,
        span: span.clone(),
        ..Clause::default()
    };
    let part = &text[span.clone()];
    for (at, word) in words(part) {
        let end = span.start + at.end;
        let in_ticks = part[..at.start].ends_with('`');
        if is_id(word) || word.contains(".md#") {
            let closes = part[at.end..].starts_with([']', ',', '、', '）', ')']);
            let opens = part[..at.start].ends_with(['[', ' ', '、', '（', '(']);
            let is_bracketed = closes && opens && in_brackets(part, at.start);
            clause.ids.push((end, word.to_owned(), is_bracketed));
        } else {
            let place = (&part[..at.start], &part[at.end..]);
            clause.name(word, place, in_ticks, entities);
        }
    }
    numbered_stages(&mut clause, part, entities);
    clause
}

/// A text in lower case without the ids of cited passages, as names inside them are no claims.
fn said(text: &str) -> String {
    let mut lower = text.to_lowercase();
    for (span, word) in words(text) {
        if word.contains(".md#") && lower.is_char_boundary(span.end) && lower.len() == text.len() {
            lower.replace_range(span.clone(), &" ".repeat(span.len()));
        }
    }
    lower
}

/// Whether a place is inside square brackets.
fn in_brackets(part: &str, at: usize) -> bool {
    let open = part[..at].rfind('[');
    open.is_some_and(|open| !part[open..at].contains(']'))
}

impl Clause {
    fn name(&mut self, word: &str, place: (&str, &str), in_ticks: bool, entities: &Entities) {
        let before = place.0.trim_end_matches([' ', '`']);
        let behind = place.1.trim_start_matches([' ', '`']);
        let introduced = ends_with_word(before, COLUMN_BEFORE)
            || behind.starts_with("column")
            || behind.starts_with('列') && !behind.starts_with("列表");

        for part in word.split('/') {
            let lower = part.to_lowercase();
            if let Some(stage) = entities.stages.get(&lower) {
                self.stages.insert(stage.clone());
                continue;
            }
            let of_table = entities.tables.get(&lower);
            let is_table = of_table.is_some_and(|name| {
                in_ticks
                    || is_identifier(part)
                    || name == part && ends_with_word(before, TABLE_BEFORE)
            });
            if is_table {
                self.tables.insert(lower);
                continue;
            }
            for piece in part.split('.') {
                let lower = piece.to_lowercase();
                let is_name = in_ticks || is_identifier(piece) || introduced;
                if entities.columns.contains_key(&lower) && is_name {
                    self.columns.insert(lower);
                } else if entities.tables.contains_key(&lower) && is_identifier(piece) {
                    self.tables.insert(lower);
                } else if is_identifier(piece) {
                    self.others.insert(lower);
                }
            }
        }
    }
}

/// Words before the name of a table.
const TABLE_BEFORE: Words = "of|table|from|with|input|表|输入";

/// Words before the name of a column.
const COLUMN_BEFORE: Words = "on|by|column|columns|key|keys|按|列|键|按键";

/// Stages that are called by their number: `Stage 4`, `阶段 4`.
fn numbered_stages(clause: &mut Clause, part: &str, entities: &Entities) {
    let indices = clause.phrases.iter().flat_map(|p| &p.quantities);
    let mut found = Vec::new();
    for index in indices.filter(|q| q.unit == Unit::Index) {
        let at = index.span.start - clause.span.start;
        let before = part[..at].trim_end().to_lowercase();
        if before.ends_with("stage") || before.ends_with("阶段") {
            let name = format!("stage {}", index.raw);
            found.extend(entities.stages.get(&name).cloned());
        }
    }
    clause.stages.extend(found);
}

/// A word with the look of a name: a capital inside, a digit or an underscore.
fn is_identifier(word: &str) -> bool {
    let inner = word.get(1..).unwrap_or_default();
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts
        && (inner.contains(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit())
            || word.contains('_'))
}

/// Words that begin another statement.
const PARTS: Words = " but | while | whereas | because | since | although | and is | and are | and was | and does | and has | and loses | and saves | and costs | so that ";

/// Phrases end at commas and at words that contrast two statements; text in parentheses belongs to the surrounding phrase.
fn phrases(text: &str, span: &Range<usize>, numbers: &[Quantity]) -> Vec<Phrase> {
    let part = &text[span.clone()];
    let mut ends = Vec::new();
    let mut depth = 0_i32;
    for (at, c) in part.char_indices() {
        match c {
            '(' | '（' | '[' => depth += 1,
            ')' | '）' | ']' => depth -= 1,
            _ => {}
        }
        let next = part[at + c.len_utf8()..].chars().next();
        let is_end = matches!(c, '，' | '：')
            || matches!(c, ',' | ':') && next.is_none_or(char::is_whitespace);
        if is_end && depth <= 0 {
            ends.push(at);
        }
    }
    for word in PARTS.split('|') {
        ends.extend(part.match_indices(word).map(|(at, _)| at));
    }
    ends.push(part.len());
    ends.sort_unstable();
    ends.dedup();
    let mut found = Vec::new();
    let mut start = 0;
    for end in ends {
        let lower = said(&part[start..end]);
        let (from, to) = (span.start + start, span.start + end);
        let inside = |q: &&Quantity| (from..to).contains(&q.span.start);
        if !lower.trim().is_empty() {
            found.push(Phrase {
                span: from..to,
                quantities: numbers.iter().filter(inside).cloned().collect(),
                concepts: Concepts::of(&lower),
                mood: Mood::of(&lower),
            });
        }
        start = end;
    }
    found
}
