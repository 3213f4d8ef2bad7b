//! JSON that may be cut off or malformed: what comes before the fault is kept.

use serde_json::Value;

use crate::problem::Problem;
use crate::text::head;
use crate::xml::Fault;

/// Parses JSON. With a fault, the value is what could be read before it, if anything.
pub(crate) fn parse(text: &str) -> (Option<Value>, Option<Fault>) {
    let error = match serde_json::from_str(text) {
        Ok(value) => return (Some(value), None),
        Err(error) => error,
    };
    let fault = Fault {
        line: error.line().max(1),
        problem: Problem::Malformed("JSON", error.to_string()),
    };
    let end = offset_of(text, error.line(), error.column());
    let value = close(&text[..end]).and_then(|closed| serde_json::from_str(&closed).ok());
    (value, Some(fault))
}

/// Byte offset of a 1-based line and column (in bytes), at a character boundary.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    let before = line.checked_sub(2).and_then(|line| ends.nth(line));
    let start = before.map_or(0, |at| at + 1);
    head(text, start.saturating_add(column)).len()
}

/// Cuts a piece of JSON after its last complete value and closes what is open.
fn close(text: &str) -> Option<String> {
    let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
    // the last comma outside strings ends a complete value
    let mut cut: Option<(usize, Vec<u8>)> = None;
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
                    cut = Some((at + 1, open.clone()));
                }
            }
            (false, b',') if open.len() < 128 => cut = Some((at, open.clone())),
            _ => {}
        }
    }
    let (at, open) = cut?;
    let closers = open.iter().rev().map(|b| char::from(*b));
    Some(text[..at].chars().chain(closers).collect())
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

/// A number of any JSON form: `12`, `"12"`.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(s) => s.trim().parse().ok(),
        _ => None,
    }
    .filter(|n: &f64| n.is_finite())
}

/// A count of any JSON form, if it is not negative.
pub(crate) fn count(value: &Value) -> Option<u64> {
    // up to 2^53 a float holds a whole number exactly
    let exact = |n: &f64| (0.0..=9_007_199_254_740_992.0).contains(n);
    let float = || number(value).filter(exact).map(|n| n as u64);
    value.as_u64().or_else(float)
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
    fn keys_skip_strings() {
        let found = keys("{\"a\": \"\\\"b\\\": 1\", \"c\": [{\"d\": 1}], \"e");
        assert_eq!(found, vec![(1, "a"), (1, "c"), (3, "d")]);
    }

    #[test]
    fn counts_are_not_negative() {
        assert_eq!(count(&serde_json::json!(-1)), None);
        assert_eq!(count(&serde_json::json!("12")), Some(12));
        assert_eq!(count(&serde_json::json!(1e300)), None);
    }
}
