//! Names, literals and pieces of text for rewrites.

use job::script::{RowsetRef, RowsetSource, Script};

/// An unused name made of `base` and `suffix`, different from all words of the script.
pub fn fresh(script: &Script, base: &str, suffix: &str) -> String {
    let taken = |name: &str| script.text.contains(name);
    let first = format!("{base}{suffix}");
    if !taken(&first) {
        return first;
    }
    // a script has a finite number of names, so one of these is free
    let numbers = 2..=script.text.len() + 2;
    let mut names = numbers.map(|number| format!("{first}{number}"));
    names.find(|name| !taken(name)).unwrap_or(first)
}

/// Text of an input without its alias: `Clicks`, `(SSTREAM @p)`.
pub fn source_text<'s>(script: &'s Script, input: &RowsetRef) -> Option<&'s str> {
    if matches!(input.source, RowsetSource::Apply(_)) || input.span.is_empty() {
        return None;
    }
    let text = script.slice(&input.span);
    match &input.alias {
        None => Some(text),
        Some(alias) => {
            let end = text.rfind(alias.as_str())?;
            let before = text[..end].trim_end();
            Some(before.strip_suffix("AS").unwrap_or(before).trim_end())
        }
    }
}

/// `name AS label`, so that qualified columns stay valid.
pub fn aliased(name: &str, input: &RowsetRef) -> Option<String> {
    let label = input.label();
    let label = label.rsplit('.').next().unwrap_or(label);
    let plain = !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '_');
    plain.then(|| format!("{name} AS {label}"))
}

/// A value as a literal of the type; `None` for types without an exact literal.
pub fn literal(value: &str, type_name: &str) -> Option<String> {
    match base_type(type_name) {
        "string" => {
            let plain = !value.contains(['\n', '\r', '\0']);
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            plain.then(|| format!("\"{escaped}\""))
        }
        name if is_integer(name) => value.parse::<i128>().ok().map(|number| number.to_string()),
        _ => None,
    }
}

/// Type without the mark for nullable.
pub fn base_type(type_name: &str) -> &str {
    type_name.trim().trim_end_matches('?')
}

/// Whether a column of the type can be null.
pub fn is_nullable(type_name: &str) -> bool {
    let name = type_name.trim();
    name.ends_with('?') || matches!(base_type(name), "string" | "byte[]")
}

/// Whether it is a whole number.
pub fn is_integer(type_name: &str) -> bool {
    matches!(
        base_type(type_name),
        "int" | "long" | "short" | "byte" | "sbyte" | "uint" | "ulong" | "ushort"
    )
}
