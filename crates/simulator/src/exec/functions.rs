//! Stand-ins for C#: functions of their name and arguments.

use crate::rng::{hash_text, mix};
use rusqlite::Connection;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use std::collections::BTreeMap;

/// Columns that each class of some C# reads: `row["X"]` and `row.Get<T>("X")`.
pub(crate) fn reads_of(code: &str) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut class = String::new();
    for line in code.lines() {
        if let Some(at) = line.find("class ") {
            class = line[at + 6..]
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap_or("")
                .to_owned();
        }
        let mut rest = line;
        while let Some(at) = rest.find("row") {
            rest = &rest[at + 3..];
            let quoted = rest.strip_prefix("[\"").or_else(|| {
                rest.strip_prefix(".Get<")
                    .and_then(|r| r.split_once(">(\""))
                    .map(|r| r.1)
            });
            if let Some(name) = quoted.and_then(|q| q.split('"').next()) {
                let list = out.entry(class.clone()).or_default();
                if !list.iter().any(|n| n == name) {
                    list.push(name.to_owned());
                }
            }
        }
    }
    out
}

/// Hash of the arguments of a call.
fn digest(ctx: &Context<'_>) -> rusqlite::Result<u64> {
    let mut h = 17;
    for i in 0..ctx.len() {
        let part = match ctx.get_raw(i) {
            ValueRef::Null => 1,
            // Equal numbers are equal, however they are stored.
            ValueRef::Integer(n) => mix(n as u64 ^ 0x17),
            ValueRef::Real(x) if x.fract() == 0.0 => mix(x as i64 as u64 ^ 0x17),
            ValueRef::Real(x) => mix(x.to_bits()),
            ValueRef::Text(t) | ValueRef::Blob(t) => hash_text(5, &String::from_utf8_lossy(t)),
        };
        h = mix(h ^ part);
    }
    Ok(h)
}

/// Sums the hashes of the rows of a group: the same for any order of the rows, another for other rows.
struct Fold;

impl Aggregate<u64, i64> for Fold {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<u64> {
        Ok(0)
    }

    fn step(&self, ctx: &mut Context<'_>, sum: &mut u64) -> rusqlite::Result<()> {
        *sum = sum.wrapping_add(digest(ctx)?);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sum: Option<u64>) -> rusqlite::Result<i64> {
        Ok((sum.unwrap_or(0) >> 16) as i64)
    }
}

/// Registers `cs_value`, `cs_test` and `cs_fold`.
pub(crate) fn register(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("cs_value", -1, flags, |ctx| Ok((digest(ctx)? >> 33) as i64))?;
    db.create_scalar_function("cs_test", -1, flags, |ctx| Ok(digest(ctx)? % 3 != 0))?;
    db.create_aggregate_function("cs_fold", -1, flags, Fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_found_in_both_dialects() {
        let code = "public class A : Reducer {\n x = row[\"K\"].Long; y = row[\"V\"].String;\n}\npublic class B : IReducer {\n row.Get<int?>(\"Q\");\n}";
        let reads = reads_of(code);
        assert_eq!(reads["A"], ["K", "V"]);
        assert_eq!(reads["B"], ["Q"]);
    }
}
