//! Vectors by row, in int8 with a scale per row, each with the hash of the text that it was made from.
//!
//! ```text
//! "SCAVECT2"  dimension:u32  (padding to 64)
//! row         text hash:16 bytes  checksum of hash, scale and cells:4 bytes  scale:f32  int8 × dimension  (padding to 4)
//! ```
//! Little-endian. Rows are only appended and never change, so readers keep their map while a writer works. Rows that no commit uses, as after
//! a killed writer, are found again by their hash: an interrupted update embeds no text twice.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

use super::files::open_regular;
use super::kernel::{dot_i8, dot_mixed};

const MAGIC: &[u8; 8] = b"SCAVECT2";
const HEADER: usize = 64;
const HASH: usize = 16;
/// Start of the scale and of the cells in a row.
const SCALE: usize = HASH + 4;
const CELLS: usize = SCALE + 4;

pub(crate) type TextHash = [u8; HASH];

/// Identifies a text, independent of the model.
pub(crate) fn text_hash(text: &str) -> TextHash {
    first(blake3::hash(text.as_bytes()))
}

fn first<const N: usize>(hash: blake3::Hash) -> [u8; N] {
    std::array::from_fn(|at| hash.as_bytes()[at])
}

fn stride(dimension: usize) -> usize {
    CELLS + dimension.next_multiple_of(4)
}

fn checksum(row: &[u8]) -> [u8; 4] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&row[..HASH]).update(&row[SCALE..]);
    first(hasher.finalize())
}

/// A vector in int8: `value ≈ cell * scale`.
pub(crate) struct Quantized {
    cells: Vec<i8>,
    scale: f32,
}

impl Quantized {
    pub(crate) fn new(vector: &[f32]) -> Quantized {
        let largest = vector.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
        let scale = largest / 127.0;
        let cell = |v: &f32| match scale {
            0.0 => 0,
            scale => (v / scale).round() as i8,
        };
        Quantized {
            cells: vector.iter().map(cell).collect(),
            scale,
        }
    }
}

pub(crate) struct Vectors {
    map: OwnedBytes,
    rows: usize,
    dimension: usize,
}

impl Vectors {
    /// Checks the header.
    pub(crate) fn open(path: &Path) -> Result<Vectors, String> {
        let map = mapped(path).map_err(|error| error.to_string())?;
        if map.get(..8) != Some(MAGIC.as_slice()) || map.len() < HEADER {
            return Err("not a file of vectors of this version".to_owned());
        }
        let dimension = map[8..].first_chunk().copied().map(u32::from_le_bytes);
        let dimension = dimension.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        Ok(Vectors {
            rows: (map.len() - HEADER) / stride(dimension),
            dimension,
            map,
        })
    }

    /// Whole rows in the file.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    fn bytes(&self, row: usize) -> &[u8] {
        let stride = stride(self.dimension);
        &self.map[HEADER + row * stride..][..stride]
    }

    /// The vector at `row` in int8, and the factor of its cells.
    pub(crate) fn coarse(&self, row: usize) -> (&[i8], f32) {
        let bytes = self.bytes(row);
        let scale = bytes[SCALE..].first_chunk().copied();
        let cells = bytemuck::cast_slice(&bytes[CELLS..CELLS + self.dimension]);
        (cells, scale.map_or(0.0, f32::from_le_bytes))
    }

    pub(crate) fn hash(&self, row: usize) -> TextHash {
        self.bytes(row).first_chunk().copied().unwrap_or_default()
    }

    pub(crate) fn is_whole(&self, row: usize) -> bool {
        let bytes = self.bytes(row);
        bytes[HASH..SCALE] == checksum(bytes)
    }

    /// Cosine of the vector at `row` with a query of length 1.
    pub(crate) fn cosine(&self, row: usize, query: &[f32]) -> f32 {
        let (cells, scale) = self.coarse(row);
        dot_mixed(cells, query) * scale
    }

    /// As [`Vectors::cosine`], but faster, since the query is rounded too.
    pub(crate) fn coarse_cosine(&self, row: usize, query: &Quantized) -> f32 {
        let (cells, scale) = self.coarse(row);
        dot_i8(cells, &query.cells) as f32 * scale * query.scale
    }

    /// Cosine of two rows.
    pub(crate) fn between(&self, a: usize, b: usize) -> f32 {
        let ((a, a_scale), (b, b_scale)) = (self.coarse(a), self.coarse(b));
        dot_i8(a, b) as f32 * a_scale * b_scale
    }

    pub(crate) fn stored(&self, row: usize) -> Quantized {
        let (cells, scale) = self.coarse(row);
        let cells = cells.to_vec();
        Quantized { cells, scale }
    }
}

/// The bytes of a file as they are now; rows that are appended later need another map.
fn mapped(path: &Path) -> io::Result<OwnedBytes> {
    let (_, size) = open_regular(path)?;
    let (folder, name) = (path.parent(), path.file_name());
    let (folder, name) = folder.zip(name).ok_or(io::ErrorKind::NotFound)?;
    let folder = MmapDirectory::open(folder).map_err(io::Error::other)?;
    let file = folder
        .get_file_handle(Path::new(name))
        .map_err(io::Error::other)?;
    file.read_bytes(0..(size as usize).min(file.len()))
}

/// Appends rows to a file of vectors.
pub(crate) struct VectorsWriter {
    file: File,
    dimension: usize,
    rows: usize,
    known: HashMap<TextHash, u32>,
}

impl VectorsWriter {
    /// Opens the file, or creates it. A row that a killed process left unfinished is overwritten.
    pub(crate) fn open(path: &Path, dimension: usize) -> io::Result<VectorsWriter> {
        let known = Vectors::open(path).ok();
        let known = known.filter(|known| known.dimension == dimension);
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(known.is_none());
        let mut writer = VectorsWriter {
            file: options.open(path)?,
            dimension,
            rows: 0,
            known: HashMap::new(),
        };
        match known {
            Some(known) => {
                writer.rows = known.rows;
                let whole = (0..known.rows).filter(|&row| known.is_whole(row));
                let rows = whole.map(|row| (known.hash(row), row as u32));
                writer.known = rows.collect();
            }
            None => {
                let dimension = u32::try_from(dimension).map_err(io::Error::other)?;
                let mut header = [MAGIC.as_slice(), &dimension.to_le_bytes()].concat();
                header.resize(HEADER, 0);
                writer.file.write_all(&header)?;
            }
        }
        let end = HEADER + writer.rows * stride(writer.dimension);
        writer.file.seek(SeekFrom::Start(end as u64))?;
        Ok(writer)
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The row with the vector of a text.
    pub(crate) fn known(&self, hash: &TextHash) -> Option<u32> {
        self.known.get(hash).copied()
    }

    /// Appends the vectors of texts that have none.
    pub(crate) fn add(&mut self, hashes: &[TextHash], vectors: &[Vec<f32>]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for (hash, vector) in hashes.iter().zip(vectors) {
            let Quantized { cells, scale } = Quantized::new(vector);
            let start = bytes.len();
            bytes.extend(hash);
            bytes.extend([0; 4]);
            bytes.extend(scale.to_le_bytes());
            bytes.extend(cells.iter().map(|&cell| cell as u8));
            bytes.resize(start + stride(self.dimension), 0);
            let sum = checksum(&bytes[start..]);
            bytes[start + HASH..start + SCALE].copy_from_slice(&sum);
            self.number(*hash)?;
        }
        self.file.write_all(&bytes)
    }

    /// Gives the vector of a text the next row.
    fn number(&mut self, hash: TextHash) -> io::Result<()> {
        let row = u32::try_from(self.rows).map_err(io::Error::other)?;
        self.known.insert(hash, row);
        self.rows += 1;
        Ok(())
    }

    /// Copies the wanted rows of another file.
    pub(crate) fn adopt(&mut self, other: &Vectors, wanted: &[TextHash]) -> io::Result<()> {
        let wanted: HashSet<&TextHash> = wanted.iter().collect();
        let mut bytes = Vec::new();
        for row in (0..other.rows).filter(|&row| other.is_whole(row)) {
            let hash = other.hash(row);
            if wanted.contains(&hash) && !self.known.contains_key(&hash) {
                bytes.extend(other.bytes(row));
                self.number(hash)?;
            }
        }
        self.file.write_all(&bytes)
    }

    /// Waits for the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, dimension: usize, rows: &[(&str, Vec<f32>)]) {
        let mut writer = VectorsWriter::open(path, dimension).expect("opened");
        let hashes: Vec<TextHash> = rows.iter().map(|(text, _)| text_hash(text)).collect();
        let vectors: Vec<Vec<f32>> = rows.iter().map(|(_, vector)| vector.clone()).collect();
        writer.add(&hashes, &vectors).expect("written");
        writer.sync().expect("synced");
    }

    #[test]
    fn written_vectors_are_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.vec");
        let first = [("a", vec![0.6, 0.8, 0.0]), ("b", vec![0.0; 3])];
        write(&path, 3, &first);
        let reader = Vectors::open(&path).expect("opened");
        write(&path, 3, &[("c", vec![0.0, -1.0, 0.0])]);
        assert_eq!((reader.len(), reader.dimension()), (2, 3));
        let open = Vectors::open(&path).expect("opened");
        assert_eq!(open.len(), 3);
        assert_eq!(open.hash(2), text_hash("c"));
        assert!((0..3).all(|row| open.is_whole(row)));
        let near = |a: f32, b: f32| (a - b).abs() < 0.01;
        let query = [0.0, 1.0, 0.0];
        let rounded = Quantized::new(&query);
        for cosine in [
            |open: &Vectors, row, query: &[f32], _: &Quantized| open.cosine(row, query),
            |open: &Vectors, row, _: &[f32], rounded: &Quantized| open.coarse_cosine(row, rounded),
        ] {
            let cosines = [0, 1, 2].map(|row| cosine(&open, row, &query, &rounded));
            assert!(near(cosines[0], 0.8) && cosines[1] == 0.0 && near(cosines[2], -1.0));
        }
        assert!(near(open.between(0, 2), -0.8));
    }

    #[test]
    fn an_unfinished_or_damaged_row_is_unknown() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.vec");
        let rows = [("a", vec![1.0, 0.0]), ("b", vec![0.0, 1.0])];
        write(&path, 2, &rows);
        let known = |text: &str| {
            let writer = VectorsWriter::open(&path, 2).expect("opened");
            writer.known(&text_hash(text))
        };
        assert_eq!((known("a"), known("b")), (Some(0), Some(1)));
        let whole = std::fs::read(&path).expect("read");
        std::fs::write(&path, &whole[..whole.len() - 3]).expect("torn");
        assert_eq!((known("a"), known("b")), (Some(0), None));
        write(&path, 2, &rows[1..]);
        assert_eq!(std::fs::read(&path).expect("read"), whole);
        let mut flipped = whole.clone();
        flipped[HEADER + CELLS] ^= 1;
        std::fs::write(&path, flipped).expect("flipped");
        assert_eq!((known("a"), known("b")), (None, Some(1)));
        for len in [0, 7, 15] {
            std::fs::write(&path, &whole[..len]).expect("cut");
            assert!(Vectors::open(&path).is_err(), "{len} bytes");
        }
    }
}
