//! Savings of changes: the numbers that state them, and the findings or suggestions they must belong to.

use report::{Text, text};

use super::judge::{Judge, Kind, Topic};
use super::ledger::{Fact, Use, Value};
use super::mention::{Claim, Clause};

impl Judge<'_> {
    pub(super) fn gain(&self, claim: Claim<'_>, topic: &Topic) -> Result<Vec<&Fact>, (Kind, Text)> {
        let Claim {
            clause,
            phrase,
            quantity,
            ..
        } = claim;
        let number = claim.number();
        let equal = self.known(number, quantity)?;
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

    /// The findings and suggestions that may own a gain in a clause; `None` for all.
    fn gaining(&self, clause: &Clause, topic: &Topic) -> Option<Vec<String>> {
        let has_gain = |id: &&String| {
            let suggestion = self.suggestion(id);
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
                // "S2: … Fixes F1. Saves 18 s.": the gain belongs to the suggestion.
                let fixed = |id: &&String| self.suggestion(id)?.finding.as_ref();
                let of_last = last.filter(|id| fixed(id).is_some_and(|f| findings.contains(f)));
                return Some(of_last.map_or(findings, |id| vec![id.clone()]));
            }
            let cited = self.found.findings.iter();
            let cited = cited.filter(|f| ids.iter().any(|id| f.evidence.contains(id)));
            let of_evidence: Vec<String> = cited.map(|f| f.id.clone()).collect();
            if !of_evidence.is_empty() {
                return Some(of_evidence);
            }
        }
        let stages = topic.stages_of(clause);
        let findings = self.found.findings.iter();
        let named = findings.filter(|f| clause.causes.iter().any(|m| m.causes.contains(&f.cause)));
        let mut named: Vec<String> = named.map(|f| f.id.clone()).collect();
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
        let fixing = named.iter().flat_map(|id| self.fixes(id));
        let fixing: Vec<String> = fixing.map(|s| s.id.clone()).collect();
        named.extend(fixing);
        Some(named)
    }
}
