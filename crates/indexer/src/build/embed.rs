//! Vectors for the texts of new chunks: from the previous generation, the cache or the model.

use std::collections::HashMap;

use super::{Phase, Progress};
use crate::embed::{EmbedError, Embedder};
use crate::error::BuildError;
use crate::parallel;
use crate::store::cache::Cache;
use crate::store::vectors::{TextHash, text_hash};

/// Texts per call of the embedder: few enough that a slow model reports progress and its memory stays bounded, enough
/// that a server need not be called for each text.
const BATCH: usize = 32;

/// Batches in flight; their vectors reach the cache before the next batches start.
const BATCHES_PER_ROUND: usize = 16;

pub(crate) struct Embedded {
    pub(crate) hashes: Vec<TextHash>,
    pub(crate) by_hash: HashMap<TextHash, Vec<f32>>,
    pub(crate) embedded: usize,
    pub(crate) cached: usize,
}

/// Finds or computes the vector of every text. `known` looks them up in the previous generation.
pub(crate) fn embed(
    texts: &[String],
    known: &dyn Fn(&TextHash) -> Option<Vec<f32>>,
    mut cache: Option<Cache>,
    embedder: &dyn Embedder,
    progress: &mut dyn FnMut(Progress),
) -> Result<Embedded, BuildError> {
    let hashes = parallel::map(texts, BATCH, |text| text_hash(text));
    let mut by_hash = HashMap::with_capacity(texts.len());
    let mut wanted: Vec<(TextHash, &str)> = Vec::new();
    for (hash, text) in hashes.iter().zip(texts) {
        if by_hash.contains_key(hash) {
            continue;
        }
        let found = known(hash).or_else(|| cache.as_mut()?.get(hash));
        if found.is_none() {
            wanted.push((*hash, text));
        }
        // An empty vector as a placeholder, so that equal texts are embedded once.
        by_hash.insert(*hash, found.unwrap_or_default());
    }
    let total = wanted.len();
    let cached = by_hash.len() - total;
    for (round, part) in wanted.chunks(BATCH * BATCHES_PER_ROUND).enumerate() {
        let (phase, done) = (Phase::Embed, round * BATCH * BATCHES_PER_ROUND);
        progress(Progress { phase, done, total });
        let vectors = embed_round(part, embedder)?;
        if let Some(cache) = &mut cache {
            let pairs = part.iter().map(|(hash, _)| *hash);
            let pairs = pairs.zip(vectors.iter().map(Vec::as_slice));
            // A cache that cannot be written only costs time at the next update.
            let _ = cache.add(pairs);
        }
        by_hash.extend(part.iter().map(|(hash, _)| *hash).zip(vectors));
    }
    Ok(Embedded {
        hashes,
        by_hash,
        embedded: total,
        cached,
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
