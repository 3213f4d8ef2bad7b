//! Cross-encoders: models that read query and text together and give one score.

use std::sync::{Mutex, PoisonError};

use fastembed::{
    RerankInitOptions, RerankInitOptionsUserDefined, TextRerank, UserDefinedRerankingModel,
};
use report::with_causes;

use super::{EmbedError, FETCH, MAX_TOKENS, runtime, unusable};
use crate::embed::Reranker;

pub(crate) struct OnnxReranker {
    /// Number of candidates that it sees.
    pub(crate) depth: usize,
    model: Mutex<TextRerank>,
}

impl OnnxReranker {
    pub(crate) fn load(Reranker { model, depth }: &Reranker) -> Result<OnnxReranker, EmbedError> {
        let loaded = match model.folder()? {
            Some(folder) => {
                let files = folder.tokenizer_files(MAX_TOKENS);
                let files = UserDefinedRerankingModel::new(folder.model, files);
                let options = RerankInitOptionsUserDefined::new();
                let options = options.with_environment(runtime::environment(model)?);
                TextRerank::try_new_from_user_defined(files, options)
            }
            None => {
                let models = TextRerank::list_supported_models().into_iter();
                let models = models.map(|info| ([info.model_code, String::new()], info.model));
                let mut options = RerankInitOptions::new(model.find(models)?)
                    .with_environment(runtime::environment(model)?)
                    .with_show_download_progress(false);
                if let Some(cache) = &model.cache {
                    options = options.with_cache_dir(cache.clone());
                }
                TextRerank::try_new(options)
            }
        };
        let loaded = loaded.map_err(|error| model.unavailable(with_causes(&error), FETCH))?;
        Ok(OnnxReranker {
            depth: *depth,
            model: Mutex::new(loaded),
        })
    }

    /// One score per text, in the order of `texts`; higher is better.
    pub(crate) fn scores(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        // Pair by pair, for the same reasons as in embedding.
        let results = model.rerank(query, &texts, false, Some(1));
        let mut scores = vec![f32::MIN; texts.len()];
        for result in results.map_err(unusable)? {
            if let Some(slot) = scores.get_mut(result.index) {
                *slot = result.score;
            }
        }
        Ok(scores)
    }
}
