//! A model in a folder: `model.onnx` and `tokenizer.json`, with the configuration files of sentence-transformers next to them.

use std::path::{Path, PathBuf};

use fastembed::{
    InitOptionsUserDefined, Pooling, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};
use ort::environment::Environment;
use serde_json::{Value, json};

use super::{EmbedError, MAX_TOKENS, NO_SPINNING, Prompts, unavailable};
use report::with_causes;

const NEEDED: &str =
    "put `model.onnx` (with its weights inside) and `tokenizer.json` into the folder";

pub(super) struct Folder {
    path: PathBuf,
    pub(super) model: Vec<u8>,
    tokenizer: Vec<u8>,
    /// Tokens of a text that the model reads.
    max_tokens: usize,
    /// If true, the vector of the first token is the vector of the text; otherwise the mean of all
    /// tokens.
    first_token: bool,
}

impl Folder {
    pub(super) fn read(path: &Path) -> Result<Folder, EmbedError> {
        let pooling = note(path, "1_Pooling/config.json");
        let sentence = note(path, "sentence_bert_config.json");
        let longest = sentence["max_seq_length"].as_u64();
        Ok(Folder {
            path: path.to_owned(),
            model: needed(path, "model.onnx")?,
            tokenizer: needed(path, "tokenizer.json")?,
            max_tokens: longest.map_or(MAX_TOKENS, |n| (n as usize).min(MAX_TOKENS)),
            first_token: pooling["pooling_mode_cls_token"].as_bool().unwrap_or(false),
        })
    }

    /// By content, not by path.
    pub(super) fn identity(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model).update(&self.tokenizer);
        hasher.update(format!("{} {}", self.max_tokens, self.first_token).as_bytes());
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// From the folder's configuration, else by its name.
    pub(super) fn prompts(&self) -> Prompts {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let prompts = &note(&self.path, "config_sentence_transformers.json")["prompts"];
        let text = |name: &str| prompts[name].as_str().map(str::to_owned);
        let own = Prompts {
            query: text("query"),
            passage: text("passage").or(text("document")),
        };
        own.or(Prompts::of(&name))
    }

    pub(super) fn load(self, environment: Environment) -> Result<TextEmbedding, EmbedError> {
        let files = self.tokenizer_files(self.max_tokens);
        let pooling = match self.first_token {
            true => Pooling::Cls,
            false => Pooling::Mean,
        };
        let model = UserDefinedEmbeddingModel::new(self.model, files).with_pooling(pooling);
        let options = InitOptionsUserDefined::new()
            .with_environment(environment)
            .with_session_config(NO_SPINNING.0, NO_SPINNING.1)
            .with_max_length(self.max_tokens);
        TextEmbedding::try_new_from_user_defined(model, options).map_err(|error| {
            let remedy = "the folder needs an ONNX export that takes input_ids and attention_mask and holds its weights";
            unavailable(&self.path.display().to_string(), with_causes(&error), remedy)
        })
    }

    /// The tokenizer and its configuration. Only the tokenizer is required; models differ in the other files.
    pub(super) fn tokenizer_files(&self, max_tokens: usize) -> TokenizerFiles {
        let note = |name: &str| match note(&self.path, name) {
            value @ Value::Object(_) => value,
            _ => json!({}),
        };
        let mut config = note("tokenizer_config.json");
        if !config["model_max_length"].is_number() {
            config["model_max_length"] = json!(max_tokens);
        }
        if config["pad_token"].is_null() {
            let text = String::from_utf8_lossy(&self.tokenizer);
            let token = ["[PAD]", "<pad>"].into_iter().find(|t| text.contains(t));
            config["pad_token"] = json!(token.unwrap_or("[PAD]"));
        }
        let bytes = |value: Value| value.to_string().into_bytes();
        TokenizerFiles {
            config_file: bytes(note("config.json")),
            special_tokens_map_file: bytes(note("special_tokens_map.json")),
            tokenizer_config_file: bytes(config),
            tokenizer_file: self.tokenizer.clone(),
        }
    }
}

fn needed(folder: &Path, name: &str) -> Result<Vec<u8>, EmbedError> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(|error| {
        let reason = format!("{}: {error}", path.display());
        unavailable(&folder.display().to_string(), reason, NEEDED)
    })
}

/// Null if the file is absent or not JSON.
fn note(folder: &Path, name: &str) -> Value {
    let text = std::fs::read(folder.join(name)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}
