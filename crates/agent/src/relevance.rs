//! Relevance of an unread file, with the reason (section 5.4 of the specification): by the information that undecided rules
//! lack, otherwise by rules that it would make surer, otherwise by words that its description shares with the question and
//! the findings.

use std::collections::BTreeSet;

use diagnosis::{Diagnosis, Rule};
use job::Job;
use job::catalogue::Entry;
use report::format::list;
use report::{Language, Localize, Text, text};

/// Weight of each shared word, as in the specification.
const WORD: f64 = 0.2;

/// Letters of an English word that says something.
const LETTERS: usize = 5;

/// Words and causes that a reason names.
const NAMED: usize = 3;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Relevance {
    /// 0 to 1.
    pub(crate) value: f64,
    pub(crate) reason: String,
}

/// The words that a description is compared with.
pub(crate) struct About(BTreeSet<String>);

impl About {
    pub(crate) fn of(job: &Job, diagnosis: &Diagnosis, question: Option<&str>) -> About {
        let mut found = BTreeSet::new();
        let mut add = |text: &str| found.extend(words(text));
        question.into_iter().for_each(&mut add);
        for finding in &diagnosis.findings {
            let title = finding.cause.title();
            [finding.summary.as_str(), title.zh, title.en]
                .into_iter()
                .for_each(&mut add);
        }
        job.errors.iter().for_each(|error| add(&error.message));
        About(found)
    }
}

/// Rules that a file of a kind serves.
pub(crate) fn served(entry: &Entry) -> impl Iterator<Item = &'static Rule> {
    diagnosis::rules().iter().copied().filter(|rule| {
        let mut wanted = rule.needs.iter().chain(rule.helps);
        wanted.any(|info| entry.provides.contains(info))
    })
}

/// The relevance of a file that has not been read.
pub(crate) fn of(
    file: &str,
    entry: &Entry,
    diagnosis: &Diagnosis,
    about: &About,
    language: Language,
) -> Relevance {
    let mut missing = diagnosis.missing.iter();
    let lacking = missing.find(|m| m.information.present && m.information.file == file);
    if let Some(lacking) = lacking {
        return Relevance {
            value: lacking.relevance,
            reason: lacking.information.reason.clone(),
        };
    }
    let causes: Vec<&str> = served(entry).map(|rule| rule.cause.code()).collect();
    if !causes.is_empty() {
        return Relevance {
            value: causes.len() as f64 / diagnosis::rules().len() as f64,
            reason: bears_on(entry, &causes).into(language),
        };
    }
    let described = [entry.title.pick(language), entry.description.pick(language)];
    let described: BTreeSet<String> = described.into_iter().flat_map(words).collect();
    let shared: Vec<String> = described.intersection(&about.0).cloned().collect();
    let value = (shared.len() as f64 * WORD).min(1.0);
    let reason = match shared.is_empty() {
        true => text!("{title}", "{title}", title = entry.title.clone()),
        false => text!(
            "{title}；说明中提到 {words}",
            "{title}; its description mentions {words}",
            title = entry.title.clone(),
            words = list(&shared[..shared.len().min(NAMED)], language)
        ),
    };
    Relevance {
        value,
        reason: reason.localize(language),
    }
}

/// Which causes a file may change the judgment on.
fn bears_on(entry: &Entry, causes: &[&str]) -> Text {
    let (zh, en) = match causes.get(NAMED) {
        Some(_) => (" 等", " and others"),
        None => (" ", ""),
    };
    let shown = &causes[..causes.len().min(NAMED)];
    text!(
        "{title}；可能影响对 {causes}的判断",
        "{title}; bears on {causes}",
        title = entry.title.clone(),
        causes = Text {
            zh: shown.join("、") + zh,
            en: shown.join(", ") + en,
        },
    )
}

/// English words without a plural, and pairs of Chinese characters.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let english = lower.split(|c: char| !c.is_ascii_alphabetic());
    let english = english.filter(|word| word.len() >= LETTERS);
    let mut found: Vec<String> = english
        .map(|word| word.trim_end_matches('s').to_owned())
        .collect();
    let is_chinese = |c: &char| ('\u{4e00}'..='\u{9fff}').contains(c);
    let chars: Vec<char> = lower.chars().collect();
    let pairs = chars.windows(2).filter(|pair| pair.iter().all(is_chinese));
    found.extend(pairs.map(|pair| pair.iter().collect::<String>()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_their_endings_in_either_language() {
        assert_eq!(words("Joins of 2 tables"), ["join", "table"]);
        assert_eq!(words("落盘、GC 时间"), ["落盘", "时间"]);
    }
}
