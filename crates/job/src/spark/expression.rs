//! Keys and partitionings in the text of plan nodes.

use crate::model::ExchangeKind;

/// Partitioning of an exchange.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Partitioning {
    pub(super) kind: ExchangeKind,
    pub(super) keys: Vec<String>,
    pub(super) partitions: Option<u32>,
}

/// The partitioning in the text of an exchange.
pub(super) fn partitioning(text: &str) -> Partitioning {
    let one = |kind| Partitioning {
        kind,
        keys: Vec::new(),
        partitions: None,
    };
    let by = |name: &str, kind| {
        let arguments = inside(&text[text.find(name)? + name.len()..], '(')?;
        let mut keys = listed(arguments);
        let partitions = keys.last().and_then(|n| n.parse().ok());
        if partitions.is_some() {
            keys.pop();
        }
        Some(Partitioning {
            kind,
            keys: keys.iter().map(|k| sort_key(k)).collect(),
            partitions,
        })
    };
    let hash = by("hashpartitioning", ExchangeKind::Hash);
    let hash = hash.or_else(|| by("clusteredpartitioning", ExchangeKind::Hash));
    if let Some(found) = hash.or_else(|| by("rangepartitioning", ExchangeKind::Range)) {
        // rows with the same constant as their key, as for a window over PARTITION BY 1, go to one partition
        return match !found.keys.is_empty() && found.keys.iter().all(|key| is_constant(key, text)) {
            true => Partitioning {
                partitions: Some(1),
                ..one(ExchangeKind::Gather)
            },
            false => found,
        };
    }
    match () {
        () if text.contains("SinglePartition") => Partitioning {
            partitions: Some(1),
            ..one(ExchangeKind::Gather)
        },
        () if text.contains("BroadcastExchange") => one(ExchangeKind::Broadcast),
        () => match text.find("RoundRobinPartitioning") {
            Some(at) => Partitioning {
                partitions: inside(&text[at..], '(').and_then(|n| n.trim().parse().ok()),
                ..one(ExchangeKind::RoundRobin)
            },
            None => one(ExchangeKind::Unknown),
        },
    }
}

/// Whether a key in the text of a node is neither a column nor a call.
fn is_constant(key: &str, text: &str) -> bool {
    !key.contains('(') && !text.contains(&format!("{key}#"))
}

/// Origin of an exchange: `ENSURE_REQUIREMENTS`.
pub(super) fn origin(text: &str) -> Option<String> {
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
    let mut long = words.filter(|w| w.contains('_') && w.len() > 8);
    long.next().map(str::to_owned)
}

/// Keys of an operator, and the right input's for a join.
pub(super) fn keys(name: &str, text: &str) -> (Vec<String>, Vec<String>) {
    let after = |mark: &str| text.find(mark).map(|at| &text[at + mark.len() - 1..]);
    let list = |text: Option<&str>| -> Vec<String> {
        let inner = text.and_then(|t| inside(t, '['));
        inner.map_or_else(Vec::new, |inner| {
            listed(inner).iter().map(|k| sort_key(k)).collect()
        })
    };
    match () {
        () if name.contains("Join") => (list(Some(text)), list(second_list(text))),
        () if name.contains("Aggregate") => (list(after("keys=[")), Vec::new()),
        () if name.starts_with("Window") => (list(second_list(text)), Vec::new()),
        () if name.contains("Sort") || name.contains("Group") => (list(Some(text)), Vec::new()),
        () => (Vec::new(), Vec::new()),
    }
}

/// The text after the first list in brackets.
fn second_list(text: &str) -> Option<&str> {
    let open = text.find('[')?;
    let first = inside(text, '[')?;
    text.get(open + first.len() + 2..)
}

/// The text between the first `open` bracket and its closing bracket.
fn inside(text: &str, open: char) -> Option<&str> {
    let from = text.find(open)? + 1;
    let mut depth = 1;
    for (at, c) in text[from..].char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[from..from + at]);
        }
    }
    None
}

/// The parts between top-level commas.
pub fn listed(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[from..].trim());
    parts.retain(|p| !p.is_empty());
    parts
}

/// A key without column numbers and sort direction: `user_id#1L ASC NULLS FIRST`.
fn sort_key(key: &str) -> String {
    let end = key
        .find(" ASC")
        .or_else(|| key.find(" DESC"))
        .unwrap_or(key.len());
    bare(&key[..end])
}

/// An expression without column numbers.
pub(super) fn bare(expression: &str) -> String {
    let mut text = String::with_capacity(expression.len());
    let mut rest = expression;
    while let Some(at) = rest.find('#') {
        text.push_str(&rest[..at]);
        let number = rest[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
        if number.len() == rest.len() - at - 1 {
            // not a number of a column
            text.push('#');
        }
        rest = number
            .strip_prefix('L')
            .filter(|_| number.len() < rest.len() - at - 1)
            .unwrap_or(number);
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_from_the_text() {
        let is = |text: &str, kind, keys: &[&str], partitions| {
            let found = partitioning(text);
            assert_eq!((found.kind, found.partitions), (kind, partitions), "{text}");
            assert_eq!(found.keys, keys, "{text}");
        };
        use ExchangeKind as X;
        let hash = "Exchange hashpartitioning(user_id#1L, coalesce(b#2, 0), 16), ENSURE_REQUIREMENTS, [plan_id=96]";
        is(hash, X::Hash, &["user_id", "coalesce(b, 0)"], Some(16));
        assert_eq!(origin(hash).as_deref(), Some("ENSURE_REQUIREMENTS"));
        is(
            "Exchange rangepartitioning(a#1 DESC NULLS LAST, 200)",
            X::Range,
            &["a"],
            Some(200),
        );
        is(
            "Exchange SinglePartition, ENSURE_REQUIREMENTS",
            X::Gather,
            &[],
            Some(1),
        );
        is(
            "BroadcastExchange HashedRelationBroadcastMode(List(input[0, bigint, false]),false)",
            X::Broadcast,
            &[],
            None,
        );
        is(
            "Exchange RoundRobinPartitioning(24), REPARTITION_BY_NUM",
            X::RoundRobin,
            &[],
            Some(24),
        );
        is("Exchange hashpartitioning(1, 200)", X::Gather, &[], Some(1));
        is("Exchange hashpartitioning(cut", X::Unknown, &[], None);
    }

    #[test]
    fn keys_of_operators() {
        for (name, text, left, right) in [
            (
                "SortMergeJoin",
                "SortMergeJoin(skew=true) [a#1, b#2L], [c#3, d#4], Inner",
                "a|b",
                "c|d",
            ),
            (
                "HashAggregate",
                "HashAggregate(keys=[cast(a#1 as date)#9], functions=[count(1)])",
                "cast(a as date)",
                "",
            ),
            (
                "Window",
                "Window [rank() AS r#5], [a#1], [b#2 ASC NULLS FIRST]",
                "a",
                "",
            ),
            ("Sort", "Sort [a#1 ASC NULLS FIRST], false, 0", "a", ""),
            ("Filter", "Filter isnotnull(a#1)", "", ""),
        ] {
            let (l, r) = keys(name, text);
            assert_eq!(
                (l.join("|").as_str(), r.join("|").as_str()),
                (left, right),
                "{text}"
            );
        }
    }
}
