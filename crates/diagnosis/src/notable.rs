//! Values of an input that affect the partitioning of the job.

use job::Job;
use job::model::{ColumnStatistics, Table, TopValue};

use crate::measurements::skew::stands_out;

/// The frequent values of a column that could make a partition uneven, most frequent first; all of
/// them if the rows of the table are unknown.
pub fn notable_values<'a>(
    job: &Job,
    table: &Table,
    column: &'a ColumnStatistics,
) -> impl Iterator<Item = &'a TopValue> {
    let edges = job.edges.iter().filter(|e| e.keys.contains(&column.name));
    let partitions = edges.filter_map(|e| e.partitions).max().map(u64::from);
    let rows = table.rows.filter(|rows| *rows > 0);
    let is_notable = move |value: &&TopValue| {
        rows.is_none_or(|rows| stands_out(value.rows as f64 / rows as f64, partitions))
    };
    column.top_values.iter().filter(is_notable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::run::aggregation;

    #[test]
    fn values_are_notable_by_the_partitions_of_their_column() {
        let job = aggregation();
        let value = |value: &str, rows| TopValue {
            value: value.to_owned(),
            rows,
        };
        let statistics = |name: &str| ColumnStatistics {
            name: name.to_owned(),
            top_values: vec![value("a", 50), value("b", 11), value("c", 2)],
            ..ColumnStatistics::default()
        };
        let table = |rows| Table {
            rows,
            ..Table::default()
        };
        let count = |column: &str, rows| {
            let column = statistics(column);
            notable_values(&job, &table(rows), &column).count()
        };
        assert_eq!(count("Key", Some(1000)), 1, "20 partitions");
        assert_eq!(count("Other", Some(1000)), 2, "1 % without partitions");
        assert_eq!(count("Key", None), 3, "the rows are unknown");
    }
}
