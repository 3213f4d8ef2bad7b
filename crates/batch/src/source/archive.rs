//! Unpacks `.zip` and `.tar[.gz|.zst]`: files and folders only, within bounds.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use report::say;
use ruzstd::decoding::StreamingDecoder;

use super::Bounds;
use super::inside::inside;
use crate::formats::{Format, format_of};

/// Limit for headers between two files of a tar (long names, attributes); they are read into memory.
const HEADER_BYTES: u64 = 1 << 20;

/// Unpacks an archive into a new folder. Returns the names of links in it, which are left out.
///
/// # Errors
/// The reason why it cannot be unpacked; files written until then remain.
pub(super) fn unpack(
    archive: &Path,
    folder: &Path,
    bounds: &Bounds,
) -> Result<Vec<String>, String> {
    let text = |error: io::Error| error.to_string();
    let file = File::open(archive).map_err(text)?;
    fs::create_dir(folder).map_err(text)?;
    let name = archive.file_name().unwrap_or_default();
    let mut writer = Writer {
        folder,
        bounds,
        bytes: 0,
        entries: 0,
        links: Vec::new(),
    };
    match format_of(&name.to_string_lossy()) {
        Some(Format::Zip) => unzip(file, &mut writer),
        Some(Format::TarGz) => untar(MultiGzDecoder::new(BufReader::new(file)), &mut writer),
        Some(Format::TarZst) => {
            let decoder = StreamingDecoder::new(BufReader::new(file));
            untar(decoder.map_err(|e| e.to_string())?, &mut writer)
        }
        Some(Format::Tar) | None => untar(BufReader::new(file), &mut writer),
    }?;
    Ok(writer.links)
}

/// Writes entries until a bound is reached.
struct Writer<'a> {
    folder: &'a Path,
    bounds: &'a Bounds,
    bytes: u64,
    entries: usize,
    links: Vec<String>,
}

/// Whether an entry is of macOS: attributes of files, in files of their own.
fn is_of_macos(name: &str) -> bool {
    name.split('/')
        .any(|part| part == "__MACOSX" || part.starts_with("._") || part == ".DS_Store")
}

impl Writer<'_> {
    /// Records an entry that is neither a file nor a folder; its name is checked like a file's.
    fn link(&mut self, name: String) -> Result<(), String> {
        /// Links that are reported.
        const MOST: usize = 20;
        inside(self.folder, &name, self.bounds)?;
        if self.links.len() < MOST {
            self.links.push(name);
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), String> {
        self.entries += 1;
        let most = self.bounds.entries;
        match self.entries > most {
            true => Err(too_many(most)),
            false => Ok(()),
        }
    }

    fn folder(&self, name: &str) -> Result<(), String> {
        let path = inside(self.folder, name, self.bounds)?;
        fs::create_dir_all(path).map_err(|e| format!("`{name}`: {e}"))
    }

    fn file(&mut self, name: &str, content: impl Read) -> Result<(), String> {
        let path = inside(self.folder, name, self.bounds)?;
        let failed = |e: io::Error| format!("`{name}`: {e}");
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let mut file = File::create(path).map_err(failed)?;
        let left = self.bounds.bytes - self.bytes;
        // one more, to notice that there is more
        let copied = io::copy(&mut content.take(left + 1), &mut file).map_err(failed)?;
        if copied > left {
            return Err(self.bounds.too_large());
        }
        self.bytes += copied;
        Ok(())
    }
}

fn too_many(most: usize) -> String {
    say!("条目超过 {most} 个", "it has more than {most} entries")
}

/// A library's error about an unreadable archive, after its meaning.
fn incomplete(format: &str, error: &dyn std::error::Error) -> String {
    let error = error.to_string();
    say!(
        "不是完整的 {format} 文件（{error}）",
        "it is not a complete {format} file ({error})"
    )
}

fn unzip(mut file: File, writer: &mut Writer<'_>) -> Result<(), String> {
    let most = writer.bounds.entries;
    // the library reads the whole list of entries into memory
    if entries_of_zip(&mut file).is_some_and(|entries| entries > most) {
        return Err(too_many(most));
    }
    let text = |error: zip::result::ZipError| incomplete("ZIP", &error);
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(text)?;
    for index in 0..archive.len() {
        writer.count()?;
        let entry = archive.by_index(index).map_err(text)?;
        let name = entry.name().map_err(text)?.into_owned();
        if is_of_macos(&name) {
            continue;
        }
        if entry.is_dir() {
            writer.folder(&name)?;
        } else if entry.is_file() {
            writer.file(&name, entry)?;
        } else {
            writer.link(name)?;
        }
    }
    Ok(())
}

/// The number of entries that the end of a ZIP file states; 65535 or more if there are more.
fn entries_of_zip(file: &mut File) -> Option<usize> {
    /// A record of 22 bytes and a comment.
    const END_BYTES: u64 = 22 + 0xffff;
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))
        .ok()?;
    let mut end = Vec::new();
    file.take(END_BYTES).read_to_end(&mut end).ok()?;
    file.rewind().ok()?;
    let records = end
        .windows(22)
        .filter(|record| record.starts_with(b"PK\x05\x06"));
    let entries = records.map(|r| usize::from(u16::from_le_bytes([r[10], r[11]])));
    entries.max()
}

fn untar(archive: impl Read, writer: &mut Writer<'_>) -> Result<(), String> {
    let allowed = Rc::new(Cell::new(HEADER_BYTES));
    let limited = Limited {
        inner: archive,
        allowed: Rc::clone(&allowed),
    };
    let mut archive = tar::Archive::new(limited);
    for entry in archive.entries().map_err(|e| incomplete("tar", &e))? {
        writer.count()?;
        let mut entry = entry.map_err(|e| incomplete("tar", &e))?;
        let kind = entry.header().entry_type();
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let left = writer.bounds.bytes - writer.bytes;
        if entry.size() > left {
            return Err(writer.bounds.too_large());
        }
        allowed.set(entry.size().saturating_add(HEADER_BYTES));
        if is_of_macos(&name) {
            // its content is skipped below
        } else if kind.is_dir() {
            if name != "./" {
                writer.folder(&name)?;
            }
        } else if kind.is_file() || kind.is_contiguous() {
            writer.file(&name, &mut entry)?;
        } else if kind.is_symlink() || kind.is_hard_link() {
            writer.link(name)?;
        } else {
            inside(writer.folder, &name, writer.bounds)?;
        }
        // skips the rest of the entry, so that only headers are left
        io::copy(&mut entry, &mut io::sink()).map_err(|e| e.to_string())?;
        allowed.set(HEADER_BYTES);
    }
    Ok(())
}

/// Ends with an error where more is read than allowed.
struct Limited<R> {
    inner: R,
    allowed: Rc<Cell<u64>>,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let left = self.allowed.get().checked_sub(read as u64);
        self.allowed.set(left.ok_or_else(|| {
            let error = "a header is longer than 1 MiB";
            io::Error::new(io::ErrorKind::InvalidData, error)
        })?);
        Ok(read)
    }
}
