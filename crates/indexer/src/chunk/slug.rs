/// Lower-case letters and digits of any script, joined by hyphens; `section` if the heading has none.
pub(crate) fn slug(heading: &str) -> String {
    let words = heading.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    match words.is_empty() {
        true => "section".to_owned(),
        false => words.join("-"),
    }
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
