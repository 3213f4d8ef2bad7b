//! Calls of tools as plain data: what a model asked for, and what it got.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call that a model makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Id that its result refers to.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// Its arguments; a string where they are no JSON.
    pub arguments: Value,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Id of the call.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// What the tool says.
    pub text: String,
}

/// The calls of one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCalls {
    /// The answer as the client keeps it: it goes back unchanged, with whatever a provider signs.
    pub said: Value,
    /// The calls in it.
    pub calls: Vec<ToolCall>,
}

/// Calls with their results: one exchange of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRound {
    /// The answer that made the calls.
    pub said: Value,
    /// One result a call, in their order.
    pub results: Vec<ToolResult>,
}

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it gives.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
}
