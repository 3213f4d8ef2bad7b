//! The book of measures: each measure of a job, stage, operator, exchange, input or column is defined once, in [`book`].
//!
//! Inspections, comparisons, answers and prompts are views of the [`Values`] that a job has of them.

pub mod book;
mod sheet;
mod value;
mod values;

use crate::format::{Noun, VERTEX, figure, with_unit};
use crate::text::{marked, unmarked};
use crate::{Language, Localize, StaticText, Text};

pub use sheet::{InputSheet, Sheet, StageSheet};
pub use value::{Fold, Formula, Origin, Value};
pub use values::Values;

/// The thing that a measure describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entity {
    Job,
    Stage,
    Operator,
    /// A channel between two stages.
    Exchange,
    Input,
    Column,
    /// An executor of an application.
    Executor,
    /// An SQL execution of an application.
    Execution,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Rows,
    Bytes,
    Ms,
    Seconds,
    /// Part of a whole, 0 to 1.
    Share,
    Ratio,
    Vertices,
    Tokens,
    Files,
    Partitions,
    Count,
}

impl Unit {
    /// Its name in the report contract.
    pub fn code(self) -> &'static str {
        match self {
            Unit::Rows => "rows",
            Unit::Bytes => "bytes",
            Unit::Ms => "ms",
            Unit::Seconds => "s",
            Unit::Share => "share",
            Unit::Ratio => "ratio",
            Unit::Vertices => "vertices",
            Unit::Tokens => "tokens",
            Unit::Files => "files",
            Unit::Partitions => "partitions",
            Unit::Count => "count",
        }
    }
}

/// The better direction of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Less,
    More,
    /// The number describes; it is neither good nor bad.
    Neither,
}

/// One measure: its name for programs, its words for people.
#[derive(Debug)]
pub struct Measure {
    /// Name among the measures of its entity: `rows_in`.
    pub id: &'static str,
    pub entity: Entity,
    pub unit: Unit,
    pub better: Better,
    /// Label of a column or of a row.
    pub title: StaticText,
    /// Sentence with `{name}`, the thing, and `{value}`.
    pub sentence: StaticText,
    /// Phrases by which people ask for it, with `|` between them. English phrases match whole words, of which the last may
    /// end in `*`; Chinese ones match anywhere.
    pub words: StaticText,
}

impl PartialEq for Measure {
    fn eq(&self, other: &Measure) -> bool {
        self.entity == other.entity && self.id == other.id
    }
}

impl Measure {
    /// The number with its unit; `vertex` is the engine's word for a vertex.
    pub fn shown(&self, number: f64, vertex: Noun) -> Text {
        let show = |language| match self.unit {
            Unit::Vertices => vertex.count(number).localize(language),
            unit => with_unit(number, unit.code(), language),
        };
        Text {
            zh: show(Language::Zh),
            en: show(Language::En),
        }
    }

    /// The number in a table, whose head says what is counted.
    pub fn cell(&self, number: f64) -> Text {
        match self.unit {
            Unit::Bytes | Unit::Ms | Unit::Seconds | Unit::Share | Unit::Ratio => {
                self.shown(number, VERTEX)
            }
            _ => {
                let figure = figure(number.round());
                Text {
                    zh: figure.clone(),
                    en: figure,
                }
            }
        }
    }

    /// The number under its title.
    pub fn labeled(&self, number: f64, vertex: Noun) -> Text {
        Text::joined(&[self.title(vertex), self.shown(number, vertex)], [" "; 2])
    }

    /// The sentence about a thing; `vertex` is the engine's word for a vertex.
    pub fn sentence(&self, name: &str, number: f64, vertex: Noun) -> Text {
        let value = self.shown(number, vertex);
        let Text { zh, en } = worded(self.sentence, vertex);
        let zh = zh.replace("{value}", &marked(value.zh));
        Text {
            zh: unmarked(&zh).replace("{name}", name),
            en: en.replace("{value}", &value.en).replace("{name}", name),
        }
    }

    /// The definition: its title, and its sentence about any thing and any value.
    pub fn explained(&self, vertex: Noun) -> Text {
        let Text { zh, en } = worded(self.sentence, vertex);
        let (of_zh, of_en) = match self.entity {
            Entity::Stage => ("一个阶段", "a stage"),
            Entity::Operator => ("一个算子", "an operator"),
            Entity::Exchange => ("一个通道", "a channel"),
            Entity::Input => ("一个输入", "an input"),
            Entity::Column => ("一列", "a column"),
            Entity::Executor => ("一个 Executor", "an executor"),
            Entity::Execution => ("一次查询", "a query"),
            Entity::Job => ("作业", "the job"),
        };
        let title = self.title(vertex);
        let fill = |text: String, name: &str, value: &str| {
            text.replace("{name}", name).replace("{value}", value)
        };
        Text {
            zh: format!("{}：{}", title.zh, fill(zh, of_zh, "…")),
            en: format!("{}: {}", title.en, fill(en, of_en, "…")),
        }
    }

    /// The title in the engine's words.
    pub fn title(&self, vertex: Noun) -> Text {
        worded(self.title, vertex)
    }
}

/// A text about vertices with the engine's word for them.
fn worded(text: StaticText, vertex: Noun) -> Text {
    let en = text.en.replace("vertices", vertex.many);
    Text {
        zh: text.zh.replace("顶点", vertex.bare().trim()),
        en: en.replace("vertex", vertex.one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::TASK;

    #[test]
    fn every_measure_has_an_id_of_its_own_and_its_words() {
        for (at, measure) in book::ALL.iter().enumerate() {
            let id = measure.id;
            assert!(!book::ALL[..at].contains(measure), "{id} is defined twice");
            for (sentence, title) in [
                (measure.sentence.zh, measure.title.zh),
                (measure.sentence.en, measure.title.en),
            ] {
                assert_eq!(sentence.matches("{value}").count(), 1, "{id}: {sentence}");
                assert!(sentence.matches("{name}").count() <= 1, "{id}: {sentence}");
                assert!(!title.is_empty(), "{id}");
            }
        }
    }

    #[test]
    fn sentences_use_the_words_of_the_engine() {
        let slowest = book::MAX_RUN.sentence("Stage 3", 12_000.0, TASK);
        assert_eq!(slowest.en, "the slowest task of Stage 3 ran 12 s");
        assert_eq!(slowest.zh, "Stage 3 最慢的任务运行了 12 秒");
        let rows = book::ROWS_IN.sentence("SV3", 63e6, VERTEX);
        assert_eq!(rows.zh, "SV3 读入 6300 万行");
        assert_eq!(rows.en, "SV3 reads 63.0 M rows");
    }
}
