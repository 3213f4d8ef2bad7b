//! Folders of files.

use std::fs;
use std::path::Path;

/// Copies a folder with everything below it.
///
/// # Panics
///
/// If something cannot be read or written.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed") {
        let entry = entry.expect("an entry");
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(path, target).expect("copied");
        }
    }
}

/// A ZIP archive with these files.
///
/// # Panics
/// If a file cannot be compressed.
pub fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).expect("started");
        std::io::Write::write_all(&mut writer, bytes).expect("written");
    }
    writer.finish().expect("an archive").into_inner()
}
