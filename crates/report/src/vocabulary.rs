//! Spark's words. A sentence that holds for both engines is written once, in SCOPE's words; in texts about a Spark application,
//! Spark's words replace them.

use crate::{JobEngine, Language};

/// Words of SCOPE and of Spark in English; longer ones first.
const ENGLISH: [(&str, &str); 13] = [
    ("vertex-hours", "core-hours"),
    ("vertex-hour", "core-hour"),
    ("vertices", "tasks"),
    ("Vertices", "Tasks"),
    ("vertex", "task"),
    ("Vertex", "Task"),
    ("job manager", "driver"),
    ("tokens", "slots"),
    ("token", "slot"),
    ("managed code", "user code"),
    ("the job waited", "the application waited"),
    ("the job waits", "the application waits"),
    ("whole job", "whole application"),
];

/// Words of SCOPE and of Spark in Chinese.
const CHINESE: [(&str, &str); 11] = [
    ("顶点小时", "核小时"),
    ("个顶点", "个 Task "),
    ("顶点", " Task "),
    ("作业管理器", " Driver "),
    ("令牌", "槽位"),
    ("托管代码", "用户代码"),
    ("作业等待", "应用等待"),
    ("整个作业", "整个应用"),
    ("个阶段", "个 Stage "),
    ("各阶段", "各 Stage "),
    ("阶段图", "Stage 图"),
];

/// A sentence in the words of an engine.
pub fn engine_words(text: String, engine: Option<JobEngine>, language: Language) -> String {
    match engine {
        Some(JobEngine::Spark) => spark_words(&text, language),
        _ => text,
    }
}

/// A sentence in Spark's words; text in backticks keeps its own.
pub fn spark_words(text: &str, language: Language) -> String {
    let words: &[(&str, &str)] = language.select(&CHINESE[..], &ENGLISH[..]);
    let parts = text.split('`').enumerate();
    let parts: Vec<String> = parts
        .map(|(at, part)| match at % 2 {
            0 => words
                .iter()
                .fold(part.to_owned(), |text, (from, to)| replace(&text, from, to)),
            _ => part.to_owned(),
        })
        .collect();
    parts.join("`")
}

/// Replaces a word unless it is part of a longer one or of a name.
fn replace(text: &str, from: &str, to: &str) -> String {
    let joins = |c: Option<char>| {
        c.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/'))
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let is_part =
            joins(before.chars().next_back()) || joins(after.chars().next().filter(|c| *c != '.'));
        out.push_str(before);
        match is_part {
            true => out.push_str(from),
            false => put(&mut out, to, after),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Appends a word; a space at its ends is only written between it and a character.
fn put(out: &mut String, word: &str, after: &str) {
    let open = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    if word.starts_with(' ') && open(out.chars().next_back()) {
        out.push(' ');
    }
    out.push_str(word.trim());
    if word.ends_with(' ') && open(after.chars().next()) {
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_said_in_the_words_of_spark() {
        for (language, text, expected) in [
            (
                Language::En,
                "one vertex of Stage 4 takes 3 vertex-hours on `vertex_id`",
                "one task of Stage 4 takes 3 core-hours on `vertex_id`",
            ),
            (
                Language::En,
                "a.vertex is a column, vertices.",
                "a.vertex is a column, tasks.",
            ),
            (Language::Zh, "12 个顶点等待令牌", "12 个 Task 等待槽位"),
            (Language::Zh, "其他顶点通常更快", "其他 Task 通常更快"),
        ] {
            assert_eq!(spark_words(text, language), expected);
        }
    }
}
