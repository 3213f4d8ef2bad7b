//! The digest of the inputs: size, layout, columns, stored partitions.

use job::model::Table;
use report::format::{Bytes, PARTITION, Ratio, list};
use report::{Text, text};

use super::Look;
use crate::measures::Inputs;
use crate::wording::{Lines, heading, labeled};

/// Least similarity of a near name: one or two letters of ten differ.
const SIMILAR: f64 = 0.55;

/// Near names that are offered.
const NEAR: usize = 3;

/// The known facts of the inputs, or of one; if no input has that name, the nearest names.
pub(crate) fn metadata(look: &Look<'_>, named: Option<&str>) -> Lines {
    let inputs = Inputs::of(look.job);
    of_tables(look, named, |digest, table| {
        let mut measured = inputs.measured(table, named.is_some(), look.language);
        if let Some(stored) = stored(table) {
            measured.say(stored);
        }
        digest.say(match measured.lines.is_empty() {
            true => table.name.clone(),
            false => heading(&table.name, look.language),
        });
        measured.lines.iter().for_each(|line| digest.detail(line));
    })
}

/// The stored partitions of the inputs, or of one: an addition of the stream files to the table statistics.
pub(super) fn partitions(look: &Look<'_>, named: Option<&str>) -> Lines {
    of_tables(look, named, |digest, table| {
        if let Some(stored) = stored(table) {
            let stored: String = stored.into(look.language);
            digest.say(labeled(&table.name, &stored, look.language));
        }
    })
}

/// What `say` adds about each of the wanted inputs.
fn of_tables(
    look: &Look<'_>,
    named: Option<&str>,
    mut say: impl FnMut(&mut Lines, &Table),
) -> Lines {
    let mut digest = Lines::new(look.language);
    let tables = wanted(look, named);
    tables.iter().for_each(|table| say(&mut digest, table));
    if let Some(name) = named.filter(|_| tables.is_empty()) {
        digest.say(unknown(look, name));
    }
    digest
}

fn wanted<'a>(look: &Look<'a>, named: Option<&str>) -> Vec<&'a Table> {
    let named = named.filter(|name| !name.trim().is_empty());
    let is_wanted = |table: &&Table| {
        let is_path = |path: &String| named.is_some() && Look::wants(named, path);
        Look::wants(named, &table.name) || table.path.as_ref().is_some_and(is_path)
    };
    look.job.tables.iter().filter(is_wanted).collect()
}

/// The stored partitions of an input; `None` if their sizes are unknown.
fn stored(table: &Table) -> Option<Text> {
    let bytes = table.partitions.iter().map(|p| p.bytes as f64);
    let (n, total) = (table.partitions.len() as f64, bytes.clone().sum::<f64>());
    let max = bytes.fold(0.0, f64::max);
    (total > 0.0).then(|| {
        text!(
            "存储为 {n}，最大 {max}（平均的 {ratio}）",
            "stored in {n}, the largest {max} ({ratio} the mean)",
            n = PARTITION.count(n),
            max = Bytes(max),
            ratio = Ratio(max * n / total)
        )
    })
}

fn unknown(look: &Look<'_>, name: &str) -> Text {
    let near = list(&near(look, name), look.language);
    match near.is_empty() {
        true => text!(
            "没有读到名为“{name}”的输入",
            "no input called `{name}` has been read"
        ),
        false => text!(
            "没有读到名为“{name}”的输入；相近的有：{near}",
            "no input called `{name}` has been read; near it: {near}"
        ),
    }
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
