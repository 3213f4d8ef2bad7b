//! Models run by ONNX Runtime through fastembed: by name (fetched once, then cached) or from a folder.
//!
//! The runtime is a library of the user's machine, loaded when it is needed; without it the error says what to install.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fastembed::{
    EmbeddingModel, InitOptionsUserDefined, Pooling, RerankInitOptions,
    RerankInitOptionsUserDefined, RerankerModel, TextEmbedding, TextInitOptions, TextRerank,
    TokenizerFiles, UserDefinedEmbeddingModel, UserDefinedRerankingModel,
};
use ort::environment::Environment;

use super::prefix::Prefixes;
use super::{EmbedError, Embedder, normalise};

/// Tokens read of a text; sentence-transformers uses 256 for MiniLM, the chunker makes at most about 400.
const MAX_TOKENS: usize = 512;

const INSTALL: &str = "install ONNX Runtime 1.24 or newer (`pip install 'onnxruntime>=1.24'`) and name its library, \
                       `…/onnxruntime/capi/libonnxruntime.so.*`, in the settings";

/// A sentence model.
pub(super) struct Onnx {
    fingerprint: String,
    prefixes: Prefixes,
    dimension: usize,
    // The session wants to be owned by one call at a time; it uses all cores itself.
    model: Mutex<TextEmbedding>,
}

impl Onnx {
    pub(super) fn load(
        model: &str,
        cache: Option<&Path>,
        runtime: Option<&Path>,
    ) -> Result<Onnx, EmbedError> {
        let environment = environment(model, runtime)?;
        let folder = Path::new(model);
        let (embedding, identity) = if folder.is_dir() {
            (from_folder(folder, environment)?, folder_identity(folder)?)
        } else {
            (by_name(model, cache, environment)?, model.to_lowercase())
        };
        let mut onnx = Onnx {
            fingerprint: String::new(),
            prefixes: Prefixes::of(model),
            dimension: 0,
            model: Mutex::new(embedding),
        };
        onnx.dimension = onnx.run("", &["dimension"])?.first().map_or(0, Vec::len);
        onnx.fingerprint = format!("onnx:{identity}:{}", onnx.dimension);
        Ok(onnx)
    }

    fn run(&self, prefix: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        // A batch of one is the fastest on one thread and bounds memory; longer ones pad to the longest text.
        let mut vectors = model
            .embed(texts, Some(1))
            .map_err(|error| EmbedError::WrongAnswer {
                reason: error.to_string(),
            })?;
        vectors.iter_mut().for_each(|vector| normalise(vector));
        Ok(vectors)
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
        self.run(self.prefixes.passage, texts)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let mut vectors = self.run(self.prefixes.query, &[text])?;
        vectors.pop().ok_or_else(|| EmbedError::WrongAnswer {
            reason: "no vector for the query".to_owned(),
        })
    }
}

/// A cross-encoder.
pub(crate) struct OnnxReranker {
    model: Mutex<TextRerank>,
}

impl OnnxReranker {
    pub(crate) fn load(
        model: &str,
        cache: Option<&Path>,
        runtime: Option<&Path>,
    ) -> Result<OnnxReranker, EmbedError> {
        let environment = environment(model, runtime)?;
        let folder = Path::new(model);
        let loaded = if folder.is_dir() {
            let files = UserDefinedRerankingModel::new(
                read(folder, "model.onnx")?,
                tokenizer_files(folder)?,
            );
            let options = RerankInitOptionsUserDefined::new().with_environment(environment);
            TextRerank::try_new_from_user_defined(files, options)
        } else {
            let known = RerankerModel::try_from(model.to_owned())
                .or_else(|_| by_suffix(model))
                .map_err(|reason| unavailable(model, reason, "see the list in index/README.md"))?;
            let mut options = RerankInitOptions::new(known)
                .with_environment(environment)
                .with_show_download_progress(false);
            if let Some(cache) = cache {
                options = options.with_cache_dir(cache.to_owned());
            }
            TextRerank::try_new(options)
        };
        let loaded = loaded.map_err(|error| unavailable(model, error.to_string(), FETCH))?;
        Ok(OnnxReranker {
            model: Mutex::new(loaded),
        })
    }

    /// A score per text, in order; higher is better.
    pub(crate) fn scores(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let results =
            model
                .rerank(query, &texts, false, None)
                .map_err(|error| EmbedError::WrongAnswer {
                    reason: error.to_string(),
                })?;
        let mut scores = vec![f32::MIN; texts.len()];
        for result in results {
            if let Some(slot) = scores.get_mut(result.index) {
                *slot = result.score;
            }
        }
        Ok(scores)
    }
}

const FETCH: &str = "it is fetched at first use; without a network, give a folder with `model.onnx` and `tokenizer.json`";

fn unavailable(model: &str, reason: String, remedy: &str) -> EmbedError {
    EmbedError::Unavailable {
        model: model.to_owned(),
        reason,
        remedy: remedy.to_owned(),
    }
}

/// `bge-reranker-base` as well as `BAAI/bge-reranker-base`.
fn by_suffix(model: &str) -> Result<RerankerModel, String> {
    TextRerank::list_supported_models()
        .into_iter()
        .find(|info| ends_with_name(&info.model_code, model))
        .map(|info| info.model)
        .ok_or_else(|| format!("no reranker is called `{model}`"))
}

fn ends_with_name(code: &str, name: &str) -> bool {
    let (code, name) = (code.to_lowercase(), name.to_lowercase());
    code == name || code.rsplit('/').next() == Some(name.as_str())
}

/// Loads the runtime. A missing or old library panics once a session is made; asked this way first, it is an error.
fn environment(model: &str, runtime: Option<&Path>) -> Result<Environment, EmbedError> {
    let path = match runtime {
        Some(path) => path.to_owned(),
        None => beside_program()
            .ok_or_else(|| unavailable(model, "no ONNX Runtime was found".to_owned(), INSTALL))?,
    };
    let builder = ort::init_from(&path)
        .map_err(|error| unavailable(model, format!("{}: {error}", path.display()), INSTALL))?;
    builder
        .build()
        .map_err(|error| unavailable(model, error.to_string(), INSTALL))
}

/// `libonnxruntime.so` (or what it is called on this system) beside the program, or where systems keep libraries.
fn beside_program() -> Option<PathBuf> {
    let name = format!(
        "{}onnxruntime{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let program = std::env::current_exe().ok();
    let beside = program
        .as_deref()
        .and_then(Path::parent)
        .map(Path::to_owned);
    let usual = ["/usr/lib", "/usr/local/lib", "/opt/homebrew/lib"].map(PathBuf::from);
    beside
        .into_iter()
        .chain(usual)
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file())
}

fn by_name(
    model: &str,
    cache: Option<&Path>,
    environment: Environment,
) -> Result<TextEmbedding, EmbedError> {
    let known: EmbeddingModel = TextEmbedding::list_supported_models()
        .into_iter()
        .find(|info| {
            ends_with_name(&info.model_code, model)
                || format!("{:?}", info.model).eq_ignore_ascii_case(model)
        })
        .map(|info| info.model)
        .ok_or_else(|| {
            let reason = "no such folder, and no model of this name is known".to_owned();
            unavailable(model, reason, "see the list in index/README.md")
        })?;
    let mut options = TextInitOptions::new(known)
        .with_environment(environment)
        .with_max_length(MAX_TOKENS)
        .with_show_download_progress(false);
    if let Some(cache) = cache {
        options = options.with_cache_dir(cache.to_owned());
    }
    TextEmbedding::try_new(options).map_err(|error| unavailable(model, error.to_string(), FETCH))
}

fn from_folder(folder: &Path, environment: Environment) -> Result<TextEmbedding, EmbedError> {
    let model =
        UserDefinedEmbeddingModel::new(read(folder, "model.onnx")?, tokenizer_files(folder)?)
            .with_pooling(pooling(folder));
    let options = InitOptionsUserDefined::new()
        .with_environment(environment)
        .with_max_length(MAX_TOKENS);
    TextEmbedding::try_new_from_user_defined(model, options).map_err(|error| {
        let remedy = "the folder needs an ONNX export that takes input_ids and attention_mask";
        unavailable(&folder.display().to_string(), error.to_string(), remedy)
    })
}

/// As sentence-transformers notes it in `1_Pooling/config.json`; the mean without a note, as most models have it.
fn pooling(folder: &Path) -> Pooling {
    let note = std::fs::read_to_string(folder.join("1_Pooling/config.json")).unwrap_or_default();
    let note: serde_json::Value = serde_json::from_str(&note).unwrap_or_default();
    match note
        .get("pooling_mode_cls_token")
        .and_then(serde_json::Value::as_bool)
    {
        Some(true) => Pooling::Cls,
        _ => Pooling::Mean,
    }
}

fn tokenizer_files(folder: &Path) -> Result<TokenizerFiles, EmbedError> {
    // Models differ in which of these they have; the tokenizer itself is what counts.
    let or_empty = |name: &str| std::fs::read(folder.join(name)).unwrap_or_else(|_| b"{}".to_vec());
    Ok(TokenizerFiles {
        tokenizer_file: read(folder, "tokenizer.json")?,
        config_file: or_empty("config.json"),
        special_tokens_map_file: or_empty("special_tokens_map.json"),
        tokenizer_config_file: or_empty("tokenizer_config.json"),
    })
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, EmbedError> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(|error| {
        let reason = format!("{}: {error}", path.display());
        unavailable(
            &folder.display().to_string(),
            reason,
            "put `model.onnx` and `tokenizer.json` into the folder",
        )
    })
}

/// What is in the folder, not where it lies.
fn folder_identity(folder: &Path) -> Result<String, EmbedError> {
    let mut hasher = blake3::Hasher::new();
    for name in ["model.onnx", "tokenizer.json"] {
        hasher.update(&read(folder, name)?);
    }
    Ok(hasher.finalize().to_hex()[..16].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(model: &str, runtime: Option<&Path>) -> String {
        Onnx::load(model, None, runtime)
            .err()
            .expect("refused")
            .to_string()
    }

    #[test]
    fn a_missing_or_foreign_runtime_is_an_error_with_a_remedy() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("libonnxruntime.so");
        assert!(refused("bge-small-zh-v1.5", Some(&missing)).contains("pip install"));
        std::fs::write(&missing, b"not a library").expect("written");
        assert!(refused("bge-small-zh-v1.5", Some(&missing)).contains("pip install"));
    }

    #[test]
    fn names_are_known_with_and_without_their_owner() {
        assert!(ends_with_name(
            "Xenova/bge-small-zh-v1.5",
            "bge-small-zh-v1.5"
        ));
        assert!(by_suffix("bge-reranker-base").is_ok());
        assert!(by_suffix("no-such-model").is_err());
    }
}
