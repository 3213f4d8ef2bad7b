//! Named LLM profiles as configured; field names are part of the interface.
//!
//! The program itself fetches keys from the environment or a command.

use std::collections::BTreeMap;
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

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
    /// Longest pause within an answer; default 120, as reasoning models pause.
    pub read_timeout_seconds: Option<f64>,
    /// Total for one request; default 600.
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

    pub fn timeout(&self) -> Duration {
        seconds(self.timeout_seconds, 600.0)
    }

    pub fn context_tokens(&self) -> usize {
        self.context_tokens.unwrap_or(32_000)
    }

    /// `None` if the profile has no prices.
    pub fn price(&self, tokens_in: u64, tokens_out: u64) -> Option<f64> {
        let price = |tokens: u64, per_million: f64| tokens as f64 / 1e6 * per_million;
        let input = price(tokens_in, self.price_per_million_in?);
        Some(input + price(tokens_out, self.price_per_million_out?))
    }
}

fn seconds(value: Option<f64>, default: f64) -> Duration {
    let usable = value.filter(|v| v.is_finite() && *v > 0.0 && *v < 1e6);
    Duration::from_secs_f64(usable.unwrap_or(default))
}
