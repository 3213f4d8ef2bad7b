//! One request to a model and what comes of it, whoever carries it: a server, a transcript, a test.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::profile::Level;
use crate::{ToolCalls, ToolRound, ToolSpec};

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chat {
    /// Identifier of the step, for transcripts.
    pub step: String,
    /// Rules of the game.
    pub system: String,
    /// Task with its data.
    pub user: String,
    /// A faulty answer with what is wrong about it, for a turn of repair.
    pub repair: Option<(String, String)>,
    /// Schema that the answer must follow; `None` asks for plain text.
    pub schema: Option<Value>,
    /// How it is made to follow it.
    pub level: Level,
    /// Most tokens of the answer.
    pub max_output_tokens: Option<u32>,
    /// Whether pieces are wanted as they come.
    pub stream: bool,
    /// Tools that the model may call; it may also answer in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// What it called before, and what it got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<ToolRound>,
}

/// A piece of an answer as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Of the thoughts.
    Thought(&'a str),
    /// Of the answer.
    Text(&'a str),
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finish {
    /// By itself.
    Done,
    /// At the limit of tokens.
    Length,
    /// A filter of the server stopped it.
    Filtered,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// What it says; the argument of the tool where one was forced.
    pub text: String,
    /// What the model thought before; empty where the server does not tell.
    pub thoughts: String,
    /// Why it ended.
    pub finish: Finish,
    /// Tokens sent, as the server counts them.
    pub tokens_in: Option<u64>,
    /// Tokens received, thinking included, as the server counts them.
    pub tokens_out: Option<u64>,
    /// Calls of tools; `None` where it calls none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<ToolCalls>,
}

/// Why there is no answer, sorted by what to do next.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallError {
    /// Worth another try.
    #[error("{reason}")]
    Transient {
        /// What happened.
        reason: String,
        /// How long the server asks to wait.
        wait: Option<std::time::Duration>,
        /// Whether visible text had come before.
        had_text: bool,
    },
    /// The server sent something that is no answer of its protocol; worth another try.
    #[error("{reason}")]
    Unreadable {
        /// What is wrong with it.
        reason: String,
    },
    /// Not worth another try.
    #[error("{reason}")]
    Permanent {
        /// What happened.
        reason: String,
        /// What the user can do.
        hint: String,
    },
    /// The prompt is too long.
    #[error("{reason}")]
    TooLong {
        /// What the server said.
        reason: String,
    },
    /// The server does not know this way of structured output.
    #[error("{reason}")]
    LevelRefused {
        /// What the server said.
        reason: String,
    },
    /// The model declines to answer.
    #[error("the model declined to answer: {reason}")]
    Refused {
        /// Its words.
        reason: String,
    },
}

/// Carries requests.
pub trait Transport: Send + Sync {
    /// Sends one request and tells the pieces of its answer as they come.
    fn send<'a>(
        &'a self,
        chat: &'a Chat,
        pieces: &'a mut (dyn FnMut(Piece<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, CallError>>;
}
