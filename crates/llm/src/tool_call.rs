//! Tool calls and their results as plain data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// A string if they are not JSON.
    pub arguments: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    pub id: String,
    pub name: String,
    pub text: String,
}

/// The calls of one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCalls {
    /// The answer in the client's form; it goes back unchanged, including provider signatures.
    #[serde(rename = "said")]
    pub message: Value,
    pub calls: Vec<ToolCall>,
}

/// One exchange of a conversation: tool calls and their results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRound {
    /// The answer that made the calls.
    #[serde(rename = "said")]
    pub message: Value,
    /// One per call, in the same order.
    pub results: Vec<ToolResult>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
}

/// Changes every text in a value, except parts that a provider has signed.
pub(crate) fn change_strings(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|i| change_strings(i, change)),
        Value::Object(map) => {
            let is_signature = |name: &str| name.to_ascii_lowercase().contains("signature");
            let texts = map.iter_mut().filter(|(name, _)| !is_signature(name));
            texts.for_each(|(_, value)| change_strings(value, change));
        }
        _ => {}
    }
}
