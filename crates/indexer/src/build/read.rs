//! Lists and reads the documents of a knowledge folder.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use crate::document::Source;
use crate::error::BuildError;
use crate::generated::{self, Questions, beside, is_generated};
use crate::parallel;
use crate::store::files::read_error;
use crate::store::manifest::Documents;
use crate::store::stamp::State;

/// A playbook has a few kilobytes; a file this large is a mistake.
const MAX_BYTES: u64 = 16 << 20;

const MAX_DEPTH: usize = 16;

/// From this many files on, threads share the reading and hashing.
const MANY: usize = 256;

/// The documents of an update, sorted by path. All files are read once for their hash. Only documents to write
/// are read again, so memory holds no others.
pub(crate) struct Listing {
    /// Without text until [`Listing::load`], unless they came from memory.
    pub(crate) sources: Vec<Source>,
    /// Empty if the documents came from memory.
    places: Vec<Place>,
    /// Files of generated questions.
    generated: Vec<(String, PathBuf)>,
    /// Their questions, from the first page that is read on.
    questions: OnceLock<Questions>,
    /// Not later than any state was read.
    listed: SystemTime,
}

/// Location of a document.
struct Place {
    path: PathBuf,
    state: Option<State>,
}

impl From<Vec<Source>> for Listing {
    fn from(sources: Vec<Source>) -> Listing {
        Listing {
            sources,
            places: Vec::new(),
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
        let mut found = Vec::new();
        walk(knowledge, "", 0, &mut |relative, entry| {
            // Asked of the entry, the system need not look up the whole path.
            let state = entry.metadata().ok().and_then(|about| State::of(&about));
            let path = entry.path();
            found.push((relative, Place { path, state }));
        })?;
        if found.is_empty() {
            let path = knowledge.to_owned();
            return Err(BuildError::NoDocuments { path });
        }
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let (generated, mut found): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(path, _)| is_generated(path));
        // A page changes with the generated questions next to it.
        let states: HashMap<&str, Option<State>> = generated
            .iter()
            .map(|(path, place)| (path.as_str(), place.state))
            .collect();
        for (path, place) in &mut found {
            if let Some(state) = states.get(beside(path).as_str()) {
                place.state = place.state.zip(*state).map(|(page, all)| page.with(all));
            }
        }
        let (paths, places): (Vec<String>, Vec<Place>) = found.into_iter().unzip();
        let unread = |path: &String| Source::new(path, String::new());
        Ok(Listing {
            sources: paths.iter().map(unread).collect(),
            places,
            generated: generated
                .into_iter()
                .map(|(path, place)| (path, place.path))
                .collect(),
            questions: OnceLock::new(),
            listed,
        })
    }

    /// Generated questions of the page at `path`.
    fn generated(&self, path: &str) -> &[String] {
        let read = || {
            let mut all = Questions::new();
            for (path, place) in &self.generated {
                // The linter reports a file that cannot be read.
                let text = fs::read_to_string(place).unwrap_or_default();
                all.extend(generated::parse(path, &text).unwrap_or_default());
            }
            all
        };
        let all = self.questions.get_or_init(read);
        all.get(path).map_or(&[], Vec::as_slice)
    }

    /// File states of the documents, for documents whose state a later update can trust.
    pub(crate) fn settled_states(&self) -> HashMap<&str, State> {
        let paths = self.sources.iter().map(|source| source.path.as_str());
        let states = self.places.iter().map(|place| place.state);
        let known = paths
            .zip(states)
            .filter_map(|(path, state)| Some((path, state?)));
        known
            .filter(|(_, state)| state.is_settled(self.listed))
            .collect()
    }

    /// Without the documents at these positions, which are sorted.
    pub(crate) fn remove(&mut self, positions: &[usize]) {
        for &at in positions.iter().rev() {
            self.sources.remove(at);
            if !self.places.is_empty() {
                self.places.remove(at);
            }
        }
    }

    /// The hashes of all documents. A document in its `known` state is not read.
    pub(crate) fn hashes(&self, known: Option<&Documents>) -> Result<Vec<String>, BuildError> {
        if self.places.is_empty() {
            let hash = |source: &Source| hash(source.text.as_bytes(), &source.generated);
            return Ok(parallel::map(&self.sources, MANY, hash));
        }
        let known = |source: &Source, place: &Place| {
            let entry = known?.get(&source.path)?;
            (entry.state.is_some() && entry.state == place.state).then(|| entry.hash.clone())
        };
        let all: Vec<(&Source, &Place)> = self.sources.iter().zip(&self.places).collect();
        let parts: Vec<_> = all.chunks(MANY).collect();
        let part = |documents: &&[(&Source, &Place)]| -> Result<Vec<String>, BuildError> {
            // One buffer for all files: allocating thousands costs more than reading them.
            let mut bytes = Vec::new();
            let mut hashed = |&(source, place): &(&Source, &Place)| {
                if let Some(hash) = known(source, place) {
                    return Ok(hash);
                }
                read_bytes(&place.path, &mut bytes).map_err(read_error(&place.path))?;
                Ok(hash(&bytes, self.generated(&source.path)))
            };
            documents.iter().map(&mut hashed).collect()
        };
        let parts = parallel::map(&parts, 2, part).into_iter();
        let parts = parts.collect::<Result<Vec<_>, BuildError>>()?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Reads the texts at these positions and updates their hashes: a document may have changed since it was listed.
    pub(crate) fn load(
        &mut self,
        positions: &[usize],
        hashes: &mut [String],
    ) -> Result<(), BuildError> {
        if self.places.is_empty() {
            return Ok(());
        }
        let read = |&at: &usize| -> Result<(usize, String, Source), BuildError> {
            let (place, mut bytes) = (&self.places[at].path, Vec::new());
            read_bytes(place, &mut bytes).map_err(read_error(place))?;
            let path = &self.sources[at].path;
            let generated = self.generated(path).to_vec();
            let hash = hash(&bytes, &generated);
            // A stray byte in another encoding spoils a word, not the document.
            let text = match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            };
            let source = Source::new(path, text);
            Ok((
                at,
                hash,
                Source {
                    generated,
                    ..source
                },
            ))
        };
        for read in parallel::map(positions, MANY, read) {
            let (at, hash, source) = read?;
            hashes[at] = hash;
            self.sources[at] = source;
        }
        Ok(())
    }
}

pub(crate) fn sources(knowledge: &Path) -> Result<Vec<Source>, BuildError> {
    let mut listing = Listing::of(knowledge)?;
    let all: Vec<usize> = (0..listing.sources.len()).collect();
    listing.load(&all, &mut vec![String::new(); all.len()])?;
    Ok(listing.sources)
}

fn hash(bytes: &[u8], generated: &[String]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(bytes);
    for question in generated {
        hasher.update(question.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().to_string()
}

/// Number of the documents below `knowledge`; `None` if one of them, or a folder with documents, was modified after `written`.
pub(crate) fn untouched_since(
    knowledge: &Path,
    written: SystemTime,
) -> Result<Option<usize>, BuildError> {
    let (mut documents, mut is_touched) = (0, false);
    let mut folder = PathBuf::new();
    let is_newer = |about: io::Result<Metadata>| {
        let state = about.ok().and_then(|about| State::of(&about));
        state.is_none_or(|state| state.is_written_after(written))
    };
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
    is_touched |= is_newer(fs::metadata(knowledge));
    Ok((!is_touched).then_some(documents))
}

/// Calls `found` with each document and each file of generated questions below `folder`, by its relative path.
fn walk(
    folder: &Path,
    prefix: &str,
    depth: usize,
    found: &mut dyn FnMut(String, &DirEntry),
) -> Result<(), BuildError> {
    let entries = fs::read_dir(folder).map_err(read_error(folder))?;
    for entry in entries {
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

/// Reads the file in as few system calls as possible: with thousands of documents they take most of an update's time.
fn read_bytes(path: &Path, bytes: &mut Vec<u8>) -> io::Result<()> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > MAX_BYTES {
        let reason = format!("it has {size} bytes, a document may have {MAX_BYTES}");
        return Err(io::Error::other(reason));
    }
    bytes.clear();
    bytes.reserve(size as usize);
    // The limit saves the call that would only find the end.
    file.take(size).read_to_end(bytes)?;
    Ok(())
}

/// Of equal paths the last counts.
pub(crate) fn from_memory(documents: impl IntoIterator<Item = (String, String)>) -> Vec<Source> {
    let sources = documents
        .into_iter()
        .map(|(path, text)| Source::new(&path, text));
    let by_path = sources.map(|source| (source.path.clone(), source));
    let by_path: BTreeMap<String, Source> = by_path.collect();
    let (lists, pages): (Vec<_>, Vec<_>) = by_path
        .into_values()
        .partition(|source| is_generated(&source.path));
    let lists = lists
        .iter()
        .map(|list| generated::parse(&list.path, &list.text));
    let mut questions: Questions = lists.flatten().flatten().collect();
    let pages = pages.into_iter().filter(|page| is_document(&page.path));
    let with_questions = |page: Source| Source {
        generated: questions.remove(&page.path).unwrap_or_default(),
        ..page
    };
    pages.map(with_questions).collect()
}
