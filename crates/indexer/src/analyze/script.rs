//! Which script a character belongs to.

use report::Language;

/// Whether `c` is written without spaces between words: Han, kana, Hangul.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}'      // iteration mark, 〇
        | '\u{3040}'..='\u{30ff}'    // kana
        | '\u{3400}'..='\u{4dbf}'    // Han extension A
        | '\u{4e00}'..='\u{9fff}'    // Han
        | '\u{ac00}'..='\u{d7af}'    // Hangul syllables
        | '\u{f900}'..='\u{faff}'    // compatibility Han
        | '\u{20000}'..='\u{3134f}') // Han extensions B to G
}

/// Share of CJK characters among the letters of `text`, 0 to 1. A Latin word counts as two characters, about the length
/// of its translation, so `怎么处理 data skew` is 0.5.
pub(crate) fn cjk_share(text: &str) -> f32 {
    let mut cjk = 0_usize;
    let mut words = 0_usize;
    let mut in_word = false;
    for c in text.chars() {
        let letter = c.is_alphanumeric();
        if letter && is_cjk(c) {
            cjk += 1;
            in_word = false;
        } else {
            words += usize::from(letter && !in_word);
            in_word = letter;
        }
    }
    let total = cjk + 2 * words;
    if total == 0 {
        return 0.0;
    }
    cjk as f32 / total as f32
}

/// The language of a text. Chinese technical prose is full of English names, so a third of it is enough.
pub(crate) fn detect_language(text: &str) -> Language {
    if cjk_share(text) > 0.33 {
        Language::Zh
    } else {
        Language::En
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_follows_the_script() {
        assert_eq!(cjk_share(""), 0.0);
        assert_eq!(cjk_share("data skew"), 0.0);
        assert_eq!(cjk_share("数据倾斜"), 1.0);
        assert!((cjk_share("怎么处理 data skew") - 0.5).abs() < 1e-6);
    }
}
