//! Sizes that suggestions name: rows of a join's sides, partitions that suit a stage.

use std::collections::BTreeSet;

use job::model::Table;
use job::script::{Query, RowsetRef, RowsetSource, Script};

use super::case::Case;

/// Bytes that one vertex should read from an exchange, as the optimizer itself sizes partitions.
const BYTES_PER_PARTITION: f64 = 256e6;

impl<'a> Case<'a> {
    /// Partitions that the data of the finding's stage calls for.
    pub(super) fn partitions(&self) -> Option<u64> {
        let stage = self.job.stage_index(self.finding.stage.as_deref()?)?;
        let total = self.job.bytes_read_per_vertex(stage)?.value.total;
        (total > 0.0).then(|| (total / BYTES_PER_PARTITION).ceil().max(1.0) as u64)
    }

    /// Rows of the stored data that an input is made from, at most: filters and groups make it
    /// fewer.
    pub(super) fn rows_behind(&self, input: &RowsetRef) -> Option<u64> {
        let script = self.script?;
        let mut seen = BTreeSet::new();
        let mut tables: Vec<&Table> = Vec::new();
        self.collect_tables(script, input, &mut seen, &mut tables)?;
        tables.iter().map(|table| table.rows).sum()
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
