//! Sentences against the facts that they may use: numbers, gains, causes, and what belongs together.

use std::collections::BTreeSet;

use report::{Suggestion, Text, text};

use super::causes::Mention;
use super::concepts::fit_specially;
use super::ledger::{Fact, Ledger, Origin, Use, Value, is_gain};
use super::lexicon::has_word;
use super::mention::{Clause, Phrase, clauses};
use super::quantity::{Bound, Quantity, Unit};
use crate::found::Found;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No fact supports it.
    Unverified,
    /// Facts contradict it.
    Contradiction,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// Where it is marked.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
    pub(crate) remark: Text,
}

/// Judges texts about one job.
pub(crate) struct Judge<'a> {
    pub(crate) ledger: Ledger,
    pub(crate) found: &'a Found,
    pub(crate) suggestions: &'a [Suggestion],
    pub(crate) elapsed: Vec<f64>,
}

/// What the sentences before name in the same line, and what they name in the same sentence.
#[derive(Debug, Clone, Default)]
struct Topic {
    line: usize,
    sentence: usize,
    ids: Vec<String>,
    stages: BTreeSet<String>,
    /// What a later clause of the sentence cites.
    cited: Vec<String>,
}

impl Judge<'_> {
    /// What is wrong with a text about some findings or suggestions, and the number of claims in it.
    pub(crate) fn faults(&self, text: &str, about: &[String]) -> (Vec<Fault>, usize) {
        let mut faults = Vec::new();
        let mut claims = 0;
        let start = Topic {
            ids: about.to_vec(),
            ..Topic::default()
        };
        let mut topic = start.clone();
        let all = clauses(text, &self.ledger.entities);
        for (index, clause) in all.iter().enumerate() {
            if clause.line != topic.line {
                topic = Topic {
                    line: clause.line,
                    ..start.clone()
                };
            }
            if clause.sentence != topic.sentence {
                topic.sentence = clause.sentence;
                topic.stages.clear();
            }
            let named = clause.ids.iter().map(|(_, id, _)| id);
            let new: Vec<String> = named
                .filter(|id| !topic.ids.contains(id))
                .cloned()
                .collect();
            topic.ids.extend(new);
            if !clause.stages.is_empty() {
                topic.stages.clone_from(&clause.stages);
            }
            let rest = all[index..]
                .iter()
                .take_while(|c| c.sentence == clause.sentence);
            let cited = rest.map(|c| &c.ids).find(|ids| !ids.is_empty());
            let cited = cited.into_iter().flatten().map(|(_, id, _)| id.clone());
            topic.cited = cited.collect();
            claims += 1;
            self.clause(text, clause, &topic, &mut faults);
        }
        (faults, claims)
    }

    fn clause(&self, text: &str, clause: &Clause, topic: &Topic, faults: &mut Vec<Fault>) {
        self.causes(clause, faults);
        self.relations(clause, faults);
        self.no_effect(clause, faults);
        let mut support: Vec<&Fact> = Vec::new();
        let mut is_sound = true;
        for phrase in &clause.phrases {
            for quantity in &phrase.quantities {
                match self.quantity(text, clause, phrase, quantity, topic) {
                    Ok(facts) => support.extend(facts),
                    Err((kind, remark)) => {
                        is_sound = false;
                        let at = quantity.span.end;
                        faults.push(Fault { at, kind, remark });
                    }
                }
            }
        }
        if is_sound {
            self.places(clause, &support, faults);
            self.links(text, clause, faults);
        }
    }

    /// The facts that support a quantity; none where it needs no support.
    fn quantity(
        &self,
        text: &str,
        clause: &Clause,
        phrase: &Phrase,
        quantity: &Quantity,
        topic: &Topic,
    ) -> Result<Vec<&Fact>, (Kind, Text)> {
        if is_free(text, phrase, quantity) {
            return Ok(Vec::new());
        }
        let number = &text[quantity.span.clone()];
        if self.is_base(text, quantity) {
            return Ok(Vec::new());
        }
        if is_gain(text, clause, phrase, quantity) {
            return self.gain(number, clause, phrase, quantity, topic);
        }
        let equal: Vec<&Value> = self.equal_to(quantity).collect();
        let unknown = || {
            text!(
                "数字 {number} 不在任何事实中",
                "the number {number} is in no fact"
            )
        };
        if equal.is_empty() {
            return Err((Kind::Unverified, unknown()));
        }
        let (cited, is_cited) = self.citable(text, clause, quantity, topic);
        let is_own = |v: &&Value| {
            self.fact(v).origin != Origin::Experience || lends(clause, self.fact(v), quantity)
        };
        let own: Vec<&Value> = equal.into_iter().filter(is_own).collect();
        if own.is_empty() {
            let remark = text!(
                "数字 {number} 只出现在经验中，不是本作业的值",
                "the number {number} is from a playbook, not of this job"
            );
            return Err((Kind::Unverified, remark));
        }
        let is_allowed = |v: &&Value| {
            let fact = self.fact(v);
            !is_cited || fact.ids.iter().any(|id| cited.contains(id))
        };
        let allowed: Vec<&Value> = own.into_iter().filter(is_allowed).collect();
        if allowed.is_empty() {
            let ids = cited.join(", ");
            let remark = text!(
                "{number} 不是 {ids} 的值",
                "{number} is not a value of {ids}"
            );
            return Err((Kind::Contradiction, remark));
        }
        self.fitting(number, clause, phrase, quantity, topic, (allowed, is_cited))
    }

    /// The values that are about what the clause is about.
    fn fitting(
        &self,
        number: &str,
        clause: &Clause,
        phrase: &Phrase,
        quantity: &Quantity,
        topic: &Topic,
        (mut left, is_cited): (Vec<&Value>, bool),
    ) -> Result<Vec<&Fact>, (Kind, Text)> {
        let stages = match clause.stages.is_empty() {
            true => &topic.stages,
            false => &clause.stages,
        };
        left.retain(|v| self.is_about(self.fact(v), stages, clause));
        if left.is_empty() {
            let remark = text!(
                "{number} 与所述阶段或列不符",
                "{number} is not a value of that stage or column"
            );
            return Err((Kind::Contradiction, remark));
        }
        left.retain(|v| is_same_direction(v, phrase, quantity));
        if left.is_empty() {
            let remark = text!(
                "{number} 的方向相反",
                "{number} is said the other way round"
            );
            return Err((Kind::Contradiction, remark));
        }
        let concepts = match phrase.concepts.is_empty() {
            true => clause.concepts,
            false => phrase.concepts,
        };
        let special = |v: &Value| {
            let value = (v.concepts, self.fact(v).concepts);
            fit_specially((phrase.concepts, clause.concepts), value)
        };
        left.retain(|v| {
            special(v) && (is_cited || concepts.fits(v.concepts)) || self.shares_name(v, clause)
        });
        left.retain(|v| match v.used_for {
            Use::Measured => true,
            Use::Norm => clause.mood.is_norm || clause.mood.is_example,
            Use::Gain => phrase.concepts.is_empty() && !topic.ids.is_empty(),
        });
        if left.is_empty() {
            let remark = text!(
                "{number} 是另一项的值",
                "{number} is the value of something else"
            );
            return Err((Kind::Contradiction, remark));
        }
        Ok(left.into_iter().map(|v| self.fact(v)).collect())
    }

    fn fact(&self, value: &Value) -> &Fact {
        &self.ledger.facts[value.fact]
    }

    fn equal_to<'s>(&'s self, quantity: &'s Quantity) -> impl Iterator<Item = &'s Value> {
        let values = self.ledger.values.iter();
        values.filter(move |v| {
            let is_text = self.fact(v).origin == Origin::Text;
            equals(quantity, &v.quantity, is_text)
        })
    }

    /// The ids whose values a quantity may be, and whether it is bound to them.
    fn citable(
        &self,
        text: &str,
        clause: &Clause,
        quantity: &Quantity,
        topic: &Topic,
    ) -> (Vec<String>, bool) {
        let groups = groups(text, clause);
        let first = clause.phrases.iter().flat_map(|p| &p.quantities).next();
        let leads = groups
            .first()
            .zip(first)
            .is_some_and(|(g, q)| g.end <= q.span.start);
        let group = match leads {
            true => groups.iter().rfind(|g| g.end <= quantity.span.start),
            false => groups.iter().find(|g| g.end > quantity.span.start),
        };
        let inline = clause
            .ids
            .iter()
            .filter(|(_, _, is_bracketed)| !is_bracketed);
        let mut ids: Vec<String> = inline.map(|(_, id, _)| id.clone()).collect();
        match group {
            Some(group) => ids.extend(group.ids.iter().cloned()),
            None => ids.extend(groups.into_iter().flat_map(|g| g.ids)),
        }
        if clause.ids.is_empty() {
            ids.clone_from(&topic.cited);
        }
        ids.retain(|id| !id.contains(".md#"));
        let named = ids.clone();
        for id in &named {
            self.add_related(id, &mut ids);
        }
        let is_cited = !ids.is_empty();
        (ids, is_cited)
    }

    /// A finding may be argued with its evidence, a suggestion with its finding.
    fn add_related(&self, id: &str, ids: &mut Vec<String>) {
        if let Some(finding) = self.found.finding(id) {
            ids.extend(finding.evidence.iter().cloned());
            let own = self
                .suggestions
                .iter()
                .filter(|s| s.finding.as_deref() == Some(id));
            ids.extend(own.map(|s| s.id.clone()));
        }
        let suggestion = self.suggestions.iter().find(|s| s.id == id);
        let finding = suggestion.and_then(|s| self.found.finding(s.finding.as_deref()?));
        if let Some(finding) = finding {
            ids.push(finding.id.clone());
            ids.extend(finding.evidence.iter().cloned());
        }
    }

    fn is_about(&self, fact: &Fact, stages: &BTreeSet<String>, clause: &Clause) -> bool {
        let is_apart = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
            !a.is_empty() && !b.is_empty() && a.is_disjoint(b)
        };
        if is_apart(stages, &fact.stages) || is_apart(&clause.tables, &fact.tables) {
            return false;
        }
        if clause.columns.is_empty() {
            return true;
        }
        if !fact.columns.is_empty() {
            return !clause.columns.is_disjoint(&fact.columns);
        }
        let columns = self.columns_beside(fact);
        columns.is_empty() || !clause.columns.is_disjoint(&columns)
    }

    /// Columns that the facts about the same findings name.
    pub(super) fn columns_beside(&self, fact: &Fact) -> BTreeSet<String> {
        let is_same = |id: &&String| {
            let finding = self.found.finding(id);
            finding.is_some_and(|f| {
                fact.ids
                    .iter()
                    .any(|own| own == *id || f.evidence.contains(own))
                    || self
                        .suggestions
                        .iter()
                        .any(|s| s.finding.as_ref() == Some(id) && fact.ids.contains(&s.id))
            })
        };
        let same = self.ledger.columns_of.iter().filter(|(id, _)| is_same(id));
        same.flat_map(|(_, columns)| columns.iter().cloned())
            .collect()
    }

    /// Whether a clause names an operator, a counter or a class that a fact names.
    fn shares_name(&self, value: &Value, clause: &Clause) -> bool {
        !clause.others.is_disjoint(&self.fact(value).others)
    }

    /// Whether a duration is that of the whole run, of which something is a part.
    fn is_base(&self, text: &str, quantity: &Quantity) -> bool {
        let before = text[..quantity.span.start].trim_end().to_lowercase();
        let is_part = ["of", "of the", "from", "out of", "/"]
            .iter()
            .any(|w| before.ends_with(w));
        let behind = text[quantity.end..].trim_start();
        let is_part = is_part || behind.starts_with("run") || behind.starts_with("的运行");
        is_part
            && self
                .elapsed
                .iter()
                .any(|s| equals_number(quantity, quantity.value, *s, 0.0))
    }

    fn gain(
        &self,
        number: &str,
        clause: &Clause,
        phrase: &Phrase,
        quantity: &Quantity,
        topic: &Topic,
    ) -> Result<Vec<&Fact>, (Kind, Text)> {
        let equal: Vec<&Value> = self.equal_to(quantity).collect();
        if equal.is_empty() {
            let remark = text!(
                "数字 {number} 不在任何事实中",
                "the number {number} is in no fact"
            );
            return Err((Kind::Unverified, remark));
        }
        let ids = self.gaining(clause, topic);
        let wrong = |remark| Err((Kind::Contradiction, remark));
        let is_reversed = phrase.mood.is_negated
            || quantity.is_negative
            || phrase.mood.is_loss && !phrase.mood.is_gain;
        let gains = equal.iter().filter(|v| v.used_for == Use::Gain);
        let ids = ids.as_deref();
        let own = gains.filter(|v| ids.is_none_or(|ids| self.has_id(v, ids)));
        let found: Vec<&Fact> = own.map(|v| self.fact(v)).collect();
        if found.is_empty() {
            return wrong(text!(
                "{number} 不是所述问题或建议的收益",
                "{number} is not the gain of that finding or suggestion"
            ));
        }
        if is_reversed {
            return wrong(text!(
                "{number} 的方向相反",
                "{number} is said the other way round"
            ));
        }
        Ok(found)
    }

    fn has_id(&self, value: &Value, ids: &[String]) -> bool {
        self.fact(value).ids.iter().any(|id| ids.contains(id))
    }

    /// The findings and suggestions whose gain a clause may name; `None` for all.
    fn gaining(&self, clause: &Clause, topic: &Topic) -> Option<Vec<String>> {
        let has_gain = |id: &&String| {
            let suggestion = self.suggestions.iter().find(|s| s.id == **id);
            suggestion.is_some_and(|s| s.gain.contains(|c: char| c.is_ascii_digit()))
        };
        let own: Vec<String> = clause.ids.iter().map(|(_, id, _)| id.clone()).collect();
        for ids in [&own, &topic.ids] {
            let suggestions: Vec<String> = ids.iter().filter(has_gain).cloned().collect();
            let findings = ids.iter().filter(|id| self.found.finding(id).is_some());
            let findings: Vec<String> = findings.cloned().collect();
            let last = topic.ids.iter().rfind(|id| has_gain(id));
            if !suggestions.is_empty() {
                return Some(suggestions);
            }
            if !findings.is_empty() {
                // "S2: … Fixes F1. Saves 18 s.": the gain is that of the suggestion.
                let of_last = last.filter(|id| self.fixes(id, &findings)).cloned();
                return Some(of_last.map_or(findings, |id| vec![id]));
            }
            let cited = |id: &String| {
                let all = self.found.findings.iter();
                let cited = all.filter(|f| f.evidence.contains(id));
                cited.map(|f| f.id.clone()).collect::<Vec<_>>()
            };
            let of_evidence: Vec<String> = ids.iter().flat_map(cited).collect();
            if !of_evidence.is_empty() {
                return Some(of_evidence);
            }
        }
        let stages = match clause.stages.is_empty() {
            true => &topic.stages,
            false => &clause.stages,
        };
        let mut named: Vec<String> = self
            .findings_on(&clause.causes)
            .map(str::to_owned)
            .collect();
        if named.is_empty() && !stages.is_empty() {
            let on_stage = self
                .ledger
                .stages_of
                .iter()
                .filter(|(_, s)| !s.is_disjoint(stages));
            named = on_stage.map(|(id, _)| id.clone()).collect();
            if named.is_empty() {
                return Some(named);
            }
        }
        if named.is_empty() {
            return None;
        }
        let own = self
            .suggestions
            .iter()
            .filter(|s| s.finding.as_ref().is_some_and(|f| named.contains(f)));
        let own: Vec<String> = own.map(|s| s.id.clone()).collect();
        named.extend(own);
        Some(named)
    }

    fn fixes(&self, suggestion: &str, findings: &[String]) -> bool {
        let mut suggestions = self.suggestions.iter().filter(|s| s.id == suggestion);
        suggestions.any(|s| s.finding.as_ref().is_some_and(|f| findings.contains(f)))
    }

    fn findings_on<'s>(&'s self, mentions: &'s [Mention]) -> impl Iterator<Item = &'s str> {
        let findings = self.found.findings.iter();
        let named = findings.filter(|f| mentions.iter().any(|m| m.causes.contains(&f.cause)));
        named.map(|f| f.id.as_str())
    }
}

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
const OF_JOB: &[&str] = &[
    "the job", "this job", "the run", "this run", "作业", "应用", "本次",
];

/// Whether a clause may quote the experience that has a value: it says so, and does not speak of this job.
fn lends(clause: &Clause, fact: &Fact, quantity: &Quantity) -> bool {
    let cites = clause.ids.iter().any(|(_, id, _)| fact.ids.contains(id));
    let is_of_job = !clause.stages.is_empty()
        || !clause.tables.is_empty()
        || !clause.columns.is_empty()
        || clause.ids.iter().any(|(_, id, _)| !id.contains(".md#"))
        || has_word(&clause.lower, OF_JOB);
    let is_setting = matches!(quantity.unit, Unit::Plain | Unit::Count(_)) || quantity.is_code;
    clause.mood.is_example || is_setting || cites && !is_of_job && quantity.unit != Unit::Rows
}

/// Whether a number claims nothing about the job: a small count, the number in a name, a setting to be made.
fn is_free(text: &str, phrase: &Phrase, quantity: &Quantity) -> bool {
    let is_small = quantity.raw.fract() == 0.0 && quantity.raw <= COUNT;
    let is_word = !text[quantity.span.clone()].starts_with(|c: char| c.is_ascii_digit());
    let before = text[phrase.span.start..quantity.span.start]
        .trim_end()
        .to_lowercase();
    let is_assigned = before.ends_with('=')
        || ["set", "设置", "设为", "调到", "raise", "increase", "lower"]
            .iter()
            .any(|word| has_word(&before, &[word]) && before.contains('.'));
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
fn equals(claim: &Quantity, fact: &Quantity, is_text: bool) -> bool {
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

fn equals_number(claim: &Quantity, value: f64, fact: f64, fact_half: f64) -> bool {
    let fact = fact.abs();
    let difference = (value - fact).abs();
    match claim.bound {
        Some(Bound::Below) if fact <= value && value <= fact * BOUND => return true,
        Some(Bound::Above) if fact >= value && fact <= value * BOUND => return true,
        _ => {}
    }
    let half = claim.half.max(fact_half) * 1.0001;
    let rounded =
        difference <= half && difference <= ROUNDED * fact.max(value).max(f64::MIN_POSITIVE);
    let is_zero = value == 0.0 && fact <= half;
    let hedged = claim.is_hedged && difference <= HEDGED * fact;
    rounded || is_zero || hedged || difference <= EXACT * fact
}

/// Whether a claim says of a value what its fact says: neither denied nor turned round.
fn is_same_direction(value: &Value, phrase: &Phrase, quantity: &Quantity) -> bool {
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
