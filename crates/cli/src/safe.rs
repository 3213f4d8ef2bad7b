//! Makes text of a job harmless: one function per boundary at which it leaves the program.
//!
//! Texts of job files and of models are data. On a terminal they never move the cursor, and JSON contains no acting character.
//! `render` makes its own output safe.

use std::borrow::Cow;

use report::{acts, visible, visible_line};

/// Text for a terminal: only line ends, tabs and styles act.
pub(crate) fn terminal(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| !acts(c) || matches!(c, '\n' | '\t');
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out += &visible(&rest[..at]);
        let style = style_length(&rest[at..]);
        match style {
            0 => out += &visible_line("\u{1b}"),
            length => out += &rest[at..at + length],
        }
        rest = &rest[at + style.max(1)..];
    }
    out += &visible(rest);
    Cow::Owned(out)
}

/// Length of the style at the start of a text: `ESC [ 1 ; 31 m`; 0 without a style.
fn style_length(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';');
    end.filter(|end| parameters[*end..].starts_with('m'))
        .map_or(0, |end| 2 + end + 1)
}

/// JSON without acting characters: they become escapes with the same meaning.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| !acts(c) || c == '\n';
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if harmless(c) {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out += &format!("\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use ::render::shown;
    use proptest::prelude::*;
    use report::markdown::{code, escaped, fenced};

    use super::*;

    #[test]
    fn only_paired_code_keeps_its_marks() {
        for (text, expected) in [
            ("value `a_b` of *x*", r"value `a_b` of \*x\*"),
            ("a lone ` and <b>", r"a lone \` and \<b\>"),
            ("`a|b`", r"\`a\|b\`"),
            ("``x``", r"\`\`x\`\`"),
            (r"a\<b>", r"a\\\<b\>"),
            ("- a", r"\- a"),
            ("12. a 1.5", r"12\. a 1.5"),
            ("see https://x.y", r"see https\://x.y"),
            ("&lt;b&gt;", r"\&lt;b\&gt;"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn code_and_fences_hold_any_backticks() {
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a|b`"), "`` `a\\|b` ``");
        assert_eq!(code(" "), "");
        let fenced = fenced("diff", "+a\n```\n<b>");
        assert_eq!(fenced, "````diff\n+a\n```\n<b>\n````");
    }

    #[test]
    fn styles_pass_and_other_sequences_do_not() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}]8;;x\u{7}\u{1b}[2Jgone\n";
        assert_eq!(terminal(text), "\u{1b}[1;31mred\u{1b}[0m ␛]8;;x␇␛[2Jgone\n");
        assert_eq!(
            json("{\"a\": \"\u{9b}\u{202e}\"}"),
            "{\"a\": \"\\u009b\\u202e\"}"
        );
    }

    const ESC: char = '\u{1b}';

    /// Any text, with acting and formatting characters more often than by chance.
    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "\\PC{0,8}",
            prop::sample::select(vec![
                "`",
                "```",
                "~~~",
                "<script>",
                "![x](http://x)",
                "[a](b)",
                "\\",
                "\n",
                "\n\n",
                "\r",
                "|",
                "&lt;",
                "\u{1b}[31m",
                "\u{9b}",
                "\u{202e}",
                "# ",
                "- ",
                "1. ",
                "    ",
                "www.x.y",
                "$x$",
                "<!--",
                "]]>",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
    }

    /// Whether a mark is in a text without a backslash that takes its meaning away.
    fn has_bare(text: &str, mark: char) -> bool {
        let mut escaped = false;
        text.chars().any(|c| {
            let bare = c == mark && !escaped;
            escaped = c == '\\' && !escaped;
            bare
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

        #[test]
        fn no_text_acts(text in any_text()) {
            let plain = report::markdown::plain(&text);
            for mark in ['<', '>', '[', ']', '`', '*', '|', '#', '~'] {
                prop_assert!(!has_bare(&plain, mark), "{mark} in {plain}");
            }
            for shown in [escaped(&text), code(&text)] {
                prop_assert!(!shown.contains(acts), "{shown:?}");
            }
            let block = fenced("", &text);
            let (fence, inside) = block.split_once('\n').expect("a fence and lines");
            let inside = inside.strip_suffix(fence).expect("the same fence at the end");
            prop_assert!(!inside.contains(fence) && !inside.contains(ESC));
            prop_assert!(!terminal(&visible(&text)).contains(ESC));
        }

        #[test]
        fn any_report_is_shown_without_acting(text in any_text()) {
            let value = serde_json::json!({"name": text, "steps": [{"text": text}], "list": [[text]]});
            let shown = shown(&value).into_owned();
            let name = shown["name"].as_str().expect("a name");
            prop_assert!(!name.contains(acts));
            let step = shown["steps"][0]["text"].as_str().expect("a step");
            prop_assert!(!step.contains(|c| acts(c) && !matches!(c, '\n' | '\t')));
            let line = json(&serde_json::to_string(&text).expect("JSON")).into_owned();
            prop_assert!(!line.contains(acts));
            prop_assert_eq!(serde_json::from_str::<String>(&line).expect("JSON"), text);
        }
    }
}
