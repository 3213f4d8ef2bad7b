//! Readers of a job's inputs.

use std::cell::OnceCell;
use std::collections::HashMap;

use job::Job;
use job::facts::value;
use job::model::{Operator, OperatorKind, Table};

/// An operator that reads an input.
#[derive(Debug, Clone, PartialEq)]
pub struct InputReader<'a> {
    pub table: &'a Table,
    pub stage: &'a str,
    pub operator: &'a str,
    /// Name that the script gives the rows; `None` without a script or a link to it.
    pub rowset: Option<&'a str>,
}

/// The operators that read stored data from a known table, stage by stage.
pub fn input_readers(job: &Job) -> Vec<InputReader<'_>> {
    let script = job.script.as_ref();
    let tables = Tables::of(job);
    let mut readers = Vec::new();
    for (at, stage) in job.stages.iter().enumerate() {
        let facts = OnceCell::new();
        let extracts = stage.operators.iter().enumerate();
        let extracts = extracts.filter(|(_, o)| o.kind == OperatorKind::Extract);
        for (index, operator) in extracts {
            let read = || {
                value(
                    &facts
                        .get_or_init(|| job.stage_facts(at))
                        .by_uid(operator.uid)?
                        .bytes,
                )
            };
            let Some(table) = tables.of_operator(operator, read) else {
                continue;
            };
            let statement = job.statement_of(at, index).map(|(statement, _)| statement);
            let statement = script.zip(statement).and_then(|(s, n)| s.statements.get(n));
            readers.push(InputReader {
                table,
                stage: &stage.name,
                operator: &operator.id,
                rowset: statement.and_then(|s| s.target.as_deref()),
            });
        }
    }
    readers
}

/// The tables of a job, indexed for lookup by an operator's stream or columns.
#[derive(Debug, Default)]
pub(crate) struct Tables<'a> {
    by_stream: HashMap<&'a str, &'a Table>,
    /// By the names of their columns, sorted.
    by_columns: HashMap<Vec<&'a str>, Vec<&'a Table>>,
}

impl<'a> Tables<'a> {
    pub(crate) fn of(job: &'a Job) -> Tables<'a> {
        let mut tables = Tables::default();
        for table in &job.tables {
            if let Some(stream) = table.stream_id.as_deref() {
                tables.by_stream.entry(stream).or_insert(table);
            }
            if !table.columns.is_empty() {
                let alike = tables.by_columns.entry(sorted(&table.columns, |c| &c.name));
                alike.or_default().push(table);
            }
        }
        tables
    }

    /// The table that an extracting operator reads: by its stream, else a table with the same columns, a matching
    /// kind and about `read` bytes.
    pub(crate) fn of_operator(
        &self,
        operator: &Operator,
        read: impl FnOnce() -> Option<f64>,
    ) -> Option<&'a Table> {
        let described = |t: &&Table| t.rows.is_some() || t.clustering.is_some();
        let by_stream = self.by_stream.get(operator.id.as_str()).copied();
        if let Some(table) = by_stream.filter(described) {
            return Some(table);
        }
        let schema = &operator.inputs.first()?.schema;
        let same = self.by_columns.get(&sorted(schema, |c| &c.name))?;
        let (text, read) = (operator.id.starts_with("Extract"), read());
        same.iter().copied().min_by(|a, b| {
            let distance = |t: &Table| {
                let kind = if text == (t.kind.as_deref() == Some("text")) {
                    0.0
                } else {
                    1.0
                };
                let size = match (read, t.bytes) {
                    (Some(read), Some(bytes)) if read > 0.0 && bytes > 0 => {
                        (read / bytes as f64).ln().abs()
                    }
                    _ => 10.0,
                };
                kind + size.min(10.0) / 10.0
            };
            distance(a).total_cmp(&distance(b))
        })
    }
}

fn sorted<T>(columns: &[T], name: impl Fn(&T) -> &String) -> Vec<&str> {
    let mut names: Vec<&str> = columns.iter().map(|c| name(c).as_str()).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::run::{aggregation, with_events};

    #[test]
    fn an_input_is_read_by_the_operator_of_its_stream() {
        let job = with_events(aggregation());
        let readers = input_readers(&job);
        let [reader] = readers.as_slice() else {
            panic!("{readers:?}");
        };
        assert_eq!(
            (reader.stage, reader.operator),
            ("SV1_Extract_Split", "GetSStream_0")
        );
        assert_eq!((reader.table.name.as_str(), reader.rowset), ("Log", None));
    }
}
