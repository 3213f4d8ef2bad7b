//! Masks what must not leave the machine: given names and string literals.
//!
//! Each name gets a stable placeholder, so that answers can be unmasked.

use crate::transport::{Chat, Reply};

/// Shorter names occur in ordinary words.
const SHORTEST_NAME: usize = 4;

/// Originals and placeholders, longest original first.
#[derive(Debug, Clone, Default)]
pub struct Mask {
    pairs: Vec<(String, String)>,
}

impl Mask {
    /// Masks names, each with the prefix of its placeholder.
    pub fn of_names<'a>(names: impl Iterator<Item = (&'a str, &'static str)>) -> Mask {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (name, kind) in names {
            let name = name.trim().trim_start_matches('@');
            if name.len() >= SHORTEST_NAME && pairs.iter().all(|(known, _)| known != name) {
                let placeholder = format!("{kind}_{:03}", pairs.len() + 1);
                pairs.push((name.to_owned(), placeholder));
            }
        }
        // Longest first, so that a name within a path does not break the path.
        pairs.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        Mask { pairs }
    }

    pub fn hide(&self, text: &str) -> String {
        replace(text, &self.pairs, |(name, placeholder)| (name, placeholder))
    }

    /// How many different placeholders a text contains.
    pub fn used_in(&self, text: &str) -> usize {
        self.pairs
            .iter()
            .filter(|(_, placeholder)| text.contains(placeholder))
            .count()
    }

    pub fn show(&self, text: &str) -> String {
        replace(text, &self.pairs, |(name, placeholder)| (placeholder, name))
    }

    /// The system text names nothing of a job.
    pub fn hide_chat(&self, chat: &mut Chat) {
        chat.change_texts(&|text| self.hide(text));
    }

    pub fn show_reply(&self, reply: &mut Reply) {
        reply.change_texts(&|text| self.show(text));
    }
}

/// Replaces whole names in one pass; the first matching pair wins.
fn replace(
    text: &str,
    pairs: &[(String, String)],
    direction: fn(&(String, String)) -> (&String, &String),
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(first) = rest.chars().next() {
        let fits = |from: &str| {
            let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
            let starts_word = from.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let ends_word = from.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            rest.starts_with(from)
                && !(starts_word && inside(before))
                && !(ends_word && inside(rest[from.len()..].chars().next()))
        };
        match pairs.iter().map(direction).find(|(from, _)| fits(from)) {
            Some((from, to)) => {
                out.push_str(to);
                before = from.chars().last();
                rest = &rest[from.len()..];
            }
            None => {
                out.push(first);
                before = Some(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

/// String literals of a script, without their quotes.
pub fn literals(script: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in script.lines() {
        let mut pieces = line.split('"');
        while let (Some(_), Some(literal)) = (pieces.next(), pieces.next()) {
            if literal.len() >= SHORTEST_NAME {
                found.push(literal.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(names: &[&str]) -> Mask {
        Mask::of_names(names.iter().map(|name| (*name, "name")))
    }

    #[test]
    fn what_is_hidden_comes_back() {
        let mask = mask(&["ClickLog", "/shares/team/ClickLog.ss", "UserId"]);
        let text = "JOIN ClickLog ON UserId, from \"/shares/team/ClickLog.ss\" and ClickLogs";
        let hidden = mask.hide(text);
        assert!(
            !hidden.contains("team") && !hidden.contains("UserId"),
            "{hidden}"
        );
        assert!(
            hidden.contains("ClickLogs"),
            "a longer word is another name: {hidden}"
        );
        assert_eq!(mask.show(&hidden), text);
    }

    #[test]
    fn literals_are_found_per_line() {
        assert_eq!(
            literals("x = \"abcd\" + \"ef\";\ny = \"/p/q.ss\";"),
            ["abcd", "/p/q.ss"]
        );
    }
}
