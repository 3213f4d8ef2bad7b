//! Engineers' questions about a job, and the words that identify each kind.

use report::Language;

/// Subjects of a question. Most questions have more than one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Asks {
    WhyFailed,
    /// The work of one stage, whether it is a problem, why it is slow.
    AboutStage,
    WhereTimeGoes,
    /// Why it takes longer than before.
    SlowerThanBefore,
    /// How to reach a run time.
    Goal,
    IsItHealthy,
    WhatToChange,
    CompareStages,
}

const WORDS: [(Asks, &[&str]); 8] = [
    (Asks::WhyFailed, &["挂了", "失败", "failed"]),
    (Asks::AboutStage, &["SV"]),
    (
        Asks::WhereTimeGoes,
        &["瓶颈", "花在", "bottleneck", "time go"],
    ),
    (Asks::SlowerThanBefore, &["上周", "last change"]),
    (Asks::Goal, &["压到", "half the time", "get it under"]),
    (
        Asks::IsItHealthy,
        &["正常吗", "优化吗", "问题吗", "anything to", "Should we"],
    ),
    (
        Asks::WhatToChange,
        &[
            "怎么改",
            "改法",
            "建议",
            "能不能优化",
            "should I change",
            "would you do",
            "we can do",
        ],
    ),
    (Asks::CompareStages, &["不如", "not faster than"]),
];

pub(super) fn asks(question: &str) -> Vec<Asks> {
    let is_asked = |words: &[&str]| words.iter().any(|word| question.contains(word));
    let asked = WORDS.iter().filter(|(_, words)| is_asked(words));
    asked.map(|(asks, _)| *asks).collect()
}

/// A question about a job that failed.
const OF_FAILED: (&str, &str) = (
    "{job} 今天早上挂了，请定位。",
    "{job} failed this morning, please find the reason.",
);

/// Questions about other jobs, as the shared jobs have them and as `ask` suggests them.
const OTHERS: [(&str, &str); 10] = [
    (
        "{stage} 这个 stage 特别慢，是什么原因？",
        "What is wrong with {stage}? It holds up everything after it.",
    ),
    (
        "这个作业跑了 {time}，太慢了，瓶颈在哪里？应该怎么改？",
        "This job takes {time}. Where does the time go and what should I change?",
    ),
    (
        "我们在做例行检查，{job} 的性能正常吗？",
        "Is there anything to optimise in {job}? It ran {time}.",
    ),
    (
        "为什么 {job} 要跑 {time}？我们希望能压到一半以内。",
        "We need {job} to finish in half the time ({time} today). What would you do first?",
    ),
    (
        "{job} 上周还只要一半的时间，现在要 {time}，出了什么问题？",
        "The run time of {job} went up to {time} after the last change. What happened?",
    ),
    (
        "{stage} 是最大的 stage，需要优化吗？",
        "{stage} is our biggest stage. Should we do something about it?",
    ),
    (
        "怎样才能压到 {goal} 分钟以内？",
        "How do we get it under {goal} minutes?",
    ),
    (
        "为什么 {stage} 不如 {other} 快？",
        "Why is {stage} not faster than {other}?",
    ),
    (
        "{job} 最近每次都要 {time}左右，帮忙看看能不能优化。",
        "Anything we can do about the run time of this job? It took {time}.",
    ),
    ("{stage} 为什么这么慢？", "Why is {stage} so slow?"),
];

/// The names and numbers that questions about a job have.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) job: String,
    pub(super) stage: String,
    /// Another stage.
    pub(super) other: String,
    pub(super) seconds: f64,
    pub(super) failed: bool,
}

/// Minutes that a question asks for: a third less than now.
pub(super) fn goal_minutes(seconds: f64) -> f64 {
    (seconds / 90.0).floor().max(1.0)
}

/// The `number`-th question that suits a job.
pub(super) fn about(names: &Names, number: usize, language: Language) -> String {
    let suits = |(zh, _): &&(&str, &str)| {
        (!names.stage.is_empty() || !zh.contains("{stage}"))
            && (!names.other.is_empty() || !zh.contains("{other}"))
    };
    let others: Vec<&(&str, &str)> = OTHERS.iter().filter(suits).collect();
    let (zh, en) = match names.failed {
        true => &OF_FAILED,
        false => others[number % others.len()],
    };
    let (count, zh_unit, en_unit) = match names.seconds {
        short @ ..90.0 => (short, "秒", "seconds"),
        long => (long / 60.0, "分钟", "minutes"),
    };
    let time = language.select(
        format!("{count:.0} {zh_unit}"),
        format!("{count:.0} {en_unit}"),
    );
    language
        .select(zh, en)
        .replace("{job}", &names.job)
        .replace("{stage}", &names.stage)
        .replace("{other}", &names.other)
        .replace("{time}", &time)
        .replace("{goal}", &goal_minutes(names.seconds).to_string())
}
