//! Columns that user code reads, from its text.
//!
//! The names are string literals of a class (`row["Url"]`). Code that accesses columns
//! by position or by schema may read any of them.

use std::collections::BTreeSet;

/// Column names in the string literals of a class; `None` if the class is not in `code`, or
/// reads columns by position rather than by name.
pub fn columns_read(code: &str, class: &str) -> Option<Vec<String>> {
    let body = class_body(code, class.rsplit('.').next().unwrap_or(class))?;
    if reads_by_position(body) {
        return None;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let names = literals(body).filter(|text| !text.is_empty() && text.chars().all(is_word));
    let names: BTreeSet<&str> = names.collect();
    Some(names.into_iter().map(str::to_owned).collect())
}

/// Text between the braces of `class Name`.
fn class_body<'a>(code: &'a str, class: &str) -> Option<&'a str> {
    if class.is_empty() {
        return None;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let declared = code.match_indices(class).find(|(at, _)| {
        let before = code[..*at].trim_end();
        let after = code[at + class.len()..].chars().next();
        before.ends_with("class") && !after.is_some_and(is_word)
    })?;
    let open = declared.0 + code[declared.0..].find('{')?;
    let end = matching_brace(&code[open..])?;
    Some(&code[open..open + end + 1])
}

/// Position of the brace that closes the first brace; braces in literals and comments don't count.
fn matching_brace(code: &str) -> Option<usize> {
    let bytes = code.as_bytes();
    let mut depth = 0usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            b'"' | b'\'' => at = literal_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let rest = &bytes[at + 2..];
                at += memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 3);
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Last byte of a literal that begins at `at`.
fn literal_end(bytes: &[u8], at: usize) -> usize {
    let verbatim = at > 0 && bytes[at - 1] == b'@';
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' if !verbatim => end += 1,
            b'\n' if !verbatim => break,
            byte if byte == bytes[at] => break,
            _ => {}
        }
        end += 1;
    }
    end
}

fn literals(code: &str) -> impl Iterator<Item = &str> {
    let bytes = code.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let open = at + memchr::memchr(b'"', bytes.get(at..)?)?;
        let close = literal_end(bytes, open);
        at = close + 1;
        code.get(open + 1..close)
    })
}

/// `row[0]`, `row[i]`, loops over the schema, copies of whole rows.
fn reads_by_position(code: &str) -> bool {
    const WHOLE_ROW: &str =
        ".Columns .CopyTo( .CopyScopeSupportedTypeTo .Schema CopyColumn .Clone(";
    let indexed = ["row[", "Row[", "input[", "row.Get<"].iter().any(|access| {
        code.match_indices(access).any(|(at, _)| {
            let before = code[..at].chars().next_back();
            let inner = code[at + access.len()..].trim_start();
            let whole = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
            whole && !access.ends_with('<') && !inner.starts_with(['"', '@'])
        })
    });
    indexed || WHOLE_ROW.split(' ').any(|access| code.contains(access))
}
