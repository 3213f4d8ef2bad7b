//! `tables.json`: metadata of the input tables.

use crate::data::{Column, Table, TableKind, Ty};
use crate::outcome::{Clock, Outcome};
use serde_json::{Value, json};

/// Writes the file.
pub(crate) fn write(o: &Outcome) -> String {
    let tables: Vec<Value> = o
        .spec
        .tables
        .iter()
        .enumerate()
        .map(|(i, t)| table(o, t, i))
        .collect();
    let file = super::json::sorted(json!({"version": 1, "tables": tables}));
    serde_json::to_string_pretty(&file).unwrap_or_default()
}

fn table(o: &Outcome, t: &Table, index: usize) -> Value {
    let kind = match t.kind {
        TableKind::SStream => "sstream",
        TableKind::Text => "text",
        TableKind::Catalog => "table",
    };
    let c = &t.clustering;
    let sorted: &[String] = if c.kind == "hash" { &c.keys } else { &[] };
    let mut out = json!({
        "name": t.name,
        "path": t.path,
        "kind": kind,
        "rows": t.rows as u64,
        "bytes": t.bytes() as u64,
        "file_count": t.files,
        "compressed": if t.gzip { json!("gzip") } else { Value::Null },
        "clustering": {
            "type": c.kind,
            "keys": c.keys,
            "sorted_by": sorted,
            "partitions": if c.partitions > 0 { json!(c.partitions) } else { Value::Null },
        },
        "statistics_time": Clock::at(o.ids.submitted - 30_000 - 3_000 * index as i64, 0.0).iso(),
    });
    if let Some(previous) = t.previous {
        out["previous_run"] =
            json!({"rows": (t.rows * previous) as u64, "bytes": (t.bytes() * previous) as u64});
    }
    out["columns"] = t.columns.iter().map(|c| column(c, t.rows)).collect();
    out
}

fn column(c: &Column, rows: f64) -> Value {
    let name = if c.nullable && c.ty != Ty::Text {
        format!("{}?", c.ty.name())
    } else {
        c.ty.name().to_owned()
    };
    let top: Vec<Value> = c
        .heavy
        .iter()
        .take(10)
        .map(|(v, share)| json!({"value": v, "count": (rows * share) as u64}))
        .collect();
    json!({
        "name": c.name,
        "type": name,
        "avg_width": c.width,
        "distinct": c.distinct.min(rows) as u64,
        "nulls": (rows * c.nulls) as u64,
        "top_values": top,
    })
}
