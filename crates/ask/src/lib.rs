//! Answers a question about a run from the run's measurements.
//!
//! `reading` finds the words of the `vocabulary` in a question, and `intent` the meaning of the words: the parts of the run (`names`, the
//! run's own), the quantities and the measures. Each subject has a module that states its measurements with the
//! evidence; `verdict` states the conclusions of the rules; `terms` defines words. If a question can't be understood, the answer
//! says so and lists supported questions. Knows no LLM and no store.

mod amount;
mod asked;
mod change;
mod clauses;
mod column;
mod context;
mod event;
mod found;
mod goal;
mod intent;
mod job;
mod kinds;
mod mention;
mod names;
mod origin;
mod places;
mod plan;
mod polar;
mod premise;
mod query;
mod rank;
mod reading;
mod record;
mod resource;
mod said;
mod setting;
mod spelling;
mod stage;
mod subject;
mod term;
mod terms;
mod thing;
mod time;
mod unrecorded;
mod verdict;
mod vocabulary;
mod wanted;
mod word;

use agent::facts::MeasuredAnswer;
use report::text;

pub use asked::{Asked, Earlier};
pub use context::{advice_input, input};

use intent::Intent;
use query::cover;
use said::Said;
use subject::Subject;
use word::{Cue, Quantity, Thing, Word};

/// The setting that limits the memory of the driver.
const DRIVER_MEMORY: &str = "spark.driver.memory";

/// Answers a question; `before` are the questions of the conversation so far.
pub fn answer(question: &str, before: &[String], run: &Asked<'_>) -> MeasuredAnswer {
    let mut said = Said::new(run);
    let clauses = clauses::split(question, run);
    let is_answered = clauses.len() > 1
        && (terms::define(&mut said, run, question)
            || each(&mut said, run, question, &clauses, before));
    if !is_answered && !one(&mut said, run, question, before) {
        let intent = Intent::of(question, before, run);
        if said.is_silent() && !of_whole_run(&mut said, run, &intent) {
            not_understood(&mut said);
        }
        polar::lead(&mut said, run, &intent);
    }
    said.finish()
}

/// Answers a question of a known kind. Returns false for any other question.
fn known(said: &mut Said<'_>, run: &Asked<'_>, question: &str, intent: &Intent) -> bool {
    let is_known = terms::define(said, run, question)
        || unrecorded::answer(said, run, intent)
        || kinds::answer(said, run, intent);
    if is_known {
        polar::lead(said, run, intent);
    }
    is_known
}

/// Answers one question: by its kind or its parse, else by the nearest records. Returns false if it is not understood.
fn one(said: &mut Said<'_>, run: &Asked<'_>, question: &str, before: &[String]) -> bool {
    let intent = Intent::of(question, before, run);
    if known(said, run, question, &intent) {
        return true;
    }
    let is_answered = parsed(said, run, question, &intent)
        || query::nearest::answer(said, run, &intent)
        || kinds::failed(said, run, &intent);
    if is_answered {
        polar::lead(said, run, &intent);
    }
    is_answered
}

/// Answers each clause of a question and names the clauses that are not understood. Returns false if none is.
fn each(
    said: &mut Said<'_>,
    run: &Asked<'_>,
    question: &str,
    clauses: &[String],
    before: &[String],
) -> bool {
    let mut before = before.to_vec();
    let mut missed: Vec<&str> = Vec::new();
    let mut last = None;
    let first = Intent::of(&clauses[0], &before, run);
    let is_known = known(said, run, &clauses[0], &first);
    if !is_known && numbers(said, run, &Intent::of(question, &before, run)) {
        return true;
    }
    if is_known {
        before.push(clauses[0].clone());
        last = Some(clauses[0].clone());
    }
    for clause in clauses.iter().skip(usize::from(is_known)) {
        said.next_clause();
        // "what does SV5 do, and why does it have one vertex?"
        let named = clauses::with_names(clause, last.as_ref(), run);
        if !one(said, run, &named, &before) && !said.repeats() {
            missed.push(clause.trim_matches(|c: char| !c.is_alphanumeric()));
        }
        before.push(named.clone());
        last = Some(named);
    }
    said.next_clause();
    if missed.len() == clauses.len() {
        return false;
    }
    for missed in missed {
        said.say(text!(
            "“{missed}”没有理解，未回答",
            "Not answered, as it was not understood: \"{missed}\""
        ));
    }
    true
}

/// Answers a question if every word of it is accounted for. Returns false for any other question.
fn parsed(said: &mut Said<'_>, run: &Asked<'_>, question: &str, intent: &Intent) -> bool {
    if event::answer(said, run, question) {
        return true;
    }
    // "stage 2" is no change to 2
    match (wanted::Wanted::of(&intent.reading), &intent.subjects[..]) {
        (Some(wanted), _) if intent.may_change() => {
            resource::answer(said, run, wanted, intent);
            return true;
        }
        (Some(_), [Subject::Stage(at)]) if resource::of_stage(said, run, *at) => return true,
        _ if resource::without(said, run, intent) => return true,
        _ => {}
    }
    if premise::check(said, run, intent) {
        return true;
    }
    if numbers(said, run, intent) {
        return true;
    }
    // a question about an unknown name gets no conclusions about the job
    let last = question
        .trim_end_matches(['?', '？', '.', '。', ' '])
        .rsplit(['.', '。', '!', '！'])
        .next();
    let is_lacking = |name: &str| last.is_some_and(|last| last.contains(name));
    if intent.subjects == [Subject::Job] && intent.unknown.iter().any(|u| is_lacking(&u.name)) {
        intent
            .unknown
            .iter()
            .for_each(|unknown| said.say(unknown.sentence()));
        return true;
    }
    let is_thought = intent.reading.shows(Cue::WhatIf);
    let is_change = intent.asks(Quantity::Gain) || intent.asks(Quantity::Remedy);
    if is_thought && !is_change && intent.goal.is_none() {
        said.say(text!(
            "没有记录说明这样改变的效果，以下是最接近的记录",
            "No record shows the effect of that change; the nearest records follow"
        ));
        said.pin();
    }
    conclusions(said, run, intent);
    let text = said.text();
    // The answer to a goal names the goal.
    let is_record = |s: &Subject| {
        matches!(
            s,
            Subject::Setting(_)
                | Subject::Finding(_)
                | Subject::Suggestion(_)
                | Subject::Evidence(_)
        )
    };
    let is_strange = || {
        intent.goal.is_none()
            && !intent.subjects.iter().any(is_record)
            && (cover::is_more_than_overview(intent)
                || cover::leaves_out(run, intent, &text)
                || cover::has_unknown(run, intent, &text))
    };
    if intent.unknown.is_empty() && (intent.is_empty() || is_strange()) {
        said.truncate(0);
    }
    said.len() > 0
}

/// Answers a question about numbers if every word is accounted for. Returns false for any other question.
fn numbers(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    if query::answer(said, run, intent) {
        if !cover::leaves_out(run, intent, &said.text()) {
            return true;
        }
        said.truncate(0);
    }
    false
}

/// Says the measurements of each subject, the conclusions of the rules and their changes.
fn conclusions(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    for unknown in &intent.unknown {
        said.say(unknown.sentence());
    }
    if intent.compares {
        rank::compare(said, run, intent);
    }
    let subjects = intent.subjects.iter().filter(|_| !intent.compares);
    for subject in subjects {
        about(said, run, subject, intent);
    }
    let is_setting = |s: &Subject| matches!(s, Subject::Setting(_));
    if intent.subjects.iter().all(is_setting) {
        job::beside_settings(said, run, intent);
    }
    verdict::causes(said, run, intent);
    if intent.asks(Quantity::Change) && !intent.compares {
        change::since(said, run, intent);
    }
    if !intent.compares {
        verdict::remedy(said, run, intent);
    }
    time::goal(said, run, intent);
}

fn about(said: &mut Said<'_>, run: &Asked<'_>, subject: &Subject, intent: &Intent) {
    match subject {
        Subject::Job => job::about(said, run, intent),
        Subject::Stage(at) => {
            stage::about(said, run, *at, intent);
            let names_stages =
                intent.asks(Quantity::Flow) || intent.reading.has(Word::Noun(Thing::Vertex));
            if intent.asks(Quantity::Which) && intent.measures.is_empty() && !names_stages {
                rank::rank(said, run, intent);
            }
        }
        Subject::Operator(at, operator) => {
            thing::operator(said, run, *at, *operator);
            stage::about(said, run, *at, intent);
        }
        Subject::Input(at) => thing::input(said, run, *at, intent),
        Subject::Column(name) => thing::column(said, run, name, Some(intent)),
        Subject::Setting(key) => setting::about(said, run, key, intent),
        Subject::File(name) => thing::file(said, run, name),
        Subject::Finding(id) => {
            let is_open = intent.asks(Quantity::Sources) || intent.reading.has(Word::Define);
            found::finding_of(said, run, id, is_open);
        }
        Subject::Suggestion(id) => thing::suggestion(said, run, id),
        Subject::Evidence(id) => thing::evidence(said, run, id),
        Subject::Lines(first, last) => thing::lines(said, run, *first, *last, intent),
    }
}

/// Answers why, whether and what to change for the whole run, where the other words of a question have no counterpart in it. Returns false for
/// other questions.
fn of_whole_run(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    use Quantity::{Account, Remedy, Verdict};
    let is_slow = intent.reading.shows(Cue::Slow);
    let asks_cause = intent.asks_why() && is_slow;
    if !asks_cause && ![Account, Remedy, Verdict].iter().any(|q| intent.asks(*q)) {
        return false;
    }
    said.say(text!(
        "问题中有的词在这次运行中没有对应；以下是整个作业的结论",
        "Some words of the question name nothing in this run; the conclusions for the whole job follow"
    ));
    said.pin();
    verdict::of_job(said, run, &[]);
    verdict::remedy(said, run, intent);
    true
}

fn not_understood(said: &mut Said<'_>) {
    let sentence = text!(
        "没有理解这个问题；可以问时间花在哪里、为什么慢或失败、怎么改，或某个阶段、输入、列的用时、行数、倾斜等",
        "I did not understand the question; ask where the time goes, why the job is slow or failed, what to change, or about a stage, input or column"
    );
    said.say(sentence);
}
