//! A number with the places in the files that it comes from.

use serde::{Deserialize, Serialize};

use crate::Source;

/// Places written out in a formula; further ones are counted.
const SHOWN: usize = 60;

/// A number with its origin. Nothing else makes one, so no number is without a place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Value {
    #[serde(rename = "n")]
    number: f64,
    #[serde(rename = "of")]
    origin: Origin,
}

/// How a number follows from the files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The number is in the file, in the unit of the measure or in another one.
    Place(Source),
    /// Folded from one field of many records: the attempts of a stage, its tasks, the lines of a log.
    Records(Fold, Source),
    /// Calculated from other values.
    Formula(Formula, Vec<Value>),
    /// Saved by a version that didn't save places.
    Unsaved,
}

/// How the numbers of records become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fold {
    Sum,
    Mean,
    Median,
    Max,
    Min,
    Count,
    /// The last end less the first begin.
    Span,
}

impl Fold {
    fn name(self) -> &'static str {
        match self {
            Fold::Sum => "sum",
            Fold::Mean => "mean",
            Fold::Median => "median",
            Fold::Max => "max",
            Fold::Min => "min",
            Fold::Count => "count",
            Fold::Span => "span",
        }
    }
}

/// A calculation with values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    Sum,
    /// The first over the second.
    Ratio,
    /// The one value times a factor: a percentage as a share.
    Times(f64),
}

impl Formula {
    fn apply(self, parts: &[Value]) -> f64 {
        match (self, parts) {
            (Formula::Sum, _) => parts.iter().map(Value::number).sum(),
            (Formula::Ratio, [a, b]) => a.number / b.number,
            (Formula::Times(factor), [one]) => one.number * factor,
            _ => f64::NAN,
        }
    }
}

impl Value {
    fn new(number: f64, origin: Origin) -> Option<Value> {
        number.is_finite().then_some(Value { number, origin })
    }

    /// A number that is in a file; `None` if it isn't finite.
    pub fn at(number: f64, source: Source) -> Option<Value> {
        Value::new(number, Origin::Place(source))
    }

    /// A number folded from a field of many records.
    pub fn folded(number: f64, fold: Fold, field: Source) -> Option<Value> {
        Value::new(number, Origin::Records(fold, field))
    }

    /// The sum; `None` if there is nothing to add or a part is unknown.
    pub fn sum(parts: impl IntoIterator<Item = Option<Value>>) -> Option<Value> {
        let parts: Option<Vec<Value>> = parts.into_iter().collect();
        let mut parts = parts?;
        match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Value::calculated(Formula::Sum, parts),
        }
    }

    /// `self / other`; `None` if that isn't finite.
    #[must_use]
    pub fn over(self, other: Value) -> Option<Value> {
        Value::calculated(Formula::Ratio, vec![self, other])
    }

    #[must_use]
    pub fn times(self, factor: f64) -> Option<Value> {
        Value::calculated(Formula::Times(factor), vec![self])
    }

    fn calculated(formula: Formula, parts: Vec<Value>) -> Option<Value> {
        Value::new(formula.apply(&parts), Origin::Formula(formula, parts))
    }

    /// A number of a run that was saved without places.
    pub fn unsaved(number: f64) -> Option<Value> {
        Value::new(number, Origin::Unsaved)
    }

    pub fn number(&self) -> f64 {
        self.number
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The file of its first place, with the formula over the places as locator; `None` if the places weren't saved.
    pub fn source(&self) -> Option<Source> {
        let first = self.first()?;
        let locator = match &self.origin {
            Origin::Place(source) => source.locator.clone(),
            _ => Some(self.formula(&first.file)),
        };
        Some(Source {
            file: first.file.clone(),
            locator,
        })
    }

    fn first(&self) -> Option<&Source> {
        match &self.origin {
            Origin::Place(source) | Origin::Records(_, source) => Some(source),
            Origin::Formula(_, parts) => parts.iter().find_map(Value::first),
            Origin::Unsaved => None,
        }
    }

    /// The calculation in one line; places of other files than `file` begin with the name of theirs.
    fn formula(&self, file: &str) -> String {
        let place = |source: &Source| {
            let locator = source.locator.as_deref().unwrap_or("*");
            match source.file == file {
                true => locator.to_owned(),
                false => format!("{}#{locator}", source.file),
            }
        };
        let part = |value: &Value| match &value.origin {
            Origin::Formula(..) => format!("({})", value.formula(file)),
            _ => value.formula(file),
        };
        match &self.origin {
            Origin::Place(source) => place(source),
            Origin::Records(fold, source) => format!("{}({})", fold.name(), place(source)),
            Origin::Formula(Formula::Sum, parts) => {
                let mut shown: Vec<String> = parts.iter().take(SHOWN).map(part).collect();
                if let Some(more @ 1..) = parts.len().checked_sub(SHOWN) {
                    shown.push(format!("{more} more"));
                }
                shown.join(" + ")
            }
            Origin::Formula(Formula::Times(factor), parts) => {
                let parts: Vec<String> = parts.iter().map(part).collect();
                format!("{} × {factor}", parts.join(" "))
            }
            Origin::Formula(Formula::Ratio, parts) => {
                let parts: Vec<String> = parts.iter().map(part).collect();
                parts.join(" / ")
            }
            Origin::Unsaved => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: f64, file: &str, locator: &str) -> Option<Value> {
        let source = Source {
            file: file.to_owned(),
            locator: Some(locator.to_owned()),
        };
        Value::at(number, source)
    }

    #[test]
    fn a_sum_names_its_places_and_follows_from_them() {
        let sum = Value::sum([at(2.0, "a.xml", "S/@x"), at(3.0, "b.xml", "S/@y")]).expect("a sum");
        assert_eq!(sum.number(), 5.0);
        let source = sum.source().expect("places");
        assert_eq!(source.file, "a.xml");
        assert_eq!(source.locator.as_deref(), Some("S/@x + b.xml#S/@y"));
        let whole = at(10.0, "a.xml", "T/@x").expect("a number");
        let share = sum.over(whole).expect("a share");
        assert_eq!(share.number(), 0.5);
        let locator = share.source().and_then(|s| s.locator);
        assert_eq!(locator.as_deref(), Some("(S/@x + b.xml#S/@y) / T/@x"));
    }

    #[test]
    fn an_unknown_part_makes_the_sum_unknown() {
        assert_eq!(Value::sum([at(2.0, "a", "x"), None]), None);
        assert_eq!(Value::sum([]), None);
        let zero = at(0.0, "a", "x").expect("a number");
        assert_eq!(zero.clone().over(zero), None);
    }
}
