//! Reads `data/static-table.bin` in place, without copying or allocating. Its
//! format is described in `data/README.md`.

const MAGIC: &[u8; 8] = b"SATOKTAB";
const VERSION: u8 = 2;
const HEADER: usize = 40;

/// Prefix of a continuation token (`##ing`).
const CONTINUATION: &[u8; 2] = b"##";

/// No token is longer, in bytes (`scripts/make-embedder/pack.py` checks it), so no longer prefix is tried.
pub(super) const LONGEST_TOKEN: usize = 64;

#[derive(Debug, Clone, Copy)]
pub(super) struct TokenTable<'a> {
    dimension: usize,
    digest: &'a [u8],
    scales: &'a [u8],
    ends: &'a [u8],
    slots: &'a [u8],
    information: &'a [u8],
    rows: &'a [u8],
    strings: &'a [u8],
}

impl<'a> TokenTable<'a> {
    /// Checks the header and splits the parts, in a few nanoseconds for any size; `None` for other bytes.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() < HEADER || &bytes[..8] != MAGIC || bytes[8] != VERSION {
            return None;
        }
        let dimension = usize::from(u16::from_le_bytes([bytes[10], bytes[11]]));
        let [n, n_slots, n_strings] = [3, 4, 5].map(|at| number(bytes, at) as usize);
        let sizes = [4 * n, 4 * n, 4 * n_slots, n, n * dimension / 2, n_strings];
        // Without an empty slot, the search for an unknown word would not end.
        let is_searchable = n_slots.is_power_of_two() && n_slots > n;
        if !is_searchable || bytes.len() != HEADER + sizes.iter().sum::<usize>() {
            return None;
        }
        let mut rest = &bytes[HEADER..];
        let mut part = |size: usize| {
            let (head, tail) = rest.split_at(size);
            rest = tail;
            head
        };
        Some(TokenTable {
            dimension,
            digest: &bytes[24..HEADER],
            scales: part(sizes[0]),
            ends: part(sizes[1]),
            slots: part(sizes[2]),
            information: part(sizes[3]),
            rows: part(sizes[4]),
            strings: part(sizes[5]),
        })
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// First 16 bytes of the BLAKE3 hash of everything after the header.
    pub(super) fn digest(&self) -> &'a [u8] {
        self.digest
    }

    pub(super) fn len(&self) -> usize {
        self.information.len()
    }

    /// How informative the token is, from 0 (`the`) to 1 (rare).
    pub(super) fn information(&self, token: u32) -> f32 {
        let byte = self.information.get(token as usize);
        byte.map_or(0.0, |&byte| f32::from(byte) / 255.0)
    }

    pub(super) fn add(&self, token: u32, sum: &mut [f32]) {
        let token = token as usize;
        if token >= self.len() {
            return;
        }
        let scale = f32::from_bits(number(self.scales, token));
        let bytes = self.dimension / 2;
        let row = &self.rows[token * bytes..][..bytes];
        // The low half of a byte comes first; shifting it up and down again extends its sign.
        for (sum, &two) in sum.chunks_exact_mut(2).zip(row) {
            sum[0] += scale * f32::from((two << 4).cast_signed() >> 4);
            sum[1] += scale * f32::from(two.cast_signed() >> 4);
        }
    }

    /// With `##`, if it has one.
    pub(super) fn bytes(&self, token: u32) -> &'a [u8] {
        let token = token as usize;
        let start = match token {
            0 => 0,
            _ => number(self.ends, token - 1) as usize,
        };
        let end = number(self.ends, token) as usize;
        self.strings.get(start..end).unwrap_or_default()
    }

    /// The longest token that `text` starts with, and its length in `text`. A continuation is looked up as `##text`.
    pub(super) fn longest_prefix(&self, text: &[u8], continuation: bool) -> Option<(u32, usize)> {
        let text = &text[..text.len().min(LONGEST_TOKEN)];
        let marker: &[u8] = if continuation { CONTINUATION } else { &[] };
        let mut hashes = [0; LONGEST_TOKEN];
        let mut hash = marker.iter().fold(FNV_OFFSET, |hash, &b| fnv1a(hash, b));
        for (slot, &byte) in hashes.iter_mut().zip(text) {
            hash = fnv1a(hash, byte);
            *slot = hash;
        }
        (1..=text.len()).rev().find_map(|length| {
            self.find(hashes[length - 1], marker, &text[..length])
                .map(|token| (token, length))
        })
    }

    fn find(&self, hash: u32, marker: &[u8], text: &[u8]) -> Option<u32> {
        let n_slots = self.slots.len() / 4;
        let hash = spread(hash);
        // A probe ends at an empty slot; the bound is for damaged tables.
        for step in 0..n_slots {
            let slot = number(self.slots, (hash as usize + step) & (n_slots - 1));
            let token = (slot & 0xFFFF).checked_sub(1)?;
            let same_hash = slot >> 16 == hash >> 16;
            if same_hash && self.bytes(token).strip_prefix(marker) == Some(text) {
                return Some(token);
            }
        }
        None
    }
}

/// The `index`-th little-endian number of `bytes`; 0 past the end.
fn number(bytes: &[u8], index: usize) -> u32 {
    bytes
        .get(4 * index..4 * index + 4)
        .and_then(|b| b.try_into().ok())
        .map_or(0, u32::from_le_bytes)
}

pub(super) const FNV_OFFSET: u32 = 0x811C_9DC5;

pub(super) fn fnv1a(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

/// Mixes the high bits down, since slots and buckets use the low ones.
pub(super) fn spread(hash: u32) -> u32 {
    let hash = (hash ^ (hash >> 15)).wrapping_mul(0x2C1B_3C6D);
    hash ^ (hash >> 13)
}
