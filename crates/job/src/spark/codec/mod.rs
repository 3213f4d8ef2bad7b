//! The bytes of a log, independent of its compression.
//!
//! A truncated stream is read up to the cut; [`Unpacked::cut`] then holds the error that ended it.

mod lz4;
mod lzf;
mod snappy;
mod zstd;

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

/// Maximum block size. Real blocks have up to some hundred KiB; a larger one is damaged.
const MAX_BLOCK: usize = 64 << 20;

const BUFFER: usize = 128 << 10;

/// Limit for the expansion of a compressed log: a fixed number of bytes, plus a number per compressed byte. Logs of real applications
/// shrink to a tenth or a fiftieth; a log of the same event over and over shrinks to a three-hundredth.
const EXPANDS_TO: u64 = 64 << 20;
const EXPANDS_BY: u64 = 400;

/// Decompresses block by block.
trait Blocks {
    /// Appends the next block to `to`; false at the end.
    fn next(&mut self, to: &mut Vec<u8>) -> io::Result<bool>;
}

/// A decompressed stream.
pub(crate) struct Unpacked<'a> {
    blocks: Box<dyn Blocks + 'a>,
    ready: Vec<u8>,
    at: usize,
    ended: bool,
    /// Bytes read of the compressed stream, and bytes that they expanded to; `None` for plain text.
    expanded: Option<(Rc<Cell<u64>>, u64)>,
    /// Error that ended the stream early.
    pub(crate) cut: Option<io::Error>,
}

/// Recognizes the compression by the first bytes.
pub(crate) fn unpack<'a>(stream: impl Read + 'a) -> io::Result<Unpacked<'a>> {
    let taken = Rc::new(Cell::new(0));
    let counted = Counted {
        inner: stream,
        taken: Rc::clone(&taken),
    };
    let mut stream = BufReader::with_capacity(BUFFER, counted);
    let magic = first_bytes(&mut stream)?;
    let mut expanded = Some((taken, 0));
    let blocks: Box<dyn Blocks + 'a> = match magic.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(Plain(MultiGzDecoder::new(stream))),
        m if zstd::is_magic(m) => Box::new(zstd::Zstd::new(stream)),
        m if m.starts_with(lz4::MAGIC) => Box::new(lz4::Lz4(stream)),
        m if m.starts_with(snappy::MAGIC) => Box::new(snappy::Snappy::new(stream)),
        m if lzf::is_magic(m) => Box::new(lzf::Lzf(stream)),
        _ => {
            expanded = None;
            Box::new(Plain(stream))
        }
    };
    Ok(Unpacked {
        blocks,
        ready: Vec::new(),
        at: 0,
        ended: false,
        expanded,
        cut: None,
    })
}

impl Unpacked<'_> {
    /// Ends a stream that expands beyond the limit.
    fn count(&mut self) {
        let Some((taken, expanded)) = &mut self.expanded else {
            return;
        };
        *expanded += self.ready.len() as u64;
        let most = EXPANDS_TO + EXPANDS_BY * taken.get();
        if *expanded > most && !self.ended {
            let error = format!("{} bytes expand to more than {most}", taken.get());
            self.cut = Some(io::Error::new(io::ErrorKind::InvalidData, error));
            self.ended = true;
        }
    }
}

/// Counts the bytes that are read.
struct Counted<R> {
    inner: R,
    taken: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(to)?;
        self.taken.set(self.taken.get() + read as u64);
        Ok(read)
    }
}

/// The first bytes of a stream, left in its buffer.
fn first_bytes(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    const LONGEST: usize = 8;
    let head = stream.fill_buf()?;
    Ok(head[..head.len().min(LONGEST)].to_vec())
}

impl Read for Unpacked<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let n = ready.len().min(to.len());
        to[..n].copy_from_slice(&ready[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Unpacked<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.ready.len() && !self.ended {
            self.ready.clear();
            self.at = 0;
            match self.blocks.next(&mut self.ready) {
                Ok(more) => {
                    self.ended = !more;
                    self.count();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.cut = Some(error);
                }
            }
        }
        Ok(&self.ready[self.at..])
    }

    fn consume(&mut self, n: usize) {
        self.at = (self.at + n).min(self.ready.len());
    }
}

/// Passes a stream on in pieces.
struct Plain<R>(R);

impl<R: Read> Blocks for Plain<R> {
    fn next(&mut self, to: &mut Vec<u8>) -> io::Result<bool> {
        let mut piece = self.0.by_ref().take(BUFFER as u64);
        Ok(piece.read_to_end(to)? > 0)
    }
}

/// Fills a buffer; false if the stream is at its end before the first byte.
fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    let mut got = 0;
    while got < buffer.len() {
        match stream.read(&mut buffer[got..]) {
            Ok(0) if got == 0 => return Ok(false),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => got += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Reads a block of a stated length.
fn block(stream: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    if length > MAX_BLOCK {
        return Err(damaged("a block states an impossible length"));
    }
    let mut block = vec![0; length];
    stream.read_exact(&mut block)?;
    Ok(block)
}

fn damaged(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests;
