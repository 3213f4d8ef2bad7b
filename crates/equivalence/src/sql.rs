//! Names and texts in SQL.

/// A name in SQL. Not in double quotes: SQLite takes an unknown name in those for a text.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text in SQL.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('\0', ""))
}
