//! Answers a question that no parse covers with the records of the run nearest to it, and names the words that none covers.

use report::measure::{Entity, Measure, Unit, book};
use report::{SegmentKind, text};
use runs::OperatorSummary;

use super::{Query, cover, passed};
use crate::intent::{Intent, kind};
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::*;
use crate::word::{Cue, Quantity, Thing, Word};
use crate::{
    Asked, column, found, job, mention, polar, rank, setting, stage, terms, thing, time, verdict,
};

/// Measures of one answer, and sentences.
const TOLD: usize = 3;
const TOLD_AT_MOST: usize = 8;

/// Things with a sentence of their own.
const SENTENCES: usize = 2;

/// Quantities of the whole job with an answer of their own.
#[rustfmt::skip]
const ANSWERS: [Quantity; 7] = [
    Quantity::Place, Quantity::Account, Quantity::Stages, Quantity::Cost, Quantity::Inputs, Quantity::Missing, Quantity::Identity,
];

/// Least weight of a further measure, relative to the best one.
const ALSO: f64 = 0.8;

/// Part of its weight that a measure has about the stage of an operator that is named, and for each statistic that the question lacks.
const NEIGHBOR: f64 = 0.6;
const TOO_NARROW: f64 = 0.7;

/// Says the nearest records. Returns false if the run has none about the subject of the question.
pub(crate) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let scan = intent.reading.clone();
    let names = mention::names(run, intent, &scan);
    let has_ids = scan.has_any(&[Noun(Thing::Executor), Noun(Thing::Execution)]);
    let is_id = |word: &&String| has_ids && word.bytes().all(|b| b.is_ascii_digit());
    let query = Query {
        run,
        subjects: meant(run, intent, &names),
        ids: scan.left.iter().filter(is_id).cloned().collect(),
        scan,
        of_script: Vec::new(),
        intent,
    };
    if asks_for_absence(&query) {
        return false;
    }
    let begun = said.len();
    let is_place = |s: &&Subject| {
        matches!(
            s,
            Subject::Stage(_) | Subject::Operator(..) | Subject::Lines(..)
        )
    };
    let places = intent.subjects.iter().filter(is_place);
    places
        .filter(|_| intent.asks_why())
        .for_each(|subject| overview(said, run, subject, intent));
    let is_reason = said.len() > begun;
    if !is_reason {
        query.tell(said, &names);
    }
    said.truncate(said.len().min(begun + TOLD_AT_MOST));
    if said.only_repeats(begun) {
        said.truncate(begun);
    }
    let names_kind = query.scan.words.iter().any(|w| matches!(w, Kind(_)));
    let is_named = intent.subjects != [Subject::Job] || !names.is_empty() || names_kind;
    let is_most = cover::missing(run, intent, &said.text()).is_most;
    let is_foreign = said.len() == begun || is_most && (is_reason || !is_named);
    let lacking = cover::lacking(intent, &said.text()).filter(|_| is_foreign || !is_named);
    if is_foreign || lacking.is_some() {
        said.truncate(begun);
    }
    if let Some(amount) = lacking {
        said.say(text!(
            "没有文件给出这里所问的{amount}",
            "No file gives the asked {amount}",
            amount = amount
        ));
    }
    if said.len() > begun && !is_reason && lacking.is_none() && !polar::is_decided(run, intent) {
        cover::admit(said, run, intent);
    }
    said.len() > begun
}

/// Whether it asks for the things without a record: "which stages did not spill?".
fn asks_for_absence(query: &Query<'_>) -> bool {
    let things = [Thing::Stage, Thing::Vertex, Thing::Operator, Thing::Input].map(Noun);
    let is_negative = query.has(Not) && query.has(Which) && !query.intent.asks_why();
    is_negative && query.scan.has_any(&things)
}

/// Whether a word is a number or a code, which a finding may have too.
fn is_code(word: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_hexdigit() || b == b'-';
    word.len() > 1 && word.bytes().any(|b| b.is_ascii_digit()) && word.bytes().all(is_part)
}

/// The words for a measure: its own, its unit, its statistic and its direction.
fn words_of(measure: &'static Measure) -> Vec<Word> {
    let mut words = vec![Of(measure)];
    words.extend(match measure.entity {
        Entity::Operator => Some(Noun(Thing::Operator)),
        Entity::Exchange => Some(Noun(Thing::Exchange)),
        Entity::Input => Some(Noun(Thing::Input)),
        Entity::Column => Some(Noun(Thing::Column)),
        Entity::Executor => Some(Noun(Thing::Executor)),
        Entity::Execution => Some(Noun(Thing::Execution)),
        Entity::Job | Entity::Stage => None,
    });
    words.extend(match measure.unit {
        Unit::Rows => Some(Rows),
        Unit::Bytes => Some(Bytes),
        Unit::Ms | Unit::Seconds => Some(Time),
        Unit::Share => Some(Share),
        Unit::Ratio => Some(Spread),
        Unit::Vertices => Some(Noun(Thing::Vertex)),
        Unit::Partitions => Some(Noun(Thing::Partition)),
        Unit::Files => Some(Noun(Thing::File)),
        _ => None,
    });
    let has = |parts: &[&str]| measure.id.split('_').any(|part| parts.contains(&part));
    for (word, parts) in [
        (Mean, &["mean"][..]),
        (Median, &["median"]),
        (Most, &["max"]),
        (Estimated, &["estimated"]),
        (In, &["in", "read", "input"]),
        (Out, &["out", "written"]),
        (Arrived, &["added"]),
        (Lost, &["lost"]),
    ] {
        words.extend(has(parts).then_some(word));
    }
    words
}

impl Query<'_> {
    /// Says the records of the names in the question: settings, times, measures, records, names of the script and causes; else describes its subjects.
    fn tell(&self, said: &mut Said<'_>, names: &[&str]) {
        let (run, intent) = (self.run, self.intent);
        let begun = said.len();
        let reads = self.scan.has(Record(super::Record::Reads));
        if reads {
            self.records(said);
        }
        self.tell_named(said);
        if intent.reading.settings().next().is_none() || said.len() == begun {
            self.tell_measures(said);
        }
        if !reads {
            self.records(said);
        }
        names.iter().for_each(|name| mention::say(said, run, name));
        if intent.subjects == [Subject::Job] && (said.len() == begun || !self.has(Number)) {
            verdict::causes(said, run, intent);
            verdict::remedy(said, run, intent);
        }
        if said.len() == begun {
            let asks_nothing = intent.asks_nothing() && !intent.is_polar();
            let is_told = |s: &&Subject| !matches!(s, Subject::Stage(_)) || asks_nothing;
            let subjects = self.subjects.iter().filter(is_told);
            subjects.for_each(|subject| overview(said, run, subject, intent));
        }
    }

    /// Says the settings, the kinds of time, the causes and the definitions that the question names.
    fn tell_named(&self, said: &mut Said<'_>) {
        let (run, intent) = (self.run, self.intent);
        if self.is_whole() {
            let known = |key: &&'static str| run.summary.settings.contains_key(*key);
            let settings = intent.reading.settings().filter(known);
            settings.for_each(|key| setting::about(said, run, key, intent));
            let is_event = self.scan.has_any(&[Arrived, Lost]);
            let is_told = |q: &&Quantity| !(is_event && **q == Quantity::Identity);
            let answers = intent.asked.iter().filter(|q| ANSWERS.contains(q));
            let answers = answers.filter(is_told);
            answers.for_each(|q| job::answer(said, run, *q, intent));
        }
        if self.has(Define) {
            let text = intent.reading.text();
            let terms = terms::all().filter(|term| terms::is_named(term, text));
            terms
                .take(SENTENCES)
                .for_each(|term| said.say(term.says.into()));
        }
        let stage = self.stages().next();
        let kinds = intent.asked.iter().filter_map(|q| kind(*q));
        let is_other = self.has(Place) || self.has(Key) || self.names(Thing::Column);
        let has_some = |kind: &SegmentKind| time::seconds_of(run, *kind, stage) > 0.0;
        let kinds = kinds.filter(|kind| !is_other && has_some(kind));
        kinds.for_each(|kind| time::time_of(said, run, kind, stage));
        // "what is exit code 50?"
        let codes = intent.reading.left.iter().chain(&intent.names);
        let codes: Vec<&String> = codes.filter(|word| is_code(word)).collect();
        for found in &run.report.findings {
            if codes.iter().any(|code| mention::has(&found.summary, code)) {
                found::finding_of(said, run, &found.id, false);
            }
        }
    }

    /// Says the values of the measures that share most words with the question.
    fn tell_measures(&self, said: &mut Said<'_>) {
        let is_place = self.has(Place) || self.names(Thing::Column);
        if is_place && !self.scan.has_any(&[Number, Rows, Bytes]) {
            return;
        }
        let weigh = |m: &'static Measure| (self.weight(m), m);
        let mut near: Vec<_> = book::ALL.iter().copied().map(weigh).collect();
        near.retain(|(weight, m)| *weight > 0.0 && self.reaches(m.entity) && self.has_some(m));
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let best = near.first().map_or(0.0, |(weight, _)| *weight);
        let (mut told, rest): (Vec<_>, Vec<_>) = near
            .into_iter()
            .partition(|(weight, _)| *weight >= ALSO * best);
        told.truncate(TOLD);
        // "how many cores, and when did it arrive?"
        let said_by = |words: &[Word], m| words_of(m).iter().any(|word| words.contains(word));
        let left = [Arrived, Lost, Share, Spread].map(|word| [word]);
        let left = left.iter().filter(|word| self.has(word[0]));
        let left: Vec<_> = left
            .filter(|word| !told.iter().any(|(_, m)| said_by(&word[..], m)))
            .filter_map(|word| rest.iter().find(|(_, m)| said_by(&word[..], m)))
            .collect();
        let all = told.iter().chain(left);
        all.for_each(|(_, measure)| self.value(said, measure));
        // "how many clicks does the filter let through?"
        let is_amount = self.has(Number) && !self.names(Thing::Column);
        if told.is_empty() && is_amount && self.entity() == Entity::Operator {
            let mut rows = self.rows(Entity::Operator);
            rows.truncate(TOLD);
            passed::both(said, self, &rows);
        }
    }

    /// The words that a measure shares with the question; 0 if they are only statistics and directions.
    fn weight(&self, measure: &'static Measure) -> f64 {
        let is_data = self.has(Data);
        let is_named = self.scan.has(Named(measure));
        // "how many cores does each executor have?"
        let is_of_executor = *measure == book::EXECUTOR_CORES
            && self.names(Thing::Executor)
            && self.scan.has(Named(&book::TOKENS));
        let is_asked = |word: &Word| match word {
            Of(_) => is_named || is_of_executor || self.has(*word),
            Rows | Bytes => is_data || self.has(*word),
            Time => self.is_time(),
            word => self.has(*word),
        };
        let words = words_of(measure);
        let is_detail =
            |w: &Word| matches!(w, Mean | Median | Most | Spread | Estimated | In | Out);
        let shared = || words.iter().filter(|word| is_asked(word));
        let is_statistic = measure.entity == Entity::Column && !self.names(Thing::Column);
        if is_statistic && !is_named && !self.has(Of(measure)) {
            return 0.0;
        }
        if !shared().any(|word| !is_detail(word) || *word == Spread || *word == Estimated) {
            return 0.0;
        }
        let weigh = |word: &Word| match word {
            Of(_) => 3.0,
            word if is_detail(word) => 0.5,
            _ => 1.0,
        };
        let lacking = words
            .iter()
            .filter(|word| is_detail(word) && !is_asked(word));
        let stages = &self.run.summary.stages;
        // a stage writes the rows of its output
        let is_operator = |s: &Subject| match s {
            Subject::Operator(at, o) => stages[*at].operators[*o].kind != "output",
            _ => false,
        };
        let near = match measure.entity {
            Entity::Operator => 1.0,
            _ if self.subjects.iter().any(is_operator) => NEIGHBOR,
            Entity::Job if self.intent.reading.shows(Cue::Job) => 1.0 / NEIGHBOR,
            _ => 1.0,
        };
        let shared: f64 = shared().map(weigh).sum();
        near * shared * TOO_NARROW.powi(lacking.count() as i32)
    }

    /// Whether a thing that the question is about has a measure.
    fn has_some(&self, measure: &Measure) -> bool {
        let rows = self.rows(measure.entity);
        rows.iter().any(|row| row.values.value(measure).is_some())
    }

    /// Whether a kind of thing belongs to the named one.
    pub(super) fn reaches(&self, entity: Entity) -> bool {
        let is_any = |is_it: fn(&Subject) -> bool| self.subjects.iter().any(is_it);
        let (stage, operator) = (
            is_any(|s| matches!(s, Subject::Stage(_))),
            is_any(|s| matches!(s, Subject::Operator(..))),
        );
        let names_operators = self.keywords().next().is_some() || self.names(Thing::Operator);
        let names_exchanges = self.names(Thing::Exchange) || self.names(Thing::Partition);
        match entity {
            // "how many rows in total?" is about the job
            Entity::Exchange if self.is_whole() => names_exchanges,
            _ if self.is_whole() => names_operators == (entity == Entity::Operator),
            Entity::Operator => {
                let column = is_any(|s| matches!(s, Subject::Column(_)));
                operator || (stage || column) && names_operators
            }
            Entity::Stage => stage || operator,
            Entity::Exchange => stage && !operator,
            Entity::Input => is_any(|s| matches!(s, Subject::Input(_))),
            Entity::Column => is_any(|s| matches!(s, Subject::Column(_))),
            Entity::Job | Entity::Executor | Entity::Execution => false,
        }
    }

    /// Whether the question names no part of the run.
    pub(super) fn is_whole(&self) -> bool {
        self.subjects == [Subject::Job]
    }

    /// The stages of the subjects.
    fn stages(&self) -> impl Iterator<Item = &str> + '_ {
        let stages = &self.run.summary.stages;
        self.subjects
            .iter()
            .filter_map(move |subject| match subject {
                Subject::Stage(at) | Subject::Operator(at, _) => Some(stages[*at].name.as_str()),
                _ => None,
            })
    }

    /// Says the values of a measure: of each named thing, else the sum and the largest.
    fn value(&self, said: &mut Said<'_>, measure: &'static Measure) {
        let mut rows = self.rows(measure.entity);
        rows.retain(|row| row.values.value(measure).is_some());
        let is_rows = *measure == book::OPERATOR_ROWS || *measure == book::ROWS_TAKEN;
        if is_rows && rows.len() <= SENTENCES && rows.iter().all(passed::changes) {
            passed::both(said, self, &rows);
            return;
        }
        match measure.entity {
            Entity::Job | Entity::Stage if self.is_whole() => {
                rank::most(said, self.run, &[measure]);
            }
            entity if rows.len() > 2 => {
                self.ranked(said, entity, rows, &[measure]);
            }
            _ => {
                self.say(said, &rows, &[measure]);
                let of_vertex = *measure == book::MAX_RUN && self.names(Thing::Vertex);
                let stage = rows.first().and_then(|row| row.stage).filter(|_| of_vertex);
                stage.iter().for_each(|at| self.name_slowest(said, *at));
            }
        }
    }
}

/// The subjects, with the operators at the lines of names and the readers of named inputs.
fn meant(run: &Asked<'_>, intent: &Intent, names: &[&str]) -> Vec<Subject> {
    let stages = &run.summary.stages;
    let operators = || {
        let stages = stages.iter().enumerate();
        stages.flat_map(|(at, s)| {
            s.operators
                .iter()
                .enumerate()
                .map(move |(o, operator)| (at, o, operator))
        })
    };
    let scan = &intent.reading;
    let is_of_outputs = scan.has(Out) && !scan.has(In) && intent.subjects == [Subject::Job];
    let is_other = scan
        .words
        .iter()
        .any(|w| matches!(w, Kind(_) | Noun(Thing::Stage)));
    let mut meant: Vec<Subject> = Vec::new();
    if intent.subjects == [Subject::Job] {
        let lines = names.iter().flat_map(|name| mention::statements(run, name));
        let lines: Vec<(u32, u32)> = lines.collect();
        let runs = |line: u32| lines.iter().any(|(a, b)| (*a..=*b).contains(&line));
        let found = operators().filter(|(_, _, o)| o.line.is_some_and(runs) && !is_exchange(o));
        meant.extend(found.map(|(at, o, _)| Subject::Operator(at, o)));
    }
    if is_of_outputs && !is_other {
        let outputs = operators().filter(|(_, _, o)| o.kind == "output");
        meant.extend(outputs.map(|(at, o, _)| Subject::Operator(at, o)));
    }
    if !meant.is_empty() {
        return meant;
    }
    for subject in &intent.subjects {
        let more: Vec<Subject> = operators()
            .filter(|(_, _, o)| match subject {
                Subject::Lines(first, last) => {
                    !is_exchange(o) && o.line.is_some_and(|line| (*first..=*last).contains(&line))
                }
                Subject::Input(at) => run.summary.inputs[*at].reader.as_ref() == Some(&o.id),
                _ => false,
            })
            .map(|(at, o, _)| Subject::Operator(at, o))
            .collect();
        let is_lines = matches!(subject, Subject::Lines(..));
        if !is_lines || more.is_empty() {
            meant.push(subject.clone());
        }
        meant.extend(more);
    }
    meant
}

fn is_exchange(operator: &OperatorSummary) -> bool {
    operator.kind.ends_with("partition") || operator.kind == "gather"
}

/// Describes a subject if the files hold no answer to the question about it.
fn overview(said: &mut Said<'_>, run: &Asked<'_>, subject: &Subject, intent: &Intent) {
    match subject {
        Subject::Operator(at, operator) => {
            thing::operator(said, run, *at, *operator);
            if intent.asks_why() {
                stage::why(said, run, *at);
            }
        }
        Subject::Stage(at) if intent.asks_why() => stage::why(said, run, *at),
        Subject::Stage(at) => {
            stage::times(said, run, *at);
            stage::work(said, run, &run.summary.stages[*at]);
        }
        Subject::Input(at) => thing::describe_input(said, &run.summary.inputs[*at]),
        Subject::Lines(first, last) => thing::lines(said, run, *first, *last, intent),
        Subject::Column(name) => column::spread(said, run, name),
        _ => {}
    }
}
