//! JSON that may be truncated or malformed: everything before the fault is kept.

use std::cell::Cell;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::bounds;
use crate::problem::Problem;
use crate::text::head;
use crate::xml::Fault;

/// Maximum number of values in one file. A file of 20,000 stages has as many; in memory they take up to 400 MB.
const MAX_VALUES: usize = 1_000_000;

/// Parses JSON. With a fault, returns everything that could be read before it.
pub(crate) fn parse(text: &str) -> (Option<Value>, Option<Fault>) {
    parse_up_to(text, MAX_VALUES)
}

fn parse_up_to(text: &str, most: usize) -> (Option<Value>, Option<Fault>) {
    let error = match value(text, most) {
        Ok(value) => return (Some(value), None),
        Err(error) => error,
    };
    let fault = Fault {
        line: error.line().max(1),
        problem: Problem::Malformed("JSON", error.to_string()),
    };
    let end = offset_of(text, error.line(), error.column());
    let value = close(&text[..end]).and_then(|closed| value(&closed, most).ok());
    (value, Some(fault))
}

/// A value with at most `most` nested values.
fn value(text: &str, most: usize) -> serde_json::Result<Value> {
    let left = Cell::new(most);
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Bounded { left: &left, most }.deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Reads a value until the limit on values is reached.
#[derive(Clone, Copy)]
struct Bounded<'c> {
    left: &'c Cell<usize>,
    most: usize,
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        let Some(left) = self.left.get().checked_sub(1) else {
            let most = self.most;
            return Err(D::Error::custom(format!("more than {most} values")));
        };
        self.left.set(left);
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            fields.insert(name, object.next_value_seed(self)?);
        }
        Ok(Value::Object(fields))
    }
}

/// Byte offset of a 1-based line and column (in bytes), at a character boundary.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    let before = line.checked_sub(2).and_then(|line| ends.nth(line));
    let start = before.map_or(0, |at| at + 1);
    head(text, start.saturating_add(column)).len()
}

/// Cuts truncated JSON after its last complete value and closes all open objects, arrays and strings.
fn close(text: &str) -> Option<String> {
    // the last comma outside strings ends a complete value
    let mut cut = None;
    open_after(text, |at| cut = Some(at));
    let before = &text[..cut?];
    let open = open_after(before, |_| {});
    let closers = open.iter().rev().map(|b| char::from(*b));
    Some(before.chars().chain(closers).collect())
}

/// Closers of the objects and arrays that are open at the end. Calls `complete` at the end of each
/// value that closers can follow.
fn open_after(text: &str, mut complete: impl FnMut(usize)) -> Vec<u8> {
    let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
    for (at, byte) in text.bytes().enumerate() {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (true, _) => {}
            (false, b'{') => open.push(b'}'),
            (false, b'[') => open.push(b']'),
            (false, b'}' | b']') => {
                open.pop();
                if open.len() < 128 {
                    complete(at + 1);
                }
            }
            (false, b',') if open.len() < 128 => complete(at),
            _ => {}
        }
    }
    open
}

/// Keys of the objects of the first two levels, in a piece of JSON that may be cut. REST answers
/// that are wrapped in `{"responses": {"200": {"body": …}}}` count from the body.
pub(crate) fn keys(text: &str) -> Vec<(usize, &str)> {
    let (mut out, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(bytes, at + 1);
                let mut after = bytes[end..].iter().skip(1);
                let colon = after.find(|b| !b.is_ascii_whitespace());
                if colon == Some(&b':') {
                    out.push((depth, &text[at + 1..end]));
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    out
}

/// Offset of the quote that closes a string, or the end of the text.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

/// A number in any JSON form: `12`, `"12"`.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(s) => s.trim().parse().ok(),
        _ => None,
    }
    .and_then(bounds::number)
}

/// A count in any JSON form, if it is not negative.
pub(crate) fn count(value: &Value) -> Option<u64> {
    let float = || number(value).filter(|n| *n >= 0.0).map(|n| n as u64);
    value.as_u64().or_else(float).and_then(bounds::count)
}

/// A text that is not empty.
pub(crate) fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_file_keeps_what_came_before() {
        let (value, fault) = parse("{\"a\": [1, {\"b\": \"x,]\"},\n {\"c\": \"cut");
        assert_eq!(value, Some(serde_json::json!({"a": [1, {"b": "x,]"}]})));
        assert_eq!(fault.map(|f| f.line), Some(2));
        assert_eq!(parse("").0, None);
        assert_eq!(parse("{\"a\"").0, None);
        assert!(parse(&"[".repeat(100_000)).1.is_some());
    }

    #[test]
    fn what_has_too_many_values_keeps_the_first() {
        let text = "[{\"a\": 1}, {\"a\": 2}, {\"a\": 3}]";
        assert_eq!(parse_up_to(text, 7).1, None);
        let (value, fault) = parse_up_to(text, 6);
        assert_eq!(value, Some(serde_json::json!([{"a": 1}, {"a": 2}])));
        let more = Problem::Malformed("JSON", "more than 6 values at line 1 column 27".to_owned());
        assert_eq!(fault.map(|f| f.problem), Some(more));
    }

    #[test]
    fn keys_skip_strings() {
        let found = keys("{\"a\": \"\\\"b\\\": 1\", \"c\": [{\"d\": 1}], \"e");
        assert_eq!(found, vec![(1, "a"), (1, "c"), (3, "d")]);
    }

    #[test]
    fn counts_are_not_negative() {
        assert_eq!(count(&serde_json::json!(-1)), None);
        assert_eq!(count(&serde_json::json!("12")), Some(12));
        assert_eq!(count(&serde_json::json!(1e300)), None);
        assert_eq!(count(&serde_json::json!(i64::MAX)), None);
    }
}
