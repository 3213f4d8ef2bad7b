//! Sentences against the program's verdict: that a job with findings is fine, or that a finding
//! does not count.

use std::ops::Range;

use report::Verdict;

use super::lexicon::Words;
use crate::found::Found;
use crate::wording::cites;

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

/// The first sentence that contradicts the verdict.
pub(super) fn contradiction(text: &str, found: &Found) -> Option<Range<usize>> {
    pieces(text).into_iter().find(|piece| {
        let sentence = text[piece.clone()].to_lowercase();
        let names_finding = found.findings.iter().any(|finding| {
            cites(&sentence, &finding.id.to_lowercase()) || sentence.contains(finding.cause.code())
        });
        let names_all = !found.findings.is_empty() && contains(&sentence, FINDINGS);
        let denies_all = found.verdict != Verdict::Healthy && says(&sentence, ALL_IS_WELL);
        let denies = denies_all || (names_finding || names_all) && says(&sentence, DOES_NOT_COUNT);
        denies && !contains(&sentence, CONDITIONS)
    })
}

fn contains(sentence: &str, phrases: Words) -> bool {
    phrases.split('|').any(|phrase| sentence.contains(phrase))
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
    let (mut start, mut sentence) = (0, 0);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let rest = &text[end..];
        let is_stop = match c {
            '.' | '!' | '?' | ';' => rest.is_empty() || rest.starts_with(char::is_whitespace),
            '。' | '！' | '？' | '；' | '\n' => true,
            _ => false,
        };
        if !is_stop && !rest.is_empty() {
            continue;
        }
        let said = &text[sentence..if is_stop { at } else { end }];
        sentence = end;
        if !said.trim().is_empty() {
            found.push(start..end);
            start = end;
        }
    }
    found
}
