/// Lower-case letters and digits of any script, joined by hyphens; `section` if the heading has
/// none.
pub(crate) fn slug(heading: &str) -> String {
    let mut out = String::new();
    let mut gap = false;
    for c in heading.chars() {
        if c.is_alphanumeric() || c == '_' {
            if gap && !out.is_empty() {
                out.push('-');
            }
            gap = false;
            out.extend(c.to_lowercase());
        } else {
            gap = true;
        }
    }
    if out.is_empty() {
        out.push_str("section");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn slugs_keep_letters_of_any_script() {
        assert_eq!(slug("Trade-offs & limits"), "trade-offs-limits");
        assert_eq!(slug("加盐（salting）"), "加盐-salting");
        assert_eq!(slug("!!"), "section");
    }
}
