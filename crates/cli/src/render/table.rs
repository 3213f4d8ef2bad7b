//! Aligned columns; wide characters count as two.

use super::layout::{pad, pad_left, width};

/// How a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows under headings.
pub(crate) struct Table {
    headings: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(headings: &[(&'static str, Align)]) -> Table {
        Table {
            headings: headings.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as lines behind `indent`; nothing if it has no rows.
    pub(crate) fn render(&self, indent: &str) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let widths: Vec<usize> = self
            .headings
            .iter()
            .enumerate()
            .map(|(i, (heading, _))| self.column_width(i, heading))
            .collect();
        let headings: Vec<String> = self.headings.iter().map(|(h, _)| (*h).to_owned()).collect();
        let dim = anstyle::Style::new().dimmed();
        let mut out = format!("{indent}{dim}{}{dim:#}\n", self.line(&headings, &widths));
        for row in &self.rows {
            out.push_str(indent);
            out.push_str(&self.line(row, &widths));
            out.push('\n');
        }
        out
    }

    fn column_width(&self, column: usize, heading: &str) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| width(cell))
            .max()
            .unwrap_or(0)
            .max(width(heading))
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let padded = self.headings.iter().enumerate().map(|(i, (_, align))| {
            let cell = cells.get(i).map_or("", String::as_str);
            match align {
                Align::Left => pad(cell, widths[i]),
                Align::Right => pad_left(cell, widths[i]),
            }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_stay_aligned() {
        let mut table = Table::new(&[("表", Align::Left), ("rows", Align::Right)]);
        table.row(vec!["点击日志".into(), "12".into()]);
        table.row(vec!["Users".into(), "1,234".into()]);
        let plain = anstream::adapter::strip_str(&table.render("")).to_string();
        assert_eq!(plain, "表         rows\n点击日志     12\nUsers     1,234\n");
    }
}
