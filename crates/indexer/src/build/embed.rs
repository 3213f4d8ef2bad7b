//! Vectors for the texts of new chunks: known ones by the hash of the text, others from the model.

use std::collections::HashSet;
use std::path::Path;

use super::{Phase, Progress};
use crate::embed::{EmbedError, Embedder};
use crate::error::BuildError;
use crate::parallel;
use crate::store::files::write_error;
use crate::store::vectors::{TextHash, VectorsWriter, text_hash};

/// Texts per call of the embedder: few enough that a slow model reports progress and its memory stays bounded, enough
/// that a server need not be called for each text.
const BATCH: usize = 32;

/// Batches in flight; their vectors are written before the next batches start.
const BATCHES_PER_ROUND: usize = 16;

pub(crate) struct Embedded {
    /// The row of each text.
    pub(crate) rows: Vec<u32>,
    pub(crate) embedded: usize,
    pub(crate) cached: usize,
}

pub(crate) fn hashes(texts: &[String]) -> Vec<TextHash> {
    parallel::map(texts, BATCH, |text| text_hash(text))
}

/// Finds or computes the vector of every text; `path` is the file of `store`.
pub(crate) fn embed(
    texts: &[String],
    hashes: &[TextHash],
    (path, store): (&Path, &mut VectorsWriter),
    embedder: &dyn Embedder,
    progress: &mut dyn FnMut(Progress),
) -> Result<Embedded, BuildError> {
    let mut seen = HashSet::new();
    let mut wanted: Vec<(TextHash, &str)> = Vec::new();
    for (hash, text) in hashes.iter().zip(texts) {
        if seen.insert(hash) && store.known(hash).is_none() {
            wanted.push((*hash, text));
        }
    }
    let total = wanted.len();
    for (round, part) in wanted.chunks(BATCH * BATCHES_PER_ROUND).enumerate() {
        let (phase, done) = (Phase::Embed, round * BATCH * BATCHES_PER_ROUND);
        progress(Progress { phase, done, total });
        let vectors = embed_round(part, embedder)?;
        let hashes: Vec<TextHash> = part.iter().map(|(hash, _)| *hash).collect();
        store.add(&hashes, &vectors).map_err(write_error(path))?;
    }
    store.sync().map_err(write_error(path))?;
    Ok(Embedded {
        rows: hashes.iter().filter_map(|hash| store.known(hash)).collect(),
        embedded: total,
        cached: seen.len() - total,
    })
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
