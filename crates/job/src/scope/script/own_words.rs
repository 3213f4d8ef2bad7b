//! Words of the people who wrote a script.

/// String literals and comments of a script: words of its authors.
pub fn own_words(script: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in script.lines() {
        let mut rest = line;
        while let Some(at) = rest.find(['"', '/', '*']) {
            let here = &rest[at..];
            if here.starts_with("//") || here.starts_with("/*") || here.starts_with('*') {
                let comment =
                    here.trim_matches(|c: char| c == '/' || c == '*' || c.is_whitespace());
                // A product is no comment, but hiding its right side does no harm.
                if here.starts_with('/') || rest[..at].trim().is_empty() {
                    found.push(comment.to_owned());
                    break;
                }
                rest = &here[1..];
                continue;
            }
            if !here.starts_with('"') {
                rest = &here[1..];
                continue;
            }
            let inside = &here[1..];
            let end = inside.find('"').unwrap_or(inside.len());
            found.push(inside[..end].to_owned());
            rest = inside.get(end + 1..).unwrap_or_default();
        }
    }
    found.retain(|text| text.chars().any(char::is_alphanumeric));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_comments_are_found() {
        let script =
            "x = \"ab\" + @\"C:\\d\"; // for Contoso\n/* the\n * old \"way\" */\ny = a / b;";
        assert_eq!(
            own_words(script),
            ["ab", "C:\\d", "for Contoso", "the", "old \"way\""]
        );
    }
}
