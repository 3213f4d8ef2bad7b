//! Causes in prose: by code, title or common name, and whether a clause affirms them.

use report::Cause::{self, *};
use report::ProblemType;

use super::concepts::{CONDITIONS, MODALS, negation};
use super::lexicon::{Words, find_word, has_word, is_whole};

/// A mention of some causes in a clause.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mention {
    /// The possible causes; one for a code or a title.
    pub(crate) causes: Vec<Cause>,
    pub(crate) stance: Stance,
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

/// Common names of causes. Only words for skew affirm the cause by themselves; the others also name something measured.
const CALLED: &[(&[Cause], Words)] = &[
    (SKEW, "skew|skewed|data skew|倾斜"),
    (&[HeapPressure], "garbage collection|gc|垃圾回收"),
    (&[Spill], "spill|spills|spilling|spilled|落盘|溢出"),
    (
        &[RedundantRepartition],
        "repartition|repartitions|repartitioning|重新分区",
    ),
    (&[SmallFiles], "small files|小文件"),
    (&[VertexRetries], "retries|retried|重试"),
    (
        &[SlowMachine],
        "slow machine|slow machines|slow node|慢机器|机器过慢",
    ),
    (&[QueueWait], "queuing|queue wait|排队"),
    (&[JoinExplosion], "join explosion|cartesian|膨胀"),
    (&[CpuBoundUdo, UserCodeFailure], "user code|udf|用户代码"),
    (
        &[Misestimate, MemoryEstimateTooLow],
        "misestimate|wrong estimate|估计错误",
    ),
];

const SKEW: &[Cause] = &[
    JoinHotKey,
    GroupHotKey,
    NullOrDefaultKey,
    LowCardinalityKey,
    PartitionLayout,
];

const SHUFFLE: Words = "excessive shuffle|过多 shuffle|过多的 shuffle|过多shuffle";

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
    let stance = |at, length| heading.unwrap_or_else(|| stance(lower, at, length));
    let mut found: Vec<Mention> = Vec::new();
    let mut taken: Vec<std::ops::Range<usize>> = Vec::new();
    for cause in Cause::ALL {
        let title = cause.title();
        for name in [cause.code(), title.en, title.zh] {
            let name = name.to_lowercase();
            let span = lower.find(&name).map(|at| at..at + name.len());
            if let Some(span) = span.filter(|span| is_whole(lower, span)) {
                let (causes, stance) = (vec![*cause], stance(span.start, name.len()));
                found.push(Mention { causes, stance });
                taken.push(span);
            }
        }
    }
    if let Some(at) = find_word(lower, SHUFFLE) {
        let is_shuffle = |c: &Cause| c.problem_type() == ProblemType::ExcessiveShuffle;
        found.push(Mention {
            causes: Cause::ALL.iter().copied().filter(is_shuffle).collect(),
            stance: stance(at, 0),
        });
    }
    for (causes, names) in CALLED {
        let at = find_word(lower, names);
        let Some(at) = at.filter(|at| !taken.iter().any(|span| span.contains(at))) else {
            continue;
        };
        let affirms = *causes == SKEW || has_word(lower, BLAMES);
        found.push(Mention {
            causes: causes.to_vec(),
            stance: match stance(at, 0) {
                Stance::Affirmed | Stance::Possible if !affirms => Stance::Neutral,
                stance => stance,
            },
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
    if has_word(before, CONDITIONS) || has_word(behind, CONDITIONS) {
        return Stance::Neutral;
    }
    match has_word(before, MODALS) || has_word(behind, MODALS) {
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
