//! Masks names before a request leaves the machine and puts them back in its answer.
//!
//! Each name has a placeholder (`name_007`). Which names are private is the caller's business.

use std::collections::HashMap;

use crate::transport::{Chat, Reply};

/// Names and their placeholders.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mask {
    names: Vec<Name>,
    /// Names of a single word, by the word in lower case.
    words: HashMap<String, Vec<usize>>,
    /// All others, by their first character in lower case, longest first.
    phrases: HashMap<char, Vec<usize>>,
    by_placeholder: HashMap<String, usize>,
}

#[derive(Debug, Clone, PartialEq)]
struct Name {
    text: String,
    placeholder: String,
    /// Whether another spelling, as in `steps` for `Steps`, is an ordinary word.
    is_exact: bool,
}

impl Mask {
    /// Adds a name; its placeholder starts with `kind`. If it `is_exact`, only this spelling is
    /// masked, otherwise any case.
    pub fn add(&mut self, kind: &str, name: &str, is_exact: bool) {
        let name = name.trim().trim_start_matches('@');
        let Some(first) = name.chars().next() else {
            return;
        };
        let is_word = name.chars().all(is_word_part);
        let key = name.to_ascii_lowercase();
        let known = match is_word {
            true => self.words.get(&key),
            false => self.phrases.get(&first.to_ascii_lowercase()),
        };
        if known.is_some_and(|known| known.iter().any(|i| self.names[*i].text == name)) {
            return;
        }
        let index = self.names.len();
        let placeholder = format!("{kind}_{:03}", index + 1);
        self.by_placeholder.insert(placeholder.clone(), index);
        self.names.push(Name {
            text: name.to_owned(),
            placeholder,
            is_exact,
        });
        if is_word {
            self.words.entry(key).or_default().push(index);
        } else {
            let names = &self.names;
            let phrases = self.phrases.entry(first.to_ascii_lowercase());
            let phrases = phrases.or_default();
            let longer = |other: &usize| names[*other].text.len() >= name.len();
            phrases.insert(phrases.partition_point(longer), index);
        }
    }

    pub fn hide(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let before = out.chars().next_back();
            // Only within a word of this text; a placeholder before it is another word.
            let inside = is_word_part(first) && before.is_some_and(is_word_part);
            let (taken, hidden) = match self.phrase(rest, first).filter(|_| !inside) {
                Some(name) => (name.text.len(), name.placeholder.clone()),
                None if is_word_part(first) => {
                    let end = rest.find(|c| !is_word_part(c)).unwrap_or(rest.len());
                    (end, self.hide_word(&rest[..end]))
                }
                None => (first.len_utf8(), first.to_string()),
            };
            out.push_str(&hidden);
            rest = &rest[taken..];
        }
        out
    }

    /// The longest phrase at the start of a text.
    fn phrase(&self, rest: &str, first: char) -> Option<&Name> {
        let phrases = self.phrases.get(&first.to_ascii_lowercase())?;
        let mut phrases = phrases.iter().map(|index| &self.names[*index]);
        phrases.find(|name| {
            let (text, length) = (name.text.as_str(), name.text.len());
            let same = rest.get(..length).is_some_and(|start| match name.is_exact {
                true => start == text,
                false => start.eq_ignore_ascii_case(text),
            });
            let goes_on = || rest[length..].starts_with(is_word_part);
            same && !(text.ends_with(is_word_part) && goes_on())
        })
    }

    fn word(&self, word: &str) -> Option<&Name> {
        let known = self.words.get(&word.to_ascii_lowercase())?;
        let known = || known.iter().map(|index| &self.names[*index]);
        let same = known().find(|name| name.text == word);
        same.or_else(|| known().find(|name| !name.is_exact))
    }

    /// Hides a word, or the names that it is made of: `UserId_Salt`, `HotUserId`.
    fn hide_word(&self, word: &str) -> String {
        if let Some(name) = self.word(word) {
            return name.placeholder.clone();
        }
        let starts = humps(word);
        let mut out = String::new();
        let mut at = 0;
        while at + 1 < starts.len() {
            let ends = (at + 1..starts.len()).rev();
            let mut found = ends.filter_map(|end| {
                let part = word[starts[at]..starts[end]].trim_end_matches('_');
                Some((self.word(part)?, starts[at] + part.len(), end))
            });
            match found.next() {
                Some((name, end, next)) => {
                    out.push_str(&name.placeholder);
                    out.push_str(&word[end..starts[next]]);
                    at = next;
                }
                None => {
                    out.push_str(&word[starts[at]..starts[at + 1]]);
                    at += 1;
                }
            }
        }
        out
    }

    /// How many different placeholders a text contains.
    pub fn used_in(&self, text: &str) -> usize {
        let mut used: Vec<usize> = self.shown(text).map(|(_, _, index)| index).collect();
        used.sort_unstable();
        used.dedup();
        used.len()
    }

    pub fn show(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (start, end, index) in self.shown(text) {
            out.push_str(&text[done..start]);
            out.push_str(&self.names[index].text);
            done = end;
        }
        out.push_str(&text[done..]);
        out
    }

    /// The placeholders of a text: start, end, and which name.
    fn shown<'t>(
        &self,
        text: &'t str,
    ) -> impl Iterator<Item = (usize, usize, usize)> + use<'_, 't> {
        text.match_indices('_').filter_map(|(at, _)| {
            let digits = text[at + 1..].bytes().take_while(u8::is_ascii_digit);
            let end = at + 1 + digits.count();
            let kind = text[..at].bytes().rev();
            let start = at - kind.take_while(u8::is_ascii_lowercase).count();
            // In `Hotname_007` only the end of the letters is the kind.
            let mut starts = (start..at).filter(|start| end > at + 1 && *start < at);
            starts.find_map(|start| {
                let index = self.by_placeholder.get(&text[start..end])?;
                Some((start, end, *index))
            })
        })
    }

    pub fn hide_chat(&self, chat: &mut Chat) {
        chat.change_texts(&|text| self.hide(text));
    }

    pub fn show_reply(&self, reply: &mut Reply) {
        reply.change_texts(&|text| self.show(text));
    }
}

/// Whether a word, as it is masked, may contain a character.
pub fn is_word_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Starts of the parts of a word, and its end: at capitals after small letters, and after
/// underscores.
fn humps(word: &str) -> Vec<usize> {
    let bytes = word.as_bytes();
    let begins = |at: &usize| {
        *at == 0
            || bytes[at - 1] == b'_'
            || bytes[*at].is_ascii_uppercase() && !bytes[at - 1].is_ascii_uppercase()
    };
    let mut starts: Vec<usize> = (0..bytes.len()).filter(begins).collect();
    starts.push(bytes.len());
    starts
}

#[cfg(test)]
mod security {
    use super::*;

    fn mask(names: &[&str]) -> Mask {
        let mut mask = Mask::default();
        names.iter().for_each(|name| mask.add("name", name, false));
        mask
    }

    #[test]
    fn what_is_hidden_comes_back() {
        let mask = mask(&[
            "ClickLog",
            "/shares/team/ClickLog.ss",
            "UserId",
            "q",
            "订单",
        ]);
        for (text, hidden) in [
            (
                "JOIN ClickLog ON q.UserId, \"/shares/team/ClickLog.ss\" and ClickLogs",
                "JOIN name_001 ON name_004.name_003, \"name_002\" and ClickLogs",
            ),
            (
                "UserId_Salt, HotUserId2x and HotUserId of 订单表",
                "name_003_Salt, HotUserId2x and Hotname_003 of name_005表",
            ),
            ("a_b __ _7 name_", "a_b __ _7 name_"),
        ] {
            assert_eq!(mask.hide(text), hidden);
            assert_eq!(mask.show(hidden), text);
        }
        assert_eq!(mask.used_in("name_001, name_001, name_999, Hotname_003"), 2);
    }

    #[test]
    fn another_case_is_hidden_unless_it_is_an_ordinary_word() {
        let mut mask = mask(&["UserId"]);
        mask.add("name", "Steps", true);
        assert_eq!(
            mask.hide("USERID Steps steps userid"),
            "name_001 name_002 steps name_001"
        );
    }
}
