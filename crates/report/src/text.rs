//! A sentence in both languages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Language;
use crate::language::is_han;

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

    /// The sentences in a row, with a separator in each language, Chinese first.
    pub fn joined(texts: &[Text], [zh, en]: [&str; 2]) -> Text {
        let join = |language, between| {
            let texts: Vec<&str> = texts.iter().map(|text| text.pick(language)).collect();
            texts.join(between)
        };
        Text {
            zh: join(Language::Zh, zh),
            en: join(Language::En, en),
        }
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

/// A value with a different text in each language: a duration, a count with its noun, a sentence.
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

/// A part of a sentence that may be absent.
impl<T: Localize> Localize for Option<T> {
    fn localize(&self, language: Language) -> String {
        let text = self.as_ref().map(|text| text.localize(language));
        text.unwrap_or_default()
    }
}

impl<T: Localize + ?Sized> Localize for &T {
    fn localize(&self, language: Language) -> String {
        (**self).localize(language)
    }
}

/// Marks both ends of a value in a Chinese sentence until [`unmarked`] removes the marks. Unicode reserves the character
/// for such internal use, so no text contains it.
const END: char = '\u{FDD0}';

#[doc(hidden)]
pub fn marked(value: String) -> String {
    format!("{END}{value}{END}")
}

/// A Chinese sentence without the marks around its values. A space next to a value stays if the value begins or
/// ends there in a digit or a letter: `{size} 的` becomes `1.2 GiB 的`, but `{time} 的` `9 秒的`.
#[doc(hidden)]
pub fn unmarked(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    for mut piece in sentence.split(END).filter(|piece| !piece.is_empty()) {
        let spaced = |text: &str| {
            text.strip_suffix(' ')
                .is_some_and(|text| text.ends_with(is_wide))
        };
        if spaced(&out) && piece.starts_with(is_wide) {
            out.pop();
        }
        if let Some(rest) = piece.strip_prefix(' ')
            && out.ends_with(is_wide)
            && rest.starts_with(is_wide)
        {
            piece = rest;
        }
        out.push_str(piece);
    }
    out
}

/// Whether a character takes no space next to another one like it: Chinese, with its punctuation.
fn is_wide(c: char) -> bool {
    is_han(c) || matches!(c, '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FFEF}')
}

/// Formats a sentence in both languages, Chinese first.
///
/// Names in braces are variables in scope with the same text in both languages, or
/// `name = value` arguments with values that are [localized](Localize) into each language. The
/// compiler checks both sentences like `format!`. In Chinese a space next to such a value is dropped
/// where it would be between two Chinese characters.
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
                    $(let $name = $crate::marked($crate::Localize::localize($name, $crate::Language::Zh));)*
                    $crate::unmarked(&::std::format!($zh))
                },
                en: {
                    $(let $name = $crate::Localize::localize($name, $crate::Language::En);)*
                    ::std::format!($en)
                },
            },
        }
    };
}

/// Phrases of a page by name.
#[derive(Debug, Clone, Copy)]
pub struct Phrases(#[doc(hidden)] pub &'static [(&'static str, StaticText)]);

impl Phrases {
    pub fn get(self, name: &str, language: Language) -> Option<&'static str> {
        self.all(language)
            .find(|(known, _)| *known == name)
            .map(|(_, phrase)| phrase)
    }

    pub fn all(self, language: Language) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = self.0.iter();
        all.map(move |(name, text)| (*name, language.select(text.zh, text.en)))
    }
}

/// Makes [`Phrases`]: name, Chinese, English.
#[macro_export]
macro_rules! phrases {
    ($($name:literal $zh:literal, $en:literal;)*) => {
        $crate::Phrases(&[$(($name, $crate::StaticText { zh: $zh, en: $en })),*])
    };
}

#[cfg(test)]
mod tests {
    use crate::format::{Bytes, Number, Seconds, VERTEX};

    #[test]
    fn chinese_has_spaces_only_next_to_letters_and_digits() {
        let of = |time: f64, size: f64| {
            text!(
                "{time} 的 {size} 由 {who} 分担",
                "{time} {size} {who}",
                time = Seconds(time),
                size = Bytes(size),
                who = VERTEX.count(25.0)
            )
            .zh
        };
        assert_eq!(of(575.0, 512.0), "9 分 35 秒的 512 B 由 25 个顶点分担");
        let rows = |n: f64| text!("约为 {n} 行", "{n}", n = Number(n)).zh;
        assert_eq!([rows(63.0), rows(63e6)], ["约为 63 行", "约为 6300 万行"]);
    }

    #[test]
    fn what_a_file_says_is_quoted_as_it_is() {
        let text = text!("错误为 {message}", "{message}", message = "数据 错误");
        assert_eq!(text.zh, "错误为数据 错误");
        let name = "张 三";
        assert_eq!(text!("由 {name} 提交", "{name}").zh, "由 张 三 提交");
    }
}
