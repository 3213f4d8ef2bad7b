//! Models run by ONNX Runtime through fastembed: by name (fetched once, then cached) or from a folder.
//!
//! The runtime is a library on the user's machine, loaded when needed; the error explains its installation if it is
//! missing.

mod folder;
mod rerank;
mod runtime;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fastembed::{TextEmbedding, TextInitOptions};
use report::with_causes;

use super::prompts::Prompts;
use super::{EmbedError, Embedder, normalize, only};
use crate::model::Remote;
use folder::Folder;
pub(crate) use rerank::OnnxReranker;

/// A model that ONNX Runtime runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OnnxModel {
    /// A model name (`bge-small-zh-v1.5`, fetched and cached at first use), or a folder with `model.onnx` and `tokenizer.json`.
    pub name: String,
    /// Where named models are stored.
    pub cache: Option<PathBuf>,
    /// The ONNX Runtime library or its folder; `None` searches next to the program and in the usual places.
    pub runtime: Option<PathBuf>,
}

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
    prompts: Prompts,
    dimension: usize,
    english_only: bool,
    // A session serves one call at a time, on all cores.
    model: Mutex<TextEmbedding>,
}

impl Onnx {
    pub(super) fn load(model: &OnnxModel, prompts: &Prompts) -> Result<Onnx, EmbedError> {
        // Problems with the model are reported before problems with the machine.
        let (embedding, identity, own) = match model.folder()? {
            Some(folder) => {
                let (identity, own) = (folder.identity(), folder.prompts());
                (folder.load(runtime::environment(model)?)?, identity, own)
            }
            None => {
                let (identity, own) = (model.name.to_lowercase(), Prompts::of(&model.name));
                (model.fetch()?, identity, own)
            }
        };
        let mut onnx = Onnx {
            english_only: !reads_chinese(&embedding),
            fingerprint: String::new(),
            prompts: prompts.or(own),
            dimension: 0,
            model: Mutex::new(embedding),
        };
        onnx.dimension = onnx.run(None, &["dimension"])?.first().map_or(0, Vec::len);
        let (dimension, prompts) = (onnx.dimension, prompts.fingerprint());
        onnx.fingerprint = format!("onnx:{identity}:{dimension}{prompts}");
        Ok(onnx)
    }

    fn run(&self, prompt: Option<&str>, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let prompt = prompt.unwrap_or_default();
        // One text at a time: fastest on a CPU, no padding, bounded memory. Dynamically quantized models require
        // it, because their vectors depend on the batch. For one text the tokenizer starts no threads, which
        // might wait for the lock held here.
        let mut embed = |text: &&str| {
            let vectors = model.embed([format!("{prompt}{text}")], None);
            let mut vector = only(vectors.map_err(unusable)?)?;
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
        self.run(self.prompts.passage.as_deref(), texts)
    }

    fn embed_query(&self, text: &str, _: Remote<'_>) -> Result<Vec<f32>, EmbedError> {
        only(self.run(self.prompts.query.as_deref(), &[text])?)
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

impl OnnxModel {
    /// The folder that the name names, if it does.
    fn folder(&self) -> Result<Option<Folder>, EmbedError> {
        let path = Path::new(&self.name);
        path.is_dir().then(|| Folder::read(path)).transpose()
    }

    fn fetch(&self) -> Result<TextEmbedding, EmbedError> {
        let models = TextEmbedding::list_supported_models().into_iter();
        let models = models.map(|info| {
            let names = [info.model_code, format!("{:?}", info.model)];
            (names, info.model)
        });
        let mut options = TextInitOptions::new(self.find(models)?)
            .with_environment(runtime::environment(self)?)
            .with_max_length(MAX_TOKENS)
            .with_session_config(NO_SPINNING.0, NO_SPINNING.1)
            .with_show_download_progress(false);
        if let Some(cache) = &self.cache {
            options = options.with_cache_dir(cache.clone());
        }
        let fetched = TextEmbedding::try_new(options);
        fetched.map_err(|error| self.unavailable(with_causes(&error), FETCH))
    }

    /// Finds `bge-small-zh-v1.5` as well as `Xenova/bge-small-zh-v1.5` among models with their names.
    fn find<M>(&self, models: impl Iterator<Item = ([String; 2], M)>) -> Result<M, EmbedError> {
        let wanted = self.name.to_lowercase();
        let is_named = |name: &String| {
            let name = name.to_lowercase();
            let short = name.rsplit('/').next().unwrap_or(&name);
            // Exports append `-onnx` to the name of the model.
            name == wanted || short == wanted || short.strip_suffix("-onnx") == Some(&*wanted)
        };
        let mut models = models.filter(|(names, _)| names.iter().any(is_named));
        let found = models.next().map(|(_, model)| model);
        found.ok_or_else(|| {
            let reason = "there is no such folder, and no model of this name is known";
            self.unavailable(reason.to_owned(), NAMES)
        })
    }

    fn unavailable(&self, reason: String, remedy: &str) -> EmbedError {
        unavailable(&self.name, reason, remedy)
    }
}

fn unavailable(model: &str, reason: String, remedy: &str) -> EmbedError {
    EmbedError::Unavailable {
        model: model.to_owned(),
        reason,
        remedy: remedy.to_owned(),
    }
}

fn unusable(reason: impl ToString) -> EmbedError {
    let reason = reason.to_string();
    EmbedError::WrongAnswer { reason }
}
