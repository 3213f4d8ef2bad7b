//! What reads a job's inputs.

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

/// The operators that read stored data whose table is known, stage by stage.
pub fn input_readers(job: &Job) -> Vec<InputReader<'_>> {
    let script = job.script.as_ref();
    let mut readers = Vec::new();
    for (at, stage) in job.stages.iter().enumerate() {
        let extracts = stage.operators.iter().enumerate();
        let extracts = extracts.filter(|(_, o)| o.kind == OperatorKind::Extract);
        for (index, operator) in extracts {
            let read = || value(&job.stage_facts(at).by_uid(operator.uid)?.bytes);
            let Some(table) = table_of(job, operator, read) else {
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

/// The table that an extracting operator reads: by its stream, else one with the same columns, of the kind
/// that it reads and of about the bytes that `read` gives.
pub(crate) fn table_of<'a>(
    job: &'a Job,
    operator: &Operator,
    read: impl FnOnce() -> Option<f64>,
) -> Option<&'a Table> {
    let tables = &job.tables;
    let described = |t: &&Table| t.rows.is_some() || t.clustering.is_some();
    let by_stream = tables
        .iter()
        .find(|t| t.stream_id.as_deref() == Some(operator.id.as_str()));
    if let Some(table) = by_stream.filter(described) {
        return Some(table);
    }
    let schema = &operator.inputs.first()?.schema;
    let same = |t: &&Table| {
        !t.columns.is_empty()
            && t.columns.len() == schema.len()
            && schema
                .iter()
                .all(|c| t.columns.iter().any(|k| k.name == c.name))
    };
    let (text, read) = (operator.id.starts_with("Extract"), read());
    tables.iter().filter(same).min_by(|a, b| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{aggregation, with_events};

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
