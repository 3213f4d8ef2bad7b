//! Models run by ONNX Runtime through fastembed: by name (fetched once, then cached) or from a folder.
//!
//! The runtime is a library on the user's machine, loaded when needed; the error explains its installation if it is
//! missing.

mod folder;
mod rerank;
mod runtime;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fastembed::{EmbeddingModel, TextEmbedding, TextInitOptions};
use ort::environment::Environment;

use super::prefix::{Prefixes, Prompts};
use super::{EmbedError, Embedder, normalize, only};
use report::with_causes;
pub(crate) use rerank::OnnxReranker;

/// Default of the tokens read from a text; chunks have at most about 400.
const MAX_TOKENS: usize = 512;

/// Idle threads of the runtime sleep: spinning is only faster on an otherwise idle machine.
const NO_SPINNING: (&str, &str) = ("session.intra_op.allow_spinning", "0");

const FETCH: &str = "it is fetched at first use; without a network, give a folder with `model.onnx` and `tokenizer.json`";
const NAMES: &str = "docs/models.md lists the names, and says how a folder is made";

/// A model without tokens for these characters was not trained on Chinese.
const CHINESE_PROBE: &str = "数据倾斜导致作业变慢";

pub(super) struct Onnx {
    fingerprint: String,
    prefixes: Prefixes,
    dimension: usize,
    english_only: bool,
    // A session serves one call at a time, on all cores.
    model: Mutex<TextEmbedding>,
}

impl Onnx {
    pub(super) fn load(
        model: &str,
        cache: Option<&Path>,
        runtime: Option<&Path>,
        prompts: &Prompts,
    ) -> Result<Onnx, EmbedError> {
        let path = Path::new(model);
        // Problems with the model are reported before problems with the machine.
        let environment = || runtime::environment(model, runtime);
        let (embedding, identity, prefixes) = if path.is_dir() {
            let folder = folder::Folder::read(path)?;
            let (identity, prefixes) = (folder.identity(), folder.prefixes());
            (folder.load(environment()?)?, identity, prefixes)
        } else {
            let known = known(model)?;
            let embedding = fetch(model, known, cache, environment()?)?;
            (embedding, model.to_lowercase(), Prefixes::of(model))
        };
        let prefixes = prefixes.with(prompts);
        let mut onnx = Onnx {
            english_only: !reads_chinese(&embedding),
            fingerprint: String::new(),
            prefixes,
            dimension: 0,
            model: Mutex::new(embedding),
        };
        onnx.dimension = onnx.run("", &["dimension"])?.first().map_or(0, Vec::len);
        let (dimension, prompts) = (onnx.dimension, prompts.fingerprint());
        onnx.fingerprint = format!("onnx:{identity}:{dimension}{prompts}");
        Ok(onnx)
    }

    fn run(&self, prefix: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        // One text at a time: fastest on a CPU, no padding, bounded memory. Dynamically quantized models require
        // it, because their vectors depend on the batch. For one text the tokenizer starts no threads, which
        // might wait for the lock held here.
        let mut embed = |text: &&str| {
            let vectors = model.embed([format!("{prefix}{text}")], None);
            let mut vector = only(vectors.map_err(|error| unusable(error.to_string()))?)?;
            normalize(&mut vector);
            Ok(vector)
        };
        texts.iter().map(&mut embed).collect()
    }
}

impl Embedder for Onnx {
    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.run(&self.prefixes.passage, texts)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        only(self.run(&self.prefixes.query, &[text])?)
    }

    fn english_only(&self) -> bool {
        self.english_only
    }
}

fn reads_chinese(model: &TextEmbedding) -> bool {
    let Ok(probe) = model.tokenizer.encode(CHINESE_PROBE, false) else {
        return true;
    };
    let tokens = probe.get_tokens();
    let characters = CHINESE_PROBE.chars().count();
    let is_unknown = |token: &&String| matches!(token.as_str(), "[UNK]" | "<unk>");
    let unknown = tokens.iter().filter(is_unknown).count();
    // Byte tokenizers know everything, but need several tokens for a character that they were not trained on.
    4 * unknown <= characters && 2 * tokens.len() <= 3 * characters
}

/// Finds `bge-small-zh-v1.5` as well as `Xenova/bge-small-zh-v1.5`.
fn known(name: &str) -> Result<EmbeddingModel, EmbedError> {
    if Path::new(name).has_root() && !Path::new(name).exists() {
        let reason = "there is no such folder".to_owned();
        return Err(unavailable(name, reason, NAMES));
    }
    let mut models = TextEmbedding::list_supported_models().into_iter();
    let found = models.find(|info| {
        let own = format!("{:?}", info.model);
        ends_with_name(&info.model_code, name) || own.eq_ignore_ascii_case(name)
    });
    found.map(|info| info.model).ok_or_else(|| {
        let reason = "there is no such folder, and no model of this name is known".to_owned();
        unavailable(name, reason, NAMES)
    })
}

fn ends_with_name(code: &str, name: &str) -> bool {
    let (code, name) = (code.to_lowercase(), name.to_lowercase());
    let short = code.rsplit('/').next().unwrap_or(&code);
    // Exports append `-onnx` to the name of the model.
    code == name || short == name || short.strip_suffix("-onnx") == Some(name.as_str())
}

fn fetch(
    name: &str,
    model: EmbeddingModel,
    cache: Option<&Path>,
    environment: Environment,
) -> Result<TextEmbedding, EmbedError> {
    let mut options = TextInitOptions::new(model)
        .with_environment(environment)
        .with_max_length(MAX_TOKENS)
        .with_session_config(NO_SPINNING.0, NO_SPINNING.1)
        .with_show_download_progress(false);
    if let Some(cache) = cache {
        options = options.with_cache_dir(cache.to_owned());
    }
    TextEmbedding::try_new(options).map_err(|error| unavailable(name, with_causes(&error), FETCH))
}

fn unavailable(model: &str, reason: String, remedy: &str) -> EmbedError {
    EmbedError::Unavailable {
        model: model.to_owned(),
        reason,
        remedy: remedy.to_owned(),
    }
}

fn unusable(reason: String) -> EmbedError {
    EmbedError::WrongAnswer { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_with_and_without_their_owner() {
        let names = "all-MiniLM-L6-v2 bge-small-zh-v1.5 multilingual-e5-small bge-m3 Xenova/bge-small-zh-v1.5 BGESmallZHV15";
        for name in names.split(' ') {
            assert!(known(name).is_ok(), "{name}");
        }
        assert!(rerank::known("bge-reranker-base").is_ok());
        for error in [
            known("no-such-model").expect_err("unknown"),
            known("/no/such/folder").expect_err("unknown"),
            rerank::known("no-such-model").expect_err("unknown"),
        ] {
            let text = error.to_string();
            assert!(text.contains("no such"), "{text}");
            assert!(text.contains("docs/models.md"), "{text}");
        }
    }
}
