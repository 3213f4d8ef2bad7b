//! Requests that a provider refuses. A test against a server with these rules fails like it would with the real
//! provider.

use super::dialect::Dialect;
use super::recorded::Recorded;
use super::trouble::Trouble;
use super::wire::Wire;
use serde_json::Value;

/// Why a provider would refuse a request; `None` if it accepts it.
pub(super) fn broken(dialect: Dialect, request: &Recorded) -> Option<Trouble> {
    if dialect == Dialect::Local {
        return None;
    }
    if dialect.needs_key() && !has_key(dialect, request) {
        return Some(Trouble::BadKey);
    }
    let body = &request.body;
    let fault = match Wire::of(&request.path) {
        Wire::Chat => chat(dialect, body),
        Wire::Responses => {
            unanswered_items(body).or_else(|| loose(&body["text"]["format"]["schema"]))
        }
        Wire::Anthropic => anthropic(body),
        Wire::Gemini => gemini(&request.path, body),
    };
    fault.map(Trouble::Invalid)
}

fn has_key(dialect: Dialect, request: &Recorded) -> bool {
    let header = match dialect {
        Dialect::Azure => "api-key",
        Dialect::Anthropic => "x-api-key",
        Dialect::Gemini => "x-goog-api-key",
        _ => "authorization",
    };
    request.headers.contains_key(header)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn chat(dialect: Dialect, body: &Value) -> Option<String> {
    let format = body["response_format"]["type"].as_str().unwrap_or_default();
    let forced = body["tool_choice"].is_object() || body["tool_choice"] == "required";
    let says_json = || body["messages"].to_string().to_lowercase().contains("json");
    let fault = match dialect {
        Dialect::DeepSeek if format == "json_schema" => {
            Some("This response_format type is unavailable now")
        }
        Dialect::DeepSeek if forced => Some("Thinking mode does not support this tool_choice"),
        Dialect::DeepSeek | Dialect::DashScope if format == "json_object" && !says_json() => Some(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        ),
        Dialect::DashScope if forced => Some(
            "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode",
        ),
        _ => None,
    };
    let schema = &body["response_format"]["json_schema"]["schema"];
    fault
        .map(str::to_owned)
        .or_else(|| loose(schema))
        .or_else(|| unanswered_calls(dialect, body))
}

/// Strict schemas close every object and require every property.
fn loose(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                if map.get("additionalProperties") != Some(&Value::Bool(false)) {
                    return Some("Invalid schema for response_format 'conclusion': 'additionalProperties' is required to be supplied and to be false.".to_owned());
                }
                let required = map.get("required").map(list).unwrap_or_default();
                if properties
                    .keys()
                    .any(|name| required.iter().all(|r| r != name))
                {
                    return Some("Invalid schema for response_format 'conclusion': 'required' is required to be supplied and to be an array including every key in properties.".to_owned());
                }
            }
            map.values().find_map(loose)
        }
        Value::Array(items) => items.iter().find_map(loose),
        _ => None,
    }
}

/// Each call must be followed directly by a tool message.
fn unanswered_calls(dialect: Dialect, body: &Value) -> Option<String> {
    let messages = list(&body["messages"]);
    for (index, message) in messages.iter().enumerate() {
        let calls = list(&message["tool_calls"]);
        let answers: Vec<&Value> = messages[index + 1..]
            .iter()
            .take_while(|m| m["role"] == "tool")
            .map(|m| &m["tool_call_id"])
            .collect();
        if let Some(call) = calls.iter().find(|call| !answers.contains(&&call["id"])) {
            return Some(format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                call["id"]
            ));
        }
        if dialect == Dialect::DeepSeek
            && !calls.is_empty()
            && message["reasoning_content"].is_null()
        {
            return Some(format!(
                "Missing `reasoning_content` field in the assistant message at message index {index}"
            ));
        }
    }
    None
}

fn unanswered_items(body: &Value) -> Option<String> {
    let items = list(&body["input"]);
    let answered = |id: &Value| {
        items
            .iter()
            .any(|i| i["type"] == "function_call_output" && i["call_id"] == *id)
    };
    items
        .iter()
        .filter(|item| item["type"] == "function_call")
        .find(|item| !answered(&item["call_id"]))
        .map(|item| {
            format!(
                "No tool output found for function call {}.",
                item["call_id"]
            )
        })
}

fn anthropic(body: &Value) -> Option<String> {
    if !body["max_tokens"].is_u64() {
        return Some("max_tokens: Field required".to_owned());
    }
    let messages = list(&body["messages"]);
    for (index, message) in messages.iter().enumerate() {
        let results = messages
            .get(index + 1)
            .map(|m| list(&m["content"]))
            .unwrap_or_default();
        let used = list(&message["content"])
            .iter()
            .filter(|b| b["type"] == "tool_use");
        for block in used {
            if !results
                .iter()
                .any(|r| r["type"] == "tool_result" && r["tool_use_id"] == block["id"])
            {
                return Some(format!(
                    "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {}",
                    block["id"]
                ));
            }
        }
    }
    // Thoughts are signed; a call that they led to is sent back with them.
    let thinks = body["thinking"]["type"].is_string();
    let bare = |m: &&Value| {
        let blocks = list(&m["content"]);
        m["role"] == "assistant"
            && blocks.iter().any(|b| b["type"] == "tool_use")
            && !blocks
                .iter()
                .any(|b| b["type"] == "thinking" && b["signature"].is_string())
    };
    if thinks && messages.iter().any(|m| bare(&m)) {
        return Some("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.".to_owned());
    }
    closed(&body["output_config"]["format"]["schema"])
}

fn closed(schema: &Value) -> Option<String> {
    loose(schema).map(|_| {
        "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false".to_owned()
    })
}

fn gemini(path: &str, body: &Value) -> Option<String> {
    let config = &body["generationConfig"];
    let has_tools = !list(&body["tools"]).is_empty();
    if has_tools && config["responseMimeType"] == "application/json" {
        return Some(
            "Function calling with a response mime type: 'application/json' is unsupported"
                .to_owned(),
        );
    }
    let contents = list(&body["contents"]);
    for (index, content) in contents.iter().enumerate() {
        let calls: Vec<&Value> = list(&content["parts"])
            .iter()
            .filter(|p| p.get("functionCall").is_some())
            .collect();
        if calls.is_empty() {
            continue;
        }
        let answers = contents
            .get(index + 1)
            .map(|c| list(&c["parts"]))
            .unwrap_or_default();
        let answers = answers
            .iter()
            .filter(|p| p.get("functionResponse").is_some())
            .count();
        if answers != calls.len() {
            return Some("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.".to_owned());
        }
        if path.contains("gemini-3") && calls[0]["thoughtSignature"].is_null() {
            return Some(
                "Function call is missing a thought_signature in functionCall parts.".to_owned(),
            );
        }
    }
    None
}
