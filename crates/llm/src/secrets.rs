//! The secrets that the program uses, masked exactly wherever text leaves it.
//!
//! A secret is known from the moment it is read from the configuration, the environment or a command. In transcripts and
//! messages of servers, patterns hide unknown keys as well.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use serde_json::Value;

/// Replaces a secret.
const HIDDEN: &str = "[hidden]";

/// Anything shorter is not worth protecting, and occurs in ordinary text.
const SHORTEST: usize = 4;
/// From this length on, a secret is masked within a longer word too, with any characters.
const LONG: usize = 8;
/// Shorter secrets of letters only are placeholders (`none`, `EMPTY`).
const SHORTEST_WORD: usize = 6;

/// One list for the whole process: logs and outputs share no other state.
static KNOWN: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Masks this secret from now on: as it is, as HTML and URLs write it, and quoted any number of times. Local servers take any key, so keys that are
/// ordinary words aren't secrets.
pub fn remember(secret: &str) {
    let secret = secret.trim();
    let is_word = secret.chars().all(char::is_alphabetic);
    let shortest = if is_word { SHORTEST_WORD } else { SHORTEST };
    if secret.chars().count() < shortest || secret.eq_ignore_ascii_case("ollama") {
        return;
    }
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    for form in [secret.to_owned(), in_html(secret), in_url(secret)] {
        if !known.contains(&form) {
            known.push(form);
        }
    }
    // Longest first: a secret inside another must not keep the longer one from being masked.
    known.sort_by_key(|form| std::cmp::Reverse(form.len()));
}

/// Whether there is anything to mask.
pub fn has_secrets() -> bool {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    !known.is_empty()
}

/// The text without the secrets that the program uses.
pub fn hide(text: &str) -> Cow<'_, str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let mut shown = Cow::Borrowed(text);
    for secret in known.iter() {
        if let Some(hidden) = without(&shown, secret) {
            shown = Cow::Owned(hidden);
        }
    }
    shown
}

/// The same for every text in a value; returns whether there was a secret.
pub fn hide_in(value: &mut Value) -> bool {
    let any = |values: &mut dyn Iterator<Item = &mut Value>| {
        values.fold(false, |found, value| hide_in(value) | found)
    };
    match value {
        Value::String(text) => match hide(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(hidden) => {
                *text = hidden;
                true
            }
        },
        Value::Array(items) => any(&mut items.iter_mut()),
        Value::Object(fields) => any(&mut fields.values_mut()),
        _ => false,
    }
}

/// `None` if the secret is not in the text.
fn without(text: &str, secret: &str) -> Option<String> {
    let first = secret.chars().next()?;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut copied = 0;
    for (at, _) in text.match_indices(first) {
        let Some(end) = end_of(secret, text, at).filter(|_| at >= copied) else {
            continue;
        };
        let inside = text[..at].ends_with(is_part) || text[end..].starts_with(is_part);
        if secret.len() >= LONG || !inside {
            out.push_str(&text[copied..at]);
            out.push_str(HIDDEN);
            copied = end;
        }
    }
    out.push_str(&text[copied..]);
    (copied > 0).then_some(out)
}

/// End of the secret that starts at `at`. JSON in JSON quotes a quote by any number of backslashes.
fn end_of(secret: &str, text: &str, at: usize) -> Option<usize> {
    let mut rest = text.get(at..)?;
    for c in secret.chars() {
        let unquoted = rest.trim_start_matches('\\');
        rest = match c {
            '\\' => Some(unquoted).filter(|left| left.len() < rest.len()),
            c => unquoted.strip_prefix(c),
        }?;
    }
    Some(text.len() - rest.len())
}

fn in_html(secret: &str) -> String {
    let escape = |c| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        c => String::from(c),
    };
    secret.chars().map(escape).collect()
}

fn in_url(secret: &str) -> String {
    let escape = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    secret.bytes().map(escape).collect()
}

/// Hides the known secrets, and text that looks like one: bearer tokens, `sk-…`, `key=…`.
pub fn secrets(text: &str) -> String {
    const MARKS: &[&str] = &[
        "Bearer ",
        "sk-",
        "AIza",
        "api-key: ",
        "api_key=",
        "api_key\":\"",
        "key=",
    ];
    let mut out = hide(text).into_owned();
    for mark in MARKS {
        let mut from = 0;
        while let Some(at) = out[from..].find(mark).map(|at| from + at) {
            let start = at + mark.len();
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            // `fix/ask-the-optimizer` is no key that begins with `sk-`.
            let is_inside = out[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
            if is_inside && !mark.ends_with([' ', '=', '"']) {
                from = start;
                continue;
            }
            let length = out[start..]
                .find(|c| !is_part(c))
                .unwrap_or(out.len() - start);
            // Short runs are words, not keys.
            if length >= 12 {
                out.replace_range(start..start + length, HIDDEN);
            }
            from = start;
        }
    }
    out
}

#[cfg(test)]
mod security {
    use super::*;

    #[test]
    fn a_known_secret_is_hidden_in_every_form_and_ordinary_words_are_not() {
        for secret in [
            "p\"4&ss w/rd",
            "hunter2",
            "ollama",
            "none",
            "Zx9-abcdefgh",
            r"a\bc-01234",
        ] {
            remember(secret);
        }
        for (text, expected) in [
            ("p\"4&ss w/rd", "[hidden]"),
            (r#"{"k":"p\"4&ss w/rd"}"#, r#"{"k":"[hidden]"}"#),
            (
                r#""{\"k\":\"p\\\"4&ss w/rd\"}""#,
                r#""{\"k\":\"[hidden]\"}""#,
            ),
            (r"a\bc-01234 a\\bc-01234", "[hidden] [hidden]"),
            ("p&quot;4&amp;ss w/rd", "[hidden]"),
            ("http://u:p%224%26ss%20w%2Frd@h", "http://u:[hidden]@h"),
            ("hunter2, hunter22", "[hidden], hunter22"),
            ("yZx9-abcdefghy", "y[hidden]y"),
            ("ollama, none", "ollama, none"),
        ] {
            assert_eq!(hide(text), expected);
        }
        let mut value = serde_json::json!([{ "a": ["is hunter2"] }, 7]);
        assert!(hide_in(&mut value));
        assert_eq!(value, serde_json::json!([{ "a": ["is [hidden]"] }, 7]));
    }

    #[test]
    fn keys_are_hidden_and_words_are_not() {
        let shown = secrets(
            "Authorization: Bearer abcdef0123456789 and sk-proj-0123456789abcdef, sk-learn",
        );
        assert!(!shown.contains("0123456789"), "{shown}");
        assert!(shown.contains("sk-learn"), "{shown}");
        let passage = "[experience/skew-join-hot-key.md#fix/ask-the-optimizer-for-a-skew-join]";
        assert_eq!(secrets(passage), passage);
    }
}
