//! Small pieces of SVG markup. All text goes through [`escape`].

use std::fmt;

use super::escape::escape;

/// A coordinate with one decimal; a page has thousands, and a float's own formatting takes many times as long.
pub(super) struct Tenths(pub(super) f64);

impl Tenths {
    pub(super) fn push(self, out: &mut String) {
        let tenths = (self.0 * 10.0).round() as i64;
        if tenths < 0 {
            out.push('-');
        }
        let digit = |n: u64| char::from(b'0' + (n % 10) as u8);
        let all = tenths.unsigned_abs();
        let mut place = 10;
        while place <= all / 10 {
            place *= 10;
        }
        while place >= 10 {
            out.push(digit(all / place));
            place /= 10;
        }
        out.push('.');
        out.push(digit(all));
    }
}

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = String::new();
        Tenths(self.0).push(&mut written);
        f.write_str(&written)
    }
}

/// A text element.
pub(super) fn label(x: f64, y: f64, class: &str, anchor: &str, text: &str) -> String {
    format!(
        r#"<text x="{}" y="{}" class="{class}" text-anchor="{anchor}">{}</text>"#,
        Tenths(x),
        Tenths(y),
        escape(text)
    )
}

/// As [`label`], squeezed into a width.
pub(super) fn squeezed(x: f64, y: f64, class: &str, width: f64, text: &str) -> String {
    format!(
        r#"<text textLength="{width}" lengthAdjust="spacingAndGlyphs" x="{}" y="{}" class="{class}" text-anchor="start">{}</text>"#,
        Tenths(x),
        Tenths(y),
        escape(text)
    )
}

/// Tooltip of the surrounding element.
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
}
