//! `tables.json`: rows, bytes, columns, frequent values and layout of the inputs.

use serde_json::Value;

use super::Input;
use crate::bounds::{self, COLUMNS_PER_ROWSET, Quota};
use crate::json::{self, count, number, text};
use crate::model::{Clustering, ColumnStatistics, Job, Table, TopValue};
use crate::problem::Problem;

pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let (value, fault) = json::parse(input.text);
    let (list, prefix) = match &value {
        Some(Value::Array(_)) => (value.as_ref(), ""),
        _ => (value.as_ref().and_then(|v| v.get("tables")), "/tables"),
    };
    let tables = list.and_then(Value::as_array);
    for (at, value) in tables.into_iter().flatten().enumerate() {
        table(input, &format!("{prefix}/{at}"), value, job);
    }
    if tables.is_none() && fault.is_none() {
        job.note(input.name, None, &Problem::NoTables);
    }
    job.fault(input.name, fault);
}

fn table(input: &Input<'_>, pointer: &str, value: &Value, job: &mut Job) {
    let field = |name: &str| value.get(name).filter(|v| !v.is_null());
    let path = field("path").and_then(text);
    let name = field("name").and_then(text);
    let Some(name) = name.or_else(|| path.as_deref().map(name_of)) else {
        let place = Some(pointer.to_owned());
        job.note(input.name, place, &Problem::TableWithoutName);
        return;
    };
    let at = |field: &str| input.at(format!("{pointer}/{field}"));
    let columns = field("columns").and_then(Value::as_array);
    let columns = columns.map(|all| columns_of(all, input, job));
    let Some(table) = job.table_mut(path.as_deref(), None, &name, input.name) else {
        return;
    };
    table.name = name;
    table.path = path.or(table.path.take());
    for (name, number) in [
        ("rows", &mut table.rows),
        ("bytes", &mut table.bytes),
        ("file_count", &mut table.file_count),
    ] {
        if let Some(stated) = field(name).and_then(count) {
            *number = Some(stated);
            table.sources.insert(name, at(name));
        }
    }
    table.kind = field("kind").and_then(text).or(table.kind.take());
    table.compressed = field("compressed").and_then(text);
    if let Some(layout) = field("clustering") {
        table.clustering = Some(clustering(layout));
        table.sources.insert("clustering", at("clustering"));
    }
    if let Some(columns) = columns {
        table.columns = columns;
        table.sources.insert("columns", at("columns"));
    }
}

fn columns_of(all: &[Value], input: &Input<'_>, job: &mut Job) -> Vec<ColumnStatistics> {
    let columns = all.iter().filter_map(column).take(COLUMNS_PER_ROWSET);
    let mut columns: Vec<ColumnStatistics> = columns.collect();
    job.shorten(Quota::Columns, &mut columns, input.name);
    for column in &mut columns {
        job.shorten(Quota::Values, &mut column.top_values, input.name);
    }
    columns
}

fn clustering(value: &Value) -> Clustering {
    let names = |name: &str| {
        let list = value.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(text).collect()
    };
    let kind = value.get("type").and_then(text).unwrap_or_default();
    let partitions = value.get("partitions").and_then(count);
    Clustering {
        kind: kind.to_lowercase(),
        keys: names("keys"),
        sorted_by: names("sorted_by"),
        partitions: partitions.and_then(bounds::parts),
    }
}

fn column(value: &Value) -> Option<ColumnStatistics> {
    let field = |name: &str| value.get(name);
    let top = field("top_values").and_then(Value::as_array);
    Some(ColumnStatistics {
        name: field("name").and_then(text)?,
        type_name: field("type").and_then(text),
        avg_width: field("avg_width").and_then(number),
        distinct: field("distinct").and_then(count),
        nulls: field("nulls").and_then(count),
        top_values: top.into_iter().flatten().filter_map(top_value).collect(),
    })
}

fn top_value(value: &Value) -> Option<TopValue> {
    let written = value.get("value")?;
    let rows = value.get("count").or_else(|| value.get("rows"))?;
    let text = written.as_str().map(str::to_owned);
    Some(TopValue {
        // the empty string is a value, and may be the hot one
        value: text.unwrap_or_else(|| written.to_string()),
        rows: count(rows)?,
    })
}

/// Last part of a path without its extension.
pub(crate) fn name_of(path: &str) -> String {
    let plain = path.split('?').next().unwrap_or(path);
    let last = plain.rsplit(['/', '\\']).find(|part| !part.is_empty());
    let last = last.unwrap_or(plain);
    last.rsplit_once('.')
        .map_or(last, |(stem, _)| stem)
        .to_owned()
}

/// Whether two paths are the same; local runs mix both slashes and ignore case.
fn same_path(a: &str, b: &str) -> bool {
    let plain = |byte: u8| match byte {
        b'\\' => b'/',
        _ => byte.to_ascii_lowercase(),
    };
    a.len() == b.len() && a.bytes().map(plain).eq(b.bytes().map(plain))
}

impl Job {
    /// The table of that path, stream id or name, created if necessary; `None` if there are
    /// too many.
    pub(crate) fn table_mut(
        &mut self,
        path: Option<&str>,
        stream_id: Option<&str>,
        name: &str,
        file: &str,
    ) -> Option<&mut Table> {
        if !self.keeps(Quota::Lookups, self.tables.len(), file) {
            return None;
        }
        let same = |a: &Option<String>, b: Option<&str>| {
            let both = a.as_deref().zip(b);
            both.is_some_and(|(a, b)| same_path(a, b))
        };
        let is_it = |t: &Table| same(&t.path, path) || same(&t.stream_id, stream_id);
        // a name alone does not distinguish two streams
        let is_named =
            |t: &Table| (path.is_none() || t.path.is_none()) && t.name.eq_ignore_ascii_case(name);
        let found = self.tables.iter().position(is_it);
        let found = found.or_else(|| self.tables.iter().position(is_named));
        if found.is_none() && !self.keeps(Quota::Tables, 1, file) {
            return None;
        }
        let at = found.unwrap_or_else(|| {
            self.tables.push(Table {
                name: name.to_owned(),
                ..Table::default()
            });
            self.tables.len() - 1
        });
        self.tables.get_mut(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_and_their_places() {
        let text = r#"{"tables":[{"name":"T","path":"/a/T.ss","rows":10,"bytes":200,"compressed":null,
            "clustering":{"type":"Hash","keys":["A"],"sorted_by":[],"partitions":4},
            "columns":[{"name":"A","type":"long?","distinct":3,"nulls":0,
            "top_values":[{"value":"","count":7},{"value":null}]}]},{"rows":1}]}"#;
        let mut job = Job::default();
        read(&Input::new("tables.json", text), &mut job);
        let table = &job.tables[0];
        assert_eq!(table.rows, Some(10));
        assert_eq!(table.bytes, Some(200));
        let layout = table.clustering.as_ref().expect("a layout");
        assert_eq!((&*layout.kind, layout.partitions), ("hash", Some(4)));
        let (value, rows) = (String::new(), 7);
        assert_eq!(table.columns[0].top_values, [TopValue { value, rows }]);
        let place = table.sources["rows"].locator.as_deref();
        assert_eq!(place, Some("/tables/0/rows"));
        assert_eq!(job.diagnostics[0].locator.as_deref(), Some("/tables/1"));
    }

    #[test]
    fn a_cut_file_keeps_whole_tables() {
        let text = r#"{"tables":[{"name":"T","rows":10},{"name":"U","rows":1"#;
        let mut job = Job::default();
        read(&Input::new("tables.json", text), &mut job);
        let rows: Vec<_> = job.tables.iter().map(|t| t.rows).collect();
        assert_eq!(rows, [Some(10), None]);
        assert_eq!(job.diagnostics.len(), 1);
    }

    #[test]
    fn names_from_paths() {
        assert_eq!(name_of("/shares/x/Log_%h.tsv?date=1"), "Log_%h");
        assert_eq!(name_of("C:\\a\\b.ss"), "b");
        assert_eq!(name_of("b"), "b");
    }
}
