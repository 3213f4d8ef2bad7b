//! Text in markup is data: its characters affect neither markup nor surrounding text. The element decides about line ends.

use std::borrow::Cow;

use minijinja::{AutoEscape, Environment, Value, escape_formatter};
use report::visible;

/// Text for markup and for quoted attributes.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    match visible(text) {
        Cow::Borrowed(text) => entities(text),
        Cow::Owned(text) => Cow::Owned(entities(&text).into_owned()),
    }
}

fn entities(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| entity(byte).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(entity) = entity(byte) {
            out.push_str(&text[plain..at]);
            out.push_str(entity);
            plain = at + 1;
        }
    }
    out.push_str(&text[plain..]);
    Cow::Owned(out)
}

fn entity(byte: u8) -> Option<&'static str> {
    match byte {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'"' => Some("&quot;"),
        b'\'' => Some("&#39;"),
        _ => None,
    }
}

/// Text as markup; text between backticks is code. A lone backtick stays.
pub(super) fn with_code(text: &str) -> String {
    let text = escape(text);
    let pieces: Vec<&str> = text.split('`').collect();
    let paired = pieces.len() - (1 - pieces.len() % 2);
    let mut out = String::with_capacity(text.len());
    for (i, piece) in pieces.iter().enumerate() {
        let (before, after) = match (i < paired, i % 2) {
            (true, 1) => ("<code>", "</code>"),
            (true, _) => ("", ""),
            (false, _) => ("`", ""),
        };
        out.extend([before, piece, after]);
    }
    out
}

/// For templates of pages: every printed text is escaped, and `code(text)` is the markup of a text with code between backticks.
pub fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() && matches!(state.auto_escape(), AutoEscape::Html) => {
            Ok(out.write_str(&escape(text))?)
        }
        _ => escape_formatter(out, state, value),
    });
    environment.add_function("code", |text: &str| {
        Value::from_safe_string(with_code(text))
    });
    environment
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::*;

    #[test]
    fn no_character_of_a_text_acts() {
        let mut environment = environment();
        let form = "{{ text }}|{{ [text, text] | join }}|{{ code(text) }}|{{ markup }}";
        environment
            .add_template("a.html", form)
            .expect("a sound template");
        let template = environment.get_template("a.html").expect("just added");
        for (text, shown) in [
            ("plain 中文", "plain 中文"),
            (
                "<b title=\"a\">&'",
                "&lt;b title=&quot;a&quot;&gt;&amp;&#39;",
            ),
            ("a\u{202e}<\u{1b}[0m\n", "a\\u{202e}&lt;␛[0m\n"),
        ] {
            let filled = template
                .render(context! { text, markup => Value::from_safe_string("<i>".to_owned()) });
            let expected = format!("{shown}|{shown}{shown}|{shown}|<i>");
            assert_eq!(filled.expect("filled in"), expected);
        }
    }

    #[test]
    fn backticks_in_pairs_make_code_and_what_they_hold_stays_text() {
        assert_eq!(
            with_code("of `A<B>` and `C`"),
            "of <code>A&lt;B&gt;</code> and <code>C</code>"
        );
        assert_eq!(
            with_code("`A` and a lone ` here"),
            "<code>A</code> and a lone ` here"
        );
        assert_eq!(with_code("<b>"), "&lt;b&gt;");
    }
}
