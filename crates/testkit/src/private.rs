//! What only one job says: the words of its files that no other job and no public text has.

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

/// The words of `job` that none of `others` has.
pub fn only_in(job: &Path, others: &[&Path]) -> BTreeSet<String> {
    let mut own = words_below(job);
    for other in others.iter().map(|other| words_below(other)) {
        own.retain(|word| !other.contains(word));
    }
    own
}
