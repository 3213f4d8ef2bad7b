//! The values that make a key hot, and columns that a hot key can be spread by.
//!
//! Follows a column of the script back to a stored column with known statistics.

use job::model::{ColumnStatistics, Table};
use job::script::{JoinKind, Query, RowsetRef, RowsetSource, Script, StatementKind};

use crate::case::Case;
use rewrite::names::{is_integer, is_nullable, literal};
use rewrite::split::HotKeys;

/// Least share of the most frequent value's rows for a hot value: with fewer rows, it would not
/// dominate a partition.
const HOT_SHARE_OF_TOP: f64 = 0.25;

/// More values than this in one condition would make the script hard to read.
const MAX_VALUES: usize = 5;

/// Steps back through a script; real chains are far shorter.
const MAX_STEPS: usize = 64;

/// A stored column with its table.
pub(crate) struct Stored<'a> {
    pub(crate) table: &'a Table,
    pub(crate) column: &'a ColumnStatistics,
}

impl<'a> Case<'a> {
    /// The stored column behind a column of an input.
    pub(crate) fn stored(&self, input: &RowsetRef, column: &str) -> Option<Stored<'a>> {
        let script = self.script?;
        let name = origin(script, input, column)?;
        self.table_column(&name)
    }

    /// The column of that name in the largest table with such a column, preferring a table with the
    /// found hot value.
    fn table_column(&self, name: &str) -> Option<Stored<'a>> {
        let hot = self.hot_value().unwrap_or_default();
        let has_value =
            |column: &ColumnStatistics| column.top_values.iter().any(|top| top.value == hot);
        let found = self.job.tables.iter().filter_map(|table| {
            let column = table.columns.iter().find(|column| column.name == name)?;
            Some(Stored { table, column })
        });
        found.max_by_key(|stored| (has_value(stored.column), stored.table.rows))
    }

    /// The hot values of a key column, as literals of its type, and their share of the
    /// rows.
    pub(crate) fn hot_keys(&self, input: &RowsetRef, column: &str) -> Option<(HotKeys, f64)> {
        let stored = self.stored(input, column)?;
        let type_name = stored.column.type_name.as_deref()?;
        let rows = stored.table.rows.filter(|rows| *rows > 0)?;
        let nulls = stored.column.nulls.unwrap_or(0);
        let top = stored.column.top_values.first().map_or(0, |top| top.rows);
        let least = (top.max(nulls) as f64 * HOT_SHARE_OF_TOP).max(rows as f64 * 0.005) as u64;
        let values = stored.column.top_values.iter();
        let hot: Vec<_> = values
            .filter(|v| v.rows >= least)
            .take(MAX_VALUES)
            .collect();
        let literals: Option<Vec<String>> = hot
            .iter()
            .map(|value| literal(&value.value, type_name))
            .collect();
        let literals = literals?;
        let null = nulls >= least && nulls > 0;
        let in_them = hot.iter().map(|v| v.rows).sum::<u64>() + if null { nulls } else { 0 };
        let keys = HotKeys {
            nullable: is_nullable(type_name) || nulls > 0,
            null,
            literals,
        };
        let any = keys.null || !keys.literals.is_empty();
        any.then(|| (keys, (in_them as f64 / rows as f64).min(1.0)))
    }

    /// An expression over the rows of an input that spreads a key: the remainder of a whole number
    /// with many values that is not among the keys.
    pub(crate) fn salt(&self, input: &RowsetRef, keys: &[String], salts: u32) -> Option<String> {
        let (column, _) = self.salt_column(input, keys, salts)?;
        Some(format!("{column} % {salts}"))
    }

    /// Like [`Case::salt`], as an `int` from 0 to less than `salts`, also for negative numbers and null.
    pub(crate) fn join_salt(
        &self,
        input: &RowsetRef,
        keys: &[String],
        salts: u32,
    ) -> Option<String> {
        let (column, type_name) = self.salt_column(input, keys, salts)?;
        let value = match is_nullable(type_name) {
            true => format!("({column} ?? 0)"),
            false => column,
        };
        Some(format!("(int)(({value} % {salts} + {salts}) % {salts})"))
    }

    /// The whole-number column with most values; only for whole numbers do all engines compute the same
    /// remainder.
    fn salt_column(
        &self,
        input: &RowsetRef,
        keys: &[String],
        salts: u32,
    ) -> Option<(String, &'a str)> {
        let flow = self.script?.flow();
        let columns = flow.of_statement(input.definition?)?.columns.clone()?;
        let spread = columns.into_iter().filter(|column| !keys.contains(column));
        let candidates = spread.filter_map(|column| {
            let stored = self.stored(input, &column)?.column;
            let type_name = stored
                .type_name
                .as_deref()
                .filter(|name| is_integer(name))?;
            let distinct = stored.distinct?;
            (distinct >= u64::from(salts) * 4).then_some((distinct, column, type_name))
        });
        let best = candidates.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)))?;
        Some((best.1, best.2))
    }
}

/// Name of the stored column that a column of an input copies.
pub(crate) fn origin(script: &Script, input: &RowsetRef, column: &str) -> Option<String> {
    let mut input = input;
    let mut name = column.to_owned();
    for _ in 0..MAX_STEPS {
        let query = match (&input.source, input.definition) {
            (RowsetSource::Query(query), _) => query.as_ref(),
            (RowsetSource::Name | RowsetSource::Previous, Some(definition)) => {
                &script.statements.get(definition)?.query
            }
            _ => return Some(name),
        };
        match step_back(query, &name)? {
            Step::Stored(stored) => return Some(stored),
            Step::Input(next, column) => {
                input = query.inputs.get(next)?;
                name = column;
            }
            Step::Branch(branch, column) => {
                // all branches have the column at the same position; the first one represents them
                let first = query.branches.get(branch)?;
                input = first.inputs.first()?;
                name = column;
            }
        }
    }
    None
}

enum Step {
    Stored(String),
    Input(usize, String),
    Branch(usize, String),
}

fn step_back(query: &Query, name: &str) -> Option<Step> {
    match query.kind {
        StatementKind::Extract | StatementKind::SStream | StatementKind::View => {
            Some(Step::Stored(name.to_owned()))
        }
        StatementKind::Rowset => Some(Step::Input(0, name.to_owned())),
        StatementKind::Union => match step_back(query.branches.first()?, name)? {
            Step::Input(0, column) => Some(Step::Branch(0, column)),
            _ => None,
        },
        StatementKind::Select => select_step(query, name),
        // user code is assumed to pass a column on under its name
        StatementKind::Process | StatementKind::Reduce | StatementKind::Combine => {
            Some(Step::Input(0, name.to_owned()))
        }
        _ => None,
    }
}

fn select_step(query: &Query, name: &str) -> Option<Step> {
    let listed = query
        .columns
        .iter()
        .find(|column| column.name.as_deref() == Some(name));
    let Some(column) = listed else {
        let star = query.columns.iter().any(|column| column.is_star());
        return (star && query.inputs.len() == 1).then(|| Step::Input(0, name.to_owned()));
    };
    let used = column.expression.as_column()?;
    let input = match &used.qualifier {
        Some(qualifier) => query
            .inputs
            .iter()
            .position(|input| input.label() == qualifier)?,
        None if query.inputs.len() == 1 => 0,
        None => return None,
    };
    if filled_with_null(query, input) {
        return None;
    }
    Some(Step::Input(input, used.name.clone()))
}

/// Whether an outer join can add rows with nulls in the columns of that input.
fn filled_with_null(query: &Query, input: usize) -> bool {
    query.joins.iter().any(|join| match join.kind {
        JoinKind::FullOuter => true,
        JoinKind::LeftOuter => join.right == input,
        JoinKind::RightOuter => join.right != input,
        _ => false,
    })
}
