//! LZF in the chunks of compress-lzf.
//!
//! Each chunk: `ZV`, kind (1 byte); a plain one has its length and data, a compressed one compressed length, length and data. Lengths have
//! two bytes, big-endian. Streams end with their last chunk.

use std::io::{self, Read};

use super::{Blocks, block, damaged, fill};

const PLAIN: u8 = 0;
const COMPRESSED: u8 = 1;

/// Whether a stream begins with a chunk.
pub(super) fn is_magic(head: &[u8]) -> bool {
    matches!(head, [b'Z', b'V', PLAIN | COMPRESSED, ..])
}

pub(super) struct Lzf<R>(pub(super) R);

impl<R: Read> Lzf<R> {
    fn length(&mut self) -> io::Result<usize> {
        let mut length = [0; 2];
        self.0.read_exact(&mut length)?;
        Ok(usize::from(u16::from_be_bytes(length)))
    }
}

impl<R: Read> Blocks for Lzf<R> {
    fn next(&mut self, to: &mut Vec<u8>) -> io::Result<bool> {
        let mut header = [0; 3];
        if !fill(&mut self.0, &mut header)? {
            return Ok(false);
        }
        match header {
            [b'Z', b'V', PLAIN] => {
                let length = self.length()?;
                to.extend(block(&mut self.0, length)?);
            }
            [b'Z', b'V', COMPRESSED] => {
                let (packed, length) = (self.length()?, self.length()?);
                decompress(&block(&mut self.0, packed)?, length, to)?;
            }
            _ => return Err(damaged("an LZF chunk has no valid header")),
        }
        Ok(true)
    }
}

/// Decompresses one chunk of a stated length: runs of literals, and matches up to 8 KiB back.
fn decompress(mut data: &[u8], length: usize, to: &mut Vec<u8>) -> io::Result<()> {
    let cut = || damaged("an LZF chunk cannot be decompressed");
    let start = to.len();
    let end = start + length;
    while let Some((control, rest)) = data.split_first() {
        data = rest;
        let control = usize::from(*control);
        if control < 32 {
            let (literal, rest) = data.split_at_checked(control + 1).ok_or_else(cut)?;
            to.extend_from_slice(literal);
            data = rest;
            continue;
        }
        let mut byte = || {
            let (byte, rest) = data.split_first()?;
            data = rest;
            Some(usize::from(*byte))
        };
        let mut count = (control >> 5) + 2;
        if count == 7 + 2 {
            count += byte().ok_or_else(cut)?;
        }
        let back = ((control & 31) << 8) + byte().ok_or_else(cut)? + 1;
        let from = to.len().checked_sub(back).filter(|from| *from >= start);
        let from = from.filter(|_| to.len() + count <= end).ok_or_else(cut)?;
        // a match may overlap its own output
        for at in from..from + count {
            to.push(to[at]);
        }
    }
    (to.len() == end).then_some(()).ok_or_else(cut)
}
