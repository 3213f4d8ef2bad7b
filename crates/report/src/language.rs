//! The two languages of the product.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Language of a report, a prompt or a document.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Zh,
    En,
}

impl Language {
    /// Code in reports and folder names.
    pub fn code(self) -> &'static str {
        match self {
            Language::Zh => "zh",
            Language::En => "en",
        }
    }

    pub fn parse(code: &str) -> Option<Language> {
        [Language::Zh, Language::En]
            .into_iter()
            .find(|language| language.code() == code)
    }

    /// Guesses the language of a text: Chinese if it holds a Han character.
    pub fn of(text: &str) -> Language {
        if text.chars().any(is_han) {
            Language::Zh
        } else {
            Language::En
        }
    }

    /// Chooses between two values.
    pub fn select<T>(self, zh: T, en: T) -> T {
        match self {
            Language::Zh => zh,
            Language::En => en,
        }
    }
}

/// Whether a character is a Han character.
pub(crate) fn is_han(c: char) -> bool {
    matches!(u32::from(c), 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}
