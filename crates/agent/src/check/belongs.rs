//! Pairs that must belong together: causes and the job, stages and columns, findings and suggestions. Also denials of findings.

use std::collections::BTreeSet;

use report::{Cause, RuleResult, Text, text};

use super::causes::{Mention, Stance};
use super::concepts::{CONDITIONS, Concepts, FIX, fit_specially, negation};
use super::judge::{Fault, Judge, Kind, Topic};
use super::ledger::Fact;
use super::lexicon::{Words, has_word};
use super::mention::Clause;

impl Judge<'_> {
    /// Causes that a clause affirms or denies against the rules.
    pub(super) fn causes(&self, clause: &Clause, faults: &mut Vec<Fault>) {
        let mut found = clause.causes.iter().filter_map(|m| self.cause(clause, m));
        let at = clause.span.end;
        faults.extend(
            found
                .next()
                .map(|(kind, remark)| Fault { at, kind, remark }),
        );
    }

    fn cause(&self, clause: &Clause, mention: &Mention) -> Option<(Kind, Text)> {
        let findings: Vec<&report::Finding> = self
            .found
            .findings
            .iter()
            .filter(|f| mention.causes.contains(&f.cause))
            .collect();
        let name = mention.causes.first().map_or("", |c| c.code());
        let affirms = matches!(mention.stance, Stance::Affirmed | Stance::Possible);
        if findings.is_empty() {
            return affirms
                .then(|| self.without_finding(mention, name))
                .flatten();
        }
        let stages: BTreeSet<&String> = findings
            .iter()
            .filter_map(|f| self.ledger.stages_of.get(&f.id))
            .flatten()
            .collect();
        let is_elsewhere = !clause.stages.is_empty()
            && !stages.is_empty()
            && clause.stages.iter().all(|s| !stages.contains(s));
        if mention.stance == Stance::Denied {
            let remark = text!(
                "{name} 已被发现，不能否认",
                "{name} was found; the sentence denies it"
            );
            return (!is_elsewhere).then_some((Kind::Contradiction, remark));
        }
        if !affirms {
            return None;
        }
        if is_elsewhere {
            let stage = clause.stages.iter().next()?;
            let remark = text!("{stage} 没有 {name}", "{name} was not found in {stage}");
            return Some((Kind::Contradiction, remark));
        }
        self.of_other_finding(clause, mention, name)
            .or_else(|| self.on_other_column(clause, mention, &findings))
    }

    /// A cause that no finding is about.
    fn without_finding(&self, mention: &Mention, name: &str) -> Option<(Kind, Text)> {
        let outcomes: Vec<RuleResult> = mention
            .causes
            .iter()
            .filter_map(|c| self.found.outcome(*c))
            .collect();
        if outcomes.is_empty() || outcomes.contains(&RuleResult::Explained) {
            return None;
        }
        if outcomes.contains(&RuleResult::Abstained) {
            let remark = text!("{name} 尚无定论", "{name} is not decided");
            let is_sure = mention.stance == Stance::Affirmed;
            return is_sure.then_some((Kind::Unverified, remark));
        }
        let remark = text!("{name} 已被排除", "{name} was ruled out");
        Some((Kind::Contradiction, remark))
    }

    /// "F1 (memory.spill)" where F1 has another cause.
    fn of_other_finding(
        &self,
        clause: &Clause,
        mention: &Mention,
        name: &str,
    ) -> Option<(Kind, Text)> {
        let named = clause
            .ids
            .iter()
            .filter_map(|(_, id, _)| self.found.finding(id));
        let named: Vec<&report::Finding> = named.collect();
        let fits = named.iter().any(|f| mention.causes.contains(&f.cause));
        let id = named.first().map(|f| f.id.as_str())?;
        (!fits).then(|| {
            let remark = text!(
                "{id} 的原因不是 {name}",
                "{id} has another cause than {name}"
            );
            (Kind::Contradiction, remark)
        })
    }

    /// A cause attributed to a column that its findings do not name.
    fn on_other_column(
        &self,
        clause: &Clause,
        mention: &Mention,
        findings: &[&report::Finding],
    ) -> Option<(Kind, Text)> {
        let is_of_keys = mention.causes.iter().any(|c| {
            matches!(
                c,
                Cause::JoinHotKey
                    | Cause::GroupHotKey
                    | Cause::NullOrDefaultKey
                    | Cause::LowCardinalityKey
                    | Cause::RedundantRepartition
            )
        });
        let columns = findings
            .iter()
            .filter_map(|f| self.ledger.columns_of.get(&f.id));
        let columns: BTreeSet<&String> = columns.flatten().collect();
        let other = clause.columns.iter().find(|c| !columns.contains(c))?;
        (is_of_keys && !columns.is_empty()).then(|| {
            let remark = text!(
                "所述原因与列 {other} 无关",
                "column {other} has nothing to do with that cause"
            );
            (Kind::Contradiction, remark)
        })
    }

    /// Stages that lack a column, suggestions of other findings, evidence of other findings.
    pub(super) fn relations(&self, clause: &Clause, faults: &mut Vec<Fault>) {
        let mut fault = |remark| faults.push(clause.contradicts(remark));
        for column in &clause.columns {
            let is_missing = |s: &String| self.ledger.entities.lacks(s, column);
            if !clause.stages.is_empty() && clause.stages.iter().all(is_missing) {
                let stage = clause.stages.iter().next().cloned().unwrap_or_default();
                fault(text!(
                    "阶段 {stage} 没有列 {column}",
                    "stage {stage} has no column {column}"
                ));
            }
        }
        let ids = || clause.ids.iter().map(|(_, id, _)| id);
        let findings: Vec<_> = ids().filter_map(|id| self.found.finding(id)).collect();
        if let [finding] = findings.as_slice() {
            let id = &finding.id;
            let fixed = |s: &&String| self.suggestion(s)?.finding.as_ref();
            for other in ids().filter(|s| fixed(s).is_some_and(|fixed| fixed != id)) {
                fault(text!("{other} 不解决 {id}", "{other} does not fix {id}"));
            }
            let is_of_other = |e: &&String| {
                let mut all = self.found.findings.iter();
                !finding.evidence.contains(e) && all.any(|f| f.evidence.contains(e))
            };
            if let Some(other) = ids().find(is_of_other) {
                fault(text!(
                    "{other} 不是 {id} 的证据",
                    "{other} is no evidence of {id}"
                ));
            }
            let stages = self.ledger.stages_of.get(id);
            let is_elsewhere =
                |s: &&String| stages.is_some_and(|own| !own.is_empty() && !own.contains(*s));
            let only = clause.stages.len() == 1;
            if let Some(stage) = clause.stages.iter().find(is_elsewhere).filter(|_| only) {
                fault(text!("{id} 不在 {stage}", "{id} is not about {stage}"));
            }
        }
    }

    /// "The suggested changes do not affect the run time", "the hint is not suitable for this job".
    pub(super) fn no_effect(&self, clause: &Clause, topic: &Topic, faults: &mut Vec<Fault>) {
        let lower = &clause.lower;
        let is_unfit =
            negation(lower).is_some() && has_word(lower, FIT) && !has_word(lower, CONDITIONS);
        if is_unfit && topic.ids.iter().any(|id| self.suggestion(id).is_some()) {
            let remark = text!("否认了一条建议", "it denies a suggestion of the program");
            faults.push(clause.contradicts(remark));
            return;
        }
        let has_gain = self.found.findings.iter().any(|f| f.impact.is_some());
        let mut suggested = clause
            .ids
            .iter()
            .filter_map(|(_, id, _)| self.suggestion(id));
        let is_fix = has_word(lower, FIX) || suggested.next().is_some();
        let denies =
            negation(lower).is_some() && has_word(lower, EFFECT) || has_word(lower, NO_EFFECT);
        let is_about_time = has_word(lower, TIME) || has_word(lower, NO_EFFECT);
        if has_gain
            && is_fix
            && denies
            && is_about_time
            && !has_word(lower, "result|results|结果|column|columns")
        {
            let remark = text!("否认了已算出的收益", "it denies a gain that was computed");
            faults.push(clause.contradicts(remark));
        }
    }

    /// Every stage that a clause with numbers names must be one that its facts are about.
    pub(super) fn places(&self, clause: &Clause, support: &[&Fact], faults: &mut Vec<Fault>) {
        let mut named: BTreeSet<&String> = support.iter().flat_map(|f| &f.stages).collect();
        let owners = self.found.findings.iter().filter(|finding| {
            let mut ids = support.iter().flat_map(|f| &f.ids);
            ids.any(|id| finding.evidence.contains(id))
        });
        named.extend(
            owners
                .filter_map(|f| self.ledger.stages_of.get(&f.id))
                .flatten(),
        );
        let is_open = support.iter().any(|f| f.stages.is_empty());
        let other = clause.stages.iter().find(|s| !named.contains(s));
        if let Some(stage) = other.filter(|_| !named.is_empty() && !is_open) {
            let remark = text!(
                "所用数字与 {stage} 无关",
                "its numbers are not about {stage}"
            );
            faults.push(clause.contradicts(remark));
            return;
        }
        let mut columns: BTreeSet<String> =
            support.iter().flat_map(|f| f.columns.clone()).collect();
        if columns.is_empty() {
            return;
        }
        columns.extend(support.iter().flat_map(|f| self.columns_beside(f)));
        if let Some(column) = clause.columns.iter().find(|c| !columns.contains(*c)) {
            let remark = text!(
                "所用数字与列 {column} 无关",
                "its numbers are not about column {column}"
            );
            faults.push(clause.contradicts(remark));
        }
    }

    /// A statement without numbers that cites evidence has to speak of the same thing.
    pub(super) fn links(&self, text: &str, clause: &Clause, faults: &mut Vec<Fault>) {
        for group in super::equal::groups(text, clause) {
            let part = &text[group.start..group.end];
            let has_number = clause
                .phrases
                .iter()
                .flat_map(|p| &p.quantities)
                .any(|q| (group.start..group.end).contains(&q.span.start));
            let evidence: Vec<&String> =
                group.ids.iter().filter(|id| id.starts_with('E')).collect();
            if has_number || evidence.is_empty() || evidence.len() < group.ids.len() {
                continue;
            }
            let concepts = Concepts::of(&part.to_lowercase());
            let facts = self.ledger.facts.iter();
            let mut facts = facts
                .filter(|f| f.ids.iter().any(|id| evidence.contains(&id)))
                .peekable();
            let names = |f: &Fact| {
                let shared = |a: &BTreeSet<String>, b: &BTreeSet<String>| !a.is_disjoint(b);
                shared(&clause.columns, &f.columns)
                    || shared(&clause.tables, &f.tables)
                    || shared(&clause.others, &f.others)
            };
            let has_names = !clause.columns.is_empty() || !clause.tables.is_empty();
            let is_like = |f: &Fact| fit_specially((concepts, concepts), (f.concepts, f.concepts));
            let fits = |f: &Fact| names(f) || !has_names && is_like(f);
            if facts.peek().is_some() && !facts.any(fits) {
                let ids: Vec<&str> = evidence.iter().map(|id| id.as_str()).collect();
                let ids = ids.join(", ");
                let remark = text!("{ids} 说的是另一件事", "{ids} is about something else");
                let (at, kind) = (group.end, Kind::Contradiction);
                faults.push(Fault { at, kind, remark });
            }
        }
    }
}

const EFFECT: Words = "affect|affects|effect|help|helps|change|improve|improves|reduce|matter|save|影响|效果|帮助|改善|节省|缩短|用处";

const FIT: Words = "suitable|appropriate|applicable|recommended|useful|适合|适用|推荐";

const NO_EFFECT: Words = "useless|pointless|ineffective|无效|没用|没有用|徒劳";

const TIME: Words = "time|run|runtime|job|performance|anything|much|时间|运行|作业|应用|性能";
