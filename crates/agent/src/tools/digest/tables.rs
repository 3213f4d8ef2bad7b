//! The digest of the inputs: size, layout, columns, stored partitions.

use job::model::Table;
use report::format::{Bytes, PARTITION, Ratio};
use report::{Text, text};

use super::Look;
use crate::measures::Inputs;
use crate::wording::{self, Lines, heading, labeled};

/// Names that are offered in place of an unknown one.
const OTHERS: usize = 3;

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

/// The answer about an input that is not known, with the most similar name, else with some names.
fn unknown(look: &Look<'_>, name: &str) -> Text {
    let tables = look.job.tables.iter().map(|table| table.name.as_str());
    let others: Vec<&str> = match report::nearest(name, tables.clone()) {
        Some(near) => vec![near],
        None => tables.take(OTHERS).collect(),
    };
    let others = wording::named(&others, look.language);
    text!(
        "没有读到名为“{name}”的输入{others}",
        "no input called `{name}` has been read{others}",
        others = others.map(|names| text!("；已读的有：{names}", "; there are: {names}"))
    )
}
