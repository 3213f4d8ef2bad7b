//! The questions within a question: "how many vertices does it have, and why is it slow?".

use report::measure::book;

use crate::intent::asked_and_measures;
use crate::names::{Known, Named};
use crate::reading::Reading;
use crate::subject::Subject;
use crate::vocabulary::Phrases;
use crate::wanted::Wanted;
use crate::word::{Cue, Quantity, Thing, Word};
use crate::{Asked, premise, terms};

/// Words that begin an English question, also after a conjunction or a preposition; the first ones ask anywhere.
const ASKING: &str = "how|what|what's|which|why|when|where|who|whose|tell|show|give|list|explain";
const BEGINNING: &str = "is|are|was|were|do|does|did|can|could|would|should|will|has|have";
const BEFORE_ASKING: &str = "and|but|also|so|then|or|in|at|on|with|by|for|of|to|from|into";

/// Words of Chinese questions.
pub(crate) const ASKING_ZH: &str = "多少|几|什么|哪|为何|为啥|怎么|怎样|如何|吗|呢|谁|多久|多大|多长|多高|是否|是不是|有没有|能不能|会不会|要不要|啥|咋";

/// Conjunctions that a clause may follow without a comma.
const CONJUNCTIONS: &str = " and | but |以及|并且|而且|同时";

/// The clauses of a text that each ask something; statements and conditions belong to the next clause, or to the last one.
fn of(text: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    let mut begun = String::new();
    for piece in pieces(text) {
        match clauses.last_mut() {
            last if asks(piece, last.is_none()) => clauses.push(std::mem::take(&mut begun) + piece),
            Some(last) => last.push_str(piece),
            None => begun.push_str(piece),
        }
    }
    if clauses.is_empty() {
        clauses.push(begun);
    }
    clauses
}

/// The clauses of a question that each have a meaning of their own.
pub(crate) fn split(question: &str, run: &Asked<'_>) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    for clause in of(question) {
        match clauses.last_mut() {
            // a definition is answered on its own
            Some(last) if terms::named(last).is_none() && depends(&clause, last, run) => {
                last.push_str(&clause);
            }
            _ => clauses.push(clause),
        }
    }
    clauses
}

/// Whether a piece of a text asks something; the first one may have its question anywhere.
fn asks(piece: &str, is_first: bool) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '\'';
    let text = piece.replace('’', "'");
    let lower = text.to_lowercase();
    // WHERE is a keyword of the script
    let is_loud = !text.contains(|c: char| c.is_lowercase() || !c.is_ascii());
    let is_keyword =
        |word: &str| !is_loud && word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase());
    let words = text.split(|c| !is_part(c));
    let words = words.filter(|word| !word.is_empty() && !is_keyword(word));
    let words = words.map(str::to_lowercase);
    let is_in = |phrases: Phrases, word: &str| phrases.split('|').any(|phrase| phrase == word);
    let words = words.skip_while(|word| is_in(BEFORE_ASKING, word.as_str()));
    let is_condition = ["如果", "假如", "要是", "若"]
        .iter()
        .any(|word| lower.trim_start().starts_with(word));
    let words: Vec<String> = words.collect();
    let begins = words
        .first()
        .is_some_and(|word| is_in(ASKING, word) || is_in(BEGINNING, word));
    let asks_en = begins
        || is_first && !lower.starts_with("if ") && words.iter().any(|word| is_in(ASKING, word));
    asks_en || !is_condition && ASKING_ZH.split('|').any(|word| lower.contains(word))
}

/// A text split after commas and stops and before conjunctions.
fn pieces(text: &str) -> Vec<&str> {
    let lower = text.to_ascii_lowercase();
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let next = text[end..].chars().next();
        // "1,000 rows" and "spark.sql" go on
        let is_comma = ",，;；".contains(c) && !next.is_some_and(|c| c.is_ascii_digit());
        let is_stop = "?？。!！".contains(c) || c == '.' && next.is_none_or(char::is_whitespace);
        let is_dash =
            matches!(c, '—' | '–') || c == '-' && text[..at].ends_with(' ') && next == Some(' ');
        let is_conjunction = at > from
            && CONJUNCTIONS
                .split('|')
                .any(|word| lower[at..].starts_with(word));
        if is_comma || is_stop || is_dash {
            pieces.push(&text[from..end]);
            from = end;
        } else if is_conjunction {
            pieces.push(&text[from..at]);
            from = at;
        }
    }
    pieces.push(&text[from..]);
    pieces
}

/// Whether a clause of a question has no meaning without the clause before it: "and how much", "which stage runs it".
fn depends(clause: &str, last: &str, run: &Asked<'_>) -> bool {
    let named = Named::of(clause, &Known::of(run));
    let reading = Reading::of(&named.rest);
    let (asked, measures) = asked_and_measures(&reading);
    let is_number = measures.is_empty() && asked.iter().all(|q| q.is_measure());
    let is_number = is_number && (!asked.is_empty() || reading.is_elliptic());
    let is_number = is_number && reading.causes().is_empty() && !reading.shows(Cue::Why);
    let is_thing = |word: &Word| matches!(word, Word::Noun(_));
    // "and when did the second one arrive?"
    let is_event =
        reading.has_any(&[Word::Arrived, Word::Lost]) && !reading.words.iter().any(is_thing);
    // "did any spill, and why?"
    let is_around = |word: &Word| matches!(word, Word::Other | Word::Filler);
    let is_bare = reading.left.is_empty() && reading.words.iter().all(is_around);
    let is_bare = is_bare && reading.shows(Cue::Why);
    let is_reason = is_bare && premise::names_trouble(&Reading::of(last));
    // "are the tokens used, and are they enough?"
    let is_enough = reading.shows(Cue::Enough) && last_uses_slots(last);
    // "20 and 15 vertices, and why do they differ?", "how often did it run, and why more than once?"
    let of_count = reading.shows(Cue::Differs) || Reading::of(last).shows(Cue::Attempted);
    let is_reason = is_reason || of_count && reading.shows(Cue::Why) && !reading.has_thing();
    // “在哪台机器上”
    let is_where = |word: &Word| {
        matches!(
            word,
            Word::Noun(Thing::Machine) | Word::Which | Word::Run | Word::Filler
        )
    };
    let is_where = reading.left.is_empty()
        && reading.has(Word::Noun(Thing::Machine))
        && reading.words.iter().all(is_where);
    // “比最快的那个慢多少”, "how many rows and bytes?"
    let is_amount = |word: &Word| {
        use Word::{Bytes, Data, Each, Filler, Number, Rows};
        matches!(word, Number | Rows | Bytes | Data | Each | Filler)
    };
    let last_reading = Reading::of(last);
    let compares = reading.has_any(&[Word::Apart, Word::Times]) && !reading.has_thing();
    let compared = [
        Word::Most,
        Word::Least,
        Word::Which,
        Word::Who,
        Word::Cue(Cue::Hint),
    ];
    let compares = compares && last_reading.has_any(&compared);
    let of_query = reading.has_any(&[Word::Most, Word::Least]) && !reading.has_thing();
    let of_query = of_query && last_reading.has(Word::Noun(Thing::Execution));
    let is_amount = reading.left.is_empty() && reading.words.iter().all(is_amount);
    let of_output = [Word::Out, Word::Kind("OUTPUT")];
    let is_amount = is_amount && last_reading.has(Word::Which) && last_reading.has_any(&of_output);
    let has_no_subject = || Named::of(last, &Known::of(run)).subjects.is_empty();
    let is_of_thing = reading.has(Word::Which) && reading.words.iter().any(is_thing);
    let points_back = reading.points_back() && (is_of_thing || has_no_subject());
    // "with 60 tokens, how long does it take, and what does it cost?"
    let of_change = |q: &Quantity| q.is_measure() || matches!(q, Quantity::Cost | Quantity::Gain);
    let is_effect = Wanted::of(&Reading::of(last)).is_some() && asked.iter().all(of_change);
    named.subjects.is_empty()
        && named.unknown.is_empty()
        && (compares
            || of_query
            || is_amount
            || is_number
            || is_effect
            || is_event
            || is_where
            || is_reason
            || is_enough
            || points_back)
}

/// Whether a clause asks how much of the slots is used.
fn last_uses_slots(clause: &str) -> bool {
    let reading = Reading::of(clause);
    let slots = &book::BUSY_SLOTS;
    reading.has_any(&[Word::Of(slots), Word::Named(slots)])
}

/// A clause after the names of the clause before it, if it has none itself.
pub(crate) fn with_names(clause: &str, last: Option<&String>, run: &Asked<'_>) -> String {
    let known = Known::of(run);
    let named = Named::of(clause, &known);
    let reading = Reading::of(clause);
    let is_own = !named.subjects.is_empty() || !named.unknown.is_empty();
    let is_flow = reading.has(Word::Asks(Quantity::Flow));
    let is_own = is_own || reading.shows(Cue::Job) || reading.names_another() && !is_flow;
    match last.filter(|_| !is_own) {
        Some(last) => {
            if let Some(term) = terms::named(last) {
                return format!("{term} {clause}");
            }
            let last = Named::of(last, &known);
            if !reading.has_thing() && Reading::of(&last.rest).has(Word::Noun(Thing::Executor)) {
                return format!("executor {clause}");
            }
            let is_part = !last.subjects.contains(&Subject::Job) && last.unknown.is_empty();
            let names = last.names.join(" ");
            if is_part {
                format!("{names} {clause}")
            } else {
                clause.to_owned()
            }
        }
        None => clause.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_clause_asks_one_thing() {
        for (text, expected) in [
            (
                "How long did SV3 run and why is it slow?",
                &["How long did SV3 run", " and why is it slow?"][..],
            ),
            (
                "How many rows do SV1 and SV3 read?",
                &["How many rows do SV1 and SV3 read?"],
            ),
            (
                "If I double the tokens, how long will it take?",
                &["If I double the tokens, how long will it take?"],
            ),
            ("It took 20 min. Why?", &["It took 20 min. Why?"]),
            (
                "SV3 读了多少行，为什么慢？",
                &["SV3 读了多少行，", "为什么慢？"],
            ),
            ("如果 token 翻倍，要多久", &["如果 token 翻倍，要多久"]),
            (
                "How many vertices does SV1 have, in all?",
                &["How many vertices does SV1 have, in all?"],
            ),
            (
                "which stages spill, and how much",
                &["which stages spill,", " and how much"],
            ),
        ] {
            assert_eq!(super::of(text), expected, "{text}");
        }
    }
}
