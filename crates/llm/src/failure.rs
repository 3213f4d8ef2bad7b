//! Classifies the errors of a call by what to do next; their text never contains the request.

use std::time::Duration;

use genai::webc;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::profile::Provider;
use crate::secrets::secrets;
use crate::transport::CallError;
use report::format::cut;

/// Longest server message that is quoted.
const MESSAGE_BYTES: usize = 300;

/// How providers report that a prompt is too long.
const TOO_LONG: &str = "context_length_exceeded|maximum context length is|prompt is too long|exceeds the maximum|\
     range of input length should be|exceed_context_size_error|exceeds the available context size|\
     model_context_window_exceeded|request_too_large|context length exceeded";

/// Structured output fields that a server may refuse.
const LEVEL_FIELDS: &str = "response_format|json_schema|output_config|output_format|tool_choice|tools|tool choice|function calling|\
     responseschema|response_schema|responsejsonschema|responsemimetype|json_object|additionalproperties|\
     structured output|forced function call";

/// Classifies an error of genai; `had_text`: part of the answer had arrived before.
pub(super) fn classify(provider: Provider, error: &genai::Error, had_text: bool) -> CallError {
    use genai::Error;
    if let Error::WebStream { error: inner, .. } = error {
        if let Some(inner) = inner.downcast_ref::<Error>() {
            return classify(provider, inner, had_text);
        }
        // Of broken connections the relay knows more.
        let reason = cut(&inner.to_string(), MESSAGE_BYTES).to_owned();
        return transient(reason, had_text);
    }
    match error {
        Error::HttpError {
            status,
            body,
            headers,
            ..
        } => by_status(provider, *status, body, Some(headers), had_text),
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => {
            by_web_error(provider, webc_error, had_text)
        }
        Error::ChatResponse { body, .. } => by_event(provider, body, had_text),
        Error::StreamParse { .. }
        | Error::InvalidJsonResponseElement { .. }
        | Error::NoChatResponse { .. } => unreadable("the server's response is not an answer"),
        // The text of this error contains the whole request; only its cause may be shown.
        Error::ChatResponseGeneration {
            response_body,
            cause,
            ..
        } => match blocked(response_body) {
            Some(reason) => CallError::Refused { reason },
            None => unreadable(&format!(
                "the answer cannot be read: {}",
                cut(cause, MESSAGE_BYTES)
            )),
        },
        Error::SerdeJson(_) | Error::JsonValueExt(_) => unreadable("the answer cannot be read"),
        _ => CallError::Permanent {
            reason: "the request cannot be built".to_owned(),
            hint: "check provider, model and base_url of the profile".to_owned(),
        },
    }
}

fn blocked(body: &Value) -> Option<String> {
    let reason = body
        .pointer("/promptFeedback/blockReason")
        .or_else(|| body.pointer("/candidates/0/finishReason"))?;
    Some(reason.as_str()?.to_owned())
}

pub(super) fn transient(reason: String, had_text: bool) -> CallError {
    CallError::Transient {
        reason,
        wait: None,
        had_text,
    }
}

fn unreadable(reason: &str) -> CallError {
    CallError::Unreadable {
        reason: reason.to_owned(),
    }
}

/// The error's own text contains the address, which may contain a key.
pub(super) fn network(error: &reqwest::Error) -> CallError {
    let reason = if error.is_connect() {
        "no connection to the server"
    } else if error.is_timeout() {
        "the server took too long"
    } else if error.is_body() || error.is_decode() {
        "the connection broke while the answer came"
    } else {
        "the connection failed"
    };
    transient(reason.to_owned(), false)
}

fn by_web_error(provider: Provider, error: &webc::Error, had_text: bool) -> CallError {
    match error {
        webc::Error::ResponseFailedStatus {
            status,
            body,
            headers,
        } => by_status(provider, *status, body, Some(headers), had_text),
        webc::Error::ResponseFailedNotJson { body, .. }
        | webc::Error::ResponseFailedInvalidJson { body, .. } => transient(
            format!("the server did not answer in JSON: {}", message(body)),
            had_text,
        ),
        webc::Error::Reqwest(error) => network(error),
        webc::Error::JsonValueExt(_) => unreadable("the answer cannot be read"),
    }
}

/// Classifies an error inside a stream that began with status 200.
pub(super) fn by_event(provider: Provider, body: &Value, had_text: bool) -> CallError {
    let text = body.to_string();
    let lower = text.to_lowercase();
    let code = ["code", "status"].iter().find_map(|key| {
        let value = body
            .get(*key)
            .or_else(|| body.pointer(&format!("/error/{key}")))?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    });
    let status = code.and_then(|c| StatusCode::from_u16(u16::try_from(c).ok()?).ok());
    if is_too_long(&lower) {
        let reason = message(&text);
        return CallError::TooLong { reason };
    }
    match status {
        Some(status) if status.is_client_error() => {
            by_status(provider, status, &text, None, had_text)
        }
        _ => transient(
            format!("the server broke off: {}", message(&text)),
            had_text,
        ),
    }
}

fn is_too_long(lower: &str) -> bool {
    TOO_LONG.split('|').any(|mark| lower.contains(mark))
}

fn by_status(
    provider: Provider,
    status: StatusCode,
    body: &str,
    headers: Option<&HeaderMap>,
    had_text: bool,
) -> CallError {
    let lower = body.to_lowercase();
    let reason = format!("status {}: {}", status.as_u16(), message(body));
    if status.is_client_error() && is_too_long(&lower) || status == StatusCode::PAYLOAD_TOO_LARGE {
        return CallError::TooLong { reason };
    }
    // llama.cpp reports this with status 500.
    let no_template = lower.contains("requires --jinja");
    let is_bad_request = matches!(status.as_u16(), 400 | 422) || no_template;
    if is_bad_request
        && LEVEL_FIELDS.split('|').any(|field| lower.contains(field))
        && !is_key_problem(&lower)
    {
        return CallError::LevelRefused { reason };
    }
    if is_bad_request
        && (lower.contains("content_filter") || lower.contains("data_inspection_failed"))
    {
        return CallError::Refused { reason };
    }
    let should_retry = headers
        .and_then(|h| h.get("x-should-retry"))
        .and_then(|v| v.to_str().ok());
    let out_of_credit = lower.contains("insufficient_quota")
        && !matches!(provider, Provider::Qwen | Provider::QwenIntl);
    let retryable = match should_retry {
        Some("true") => true,
        Some("false") => false,
        _ => matches!(status.as_u16(), 408 | 409 | 429 | 500..) && !out_of_credit,
    };
    if retryable {
        return CallError::Transient {
            reason,
            wait: wait(headers, body),
            had_text,
        };
    }
    CallError::Permanent {
        reason,
        hint: hint(status, &lower, out_of_credit).to_owned(),
    }
}

fn is_key_problem(lower: &str) -> bool {
    lower.contains("api key") || lower.contains("api_key")
}

const KEY_HINT: &str = "check the key: `api_key_env` or `api_key_command` of the profile";
const CREDIT_HINT: &str = "the account has no credit left; add some or choose another profile";

fn hint(status: StatusCode, lower: &str, out_of_credit: bool) -> &'static str {
    match status.as_u16() {
        _ if out_of_credit => CREDIT_HINT,
        401 | 403 => KEY_HINT,
        400 if is_key_problem(lower) => KEY_HINT,
        404 => "check `model` and `base_url` of the profile",
        402 => CREDIT_HINT,
        _ => "check the profile with `scopeagent doctor`",
    }
}

/// The wait for a server that loads its model, as llama.cpp's does when it has just started.
const LOADING: Duration = Duration::from_secs(30);

/// How long the server asks to wait: from the headers, else from Gemini's or llama.cpp's body.
fn wait(headers: Option<&HeaderMap>, body: &str) -> Option<Duration> {
    let header = |name: &str| headers?.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = header("retry-after-ms").and_then(|v| v.parse::<f64>().ok()) {
        return duration(ms / 1e3);
    }
    if let Some(after) = header("retry-after") {
        if let Ok(seconds) = after.parse::<f64>() {
            return duration(seconds);
        }
        let when = jiff::fmt::rfc2822::parse(after).ok()?.timestamp();
        let left = when.duration_since(jiff::Timestamp::now());
        return duration(left.as_secs_f64().max(0.0));
    }
    if body.to_lowercase().contains("loading model") {
        return Some(LOADING);
    }
    let json: Value = serde_json::from_str(body).ok()?;
    let details = json
        .pointer("/error/details")
        .or_else(|| json.pointer("/0/error/details"))?
        .as_array()?;
    let delay = details.iter().find_map(|d| d.get("retryDelay")?.as_str())?;
    duration(delay.trim_end_matches('s').parse().ok()?)
}

fn duration(seconds: f64) -> Option<Duration> {
    (seconds.is_finite() && (0.0..1e9).contains(&seconds)).then(|| Duration::from_secs_f64(seconds))
}

/// The message of an error body, shortened and without keys; HTML is not quoted.
fn message(body: &str) -> String {
    let trimmed = body.trim();
    if trimmed.starts_with('<') {
        return "an HTML page instead of an answer".to_owned();
    }
    let json: Option<Value> = serde_json::from_str(trimmed).ok();
    let places = [
        "/error/message",
        "/message",
        "/error",
        "/0/error/message",
        "/detail",
    ];
    let text = json
        .as_ref()
        .and_then(|j| places.iter().find_map(|p| j.pointer(p)?.as_str()));
    let words: Vec<&str> = text.unwrap_or(trimmed).split_whitespace().collect();
    let text = words.join(" ");
    if text.is_empty() {
        "no message".to_owned()
    } else {
        cut(&secrets(&text), MESSAGE_BYTES).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_CREDIT: &str =
        r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#;

    fn failure(code: u16, body: &str, header: Option<(&'static str, &str)>) -> CallError {
        let mut headers = HeaderMap::new();
        if let Some((name, value)) = header {
            headers.insert(name, value.parse().expect("a header value"));
        }
        let status = StatusCode::from_u16(code).expect("a status");
        by_status(Provider::OpenAi, status, body, Some(&headers), false)
    }

    #[test]
    fn waits_are_read_wherever_a_provider_puts_them() {
        let gemini = r#"{"error":{"code":429,"details":[{"@type":"x/google.rpc.RetryInfo","retryDelay":"19s"}]}}"#;
        for (code, body, header, millis) in [
            (429, "{}", Some(("retry-after-ms", "250")), 250),
            (503, "{}", Some(("retry-after", "7")), 7_000),
            (
                429,
                "{}",
                Some(("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")),
                0,
            ),
            (429, gemini, None, 19_000),
            (
                503,
                r#"{"error":{"message":"Loading model"}}"#,
                None,
                30_000,
            ),
        ] {
            match failure(code, body, header) {
                CallError::Transient { wait, .. } => {
                    assert_eq!(wait, Some(Duration::from_millis(millis)), "{header:?}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    const TOO_LONG_INPUT: [&str; 4] = [
        r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#,
        r#"{"type":"error","error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        r#"{"error":{"message":"The input token count (9) exceeds the maximum number of tokens allowed"}}"#,
        r#"{"error":{"message":"Range of input length should be [1, 129024]"}}"#,
    ];
    const NO_SCHEMA: &str = r#"{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported"}}"#;
    const BAD_KEY: &str =
        r#"{"error":{"message":"API key not valid. Please pass a valid API key."}}"#;

    #[test]
    fn failures_are_sorted_by_what_to_do_next() {
        for body in TOO_LONG_INPUT {
            let error = failure(400, body, None);
            assert!(matches!(error, CallError::TooLong { .. }), "{body}");
        }
        let refused = failure(400, NO_SCHEMA, None);
        assert!(matches!(refused, CallError::LevelRefused { .. }));
        // The server decides whether to retry.
        for (code, body, header, is_permanent) in [
            (500, "{}", Some(("x-should-retry", "false")), true),
            (400, "{}", Some(("x-should-retry", "true")), false),
            (429, NO_CREDIT, None, true),
            (400, BAD_KEY, None, true),
        ] {
            match failure(code, body, header) {
                CallError::Permanent { .. } => assert!(is_permanent, "{body}"),
                CallError::Transient { .. } => assert!(!is_permanent, "{body}"),
                other => panic!("{other:?}"),
            }
        }
        // DashScope throttles in the words that elsewhere mean no credit.
        let status = StatusCode::TOO_MANY_REQUESTS;
        let at_qwen = by_status(Provider::Qwen, status, NO_CREDIT, None, false);
        assert!(matches!(at_qwen, CallError::Transient { .. }));
        let CallError::Permanent { hint, .. } = failure(400, BAD_KEY, None) else {
            panic!("a bad key is permanent");
        };
        assert_eq!(hint, KEY_HINT);
    }

    #[test]
    fn html_is_not_quoted() {
        let reason = failure(502, "<html><body>Bad gateway</body></html>", None).to_string();
        assert!(reason.contains("HTML") && !reason.contains('<'), "{reason}");
    }
}
