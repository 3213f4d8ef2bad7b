//! One request to a model and its outcome, independent of the transport: a server, a transcript, a test.

use futures::future::BoxFuture;
use report::format::Seconds;
use report::{Language, Localize};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::profile::Level;
use crate::tool_call::change_strings;
use crate::{ToolCalls, ToolRound, ToolSpec};

/// Placeholder for the mark of a request's fences until the request is sent. Every connection, and so every analysis, draws its own
/// mark, which the author of the fenced text could not know.
pub const MARK: &str = "#mark#";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chat {
    pub step: String,
    pub system: String,
    pub user: String,
    /// An invalid answer and its faults, to be corrected in another turn.
    pub repair: Option<(String, String)>,
    /// Schema of the answer; `None` asks for plain text.
    pub schema: Option<Value>,
    /// How the schema is enforced.
    pub level: Level,
    pub max_output_tokens: Option<u32>,
    pub stream: bool,
    /// Tools that the model may call instead of answering.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// Earlier tool calls and their results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<ToolRound>,
}

impl Chat {
    pub(crate) fn with_mark(&self, mark: &str) -> Chat {
        let mut chat = self.clone();
        chat.change_texts(&|text| text.replace(MARK, mark));
        chat
    }

    /// Changes every text: system text, prompt, a faulty answer, results of tools.
    pub(crate) fn change_texts(&mut self, change: &dyn Fn(&str) -> String) {
        self.system = change(&self.system);
        self.user = change(&self.user);
        if let Some((answer, faults)) = &mut self.repair {
            *answer = change(answer);
            *faults = change(faults);
        }
        for round in &mut self.rounds {
            change_strings(&mut round.message, change);
            for result in &mut round.results {
                result.text = change(&result.text);
            }
        }
    }
}

/// A streamed piece of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    Thought(&'a str),
    Text(&'a str),
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finish {
    Done,
    /// The token limit was reached.
    Length,
    /// The server's content filter stopped it.
    Filtered,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The answer; the tool's argument if a tool call was forced.
    pub text: String,
    /// Reasoning before the answer; empty if the server does not send it.
    pub thoughts: String,
    pub finish: Finish,
    /// Prompt tokens, counted by the server.
    pub tokens_in: Option<u64>,
    /// Answer tokens including reasoning, counted by the server.
    pub tokens_out: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<ToolCalls>,
}

impl Reply {
    /// Changes the answer and the arguments of tool calls.
    pub(crate) fn change_texts(&mut self, change: &dyn Fn(&str) -> String) {
        self.text = change(&self.text);
        if let Some(calls) = &mut self.calls {
            change_strings(&mut calls.message, change);
            for call in &mut calls.calls {
                change_strings(&mut call.arguments, change);
            }
        }
    }
}

/// Why there is no answer, by what to do next.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallError {
    /// Worth retrying.
    #[error("{reason}")]
    Transient {
        reason: String,
        /// How long the server asks to wait.
        wait: Option<std::time::Duration>,
        /// Whether visible text had arrived before.
        had_text: bool,
    },
    /// The response does not follow the protocol; worth retrying.
    #[error("{reason}")]
    Unreadable { reason: String },
    /// Not worth retrying.
    #[error("{reason}")]
    Permanent { reason: String, hint: String },
    #[error("{reason}")]
    TooLong { reason: String },
    /// The server does not support this level of structured output.
    #[error("{reason}")]
    LevelRefused { reason: String },
    #[error("the model declined to answer: {reason}")]
    Refused { reason: String },
}

impl CallError {
    pub fn timed_out(deadline: std::time::Duration) -> CallError {
        CallError::Transient {
            reason: format!(
                "no complete answer within {}",
                Seconds(deadline.as_secs_f64()).localize(Language::En)
            ),
            wait: None,
            had_text: true,
        }
    }
}

pub trait Transport: Send + Sync {
    /// Sends one request and passes on the pieces of its answer as they arrive.
    fn send<'a>(
        &'a self,
        chat: &'a Chat,
        pieces: &'a mut (dyn FnMut(Piece<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, CallError>>;
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_deadline_under_a_second_is_not_rounded_to_zero() {
        for (ms, expected) in [(250, "within 250 ms"), (90_000, "within 1 min 30 s")] {
            let error = CallError::timed_out(Duration::from_millis(ms)).to_string();
            assert!(error.ends_with(expected), "{error}");
        }
    }
}
