//! Sentences against the program's verdict: that a job with findings is fine, or that a finding
//! does not count.

use std::ops::Range;

use report::Verdict;

use super::lexicon::Words;
use crate::found::Found;

/// Phrases for "the job is fine".
const ALL_IS_WELL: Words = "job is healthy|job is fine|job is ok|job is normal|job is in good shape|job has no problem|job has no issue|\
     run is healthy|run is fine|nothing is wrong|nothing needs to change|nothing needs to be changed|nothing to fix|\
     no change is needed|no changes are needed|no problem was found|no problems were found|作业正常|作业健康|\
     作业是健康的|作业没有问题|作业没有性能问题|运行正常|一切正常|没有发现问题|不存在性能问题|无需修改|无需改动|\
     不需要修改";

/// Phrases for "a finding does not count", if it is named in the same sentence.
const DOES_NOT_COUNT: Words = "ignore|disregard|dismiss|false alarm|false positive|is wrong|are wrong|is incorrect|are incorrect|\
     is not a problem|is no problem|is not real|does not apply|忽略|误报|不成立|不是问题|不正确|可以不管|无需处理";

/// All findings at once.
const FINDINGS: Words = "the findings|all findings|these findings|上述发现|这些发现|所有发现";

/// Words that make a statement conditional: "if F1 is wrong", "once it is fixed, the job is healthy".
const CONDITIONS: Words =
    "if |once |unless |would |except |apart from |otherwise |如果|若|除了|除此|解决后|之后|的话";

/// Words that negate the words behind them.
const NEGATIONS: Words =
    "not |not be |n't |n't be |never |cannot |cannot be |不能|不要|不可|不应|不会|并非|并不|不能说";

/// Where each sentence ends that contradicts the verdict.
pub(super) fn contradictions(text: &str, found: &Found) -> Vec<usize> {
    let mut ends = Vec::new();
    for (start, end) in sentences(text) {
        let sentence = text[start..end].to_lowercase();
        if CONDITIONS.split('|').any(|word| sentence.contains(word)) {
            continue;
        }
        let denies_all = found.verdict != Verdict::Healthy && says(&sentence, ALL_IS_WELL);
        let names_finding = found.findings.iter().any(|finding| {
            let id = finding.id.to_lowercase();
            let is_part = |c: char| c.is_ascii_alphanumeric();
            let mut words = sentence.split(|c| !is_part(c));
            words.any(|word| word == id) || sentence.contains(finding.cause.code())
        });
        let names_all =
            !found.findings.is_empty() && FINDINGS.split('|').any(|f| sentence.contains(f));
        if denies_all || (names_finding || names_all) && says(&sentence, DOES_NOT_COUNT) {
            ends.push(end);
        }
    }
    ends
}

/// Whether a sentence contains one of the phrases and does not turn it around.
fn says(sentence: &str, phrases: Words) -> bool {
    let mut places = phrases
        .split('|')
        .filter_map(|phrase| sentence.find(phrase));
    places.any(|at| {
        let before = &sentence[..at];
        !NEGATIONS.split('|').any(|word| before.ends_with(word))
    })
}

/// Each sentence with its stop and the space before it; together they are the text.
pub(super) fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (_, end) in sentences(text) {
        let stop = text[end..].chars().next().map_or(0, char::len_utf8);
        found.push(start..end + stop);
        start = end + stop;
    }
    found
}

/// Start and end of each sentence, its stop left out.
fn sentences(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next();
        let is_end = match c {
            '.' | '!' | '?' | ';' => next.is_none_or(char::is_whitespace),
            '。' | '！' | '？' | '；' | '\n' => true,
            _ => false,
        };
        if is_end {
            found.push((start, at));
            start = at + c.len_utf8();
        }
    }
    found.push((start, text.len()));
    found.retain(|(start, end)| !text[*start..*end].trim().is_empty());
    found
}
