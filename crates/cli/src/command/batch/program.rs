//! One hash over everything that affects a report: results of another configuration are other
//! results.

use std::fs;
use std::path::Path;

use batch::Program;
use server::{Documents, Knowledge};

use crate::args::Thinking;
use crate::config::Config;

/// Files that knowledge and prompts consist of.
const EXTENSIONS: [&str; 3] = ["md", "toml", "j2"];

/// `reasoner` describes who reasons.
pub(super) fn program(
    config: &Config,
    thinking: &Thinking,
    knowledge: &Knowledge,
    reasoner: &str,
) -> Program {
    let mut hash = blake3::Hasher::new();
    // without a question, reports are in the language of the interface
    let language = thinking.question.is_none().then(report::interface);
    let language = language.or(config.language);
    let asked = (
        &thinking.question,
        language,
        thinking.depth,
        thinking.hypotheses,
    );
    let how = (thinking.redact, thinking.no_fallback, reasoner);
    let text = format!(
        "{asked:?} {how:?} {:?} {:?}",
        config.embedder, config.reranker
    );
    hash.update(text.as_bytes());
    hash.update(config.diagnosis.to_string().as_bytes());
    add_folders(&mut hash, config, knowledge);
    finished(&hash)
}

/// Hash over everything that affects advice, apart from the results in question.
pub(super) fn adviser(
    config: &Config,
    knowledge: &Knowledge,
    redact: bool,
    reasoner: &str,
) -> Program {
    let mut hash = blake3::Hasher::new();
    hash.update(format!("advice {redact} {reasoner}").as_bytes());
    add_folders(&mut hash, config, knowledge);
    finished(&hash)
}

fn add_folders(hash: &mut blake3::Hasher, config: &Config, knowledge: &Knowledge) {
    if let Documents::Folder(folder) = &knowledge.documents {
        add_folder(hash, folder);
    }
    if let Some(folder) = &config.prompts {
        add_folder(hash, folder);
    }
}

fn finished(hash: &blake3::Hasher) -> Program {
    Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        configuration: hash.finalize().to_string(),
    }
}

/// Names and contents of the files in a folder. An unreadable file is reported by its user.
fn add_folder(hash: &mut blake3::Hasher, folder: &Path) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let extension = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        if path.is_dir() {
            hash.update(name.as_encoded_bytes());
            add_folder(hash, &path);
        } else if EXTENSIONS.contains(&extension) {
            let content = fs::read(&path).unwrap_or_default();
            hash.update(name.as_encoded_bytes());
            hash.update(blake3::hash(&content).as_bytes());
        }
    }
}
