//! Changes that a model proposes by itself: the accepted ones, with their unconfirmed parts.

use report::{Origin, Suggestion, SuggestionKind, Text, text};

use super::lexicon::Words;
use super::news::units;
use super::{Checker, diff, mark_of};
use crate::conclusion::Proposal;

/// First words of a question.
const QUESTION_WORDS: Words = "how|why|what|when|which|怎|为|如";

/// Words that name a proposal and not its change.
const GENERIC_WORDS: Words = "additional|cause|check|example|fix|further|new|offs|other|proposal|recommendation|suggestion|symptom|trade";

impl Checker<'_> {
    /// Why a proposal of a model is left out: it has no title, repeats a suggestion, says not how, or fixes no finding and follows no
    /// experience.
    pub(super) fn useless(&self, proposal: &Proposal) -> Option<Text> {
        let title = &proposal.title;
        if !names_change(title) {
            return Some(text!(
                "建议“{title}”的标题没有说明改什么，已略去",
                "proposal `{title}` was left out: its title does not say what to change"
            ));
        }
        let known = self.input.suggestions.iter();
        if let Some(same) = known
            .into_iter()
            .find(|s| s.title.eq_ignore_ascii_case(title) || s.id == title.trim())
        {
            let id = &same.id;
            return Some(text!(
                "建议“{title}”与 {id} 相同，已略去",
                "proposal `{title}` repeats {id} and was left out"
            ));
        }
        if proposal.experiences.is_empty() && proposal.finding.is_none() {
            return Some(text!(
                "建议“{title}”不针对任何发现，也没有引用经验，已略去",
                "proposal `{title}` was left out: it fixes no finding and cites no experience"
            ));
        }
        let cites = !proposal.experiences.is_empty() || !proposal.evidence.is_empty();
        if !cites && proposal.diff.is_none() {
            return Some(text!(
                "建议“{title}”没有引用证据或经验，已略去",
                "proposal `{title}` was left out: it cites neither evidence nor experience"
            ));
        }
        lacks_steps(proposal).then(|| without_steps(title))
    }

    /// A change that the model proposes, with its unconfirmed parts; `None` if only its title is left.
    pub(super) fn proposal(&mut self, proposal: &mut Proposal) -> Option<Suggestion> {
        self.outcome.checks.claims += 1;
        let mut unverified = Vec::new();
        if proposal.evidence.is_empty() && proposal.experiences.is_empty() {
            unverified.push(text!(
                "没有引用证据或经验",
                "it cites neither evidence nor experience"
            ));
        }
        let mark = mark_of(self.input.facts.language).trim();
        let has_mark = |text: &String| text.contains(mark);
        if has_mark(&proposal.title) || proposal.steps.iter().any(has_mark) {
            unverified.push(text!(
                "提到了未知的内容",
                "it names something that is not known"
            ));
        }
        let mut verified = None;
        if let Some(diff) = proposal.diff.take() {
            match diff::check(self.job, &diff, &self.input.suggestions) {
                Ok(checked) => {
                    verified = Some(checked.verified);
                    proposal.diff = checked.diff;
                    unverified.extend(checked.result);
                }
                Err(fault) => unverified.push(text!(
                    "{fault}；已略去",
                    "{fault}; it was left out",
                    fault = fault
                )),
            }
        }
        self.outcome.checks.unverified += u32::try_from(unverified.len()).unwrap_or(u32::MAX);
        let title = proposal.title.clone();
        for fault in &unverified {
            let remark = text!(
                "建议“{title}”：{fault}",
                "proposal `{title}`: {fault}",
                fault = fault
            );
            self.outcome.remarks.push(self.say(remark));
        }
        if lacks_steps(proposal) {
            self.drop(without_steps(&title));
            return None;
        }
        if verified.is_none() {
            for list in [&mut proposal.steps, &mut proposal.pros, &mut proposal.cons] {
                list.iter_mut().for_each(|text| self.mark_new(text));
            }
            // Steps with a basis are advice, not a fault, but their effect has not been computed.
            unverified.push(text!(
                "不是规则给出的，无法验证其效果",
                "no rule proposed it and nothing could be computed about it"
            ));
        }
        let kind = match proposal.diff {
            Some(_) => SuggestionKind::Rewrite,
            None => SuggestionKind::Investigate,
        };
        Some(Suggestion {
            id: String::new(),
            finding: proposal.finding.clone(),
            kind,
            title,
            steps: proposal.steps.clone(),
            settings: Vec::new(),
            diff: proposal.diff.clone(),
            verified,
            gain: String::new(),
            seconds_saved: None,
            pros: proposal.pros.clone(),
            cons: proposal.cons.clone(),
            sources: proposal.experiences.clone(),
            origin: Origin::Llm,
            unverified: unverified.into_iter().map(|text| self.say(text)).collect(),
        })
    }
}

/// Whether a title says what to change: not "Why?", "How to reduce skew" or "additional suggestion".
fn names_change(title: &str) -> bool {
    let words = units(title);
    let is_one_of = |word: &String, words: Words| words.split('|').any(|known| known == word);
    let asks = words.first().is_some_and(|w| is_one_of(w, QUESTION_WORDS));
    words.len() > 1 && !asks && !words.iter().all(|w| is_one_of(w, GENERIC_WORDS))
}

/// Whether neither a diff nor words say what to do. Scraps of code don't.
fn lacks_steps(proposal: &Proposal) -> bool {
    let has_words = |step: &String| {
        let units = units(step).into_iter();
        units
            .filter(|u| u.len() > 1 && u.chars().all(char::is_alphabetic))
            .count()
            > 1
    };
    proposal.diff.is_none() && !proposal.steps.iter().any(has_words)
}

fn without_steps(title: &str) -> Text {
    text!(
        "建议“{title}”没有说明怎么做，已略去",
        "proposal `{title}` was left out: it does not say how"
    )
}
