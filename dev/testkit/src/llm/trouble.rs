//! Errors of providers: status, headers and body in their own shape and words.

use super::dialect::Dialect;
use serde_json::{Value, json};

/// Why a provider does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// Too many requests; retry after about this many milliseconds (whole seconds if the header requires them).
    Throttled(u32),
    /// Internal error.
    Broken,
    Overloaded,
    /// The prompt does not fit.
    TooLong,
    /// The key is wrong.
    BadKey,
    /// There is no such model.
    NoModel,
    /// A filter stops the prompt.
    Blocked,
    /// The request breaks a rule of the provider.
    Invalid(String),
}

/// A refusal as it goes over the wire.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Value,
}

impl Trouble {
    /// The refusal in a provider's shape.
    pub(super) fn of(&self, dialect: Dialect) -> Refusal {
        let (status, message) = self.words(dialect);
        Refusal {
            status,
            headers: self.headers(dialect),
            body: self.body(dialect, status, &message),
        }
    }

    fn words(&self, dialect: Dialect) -> (u16, String) {
        let (status, message) = match (self, dialect) {
            (Trouble::Invalid(message), _) => (400, message.as_str()),
            (Trouble::Throttled(_), Dialect::Anthropic) => (
                429,
                "This request would exceed your organization's rate limit of input tokens per minute.",
            ),
            (Trouble::Throttled(_), Dialect::DashScope) => (
                429,
                "You exceeded your current quota, please check your plan and billing details.",
            ),
            (Trouble::Throttled(_), Dialect::OpenRouter) => (429, "Provider returned error"),
            (Trouble::Throttled(_), _) => (429, "Rate limit reached, please try again later."),
            (Trouble::Broken, Dialect::Anthropic) => (500, "Internal server error"),
            (Trouble::Broken, _) => (
                500,
                "The server had an error while processing your request.",
            ),
            (Trouble::Overloaded, Dialect::Anthropic) => (529, "Overloaded"),
            (Trouble::Overloaded, _) => (503, "The model is overloaded. Please try again later."),
            (Trouble::TooLong, Dialect::Anthropic) => {
                (400, "prompt is too long: 213462 tokens > 200000 maximum")
            }
            (Trouble::TooLong, Dialect::Gemini) => (
                400,
                "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            ),
            (Trouble::TooLong, Dialect::DashScope) => (
                400,
                "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
            ),
            (Trouble::TooLong, Dialect::Local | Dialect::Ollama) => (
                400,
                "request (18019 tokens) exceeds the available context size (2048 tokens), try increasing it",
            ),
            (Trouble::TooLong, _) => (
                400,
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130011 tokens.",
            ),
            (Trouble::BadKey, Dialect::Gemini) => {
                (400, "API key not valid. Please pass a valid API key.")
            }
            (Trouble::BadKey, Dialect::Azure) => (
                401,
                "Access denied due to invalid subscription key or wrong API endpoint.",
            ),
            (Trouble::BadKey, Dialect::Anthropic) => (401, "invalid x-api-key"),
            (Trouble::BadKey, _) => (401, "Incorrect API key provided."),
            (Trouble::NoModel, Dialect::DeepSeek) => (400, "Model Not Exist"),
            (Trouble::NoModel, _) => (
                404,
                "The model does not exist or you do not have access to it.",
            ),
            (Trouble::Blocked, Dialect::Azure) => (
                400,
                "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
            ),
            (Trouble::Blocked, _) => (400, "Input data may contain inappropriate content."),
        };
        (status, message.to_owned())
    }

    fn headers(&self, dialect: Dialect) -> Vec<(&'static str, String)> {
        let Trouble::Throttled(ms) = self else {
            return Vec::new();
        };
        let seconds = ms.div_ceil(1000).to_string();
        match dialect {
            // Gemini's delay is in the body.
            Dialect::Gemini => Vec::new(),
            Dialect::OpenAi | Dialect::Azure => {
                vec![("retry-after", seconds), ("retry-after-ms", ms.to_string())]
            }
            _ => vec![("retry-after", seconds)],
        }
    }

    fn code(&self, dialect: Dialect) -> &'static str {
        match (self, dialect) {
            (Trouble::Throttled(_), Dialect::DashScope) => "insufficient_quota",
            (Trouble::Throttled(_), _) => "rate_limit_exceeded",
            (Trouble::Broken | Trouble::Overloaded, _) => "server_error",
            (Trouble::TooLong, Dialect::OpenAi | Dialect::Azure) => "context_length_exceeded",
            (Trouble::TooLong, Dialect::Local | Dialect::Ollama) => "exceed_context_size_error",
            (Trouble::BadKey, _) => "invalid_api_key",
            (Trouble::NoModel, _) => "model_not_found",
            (Trouble::Blocked, Dialect::Azure) => "content_filter",
            (Trouble::Blocked, _) => "data_inspection_failed",
            (Trouble::TooLong | Trouble::Invalid(_), _) => "invalid_request_error",
        }
    }

    fn body(&self, dialect: Dialect, status: u16, message: &str) -> Value {
        match dialect {
            Dialect::Anthropic => {
                let kind = match self {
                    Trouble::Throttled(_) => "rate_limit_error",
                    Trouble::Broken => "api_error",
                    Trouble::Overloaded => "overloaded_error",
                    Trouble::BadKey => "authentication_error",
                    Trouble::NoModel => "not_found_error",
                    _ => "invalid_request_error",
                };
                json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" })
            }
            Dialect::Gemini => self.google(status, message),
            Dialect::OpenRouter => json!({
                "error": { "code": status, "message": message, "metadata": { "raw": message } }, "user_id": "user_1"
            }),
            _ => json!({
                "error": { "message": message, "type": self.code(dialect), "param": null, "code": self.code(dialect) }
            }),
        }
    }

    fn google(&self, status: u16, message: &str) -> Value {
        let (name, details) = match self {
            Trouble::Throttled(ms) => (
                "RESOURCE_EXHAUSTED",
                json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo",
                         "retryDelay": format!("{}s", f64::from(*ms) / 1e3) }]),
            ),
            Trouble::Broken => ("INTERNAL", json!([])),
            Trouble::Overloaded => ("UNAVAILABLE", json!([])),
            Trouble::NoModel => ("NOT_FOUND", json!([])),
            Trouble::BadKey => (
                "INVALID_ARGUMENT",
                json!([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID" }]),
            ),
            _ => ("INVALID_ARGUMENT", json!([])),
        };
        json!({ "error": { "code": status, "message": message, "status": name, "details": details } })
    }
}
