//! Masks secrets in what is displayed or saved.

/// Hides keys in texts that are displayed or saved: bearer tokens, `sk-…`, `key=…`.
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
    let mut out = text.to_owned();
    for mark in MARKS {
        let mut from = 0;
        while let Some(at) = out[from..].find(mark).map(|at| from + at) {
            let start = at + mark.len();
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            let length = out[start..]
                .find(|c| !is_part(c))
                .unwrap_or(out.len() - start);
            // Short runs are words, not keys.
            if length >= 12 {
                out.replace_range(start..start + length, "[hidden]");
            }
            from = start;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_hidden_and_words_are_not() {
        let shown = secrets(
            "Authorization: Bearer abcdef0123456789 and sk-proj-0123456789abcdef, sk-learn",
        );
        assert!(!shown.contains("0123456789"), "{shown}");
        assert!(shown.contains("sk-learn"), "{shown}");
    }
}
