//! A received request, and the model's view of it, in any protocol.

use super::wire::Wire;
use serde_json::Value;
use std::collections::BTreeMap;

/// A request as it was received.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// `POST`.
    pub method: String,
    /// `/v1/chat/completions`.
    pub path: String,
    /// Headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Body as JSON; null if it is not JSON.
    pub body: Value,
}

impl Recorded {
    /// Whether the client asked for a stream.
    pub fn streams(&self) -> bool {
        self.body["stream"].as_bool().unwrap_or(false)
            || self.path.contains(":streamGenerateContent")
    }

    /// Everything that the model sees, in this order: system text, messages, results of tools.
    pub fn prompt(&self) -> String {
        let parts = [self.system(), self.conversation()];
        let parts: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
        parts.join("\n")
    }

    /// The system text alone.
    pub fn system(&self) -> String {
        let body = &self.body;
        match Wire::of(&self.path) {
            Wire::Chat => texts_of(&body["messages"], |m| m["role"] == "system"),
            Wire::Responses => texts(&body["instructions"]),
            Wire::Anthropic => texts(&body["system"]),
            Wire::Gemini => texts(&body["systemInstruction"]),
        }
    }

    /// Messages and results of tools, without the system text.
    pub fn conversation(&self) -> String {
        let body = &self.body;
        match Wire::of(&self.path) {
            Wire::Chat => texts_of(&body["messages"], |m| m["role"] != "system"),
            Wire::Responses => texts_of(&body["input"], |_| true),
            Wire::Anthropic => texts_of(&body["messages"], |_| true),
            Wire::Gemini => texts_of(&body["contents"], |_| true),
        }
    }

    /// Names of the tools offered.
    pub fn tools(&self) -> Vec<String> {
        let listed = match Wire::of(&self.path) {
            Wire::Gemini => &self.body["tools"][0]["functionDeclarations"],
            _ => &self.body["tools"],
        };
        let name = |tool: &Value| {
            let name = tool["function"]["name"].as_str().or(tool["name"].as_str());
            name.map(str::to_owned)
        };
        listed
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(name)
            .collect()
    }

    /// Results of tools as the model sees them, oldest first.
    pub fn tool_results(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect_results(&self.body, &mut found);
        found
    }
}

fn collect_results(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|i| collect_results(i, found)),
        Value::Object(map) => {
            let is_result = map.get("role").is_some_and(|r| r == "tool")
                || map
                    .get("type")
                    .is_some_and(|t| t == "tool_result" || t == "function_call_output");
            if is_result {
                let content = map.get("content").or_else(|| map.get("output"));
                found.push(content.map(texts).unwrap_or_default());
            } else if let Some(response) = map.get("functionResponse") {
                found.push(texts(&response["response"]));
            } else {
                map.values().for_each(|v| collect_results(v, found));
            }
        }
        _ => {}
    }
}

fn texts_of(messages: &Value, wanted: impl Fn(&Value) -> bool) -> String {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = messages.iter().filter(|m| wanted(m)).map(texts).collect();
    texts.join("\n")
}

/// All texts of a message, in parts of any name; names of roles and types are not texts.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(map) => {
            let is_label = |name: &str| {
                matches!(
                    name,
                    "role"
                        | "type"
                        | "id"
                        | "call_id"
                        | "tool_call_id"
                        | "tool_use_id"
                        | "status"
                        | "signature"
                        | "thoughtSignature"
                )
            };
            let inner: Vec<String> = map
                .iter()
                .filter(|(name, _)| !is_label(name))
                .map(|(_, value)| texts(value))
                .collect();
            inner.join("\n")
        }
        _ => String::new(),
    }
}
