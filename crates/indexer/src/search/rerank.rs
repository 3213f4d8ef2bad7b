//! Reorders the best candidates by a cross-encoder.

use crate::embed::EmbedError;
use crate::embed::onnx::OnnxReranker;
use crate::settings::Reranker;

pub(crate) struct Reranking {
    /// Number of candidates that it sees.
    pub(crate) depth: usize,
    model: OnnxReranker,
}

impl Reranking {
    pub(crate) fn load(settings: &Reranker) -> Result<Reranking, EmbedError> {
        let (cache, runtime) = (settings.cache.as_deref(), settings.runtime.as_deref());
        Ok(Reranking {
            depth: settings.depth,
            model: OnnxReranker::load(&settings.model, cache, runtime)?,
        })
    }

    /// One logit per text, in order.
    pub(crate) fn scores(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        self.model.scores(query, texts)
    }
}
