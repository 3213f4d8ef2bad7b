//! Sentences against the facts that they may use: numbers, gains, causes, and pairs that must belong together.

use std::collections::BTreeSet;

use report::{Text, text};

use super::concepts::{Concepts, RECOMMENDS, fit_specially};
use super::equal::{equals, equals_number, groups, is_free, is_same_direction, lends};
use super::judge::{Basis, Fault, Judge, Kind, Topic};
use super::ledger::{Fact, Origin, Use, Value};
use super::lexicon::has_word;
use super::mention::{Claim, Clause, clauses};
use super::quantity::{Quantity, Unit};
use super::saving::is_gain;

impl Judge<'_> {
    /// The faults of a text about some findings or suggestions, and the number of claims in it.
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
            claims += clause.phrases.len().max(1);
            self.clause(text, clause, &topic, &mut faults);
        }
        (faults, claims)
    }

    /// The basis of a sentence. A number alone may be the question's.
    pub(super) fn basis(&self, text: &str) -> Basis {
        let all = clauses(text, &self.ledger.entities);
        let is_advice = |id: &String| id.starts_with('S') || id.contains(".md#");
        let ids = || all.iter().flat_map(|c| &c.ids).map(|(_, id, _)| id);
        let lower = text.to_lowercase();
        Basis {
            cites: ids().next().is_some(),
            cites_advice: ids().any(is_advice),
            names: all.iter().any(|c| {
                let names = [&c.stages, &c.columns, &c.tables, &c.others];
                names.iter().any(|names| !names.is_empty())
            }),
            has_number: all
                .iter()
                .flat_map(|c| &c.phrases)
                .any(|p| !p.quantities.is_empty()),
            has_gain: all.iter().flat_map(|c| &c.phrases).any(|p| p.mood.is_gain),
            has_term: !Concepts::of(&lower).is_empty(),
            recommends: has_word(&lower, RECOMMENDS),
        }
    }

    fn clause(&self, text: &str, clause: &Clause, topic: &Topic, faults: &mut Vec<Fault>) {
        self.causes(clause, faults);
        self.relations(clause, faults);
        self.no_effect(clause, topic, faults);
        let mut support: Vec<&Fact> = Vec::new();
        let mut is_sound = true;
        for claim in clause.claims(text) {
            match self.quantity(claim, topic) {
                Ok(facts) => support.extend(facts),
                Err((kind, remark)) => {
                    is_sound = false;
                    let at = claim.quantity.span.end;
                    faults.push(Fault { at, kind, remark });
                }
            }
        }
        if is_sound {
            self.places(clause, &support, faults);
            self.links(text, clause, faults);
        }
    }

    /// The facts that support a quantity; none where it needs no support.
    fn quantity(&self, claim: Claim<'_>, topic: &Topic) -> Result<Vec<&Fact>, (Kind, Text)> {
        let Claim {
            clause, quantity, ..
        } = claim;
        if is_free(claim) || self.is_base(claim) {
            return Ok(Vec::new());
        }
        if is_gain(claim) {
            return self.gain(claim, topic);
        }
        let number = claim.number();
        let equal = self.known(number, quantity)?;
        let (cited, is_cited) = self.citable(claim, topic);
        // A place in the script is no value of evidence.
        let is_cited = is_cited && quantity.unit != Unit::Line;
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
            // A finding's gain is its lost time, so any cited evidence of the finding supports the number.
            let is_of_finding = v.used_for == Use::Gain
                && fact.ids.iter().any(|id| self.is_argued_with(id, &cited));
            !is_cited || is_of_finding || fact.ids.iter().any(|id| cited.contains(id))
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
        self.fitting(claim, topic, (allowed, is_cited))
    }

    /// The values that fit the topic and the direction of a clause.
    fn fitting<'v>(
        &'v self,
        claim: Claim<'_>,
        topic: &Topic,
        (mut left, is_cited): (Vec<&'v Value>, bool),
    ) -> Result<Vec<&'v Fact>, (Kind, Text)> {
        let Claim {
            clause,
            phrase,
            quantity,
            ..
        } = claim;
        let number = claim.number();
        let stages = topic.stages_of(clause);
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
        let concepts = claim.concepts();
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

    /// Whether some of the cited evidence belongs to a finding.
    fn is_argued_with(&self, finding: &str, cited: &[String]) -> bool {
        let finding = self.found.finding(finding);
        finding.is_some_and(|f| f.evidence.iter().any(|id| cited.contains(id)))
    }

    pub(super) fn fact(&self, value: &Value) -> &Fact {
        &self.ledger.facts[value.fact]
    }

    /// The values that equal a quantity.
    ///
    /// # Errors
    /// No fact has it.
    pub(super) fn known(
        &self,
        number: &str,
        quantity: &Quantity,
    ) -> Result<Vec<&Value>, (Kind, Text)> {
        let is_equal = |v: &&Value| {
            let is_text = self.fact(v).origin == Origin::Text;
            equals(quantity, &v.quantity, is_text)
        };
        let equal: Vec<&Value> = self.ledger.values.iter().filter(is_equal).collect();
        if equal.is_empty() {
            let remark = text!(
                "数字 {number} 不在任何事实中",
                "the number {number} is in no fact"
            );
            return Err((Kind::Unverified, remark));
        }
        Ok(equal)
    }

    /// The ids that may own the value of a quantity, and whether the quantity is bound to them.
    fn citable(&self, claim: Claim<'_>, topic: &Topic) -> (Vec<String>, bool) {
        let Claim {
            clause, quantity, ..
        } = claim;
        let groups = groups(claim.text, clause);
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
        ids.extend(self.fixes(id).map(|s| s.id.clone()));
        let fixed = self.suggestion(id).and_then(|s| s.finding.as_deref());
        ids.extend(fixed.map(str::to_owned));
        let finding = self.found.finding(fixed.unwrap_or(id));
        ids.extend(finding.into_iter().flat_map(|f| f.evidence.iter().cloned()));
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
        let is_same = |id: &String| {
            let own = &fact.ids;
            let evidence = self.found.finding(id).map(|f| &f.evidence);
            evidence.is_some_and(|evidence| {
                own.contains(id)
                    || own.iter().any(|own| evidence.contains(own))
                    || self.fixes(id).any(|s| own.contains(&s.id))
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

    /// Whether a duration is the whole run's, as in "18 s of 4 min".
    fn is_base(&self, claim: Claim<'_>) -> bool {
        let Claim { text, quantity, .. } = claim;
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
                .flatten()
                .any(|s| equals_number(quantity, quantity.value, *s, 0.0))
    }
}
