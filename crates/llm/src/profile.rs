//! Named LLM profiles as configured; field names are part of the interface.
//!
//! The program itself fetches keys from the environment or a command.

use std::collections::BTreeMap;
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// Tokens kept free for an answer where the profile names none: conclusions take up to three thousand, thoughts some more.
const MOST_ANSWER_TOKENS: usize = 8_000;

/// The table `[llm]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LlmConfig {
    pub default: Option<String>,
    /// Profile that takes over when the first fails; without one, the offline rules do.
    pub fallback: Option<String>,
    /// Profiles for individual steps (`think1` … `think5`, `hypotheses`).
    pub steps: BTreeMap<String, String>,
    /// Limit for a run, in the currency of the prices.
    pub max_cost: Option<f64>,
    pub profiles: BTreeMap<String, Profile>,
}

/// The table `[llm.profiles.NAME]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub provider: Provider,
    /// Model, or Azure deployment.
    pub model: String,
    /// Required for Azure and compatible servers.
    pub base_url: Option<String>,
    /// The key itself; prefer one of the next two.
    pub api_key: Option<SecretString>,
    /// Environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Command that prints the key in its first line.
    pub api_key_command: Option<String>,
    /// Azure API version; by default the versionless `/openai/v1`.
    pub api_version: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Default 10: a reachable server needs far less.
    pub connect_timeout_seconds: Option<f64>,
    /// Longest wait for the beginning of an answer. By default `read_timeout_seconds`; 900 for a server on this machine or network,
    /// which reads a long prompt without an accelerator for minutes.
    pub first_token_timeout_seconds: Option<f64>,
    /// Longest pause within an answer; default 120, as reasoning models pause.
    pub read_timeout_seconds: Option<f64>,
    /// Total for one request; default 600, and 3,600 for a server on this machine or network.
    pub timeout_seconds: Option<f64>,
    /// By default left to the model; reasoning models refuse one.
    pub temperature: Option<f64>,
    /// `minimal`, `low`, `medium`, `high`, …; by default left to the model.
    pub reasoning_effort: Option<String>,
    /// Reasoning included.
    pub max_output_tokens: Option<u32>,
    /// Tokens of prompt and answer together; default 32,000, which all current models support.
    pub context_tokens: Option<usize>,
    /// By default the level that the model is known to support.
    pub structured_output: Option<Level>,
    pub price_per_million_in: Option<f64>,
    pub price_per_million_out: Option<f64>,
    /// Retries after a transient error; default 2, as in the providers' own clients.
    pub retries: Option<u32>,
}

/// The protocol of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    #[serde(rename = "openai")]
    OpenAi,
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
    /// Azure OpenAI; `model` is the deployment, `base_url` the resource.
    Azure,
    Anthropic,
    Gemini,
    /// Qwen on DashScope, China.
    Qwen,
    /// Qwen on DashScope, international.
    QwenIntl,
    #[serde(rename = "deepseek")]
    DeepSeek,
    #[serde(rename = "openrouter")]
    OpenRouter,
    Ollama,
    /// Any other OpenAI-compatible server: vLLM, llama.cpp, a gateway.
    #[default]
    #[serde(
        rename = "openai_compatible",
        alias = "compatible",
        alias = "local",
        alias = "vllm",
        alias = "llamacpp"
    )]
    Compatible,
}

/// How the schema of an answer is enforced, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The server enforces the schema.
    Schema,
    /// The answer is the argument of the tool `submit_step`.
    Tool,
    /// The server enforces JSON; the schema is in the prompt.
    JsonObject,
    /// The prompt asks for JSON or marks, without enforcement.
    Text,
}

impl Provider {
    pub fn name(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::OpenAiResponses => "openai_responses",
            Provider::Azure => "azure",
            Provider::Anthropic => "anthropic",
            Provider::Gemini => "gemini",
            Provider::Qwen => "qwen",
            Provider::QwenIntl => "qwen_intl",
            Provider::DeepSeek => "deepseek",
            Provider::OpenRouter => "openrouter",
            Provider::Ollama => "ollama",
            Provider::Compatible => "openai_compatible",
        }
    }

    /// Default server; `None` for providers without a common address.
    pub fn base_url(self) -> Option<&'static str> {
        match self {
            Provider::OpenAi | Provider::OpenAiResponses => Some("https://api.openai.com/v1/"),
            Provider::Anthropic => Some("https://api.anthropic.com/v1/"),
            Provider::Gemini => Some("https://generativelanguage.googleapis.com/v1beta/"),
            Provider::Qwen => Some("https://dashscope.aliyuncs.com/compatible-mode/v1/"),
            Provider::QwenIntl => Some("https://dashscope-intl.aliyuncs.com/compatible-mode/v1/"),
            Provider::DeepSeek => Some("https://api.deepseek.com/v1/"),
            Provider::OpenRouter => Some("https://openrouter.ai/api/v1/"),
            Provider::Ollama => Some("http://localhost:11434/v1/"),
            Provider::Azure | Provider::Compatible => None,
        }
    }

    pub fn needs_key(self) -> bool {
        !matches!(self, Provider::Ollama | Provider::Compatible)
    }
}

impl Profile {
    pub fn new(provider: Provider, model: impl Into<String>) -> Profile {
        Profile {
            provider,
            model: model.into(),
            ..Profile::default()
        }
    }

    pub fn connect_timeout(&self) -> Duration {
        seconds(self.connect_timeout_seconds, 10.0)
    }

    pub fn read_timeout(&self) -> Duration {
        seconds(self.read_timeout_seconds, 120.0)
    }

    pub fn first_token_timeout(&self) -> Duration {
        let patient = self.is_local() && self.read_timeout_seconds.is_none();
        let default = if patient {
            900.0
        } else {
            self.read_timeout().as_secs_f64()
        };
        seconds(self.first_token_timeout_seconds, default)
    }

    pub fn timeout(&self) -> Duration {
        seconds(
            self.timeout_seconds,
            if self.is_local() { 3_600.0 } else { 600.0 },
        )
    }

    /// Whether the server is on this machine or in a private network: models there may be slow, and small.
    pub fn is_local(&self) -> bool {
        let base = self
            .base_url
            .as_deref()
            .or_else(|| self.provider.base_url());
        let url = base.and_then(|base| Url::parse(base).ok());
        match url.as_ref().and_then(Url::host) {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_private(),
            Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unique_local(),
            None => false,
        }
    }

    /// Tokens kept free for an answer, reasoning included.
    pub fn answer_tokens(&self) -> usize {
        let default = MOST_ANSWER_TOKENS.min(self.context_tokens() / 4);
        self.max_output_tokens.map_or(default, |n| n as usize)
    }

    /// Limit for an answer. Providers with hosted models have sound limits of their own; a small model elsewhere may never stop.
    pub fn answer_limit(&self) -> Option<u32> {
        let default = || u32::try_from(self.answer_tokens()).ok();
        let default = || default().filter(|_| self.is_self_hosted());
        self.max_output_tokens.or_else(default)
    }

    /// Whether the server is not a known provider's: its model may be small.
    pub fn is_self_hosted(&self) -> bool {
        matches!(self.provider, Provider::Ollama | Provider::Compatible)
    }

    pub fn context_tokens(&self) -> usize {
        self.context_tokens.unwrap_or(32_000)
    }

    /// The price by the profile, otherwise by the list price of a well-known model; for estimates only.
    pub fn list_price(&self, tokens_in: u64, tokens_out: u64) -> Option<f64> {
        let listed = || {
            let mut known = LIST_PRICES.iter();
            let (.., read, written) = known.find(|(provider, name, ..)| {
                *provider == self.provider && self.model.starts_with(name)
            })?;
            Some((tokens_in as f64 * read + tokens_out as f64 * written) / 1e6)
        };
        self.price(tokens_in, tokens_out).or_else(listed)
    }

    /// `None` if the profile has no prices.
    pub fn price(&self, tokens_in: u64, tokens_out: u64) -> Option<f64> {
        let price = |tokens: u64, per_million: f64| tokens as f64 / 1e6 * per_million;
        let input = price(tokens_in, self.price_per_million_in?);
        Some(input + price(tokens_out, self.price_per_million_out?))
    }
}

/// The month of the list prices.
pub const LIST_PRICES_OF: &str = "2025-11";

/// List prices per million tokens, read and written, in US dollars; by the beginning of the model's name.
const LIST_PRICES: [(Provider, &str, f64, f64); 9] = [
    (Provider::Anthropic, "claude-opus-4-5", 5.0, 25.0),
    (Provider::Anthropic, "claude-sonnet-4", 3.0, 15.0),
    (Provider::Anthropic, "claude-haiku-4-5", 1.0, 5.0),
    (Provider::OpenAi, "gpt-4o-mini", 0.15, 0.6),
    (Provider::OpenAi, "gpt-4o", 2.5, 10.0),
    (Provider::OpenAi, "gpt-4.1-mini", 0.4, 1.6),
    (Provider::OpenAi, "gpt-4.1", 2.0, 8.0),
    (Provider::Gemini, "gemini-2.5-flash", 0.3, 2.5),
    (Provider::Gemini, "gemini-2.5-pro", 1.25, 10.0),
];

fn seconds(value: Option<f64>, default: f64) -> Duration {
    let usable = value.filter(|v| v.is_finite() && *v > 0.0 && *v < 1e6);
    Duration::from_secs_f64(usable.unwrap_or(default))
}
