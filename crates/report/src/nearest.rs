//! The nearest known name for a misspelled one.

/// Least similarity of a name that is probably meant: about one letter of three differs.
const SIMILAR: f64 = 0.65;

/// The known name that is most like a word, letter case aside; `None` if none is near.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let alike = |name: &str| strsim::normalized_damerau_levenshtein(&lower, &name.to_lowercase());
    let near = known.into_iter().map(|name| (alike(name), name));
    let near = near.filter(|(alike, _)| *alike >= SIMILAR);
    near.max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_finds_its_name_and_another_word_none() {
        let known = ["skew.join_hot_key", "memory.spill", "queue.wait"];
        assert_eq!(nearest("memory.spil", known), Some("memory.spill"));
        assert_eq!(nearest("Queue.Wiat", known), Some("queue.wait"));
        assert_eq!(nearest("banana", known), None);
    }
}
