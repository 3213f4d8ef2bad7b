//! Reads the quantities, causes and measures of a question from its phrases.

use report::measure::{Entity, Measure, book};
use report::{Cause, SegmentKind};

use crate::phrases::{OPERATORS, Phrases, QUANTITIES, Quantity, SEGMENTS, SETTINGS, TOPICS, Topic};

/// Amounts of data that anything can have.
const AMOUNTS: [&Measure; 4] = [
    &book::ROWS_IN,
    &book::ROWS_OUT,
    &book::BYTES_READ,
    &book::BYTES_WRITTEN,
];

/// Words for an amount of data without saying which.
const DATA: [&str; 5] = [
    "how much data",
    "what data",
    "which data",
    "多少数据",
    "数据量",
];

/// A question prepared for looking up phrases; names are taken out of it before.
pub(crate) struct Wording {
    lower: String,
    words: Vec<String>,
}

impl Wording {
    pub(crate) fn of(text: &str) -> Wording {
        let lower = text.to_lowercase().replace('’', "'");
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '\'' | '-' | '#');
        let words = lower.split(|c| !is_part(c)).filter(|w| !w.is_empty());
        Wording {
            words: words.map(str::to_owned).collect(),
            lower: lower.clone(),
        }
    }

    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    pub(super) fn has(&self, zh: Phrases, en: Phrases) -> bool {
        zh.split('|').any(|phrase| self.lower.contains(phrase))
            || en.split('|').any(|phrase| self.says(phrase))
    }

    fn says(&self, phrase: &str) -> bool {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        let fits = |word: &String, pattern: &&str| match pattern.strip_suffix('*') {
            Some(stem) => word.starts_with(stem),
            None => word == pattern,
        };
        let mut places = self.words.windows(wanted.len());
        places.any(|words| words.iter().zip(&wanted).all(|(word, p)| fits(word, p)))
    }

    /// Quantities in the question, in the order of the answer.
    pub(crate) fn quantities(&self) -> Vec<Quantity> {
        let named = QUANTITIES.iter().filter(|(_, zh, en)| self.has(zh, en));
        named.map(|(quantity, ..)| *quantity).collect()
    }

    /// Measures of the job, its stages and exchanges that are asked for. "How much data" is an amount of whatever else is named.
    pub(crate) fn measures(&self) -> Vec<&'static Measure> {
        let is_named = |m: &&&Measure| {
            let of_run = matches!(m.entity, Entity::Job | Entity::Stage);
            (of_run || **m == &book::PARTITIONS)
                && !m.words.en.is_empty()
                && self.has(m.words.zh, m.words.en)
        };
        let mut measures: Vec<&'static Measure> =
            book::ALL.iter().filter(is_named).copied().collect();
        let is_amount = |m: &&'static Measure| AMOUNTS.contains(m);
        let names_other = !self.causes().is_empty() || !self.segments().is_empty();
        if names_other || !measures.iter().all(&is_amount) {
            let plain = Wording::of(
                &DATA
                    .iter()
                    .fold(self.lower.clone(), |text, amount| text.replace(amount, " ")),
            );
            measures.retain(|m| !is_amount(m) || plain.has(m.words.zh, m.words.en));
        }
        measures
    }

    /// Settings that are named.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &'static str> {
        let named = SETTINGS.iter().filter(|(_, zh, en)| self.has(zh, en));
        named.map(|(key, ..)| *key)
    }

    /// Kinds of operators that are named.
    pub(crate) fn operators(&self) -> Vec<&'static str> {
        let named = OPERATORS.iter().filter(|(_, zh, en)| self.has(zh, en));
        named.map(|(kind, ..)| *kind).collect()
    }

    pub(crate) fn segments(&self) -> Vec<SegmentKind> {
        let named = SEGMENTS.iter().filter(|(_, zh, en)| self.has(zh, en));
        named.map(|(kind, ..)| *kind).collect()
    }

    /// Causes that are named, by a group or by their title.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        let topics: Vec<&Topic> = TOPICS.iter().filter(|t| self.has(t.zh, t.en)).collect();
        let is_named = |cause: &Cause| {
            let title = cause.title();
            topics.iter().any(|topic| (topic.includes)(*cause))
                || self.lower.contains(title.zh)
                || self.lower.contains(title.en)
                || self.lower.contains(cause.code())
        };
        Cause::ALL.iter().copied().filter(is_named).collect()
    }

    /// Whether it speaks of the whole job.
    pub(crate) fn is_about_job(&self) -> bool {
        self.has(
            "作业|整个|脚本|应用|任务",
            "job|script|application|whole|overall|run",
        )
    }

    /// Whether it has no noun: "why 50 minutes?", "为什么要 50 分钟".
    pub(crate) fn is_bare(&self) -> bool {
        self.words.len() <= 5
    }

    /// Whether it points at something named before: "it", "that stage".
    pub(crate) fn points_back(&self) -> bool {
        self.points_at_stage() || self.has("它", "it|its|there")
    }

    pub(crate) fn points_at_stage(&self) -> bool {
        self.has(
            "这个阶段|该阶段|这个 stage|该 stage|那个阶段|那个 stage",
            "this stage|that stage|the stage",
        )
    }

    pub(crate) fn compares(&self) -> bool {
        self.has(
            "比|对比|相比|差别|区别|哪个更",
            "than|compar*|versus|vs|difference|differ",
        )
    }

    /// Whether a time in the question is one to reach.
    pub(crate) fn sets_goal(&self) -> bool {
        self.has(
            "以内|之内|压到|降到|控制在|缩短到|减到|更快|快于|一半以内|钟内|秒内|小时内|能不能|能在|可以在",
            "within|under|less than|faster than|below|down to|half the time|in half|at most|to finish in|can it|could it|run in|done in",
        )
    }

    pub(crate) fn says_half(&self) -> bool {
        self.has("一半", "half")
    }
}
