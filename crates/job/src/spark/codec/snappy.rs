//! Snappy in the framing of snappy-java: a header, then blocks with their length in front.

use std::io::{self, Read};

use snap::raw::{Decoder, decompress_len};

use super::{Blocks, MAX_BLOCK, block, damaged, fill};

pub(super) const MAGIC: &[u8] = b"\x82SNAPPY\0";
/// Magic, and two version numbers of four bytes.
const HEADER: usize = 16;

pub(super) struct Snappy<R> {
    stream: R,
    decoder: Decoder,
}

impl<R: Read> Snappy<R> {
    pub(super) fn new(stream: R) -> Snappy<R> {
        Snappy {
            stream,
            decoder: Decoder::new(),
        }
    }
}

impl<R: Read> Blocks for Snappy<R> {
    fn next(&mut self, to: &mut Vec<u8>) -> io::Result<bool> {
        let mut length = [0; 4];
        if !fill(&mut self.stream, &mut length)? {
            return Ok(false);
        }
        if MAGIC.starts_with(&length) {
            // the first stream, or one more that was appended
            block(&mut self.stream, HEADER - length.len())?;
            return Ok(true);
        }
        let packed = block(&mut self.stream, u32::from_be_bytes(length) as usize)?;
        let fault = |_| damaged("a Snappy block cannot be decompressed");
        let size = decompress_len(&packed).map_err(fault)?;
        if size > MAX_BLOCK {
            return Err(damaged("a block states an impossible length"));
        }
        to.resize(size, 0);
        let read = self.decoder.decompress(&packed, to).map_err(fault)?;
        to.truncate(read);
        Ok(true)
    }
}
