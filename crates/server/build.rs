//! Packs the knowledge base, which comes with the program, at a quarter of its size: `knowledge.tar.bz2`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use bzip2::Compression;
use bzip2::write::BzEncoder;
use tar::{Builder, Header};

const KNOWLEDGE: &str = "../../knowledge";

/// A file for authors of this knowledge base only.
const LEFT_OUT: &str = "README.md";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed={KNOWLEDGE}");
    let target = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let packed = fs::File::create(target.join("knowledge.tar.bz2"))?;
    let mut archive = Builder::new(BzEncoder::new(packed, Compression::best()));
    let mut hasher = DefaultHasher::new();
    for (name, text) in documents(Path::new(KNOWLEDGE), "")? {
        (&name, &text).hash(&mut hasher);
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, text.as_slice())?;
    }
    archive.into_inner()?.finish()?;
    // Another number for other documents; comparing them at each start would take longer than most calls.
    println!("cargo:rustc-env=KNOWLEDGE_MARK={:016x}", hasher.finish());
    Ok(())
}

/// Relative paths and contents of the files below `folder`, sorted.
fn documents(folder: &Path, prefix: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if name.ends_with(LEFT_OUT) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            found.extend(documents(&entry.path(), &format!("{name}/"))?);
        } else {
            found.push((name, fs::read(entry.path())?));
        }
    }
    found.sort();
    Ok(found)
}
