//! Generates a few rows for the tables of a job, with matching keys in joined tables, hot values, nulls and values
//! without a partner.

use crate::rng::{Rng, hash_text};
use serde_json::Value;

/// Rows of a table with one row per key.
const UNIQUE_ROWS: usize = 64;
/// Rows of other tables.
const ROWS: usize = 320;
/// Values of a column that is neither unique nor has frequent values.
const DOMAIN: u64 = 48;

#[derive(Debug, Clone)]
pub struct SampleColumn {
    pub name: String,
    /// Whether it holds text.
    pub text: bool,
    nullable: bool,
    unique: bool,
    hot: Vec<String>,
    whole: bool,
    time: bool,
}

/// A table with some rows.
#[derive(Debug, Clone)]
pub struct Sample {
    pub name: String,
    pub path: String,
    pub columns: Vec<SampleColumn>,
    /// Rows; `None` is null.
    pub rows: Vec<Vec<Option<String>>>,
}

/// Samples for all tables of a `tables.json`.
pub(crate) fn samples(json: &str, seed: u64) -> Result<Vec<Sample>, String> {
    let value: Value = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let tables = value["tables"].as_array().ok_or("no `tables`")?;
    Ok(tables.iter().map(|t| sample(t, seed)).collect())
}

fn sample(table: &Value, seed: u64) -> Sample {
    let name = table["name"].as_str().unwrap_or_default().to_owned();
    let rows = table["rows"].as_f64().unwrap_or(0.0);
    let columns: Vec<SampleColumn> = table["columns"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|c| column(c, rows))
        .collect();
    // A dimension: its first column identifies the row.
    let unique = columns
        .first()
        .is_some_and(|c| c.unique && c.name != "RecordId" && c.name != "RequestId");
    let n = if unique { UNIQUE_ROWS } else { ROWS };
    let mut rng = Rng::new(seed ^ hash_text(19, &name));
    let rows = (0..n)
        .map(|i| columns.iter().map(|c| cell(c, i, &mut rng)).collect())
        .collect();
    Sample {
        name,
        path: table["path"].as_str().unwrap_or_default().to_owned(),
        columns,
        rows,
    }
}

fn column(c: &Value, rows: f64) -> SampleColumn {
    let ty = c["type"].as_str().unwrap_or("string");
    let top: Vec<String> = c["top_values"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|t| t["count"].as_f64().unwrap_or(0.0) > rows * 0.01)
        .filter_map(|t| t["value"].as_str().map(str::to_owned))
        .take(6)
        .collect();
    SampleColumn {
        name: c["name"].as_str().unwrap_or_default().to_owned(),
        text: ty.starts_with("string") || ty.starts_with("Guid"),
        nullable: ty.ends_with('?') || c["nulls"].as_f64().unwrap_or(0.0) > 0.0,
        unique: c["distinct"].as_f64().unwrap_or(0.0) >= rows * 0.9,
        hot: top,
        time: ty.starts_with("DateTime"),
        whole: !ty.starts_with("double") && !ty.starts_with("decimal"),
    }
}

/// Values are a function of column name and number, so that joined tables have values in common.
fn value(c: &SampleColumn, number: u64) -> String {
    if c.text {
        return format!("{}-{number}", c.name.to_lowercase());
    }
    if c.whole {
        number.to_string()
    } else {
        format!("{}.25", number)
    }
}

fn cell(c: &SampleColumn, row: usize, rng: &mut Rng) -> Option<String> {
    if c.unique {
        return Some(match c.hot.get(row) {
            Some(hot) => hot.clone(),
            None => value(c, row as u64),
        });
    }
    if c.nullable && rng.chance(0.08) {
        return None;
    }
    if c.time {
        // Rows that are ordered by a time have no ties, which a rewrite might break otherwise.
        return Some(rng.whole(0, 1 << 40).to_string());
    }
    if !c.hot.is_empty() && rng.chance(0.5) {
        return Some(c.hot[rng.index(c.hot.len())].clone());
    }
    // Small values are frequent, as the constants of conditions are small.
    let top = if rng.chance(0.5) { 5 } else { DOMAIN };
    Some(value(c, rng.whole(0, top)))
}
