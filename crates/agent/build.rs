//! Collects the words of the program's own sentences, formats and prompts: with `--redact`, a word
//! that the program would use about any job is no secret of one.
//!
//! Writes two texts: `words.txt`, one word per line, and `chinese.txt`, all Chinese passages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Where the sentences and the names of the formats are.
const SOURCES: [&str; 6] = [
    "../agent/src",
    "../diagnosis/src",
    "../job/src",
    "../report/src",
    "../../prompts",
    "../../knowledge/files.toml",
];

fn main() -> io::Result<()> {
    let mut words = BTreeSet::new();
    let mut chinese = BTreeSet::new();
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
        for file in files(Path::new(source))? {
            let text = fs::read_to_string(&file)?;
            let is_code = file.extension().is_some_and(|e| e == "rs");
            for piece in if is_code {
                literals(&text)
            } else {
                vec![without_braces(&text)]
            } {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                words.extend(piece.split(|c| !is_part(c)).map(str::to_owned));
                let runs = piece.split(|c: char| c.is_ascii() || !c.is_alphabetic());
                chinese.extend(runs.filter(|run| !run.is_empty()).map(str::to_owned));
            }
        }
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let lines = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join("\n");
    fs::write(folder.join("words.txt"), lines(words))?;
    fs::write(folder.join("chinese.txt"), lines(chinese))
}

fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        // Tests speak of jobs that could exist.
        if path.file_stem().is_none_or(|name| name != "tests") {
            found.extend(files(&path)?);
        }
    }
    Ok(found)
}

/// The string literals of a file before its tests, without the placeholders in braces.
fn literals(code: &str) -> Vec<String> {
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let quoted = lines.flat_map(|line| {
        let line = line.replace("'\"'", "").replace("\\\"", " ");
        let parts: Vec<String> = line.split('"').map(str::to_owned).collect();
        parts.into_iter().skip(1).step_by(2)
    });
    quoted.map(|literal| without_braces(&literal)).collect()
}

fn without_braces(text: &str) -> String {
    let mut depth = 0_usize;
    let keep = |c: &char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(keep).collect()
}
