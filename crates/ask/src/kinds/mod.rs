//! Questions of a known kind, by their words: each kind has one answer, which begins with the asked fact.

mod advice;
mod attempts;
mod executions;
mod executors;
mod hypotheses;
mod jobs;
mod outputs;
mod part;
mod plan;
mod progress;
mod script;
mod slots;
mod vertices;

pub(crate) use advice::{failed, lines};
pub(crate) use slots::held;

use report::Language;
use runs::StageSummary;

use crate::Asked;
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word;
use crate::{column, rank};

/// Says the answer to a question of a kind. Returns false for any other question.
type Kind = fn(&mut Said<'_>, &Asked<'_>, &Intent) -> bool;

#[rustfmt::skip]
const KINDS: [Kind; 34] = [
    column::of_value, plan::too_large, jobs::answer, rank::times, script::hints, advice::change, advice::place, attempts::harm, attempts::of_job, attempts::of_stage, part::of_time, plan::shuffled, plan::reshuffled, plan::broadcast,
    hypotheses::judged, slots::used, progress::finished, progress::ran, script::clause, outputs::any, vertices::one, vertices::last, vertices::first, attempts::answer, executors::answer, executions::answer,
    hypotheses::answer, script::usage, plan::window, plan::flow, plan::decided, plan::each, plan::fits, vertices::all,
];

/// Answers a question of a known kind. Returns false for any other question.
pub(crate) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    // "which stages did not fail?" asks for the others
    let is_negative = intent.reading.has_any(&[Word::Not]) && intent.reading.has(Word::Which);
    let is_negative = is_negative && !intent.asks_why();
    intent.goal.is_none() && !is_negative && KINDS.iter().any(|kind| kind(said, run, intent))
}

/// The stages that a question names.
fn stages(intent: &Intent) -> Vec<usize> {
    let stages = intent.subjects.iter().filter_map(|s| match s {
        Subject::Stage(at) | Subject::Operator(at, _) => Some(*at),
        _ => None,
    });
    stages.collect()
}

/// The stages that a question names; all if it names none.
fn meant<'a>(run: &Asked<'a>, intent: &Intent) -> impl Iterator<Item = &'a StageSummary> {
    let named = stages(intent);
    let all = run.summary.stages.iter().enumerate();
    let meant = all.filter(move |(at, _)| named.is_empty() || named.contains(at));
    meant.map(|(_, stage)| stage)
}

fn is_whole(intent: &Intent) -> bool {
    intent.subjects == [Subject::Job]
}

/// Items in a row, with the number of those left out.
fn some(items: &[String], most: usize, language: Language) -> String {
    let mut shown = items[..items.len().min(most)].to_vec();
    if let more @ 1.. = items.len().saturating_sub(most) {
        shown.push(report::text!("另外 {more} 个", "{more} more").into(language));
    }
    crate::said::names(&shown, language)
}

/// Whether a text has a word as a whole.
fn has(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let ends =
        |at: usize| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part);
    text.match_indices(word)
        .any(|(at, _)| !word.is_ascii() || ends(at))
}
