//! Text to vectors: the trait, and the choice among embedders. Knows nothing of chunks or stores.

#[cfg(feature = "fastembed")]
pub(crate) mod onnx;
mod prefix;
#[cfg(feature = "openai")]
mod server;
pub mod static_table;

use std::path::{Path, PathBuf};

pub use prefix::Prompts;
use thiserror::Error;

/// Turns texts into vectors of one dimension. Vectors come out with length 1, or all zero for a text in which
/// nothing is known (the vector branch is then skipped).
pub trait Embedder: Send + Sync {
    /// Names model, version and settings: two embedders with the same fingerprint give the same vectors.
    fn fingerprint(&self) -> String;

    /// Number of components.
    fn dimension(&self) -> usize;

    /// One vector per text, in order.
    ///
    /// # Errors
    /// When the model or its server fails.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// As [`Embedder::embed`] for one query; models that tell query from passage differ here.
    ///
    /// # Errors
    /// When the model or its server fails.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let mut vectors = self.embed(&[text])?;
        vectors.pop().ok_or_else(|| EmbedError::WrongAnswer {
            reason: "no vector for the query".to_owned(),
        })
    }

    /// Whether a vector is worth keeping for a text that comes again; not where computing it is faster than reading it.
    fn worth_caching(&self) -> bool {
        true
    }

    /// Whether Chinese says nothing to it; of the names that the glossary adds to a query it then gets the English ones.
    fn english_only(&self) -> bool {
        false
    }

    /// Weight of the vector branch that suits this embedder.
    fn weights(&self) -> VectorWeights {
        VectorWeights::default()
    }
}

/// Weight of the vector branch (0 to 1) by the script of the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorWeights {
    /// For queries in Latin script.
    pub latin: f32,
    /// For queries in Chinese, Japanese or Korean script.
    pub cjk: f32,
}

impl VectorWeights {
    /// For a model that knows no Chinese: a Chinese query says something to it only through the English names that the
    /// glossary adds. Measured with MiniLM on our tuning judgements: from .3 to .5 are alike in English, more than .15 loses in Chinese.
    #[cfg(any(feature = "fastembed", feature = "openai"))]
    const ENGLISH_ONLY: VectorWeights = VectorWeights {
        latin: 0.45,
        cjk: 0.1,
    };
}

impl Default for VectorWeights {
    /// What suits a full sentence model (MiniLM: .5 is best on seven English collections).
    fn default() -> Self {
        VectorWeights {
            latin: 0.5,
            cjk: 0.5,
        }
    }
}

/// Which embedder to use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EmbedderChoice {
    /// The one inside the program: no download, no set-up.
    #[default]
    Embedded,
    /// A model run by ONNX Runtime through fastembed.
    Fastembed {
        /// A model name (`bge-small-zh-v1.5`, fetched and cached at first use), or a folder with `model.onnx` and
        /// `tokenizer.json`.
        model: String,
        /// Where named models are kept.
        cache: Option<PathBuf>,
        /// The ONNX Runtime library, or its folder; `None` looks beside the program and in the usual places.
        runtime: Option<PathBuf>,
        /// Texts before queries and passages.
        prompts: Prompts,
    },
    /// A server with `/v1/embeddings`.
    OpenAiCompatible {
        /// Base address, `http://127.0.0.1:8080/v1`.
        url: String,
        /// Model name sent along.
        model: String,
        /// Bearer token, if the server wants one.
        key: Option<String>,
        /// Texts before queries and passages.
        prompts: Prompts,
    },
}

/// The embedder that `choice` names.
///
/// # Errors
/// When its model or library is not there, or this build has no support for it.
pub fn load(choice: &EmbedderChoice) -> Result<Box<dyn Embedder>, EmbedError> {
    match choice {
        EmbedderChoice::Embedded => Ok(Box::new(static_table::StaticTable::embedded())),
        EmbedderChoice::Fastembed {
            model,
            cache,
            runtime,
            prompts,
        } => load_onnx(model, cache.as_deref(), runtime.as_deref(), prompts),
        EmbedderChoice::OpenAiCompatible {
            url,
            model,
            key,
            prompts,
        } => load_server(url, model, key.as_deref(), prompts),
    }
}

#[cfg(feature = "fastembed")]
fn load_onnx(
    model: &str,
    cache: Option<&Path>,
    runtime: Option<&Path>,
    prompts: &Prompts,
) -> Result<Box<dyn Embedder>, EmbedError> {
    Ok(Box::new(onnx::Onnx::load(model, cache, runtime, prompts)?))
}

#[cfg(not(feature = "fastembed"))]
fn load_onnx(
    _model: &str,
    _cache: Option<&Path>,
    _runtime: Option<&Path>,
    _prompts: &Prompts,
) -> Result<Box<dyn Embedder>, EmbedError> {
    Err(EmbedError::NotCompiledIn {
        what: "ONNX models",
        feature: "fastembed",
    })
}

#[cfg(feature = "openai")]
fn load_server(
    url: &str,
    model: &str,
    key: Option<&str>,
    prompts: &Prompts,
) -> Result<Box<dyn Embedder>, EmbedError> {
    Ok(Box::new(server::Server::connect(url, model, key, prompts)?))
}

#[cfg(not(feature = "openai"))]
fn load_server(
    _url: &str,
    _model: &str,
    _key: Option<&str>,
    _prompts: &Prompts,
) -> Result<Box<dyn Embedder>, EmbedError> {
    Err(EmbedError::NotCompiledIn {
        what: "embedding servers",
        feature: "openai",
    })
}

/// Makes a vector of length 1; components that are noise become 0, since denormal numbers halve the speed of every
/// product.
#[cfg(any(feature = "fastembed", feature = "openai"))]
fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    for value in vector {
        *value = if length > 0.0 { *value / length } else { 0.0 };
        if value.abs() < 1e-15 {
            *value = 0.0;
        }
    }
}

/// Why texts could not be embedded.
#[derive(Debug, Error)]
pub enum EmbedError {
    /// The model is not there or cannot be read.
    #[error("the embedding model `{model}` cannot be loaded: {reason}; {remedy}")]
    Unavailable {
        /// Name or folder.
        model: String,
        /// What went wrong.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// The build lacks the support asked for.
    #[error("this build has no support for `{what}`; rebuild with `--features {feature}`")]
    NotCompiledIn {
        /// The kind of embedder.
        what: &'static str,
        /// The cargo feature.
        feature: &'static str,
    },
    /// The server could not be reached or refused.
    #[error("the embedding server {url} failed: {reason}")]
    Server {
        /// Address.
        url: String,
        /// What went wrong.
        reason: String,
    },
    /// The answer does not fit the question.
    #[error("the embedder gave an unusable answer: {reason}")]
    WrongAnswer {
        /// What is wrong with it.
        reason: String,
    },
}
