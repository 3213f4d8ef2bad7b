//! Vectors for the texts of new chunks: known ones by the hash of the text, others from the model.

use std::collections::HashSet;
use std::path::PathBuf;

use super::{Job, Phase, Progress};
use crate::embed::{EmbedError, Embedder};
use crate::error::BuildError;
use crate::model::Chunk;
use crate::settings::Rebuild;
use crate::store::files::write_error;
use crate::store::vectors::{TextHash, Vectors, VectorsWriter, text_hash};
use crate::{context, parallel};

/// Texts per call of the embedder: few enough that a slow model reports progress and its memory stays bounded, enough
/// that a server need not be called for each text.
const BATCH: usize = 32;

/// Batches in flight; their vectors are written before the next batches start.
const BATCHES_PER_ROUND: usize = 16;

/// Least vectors per chunk for a rewrite to copy the used ones to a new file.
const SPARSE: usize = 2;

pub(crate) struct Embedded {
    /// Name of the file of vectors, and its number of rows.
    pub(crate) file: String,
    pub(crate) len: usize,
    /// The row of each chunk.
    pub(crate) rows: Vec<u32>,
    pub(crate) embedded: usize,
    pub(crate) cached: usize,
}

/// Finds or computes the vectors of new chunks.
pub(crate) fn embed(
    job: &Job<'_>,
    generation: &str,
    chunks: &[&Chunk],
    progress: &mut dyn FnMut(Progress),
) -> Result<Embedded, BuildError> {
    let texts = parallel::map(chunks, BATCH, |chunk| context::embedded_text(chunk));
    let hashes = parallel::map(&texts, BATCH, |text| text_hash(text));
    let (file, mut store) = open(job, generation, &hashes)?;
    let failed = write_error(&file);
    let mut seen = HashSet::new();
    let mut wanted: Vec<(TextHash, &str)> = Vec::new();
    for (hash, text) in hashes.iter().zip(&texts) {
        if seen.insert(hash) && store.known(hash).is_none() {
            wanted.push((*hash, text));
        }
    }
    let total = wanted.len();
    for (round, part) in wanted.chunks(BATCH * BATCHES_PER_ROUND).enumerate() {
        let (phase, done) = (Phase::Embed, round * BATCH * BATCHES_PER_ROUND);
        progress(Progress { phase, done, total });
        let vectors = embed_round(part, job.embedder)?;
        let hashes: Vec<TextHash> = part.iter().map(|(hash, _)| *hash).collect();
        store.add(&hashes, &vectors).map_err(&failed)?;
    }
    store.sync().map_err(&failed)?;
    Ok(Embedded {
        file: file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        len: store.rows(),
        rows: hashes.iter().filter_map(|hash| store.known(hash)).collect(),
        embedded: total,
        cached: seen.len() - total,
    })
}

/// Opens the file of vectors to continue, or a new one.
fn open(
    job: &Job<'_>,
    generation: &str,
    hashes: &[TextHash],
) -> Result<(PathBuf, VectorsWriter), BuildError> {
    let fingerprint = job.embedder.fingerprint();
    let model = &blake3::hash(fingerprint.as_bytes()).to_hex()[..16];
    let previous = job.current.map(|(held, _)| &held.manifest);
    // After a change of the model, vectors that the new model made earlier are still valid.
    let anew = match job.rebuild {
        Rebuild::Full => true,
        Rebuild::Reembed => previous.is_none_or(|m| m.embedder == fingerprint),
        Rebuild::Changed | Rebuild::Rechunk => false,
    };
    let folder = &job.writer.index;
    let known = job
        .writer
        .vectors_file(model, previous.map(|m| &*m.vectors));
    let known = known.filter(|_| !anew).map(|name| folder.join(name));
    let old = known.as_ref().and_then(|path| Vectors::open(path).ok());
    let sparse = old.filter(|old| job.plan.whole && old.len() > SPARSE * hashes.len());
    let fresh = || folder.join(format!("{model}-{generation}.vec"));
    let path = known.filter(|_| sparse.is_none()).unwrap_or_else(fresh);
    let mut store =
        VectorsWriter::open(&path, job.embedder.dimension()).map_err(write_error(&path))?;
    if let Some(old) = sparse {
        store.adopt(&old, hashes).map_err(write_error(&path))?;
    }
    Ok((path, store))
}

fn embed_round(
    part: &[(TextHash, &str)],
    embedder: &dyn Embedder,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let batches: Vec<&[(TextHash, &str)]> = part.chunks(BATCH).collect();
    let embed = |batch: &&[(TextHash, &str)]| -> Result<Vec<Vec<f32>>, EmbedError> {
        let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
        let vectors = embedder.embed(&texts)?;
        check(&vectors, texts.len(), embedder.dimension())?;
        Ok(vectors)
    };
    let vectors = parallel::map(&batches, 2, embed).into_iter();
    let vectors = vectors.collect::<Result<Vec<_>, EmbedError>>()?;
    Ok(vectors.into_iter().flatten().collect())
}

fn check(vectors: &[Vec<f32>], texts: usize, dimension: usize) -> Result<(), EmbedError> {
    let other = vectors.iter().map(Vec::len).find(|&len| len != dimension);
    let reason = if vectors.len() != texts {
        format!("{} vectors for {texts} texts", vectors.len())
    } else if let Some(len) = other {
        format!("a vector of {len} components instead of {dimension}")
    } else if vectors.iter().flatten().any(|value| !value.is_finite()) {
        "a component is not a number".to_owned()
    } else {
        return Ok(());
    };
    Err(EmbedError::WrongAnswer { reason })
}
