//! Savings of changes: the numbers that state them, and the findings or suggestions they must belong to.

use report::{Text, text};

use super::causes::Mention;
use super::judge::{Judge, Kind, Topic};
use super::ledger::{Fact, Use, Value};
use super::mention::{Clause, Phrase};
use super::quantity::Quantity;

impl Judge<'_> {
    pub(super) fn gain(
        &self,
        number: &str,
        clause: &Clause,
        phrase: &Phrase,
        quantity: &Quantity,
        topic: &Topic,
    ) -> Result<Vec<&Fact>, (Kind, Text)> {
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
                // "S2: … Fixes F1. Saves 18 s.": the gain belongs to the suggestion.
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
