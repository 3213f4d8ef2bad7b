//! Writes the next generation next to the current one, checks it and switches to it.

use std::collections::hash_map::Entry as MapEntry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::embed::{Embedded, embed};
use super::plan::Plan;
use super::{Phase, Progress, Summary, open_cache, start};
use crate::chunk::Contents;
use crate::context;
use crate::document::Source;
use crate::embed::Embedder;
use crate::error::BuildError;
use crate::glossary::Glossary;
use crate::model::{Chunk, Engine};
use crate::parallel;
use crate::settings::Rebuild;
use crate::store::files::{self, read_error, write_error};
use crate::store::generation::{Held, Writer};
use crate::store::lexical::{Entry, Lexical, LexicalWriter};
use crate::store::manifest::{
    BM25, DOCUMENTS, DocumentEntry, Documents, FileSum, GLOSSARY, MANIFEST, Manifest, Ordinal,
    QUESTIONS, Segment,
};
use crate::store::questions::{Questions, QuestionsWriter};
use crate::store::stamp::{self, State};
use crate::store::vectors::{TextHash, Vectors};
use crate::store::{FORMAT, chunks, vectors};
use crate::{analyze, chunk};

/// From this many documents or chunks on, threads share the work.
const MANY: usize = 16;

pub(crate) struct Job<'a> {
    pub(crate) writer: &'a Writer,
    pub(crate) index: &'a Path,
    pub(crate) sources: &'a [Source],
    pub(crate) cutter: super::Cutter<'a>,
    pub(crate) hashes: &'a [String],
    pub(crate) states: HashMap<&'a str, State>,
    pub(crate) plan: Plan,
    pub(crate) current: Option<(&'a Held, &'a Documents)>,
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) rebuild: Rebuild,
}

impl<'a> Job<'a> {
    /// The generation to continue, unless all is rewritten.
    fn continued(&self) -> Option<(&'a Held, &'a Documents)> {
        self.current.filter(|_| !self.plan.whole)
    }

    fn last_segment(&self) -> u32 {
        let segments = self.current.map(|(held, _)| held.manifest.segments.iter());
        let numbers = segments.into_iter().flatten().map(|s| s.seq);
        numbers.max().unwrap_or(0)
    }

    fn known_files(&self) -> Option<&'a Files> {
        self.current.map(|(held, _)| &held.manifest.files)
    }
}

struct Cut<'a> {
    source: &'a Source,
    hash: &'a str,
    chunks: Vec<Chunk>,
    questions: Vec<String>,
}

/// Writes, checks and publishes the generation that `job` describes.
pub(crate) fn run(job: Job<'_>, progress: &mut dyn FnMut(Progress)) -> Result<Summary, BuildError> {
    start(progress, Phase::Chunk, job.plan.write.len());
    let cuts = cut(&job);
    let new_chunks: Vec<&Chunk> = cuts.iter().flat_map(|cut| &cut.chunks).collect();
    let embedded = embed_texts(&job, &new_chunks, progress)?;

    start(progress, Phase::Write, new_chunks.len());
    let previous = job.current.map(|(held, _)| &*held.manifest.generation);
    let (name, folder) = job.writer.new_generation(previous)?;
    let output = Output {
        seq: 1 + job.last_segment(),
        job: &job,
        folder: &folder,
        files: BTreeMap::new(),
    };
    let manifest = output.write(&name, &cuts, &new_chunks, &embedded)?;

    start(progress, Phase::Verify, manifest.chunks);
    check(&folder, &manifest)?;
    job.writer.publish(&name)?;
    Ok(Summary {
        chunks: manifest.chunks,
        embedded: embedded.embedded,
        cached: embedded.cached,
        generation: name,
        rebuilt: true,
        ..job.plan.summary
    })
}

fn cut<'a>(job: &Job<'a>) -> Vec<Cut<'a>> {
    let (sources, hashes, cutter) = (job.sources, job.hashes, job.cutter);
    parallel::map(&job.plan.write, MANY, |&i| {
        let Contents { chunks, questions } = cutter(&sources[i]);
        Cut {
            source: &sources[i],
            hash: &hashes[i],
            chunks,
            questions,
        }
    })
}

fn embed_texts(
    job: &Job<'_>,
    new_chunks: &[&Chunk],
    progress: &mut dyn FnMut(Progress),
) -> Result<Embedded, BuildError> {
    let texts = parallel::map(new_chunks, MANY, |chunk| context::embedded_text(chunk));
    let anew = matches!(job.rebuild, Rebuild::Reembed | Rebuild::Full);
    let known = match anew {
        true => Known::default(),
        false => Known::open(job),
    };
    let mut cache = open_cache(job.index, job.embedder)?;
    let fingerprint = job.embedder.fingerprint();
    let current = job.current.map(|(held, _)| &held.manifest.embedder);
    let other_model = current.is_some_and(|embedder| *embedder != fingerprint);
    // A rebuild does not trust cached vectors. After a change of the model, the cached vectors of the new model are
    // still valid.
    let trusted = !anew || (job.rebuild == Rebuild::Reembed && other_model);
    if let (false, Some(cache)) = (trusted, &mut cache) {
        cache.clear();
    }
    let known = |hash: &TextHash| known.get(hash);
    embed(&texts, &known, cache, job.embedder, progress)
}

/// Reusable vectors of the previous generation.
#[derive(Default)]
struct Known {
    /// By segment.
    files: HashMap<u32, Vectors>,
    rows: HashMap<TextHash, (u32, usize)>,
}

impl Known {
    /// All rows for a rewrite, otherwise the rows of the documents to be written.
    fn open(job: &Job<'_>) -> Known {
        let mut known = Known::default();
        let Some((held, documents)) = job.current else {
            return known;
        };
        let dead: HashSet<&String> = job.plan.dead.iter().collect();
        for (path, entry) in documents {
            if job.plan.whole || dead.contains(path) {
                known.add(held, entry);
            }
        }
        known
    }

    fn add(&mut self, held: &Held, entry: &DocumentEntry) {
        let Some(segment) = held.manifest.segments.iter().find(|s| s.seq == entry.seq) else {
            return;
        };
        let vectors = match self.files.entry(segment.seq) {
            MapEntry::Occupied(open) => open.into_mut(),
            // Texts of a damaged segment are embedded again.
            MapEntry::Vacant(place) => {
                match Vectors::open(&held.folder.join(segment.vectors_file())) {
                    Ok(open) => place.insert(open),
                    Err(_) => return,
                }
            }
        };
        for row in entry.first..(entry.first + entry.count).min(vectors.len()) {
            self.rows.insert(vectors.hash(row), (segment.seq, row));
        }
    }

    fn get(&self, hash: &TextHash) -> Option<Vec<f32>> {
        let (segment, row) = self.rows.get(hash)?;
        Some(self.files.get(segment)?.exact(*row).to_vec())
    }
}

type Files = BTreeMap<String, FileSum>;

struct Output<'a> {
    job: &'a Job<'a>,
    folder: &'a Path,
    seq: u32,
    files: Files,
}

impl Output<'_> {
    fn write(
        mut self,
        name: &str,
        cuts: &[Cut<'_>],
        new_chunks: &[&Chunk],
        embedded: &Embedded,
    ) -> Result<Manifest, BuildError> {
        let mut segments = self.keep_segments()?;
        if !new_chunks.is_empty() {
            segments.push(self.write_segment(new_chunks, embedded)?);
        }
        self.write_lexical(cuts)?;
        self.write_questions(cuts)?;
        let documents = self.documents(cuts);
        self.write_json(DOCUMENTS, &documents)?;
        let sources = self.job.sources.iter();
        let glossary = sources.filter(|source| source.path == super::GLOSSARY);
        let glossary = glossary.map(|source| Glossary::parse(&source.text)).next();
        self.write_json(GLOSSARY, &glossary.unwrap_or_default())?;
        let manifest = Manifest {
            format: FORMAT,
            chunker: chunk::VERSION.to_owned(),
            analyser: analyze::VERSION.to_owned(),
            embedder: self.job.embedder.fingerprint(),
            dimension: self.job.embedder.dimension(),
            generation: name.to_owned(),
            documents: documents.len(),
            chunks: segments.iter().map(Segment::live_rows).sum(),
            segments,
            files: std::mem::take(&mut self.files),
        };
        self.write_json(MANIFEST, &manifest)?;
        self.sync(&manifest)?;
        Ok(manifest)
    }

    /// Waits until the new files of this generation and all names are on disk.
    fn sync(&self, manifest: &Manifest) -> Result<(), BuildError> {
        let known = self.job.known_files();
        let is_linked =
            |name: &str| is_fixed(name) && known.is_some_and(|known| known.contains_key(name));
        let new = manifest.files.keys().filter(|name| !is_linked(name));
        let new = new.map(String::as_str).chain([MANIFEST]);
        let new: Vec<PathBuf> = new.map(|name| self.folder.join(name)).collect();
        files::sync_all(&new).map_err(write_error(self.folder))?;
        let stores = manifest.has_questions().then_some(QUESTIONS);
        let stores = stores.into_iter().chain([BM25]);
        for folder in stores.map(|store| self.folder.join(store)) {
            files::sync_folder(&folder).map_err(write_error(&folder))?;
        }
        files::sync_folder(self.folder).map_err(write_error(self.folder))?;
        Ok(())
    }

    /// Links the segments that are kept and marks newly dead rows.
    fn keep_segments(&mut self) -> Result<Vec<Segment>, BuildError> {
        let mut out = Vec::new();
        let Some((held, documents)) = self.job.continued() else {
            return Ok(out);
        };
        let plan = &self.job.plan;
        let dead = plan.dead.iter().filter_map(|path| documents.get(path));
        let dead: Vec<&DocumentEntry> = dead.filter(|entry| entry.count > 0).collect();
        for segment in &held.manifest.segments {
            if plan.dropped.contains(&segment.seq) {
                continue;
            }
            let here = dead.iter().filter(|entry| entry.seq == segment.seq);
            let mut segment = segment.clone();
            segment
                .dead
                .extend(here.map(|entry| (entry.first, entry.count)));
            segment.dead.sort_unstable();
            for file in segment.files() {
                let to = self.folder.join(&file);
                files::link_or_copy(&held.folder.join(&file), &to).map_err(write_error(&to))?;
                if let Some(sum) = held.manifest.files.get(&file) {
                    self.files.insert(file, sum.clone());
                }
            }
            out.push(segment);
        }
        stamp::inherit(&held.folder, self.folder);
        Ok(out)
    }

    fn write_segment(
        &mut self,
        chunks: &[&Chunk],
        embedded: &Embedded,
    ) -> Result<Segment, BuildError> {
        let segment = Segment {
            seq: self.seq,
            rows: chunks.len(),
            dead: Vec::new(),
        };
        let (chunks_file, vectors_file) = (segment.chunks_file(), segment.vectors_file());
        let path = self.folder.join(&chunks_file);
        chunks::write(&path, chunks).map_err(write_error(&path))?;
        self.note(&chunks_file)?;
        let path = self.folder.join(&vectors_file);
        let rows = embedded.hashes.iter().map(|hash| &*embedded.by_hash[hash]);
        let (rows, dimension) = (rows.collect::<Vec<_>>(), self.job.embedder.dimension());
        vectors::write(&path, dimension, &rows, &embedded.hashes).map_err(write_error(&path))?;
        self.note(&vectors_file)?;
        Ok(segment)
    }

    fn write_lexical(&mut self, cuts: &[Cut<'_>]) -> Result<(), BuildError> {
        let (seq, dead) = (self.seq, &self.job.plan.dead);
        let before = self.job.continued();
        self.write_store(BM25, before.is_some(), |folder| {
            let mut store = match before {
                Some(_) => LexicalWriter::resume(folder)?,
                None => LexicalWriter::create(folder)?,
            };
            dead.iter().for_each(|document| store.remove(document));
            add_chunks(&mut store, seq, cuts)?;
            store.finish()
        })
    }

    /// Writes no store if there never was a question.
    fn write_questions(&mut self, cuts: &[Cut<'_>]) -> Result<(), BuildError> {
        let (seq, dead) = (self.seq, &self.job.plan.dead);
        let before = self.job.continued();
        let is_continued = before.is_some_and(|(held, _)| held.manifest.has_questions());
        if !is_continued && cuts.iter().all(|cut| cut.questions.is_empty()) {
            return Ok(());
        }
        self.write_store(QUESTIONS, is_continued, |folder| {
            let mut store = match is_continued {
                true => QuestionsWriter::resume(folder)?,
                false => QuestionsWriter::create(folder)?,
            };
            dead.iter().for_each(|document| store.remove(document));
            add_questions(&mut store, seq, cuts)?;
            store.finish()
        })
    }

    /// Has `write` fill the folder of a store, into which the files of the previous generation are linked if it is continued.
    fn write_store(
        &mut self,
        name: &str,
        is_continued: bool,
        write: impl FnOnce(&Path) -> tantivy::Result<()>,
    ) -> Result<(), BuildError> {
        let folder = self.folder.join(name);
        fs::create_dir(&folder).map_err(write_error(&folder))?;
        if let Some((held, _)) = self.job.continued().filter(|_| is_continued) {
            link_store(&held.folder.join(name), &folder)?;
        }
        write(&folder).map_err(|error| BuildError::Lexical {
            path: folder.clone(),
            reason: error.to_string(),
        })?;
        self.note_store(name)
    }

    fn documents(&self, cuts: &[Cut<'_>]) -> Documents {
        let before = self.job.continued().map(|(_, documents)| documents.clone());
        let mut documents = before.unwrap_or_default();
        for path in &self.job.plan.dead {
            documents.remove(path);
        }
        let mut first = 0;
        for cut in cuts {
            let entry = DocumentEntry {
                hash: cut.hash.to_owned(),
                seq: self.seq,
                first,
                count: cut.chunks.len(),
                state: None,
            };
            first += entry.count;
            documents.insert(cut.source.path.clone(), entry);
        }
        for (path, entry) in &mut documents {
            entry.state = self.job.states.get(path.as_str()).copied();
        }
        documents
    }

    fn write_json(&mut self, name: &str, value: &impl Serialize) -> Result<(), BuildError> {
        let path = self.folder.join(name);
        let bytes = serde_json::to_vec(value).map_err(|error| write_error(&path)(error.into()))?;
        fs::write(&path, &bytes).map_err(write_error(&path))?;
        self.note(name)
    }

    /// Records the size and checksum of a file.
    fn note(&mut self, name: &str) -> Result<(), BuildError> {
        let path = self.folder.join(name);
        let bytes = fs::read(&path).map_err(read_error(&path))?;
        let blake3 = blake3::hash(&bytes).to_hex().to_string();
        let bytes = bytes.len() as u64;
        self.files
            .insert(name.to_owned(), FileSum { bytes, blake3 });
        Ok(())
    }

    /// Records the files of a tantivy store; linked files keep their checksum.
    fn note_store(&mut self, store: &str) -> Result<(), BuildError> {
        let known = self.job.known_files();
        let folder = self.folder.join(store);
        for entry in fs::read_dir(&folder).map_err(read_error(&folder))? {
            let entry = entry.map_err(read_error(&folder))?;
            let name = format!("{store}/{}", entry.file_name().to_string_lossy());
            match known.and_then(|known| known.get(&name)) {
                _ if name.ends_with(".lock") => {}
                Some(sum) if is_fixed(&name) => drop(self.files.insert(name, sum.clone())),
                _ => self.note(&name)?,
            }
        }
        Ok(())
    }
}

/// Whether a file with this name stays the same from one generation to the next.
fn is_fixed(name: &str) -> bool {
    !name.ends_with(".json")
}

/// Terms are computed on all cores, one part at a time to bound memory.
fn add_chunks(
    store: &mut LexicalWriter,
    seq: u32,
    cuts: &[Cut<'_>],
) -> Result<(), tantivy::TantivyError> {
    const PART: usize = 4096;
    let asked = parallel::map(cuts, MANY, |cut| context::question_terms(&cut.questions));
    let mut all: Vec<(&Chunk, &str)> = Vec::new();
    for (cut, asked) in cuts.iter().zip(&asked) {
        all.extend(cut.chunks.iter().map(|chunk| (chunk, asked.as_str())));
    }
    for (part, chunks) in all.chunks(PART).enumerate() {
        let words = parallel::map(chunks, MANY, |(chunk, _)| {
            (context::lexical_terms(chunk), context::lexical_pairs(chunk))
        });
        for (i, ((chunk, questions), (terms, pairs))) in chunks.iter().zip(words).enumerate() {
            store.add(Entry {
                chunk,
                ordinal: Ordinal::new(seq, part * PART + i),
                terms,
                pairs,
                questions,
            })?;
        }
    }
    Ok(())
}

fn add_questions(
    store: &mut QuestionsWriter,
    seq: u32,
    cuts: &[Cut<'_>],
) -> Result<(), tantivy::TantivyError> {
    let terms = parallel::map(cuts, MANY, |cut| {
        let names = cut
            .chunks
            .first()
            .into_iter()
            .filter(|_| !cut.questions.is_empty());
        let names = names.flat_map(|c| c.keywords.iter().chain([&c.title]));
        let questions = cut.questions.iter().chain(names);
        let features = questions.map(|question| {
            let mut terms = analyze::terms(question);
            terms.sort_unstable();
            terms.dedup();
            terms.extend(analyze::finer_features(question));
            terms
        });
        features.collect::<Vec<Vec<String>>>()
    });
    let mut first = 0;
    for (cut, terms) in cuts.iter().zip(terms) {
        let place = (Ordinal::new(seq, first), cut.chunks.len());
        first += cut.chunks.len();
        let engine = cut
            .chunks
            .first()
            .map_or_else(Engine::default, |c| c.engine);
        for terms in terms {
            store.add(&cut.source.path, engine, place, &terms)?;
        }
    }
    Ok(())
}

/// Tantivy's segment files never change; `meta.json` and `.managed.json` do and are copied.
fn link_store(from: &Path, to: &Path) -> Result<(), BuildError> {
    let entries = fs::read_dir(from).map_err(read_error(from))?;
    for entry in entries {
        let entry = entry.map_err(read_error(from))?;
        let name = entry.file_name();
        let target = to.join(&name);
        let done = match name.to_str() {
            Some(name) if name.ends_with(".lock") => Ok(()),
            Some(name) if name.ends_with(".json") => fs::copy(entry.path(), &target).map(|_| ()),
            _ => files::link_or_copy(&entry.path(), &target),
        };
        done.map_err(write_error(&target))?;
    }
    Ok(())
}

/// A generation is served only if both stores open and match the manifest.
fn check(folder: &Path, manifest: &Manifest) -> Result<(), BuildError> {
    let wrong = |reason: String| BuildError::Verify { reason };
    let broken = |error: tantivy::TantivyError| wrong(error.to_string());
    let lexical = Lexical::open(&folder.join(BM25)).map_err(broken)?;
    if manifest.has_questions() {
        Questions::open(&folder.join(QUESTIONS)).map_err(broken)?;
    }
    let (found, expected) = (lexical.len(), manifest.chunks);
    if found != expected {
        let reason = format!("{found} chunks in the BM25 store, {expected} in the segments");
        return Err(wrong(reason));
    }
    for segment in &manifest.segments {
        let path = folder.join(segment.vectors_file());
        let place = path.display();
        let open = Vectors::open(&path).map_err(|error| wrong(format!("{place}: {error}")))?;
        let (found, expected) = (open.len(), segment.rows);
        if found != expected {
            let reason = format!("{place} has {found} vectors instead of {expected}");
            return Err(wrong(reason));
        }
    }
    Ok(())
}
