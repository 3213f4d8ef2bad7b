//! Vectors computed before, by model fingerprint and hash of the text.
//!
//! Two append-only files per model: keys (16 bytes of text hash, 8 bytes of checksum of the vector) and vectors
//! (f32, little-endian). A killed process may leave a torn tail: only complete pairs with a valid checksum count.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::vectors::TextHash;

const KEY: usize = 24;

pub(crate) struct Cache {
    keys_path: PathBuf,
    vectors_path: PathBuf,
    dimension: usize,
    rows: HashMap<TextHash, (u64, [u8; 8])>,
    count: u64,
    vectors: Option<File>,
}

impl Cache {
    /// Opens the cache of the model with this fingerprint, or an empty one.
    pub(crate) fn open(folder: &Path, fingerprint: &str, dimension: usize) -> io::Result<Cache> {
        fs::create_dir_all(folder)?;
        let name = &blake3::hash(fingerprint.as_bytes()).to_hex()[..16];
        let mut cache = Cache {
            keys_path: folder.join(format!("{name}.keys")),
            vectors_path: folder.join(format!("{name}.vectors")),
            dimension,
            rows: HashMap::new(),
            count: 0,
            vectors: None,
        };
        let keys = match fs::read(&cache.keys_path) {
            Ok(keys) => keys,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(cache),
            Err(error) => return Err(error),
        };
        let stored = fs::metadata(&cache.vectors_path).map_or(0, |meta| meta.len());
        let whole = (stored / cache.row_bytes()).min((keys.len() / KEY) as u64);
        for (row, key) in (0..whole).zip(keys.chunks_exact(KEY)) {
            if let Some((hash, sum)) = key.split_first_chunk() {
                let sum = sum.try_into().unwrap_or_default();
                cache.rows.insert(*hash, (row, sum));
            }
        }
        cache.count = whole;
        cache.vectors = File::open(&cache.vectors_path).ok();
        Ok(cache)
    }

    fn row_bytes(&self) -> u64 {
        4 * self.dimension.max(1) as u64
    }

    /// Forgets all vectors; the next addition overwrites them.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.count = 0;
    }

    /// `None` if the vector is absent or damaged.
    pub(crate) fn get(&mut self, hash: &TextHash) -> Option<Vec<f32>> {
        let &(row, sum) = self.rows.get(hash)?;
        let bytes_per_row = self.row_bytes();
        let file = self.vectors.as_mut()?;
        file.seek(SeekFrom::Start(row * bytes_per_row)).ok()?;
        let mut bytes = vec![0; 4 * self.dimension];
        file.read_exact(&mut bytes).ok()?;
        if checksum(&bytes) != sum {
            return None;
        }
        let (floats, _) = bytes.as_chunks();
        Some(floats.iter().copied().map(f32::from_le_bytes).collect())
    }

    /// Appends the vectors of new texts.
    pub(crate) fn add<'a>(
        &mut self,
        pairs: impl Iterator<Item = (TextHash, &'a [f32])>,
    ) -> io::Result<()> {
        let (mut keys, mut vectors) = (Vec::new(), Vec::new());
        for (hash, vector) in pairs {
            if self.rows.contains_key(&hash) {
                continue;
            }
            let start = vectors.len();
            for value in vector {
                vectors.extend(value.to_le_bytes());
            }
            let sum = checksum(&vectors[start..]);
            keys.extend(hash);
            keys.extend(sum);
            self.rows.insert(hash, (self.count, sum));
            self.count += 1;
        }
        let added = (keys.len() / KEY) as u64;
        let kept = self.count - added;
        append(&self.vectors_path, kept * self.row_bytes(), &vectors)?;
        append(&self.keys_path, kept * KEY as u64, &keys)?;
        self.vectors = File::open(&self.vectors_path).ok();
        Ok(())
    }
}

/// Writes after the first `kept` bytes, over the remains of a killed process.
fn append(path: &Path, kept: u64, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false);
    let mut file = options.open(path)?;
    file.set_len(kept)?;
    file.seek(SeekFrom::Start(kept))?;
    file.write_all(bytes)
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut out = [0; 8];
    out.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::vectors::text_hash;

    #[test]
    fn vectors_come_back_and_a_torn_tail_is_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || Cache::open(folder.path(), "model", 2).expect("opened");
        let (a, b) = (text_hash("a"), text_hash("b"));
        let mut cache = open();
        let rows: [(TextHash, &[f32]); 2] = [(a, &[1.0, 0.0]), (b, &[0.0, 1.0])];
        cache.add(rows.into_iter()).expect("added");
        assert_eq!(open().get(&b), Some(vec![0.0, 1.0]));

        let path = open().vectors_path.clone();
        let bytes = fs::read(&path).expect("read");
        fs::write(&path, &bytes[..bytes.len() - 3]).expect("torn");
        let mut torn = open();
        assert_eq!(torn.get(&a), Some(vec![1.0, 0.0]));
        assert_eq!(torn.get(&b), None);
        torn.add(rows.into_iter()).expect("added again");
        assert_eq!(open().get(&b), Some(vec![0.0, 1.0]));
        let mut other = Cache::open(folder.path(), "other", 2).expect("opened");
        assert_eq!(other.get(&a), None);
    }

    #[test]
    fn a_flipped_bit_is_a_miss() {
        let folder = tempfile::tempdir().expect("a folder");
        let a = text_hash("a");
        let mut cache = Cache::open(folder.path(), "model", 1).expect("opened");
        let rows: [(TextHash, &[f32]); 1] = [(a, &[0.5])];
        cache.add(rows.into_iter()).expect("added");
        let mut bytes = fs::read(&cache.vectors_path).expect("read");
        bytes[0] ^= 1;
        fs::write(&cache.vectors_path, bytes).expect("flipped");
        assert_eq!(cache.get(&a), None);
    }
}
