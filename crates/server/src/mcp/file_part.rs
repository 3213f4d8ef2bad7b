//! A part of a file's text, by line or by byte.

use job::JobReader;

use super::answers::FilePart;
use super::parameters::ReadJobFile;
use crate::error::{Error, ErrorKind, Explain, Result};

/// Readable bytes of a file. Files that people read are far smaller; the events of a large job are not for a model.
const REACHABLE: u64 = 64 << 20;

/// Maximum bytes of text in one answer: about as much as a model can process at a time.
const MOST: u64 = 256 << 10;

pub(super) fn read(reader: &JobReader, asked: &ReadJobFile) -> Result<FilePart> {
    if asked.line.is_some() && asked.offset.is_some() {
        return Err(
            Error::new(ErrorKind::Usage, "`line` and `offset` exclude each other")
                .hint("give the first line, or the `next_offset` of the previous part"),
        );
    }
    let most = asked.max_bytes.clamp(1, MOST);
    // One extra byte shows whether there is another part.
    let wanted = match (asked.line, asked.offset) {
        (Some(_), _) => REACHABLE,
        (None, offset) => offset.unwrap_or(0).saturating_add(most).saturating_add(1),
    };
    let text = reader.text(&asked.file, wanted.min(REACHABLE) as usize);
    let hint = "inspect_job lists the files of the folder";
    let text = text.explain(ErrorKind::Input, hint)?;
    let start = match asked.line {
        Some(line) => line_start(&text, line),
        None => usize::try_from(asked.offset.unwrap_or(0)).ok(),
    };
    let start = start.filter(|s| *s <= text.len()).ok_or_else(|| {
        let lines = text.lines().count();
        let error = format!(
            "`{}` has {lines} lines and {} bytes of readable text",
            asked.file,
            text.len()
        );
        Error::new(ErrorKind::Input, error).hint("start earlier")
    })?;
    let (start, end) = bounds(&text, start, most as usize);
    let file = reader.files().iter().find(|f| f.name == asked.file);
    Ok(FilePart {
        file: asked.file.clone(),
        kind: file.map_or(job::model::FileKind::Unknown, |f| f.kind),
        bytes: file.map_or(0, |f| f.bytes),
        offset: start as u64,
        line: 1 + text[..start].matches('\n').count() as u64,
        text: text[start..end].to_owned(),
        next_offset: (end < text.len()).then_some(end as u64),
    })
}

/// Byte offset of a line, counted from 1; `None` beyond the last line.
fn line_start(text: &str, line: u64) -> Option<usize> {
    match line {
        0 | 1 => Some(0),
        _ => {
            let before = usize::try_from(line - 2).ok()?;
            let (at, _) = text.match_indices('\n').nth(before)?;
            Some(at + 1)
        }
    }
}

/// Start and end of a part of at most `most` bytes that splits no character and is never empty before the end of the text.
fn bounds(text: &str, start: usize, most: usize) -> (usize, usize) {
    let start = text.floor_char_boundary(start);
    let end = text.floor_char_boundary(start.saturating_add(most));
    if end > start {
        (start, end)
    } else {
        (start, text.ceil_char_boundary(start + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_begin_after_line_ends() {
        let text = "one\ntwo\n\nfour";
        let starts: Vec<_> = (1..=5).map(|line| line_start(text, line)).collect();
        assert_eq!(starts, [Some(0), Some(4), Some(8), Some(9), None]);
    }

    #[test]
    fn parts_follow_each_other_and_cut_no_character() {
        let text = "数据倾斜 skew";
        for most in 1..8 {
            let (mut at, mut joined) = (0, String::new());
            while at < text.len() {
                let (start, end) = bounds(text, at, most);
                assert_eq!(start, at);
                joined.push_str(&text[start..end]);
                at = end;
            }
            assert_eq!(joined, text, "parts of {most} bytes");
        }
        assert_eq!(bounds("", 0, 4), (0, 0));
    }
}
