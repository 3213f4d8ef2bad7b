//! Named profiles of LLMs as the configuration spells them. The names are an interface.
//!
//! Where a key comes from is said here; fetching it from the environment or a command is the
//! program's business, which hands the key over.

use std::collections::BTreeMap;
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// The table `[llm]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LlmConfig {
    /// Profile that is used unless another is named.
    pub default: Option<String>,
    /// Profile that takes over when the first fails; none leaves it to the offline reasoner.
    pub fallback: Option<String>,
    /// Profiles of single steps, by step (`think1` … `think5`, `hypotheses`).
    pub steps: BTreeMap<String, String>,
    /// Most that a run may cost, in the currency of the prices.
    pub max_cost: Option<f64>,
    /// The profiles by name.
    pub profiles: BTreeMap<String, Profile>,
}

/// The table `[llm.profiles.NAME]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Whose protocol the server speaks.
    pub provider: Provider,
    /// Model, or Azure's deployment.
    pub model: String,
    /// Server; each provider has its usual one, but Azure and compatible servers need it.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The key itself; better one of the next two.
    #[serde(default)]
    pub api_key: Option<SecretString>,
    /// Environment variable that holds the key.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// Command whose first output line is the key.
    #[serde(default)]
    pub api_key_command: Option<String>,
    /// Version of Azure's interface; none uses the version-less `/openai/v1`.
    #[serde(default)]
    pub api_version: Option<String>,
    /// Headers to add.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Seconds until a connection must stand; 10 by default, as a reachable server needs far less.
    #[serde(default)]
    pub connect_timeout_seconds: Option<f64>,
    /// Seconds between two pieces of an answer; 120 by default, as thinking models pause.
    #[serde(default)]
    pub read_timeout_seconds: Option<f64>,
    /// Seconds that one request may take in all; 600 by default.
    #[serde(default)]
    pub timeout_seconds: Option<f64>,
    /// Sampling temperature; none leaves it to the model (reasoning models refuse one).
    #[serde(default)]
    pub temperature: Option<f64>,
    /// `minimal`, `low`, `medium`, `high`, …; none leaves it to the model.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// Most tokens of an answer, thinking included.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    /// Tokens that prompt and answer may have together; 32,000 by default, which the models in use today all have.
    #[serde(default)]
    pub context_tokens: Option<usize>,
    /// How answers are made to follow the schema; none takes what the model is known to support.
    #[serde(default)]
    pub structured_output: Option<Level>,
    /// Price of a million tokens sent.
    #[serde(default)]
    pub price_per_million_in: Option<f64>,
    /// Price of a million tokens received.
    #[serde(default)]
    pub price_per_million_out: Option<f64>,
    /// Requests repeated after a passing error; 2 by default, as the providers' own clients do.
    #[serde(default)]
    pub retries: Option<u32>,
}

/// Whose protocol a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// OpenAI chat completions.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI Responses.
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
    /// Azure OpenAI; `model` is the deployment, `base_url` the resource.
    Azure,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// Qwen on DashScope, China.
    Qwen,
    /// Qwen on DashScope, international.
    QwenIntl,
    /// DeepSeek.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// OpenRouter.
    #[serde(rename = "openrouter")]
    OpenRouter,
    /// Ollama.
    Ollama,
    /// Any other OpenAI-compatible server: vLLM, llama.cpp, a gateway.
    #[serde(
        rename = "openai_compatible",
        alias = "compatible",
        alias = "local",
        alias = "vllm",
        alias = "llamacpp"
    )]
    Compatible,
}

/// How an answer is made to follow its schema, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The server enforces the schema.
    Schema,
    /// The answer is the argument of the tool `submit_step`.
    Tool,
    /// The server enforces JSON; the schema stands in the prompt.
    JsonObject,
    /// The prompt asks for JSON or marks; nothing is enforced.
    Text,
}

impl Provider {
    /// Name in configuration and reports.
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

    /// Server that is used without a `base_url`; none for those that every user runs elsewhere.
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

    /// Whether a request without a key is sent at all.
    pub fn needs_key(self) -> bool {
        !matches!(self, Provider::Ollama | Provider::Compatible)
    }
}

impl Profile {
    /// A profile with everything optional left out.
    pub fn new(provider: Provider, model: impl Into<String>) -> Profile {
        Profile {
            provider,
            model: model.into(),
            base_url: None,
            api_key: None,
            api_key_env: None,
            api_key_command: None,
            api_version: None,
            headers: BTreeMap::new(),
            connect_timeout_seconds: None,
            read_timeout_seconds: None,
            timeout_seconds: None,
            temperature: None,
            reasoning_effort: None,
            max_output_tokens: None,
            context_tokens: None,
            structured_output: None,
            price_per_million_in: None,
            price_per_million_out: None,
            retries: None,
        }
    }

    /// Time until a connection must stand.
    pub fn connect_timeout(&self) -> Duration {
        seconds(self.connect_timeout_seconds, 10.0)
    }

    /// Time between two pieces of an answer.
    pub fn read_timeout(&self) -> Duration {
        seconds(self.read_timeout_seconds, 120.0)
    }

    /// Time that one request may take in all.
    pub fn timeout(&self) -> Duration {
        seconds(self.timeout_seconds, 600.0)
    }

    /// Tokens that prompt and answer may have together.
    pub fn context_tokens(&self) -> usize {
        self.context_tokens.unwrap_or(32_000)
    }

    /// Price of a number of tokens; `None` without a price list.
    pub fn price(&self, tokens_in: u64, tokens_out: u64) -> Option<f64> {
        let million = 1e6;
        Some(
            tokens_in as f64 / million * self.price_per_million_in?
                + tokens_out as f64 / million * self.price_per_million_out?,
        )
    }
}

fn seconds(value: Option<f64>, default: f64) -> Duration {
    let usable = value.filter(|v| v.is_finite() && *v > 0.0 && *v < 1e6);
    Duration::from_secs_f64(usable.unwrap_or(default))
}
