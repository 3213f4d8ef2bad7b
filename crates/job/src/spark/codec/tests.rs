use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::unpack;

/// Text of several blocks of every framing.
fn text() -> Vec<u8> {
    let lines = (0..20_000_u32).map(|n| format!("{{\"Event\":\"{}\",\"n\":{n}}}\n", n % 7));
    lines.collect::<String>().into_bytes()
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).expect("memory is writable");
    encoder.finish().expect("memory is writable")
}

fn zstd(data: &[u8]) -> Vec<u8> {
    compress_to_vec(data, CompressionLevel::Fastest)
}

fn snappy(data: &[u8]) -> Vec<u8> {
    let mut framed = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".to_vec();
    for piece in data.chunks(32 << 10) {
        let packed = snap::raw::Encoder::new()
            .compress_vec(piece)
            .expect("a block");
        framed.extend((packed.len() as u32).to_be_bytes());
        framed.extend(packed);
    }
    framed
}

fn lz4_header(method: u8, packed: usize, length: usize) -> Vec<u8> {
    let mut header = b"LZ4Block".to_vec();
    header.push(method | 6);
    header.extend((packed as u32).to_le_bytes());
    header.extend((length as u32).to_le_bytes());
    header.extend([0; 4]);
    header
}

fn lz4(data: &[u8]) -> Vec<u8> {
    let mut framed = Vec::new();
    for piece in data.chunks(64 << 10) {
        framed.extend(lz4_header(0x10, piece.len(), piece.len()));
        framed.extend(piece);
    }
    // the mark at the end of a stream
    framed.extend(lz4_header(0x10, 0, 0));
    framed
}

fn lzf(data: &[u8]) -> Vec<u8> {
    let mut framed = Vec::new();
    for piece in data.chunks(0xffff) {
        framed.extend(b"ZV\0");
        framed.extend((piece.len() as u16).to_be_bytes());
        framed.extend(piece);
    }
    framed
}

/// The readable data of a stream, and whether it was cut.
fn read(packed: &[u8]) -> (Vec<u8>, bool) {
    let mut stream = unpack(packed).expect("memory is readable");
    let mut data = Vec::new();
    stream
        .read_to_end(&mut data)
        .expect("a cut ends the stream");
    (data, stream.cut.is_some())
}

#[test]
fn every_compression_is_recognized_and_streams_may_follow_each_other() {
    let data = text();
    let (first, second) = data.split_at(data.len() / 3);
    for (name, pack) in [
        ("plain", (|d: &[u8]| d.to_vec()) as fn(&[u8]) -> Vec<u8>),
        ("gzip", gzip),
        ("zstd", zstd),
        ("snappy", snappy),
        ("lz4", lz4),
        ("lzf", lzf),
    ] {
        let both = [pack(first), pack(second)].concat();
        assert_eq!(read(&both), (data.clone(), false), "{name}");
        assert_eq!(read(&pack(b"")), (Vec::new(), false), "{name}");
    }
    let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
    assert_eq!(read(&[skipped, zstd(&data)].concat()), (data, false));
}

#[test]
fn a_cut_stream_gives_a_beginning() {
    let data = text();
    let (first, second) = data.split_at(data.len() / 2);
    for pack in [gzip, zstd, snappy, lz4, lzf] {
        let start = pack(first);
        let both = [start.clone(), pack(second)].concat();
        for cut in (0..both.len()).step_by(both.len() / 97 + 1) {
            let (got, _) = read(&both[..cut]);
            assert!(data.starts_with(&got), "{cut}");
            assert!(cut < start.len() || got.len() >= first.len(), "{cut}");
        }
        let (_, was_cut) = read(&both[..start.len() - 1]);
        assert!(was_cut);
    }
}

/// The writer keeps a frame open until the log is flushed, so its last blocks matter.
#[test]
fn blocks_of_a_cut_zstd_frame_are_not_held_back() {
    let data: Vec<u8> = (0..400_000_u32)
        .flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes())
        .collect();
    let packed = zstd(&data);
    let (got, was_cut) = read(&packed[..packed.len() - 8]);
    assert!(was_cut && data.starts_with(&got));
    assert!(
        got.len() + (256 << 10) > data.len(),
        "{} of {}",
        got.len(),
        data.len()
    );
}

#[test]
fn lz4_matches_may_overlap_what_they_produce() {
    // literals `ab`, then a match of 9 bytes two bytes back, then the literal `c`
    let block = [0x25, b'a', b'b', 2, 0, 0x10, b'c'];
    let stream = |length| [lz4_header(0x20, block.len(), length), block.to_vec()].concat();
    assert_eq!(read(&stream(12)), (b"abababababac".to_vec(), false));
    let (_, was_cut) = read(&stream(13));
    assert!(was_cut, "the stated length is checked");
}

#[test]
fn lzf_matches_may_overlap_what_they_produce() {
    // literals `ab`, a match of 9 bytes and one of 12 bytes two bytes back, the literal `c`
    let chunk = [1, b'a', b'b', 0xe0, 0, 1, 0xe0, 3, 1, 0, b'c'];
    let stream = |length: u16| {
        let header = [b"ZV\x01".to_vec(), vec![0, chunk.len() as u8]].concat();
        [header, length.to_be_bytes().to_vec(), chunk.to_vec()].concat()
    };
    let expected = [b"ab".repeat(11), b"ac".to_vec()].concat();
    assert_eq!(read(&stream(24)), (expected, false));
    let (_, was_cut) = read(&stream(25));
    assert!(was_cut, "the stated length is checked");
}

#[test]
fn damage_is_no_panic() {
    let data = text();
    for pack in [gzip, zstd, snappy, lz4, lzf] {
        let whole = pack(&data[..200_000]);
        for at in (0..whole.len()).step_by(whole.len() / 61 + 1) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            let _ = read(&damaged);
        }
    }
    let _ = read(&lz4_header(0x20, usize::MAX, usize::MAX));
}
