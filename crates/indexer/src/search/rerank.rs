//! Reordering the best candidates by a cross-encoder, where the build has one.

use crate::embed::EmbedError;
use crate::settings::Reranker;

/// A loaded cross-encoder.
pub(crate) struct Reranking {
    /// Candidates that it looks at.
    pub(crate) depth: usize,
    #[cfg(feature = "fastembed")]
    model: crate::embed::onnx::OnnxReranker,
}

impl Reranking {
    #[cfg(feature = "fastembed")]
    pub(crate) fn load(settings: &Reranker) -> Result<Reranking, EmbedError> {
        let Reranker {
            model,
            depth,
            cache,
            runtime,
        } = settings;
        let model =
            crate::embed::onnx::OnnxReranker::load(model, cache.as_deref(), runtime.as_deref())?;
        Ok(Reranking {
            depth: *depth,
            model,
        })
    }

    #[cfg(not(feature = "fastembed"))]
    pub(crate) fn load(_settings: &Reranker) -> Result<Reranking, EmbedError> {
        Err(EmbedError::NotCompiledIn {
            what: "rerankers",
            feature: "fastembed",
        })
    }

    /// A logit per text, in order.
    #[cfg(feature = "fastembed")]
    pub(crate) fn scores(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        self.model.scores(query, texts)
    }

    /// Never reached: [`Reranking::load`] gives none in this build.
    #[cfg(not(feature = "fastembed"))]
    pub(crate) fn scores(&self, _query: &str, _texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        Err(EmbedError::NotCompiledIn {
            what: "rerankers",
            feature: "fastembed",
        })
    }
}
