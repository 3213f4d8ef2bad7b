//! The digest of the inputs: size, layout, columns, stored partitions.

use job::model::Table;
use report::format::{Bytes, PARTITION, Ratio, list};
use report::text;

use super::Look;
use crate::measures::{self, Measures};

/// Similarity from which a name is near another: one or two letters of ten differ.
const SIMILAR: f64 = 0.55;

/// Near names that are offered.
const NEAR: usize = 3;

/// What is known of the inputs, or of one; where none has that name, the names that are near.
pub(crate) fn metadata(look: &Look<'_>, named: Option<&str>) -> Measures {
    let mut digest = Measures::default();
    let named = named.filter(|name| !name.trim().is_empty());
    let is_wanted = |table: &&Table| {
        Look::wants(named, &table.name)
            || table
                .path
                .as_ref()
                .is_some_and(|p| named.is_some() && Look::wants(named, p))
    };
    let tables: Vec<&Table> = look.job.tables.iter().filter(is_wanted).collect();
    for table in &tables {
        digest.lines.push(format!("{}:", table.name));
        let measured = measures::table(look.job, table, named.is_some(), look.language);
        digest
            .lines
            .extend(measured.lines.iter().map(|line| format!("  {line}")));
        let bytes: Vec<f64> = table.partitions.iter().map(|p| p.bytes as f64).collect();
        let total: f64 = bytes.iter().sum();
        if total > 0.0 {
            let (n, max) = (
                bytes.len() as f64,
                bytes.iter().copied().fold(0.0, f64::max),
            );
            let line = text!(
                "  存储为 {n}，最大 {max}（平均的 {ratio}）",
                "  stored in {n}, the largest {max} ({ratio} the mean)",
                n = PARTITION.count(n),
                max = Bytes(max),
                ratio = Ratio(max * n / total)
            );
            digest.say(line, look.language);
        }
    }
    if let Some(name) = named.filter(|_| tables.is_empty()) {
        let near = near(look, name);
        let near = list(&near, look.language);
        digest.say(
            match near.is_empty() {
                true => text!(
                    "没有读到名为“{name}”的输入",
                    "no input called `{name}` has been read"
                ),
                false => text!(
                    "没有读到名为“{name}”的输入；相近的有：{near}",
                    "no input called `{name}` has been read; near it: {near}"
                ),
            },
            look.language,
        );
    }
    digest
}

/// Inputs with names like this, nearest first; all if none is near.
fn near(look: &Look<'_>, name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let alike =
        |table: &Table| strsim::normalized_damerau_levenshtein(&lower, &table.name.to_lowercase());
    let mut tables: Vec<(f64, &Table)> = look.job.tables.iter().map(|t| (alike(t), t)).collect();
    tables.sort_by(|a, b| b.0.total_cmp(&a.0));
    let is_near = tables.first().is_some_and(|(alike, _)| *alike >= SIMILAR);
    tables.retain(|(alike, _)| !is_near || *alike >= SIMILAR);
    tables.truncate(NEAR);
    tables
        .into_iter()
        .map(|(_, table)| table.name.clone())
        .collect()
}
