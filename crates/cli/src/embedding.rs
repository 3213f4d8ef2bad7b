//! From the configuration to the models of the index.

use std::path::{Path, PathBuf};

use indexer::embed::{Prompts, VectorWeights};
use indexer::{EmbedderChoice, OnnxModel, Reranker, Settings};
use secrecy::ExposeSecret;

use crate::config::{self, Config, Embedder, EmbedderProvider};
use server::{Result, error};

pub(crate) fn settings(config: &Config) -> Result<Settings> {
    let embedder = &config.embedder;
    Ok(Settings {
        embedder: choice(embedder, config)?,
        weights: weights(embedder)?,
        reranker: config.reranker.as_ref().map(|reranker| Reranker {
            model: OnnxModel {
                name: reranker.model.clone(),
                cache: Some(cache(reranker.cache.as_deref(), config)),
                runtime: runtime(reranker.runtime.as_deref()),
            },
            depth: reranker.depth,
        }),
        ..Settings::default()
    })
}

fn choice(embedder: &Embedder, config: &Config) -> Result<EmbedderChoice> {
    let provider = embedder.provider.unwrap_or(match embedder {
        Embedder {
            base_url: Some(_), ..
        } => EmbedderProvider::OpenaiCompatible,
        Embedder { model: Some(_), .. } => EmbedderProvider::Fastembed,
        _ => EmbedderProvider::Embedded,
    });
    let prompts = Prompts {
        query: embedder.query_prefix.clone(),
        passage: embedder.passage_prefix.clone(),
    };
    Ok(match provider {
        EmbedderProvider::Embedded => EmbedderChoice::Embedded,
        EmbedderProvider::Fastembed => EmbedderChoice::Fastembed {
            model: OnnxModel {
                name: needed(&embedder.model, "model")?,
                cache: Some(cache(embedder.cache.as_deref(), config)),
                runtime: runtime(embedder.runtime.as_deref()),
            },
            prompts,
        },
        EmbedderProvider::OpenaiCompatible => EmbedderChoice::OpenAiCompatible {
            url: needed(&embedder.base_url, "base_url")?,
            model: needed(&embedder.model, "model")?,
            key: key(embedder)?,
            prompts,
        },
    })
}

fn needed(value: &Option<String>, name: &str) -> Result<String> {
    value.clone().ok_or_else(|| {
        error!(
            Usage: "`[embedder]` 缺少 `{name}`", "`[embedder]` needs `{name}`";
            "`scopeagent config show` 列出已设置的值；示例见 docs/models.md", "`scopeagent config show` lists the settings; docs/models.md has examples"
        )
    })
}

fn key(embedder: &Embedder) -> Result<Option<String>> {
    let (variable, command) = (&embedder.api_key_env, &embedder.api_key_command);
    let key = crate::keys::fetch(variable.as_deref(), command.as_deref());
    let key = key.map_err(|reason| {
        error!(
            Usage: "无法取得向量模型的密钥：{reason}", "the key of the embedder cannot be fetched: {reason}";
            "请修正 `[embedder]` 中的 `api_key_env` 或 `api_key_command`", "fix `api_key_env` or `api_key_command` in `[embedder]`"
        )
    })?;
    Ok(key.map(|key| key.expose_secret().to_owned()))
}

fn weights(embedder: &Embedder) -> Result<Option<VectorWeights>> {
    let Some(weights) = embedder.weights else {
        return Ok(None);
    };
    let within = |weight: f32| (0.0..=1.0).contains(&weight);
    if within(weights.latin) && within(weights.cjk) {
        return Ok(Some(VectorWeights {
            latin: weights.latin,
            cjk: weights.cjk,
        }));
    }
    let (latin, cjk) = (weights.latin, weights.cjk);
    Err(error!(
        Usage: "`[embedder.weights]` 中 latin = {latin}、cjk = {cjk}", "`[embedder.weights]` has latin = {latin} and cjk = {cjk}";
        "权重在 0（只用词语）与 1（只用向量）之间", "weights are between 0 (only words) and 1 (only vectors)"
    ))
}

fn cache(configured: Option<&Path>, config: &Config) -> PathBuf {
    let own = || config::data_folder(config).join("models");
    configured.map_or_else(own, Path::to_owned)
}

fn runtime(configured: Option<&Path>) -> Option<PathBuf> {
    let named = || std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    configured.map(Path::to_owned).or_else(named)
}
