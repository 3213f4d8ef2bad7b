//! A segment of chunks: immutable, read by position.
//!
//! ```text
//! "SCACHNK2"  count:u64  offset:u64 × (count + 1)  records
//! record      id_len:u16  id  facets_len:u16  facets, one per line  chunk by postcard
//! ```
//! Integers are little-endian; offsets are from the start of the file. Id and facets are separate, so that candidates
//! are ranked without parsing chunks.

use std::io;
use std::path::Path;

use super::facets::{Facets, names};
use super::map::Map;
use crate::model::Chunk;

const MAGIC: &[u8; 8] = b"SCACHNK2";
const HEADER: usize = 16;

/// Writes a new file, without waiting for the disk.
pub(crate) fn write(path: &Path, chunks: &[&Chunk]) -> io::Result<()> {
    let mut records = Vec::new();
    let mut offsets = Vec::with_capacity(chunks.len() + 1);
    let base = HEADER + 8 * (chunks.len() + 1);
    for chunk in chunks {
        offsets.push((base + records.len()) as u64);
        for text in [&chunk.id, &names(chunk).join("\n")] {
            let too_long = |_| io::Error::other(format!("`{text:.80}…` is too long"));
            let len = u16::try_from(text.len()).map_err(too_long)?;
            records.extend(len.to_le_bytes());
            records.extend(text.as_bytes());
        }
        records = postcard::to_extend(chunk, records).map_err(io::Error::other)?;
    }
    offsets.push((base + records.len()) as u64);
    let mut out = Vec::with_capacity(base + records.len());
    out.extend(MAGIC);
    out.extend((chunks.len() as u64).to_le_bytes());
    for offset in offsets {
        out.extend(offset.to_le_bytes());
    }
    out.extend(records);
    std::fs::write(path, &out)
}

pub(crate) struct Chunks {
    map: Map,
    count: usize,
}

impl Chunks {
    /// Checks everything but the records.
    pub(crate) fn open(path: &Path) -> Result<Chunks, String> {
        let map = Map::open(path).map_err(|error| error.to_string())?;
        if map.get(..8) != Some(MAGIC.as_slice()) {
            return Err("not a segment of chunks of this version".to_owned());
        }
        let count = read_u64(&map, 8).ok_or("the header is cut short")?;
        let count = usize::try_from(count).map_err(|_| "the header is damaged")?;
        let last = count.checked_mul(8).and_then(|n| n.checked_add(HEADER));
        let end = last.and_then(|last| read_u64(&map, last));
        if end != Some(map.len() as u64) {
            return Err("the file is cut short".to_owned());
        }
        Ok(Chunks { map, count })
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// `None` if there is no such row or the record is damaged.
    pub(crate) fn id(&self, row: usize) -> Option<&str> {
        Some(text(self.record(row)?)?.0)
    }

    /// `None` if there is no such row or the record is damaged.
    pub(crate) fn facets(&self, row: usize) -> Option<Facets<'_>> {
        let (_, rest) = text(self.record(row)?)?;
        Some(Facets(text(rest)?.0))
    }

    pub(crate) fn get(&self, row: usize) -> Result<Chunk, String> {
        let chunk = self.record(row).and_then(text);
        let chunk = chunk.and_then(|(_, rest)| text(rest));
        let (_, chunk) = chunk.ok_or("no such record")?;
        postcard::from_bytes(chunk).map_err(|error| error.to_string())
    }

    fn record(&self, row: usize) -> Option<&[u8]> {
        if row >= self.count {
            return None;
        }
        let start = usize::try_from(read_u64(&self.map, HEADER + 8 * row)?).ok()?;
        let end = usize::try_from(read_u64(&self.map, HEADER + 8 * row + 8)?).ok()?;
        self.map.get(start..end)
    }
}

/// Reads a text with its length prefix; returns the text and the remaining bytes.
fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    let (text, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*len)))?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}
