//! The values that one thing has, by measure.

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Measure, Value, book};

/// Values of one thing in the order of the book. An unknown measure has none.
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
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (measure, value) in &self.0 {
            map.serialize_entry(&measure.key(), value)?;
        }
        map.end()
    }
}

/// A value of a measure that this version doesn't know is dropped.
impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Values;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("values by measure")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
                let mut values = Values::default();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    if let Some(measure) = book::by_key(&key) {
                        values.set(measure, Some(value));
                    }
                }
                Ok(values)
            }
        }
        deserializer.deserialize_map(Map)
    }
}
