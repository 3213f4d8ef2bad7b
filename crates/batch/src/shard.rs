//! A part of a manifest, for schedulers that start the same call n times.

use std::fmt;
use std::str::FromStr;

use crate::result::Entry;

/// `i/n`, with i from 0 to n - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// Whether a job belongs to it. Depends on the job's address only: planning more moves no job.
    pub fn has(self, entry: &Entry) -> bool {
        let hash = blake3::hash(entry.uri.as_bytes());
        let start = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        u64::from_le_bytes(start) % self.count == self.index
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, count)) if index < count => Ok(Shard { index, count }),
            _ => Err("expected INDEX/COUNT with INDEX from 0 to COUNT - 1, e.g. 0/4".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_a_partition() {
        let entries: Vec<Entry> = (0..1000)
            .map(|n| Entry {
                uri: format!("jobs/{n}"),
                etag: "1".to_owned(),
                size: 1,
            })
            .collect();
        for count in [1, 2, 7] {
            let shards: Vec<Shard> = (0..count)
                .map(|index| format!("{index}/{count}").parse().expect("a shard"))
                .collect();
            let holders = |entry: &Entry| shards.iter().filter(|shard| shard.has(entry)).count();
            assert!(entries.iter().all(|entry| holders(entry) == 1));
            let smallest = shards
                .iter()
                .map(|shard| entries.iter().filter(|e| shard.has(e)).count());
            assert!(smallest.min() > Some(1000 / count / 2));
        }
        for bad in ["", "1", "1/1", "4/4", "-1/2", "0/0", "a/b"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
