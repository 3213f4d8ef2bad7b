//! In place of `onnx` in a build without the feature `fastembed`: every model is refused.

use std::convert::Infallible;
use std::path::Path;

use super::prefix::Prompts;
use super::static_table::StaticTable;
use super::{EmbedError, Reranker};

pub(super) enum Onnx {}

impl Onnx {
    pub(super) fn load(
        _model: &str,
        _cache: Option<&Path>,
        _runtime: Option<&Path>,
        _prompts: &Prompts,
    ) -> Result<StaticTable, EmbedError> {
        Err(absent("ONNX models"))
    }
}

pub(crate) struct OnnxReranker {
    pub(crate) depth: usize,
    never: Infallible,
}

impl OnnxReranker {
    pub(crate) fn load(_settings: &Reranker) -> Result<OnnxReranker, EmbedError> {
        Err(absent("rerankers"))
    }

    pub(crate) fn scores(&self, _query: &str, _texts: &[String]) -> Result<Vec<f32>, EmbedError> {
        match self.never {}
    }
}

fn absent(what: &'static str) -> EmbedError {
    EmbedError::NotCompiledIn {
        what,
        feature: "fastembed",
    }
}
