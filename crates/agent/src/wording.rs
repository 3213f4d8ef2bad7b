//! Small pieces of wording that both languages and all steps share: sentences, citations, shortened texts.

use report::Language;
use report::format::cut;

/// A fragment as a sentence: a capital at its beginning (unless it begins with a name) and a stop
/// at its end.
pub(crate) fn sentence(text: &str, language: Language) -> String {
    let text = text.trim();
    let first_word = text.split_whitespace().next().unwrap_or_default();
    let is_plain = first_word
        .chars()
        .all(|c| c.is_ascii_lowercase() || c == ',');
    let mut out = match (is_plain, text.chars().next()) {
        (true, Some(first)) => format!(
            "{}{}",
            first.to_ascii_uppercase(),
            &text[first.len_utf8()..]
        ),
        _ => text.to_owned(),
    };
    if !out.is_empty() && !out.ends_with(['.', '。', '!', '?', '！', '？', ':', '：']) {
        out.push(match language {
            Language::Zh => '。',
            Language::En => '.',
        });
    }
    out
}

/// The sentence that names the experience behind a text; empty without any.
pub(crate) fn citing(chunks: &[String], language: Language) -> String {
    match language {
        _ if chunks.is_empty() => String::new(),
        Language::Zh => format!("相关经验：{}。", chunks.join(", ")),
        Language::En => format!(" Experience: {}.", chunks.join(", ")),
    }
}

/// Cuts a text to `most` bytes and marks the cut with `…`; returns whether there was one.
pub(crate) fn shorten(text: &mut String, most: usize) -> bool {
    let kept = cut(text, most).len();
    let is_longer = kept < text.len();
    if is_longer {
        text.truncate(kept);
        text.push('…');
    }
    is_longer
}

pub(crate) fn joined(sentences: &[String], language: Language) -> String {
    sentences.join(language.select("", " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_become_sentences() {
        let en = |text| sentence(text, Language::En);
        assert_eq!(en("the stage is slow"), "The stage is slow.");
        assert_eq!(en("SV3_Combine is slow."), "SV3_Combine is slow.");
        assert_eq!(en("tables.json holds it"), "tables.json holds it.");
        assert_eq!(sentence("倾斜", Language::Zh), "倾斜。");
    }
}
