//! A segment of vectors: int8 with a scale per row to find candidates, f32 to rank them, and the hash of the text that each was made
//! from.
//!
//! ```text
//! "SCAVECT1"  dimension:u32  rows:u32  (padding to 64)
//! scale:f32 × rows  (padding to 64)
//! int8 × rows × dimension  (padding to 64)
//! f32 × rows × dimension  (padding to 64)
//! text hash:16 bytes × rows
//! ```
//! Little-endian; every part starts at a multiple of 64.

use std::io;
use std::ops::Range;
use std::path::Path;

use super::kernel::{dot_f32, dot_i8};
use super::map::Map;

const MAGIC: &[u8; 8] = b"SCAVECT1";
const ALIGN: usize = 64;

pub(crate) type TextHash = [u8; 16];

/// Identifies a text, independent of the model.
pub(crate) fn text_hash(text: &str) -> TextHash {
    let mut out = [0; 16];
    out.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    out
}

struct Layout {
    scales: Range<usize>,
    coarse: Range<usize>,
    exact: Range<usize>,
    hashes: Range<usize>,
}

impl Layout {
    fn new(rows: usize, dimension: usize) -> Option<Layout> {
        let mut at = ALIGN;
        let mut part = |bytes: usize| {
            let start = at;
            let end = start.checked_add(bytes)?;
            at = end.checked_next_multiple_of(ALIGN)?;
            Some(start..end)
        };
        let cells = rows.checked_mul(dimension)?;
        Some(Layout {
            scales: part(rows.checked_mul(4)?)?,
            coarse: part(cells)?,
            exact: part(cells.checked_mul(4)?)?,
            hashes: part(rows.checked_mul(16)?)?,
        })
    }
}

/// Appends a vector in int8 to `cells` and returns its scale: `value ≈ cell * scale`.
pub(crate) fn quantize(vector: &[f32], cells: &mut Vec<i8>) -> f32 {
    let largest = vector.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        cells.resize(cells.len() + vector.len(), 0);
        return 0.0;
    }
    let scale = largest / 127.0;
    cells.extend(vector.iter().map(|v| (v / scale).round() as i8));
    scale
}

/// Writes a new file, without waiting for the disk.
pub(crate) fn write(
    path: &Path,
    dimension: usize,
    vectors: &[&[f32]],
    hashes: &[TextHash],
) -> io::Result<()> {
    let too_large = || io::Error::other("too many vectors for one segment");
    let layout = Layout::new(vectors.len(), dimension).ok_or_else(too_large)?;
    let mut out = Vec::with_capacity(layout.hashes.end);
    out.extend(MAGIC);
    for number in [dimension, vectors.len()] {
        let number = u32::try_from(number).map_err(|_| too_large())?;
        out.extend(number.to_le_bytes());
    }
    out.resize(layout.scales.start, 0);
    let mut cells = Vec::with_capacity(layout.coarse.len());
    for vector in vectors {
        if vector.len() != dimension {
            return Err(io::Error::other("a vector of another dimension"));
        }
        out.extend(quantize(vector, &mut cells).to_le_bytes());
    }
    out.resize(layout.coarse.start, 0);
    out.extend(cells.iter().map(|&cell| cell as u8));
    out.resize(layout.exact.start, 0);
    for value in vectors.iter().copied().flatten() {
        out.extend(value.to_le_bytes());
    }
    out.resize(layout.hashes.start, 0);
    out.extend(hashes.iter().flatten());
    std::fs::write(path, &out)
}

pub(crate) struct Vectors {
    map: Map,
    rows: usize,
    dimension: usize,
    layout: Layout,
}

impl Vectors {
    /// Checks the header and the length.
    pub(crate) fn open(path: &Path) -> Result<Vectors, String> {
        if cfg!(target_endian = "big") {
            return Err("vectors are stored little-endian, this machine is not".to_owned());
        }
        let map = Map::open(path).map_err(|error| error.to_string())?;
        if map.get(..8) != Some(MAGIC.as_slice()) {
            return Err("not a segment of vectors of this version".to_owned());
        }
        let field = |at: usize| -> Option<usize> {
            let bytes = map.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let (dimension, rows) = field(8).zip(field(12)).ok_or("the header is cut short")?;
        let layout = Layout::new(rows, dimension).ok_or("the header is damaged")?;
        if map.len() != layout.hashes.end {
            return Err("the file is cut short".to_owned());
        }
        Ok(Vectors {
            map,
            rows,
            dimension,
            layout,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(crate) fn exact(&self, row: usize) -> &[f32] {
        let all: &[f32] = bytemuck::cast_slice(&self.map[self.layout.exact.clone()]);
        &all[row * self.dimension..(row + 1) * self.dimension]
    }

    /// The vector at `row` in int8, and the factor of its cells.
    pub(crate) fn coarse(&self, row: usize) -> (&[i8], f32) {
        let scales: &[f32] = bytemuck::cast_slice(&self.map[self.layout.scales.clone()]);
        let cells: &[i8] = bytemuck::cast_slice(&self.map[self.layout.coarse.clone()]);
        let cells = &cells[row * self.dimension..(row + 1) * self.dimension];
        (cells, scales[row])
    }

    pub(crate) fn hash(&self, row: usize) -> TextHash {
        let at = self.layout.hashes.start + 16 * row;
        let mut out = [0; 16];
        out.copy_from_slice(&self.map[at..at + 16]);
        out
    }

    /// Cosine of the vector at `row` with a query of length 1.
    pub(crate) fn cosine(&self, row: usize, query: &[f32]) -> f32 {
        dot_f32(self.exact(row), query)
    }

    /// As [`Vectors::cosine`], to about two digits and in a quarter of the memory traffic.
    pub(crate) fn coarse_cosine(&self, row: usize, query: &Quantized) -> f32 {
        let (cells, scale) = self.coarse(row);
        dot_i8(cells, &query.cells) as f32 * scale * query.scale
    }
}

pub(crate) struct Quantized {
    cells: Vec<i8>,
    scale: f32,
}

impl Quantized {
    pub(crate) fn new(query: &[f32]) -> Quantized {
        let mut cells = Vec::with_capacity(query.len());
        let scale = quantize(query, &mut cells);
        Quantized { cells, scale }
    }

    pub(crate) fn stored(vectors: &Vectors, row: usize) -> Quantized {
        let (cells, scale) = vectors.coarse(row);
        Quantized {
            cells: cells.to_vec(),
            scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.vec");
        let rows: [&[f32]; 3] = [&[0.6, 0.8, 0.0], &[0.0; 3], &[0.0, -1.0, 0.0]];
        let hashes = ["a", "b", "c"].map(text_hash);
        write(&path, 3, &rows, &hashes).expect("written");
        let open = Vectors::open(&path).expect("opened");
        assert_eq!((open.len(), open.dimension()), (3, 3));
        assert_eq!(open.exact(0), [0.6, 0.8, 0.0]);
        assert_eq!(open.hash(2), text_hash("c"));
        let query = Quantized::new(&[0.0, 1.0, 0.0]);
        let cosines = [0, 1, 2].map(|row| open.coarse_cosine(row, &query));
        let near = |a: f32, b: f32| (a - b).abs() < 0.01;
        assert!(near(cosines[0], 0.8) && cosines[1] == 0.0 && near(cosines[2], -1.0));
    }

    #[test]
    fn a_cut_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.vec");
        write(&path, 2, &[&[1.0, 0.0]], &[text_hash("a")]).expect("written");
        let bytes = std::fs::read(&path).expect("read");
        for len in [0, 7, 15, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..len]).expect("cut");
            assert!(Vectors::open(&path).is_err(), "{len} bytes");
        }
    }
}
