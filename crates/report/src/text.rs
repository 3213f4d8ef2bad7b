//! A sentence in both languages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Language;

/// A sentence in both languages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Text<S = String> {
    pub zh: S,
    pub en: S,
}

/// A sentence that is known at compile time.
pub type StaticText = Text<&'static str>;

impl<S: AsRef<str>> Text<S> {
    pub fn pick(&self, language: Language) -> &str {
        language.select(&self.zh, &self.en).as_ref()
    }
}

impl Text {
    /// Moves the sentence of one language out.
    pub fn into(self, language: Language) -> String {
        language.select(self.zh, self.en)
    }
}

impl From<StaticText> for Text {
    fn from(text: StaticText) -> Text {
        Text {
            zh: text.zh.to_owned(),
            en: text.en.to_owned(),
        }
    }
}

/// A value that reads differently in each language: a duration, a count with its noun, a sentence.
pub trait Localize {
    fn localize(&self, language: Language) -> String;
}

impl<S: AsRef<str>> Localize for Text<S> {
    fn localize(&self, language: Language) -> String {
        self.pick(language).to_owned()
    }
}

impl Localize for str {
    fn localize(&self, _: Language) -> String {
        self.to_owned()
    }
}

impl Localize for String {
    fn localize(&self, _: Language) -> String {
        self.clone()
    }
}

impl<T: Localize + ?Sized> Localize for &T {
    fn localize(&self, language: Language) -> String {
        (**self).localize(language)
    }
}

/// Formats a sentence in both languages, Chinese first.
///
/// Names in braces are either variables in scope that read alike in both languages, or one of the
/// `name = value` arguments, whose values are [localized](Localize) into each language. The
/// compiler checks both sentences like `format!`.
///
/// ```
/// use report::format::{ROW, Seconds};
/// let stage = "SV3_Combine";
/// let text = report::text!(
///     "{stage} 用时 {time}，处理 {rows}",
///     "{stage} took {time} for {rows}",
///     time = Seconds(778.0),
///     rows = ROW.count(63_000_000.0),
/// );
/// assert_eq!(text.zh, "SV3_Combine 用时 12 分 58 秒，处理 6300 万行");
/// assert_eq!(text.en, "SV3_Combine took 12 min 58 s for 63.0 M rows");
/// ```
#[macro_export]
macro_rules! text {
    ($zh:literal, $en:literal $(, $name:ident = $value:expr)* $(,)?) => {
        match ($(&$value,)*) {
            ($($name,)*) => $crate::Text {
                zh: {
                    $(let $name = $crate::Localize::localize($name, $crate::Language::Zh);)*
                    ::std::format!($zh)
                },
                en: {
                    $(let $name = $crate::Localize::localize($name, $crate::Language::En);)*
                    ::std::format!($en)
                },
            },
        }
    };
}
