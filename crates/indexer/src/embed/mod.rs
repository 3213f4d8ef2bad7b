//! Text to vectors: the trait and the choice of embedders.

pub(crate) mod onnx;
mod prompts;
mod server;
mod static_table;

pub use onnx::OnnxModel;
pub use prompts::Prompts;
use thiserror::Error;

use crate::model::Remote;

/// Turns texts into vectors of one dimension. A vector has length 1, or is all zero if the embedder
/// knows no word of the text; the vector branch is then skipped.
pub trait Embedder: Send + Sync {
    /// Identifies model, version and settings: embedders with the same fingerprint give the same vectors.
    fn fingerprint(&self) -> String;

    fn dimension(&self) -> usize;

    /// One vector per text, in the order of `texts`.
    ///
    /// # Errors
    /// When the model or its server fails.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// As [`Embedder::embed`] for a query, which some models embed differently from a passage; within the query's bounds on sent text and on
    /// time.
    ///
    /// # Errors
    /// When the model or its server fails.
    fn embed_query(&self, text: &str, _: Remote<'_>) -> Result<Vec<f32>, EmbedError> {
        only(self.embed(&[text])?)
    }

    /// Whether it understands only English; the glossary then adds only English names to a query.
    fn english_only(&self) -> bool {
        false
    }

    /// The weights of the vector branch that suit this embedder.
    fn weights(&self) -> VectorWeights {
        match self.english_only() {
            true => VectorWeights::ENGLISH_ONLY,
            false => VectorWeights::default(),
        }
    }
}

/// Weight of the vector branch (0 to 1) by the script of the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorWeights {
    pub latin: f32,
    /// Chinese, Japanese and Korean.
    pub cjk: f32,
}

impl VectorWeights {
    /// For a model without Chinese, which understands of a Chinese query only the English names that the
    /// glossary adds. Measured with MiniLM on our tuning judgments: .3 to .5 do equally well in English; more than .15 loses in Chinese.
    const ENGLISH_ONLY: VectorWeights = VectorWeights {
        latin: 0.45,
        cjk: 0.1,
    };
}

impl Default for VectorWeights {
    /// For a full sentence model (with MiniLM .5 is best on seven English collections).
    fn default() -> Self {
        VectorWeights {
            latin: 0.5,
            cjk: 0.5,
        }
    }
}

/// A cross-encoder that reorders the best hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reranker {
    pub model: OnnxModel,
    /// Number of hits that it sees.
    pub depth: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EmbedderChoice {
    /// Built into the program: no download, no setup.
    #[default]
    Embedded,
    /// A model run by ONNX Runtime through fastembed.
    Fastembed { model: OnnxModel, prompts: Prompts },
    /// A server with `/v1/embeddings`.
    OpenAiCompatible {
        /// Base address, `http://127.0.0.1:8080/v1`.
        url: String,
        /// Model name to send.
        model: String,
        /// Bearer token, if the server wants one.
        key: Option<String>,
        prompts: Prompts,
    },
}

/// The embedder that `choice` names.
///
/// # Errors
/// When its model, library or server is unavailable.
pub fn load(choice: &EmbedderChoice) -> Result<Box<dyn Embedder>, EmbedError> {
    Ok(match choice {
        EmbedderChoice::Embedded => Box::new(static_table::StaticTable::embedded()),
        EmbedderChoice::Fastembed { model, prompts } => Box::new(onnx::Onnx::load(model, prompts)?),
        EmbedderChoice::OpenAiCompatible {
            url,
            model,
            key,
            prompts,
        } => {
            let server = server::Server::connect(url, model, key.as_deref(), prompts);
            Box::new(server?)
        }
    })
}

/// The vector of a single text.
fn only(mut vectors: Vec<Vec<f32>>) -> Result<Vec<f32>, EmbedError> {
    vectors.pop().ok_or_else(|| EmbedError::WrongAnswer {
        reason: "no vector for a text".to_owned(),
    })
}

/// Scales a vector to length 1. Components that are noise become 0, since denormal numbers halve the speed of every
/// product.
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    for value in vector {
        *value = if length > 0.0 { *value / length } else { 0.0 };
        if value.abs() < 1e-15 {
            *value = 0.0;
        }
    }
}

#[derive(Debug, Error)]
pub enum EmbedError {
    #[error("the embedding model `{model}` cannot be loaded: {reason}; {remedy}")]
    Unavailable {
        model: String,
        reason: String,
        remedy: String,
    },
    #[error("the embedding server {url} failed: {reason}")]
    Server { url: String, reason: String },
    #[error("the embedder gave an unusable answer: {reason}")]
    WrongAnswer { reason: String },
}
