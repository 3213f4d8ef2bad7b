//! A counterexample: generated rows on which two scripts give different results.

use std::collections::BTreeMap;

use report::format::ROW;
use report::{Text, text};

/// The first difference that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The outputs are not the same ones.
    Outputs { before: usize, after: usize },
    /// An output has other columns.
    Columns {
        output: String,
        before: String,
        after: String,
    },
    /// A row comes up more or less often.
    Rows {
        output: String,
        row: String,
        before: usize,
        after: usize,
    },
    /// The same rows come in another order.
    Order { output: String },
}

impl Difference {
    /// The difference as a clause, in both languages.
    pub fn text(&self) -> Text {
        let rows = |n: usize| ROW.count(n as f64);
        match self {
            Difference::Outputs { before, after } => text!(
                "输出由 {before} 个变为 {after} 个",
                "{before} outputs become {after}"
            ),
            Difference::Columns {
                output,
                before,
                after,
            } => text!(
                "`{output}` 的列由 `{before}` 变为 `{after}`",
                "the columns of `{output}` change from `{before}` to `{after}`"
            ),
            Difference::Rows {
                output,
                row,
                before,
                after,
            } => text!(
                "在生成的数据上，`{output}` 中 `{row}` 由 {before}变为 {after}",
                "on generated rows, `{output}` has {after} `{row}` instead of {before}",
                before = rows(*before),
                after = rows(*after)
            ),
            Difference::Order { output } => text!(
                "在生成的数据上，`{output}` 的行顺序改变",
                "on generated rows, the rows of `{output}` are in another order"
            ),
        }
    }
}

/// Rows of an output as shown, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Positions of the columns that order it; `None` for an unordered output.
    pub(crate) order: Option<Vec<usize>>,
}

/// The first difference between two results of an output.
pub(crate) fn difference(before: &Rows, after: &Rows) -> Option<Difference> {
    let output = || after.name.clone();
    if before.columns != after.columns {
        return Some(Difference::Columns {
            output: output(),
            before: before.columns.join(", "),
            after: after.columns.join(", "),
        });
    }
    let names = after.columns.clone();
    let mut counts: BTreeMap<&[String], (usize, usize)> = BTreeMap::new();
    before
        .rows
        .iter()
        .for_each(|row| counts.entry(row).or_default().0 += 1);
    after
        .rows
        .iter()
        .for_each(|row| counts.entry(row).or_default().1 += 1);
    if let Some((row, (before, after))) = counts.iter().find(|(_, (a, b))| a != b) {
        return Some(Difference::Rows {
            output: output(),
            row: shown(&names, row),
            before: *before,
            after: *after,
        });
    }
    let keys = before.order.as_ref()?;
    let of = |rows: &Rows| -> Vec<Vec<String>> {
        let key = |row: &Vec<String>| keys.iter().map(|at| row[*at].clone()).collect();
        rows.rows.iter().map(key).collect()
    };
    (of(before) != of(after)).then(|| Difference::Order { output: output() })
}

/// `Key=3, Name="a", …`, cut after a few columns.
fn shown(names: &[String], row: &[String]) -> String {
    const MOST: usize = 6;
    let cells = names.iter().zip(row).take(MOST);
    let mut cells: Vec<String> = cells
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if row.len() > MOST {
        cells.push("…".to_owned());
    }
    cells.join(", ").replace('`', "'")
}
