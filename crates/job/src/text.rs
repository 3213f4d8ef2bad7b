//! Decodes bytes to text: UTF-8 with or without byte order mark, UTF-16, and the encoding of an XML declaration.

use std::borrow::Cow;

pub(crate) use report::format::cut as head;

pub(crate) struct Decoded<'a> {
    /// The text, byte order mark removed.
    pub(crate) text: Cow<'a, str>,
    /// Whether bytes were replaced because they are invalid in the encoding.
    pub(crate) replaced: bool,
    pub(crate) encoding: &'static str,
}

/// Decodes a file. Bytes that do not fit become U+FFFD.
pub(crate) fn decode(bytes: &[u8]) -> Decoded<'_> {
    let encoding = encoding_rs::Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| without_mark(bytes))
        .unwrap_or(encoding_rs::UTF_8);
    let (text, encoding, replaced) = encoding.decode(bytes);
    Decoded {
        text,
        replaced,
        encoding: encoding.name(),
    }
}

/// Guesses the encoding without a mark: UTF-16 by its NULs, others by the XML declaration.
fn without_mark(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    match bytes {
        [b'<', 0, second, 0, ..] if *second != 0 => return Some(encoding_rs::UTF_16LE),
        [0, b'<', 0, second, ..] if *second != 0 => return Some(encoding_rs::UTF_16BE),
        _ => {}
    }
    let head = bytes.strip_prefix(b"<?xml")?;
    let end = memchr::memmem::find(&head[..head.len().min(200)], b"?>")?;
    let declaration = &head[..end];
    let at = memchr::memmem::find(declaration, b"encoding")? + "encoding".len();
    let quoted = &declaration[at..];
    let open = quoted.iter().position(|b| matches!(b, b'"' | b'\''))?;
    let label = quoted[open + 1..].split(|b| *b == quoted[open]).next()?;
    // a declaration that could be read as bytes is not UTF-16, even if it says so
    encoding_rs::Encoding::for_label(label).filter(|e| e.is_ascii_compatible())
}

/// The last part of a path, in lower case.
pub(crate) fn base_name(path: &str) -> String {
    let last = path.rsplit(['/', '\\']).next().unwrap_or(path);
    last.to_ascii_lowercase()
}

/// 1-based line of the byte at `offset`.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    memchr::memchr_iter(b'\n', &text.as_bytes()[..offset]).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_recognized_by_mark_nul_or_declaration() {
        assert_eq!(decode("\u{feff}<a/>".as_bytes()).text, "<a/>");
        for text in ["\u{feff}<a 行='1'/>", "<a/>"] {
            for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
                let utf16: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
                assert_eq!(decode(&utf16).text, text.trim_start_matches('\u{feff}'));
            }
        }
        let latin = b"<?xml version=\"1.0\" encoding='iso-8859-1'?><a n='\xe9'/>";
        assert!(decode(latin).text.contains("n='é'"));
        assert!(!decode(latin).replaced);
    }

    #[test]
    fn bytes_of_no_encoding_are_replaced_and_reported() {
        let decoded = decode(b"abc\xff\xfe\x00d");
        assert!(decoded.replaced);
        assert!(decoded.text.starts_with("abc"));
    }

    #[test]
    fn a_head_ends_at_a_character() {
        assert_eq!(head("行号", 4), "行");
        assert_eq!(head("ab", 4), "ab");
        assert_eq!(line_at("a\nb\nc", 2), 2);
        assert_eq!(line_at("a\nb\nc", 99), 3);
    }
}
