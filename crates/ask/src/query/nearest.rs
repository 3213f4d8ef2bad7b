//! Answers a question that no parse covers with the statements of the run nearest to it.

use report::measure::Entity;
use report::text;
use runs::OperatorSummary;

use super::facts::{self, Fact};
use super::weigh::{Features, Weigher, pieces};
use super::{Query, cover, passed};
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::wording::Wording;
use crate::words::Word::*;
use crate::words::{Scan, Thing};
use crate::{Asked, mention, stage, thing};

/// Facts of one answer.
const TOLD: usize = 3;

/// Least weight of a further fact, relative to the best one.
const ALSO: f64 = 0.8;

/// Least share of a question about the whole job that the facts must cover, and the share from which on they answer any question.
const COVERED: f64 = 0.5;
const WHOLE: f64 = 0.75;

/// Weight of the told words in the choice of a fact for the words left out.
const TIE: f64 = 0.1;

/// Says the nearest statements. Returns false if the run has none about the subject of the question.
pub(crate) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let scan = Scan::of(&intent.text);
    let wording = Wording::of(&intent.text);
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
    let is_named =
        intent.subjects != [Subject::Job] || !names.is_empty() || query.keywords().next().is_some();
    let facts = facts::all(run, &wording, &names);
    let features = facts.iter().map(|(_, features)| features);
    // the statements of an expression are meant, not its words
    let expressions = names.iter().filter(|name| name.contains(['<', '>', '=']));
    let text = expressions.fold(intent.text.clone(), |text, part| text.replace(part, " "));
    let weigher = Weigher::new(pieces(&text), features);
    let is_foreign = weigher.is_foreign() && names.is_empty();
    if asks_for_absence(&query) || is_foreign || weigher.is_empty() && !is_named {
        return false;
    }
    let begun = said.len();
    if intent.asks_why {
        let is_place = |s: &&Subject| matches!(s, Subject::Stage(_) | Subject::Operator(..));
        let places = intent.subjects.iter().filter(is_place);
        places.for_each(|subject| overview(said, run, subject, intent));
        if said.len() > begun {
            return true;
        }
    }
    let told = told(&query, &facts, &weigher);
    let names_setting = told.iter().any(|at| query.names_setting(&facts[*at].0));
    let is_named = is_named || names_setting;
    if weigher.covered(told.iter().map(|at| &facts[*at].1)) < COVERED && !is_named {
        return false;
    }
    if weigher.covered(told.iter().map(|at| &facts[*at].1)) < WHOLE && !names_setting {
        said.say(text!(
            "没有记录完全对应这个问题，以下是最接近的记录",
            "No record answers exactly this; the nearest records follow"
        ));
    }
    // the statement of a name says what it computes
    let is_amount = query.scan.has_any(&[Number, Rows, Time, Bytes, Data]);
    for subject in intent.subjects.iter().filter(|_| !is_amount) {
        if let Subject::Lines(first, last) = subject {
            thing::quote(said, run, *first, *last);
        }
    }
    let mut preface = said.len();
    told.iter().for_each(|at| query.tell(said, &facts[*at].0));
    // "how many clicks does the filter let through?"
    let is_value = |at: &usize| matches!(facts[*at].0, Fact::Value(_));
    if query.has(Number) && query.entity() == Entity::Operator && !told.iter().any(is_value) {
        let mut rows = query.rows(Entity::Operator);
        rows.truncate(TOLD);
        passed::both(said, &query, &rows);
    }
    if said.len() == preface {
        let asks_nothing = weigher.is_empty() && !intent.is_polar;
        said.truncate(begun);
        preface = begun;
        let is_told = |s: &&Subject| !matches!(s, Subject::Stage(_)) || asks_nothing;
        let subjects = query.subjects.iter().filter(is_told);
        subjects.for_each(|subject| overview(said, run, subject, intent));
    }
    if said.only_repeats(preface) {
        said.truncate(begun);
    }
    let is_told = said.len() > preface && intent.subjects != [Subject::Job];
    let lacking = cover::lacking(intent, &said.text()).filter(|_| said.len() > begun);
    if let Some(amount) = lacking.filter(|_| !(is_told && preface > begun)) {
        said.truncate(begun);
        said.say(text!(
            "没有文件给出这里所问的{amount}",
            "No file gives the asked {amount}",
            amount = amount
        ));
    }
    said.len() > begun
}

/// Whether it asks for the things without a record: "which stages did not spill?".
fn asks_for_absence(query: &Query<'_>) -> bool {
    let things = [Thing::Stage, Thing::Vertex, Thing::Operator, Thing::Input].map(Noun);
    let is_negative = query.has(Not) && query.has(Which) && !query.intent.asks_why;
    is_negative && query.scan.has_any(&things)
}

/// The facts to tell, by their indices: named settings, the nearest facts, and the nearest one to the words left over.
fn told(query: &Query<'_>, facts: &[(Fact<'_>, Features)], weigher: &Weigher) -> Vec<usize> {
    let all: Vec<usize> = weigher.left(std::iter::empty());
    let weigh = |(at, (fact, features)): (usize, &(Fact<'_>, Features))| {
        (weigher.weigh(features, &all) * query.nearness(fact), at)
    };
    let weighed = facts.iter().enumerate().map(weigh);
    // the definition of a measure has ordinary words
    let is_named = |(fact, features): &(Fact<'_>, Features)| {
        !matches!(fact, Fact::Value(_)) || weigher.names_measure(features)
    };
    let fits = |(weight, at): &(f64, usize)| {
        *weight > 0.0 && query.fits(&facts[*at].0) && is_named(&facts[*at])
    };
    let mut weighed: Vec<(f64, usize)> = weighed.filter(fits).collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = weighed.first().map_or(0.0, |(weight, _)| *weight);
    let near = weighed
        .iter()
        .take_while(|(weight, _)| *weight >= ALSO * best);
    let mut rules = 0;
    let near = near.map(|(_, at)| *at).filter(|at| {
        rules += usize::from(matches!(facts[*at].0, Fact::Rule(_)));
        !matches!(facts[*at].0, Fact::Rule(_)) || rules == 1
    });
    let near = near.take(TOLD);
    let settings = facts.iter().enumerate();
    let settings = settings.filter(|(_, (fact, _))| query.names_setting(fact));
    let mut told: Vec<usize> = settings.map(|(at, _)| at).chain(near).collect();
    let left = weigher.left(told.iter().map(|at| &facts[*at].1));
    let of_left = |at: usize| weigher.weigh(&facts[at].1, &left);
    let rest = weighed.iter().filter(|(_, at)| {
        let (fact, _) = &facts[*at];
        !fact.is_conclusion() && of_left(*at) > 0.0
    });
    let rest = rest.map(|(weight, at)| (of_left(*at) + TIE * weight, *at));
    let next = rest.max_by(|a, b| a.0.total_cmp(&b.0));
    told.extend(next.map(|(_, at)| at));
    told
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
    let scan = Scan::of(&intent.text);
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
            if intent.asks_why {
                stage::why(said, run, *at);
            }
        }
        Subject::Stage(at) if intent.asks_why => stage::why(said, run, *at),
        Subject::Stage(at) => {
            stage::times(said, run, *at);
            stage::work(said, run, &run.summary.stages[*at]);
        }
        Subject::Input(at) => thing::describe_input(said, &run.summary.inputs[*at]),
        Subject::Lines(first, last) => thing::lines(said, run, *first, *last, intent),
        Subject::Column(name) => thing::column(said, run, name, None),
        _ => {}
    }
}
