//! Evidence: one value of a job with its place in the files and a sentence about it.
//!
//! Knows the layout of the files; the meaning of a value is up to the rules.

use job::facts::Measured;
use job::model::Stage;

use crate::view::View;
use report::format::with_unit;
use report::{Evidence, EvidenceValue, Language, Localize, Source, Text, text};

/// A number or a word of a job as evidence: its metric, its value, the unit of a number, and its place; then the sentence, as in
/// [`text!`].
macro_rules! fact {
    ($view:expr, $metric:expr, $value:expr, $unit:literal, $source:expr; $($sentence:tt)+) => {
        $view.number($metric, $value, $unit, $source, report::text!($($sentence)+))
    };
    ($view:expr, $metric:expr, $value:expr, $source:expr; $($sentence:tt)+) => {
        $view.word($metric, $value, $source, report::text!($($sentence)+))
    };
}
pub(crate) use fact;

impl View<'_> {
    pub(crate) fn number(
        &self,
        metric: &str,
        value: f64,
        unit: &'static str,
        source: Source,
        sentence: Text,
    ) -> Evidence {
        Evidence {
            unit: Some(unit.to_owned()),
            value: value.into(),
            ..self.word(metric, "", source, sentence)
        }
    }

    /// A text with its place.
    pub(crate) fn word(
        &self,
        metric: &str,
        value: &str,
        source: Source,
        sentence: Text,
    ) -> Evidence {
        Evidence {
            id: String::new(),
            metric: metric.to_owned(),
            value: EvidenceValue::Text(value.to_owned()),
            unit: None,
            expected: None,
            source,
            text: sentence.into(self.language),
        }
    }

    /// An expected value that is not exact.
    pub(crate) fn about(&self, usual: impl Localize) -> String {
        text!("约 {usual}", "about {usual}", usual = usual).into(self.language)
    }

    /// A number as the file has it; `None` if no file has it.
    pub(crate) fn measured<'a>(
        &self,
        number: impl Into<Option<&'a Measured>>,
        unit: &'static str,
    ) -> Option<Evidence> {
        self.stated(number.into()?, unit, |place, name, shown| {
            text!(
                "{place} 的 {name} 为 {shown}",
                "{name} of {place} is {shown}",
                shown = shown
            )
        })
    }

    /// The number of the largest vertex, where the file's name of the number is that of all vertices.
    pub(crate) fn measured_largest<'a>(
        &self,
        number: impl Into<Option<&'a Measured>>,
        unit: &'static str,
    ) -> Option<Evidence> {
        self.stated(number.into()?, unit, |place, name, shown| {
            text!(
                "{place} 最大顶点的 {name} 为 {shown}",
                "{name} of the largest vertex of {place} is {shown}",
                shown = shown
            )
        })
    }

    fn stated(
        &self,
        found: &Measured,
        unit: &'static str,
        sentence: impl Fn(&str, &str, Text) -> Text,
    ) -> Option<Evidence> {
        let (name, place) = (found.metric, found.subject());
        let sentence = sentence(&place, name, shown(found.value, unit));
        Some(self.number(name, found.value, unit, found.source(), sentence))
    }
}

/// A number with its unit, for a sentence.
pub(crate) fn shown(value: f64, unit: &str) -> Text {
    Text {
        zh: with_unit(value, unit, Language::Zh),
        en: with_unit(value, unit, Language::En),
    }
}

/// A place in the vertex events of a stage.
pub(crate) fn events_source(stage: &Stage) -> Option<Source> {
    let runs = stage.runs.as_ref()?;
    Some(at(&runs.file, &stage.name))
}

pub(crate) fn at(file: &str, place: impl Into<String>) -> Source {
    Source {
        file: file.to_owned(),
        locator: Some(place.into()),
    }
}

pub(crate) fn at_line(file: &str, line: u64) -> Source {
    at(file, format!("line {line}"))
}
