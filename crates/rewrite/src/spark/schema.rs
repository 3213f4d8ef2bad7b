//! Reads JSON with the schema that the plan found, instead of looking for it in all files.

use job::code::{Place, Program};

use super::{Rewrite, call};

/// Adds the schema to a reader of JSON without one. `read` are the schemas that the scans of the same files read; fields
/// that none of them reads are never used.
pub fn json(program: &Program, place: &Place, read: &[&str]) -> Option<Rewrite> {
    let reader =
        call(program, place).filter(|call| matches!(call.name.as_str(), "json" | "load"))?;
    let before = program.text_of(reader.receiver?);
    let is_json = reader.name == "json"
        || before.contains("format(\"json\")")
        || before.contains("format('json')");
    if !is_json
        || before.contains(".schema(")
        || reader.arguments.len() != 1
        || before.contains("mode(")
    {
        return None;
    }
    // a program that asks for the columns would see fewer of them
    let asks = [".columns", ".dtypes", "printSchema", ".schema."];
    if asks.iter().any(|word| program.text.contains(word)) {
        return None;
    }
    let mut columns: Vec<(&str, &str)> = Vec::new();
    for schema in read {
        for (name, kind) in fields(schema)? {
            match columns.iter().find(|(known, _)| *known == name) {
                Some((_, same)) if *same == kind => {}
                Some(_) => return None,
                None => columns.push((name, kind)),
            }
        }
    }
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let ddl: Vec<String> = columns
        .iter()
        .map(|(name, kind)| format!("{name} {kind}"))
        .collect();
    let fits = !columns.is_empty() && columns.iter().all(|(name, _)| plain(name));
    let mut rewrite = Rewrite::default();
    let at = reader.span.start;
    rewrite.replace(
        reader.statement,
        at..at,
        format!(".schema(\"{}\")", ddl.join(", ")),
    );
    fits.then_some(rewrite)
}

/// Names and types in `struct<a:int,b:array<string>>`; `None` if it was cut.
pub fn fields(schema: &str) -> Option<Vec<(&str, &str)>> {
    let inner = schema.strip_prefix("struct<")?.strip_suffix('>')?;
    if inner.contains("...") {
        return None;
    }
    let (mut depth, mut start) = (0_u32, 0);
    let mut found = Vec::new();
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                found.push(inner.get(start..at)?.split_once(':')?);
                start = at + 1;
            }
            _ => {}
        }
    }
    Some(found)
}
