//! Private words of a job: words of its files that no other job and no public text has.

use std::collections::BTreeSet;
use std::path::Path;

/// The words of a text: names, and runs of Chinese.
pub fn words(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names = text.split(|c| !is_part(c));
    let names = names.filter(|w| w.len() > 1 && w.bytes().any(|b| b.is_ascii_alphabetic()));
    let chinese = text.split(|c: char| c.is_ascii() || !c.is_alphabetic());
    let chinese = chinese.filter(|run| run.chars().count() > 1);
    names.chain(chinese).map(str::to_owned).collect()
}

/// The words of all files below a path that are text.
///
/// # Panics
///
/// If the path cannot be read.
pub fn words_below(path: &Path) -> BTreeSet<String> {
    if path.is_file() {
        let text = std::fs::read(path).expect("readable");
        return words(&String::from_utf8_lossy(&text));
    }
    let entries = std::fs::read_dir(path).expect("a folder").flatten();
    let below = entries.map(|entry| words_below(&entry.path()));
    below.flatten().collect()
}

/// Words of a text that name its parts: tags and attributes of XML, keys of JSON.
fn structure(text: &str) -> BTreeSet<String> {
    let quoted = text.split("\":").filter_map(|part| part.rsplit('"').next());
    let assigned = text
        .split("=\"")
        .filter_map(|part| part.rsplit([' ', '<', '\n']).next());
    let tags = text
        .split('<')
        .skip(1)
        .map(|part| part.trim_start_matches('/'));
    let tags = tags.filter_map(|part| part.split([' ', '>', '/', '\n']).next());
    quoted
        .chain(assigned)
        .chain(tags)
        .map(str::to_owned)
        .collect()
}

/// Private words of `job`: no job in `others` has them. Leaves out names of file parts, compiler
/// numbers (`SV3_Combine`, `Join_5`) and the engine's names of errors.
pub fn only_in(job: &Path, others: &[&Path]) -> BTreeSet<String> {
    let mut own = words_below(job);
    for entry in std::fs::read_dir(job).expect("a folder").flatten() {
        let text = std::fs::read(entry.path()).unwrap_or_default();
        let parts = structure(&String::from_utf8_lossy(&text));
        own.retain(|word| !parts.contains(word));
    }
    own.retain(|word| {
        let number = word.rsplit('_').next().unwrap_or_default();
        let is_named = word.starts_with("SV") || word.starts_with("E_");
        !is_named && !number.bytes().all(|b| b.is_ascii_digit())
    });
    for other in others.iter().map(|other| words_below(other)) {
        own.retain(|word| !other.contains(word));
    }
    own
}
