//! Schemas (`name:type?, …`) and operator arguments (`-key A|B -count 3`).

use super::parts;
use crate::bounds::COLUMNS_PER_ROWSET;
use crate::model::Column;

/// Splits at commas that are outside `<>`, `()` and `[]`: `M:SQL.MAP<string, int>,N:int`.
fn split_top_level(text: &str) -> Vec<&str> {
    let (mut out, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                out.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(text[start..].trim());
    out.retain(|piece| !piece.is_empty());
    out
}

pub(super) fn columns(text: &str) -> Vec<Column> {
    let column = |piece: &str| {
        let (name, type_name) = piece.split_once(':').unwrap_or((piece, ""));
        let type_name = type_name.trim();
        let plain = type_name.strip_suffix('?');
        Column {
            name: name.trim().to_owned(),
            type_name: plain.unwrap_or(type_name).to_owned(),
            nullable: plain.is_some(),
        }
    };
    let pieces = split_top_level(text).into_iter();
    pieces.take(COLUMNS_PER_ROWSET).map(column).collect()
}

/// Keys and counts in the arguments of an operator.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Arguments {
    pub(super) flags: Vec<(String, String)>,
    pub(super) keys: Vec<String>,
    pub(super) right_keys: Vec<String>,
    pub(super) count: Option<u32>,
}

impl Arguments {
    /// Whether a flag is there: `-hash`.
    pub(super) fn has(&self, flag: &str) -> bool {
        let mut flags = self.flags.iter();
        flags.any(|(name, _)| name.eq_ignore_ascii_case(flag))
    }
}

/// Reads `-flag value -flag value …`. `-key`, `-keys`, `-hash` and `-range` take keys; a `|`
/// separates the keys of the left input from the keys of the right one.
pub(super) fn arguments(text: &str) -> Arguments {
    let mut out = Arguments::default();
    for word in text.split_whitespace() {
        let flag = word.strip_prefix('-');
        let flag = flag.filter(|f| f.starts_with(char::is_alphabetic));
        match (flag, out.flags.last_mut()) {
            (Some(flag), _) => out.flags.push((flag.to_ascii_lowercase(), String::new())),
            (None, Some((_, value))) => {
                if !value.is_empty() {
                    value.push(' ');
                }
                value.push_str(word);
            }
            (None, None) => {}
        }
    }
    for (flag, value) in &out.flags {
        match flag.as_str() {
            "key" | "keys" | "hash" | "range" => {
                let (left, right) = value.split_once('|').unwrap_or((value, ""));
                out.keys = keys(left);
                out.right_keys = keys(right);
            }
            "count" => out.count = parts(value),
            _ => {}
        }
    }
    out
}

/// Names of keys, without their sort order.
fn keys(text: &str) -> Vec<String> {
    let keys = split_top_level(text).into_iter();
    let names = keys.filter_map(|key| key.split_whitespace().next());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_may_hold_commas() {
        let got = columns("M:SQL.MAP<string, int>?, partialagg0__:long?,x:byte[]");
        let name = |c: &Column| format!("{}:{} {}", c.name, c.type_name, c.nullable);
        let names: Vec<_> = got.iter().map(name).collect();
        let expected = [
            "M:SQL.MAP<string, int> true",
            "partialagg0__:long true",
            "x:byte[] false",
        ];
        assert_eq!(names, expected);
        assert!(columns(" , ").is_empty());
    }

    #[test]
    fn keys_of_both_sides() {
        let got = arguments("-key Postcode,B ASC|Postcode1,C DESC -count 12");
        assert_eq!(got.keys, ["Postcode", "B"]);
        assert_eq!(got.right_keys, ["Postcode1", "C"]);
        assert_eq!(got.count, Some(12));
        assert!(arguments("-merge").has("merge"));
        assert_eq!(arguments("30 -x").flags, [("x".to_owned(), String::new())]);
    }
}
