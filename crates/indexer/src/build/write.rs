//! Writes the next generation next to the current one, checks it and switches to it.

use std::collections::hash_map::Entry as MapEntry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::embed::{Embedded, embed};
use super::plan::Plan;
use super::{Phase, Progress, Summary, open_cache, start};
use crate::context;
use crate::document::Source;
use crate::embed::Embedder;
use crate::error::BuildError;
use crate::glossary::Glossary;
use crate::model::Chunk;
use crate::parallel;
use crate::settings::Rebuild;
use crate::store::files::{self, write_error};
use crate::store::generation::{BM25, DOCUMENTS, GLOSSARY, Held, MANIFEST, Writer};
use crate::store::lexical::{Entry, Lexical, LexicalWriter};
use crate::store::manifest::{DocumentEntry, Documents, FileSum, Manifest, Ordinal, Segment};
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
    pub(crate) plan: Plan,
    pub(crate) current: Option<(&'a Held, &'a Documents)>,
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) rebuild: Rebuild,
}

struct Cut<'a> {
    source: &'a Source,
    hash: &'a str,
    chunks: Vec<Chunk>,
}

/// Writes, checks and publishes the generation that `job` describes.
pub(crate) fn run(job: Job<'_>, progress: &mut dyn FnMut(Progress)) -> Result<Summary, BuildError> {
    start(progress, Phase::Chunk, job.plan.write.len());
    let cuts = cut(&job);
    let new_chunks: Vec<&Chunk> = cuts.iter().flat_map(|cut| &cut.chunks).collect();
    let embedded = embed_chunks(&job, &new_chunks, progress)?;

    start(progress, Phase::Write, new_chunks.len());
    let previous = job
        .current
        .map(|(held, _)| held.manifest.generation.as_str());
    let (name, folder) = job.writer.new_generation(previous)?;
    let manifest = write_generation(&job, &name, &folder, &cuts, &new_chunks, &embedded)?;

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
    parallel::map(&job.plan.write, MANY, |&i| Cut {
        source: &sources[i],
        hash: &hashes[i],
        chunks: cutter(&sources[i]),
    })
}

fn embed_chunks(
    job: &Job<'_>,
    new_chunks: &[&Chunk],
    progress: &mut dyn FnMut(Progress),
) -> Result<Embedded, BuildError> {
    let texts = parallel::map(new_chunks, MANY, |chunk| context::embedded_text(chunk));
    let anew = matches!(job.rebuild, Rebuild::Reembed | Rebuild::Full);
    let known = if anew {
        Known::default()
    } else {
        Known::open(job)
    };
    let mut cache = open_cache(job.index, job.embedder)?;
    let other_model = job
        .current
        .is_some_and(|(held, _)| held.manifest.embedder != job.embedder.fingerprint());
    if anew && !(job.rebuild == Rebuild::Reembed && other_model) {
        // Cached vectors of this model are not trusted; new ones are kept. Vectors of a model that is used again
        // after another one are still valid.
        if let Some(cache) = &mut cache {
            cache.clear();
        }
    }
    embed(
        &texts,
        &|hash| known.get(hash),
        cache,
        job.embedder,
        progress,
    )
}

/// Reusable vectors of the previous generation.
#[derive(Default)]
struct Known {
    segments: HashMap<u32, Vectors>,
    rows: HashMap<TextHash, (u32, usize)>,
}

impl Known {
    /// All rows for a rewrite, else those of the documents to be written.
    fn open(job: &Job<'_>) -> Known {
        let mut known = Known::default();
        let Some((held, documents)) = job.current else {
            return known;
        };
        let dead: HashSet<&String> = job.plan.dead.iter().collect();
        let entries = documents
            .iter()
            .filter(|(path, _)| job.plan.whole || dead.contains(path));
        for (_, entry) in entries {
            known.add(held, entry);
        }
        known
    }

    fn add(&mut self, held: &Held, entry: &DocumentEntry) {
        let Some(segment) = held.manifest.segments.iter().find(|s| s.seq == entry.seq) else {
            return;
        };
        let vectors = match self.segments.entry(entry.seq) {
            MapEntry::Occupied(open) => open.into_mut(),
            MapEntry::Vacant(place) => {
                // Texts of a damaged segment are embedded again.
                match Vectors::open(&held.folder.join(segment.vectors_file())) {
                    Ok(open) => place.insert(open),
                    Err(_) => return,
                }
            }
        };
        let end = (entry.first + entry.count).min(vectors.len());
        for row in entry.first..end {
            self.rows.insert(vectors.hash(row), (entry.seq, row));
        }
    }

    fn get(&self, hash: &TextHash) -> Option<Vec<f32>> {
        let (seq, row) = self.rows.get(hash)?;
        Some(self.segments.get(seq)?.exact(*row).to_vec())
    }
}

fn write_generation(
    job: &Job<'_>,
    name: &str,
    folder: &Path,
    cuts: &[Cut<'_>],
    new_chunks: &[&Chunk],
    embedded: &Embedded,
) -> Result<Manifest, BuildError> {
    let mut files = BTreeMap::new();
    let mut segments = Vec::new();
    if !job.plan.whole
        && let Some((held, documents)) = job.current
    {
        segments = keep_segments(job, held, documents, folder, &mut files)?;
    }
    let seq = job
        .current
        .and_then(|(held, _)| held.manifest.segments.iter().map(|s| s.seq).max())
        .map_or(1, |last| last + 1);
    let segment = Segment {
        seq,
        rows: new_chunks.len(),
        dead: Vec::new(),
    };
    if !new_chunks.is_empty() {
        write_segment(job, folder, &segment, new_chunks, embedded, &mut files)?;
        segments.push(segment);
    }
    write_lexical(job, folder, seq, cuts, &mut files)?;
    let documents = write_documents(job, folder, seq, cuts, &mut files)?;
    write_glossary(job, folder, &mut files)?;
    let manifest = Manifest {
        format: FORMAT,
        chunker: chunk::VERSION.to_owned(),
        analyser: analyze::VERSION.to_owned(),
        embedder: job.embedder.fingerprint(),
        dimension: job.embedder.dimension(),
        generation: name.to_owned(),
        documents: documents.len(),
        chunks: segments.iter().map(Segment::live_rows).sum(),
        segments,
        files,
    };
    let path = folder.join(MANIFEST);
    let bytes = to_json(&manifest, &path)?;
    fs::write(&path, &bytes).map_err(write_error(&path))?;
    sync(job, folder, &manifest)?;
    Ok(manifest)
}

/// Waits until the new files of this generation and all names are on disk.
fn sync(job: &Job<'_>, folder: &Path, manifest: &Manifest) -> Result<(), BuildError> {
    let known = job.current.map(|(held, _)| &held.manifest.files);
    let is_linked =
        |name: &str| known.is_some_and(|known| known.contains_key(name)) && is_fixed(name);
    let new = manifest.files.keys().filter(|name| !is_linked(name));
    let manifest = folder.join(MANIFEST);
    let new: Vec<PathBuf> = new
        .map(|name| folder.join(name))
        .chain([manifest])
        .collect();
    files::sync_all(&new).map_err(write_error(folder))?;
    for folder in [&folder.join(BM25), folder] {
        files::sync_folder(folder).map_err(write_error(folder))?;
    }
    Ok(())
}

/// Whether a file with this name stays the same from one generation to the next.
fn is_fixed(name: &str) -> bool {
    !name.ends_with(".json")
}

/// Links the segments that are kept and marks newly dead rows.
fn keep_segments(
    job: &Job<'_>,
    held: &Held,
    documents: &Documents,
    folder: &Path,
    files: &mut BTreeMap<String, FileSum>,
) -> Result<Vec<Segment>, BuildError> {
    let mut dead: HashMap<u32, Vec<(usize, usize)>> = HashMap::new();
    for entry in job.plan.dead.iter().filter_map(|path| documents.get(path)) {
        if entry.count > 0 {
            let rows = dead.entry(entry.seq).or_default();
            rows.push((entry.first, entry.count));
        }
    }
    let mut out = Vec::new();
    for segment in &held.manifest.segments {
        if job.plan.dropped.contains(&segment.seq) {
            continue;
        }
        let mut segment = segment.clone();
        segment
            .dead
            .extend(dead.remove(&segment.seq).unwrap_or_default());
        segment.dead.sort_unstable();
        for file in [segment.chunks_file(), segment.vectors_file()] {
            let to = folder.join(&file);
            files::link_or_copy(&held.folder.join(&file), &to).map_err(write_error(&to))?;
            if let Some(sum) = held.manifest.files.get(&file) {
                files.insert(file, sum.clone());
            }
        }
        out.push(segment);
    }
    Ok(out)
}

fn write_segment(
    job: &Job<'_>,
    folder: &Path,
    segment: &Segment,
    new_chunks: &[&Chunk],
    embedded: &Embedded,
    files: &mut BTreeMap<String, FileSum>,
) -> Result<(), BuildError> {
    let path = folder.join(segment.chunks_file());
    chunks::write(&path, new_chunks).map_err(write_error(&path))?;
    note(folder, segment.chunks_file(), files)?;
    let path = folder.join(segment.vectors_file());
    let rows: Vec<&[f32]> = embedded
        .hashes
        .iter()
        .map(|hash| embedded.by_hash[hash].as_slice())
        .collect();
    vectors::write(&path, job.embedder.dimension(), &rows, &embedded.hashes)
        .map_err(write_error(&path))?;
    note(folder, segment.vectors_file(), files)
}

fn write_lexical(
    job: &Job<'_>,
    folder: &Path,
    seq: u32,
    cuts: &[Cut<'_>],
    files: &mut BTreeMap<String, FileSum>,
) -> Result<(), BuildError> {
    let bm25 = folder.join(BM25);
    fs::create_dir(&bm25).map_err(write_error(&bm25))?;
    let failed = |error: tantivy::TantivyError| BuildError::Lexical {
        path: bm25.clone(),
        reason: error.to_string(),
    };
    let resumed = job.current.filter(|_| !job.plan.whole);
    let mut store = match resumed {
        Some((held, _)) => {
            link_lexical(&held.folder.join(BM25), &bm25)?;
            LexicalWriter::resume(&bm25).map_err(failed)?
        }
        None => LexicalWriter::create(&bm25).map_err(failed)?,
    };
    for document in &job.plan.dead {
        store.remove(document);
    }
    add_chunks(&mut store, seq, cuts).map_err(failed)?;
    store.finish().map_err(failed)?;
    note_folder(job, folder, files)
}

/// Terms are computed on all cores, one part at a time to bound memory.
fn add_chunks(
    store: &mut LexicalWriter,
    seq: u32,
    cuts: &[Cut<'_>],
) -> Result<(), tantivy::TantivyError> {
    const PART: usize = 4096;
    let all: Vec<&Chunk> = cuts.iter().flat_map(|cut| &cut.chunks).collect();
    for (part, chunks) in all.chunks(PART).enumerate() {
        let words = parallel::map(chunks, MANY, |chunk| {
            (context::lexical_terms(chunk), context::lexical_pairs(chunk))
        });
        for (i, (chunk, (terms, pairs))) in chunks.iter().zip(words).enumerate() {
            store.add(Entry {
                chunk,
                ordinal: Ordinal::new(seq, part * PART + i),
                terms,
                pairs,
            })?;
        }
    }
    Ok(())
}

/// Tantivy's segment files never change; `meta.json` and `.managed.json` do and are copied.
fn link_lexical(from: &Path, to: &Path) -> Result<(), BuildError> {
    let entries = fs::read_dir(from).map_err(files::read_error(from))?;
    for entry in entries {
        let entry = entry.map_err(files::read_error(from))?;
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

fn write_documents(
    job: &Job<'_>,
    folder: &Path,
    seq: u32,
    cuts: &[Cut<'_>],
    files: &mut BTreeMap<String, FileSum>,
) -> Result<Documents, BuildError> {
    let mut documents = match job.current {
        Some((_, documents)) if !job.plan.whole => documents.clone(),
        _ => Documents::new(),
    };
    for path in &job.plan.dead {
        documents.remove(path);
    }
    let mut first = 0;
    for cut in cuts {
        let entry = DocumentEntry {
            hash: cut.hash.to_owned(),
            seq,
            first,
            count: cut.chunks.len(),
        };
        first += entry.count;
        documents.insert(cut.source.path.clone(), entry);
    }
    let path = folder.join(DOCUMENTS);
    let bytes = to_json(&documents, &path)?;
    fs::write(&path, &bytes).map_err(write_error(&path))?;
    note(folder, DOCUMENTS.to_owned(), files)?;
    Ok(documents)
}

fn write_glossary(
    job: &Job<'_>,
    folder: &Path,
    files: &mut BTreeMap<String, FileSum>,
) -> Result<(), BuildError> {
    let source = job.sources.iter().find(|s| s.path == super::GLOSSARY);
    let glossary = source.map_or_else(Glossary::default, |s| Glossary::parse(&s.text));
    let path = folder.join(GLOSSARY);
    let bytes = to_json(&glossary, &path)?;
    fs::write(&path, &bytes).map_err(write_error(&path))?;
    note(folder, GLOSSARY.to_owned(), files)
}

fn to_json<T: serde::Serialize>(value: &T, path: &Path) -> Result<Vec<u8>, BuildError> {
    serde_json::to_vec(value).map_err(|error| write_error(path)(error.into()))
}

/// Records the size and checksum of a file of the generation.
fn note(
    folder: &Path,
    name: String,
    files: &mut BTreeMap<String, FileSum>,
) -> Result<(), BuildError> {
    let path = folder.join(&name);
    let bytes = fs::read(&path).map_err(files::read_error(&path))?;
    let sum = FileSum {
        bytes: bytes.len() as u64,
        blake3: blake3::hash(&bytes).to_hex().to_string(),
    };
    files.insert(name, sum);
    Ok(())
}

/// Records the files of the lexical store; linked ones keep their checksum.
fn note_folder(
    job: &Job<'_>,
    folder: &Path,
    files: &mut BTreeMap<String, FileSum>,
) -> Result<(), BuildError> {
    let bm25 = folder.join(BM25);
    let known = job.current.map(|(held, _)| &held.manifest.files);
    for entry in fs::read_dir(&bm25).map_err(files::read_error(&bm25))? {
        let entry = entry.map_err(files::read_error(&bm25))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".lock") {
            continue;
        }
        let name = format!("{BM25}/{name}");
        match known.and_then(|known| known.get(&name)) {
            Some(sum) if is_fixed(&name) => {
                files.insert(name, sum.clone());
            }
            _ => note(folder, name, files)?,
        }
    }
    Ok(())
}

/// A generation is served only if both stores open and match the manifest.
fn check(folder: &Path, manifest: &Manifest) -> Result<(), BuildError> {
    let wrong = |reason: String| Err(BuildError::Verify { reason });
    let lexical = match Lexical::open(&folder.join(BM25)) {
        Ok(lexical) => lexical,
        Err(error) => return wrong(error.to_string()),
    };
    if lexical.len() != manifest.chunks {
        return wrong(format!(
            "{} chunks in the BM25 store, {} in the segments",
            lexical.len(),
            manifest.chunks
        ));
    }
    for segment in &manifest.segments {
        let path = folder.join(segment.vectors_file());
        match Vectors::open(&path) {
            Ok(open) if open.len() == segment.rows => {}
            Ok(open) => {
                return wrong(format!(
                    "{} holds {} vectors, {} were written",
                    path.display(),
                    open.len(),
                    segment.rows
                ));
            }
            Err(reason) => return wrong(format!("{}: {reason}", path.display())),
        }
    }
    Ok(())
}
