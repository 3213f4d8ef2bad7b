//! Small pieces of SVG markup. All text goes through [`escape`].

use std::fmt;

/// Text for markup: what would be read as markup is written as entities.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Text for markup in which what stands between backticks is code. A lone backtick stays.
pub(super) fn with_code(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    let paired = pieces.len() - (1 - pieces.len() % 2);
    let mut out = String::with_capacity(text.len());
    for (i, piece) in pieces.iter().enumerate() {
        match (i < paired, i % 2) {
            (true, 1) => out += &format!("<code>{}</code>", escape(piece)),
            (true, _) => out += &escape(piece),
            (false, _) => out += &format!("`{}", escape(piece)),
        }
    }
    out
}

/// A coordinate with one decimal; a page has thousands, and a float's own formatting takes several times as long.
pub(super) struct Tenths(pub(super) f64);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, rest) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
        write!(f, "{sign}{whole}.{rest}")
    }
}

/// A text element.
pub(super) fn label(x: f64, y: f64, class: &str, anchor: &str, text: &str) -> String {
    format!(
        r#"<text x="{x:.1}" y="{y:.1}" class="{class}" text-anchor="{anchor}">{}</text>"#,
        escape(text)
    )
}

/// As [`label`], squeezed into a width.
pub(super) fn squeezed(x: f64, y: f64, class: &str, width: f64, text: &str) -> String {
    format!(
        r#"<text textLength="{width}" lengthAdjust="spacingAndGlyphs" x="{x:.1}" y="{y:.1}" class="{class}" text-anchor="start">{}</text>"#,
        escape(text)
    )
}

/// What a browser shows when the pointer rests on the element around it.
pub(super) fn title(text: &str) -> String {
    format!("<title>{}</title>", escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        let drawn = label(0.0, 0.0, "name", "start", "<script>alert('x')</script>");
        assert!(!drawn.contains("<script>"), "{drawn}");
    }

    #[test]
    fn a_coordinate_has_one_decimal() {
        for (x, written) in [
            (0.0, "0.0"),
            (12.34, "12.3"),
            (-0.06, "-0.1"),
            (99.96, "100.0"),
        ] {
            assert_eq!(Tenths(x).to_string(), written);
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
