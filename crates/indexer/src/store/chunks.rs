//! A segment of chunks: immutable, read by position.
//!
//! ```text
//! "SCACHNK1"  count:u64  offset:u64 × (count + 1)  records
//! record      id_len:u16  id  chunk as JSON
//! ```
//! Integers are little-endian; offsets are from the start of the file. The id is separate, so that ties can be
//! broken without parsing the record.

use std::io;
use std::path::Path;

use super::facets::Facets;
use super::map::Map;
use crate::model::Chunk;

const MAGIC: &[u8; 8] = b"SCACHNK1";
const HEADER: usize = 16;

/// Writes a new file, without waiting for the disk.
pub(crate) fn write(path: &Path, chunks: &[&Chunk]) -> io::Result<()> {
    let mut records = Vec::new();
    let mut offsets = Vec::with_capacity(chunks.len() + 1);
    let base = HEADER + 8 * (chunks.len() + 1);
    for chunk in chunks {
        offsets.push((base + records.len()) as u64);
        let too_long = |_| io::Error::other(format!("chunk id `{:.80}…` is too long", chunk.id));
        let id_len = u16::try_from(chunk.id.len()).map_err(too_long)?;
        records.extend(id_len.to_le_bytes());
        records.extend(chunk.id.as_bytes());
        serde_json::to_writer(&mut records, chunk)?;
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
        let record = self.record(row)?;
        let id_len = usize::from(u16::from_le_bytes([*record.first()?, *record.get(1)?]));
        std::str::from_utf8(record.get(2..2 + id_len)?).ok()
    }

    pub(crate) fn get(&self, row: usize) -> Result<Chunk, String> {
        let id_len = self.id(row).ok_or("no such record")?.len();
        let record = self.record(row).ok_or("no such record")?;
        serde_json::from_slice(&record[2 + id_len..]).map_err(|error| error.to_string())
    }

    /// `None` if there is no such row or the record is damaged.
    pub(crate) fn facets(&self, row: usize) -> Option<Facets> {
        let id_len = self.id(row)?.len();
        let record = self.record(row)?.get(2 + id_len..)?;
        serde_json::from_slice(record).ok()
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

fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}
