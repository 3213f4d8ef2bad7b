//! Texts and numbers of events.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The beginning of the year 2100, in milliseconds since 1970.
const LATEST_MS: i64 = 4_102_444_800_000;

/// Text that is copied only if it contains escapes.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Str<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Cow<'de, str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(""))
            }
        }
        from.deserialize_any(Text).map(Str)
    }
}

impl Str<'_> {
    pub(super) fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.clone().into_owned())
    }
}

/// A number, or a text that is a number; `None` for any other value. Values of SQL metrics are text.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Number(pub(super) Option<f64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Option<f64>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_u64<E>(self, n: u64) -> Result<Self::Value, E> {
                Ok(Some(n as f64))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Self::Value, E> {
                Ok(Some(n as f64))
            }
            fn visit_f64<E>(self, n: f64) -> Result<Self::Value, E> {
                Ok(Some(n).filter(|n| n.is_finite()))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(text.parse().ok().filter(|n: &f64| n.is_finite()))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(None)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(None)
            }
        }
        from.deserialize_any(Any).map(Number)
    }
}

impl Number {
    /// As a count or a time; `None` if negative.
    pub(super) fn count(self) -> Option<u64> {
        self.0.filter(|n| *n >= 0.0).map(|n| n as u64)
    }

    pub(super) fn or_zero(self) -> u64 {
        self.count().unwrap_or(0)
    }

    /// Milliseconds since 1970; Spark writes 0 or -1 for "not yet".
    pub(super) fn time(self) -> Option<i64> {
        let time = self.0.filter(|n| *n > 0.0).map(|n| n as i64);
        time.filter(|ms| *ms < LATEST_MS)
    }

    /// An impossible time, later than any log.
    pub(super) fn impossible_time(self) -> Option<f64> {
        self.0.filter(|n| *n >= LATEST_MS as f64)
    }

    pub(super) fn id(self) -> u32 {
        self.or_zero().min(u64::from(u32::MAX)) as u32
    }
}
