//! The values that one thing has, by measure.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Entity, Measure, Value, book};

/// Values of one thing. An unknown measure has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values(Vec<(&'static Measure, Value)>);

impl Values {
    /// Adds a value; `None` leaves the measure unknown.
    pub fn set(&mut self, measure: &'static Measure, value: Option<Value>) {
        let Some(value) = value else { return };
        self.0.retain(|(known, _)| *known != measure);
        self.0.push((measure, value));
    }

    pub fn value(&self, measure: &Measure) -> Option<&Value> {
        let found = self.0.iter().find(|(known, _)| *known == measure);
        found.map(|(_, value)| value)
    }

    pub fn get(&self, measure: &Measure) -> Option<f64> {
        self.value(measure).map(Value::number)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static Measure, &Value)> {
        self.0.iter().map(|(measure, value)| (*measure, value))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values without their places, for things too many to save places of.
    #[must_use]
    pub fn without_places(self) -> Values {
        let bare = |(measure, value): (_, Value)| Some((measure, Value::unsaved(value.number())?));
        Values(self.0.into_iter().filter_map(bare).collect())
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (measure, value) in &self.0 {
            map.serialize_entry(measure.id, value)?;
        }
        map.end()
    }
}

/// Names that version 0.1.0 had for measures.
const OLD_NAMES: [(&str, &str); 4] = [
    ("max_ms", "max_run_ms"),
    ("max_over_mean", "run_max_over_mean"),
    ("wasted_ms", "lost_ms"),
    ("memory_peak", "memory_peak_bytes"),
];

/// A value, or the bare number that version 0.1.0 saved.
#[derive(Deserialize)]
#[serde(untagged)]
enum Saved {
    Value(Value),
    Number(f64),
    Other(IgnoredAny),
}

/// Reads the values of an entity from a map that may have further fields.
fn read<'de, D: Deserializer<'de>>(entity: Entity, deserializer: D) -> Result<Values, D::Error> {
    struct Fields(Entity);
    impl<'de> Visitor<'de> for Fields {
        type Value = Values;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("values by measure")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
            let mut values = Values::default();
            while let Some(name) = map.next_key::<String>()? {
                let old = OLD_NAMES.iter().find(|(old, _)| *old == name);
                let id = old.map_or(name.as_str(), |(_, id)| id);
                let Some(measure) = book::of(self.0).find(|measure| measure.id == id) else {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                };
                let value = match map.next_value::<Saved>()? {
                    Saved::Value(value) => Some(value),
                    Saved::Number(number) => Value::unsaved(number),
                    Saved::Other(_) => None,
                };
                values.set(measure, value);
            }
            Ok(values)
        }
    }
    deserializer.deserialize_map(Fields(entity))
}

macro_rules! readers {
    ($($name:ident = $entity:ident;)*) => {
        impl Values {
            $(#[doc = concat!("Reads the values of a thing of the kind `", stringify!($name), "`.")]
            ///
            /// # Errors
            /// If the input isn't a map, or can't be read.
            pub fn $name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
                read(Entity::$entity, deserializer)
            })*
        }
    };
}

readers! {
    of_job = Job;
    of_stage = Stage;
    of_operator = Operator;
    of_exchange = Exchange;
    of_input = Input;
    of_column = Column;
    of_executor = Executor;
    of_execution = Execution;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Stage {
        name: String,
        #[serde(flatten, deserialize_with = "Values::of_stage")]
        values: Values,
    }

    #[test]
    fn values_are_read_back_and_so_are_the_numbers_of_0_1_0() {
        let source = Source {
            file: "counters.xml".to_owned(),
            locator: None,
        };
        let mut values = Values::default();
        values.set(&book::ROWS_IN, Value::at(7.0, source));
        let stage = Stage {
            name: "SV1".to_owned(),
            values,
        };
        let text = serde_json::to_string(&stage).expect("JSON");
        assert_eq!(serde_json::from_str::<Stage>(&text).expect("read"), stage);
        let old = r#"{"name":"SV1","max_ms":5.0,"rows_in":null,"vertices":3,"critical":true}"#;
        let old: Stage = serde_json::from_str(old).expect("read");
        let numbers = [&book::MAX_RUN, &book::ROWS_IN, &book::VERTICES].map(|m| old.values.get(m));
        assert_eq!(numbers, [Some(5.0), None, Some(3.0)]);
        assert_eq!(
            old.values.value(&book::MAX_RUN).and_then(Value::source),
            None
        );
    }
}
