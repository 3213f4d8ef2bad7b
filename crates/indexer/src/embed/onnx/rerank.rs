//! Cross-encoders: models that read query and text together and give one score.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fastembed::{
    RerankInitOptions, RerankInitOptionsUserDefined, RerankerModel, TextRerank,
    UserDefinedRerankingModel,
};

use super::folder::{needed, tokenizer_files};
use super::{EmbedError, FETCH, MAX_TOKENS, NAMES, ends_with_name, runtime, unavailable, unusable};
use crate::embed::Reranker;
use report::with_causes;

pub(crate) struct OnnxReranker {
    /// Number of candidates that it sees.
    pub(crate) depth: usize,
    model: Mutex<TextRerank>,
}

impl OnnxReranker {
    pub(crate) fn load(settings: &Reranker) -> Result<OnnxReranker, EmbedError> {
        let (model, folder) = (&*settings.model, Path::new(&settings.model));
        let environment = || runtime::environment(model, settings.runtime.as_deref());
        let loaded = if folder.is_dir() {
            let onnx = needed(folder, "model.onnx")?;
            let tokenizer = needed(folder, "tokenizer.json")?;
            let tokenizer = tokenizer_files(folder, tokenizer, MAX_TOKENS);
            let files = UserDefinedRerankingModel::new(onnx, tokenizer);
            let options = RerankInitOptionsUserDefined::new().with_environment(environment()?);
            TextRerank::try_new_from_user_defined(files, options)
        } else {
            let options = RerankInitOptions::new(known(model)?).with_environment(environment()?);
            let mut options = options.with_show_download_progress(false);
            if let Some(cache) = &settings.cache {
                options = options.with_cache_dir(cache.clone());
            }
            TextRerank::try_new(options)
        };
        let loaded = loaded.map_err(|error| unavailable(model, with_causes(&error), FETCH))?;
        Ok(OnnxReranker {
            depth: settings.depth,
            model: Mutex::new(loaded),
        })
    }

    /// One score per text, in the order of `texts`; higher is better.
    pub(crate) fn scores(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        // Pair by pair, for the same reasons as in embedding.
        let results = model
            .rerank(query, &texts, false, Some(1))
            .map_err(|error| unusable(error.to_string()))?;
        let mut scores = vec![f32::MIN; texts.len()];
        for result in results {
            if let Some(slot) = scores.get_mut(result.index) {
                *slot = result.score;
            }
        }
        Ok(scores)
    }
}

/// Finds `bge-reranker-base` as well as `BAAI/bge-reranker-base`.
pub(super) fn known(model: &str) -> Result<RerankerModel, EmbedError> {
    let mut models = TextRerank::list_supported_models().into_iter();
    let found = models.find(|info| ends_with_name(&info.model_code, model));
    found.map(|info| info.model).ok_or_else(|| {
        let reason = "there is no such folder, and no reranker of this name is known".to_owned();
        unavailable(model, reason, NAMES)
    })
}
