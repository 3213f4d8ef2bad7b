//! Lists and reads the documents of a knowledge folder.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use crate::document::Source;
use crate::error::BuildError;
use crate::generated::{self, Questions, beside, is_generated};
use crate::parallel;
use crate::store::files::{self, read_error};
use crate::store::manifest::{Documents, Hash};
use crate::store::stamp::State;

const MAX_DEPTH: usize = 16;

/// From this many files on, threads share the reading and hashing.
const MANY: usize = 256;

/// The documents of an update, sorted by path. Each file is read and hashed once, and only the texts to write stay in memory.
pub(crate) struct Listing {
    pub(crate) documents: Vec<Listed>,
    /// Files of generated questions.
    generated: Vec<(String, PathBuf)>,
    /// Their questions, from the first page that is read on.
    questions: OnceLock<Questions>,
    /// Not later than any state was read.
    pub(crate) listed: SystemTime,
}

pub(crate) struct Listed {
    pub(crate) source: Source,
    pub(crate) hash: Hash,
    /// Whether `source` has its text.
    pub(crate) is_read: bool,
    place: PathBuf,
    state: Option<State>,
}

impl Listed {
    fn unread(path: &str, place: PathBuf, state: Option<State>) -> Listed {
        Listed {
            source: Source::new(path, String::new()),
            hash: Hash::default(),
            is_read: false,
            place,
            state,
        }
    }

    /// The state of the file, if a later update can trust it.
    pub(crate) fn settled(&self, listed: SystemTime) -> Option<State> {
        self.state.filter(|state| state.is_settled(listed))
    }
}

/// Documents in memory.
impl From<Vec<Source>> for Listing {
    fn from(sources: Vec<Source>) -> Listing {
        let listed = sources.into_iter().map(|source| Listed {
            hash: hash(source.text.as_bytes(), &source.generated),
            is_read: true,
            source,
            ..Listed::unread("", PathBuf::new(), None)
        });
        Listing {
            documents: listed.collect(),
            generated: Vec::new(),
            questions: OnceLock::new(),
            listed: SystemTime::now(),
        }
    }
}

impl Listing {
    /// Every document below `knowledge`. Hidden files and folders, links, `README.md` and judgements are left out.
    pub(crate) fn of(knowledge: &Path) -> Result<Listing, BuildError> {
        let listed = SystemTime::now();
        let (mut documents, mut generated) = (Vec::new(), Vec::new());
        walk(knowledge, "", 0, &mut |relative, entry| {
            // Asked of the entry, the system need not look up the whole path.
            let state = entry.metadata().ok().and_then(|about| State::of(&about));
            match is_generated(&relative) {
                true => generated.push((relative, entry.path(), state)),
                false => documents.push(Listed::unread(&relative, entry.path(), state)),
            }
        })?;
        if documents.is_empty() && generated.is_empty() {
            let path = knowledge.to_owned();
            return Err(BuildError::NoDocuments { path });
        }
        documents.sort_unstable_by(|a, b| a.source.path.cmp(&b.source.path));
        // A page changes with the generated questions next to it.
        let states: HashMap<&str, Option<State>> = generated
            .iter()
            .map(|(path, _, state)| (path.as_str(), *state))
            .collect();
        for page in &mut documents {
            if let Some(state) = states.get(beside(&page.source.path).as_str()) {
                page.state = page.state.zip(*state).map(|(page, all)| page.with(all));
            }
        }
        let generated = generated.into_iter();
        Ok(Listing {
            documents,
            generated: generated.map(|(path, place, _)| (path, place)).collect(),
            questions: OnceLock::new(),
            listed,
        })
    }

    /// Hashes the documents that are not read yet, and keeps the texts of those that are not `known`, or of all. A document in its known state
    /// is read only for its text.
    pub(crate) fn read(&mut self, known: Option<&Documents>, all: bool) -> Result<(), BuildError> {
        let read = |listed: &Listed| -> Result<Option<(Hash, Option<Source>)>, BuildError> {
            if listed.is_read {
                return Ok(None);
            }
            let known = known.and_then(|known| known.get(&listed.source.path));
            let is_same = |state: Option<State>| state.is_some() && state == listed.state;
            match known {
                Some(entry) if !all && is_same(entry.state) => Ok(Some((entry.hash, None))),
                known => {
                    let (hash, source) = self.load(listed)?;
                    let is_wanted = all || known.is_none_or(|entry| entry.hash != hash);
                    Ok(Some((hash, is_wanted.then_some(source))))
                }
            }
        };
        let found = parallel::map(&self.documents, MANY, read);
        for (listed, found) in self.documents.iter_mut().zip(found) {
            if let Some((hash, source)) = found? {
                listed.hash = hash;
                listed.is_read = source.is_some();
                if let Some(source) = source {
                    listed.source = source;
                }
            }
        }
        Ok(())
    }

    fn load(&self, Listed { place, source, .. }: &Listed) -> Result<(Hash, Source), BuildError> {
        let bytes = files::read(place).map_err(read_error(place))?;
        let generated = self.generated(&source.path);
        let hash = hash(&bytes, generated);
        // A stray byte in another encoding spoils a word, not the document.
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let mut source = Source::new(&source.path, text);
        source.generated = generated.to_vec();
        Ok((hash, source))
    }

    /// Generated questions of the page at `path`.
    fn generated(&self, path: &str) -> &[String] {
        let all = self.questions.get_or_init(|| {
            // The linter reports a file that cannot be read.
            let parse = |(path, place): &(String, PathBuf)| {
                generated::parse(path, &files::read_text(place).unwrap_or_default())
            };
            self.generated
                .iter()
                .filter_map(|file| parse(file).ok())
                .flatten()
                .collect()
        });
        all.get(path).map_or(&[], Vec::as_slice)
    }
}

/// All documents of a folder.
pub(crate) fn sources(knowledge: &Path) -> Result<Vec<Source>, BuildError> {
    let mut listing = Listing::of(knowledge)?;
    listing.read(None, true)?;
    Ok(listing
        .documents
        .into_iter()
        .map(|listed| listed.source)
        .collect())
}

fn hash(bytes: &[u8], generated: &[String]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(bytes);
    for question in generated {
        hasher.update(question.as_bytes());
        hasher.update(b"\n");
    }
    *hasher.finalize().as_bytes()
}

/// Number of the documents below `knowledge`; `None` if one of them, or a folder with documents, was modified after `listed`, in nanoseconds
/// from 1970.
pub(crate) fn untouched_since(knowledge: &Path, listed: u64) -> Result<Option<usize>, BuildError> {
    let (mut documents, mut folder) = (0, PathBuf::new());
    let is_newer = |about: io::Result<Metadata>| {
        let state = about.ok().and_then(|about| State::of(&about));
        state.is_none_or(|state| state.is_written_after(listed))
    };
    let mut is_touched = is_newer(fs::metadata(knowledge));
    walk(knowledge, "", 0, &mut |relative, entry| {
        if is_touched {
            return;
        }
        is_touched = is_newer(entry.metadata());
        documents += usize::from(!is_generated(&relative));
        let path = entry.path();
        if let Some(parent) = path.parent().filter(|parent| **parent != folder) {
            is_touched |= is_newer(fs::metadata(parent));
            parent.clone_into(&mut folder);
        }
    })?;
    Ok((!is_touched).then_some(documents))
}

/// Calls `found` with each document and each file of generated questions below `folder`, by its relative path.
fn walk(
    folder: &Path,
    prefix: &str,
    depth: usize,
    found: &mut dyn FnMut(String, &DirEntry),
) -> Result<(), BuildError> {
    for entry in fs::read_dir(folder).map_err(read_error(folder))? {
        let entry = entry.map_err(read_error(folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let kind = entry.file_type().map_err(read_error(&entry.path()))?;
        let relative = match prefix {
            "" => name,
            _ => format!("{prefix}/{name}"),
        };
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(&entry.path(), &relative, depth + 1, found)?;
        } else if kind.is_file() && (is_document(&relative) || is_generated(&relative)) {
            found(relative, &entry);
        }
    }
    Ok(())
}

pub(crate) fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.len().checked_sub(3).and_then(|at| name.get(at..));
    let is_markdown = end.is_some_and(|end| end.eq_ignore_ascii_case(".md"))
        && !name.eq_ignore_ascii_case("readme.md");
    is_markdown || path == "files.toml" || path == "glossary.toml"
}

/// Of equal paths the last counts.
pub(crate) fn from_memory(documents: impl IntoIterator<Item = (String, String)>) -> Vec<Source> {
    let documents = documents.into_iter();
    let sources = documents.map(|(path, text)| Source::new(&path, text));
    let by_path: BTreeMap<String, Source> = sources.map(|s| (s.path.clone(), s)).collect();
    let (lists, mut pages): (Vec<Source>, Vec<Source>) = by_path
        .into_values()
        .partition(|source| is_generated(&source.path));
    let lists = lists
        .iter()
        .flat_map(|list| generated::parse(&list.path, &list.text));
    let mut questions: Questions = lists.flatten().collect();
    pages.retain(|page| is_document(&page.path));
    for page in &mut pages {
        page.generated = questions.remove(&page.path).unwrap_or_default();
    }
    pages
}
