//! Aligned columns; wide characters count as two.

use report::visible_line;

use super::layout::{pad, pad_left, width};

/// How a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Columns by their titles, with `|` between them; columns of numbers are aligned to the right, and their titles begin with `>`.
pub fn columns(titles: &str) -> Vec<(&str, Align)> {
    let aligned = titles
        .split('|')
        .map(|title| match title.strip_prefix('>') {
            Some(title) => (title, Align::Right),
            None => (title, Align::Left),
        });
    aligned.collect()
}

/// Rows under headings.
pub struct Table {
    headings: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new(headings: &[(&str, Align)]) -> Table {
        let headings = headings.iter();
        Table {
            headings: headings
                .map(|(title, align)| ((*title).to_owned(), *align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Adds a row of texts that others wrote.
    pub fn foreign_row(&mut self, cells: Vec<String>) {
        let cells = cells.iter().map(|cell| visible_line(cell).into_owned());
        self.row(cells.collect());
    }

    /// The table as lines with an indent; empty without rows.
    pub fn render(&self, indent: &str) -> String {
        self.render_within(indent, None)
    }

    /// The same in lines of at most `columns`: a wider table becomes several, one below the other,
    /// each with the first column, so that no row is broken.
    pub fn render_within(&self, indent: &str, columns: Option<usize>) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let widths: Vec<usize> = self
            .headings
            .iter()
            .enumerate()
            .map(|(i, (heading, _))| self.column_width(i, heading))
            .collect();
        let room = columns.map_or(usize::MAX, |c| c.saturating_sub(width(indent)));
        let blocks = blocks(&widths, room);
        let blocks: Vec<String> = blocks
            .iter()
            .map(|block| self.block(indent, block, &widths))
            .collect();
        blocks.join("\n")
    }

    /// Some of the columns.
    fn block(&self, indent: &str, columns: &[usize], widths: &[usize]) -> String {
        let headings: Vec<String> = self.headings.iter().map(|(h, _)| (*h).to_owned()).collect();
        let dim = anstyle::Style::new().dimmed();
        let line = |cells: &[String]| self.line(cells, columns, widths);
        let mut out = format!("{indent}{dim}{}{dim:#}\n", line(&headings));
        for row in &self.rows {
            out.push_str(indent);
            out.push_str(&line(row));
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

    fn line(&self, cells: &[String], columns: &[usize], widths: &[usize]) -> String {
        let padded = columns.iter().map(|&i| {
            let cell = cells.get(i).map_or("", String::as_str);
            match self.headings[i].1 {
                Align::Left => pad(cell, widths[i]),
                Align::Right => pad_left(cell, widths[i]),
            }
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }
}

/// Between two columns.
const GAP: &str = "  ";

/// Columns that fit into `room` next to each other; each block starts with the first column.
fn blocks(widths: &[usize], room: usize) -> Vec<Vec<usize>> {
    let first = widths.first().copied().unwrap_or(0);
    let (mut blocks, mut used) = (vec![vec![0]], first);
    for (column, width) in widths.iter().enumerate().skip(1) {
        let more = GAP.len() + width;
        // empty columns take no part of a line
        let full = used + more > room && *width > 0;
        match blocks.last_mut() {
            Some(block) if !full || block.len() == 1 => {
                block.push(column);
                used += more;
            }
            _ => {
                blocks.push(vec![0, column]);
                used = first + more;
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_table_becomes_several() {
        use Align::{Left, Right};
        let mut table = Table::new(&[
            ("stage", Left),
            ("rows", Right),
            ("bytes", Right),
            ("", Left),
        ]);
        table.row(vec!["SV1".into(), "12".into(), "34".into()]);
        let plain = |columns| {
            let text = table.render_within(" ", columns);
            anstream::adapter::strip_str(&text).to_string()
        };
        let whole = " stage  rows  bytes\n SV1      12     34\n";
        assert_eq!(plain(None), whole);
        assert_eq!(plain(Some(19)), whole);
        assert_eq!(
            plain(Some(18)),
            " stage  rows\n SV1      12\n\n stage  bytes\n SV1       34\n"
        );
        assert_eq!(
            plain(Some(3)).lines().count(),
            5,
            "a column that does not fit stands alone"
        );
    }

    #[test]
    fn wide_characters_stay_aligned() {
        let mut table = Table::new(&[("表", Align::Left), ("rows", Align::Right)]);
        table.row(vec!["点击日志".into(), "12".into()]);
        table.row(vec!["Users".into(), "1,234".into()]);
        let plain = anstream::adapter::strip_str(&table.render("")).to_string();
        assert_eq!(plain, "表         rows\n点击日志     12\nUsers     1,234\n");
    }
}
