//! Answers questions about numbers: the things that are meant, their measures, and how the values are combined.
//!
//! A question is answered here only if every word of it is accounted for.

pub(crate) mod cover;
pub(crate) mod nearest;
mod pair;
mod passed;
mod pick;
mod place;
mod records;
mod rows;
mod say;

use job::script::{Statement, StatementKind};
use report::measure::{Entity, Measure, book};
use report::text;

use crate::intent::{Intent, kind};
use crate::reading::Reading;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::*;
use crate::word::{Quantity, Record, Thing, Word};
use crate::{Asked, origin, rank, record};
use rows::Row;

/// A question with its words.
pub(crate) struct Query<'a> {
    run: &'a Asked<'a>,
    /// The named parts of the run, and the statements with words of the script.
    subjects: Vec<Subject>,
    scan: Reading,
    /// Numbers of executors or queries.
    ids: Vec<String>,
    /// Words that only the script knows.
    of_script: Vec<String>,
    intent: &'a Intent,
}

/// Answers a question about numbers. Returns false for any other question.
pub(crate) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let whole = &intent.reading;
    let is_lost = whole.has(Lost) && whole.has(Noun(Thing::Executor));
    let others = whole.words.iter().filter(|w| **w == Other).count();
    let lost = whole.words.iter().filter(|w| **w == Lost).count();
    // "what is the key?" asks for a name
    let names_thing = whole.has_any(&[Key, Noun(Thing::Column), Noun(Thing::Machine)]);
    let defines = whole.words.iter().filter(|w| **w == Define).count();
    let whens = whole.words.iter().filter(|w| **w == When).count();
    // “stage 2 和 stage 3 谁读得多”
    let whos = whole.words.iter().filter(|w| **w == Who).count();
    let is_choice = intent.subjects.len() == 2;
    let arrives = !whole.has(Lost) && whole.has(Noun(Thing::Executor));
    let excused = [
        (is_lost, lost),
        (names_thing, defines),
        (arrives, whens),
        (is_choice, whos),
    ];
    let excused: usize = excused
        .iter()
        .filter(|(is_it, _)| *is_it)
        .map(|(_, n)| n)
        .sum();
    let is_other = others > excused;
    let is_other = intent.goal.is_some() || is_other;
    // "stages with one vertex", "how much time goes to sorting", "does it spill?"
    let has_time = whole.has(Time) && intent.asked.iter().any(|q| kind(*q).is_some());
    let names_measure = whole.words.iter().any(|w| matches!(w, Of(_)));
    let is_trouble = names_measure || whole.has(Spread);
    let is_cause =
        names_measure && has_time || is_trouble && intent.is_polar() && !intent.causes.is_empty();
    let is_setting = |s: &Subject| matches!(s, Subject::Setting(_));
    let is_other = is_other || intent.subjects.iter().any(is_setting);
    let never_ran =
        |s: &Subject| matches!(s, Subject::Stage(at) if run.summary.stages[*at].never_ran);
    let is_other = is_other || intent.subjects.iter().any(never_ran);
    if is_other || is_cause || !intent.unknown.is_empty() || intent.asks(Quantity::Single) {
        return false;
    }
    let mut subjects = intent.subjects.clone();
    let mut text = intent.text.to_lowercase();
    let numbered = [Thing::Executor, Thing::Execution].map(Noun);
    let has_ids = whole.has_any(&numbered);
    let is_id = |word: &String| has_ids && word.bytes().all(|b| b.is_ascii_digit());
    let (ids, left): (Vec<String>, Vec<String>) = whole.left.iter().cloned().partition(is_id);
    for id in &ids {
        text = text.replace(id, " ");
    }
    for word in left.iter() {
        // an ordinary word that happens to be in the script is no name
        let is_ordinary = intent.text.contains(word.as_str()) && !word.contains(['.', '_']);
        let Some(lines) = in_script(run, word).filter(|_| !is_ordinary) else {
            return false;
        };
        subjects.retain(|s| *s != Subject::Job);
        subjects.push(lines);
        text = text.replace(word.as_str(), " ");
    }
    let parts = Reading::parts(&text);
    let begun = said.len();
    let answered = parts.into_iter().all(|scan| {
        let (subjects, ids) = (subjects.clone(), ids.clone());
        let of_script = left.clone();
        let query = Query {
            run,
            subjects,
            scan,
            ids,
            of_script,
            intent,
        };
        query.answer(said)
    });
    if !answered {
        said.truncate(begun);
    }
    answered
}

/// Letters of a word of the script that is hardly in a question by chance.
const IDENTIFIER: usize = 5;

/// The statement with a word of the script: "the filter TrafficUtil.Keep".
fn in_script(run: &Asked<'_>, word: &str) -> Option<Subject> {
    let is_name = word.len() >= IDENTIFIER && word.is_ascii();
    let word_in_capitals = word.to_uppercase();
    let has_it = |s: &&Statement| {
        s.kind != StatementKind::Declare && place::has_word(run.text_of(s), &word_in_capitals)
    };
    let mut statements = run.statements().iter().filter(has_it);
    let first = statements.next().filter(|_| is_name)?;
    Some(Subject::Lines(first.lines.0, first.lines.1))
}

impl<'a> Query<'a> {
    fn answer(&self, said: &mut Said<'_>) -> bool {
        place::answer(said, self)
            || self.slowest(said)
            || passed::answer(said, self)
            || self.numbers(said)
    }

    fn has(&self, word: Word) -> bool {
        self.scan.has(word)
    }

    fn is_time(&self) -> bool {
        self.scan.is_time()
    }

    fn names(&self, thing: Thing) -> bool {
        self.has(Noun(thing))
    }

    /// The vertex that ran longest: of the named stage, else of the job.
    fn slowest(&self, said: &mut Said<'_>) -> bool {
        let asks = self.names(Thing::Vertex) && self.has(Most) && self.is_time();
        let is_load = self.scan.has_any(&[In, Out, Rows, Bytes]);
        let is_place = self.names(Thing::Machine) || self.names(Thing::Executor);
        let is_machine = self.names(Thing::Machine) && !self.names(Thing::Executor);
        // "which machine ran most vertices?" asks for their number
        let counts = |(_, text): &(_, String)| matches!(text.as_str(), "most" | "more" | "最多");
        let is_most = self.has(Most) && !self.scan.phrases.iter().any(counts);
        let asks = asks || (self.names(Thing::Vertex) && is_place || is_machine) && is_most;
        let is_of_stage = self.names(Thing::Stage) && !self.has(Which);
        if !asks || is_load || is_of_stage || self.entity() != Entity::Stage && !is_machine {
            return false;
        }
        let rows = self.rows(Entity::Stage);
        let longest = |row: &Row<'_>| row.values.get(&book::MAX_RUN).unwrap_or(0.0);
        let slowest = rows.iter().max_by(|a, b| longest(a).total_cmp(&longest(b)));
        let Some((row, stage)) = slowest.and_then(|row| Some((row, row.stage?))) else {
            return false;
        };
        let mut measures = vec![&book::MAX_RUN];
        if self.scan.has_any(&[Median, Apart, Times]) {
            measures.push(&book::MEDIAN_RUN);
        }
        let is_to_mean = self.scan.has_any(&[Times, Spread]) && !self.has(Median);
        if self.has(Mean) || is_to_mean {
            measures.extend([&book::MEAN_RUN, &book::RUN_MAX_OVER_MEAN]);
        }
        if !self.say(said, std::slice::from_ref(row), &measures) {
            return false;
        }
        self.name_slowest(said, stage);
        true
    }

    /// Says which vertex of a stage ran longest, and where.
    fn name_slowest(&self, said: &mut Said<'_>, stage: usize) {
        if let Some([vertex, machine]) = &self.run.summary.stages[stage].slowest {
            said.say(match machine.is_empty() {
                true => text!("这个顶点是 {vertex}", "It is {vertex}"),
                false => text!(
                    "这个顶点是 {vertex}，在 {machine} 上运行",
                    "It is {vertex}, which ran on {machine}"
                ),
            });
        }
    }

    fn numbers(&self, said: &mut Said<'_>) -> bool {
        let entity = self.entity();
        let rows = self.rows(entity);
        if self.has(Estimated) {
            return self.estimates(said, entity, rows);
        }
        // no operator accounts for the rows that are lost
        let is_lost = entity == Entity::Executor && self.has(Lost);
        if self.has(Passed) && !self.has(Rate) && !is_lost {
            return false;
        }
        if is_lost {
            return false;
        }
        let measures = self.measures(entity);
        let names_measure = self.scan.words.iter().any(|w| matches!(w, Of(_)));
        let is_layout = entity == Entity::Input && self.has(Key);
        let is_part = entity == Entity::Stage && self.has(Share) && self.is_time();
        let is_part = is_part && !names_measure;
        // the statistics of columns, the layouts of inputs and the account of the time say more
        if measures.is_empty() && names_measure || is_layout || is_part || entity == Entity::Column
        {
            return false;
        }
        // the columns of a scan are no keys
        if entity == Entity::Operator && self.names(Thing::Column) && !self.has(Rows) {
            return self.keys(said, entity, &rows);
        }
        if measures == [&book::PLANNED] {
            return origin::unfinished(said, self.run);
        }
        let has_stage = self.subjects.iter().any(|s| matches!(s, Subject::Stage(_)));
        if entity == Entity::Stage && !has_stage && self.is_of_vertex() && !measures.is_empty() {
            return self.ranked(said, entity, rows, &measures);
        }
        let is_whole = entity == Entity::Stage && !has_stage && !self.names(Thing::Stage);
        if self.scan.has_any(&[Most, Least]) && rows.len() > 1 && !self.is_of_vertex() {
            return self.ranked(said, entity, rows, &measures);
        }
        if is_whole && names_measure {
            return self.of_job(said, &measures);
        }
        if measures == [&book::VERTICES] && is_whole {
            return false;
        }
        if measures == [&book::VERTICES] && has_stage {
            let stages = rows.iter().filter_map(|row| row.stage);
            let stages = stages.map(|at| &self.run.summary.stages[at]);
            stages.for_each(|stage| origin::vertices(said, self.run, stage, true));
            return true;
        }
        if self.keys(said, entity, &rows) {
            if self.has(Number) {
                self.say(said, &rows, &measures);
            }
            return true;
        }
        self.measured(said, entity, &rows, &measures)
    }

    /// Answers with the measures of some rows.
    fn measured(
        &self,
        said: &mut Said<'_>,
        entity: Entity,
        rows: &[Row<'_>],
        measures: &[&'static Measure],
    ) -> bool {
        let has_stage = self.subjects.iter().any(|s| matches!(s, Subject::Stage(_)));
        let is_total = entity == Entity::Exchange && self.has(Sum);
        if measures.is_empty() && is_total && self.subjects == [Subject::Job] {
            return self.of_job(said, &[&book::SHUFFLED]);
        }
        if measures.is_empty() {
            return self.count(said, entity, rows);
        }
        if entity == Entity::Job {
            return self.of_job(said, measures);
        }
        let of_files = entity == Entity::Input && self.names(Thing::File) && self.has(Bytes);
        if self.has(Rate) || of_files && self.scan.has_any(&[Mean, Each]) {
            return self.rate(said, rows, measures);
        }
        let is_condition = self.scan.has_any(&[Number, Which]) && self.names(Thing::Stage);
        let own = |w: &&Word| !matches!(w, Filler | Number | Each);
        let ends = matches!(self.scan.words.iter().rfind(own), Some(Of(_)));
        if is_condition && ends && !has_stage && !measures.is_empty() {
            return self.condition(said, rows, measures);
        }
        let is_said = self.say(said, rows, measures);
        let stages = rows.iter().filter_map(|row| row.stage);
        let stages = stages.filter(|_| measures.contains(&&book::FAILED));
        stages.for_each(|at| record::attempts(said, &self.run.summary.stages[at]));
        is_said
    }

    /// Says values of the whole job; values of stages are summed.
    fn of_job(&self, said: &mut Said<'_>, measures: &[&'static Measure]) -> bool {
        let values = &self.run.summary.values;
        let known = measures.iter().filter_map(|m| Some((*m, values.value(m)?)));
        let known: Vec<_> = known.collect();
        for (measure, value) in &known {
            said.say_value(
                measure,
                value,
                self.run.report.job.label(),
                self.run.vertex(),
            );
        }
        let of_stages = measures.iter().filter(|m| m.entity == Entity::Stage);
        let of_stages: Vec<&'static Measure> = of_stages.copied().collect();
        if known.is_empty() && !of_stages.is_empty() {
            rank::most(said, self.run, &of_stages);
            return true;
        }
        !known.is_empty()
    }
}
