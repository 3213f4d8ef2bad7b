//! Causes in prose: by code, title or common name, and whether a clause affirms them.

use report::{Cause, ProblemType};

use super::concepts::{is_conditional, is_modal, negation};
use super::lexicon::{Words, find_word, has_word, is_whole};

/// A mention of some causes in a clause.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mention {
    /// The possible causes; one for a code or a title.
    pub(crate) causes: Vec<Cause>,
    pub(crate) stance: Stance,
    pub(crate) is_exact: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stance {
    Affirmed,
    /// "It may be …".
    Possible,
    Denied,
    /// Neither: a condition, a measure, a suggestion.
    Neutral,
}

/// Common names of causes. With `true` the words alone affirm the cause.
const CALLED: &[(&[Cause], bool, Words)] = &[
    (SKEW, true, "skew|skewed|data skew|倾斜"),
    (
        &[Cause::HeapPressure],
        false,
        "garbage collection|gc|垃圾回收",
    ),
    (
        &[Cause::Spill],
        false,
        "spill|spills|spilling|spilled|落盘|溢出",
    ),
    (
        &[Cause::RedundantRepartition],
        false,
        "repartition|repartitions|repartitioning|重新分区",
    ),
    (&[Cause::SmallFiles], false, "small files|小文件"),
    (&[Cause::VertexRetries], false, "retries|retried|重试"),
    (
        &[Cause::SlowMachine],
        false,
        "slow machine|slow machines|slow node|慢机器|机器过慢",
    ),
    (&[Cause::QueueWait], false, "queuing|queue wait|排队"),
    (
        &[Cause::JoinExplosion],
        false,
        "join explosion|cartesian|膨胀",
    ),
    (
        &[Cause::CpuBoundUdo, Cause::UserCodeFailure],
        false,
        "user code|udf|用户代码",
    ),
    (
        &[Cause::Misestimate, Cause::MemoryEstimateTooLow],
        false,
        "misestimate|wrong estimate|估计错误",
    ),
];

const SKEW: &[Cause] = &[
    Cause::JoinHotKey,
    Cause::GroupHotKey,
    Cause::NullOrDefaultKey,
    Cause::LowCardinalityKey,
    Cause::PartitionLayout,
];

/// Words that turn the name of something measured into a cause.
const BLAMES: Words = "problem|cause|causes|caused by|because|due to|slow|suffers|heavy|bottleneck|excessive|too many|too much|\
     dominates|slows|redundant|unnecessary|多余|原因|导致|由于|因为|慢|问题|瓶颈|过高|过多|严重|拖慢|造成";

/// Words behind a cause that deny it.
const DENIED_BEHIND: Words = "is ruled out|ruled out|refuted|is not|are not|was not|were not|isn't|aren't|不成立|已排除|被排除|不存在|不是";

/// Words before a cause that deny it.
const DENIED_BEFORE: Words =
    "rule out|rules out|ruled out|rather than|instead of|free of|排除|而不是|而非";

/// The causes that a clause names; `heading` is the stance of a heading above it.
pub(crate) fn mentions(lower: &str, heading: Option<Stance>) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut taken: Vec<std::ops::Range<usize>> = Vec::new();
    for cause in Cause::ALL {
        let title = cause.title();
        let names = [cause.code(), title.en, title.zh];
        for name in names {
            let name = name.to_lowercase();
            let Some(at) = lower
                .find(&name)
                .filter(|at| is_whole(lower, &(*at..at + name.len())))
            else {
                continue;
            };
            taken.push(at..at + name.len());
            found.push(Mention {
                causes: vec![*cause],
                stance: heading.unwrap_or_else(|| stance(lower, at, name.len())),
                is_exact: true,
            });
        }
    }
    let shuffle = "excessive shuffle|过多 shuffle|过多的 shuffle|过多shuffle";
    if let Some(at) = find_word(lower, shuffle) {
        let is_shuffle = |c: &Cause| c.problem_type() == ProblemType::ExcessiveShuffle;
        found.push(Mention {
            causes: Cause::ALL.iter().copied().filter(is_shuffle).collect(),
            stance: heading.unwrap_or_else(|| stance(lower, at, 0)),
            is_exact: false,
        });
    }
    for (causes, affirms, names) in CALLED {
        let Some(at) = find_word(lower, names) else {
            continue;
        };
        if taken.iter().any(|span| span.contains(&at)) {
            continue;
        }
        let stance = match heading.unwrap_or_else(|| stance(lower, at, 0)) {
            Stance::Affirmed | Stance::Possible if !affirms && !has_word(lower, BLAMES) => {
                Stance::Neutral
            }
            stance => stance,
        };
        found.push(Mention {
            causes: causes.to_vec(),
            stance,
            is_exact: false,
        });
    }
    found
}

/// The stance of a clause towards a name in it.
fn stance(lower: &str, at: usize, length: usize) -> Stance {
    let start = lower[..at]
        .rfind([',', '，', ':', '：', ';', '；', '(', '（'])
        .unwrap_or(0);
    let behind = &lower[at + length..];
    let end = behind.find([',', '，', ';', '；']).unwrap_or(behind.len());
    let (before, behind) = (&lower[start..at], &behind[..end]);
    if has_word(before, DENIED_BEFORE)
        || has_word(behind, DENIED_BEHIND)
        || negation(before).is_some()
    {
        return Stance::Denied;
    }
    if is_conditional(before) || is_conditional(behind) {
        return Stance::Neutral;
    }
    match is_modal(before) || is_modal(behind) {
        true => Stance::Possible,
        false => Stance::Affirmed,
    }
}

/// A heading's stance on the causes listed below it.
pub(crate) fn heading(lower: &str) -> Option<Stance> {
    let is_heading = lower.trim_end().ends_with([':', '：']);
    let denies = has_word(lower, "rule out|rules out|ruled out|排除");
    (is_heading && denies).then_some(Stance::Denied)
}
