//! A table as a CSV file (RFC 4180, UTF-8), safe to open in a spreadsheet.

use std::fmt::Write as _;
use std::io::{self, Write};

use report::visible;

use super::columns::{Cell, Row};

/// Writes the rows of one type.
pub(super) struct Table<W: Write> {
    out: W,
    line: String,
}

impl<W: Write> Table<W> {
    pub(super) fn new<R: Row>(out: W) -> io::Result<Table<W>> {
        let names: Vec<&str> = R::columns().iter().map(|(name, ..)| *name).collect();
        let line = String::new();
        let mut table = Table { out, line };
        writeln!(table.out, "{}", names.join(","))?;
        Ok(table)
    }

    pub(super) fn add(&mut self, row: &impl Row) -> io::Result<()> {
        self.line.clear();
        for (at, cell) in row.cells().into_iter().enumerate() {
            if at > 0 {
                self.line.push(',');
            }
            push(&mut self.line, &cell);
        }
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())
    }

    pub(super) fn finish(self) -> W {
        self.out
    }
}

fn push(line: &mut String, cell: &Cell<'_>) {
    // Writing to a string cannot fail.
    let _ = match cell {
        Cell::Null => Ok(()),
        Cell::Text(text) => {
            push_text(line, text);
            Ok(())
        }
        Cell::Integer(n) => write!(line, "{n}"),
        Cell::Real(n) => write!(line, "{n}"),
        Cell::Boolean(is) => write!(line, "{is}"),
        Cell::Timestamp(at) => write!(line, "{at}"),
        Cell::Date(day) => write!(line, "{day}"),
    };
}

/// A spreadsheet would compute a text that starts like a formula; an apostrophe keeps it a text.
fn push_text(line: &mut String, text: &str) {
    let text = visible(text);
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let quoted = formula || text.is_empty() || text.contains([',', '"', '\n']);
    if !quoted {
        line.push_str(&text);
        return;
    }
    line.push('"');
    if formula {
        line.push('\'');
    }
    line.push_str(&text.replace('"', "\"\""));
    line.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_never_formulas() {
        for (cell, expected) in [
            (Cell::Null, ""),
            (Cell::Text("".into()), "\"\""),
            (Cell::Text("a,b".into()), "\"a,b\""),
            (Cell::Text("say \"x\"".into()), "\"say \"\"x\"\"\""),
            (Cell::Text("=HYPERLINK(1)".into()), "\"'=HYPERLINK(1)\""),
            (Cell::Text("a\u{1b}[31m".into()), "a␛[31m"),
            (Cell::Real(12.5), "12.5"),
            (Cell::Integer(-3), "-3"),
        ] {
            let mut line = String::new();
            push(&mut line, &cell);
            assert_eq!(line, expected);
        }
    }
}
