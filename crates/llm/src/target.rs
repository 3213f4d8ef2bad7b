//! Target of a profile's requests: address, key, protocol, reasoning effort.

use genai::adapter::AdapterKind;
use genai::chat::ReasoningEffort;
use genai::resolver::{AuthData, Endpoint};
use genai::{Headers, ModelIden, ServiceTarget};
use secrecy::{ExposeSecret, SecretString};

use crate::profile::{Profile, Provider};

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("{}", report::say!("提供方 `{provider}` 的配置没有 `base_url`", "profile of provider `{provider}` has no `base_url`", provider = .0))]
    NoBaseUrl(&'static str),
    #[error("{}", report::say!("`base_url` 不是 http 或 https 地址：{url}", "`base_url` is not an http or https address: {url}", url = .0))]
    BadBaseUrl(String),
    #[error("{}", report::say!("提供方 `{provider}` 需要密钥：请在配置中设置 `api_key_env` 或 `api_key_command`", "provider `{provider}` needs a key: set `api_key_env` or `api_key_command` in its profile", provider = .0))]
    NoKey(&'static str),
    #[error(
        "`reasoning_effort = \"{0}\"` is not one of none, minimal, low, medium, high, xhigh, max"
    )]
    Effort(String),
    #[error("{}", report::say!("无法创建 HTTP 客户端", "the HTTP client cannot be made"))]
    Http(#[source] reqwest::Error),
}

pub(super) fn adapter(provider: Provider) -> AdapterKind {
    match provider {
        Provider::OpenAiResponses => AdapterKind::OpenAIResp,
        Provider::Anthropic => AdapterKind::Anthropic,
        Provider::Gemini => AdapterKind::Gemini,
        // All others speak OpenAI's chat protocol; their own adapters add fields that some of their
        // models refuse (DeepSeek's enables reasoning).
        _ => AdapterKind::OpenAI,
    }
}

/// The address of a profile's server, with a slash at its end.
pub(super) fn base_url(profile: &Profile) -> Result<String, ClientError> {
    let provider = profile.provider;
    let base = profile
        .base_url
        .as_deref()
        .or(provider.base_url())
        .ok_or(ClientError::NoBaseUrl(provider.name()))?;
    let url = reqwest::Url::parse(base).map_err(|_| ClientError::BadBaseUrl(base.to_owned()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(ClientError::BadBaseUrl(base.to_owned()));
    }
    Ok(format!("{}/", base.trim_end_matches('/')))
}

/// Target of a request to the server at `base`.
pub(super) fn target(profile: &Profile, key: Option<&SecretString>, base: &str) -> ServiceTarget {
    // genai insists on a key even if the server needs none.
    let key = key.map_or_else(|| "none".to_owned(), |k| k.expose_secret().to_owned());
    let auth = if profile.provider == Provider::Azure {
        azure(profile, base, key)
    } else {
        AuthData::from_single(key)
    };
    ServiceTarget {
        endpoint: Endpoint::from_owned(base.to_owned()),
        auth,
        model: ModelIden::new(adapter(profile.provider), profile.model.clone()),
    }
}

/// Azure expects the deployment in the path and the key in `api-key`.
fn azure(profile: &Profile, base: &str, key: String) -> AuthData {
    let url = match &profile.api_version {
        Some(version) => {
            format!(
                "{base}openai/deployments/{}/chat/completions?api-version={version}",
                profile.model
            )
        }
        None => format!("{base}openai/v1/chat/completions"),
    };
    let mut headers = vec![("api-key".to_owned(), key)];
    headers.extend(profile.headers.clone());
    AuthData::RequestOverride {
        url,
        headers: Headers::from(headers),
    }
}

/// The reasoning effort to request. With OpenAI's protocol, genai would read it from the model name
/// unless it is set.
pub(super) fn effort(profile: &Profile) -> Result<Option<ReasoningEffort>, ClientError> {
    match profile.reasoning_effort.as_deref() {
        Some(name) => ReasoningEffort::from_keyword(name)
            .map(Some)
            .ok_or_else(|| ClientError::Effort(name.to_owned())),
        None if matches!(
            adapter(profile.provider),
            AdapterKind::OpenAI | AdapterKind::OpenAIResp
        ) =>
        {
            Ok(Some(ReasoningEffort::Budget(0)))
        }
        None => Ok(None),
    }
}
