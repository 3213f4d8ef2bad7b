//! When a number of a text equals a fact's value, and when a number is no claim.

use super::ledger::{Fact, Value};
use super::lexicon::{Words, has_word};
use super::mention::{Claim, Clause, Phrase};
use super::quantity::{Bound, Quantity, Unit};

/// Largest whole number that may be a mere count of things in the text ("two causes", "3 steps").
const COUNT: f64 = 12.0;

/// Relative difference of a whole number that is written out: `33,400,000`.
const EXACT: f64 = 0.0011;

/// Relative difference that "about" may make.
const HEDGED: f64 = 0.03;

/// Relative difference beyond which a rounded number is another number.
const ROUNDED: f64 = 0.06;

/// How far a value may be from a limit that a text names: "more than 3 times" for 3.6.
const BOUND: f64 = 1.3;

/// Ids in square brackets next to each other, with the text that they belong to.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) ids: Vec<String>,
}

/// The groups of citations in a clause; each begins where the one before ends.
pub(super) fn groups(text: &str, clause: &Clause) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    let bracketed = clause
        .ids
        .iter()
        .filter(|(_, _, is_bracketed)| *is_bracketed);
    for (end, id, _) in bracketed {
        let joins = found.last().is_some_and(|last| {
            let between = &text[last.end..*end];
            let between = between.trim_end_matches(id.as_str());
            between.chars().all(|c| "[]、,，;； ".contains(c))
        });
        match found.last_mut().filter(|_| joins) {
            Some(last) => {
                last.end = *end;
                last.ids.push(id.clone());
            }
            None => found.push(Group {
                start: found.last().map_or(clause.span.start, |last| last.end),
                end: *end,
                ids: vec![id.clone()],
            }),
        }
    }
    found
}

/// Words that speak of the job at hand.
const OF_JOB: Words = "the job|this job|the run|this run|作业|应用|本次";

/// Whether a clause may quote the experience that has a value: it says so, and does not speak of this job.
pub(super) fn lends(clause: &Clause, fact: &Fact, quantity: &Quantity) -> bool {
    let cites = clause.ids.iter().any(|(_, id, _)| fact.ids.contains(id));
    let is_of_job = !clause.stages.is_empty()
        || !clause.tables.is_empty()
        || !clause.columns.is_empty()
        || clause.ids.iter().any(|(_, id, _)| !id.contains(".md#"))
        || has_word(&clause.lower, OF_JOB);
    let is_setting = matches!(quantity.unit, Unit::Plain | Unit::Count(_)) || quantity.is_code;
    clause.mood.is_example || is_setting || cites && !is_of_job && quantity.unit != Unit::Rows
}

/// Whether a number is no claim about the job: a small count, the number in a name, a setting to be made.
pub(super) fn is_free(claim: Claim<'_>) -> bool {
    let Claim {
        text,
        phrase,
        quantity,
        ..
    } = claim;
    let is_small = quantity.raw.fract() == 0.0 && quantity.raw <= COUNT;
    let is_word = !claim.number().starts_with(|c: char| c.is_ascii_digit());
    let before = text[phrase.span.start..quantity.span.start]
        .trim_end()
        .to_lowercase();
    let is_assigned = before.ends_with('=')
        || before.contains('.') && has_word(&before, "set|设置|设为|调到|raise|increase|lower");
    let is_rest = ["and", "另外", "还有"]
        .iter()
        .any(|word| before.ends_with(word));
    match quantity.unit {
        Unit::Index => true,
        Unit::Plain if is_rest => true,
        Unit::Plain | Unit::Count(_) if is_small => true,
        Unit::Rows | Unit::Vertices if quantity.raw == 1.0 && !is_word => true,
        Unit::Plain | Unit::Bytes | Unit::Count(_) => is_assigned,
        _ => false,
    }
}

/// Whether two quantities are the same: of a like unit, and equal within the digits that are written.
pub(super) fn equals(claim: &Quantity, fact: &Quantity, is_text: bool) -> bool {
    let is_same_unit = claim.unit == fact.unit;
    if is_text {
        // Numbers of scripts have no unit of their own.
        let is_name = matches!(
            claim.unit,
            Unit::Plain | Unit::Count(_) | Unit::Bytes | Unit::Ratio
        );
        return is_name && (claim.raw - fact.raw).abs() < f64::EPSILON * claim.raw.abs().max(1.0);
    }
    let is_counted = |unit: Unit| {
        matches!(
            unit,
            Unit::Rows | Unit::Vertices | Unit::Count(_) | Unit::Bytes
        )
    };
    let is_bare = match (claim.unit, fact.unit) {
        (Unit::Plain, unit) => is_counted(unit) || unit == Unit::Ratio,
        (unit, Unit::Plain) => is_counted(unit),
        _ => false,
    };
    if !is_same_unit && !is_bare {
        return false;
    }
    let readings = std::iter::once(claim.value).chain(claim.other);
    let values = std::iter::once(fact.value).chain(fact.other);
    readings
        .flat_map(|a| values.clone().map(move |b| (a, b)))
        .any(|(a, b)| equals_number(claim, a, b, fact.half))
}

pub(super) fn equals_number(claim: &Quantity, value: f64, fact: f64, fact_half: f64) -> bool {
    let fact = fact.abs();
    let difference = (value - fact).abs();
    match claim.bound {
        Some(Bound::Below) if fact <= value && value <= fact * BOUND => return true,
        Some(Bound::Above) if fact >= value && fact <= value * BOUND => return true,
        _ => {}
    }
    // A claim with more digits than the fact has made them up.
    let half = match claim.half < fact_half * 0.99 {
        true => claim.half,
        false => claim.half.max(fact_half),
    };
    let half = half * 1.0001;
    let rounded =
        difference <= half && difference <= ROUNDED * fact.max(value).max(f64::MIN_POSITIVE);
    let is_zero = value == 0.0 && fact <= half;
    let hedged = claim.is_hedged && difference <= HEDGED * fact;
    rounded || is_zero || hedged || difference <= EXACT * fact
}

/// Whether a claim has the direction of the value's fact: neither denied nor reversed.
pub(super) fn is_same_direction(value: &Value, phrase: &Phrase, quantity: &Quantity) -> bool {
    let fact = &value.quantity;
    let is_exact = fact.span.is_empty();
    let is_negated = phrase.mood.is_negated && !value.is_negated;
    let is_turned = quantity.is_down && !fact.is_down && !(is_exact && quantity.bound.is_some());
    let is_bounded = quantity.bound.is_none() || quantity.bound == fact.bound || is_exact || {
        let below = fact.value <= quantity.value;
        (quantity.bound == Some(Bound::Below)) == below
    };
    !is_negated && !is_turned && is_bounded && quantity.is_negative == fact.is_negative
}
