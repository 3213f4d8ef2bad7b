//! Cuts expressions into tokens.

/// A token of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Word(String),
    Number(String),
    Text(String),
    Punct(&'static str),
    End,
}

const PUNCT: [&str; 26] = [
    "==", "!=", "<=", ">=", "&&", "||", "??", "=>", "(", ")", ",", ".", "<", ">", "+", "-", "*",
    "/", "%", "!", "?", ":", "=", "[", "]", "&",
];

/// Cuts an expression into tokens.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let end =
            |rest: &str, test: fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
        if c.is_alphabetic() || c == '_' || c == '@' && !rest.starts_with("@\"") {
            let n = end(rest, |c| c.is_alphanumeric() || c == '_' || c == '@');
            out.push(Token::Word(rest[..n].to_owned()));
            rest = &rest[n..];
        } else if c.is_ascii_digit() {
            let n = end(rest, |c| c.is_ascii_alphanumeric() || c == '.');
            let digits = rest[..n].trim_end_matches(|c: char| c.is_alphabetic());
            out.push(Token::Number(digits.to_owned()));
            rest = &rest[n..];
        } else if c == '"' || c == '\'' || rest.starts_with("@\"") {
            let (value, after) = string(rest)?;
            out.push(Token::Text(value));
            rest = after;
        } else if let Some(p) = PUNCT.into_iter().find(|p| rest.starts_with(p)) {
            out.push(Token::Punct(p));
            rest = &rest[p.len()..];
        } else {
            return Err(format!("character `{c}`"));
        }
        rest = rest.trim_start();
    }
    Ok(out)
}

/// Reads a literal; returns its value and what follows.
fn string(text: &str) -> Result<(String, &str), String> {
    let verbatim = text.starts_with('@');
    let body = text.trim_start_matches('@');
    let quote = body.chars().next().unwrap_or('"');
    let mut value = String::new();
    let mut chars = body.char_indices().skip(1).peekable();
    while let Some((i, c)) = chars.next() {
        match c {
            '\\' if !verbatim => value.extend(chars.next().map(|n| n.1)),
            _ if c == quote && chars.peek().is_some_and(|n| n.1 == quote) && verbatim => {
                value.push(c);
                chars.next();
            }
            _ if c == quote => return Ok((value, &body[i + c.len_utf8()..])),
            _ => value.push(c),
        }
    }
    Err("unclosed text".to_owned())
}
