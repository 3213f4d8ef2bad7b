//! Zstandard: any number of frames; the last one may be truncated.

use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{Blocks, damaged, fill};

/// Bytes decompressed at a time.
const PIECE: usize = 256 << 10;

/// An empty last block and an unchecked checksum: ends a truncated frame.
const END_OF_FRAME: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Whether a frame or a skippable frame begins.
pub(super) fn is_magic(bytes: &[u8]) -> bool {
    match bytes {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => true,
        [low, 0x2a, 0x4d, 0x18, ..] => low & 0xf0 == 0x50,
        _ => false,
    }
}

pub(super) struct Zstd<R> {
    stream: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: Read> Zstd<R> {
    pub(super) fn new(stream: R) -> Zstd<R> {
        Zstd {
            stream,
            decoder: FrameDecoder::new(),
            in_frame: false,
        }
    }

    /// Begins the next frame; false at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            let mut magic = [0; 4];
            if !fill(&mut self.stream, &mut magic)? {
                return Ok(false);
            }
            match self.decoder.reset(magic.chain(&mut self.stream)) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = (&mut self.stream).take(u64::from(length));
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(FrameDecoderError::WindowSizeTooBig { requested, max }) => {
                    return Err(window(requested, max));
                }
                Err(error) => return Err(io::Error::other(error.to_string())),
            }
        }
    }
}

fn window(requested: u64, most: u64) -> io::Error {
    let (requested, most) = (requested.div_ceil(1 << 20), most >> 20);
    let reason = format!("its zstd window of {requested} MiB exceeds {most} MiB");
    io::Error::new(io::ErrorKind::Unsupported, reason)
}

impl<R: Read> Blocks for Zstd<R> {
    fn next(&mut self, to: &mut Vec<u8>) -> io::Result<bool> {
        if !self.in_frame && !self.begin()? {
            return Ok(false);
        }
        let strategy = BlockDecodingStrategy::UptoBytes(PIECE);
        match self.decoder.decode_blocks(&mut self.stream, strategy) {
            Ok(finished) => self.in_frame = !finished,
            Err(error) => {
                // the decoder holds back the data of a frame until its end
                let end = BlockDecodingStrategy::All;
                let ended = self.decoder.decode_blocks(&END_OF_FRAME[..], end);
                self.in_frame = false;
                if ended.is_err() || self.decoder.can_collect() == 0 {
                    return Err(io::Error::other(error.to_string()));
                }
                self.decoder.collect_to_writer(&mut *to)?;
                self.in_frame = true;
                return Ok(true);
            }
        }
        self.decoder
            .collect_to_writer(to)
            .map_err(|_| damaged("a frame cannot be decompressed"))?;
        Ok(true)
    }
}
