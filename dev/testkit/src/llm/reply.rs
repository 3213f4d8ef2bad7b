//! An answer of the scripted model, and its pieces.

use super::trouble::Trouble;
use serde_json::{Value, json};
use std::time::Duration;

/// How the bytes of a stream are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chunking {
    /// One write per event.
    Events,
    /// Writes of this many bytes, which split UTF-8 characters and line endings.
    Bytes(usize),
    /// The whole answer in one piece.
    Whole,
}

/// A fault during an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The connection is closed after this many bytes of the body.
    CutAfter(usize),
    /// The connection is reset (TCP RST) after this many bytes of the body.
    ResetAfter(usize),
    /// The body pauses for this long after this many bytes.
    StallAfter(usize, Duration),
    /// The body is repeated until the client hangs up.
    Endless,
    /// The stream ends without the events that say how it ended, and without `[DONE]`.
    NoEnd,
    /// The stream has an error event after the text.
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
    /// The model declines in the protocol's own way.
    Refusal(String),
    /// The server refuses, in the provider's own words.
    Trouble(Trouble),
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

    /// The model answers with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Said::Text(text.into()))
    }

    /// The model answers with a JSON value.
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// The model calls a tool.
    pub fn tool(name: &str, arguments: &Value) -> Self {
        Self::tools(&[(name, arguments.clone())])
    }

    /// The model calls several tools in one answer.
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

    /// The model declines to answer.
    pub fn refusal(text: &str) -> Self {
        Self::new(Said::Refusal(text.to_owned()))
    }

    /// The server refuses as its provider would.
    pub fn trouble(trouble: Trouble) -> Self {
        Self::new(Said::Trouble(trouble))
    }

    /// The server answers every request with this body.
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

    /// Thoughts before the answer.
    pub fn reasoning(mut self, text: &str) -> Self {
        self.reasoning = Some(text.to_owned());
        self
    }

    /// How the stream is written; [`Chunking::Events`] by default.
    pub fn chunking(mut self, chunking: Chunking) -> Self {
        self.chunking = chunking;
        self
    }

    /// Adds a fault.
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

    /// Prompt and completion tokens; 100 and 20 by default.
    pub fn usage(mut self, prompt: u64, completion: u64) -> Self {
        self.usage = (prompt, completion);
        self
    }

    /// Finish reason, if not the usual one (`length`, `content_filter`).
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.to_owned());
        self
    }

    /// Characters of text per event; 12 by default.
    pub fn pieces(mut self, chars: usize) -> Self {
        self.pieces = chars.max(1);
        self
    }
}
