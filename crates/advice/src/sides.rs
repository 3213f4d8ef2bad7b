//! The sides of a join: their stored rows, and the smaller side.

use std::collections::BTreeSet;

use job::model::{Edge, Table};
use job::script::{Query, RowsetRef, RowsetSource, Script, StatementKind};

use crate::case::Case;
use crate::hot_key::{Stored, origin};
use rewrite::hint::Side;

impl<'a> Case<'a> {
    /// The join of the finding, its side with fewer rows, and the exchange into that
    /// side, if there is one; `None` if the files do not show which side has fewer rows.
    pub(crate) fn small_side(&self) -> Option<(usize, Side, Option<&'a Edge>)> {
        let (number, join) = self.join()?;
        let inputs = &self.statement?.query.inputs;
        let (left, right) = (inputs.get(join.left)?, inputs.get(join.right)?);
        let bytes = |edge: &&Edge| edge.bytes_written.unwrap_or(f64::MAX);
        let edge = self.edges().min_by(|a, b| bytes(a).total_cmp(&bytes(b)));
        let fed = |input| edge.is_some_and(|edge| self.is_made_in(input, edge.from));
        let side = match (fed(left), fed(right)) {
            (true, false) => Side::Left,
            (false, true) => Side::Right,
            _ => match (self.rows_behind(left)?, self.rows_behind(right)?) {
                (left, right) if left < right => Side::Left,
                (left, right) if right < left => Side::Right,
                _ => return None,
            },
        };
        Some((number, side, edge))
    }

    /// Whether a stage runs the statement that binds an input, or one before it.
    pub(crate) fn is_made_in(&self, input: &RowsetRef, stage: usize) -> bool {
        let Some(script) = self.script else {
            return false;
        };
        let flow = script.flow();
        let made_by = |rowset: &job::script::Rowset| Some(rowset.statement) == input.definition;
        let mut open: Vec<usize> = flow.rowsets.iter().position(made_by).into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(rowset) = open.pop() {
            let statement = flow.rowsets[rowset].statement;
            if seen.insert(rowset) && self.job.stages_of(statement).contains(&stage) {
                return true;
            }
            open.extend(
                flow.rowsets[rowset]
                    .inputs
                    .iter()
                    .filter(|i| !seen.contains(i)),
            );
        }
        false
    }

    /// Upper bound on the rows of an input, from its stored data: filters and groups reduce
    /// them.
    pub(crate) fn rows_behind(&self, input: &RowsetRef) -> Option<u64> {
        let script = self.script?;
        let mut seen = BTreeSet::new();
        let mut tables: Vec<&Table> = Vec::new();
        self.collect_tables(script, input, &mut seen, &mut tables)?;
        tables.iter().map(|table| table.rows).sum()
    }

    /// The stored column that a column of an input copies, if its values are unique in the input: they are unique
    /// in the table, and each table row produces at most one input row.
    pub(crate) fn unique(&self, input: &RowsetRef, column: &str) -> Option<Stored<'a>> {
        let script = self.script?;
        let mut seen = BTreeSet::new();
        let mut tables = Vec::new();
        self.collect_tables(script, input, &mut seen, &mut tables)?;
        let &[table] = tables.as_slice() else {
            return None;
        };
        let keeps_rows_apart = |at: &usize| {
            let query = &script.statements[*at].query;
            let inputs = query
                .inputs
                .iter()
                .all(|i| !matches!(i.source, RowsetSource::Query(_)));
            let kinds = [
                StatementKind::Extract,
                StatementKind::SStream,
                StatementKind::Select,
                StatementKind::Rowset,
            ];
            inputs && query.inputs.len() <= 1 && kinds.contains(&query.kind)
        };
        let is_simple = input.definition.is_some() && seen.iter().all(keeps_rows_apart);
        let name = origin(script, input, column).filter(|_| is_simple)?;
        let column = table.columns.iter().find(|column| column.name == name)?;
        let distinct = column.distinct.filter(|n| *n > 0)?;
        (distinct >= table.rows?).then_some(Stored { table, column })
    }

    fn collect_tables(
        &self,
        script: &'a Script,
        input: &RowsetRef,
        seen: &mut BTreeSet<usize>,
        tables: &mut Vec<&'a Table>,
    ) -> Option<()> {
        match (&input.source, input.definition) {
            (RowsetSource::Query(query), _) => self.tables_of(script, query, seen, tables),
            (_, Some(definition)) => {
                if !seen.insert(definition) {
                    return Some(());
                }
                let query = &script.statements.get(definition)?.query;
                self.tables_of(script, query, seen, tables)
            }
            _ => {
                tables.push(self.named_table(&input.name)?);
                Some(())
            }
        }
    }

    fn tables_of(
        &self,
        script: &'a Script,
        query: &Query,
        seen: &mut BTreeSet<usize>,
        tables: &mut Vec<&'a Table>,
    ) -> Option<()> {
        for path in &query.paths {
            tables.push(self.table_at(script, script.slice(&path.span))?);
        }
        for branch in &query.branches {
            self.tables_of(script, branch, seen, tables)?;
        }
        for input in &query.inputs {
            self.collect_tables(script, input, seen, tables)?;
        }
        Some(())
    }

    /// The table that a path expression names, directly or by a declared parameter.
    fn table_at(&self, script: &Script, path: &str) -> Option<&'a Table> {
        let declared = path.strip_prefix('@').filter(|name| !name.starts_with('"'));
        let text = match declared {
            Some(name) => {
                let mut named = script.statements.iter().filter(|statement| {
                    let target = statement.target.as_deref();
                    statement.value.is_some()
                        && target.is_some_and(|target| target.trim_start_matches('@') == name)
                });
                script.slice(&named.next_back()?.value.as_ref()?.span)
            }
            None => path,
        };
        let tables = self.job.tables.iter().filter(|table| {
            let path = table.path.as_deref().unwrap_or_default();
            !path.is_empty() && text.contains(path)
        });
        tables.max_by_key(|table| table.path.as_ref().map(String::len))
    }

    fn named_table(&self, name: &str) -> Option<&'a Table> {
        let last = name.rsplit('.').next()?.trim_matches(['[', ']']);
        self.job
            .tables
            .iter()
            .find(|table| table.name == last || table.name == name)
    }
}
