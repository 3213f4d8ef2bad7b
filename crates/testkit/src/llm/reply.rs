//! What the scripted model answers, and how it is cut into pieces.

use serde_json::{Value, json};
use std::time::Duration;

/// How the bytes of a stream are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chunking {
    /// One write an event.
    Events,
    /// Writes of this many bytes, through UTF-8 characters and line ends.
    Bytes(usize),
    /// Everything at once.
    Whole,
}

/// What goes wrong while an answer is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The connection is closed after so many bytes of the body.
    CutAfter(usize),
    /// Nothing more comes for so long after so many bytes; then the rest.
    StallAfter(usize, Duration),
    /// The stream ends without its last event and without `[DONE]`.
    NoEnd,
    /// An error event stands in the stream after the text.
    ErrorEvent(Value),
}

/// One answer of the scripted model.
#[derive(Debug, Clone)]
pub struct Turn {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) said: Said,
    pub(crate) reasoning: Option<String>,
    pub(crate) chunking: Chunking,
    pub(crate) fault: Option<Fault>,
    pub(crate) crlf: bool,
    pub(crate) delay: Duration,
    pub(crate) usage: (u64, u64),
    pub(crate) finish: Option<String>,
    pub(crate) pieces: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum Said {
    Text(String),
    /// (id, name, arguments)
    Tools(Vec<(String, String, String)>),
    /// A body that is sent as it is.
    Raw(String),
}

impl Turn {
    fn new(said: Said) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            said,
            reasoning: None,
            chunking: Chunking::Events,
            fault: None,
            crlf: false,
            delay: Duration::ZERO,
            usage: (100, 20),
            finish: None,
            pieces: 12,
        }
    }

    /// The model says a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Said::Text(text.into()))
    }

    /// The model says a JSON value.
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// The model calls a tool.
    pub fn tool(name: &str, arguments: &Value) -> Self {
        Self::tools(&[(name, arguments.clone())])
    }

    /// The model calls several tools at once.
    pub fn tools(calls: &[(&str, Value)]) -> Self {
        let call = |(i, (name, arguments)): (usize, &(&str, Value))| {
            (
                format!("call_{}", i + 1),
                (*name).to_owned(),
                arguments.to_string(),
            )
        };
        Self::new(Said::Tools(calls.iter().enumerate().map(call).collect()))
    }

    /// The server refuses with a status and a message, in the shape of OpenAI's errors.
    pub fn error(status: u16, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": "server_error", "code": null}});
        Self {
            status,
            ..Self::new(Said::Raw(body.to_string()))
        }
    }

    /// The server answers with this body, whatever was asked.
    pub fn raw(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            ..Self::new(Said::Raw(body.into()))
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Thoughts before the answer (`reasoning_content`).
    pub fn reasoning(mut self, text: &str) -> Self {
        self.reasoning = Some(text.to_owned());
        self
    }

    /// How the stream is written; [`Chunking::Events`] unless said.
    pub fn chunking(mut self, chunking: Chunking) -> Self {
        self.chunking = chunking;
        self
    }

    /// What goes wrong.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Lines of the stream end with CRLF.
    pub fn crlf(mut self) -> Self {
        self.crlf = true;
        self
    }

    /// Waits before the response.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Prompt and completion tokens; 100 and 20 unless said.
    pub fn usage(mut self, prompt: u64, completion: u64) -> Self {
        self.usage = (prompt, completion);
        self
    }

    /// Finish reason, if not the usual one (`length`, `content_filter`).
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.to_owned());
        self
    }

    /// Characters of text an event; 12 unless said.
    pub fn pieces(mut self, chars: usize) -> Self {
        self.pieces = chars.max(1);
        self
    }

    fn reason(&self) -> &str {
        let usual = if matches!(self.said, Said::Tools(_)) {
            "tool_calls"
        } else {
            "stop"
        };
        self.finish.as_deref().unwrap_or(usual)
    }

    fn usage_json(&self) -> Value {
        let (p, c) = self.usage;
        json!({"prompt_tokens": p, "completion_tokens": c, "total_tokens": p + c})
    }

    /// The whole answer as one JSON body.
    pub(crate) fn whole(&self, model: &str) -> String {
        let mut message = json!({"role": "assistant", "content": null});
        match &self.said {
            Said::Raw(body) => return body.clone(),
            Said::Text(text) => message["content"] = json!(text),
            Said::Tools(calls) => {
                message["tool_calls"] = calls.iter().map(|c| call_json(c, None)).collect()
            }
        }
        if let Some(text) = &self.reasoning {
            message["reasoning_content"] = json!(text);
        }
        json!({
            "id": "chatcmpl-test", "object": "chat.completion", "created": 1, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": self.reason()}],
            "usage": self.usage_json(),
        })
        .to_string()
    }

    /// The answer as server-sent events.
    pub(crate) fn events(&self, model: &str, with_usage: bool) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let choice = |delta: Value, finish: Value| {
            json!({
                "id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            })
        };
        out.push(choice(json!({"role": "assistant", "content": ""}), Value::Null).to_string());
        for piece in cut(self.reasoning.as_deref().unwrap_or_default(), self.pieces) {
            out.push(choice(json!({"reasoning_content": piece}), Value::Null).to_string());
        }
        match &self.said {
            Said::Raw(body) => return vec![body.clone()],
            Said::Text(text) => {
                out.extend(
                    cut(text, self.pieces)
                        .map(|p| choice(json!({"content": p}), Value::Null).to_string()),
                );
            }
            Said::Tools(calls) => {
                for (i, call) in calls.iter().enumerate() {
                    let opened = (call.0.clone(), call.1.clone(), String::new());
                    out.push(
                        choice(
                            json!({"tool_calls": [call_json(&opened, Some(i))]}),
                            Value::Null,
                        )
                        .to_string(),
                    );
                    for piece in cut(&call.2, self.pieces) {
                        let delta =
                            json!({"tool_calls": [{"index": i, "function": {"arguments": piece}}]});
                        out.push(choice(delta, Value::Null).to_string());
                    }
                }
            }
        }
        match &self.fault {
            Some(Fault::NoEnd) => return out,
            Some(Fault::ErrorEvent(error)) => {
                out.push(json!({"error": error}).to_string());
                return out;
            }
            _ => {}
        }
        out.push(choice(json!({}), json!(self.reason())).to_string());
        if with_usage {
            out.push(
                json!({"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": model,
                       "choices": [], "usage": self.usage_json()})
                .to_string(),
            );
        }
        out.push("[DONE]".to_owned());
        out
    }
}

fn call_json((id, name, arguments): &(String, String, String), index: Option<usize>) -> Value {
    let mut out =
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    if let Some(i) = index {
        out["index"] = json!(i);
    }
    out
}

/// Pieces of so many characters.
fn cut(text: &str, chars: usize) -> impl Iterator<Item = String> {
    let all: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = all.chunks(chars).map(|c| c.iter().collect()).collect();
    pieces.into_iter()
}
