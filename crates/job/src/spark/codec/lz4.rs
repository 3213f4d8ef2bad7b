//! LZ4 in the framing of Spark's `LZ4BlockOutputStream`, different from the LZ4 frame format.
//!
//! Each block: `LZ4Block`, method and level (1 byte), compressed length, length, checksum (4 bytes
//! each, little-endian), data. A block of length 0 ends a stream; another may follow.

use std::io::{self, Read};

use super::{Blocks, MAX_BLOCK, block, damaged, fill};

pub(super) const MAGIC: &[u8] = b"LZ4Block";
const HEADER: usize = 21;
const RAW: u8 = 0x10;
const COMPRESSED: u8 = 0x20;

pub(super) struct Lz4<R>(pub(super) R);

impl<R: Read> Blocks for Lz4<R> {
    fn next(&mut self, to: &mut Vec<u8>) -> io::Result<bool> {
        let mut header = [0; HEADER];
        if !fill(&mut self.0, &mut header)? {
            return Ok(false);
        }
        let number = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            u32::from_le_bytes(bytes) as usize
        };
        let (packed, length) = (number(9), number(13));
        if !header.starts_with(MAGIC) || length > MAX_BLOCK {
            return Err(damaged("an LZ4 block has no valid header"));
        }
        let data = block(&mut self.0, packed)?;
        match header[8] & 0xf0 {
            RAW => to.extend_from_slice(&data),
            COMPRESSED => decompress(&data, length, to)?,
            _ => return Err(damaged("an LZ4 block of an unknown method")),
        }
        Ok(true)
    }
}

/// Decompresses one LZ4 block of a stated length.
fn decompress(mut data: &[u8], length: usize, to: &mut Vec<u8>) -> io::Result<()> {
    let cut = || damaged("an LZ4 block cannot be decompressed");
    let start = to.len();
    let end = start + length;
    while let Some((token, rest)) = data.split_first() {
        data = rest;
        let literals = extended(usize::from(token >> 4), &mut data).ok_or_else(cut)?;
        let (literal, rest) = data.split_at_checked(literals).ok_or_else(cut)?;
        to.extend_from_slice(literal);
        // the last sequence has no match
        let [low, high, rest @ ..] = rest else { break };
        data = rest;
        let back = usize::from(u16::from_le_bytes([*low, *high]));
        let count = extended(usize::from(token & 15), &mut data).ok_or_else(cut)? + 4;
        let from = to.len().checked_sub(back).filter(|from| *from >= start);
        let from = from
            .filter(|_| back > 0 && to.len() + count <= end)
            .ok_or_else(cut)?;
        // a match may overlap its own output
        for at in from..from + count {
            to.push(to[at]);
        }
    }
    (to.len() == end).then_some(()).ok_or_else(cut)
}

/// A length of four bits, extended by further bytes.
fn extended(mut length: usize, data: &mut &[u8]) -> Option<usize> {
    if length < 15 {
        return Some(length);
    }
    loop {
        let (more, rest) = data.split_first()?;
        *data = rest;
        length += usize::from(*more);
        if *more < 255 {
            return Some(length);
        }
    }
}
