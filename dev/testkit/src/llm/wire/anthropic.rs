//! Anthropic's messages.

use super::super::reply::{Said, Turn};
use super::{Event, Events, cut};
use serde_json::{Value, json};

/// Signature of thoughts, to be sent back unchanged.
const SIGNATURE: &str = "EqEECkYICxgCKkAo3UA4WwDbB8ihhpykVCsP";

fn stop_reason(turn: &Turn) -> &str {
    match (turn.finish.as_deref(), &turn.said) {
        (Some("length"), _) => "max_tokens",
        (Some("content_filter"), _) | (_, Said::Refusal(_)) => "refusal",
        (_, Said::Tools(_)) => "tool_use",
        _ => "end_turn",
    }
}

fn blocks(turn: &Turn) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(text) = &turn.reasoning {
        blocks.push(json!({ "type": "thinking", "thinking": text, "signature": SIGNATURE }));
    }
    match &turn.said {
        Said::Text(text) => blocks.push(json!({ "type": "text", "text": text })),
        Said::Tools(calls) => blocks.extend(calls.iter().map(|(id, name, arguments)| {
            let input: Value = serde_json::from_str(arguments).unwrap_or_default();
            json!({ "type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": input })
        })),
        Said::Refusal(_) | Said::Raw(_) | Said::Trouble(_) => {}
    }
    blocks
}

fn details(turn: &Turn) -> Value {
    match &turn.said {
        Said::Refusal(text) => json!({ "type": "refusal", "explanation": text }),
        _ => Value::Null,
    }
}

pub(super) fn whole(turn: &Turn, model: &str) -> Value {
    let (input, output) = turn.usage;
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": blocks(turn),
        "stop_reason": stop_reason(turn), "stop_sequence": null, "stop_details": details(turn),
        "usage": {
            "input_tokens": input, "output_tokens": output, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0
        }
    })
}

pub(super) fn events(turn: &Turn, model: &str) -> Events {
    let (input, output) = turn.usage;
    let mut out = vec![
        json!({
            "type": "message_start",
            "message": {
                "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
                "stop_reason": null, "stop_sequence": null,
                "usage": { "input_tokens": input, "output_tokens": 1 }
            }
        }),
        json!({ "type": "ping" }),
    ];
    for (index, block) in blocks(turn).iter().enumerate() {
        out.extend(block_events(turn, index, block));
    }
    let ending = vec![
        json!({
            "type": "message_delta",
            "delta": { "stop_reason": stop_reason(turn), "stop_sequence": null, "stop_details": details(turn) },
            "usage": { "output_tokens": output }
        }),
        json!({ "type": "message_stop" }),
    ];
    let named = |events: Vec<Value>| events.into_iter().map(Event::named).collect();
    (named(out), named(ending))
}

fn block_events(turn: &Turn, index: usize, block: &Value) -> Vec<Value> {
    let kind = block["type"].as_str().unwrap_or_default();
    let mut opened = block.clone();
    let mut deltas: Vec<Value> = Vec::new();
    match kind {
        "thinking" => {
            opened["thinking"] = "".into();
            opened["signature"] = "".into();
            let text = block["thinking"].as_str().unwrap_or_default();
            deltas.extend(
                cut(text, turn.pieces)
                    .into_iter()
                    .map(|p| json!({ "type": "thinking_delta", "thinking": p })),
            );
            deltas.push(json!({ "type": "signature_delta", "signature": block["signature"] }));
        }
        "tool_use" => {
            opened["input"] = json!({});
            deltas.extend(
                cut(&block["input"].to_string(), turn.pieces)
                    .into_iter()
                    .map(|p| json!({ "type": "input_json_delta", "partial_json": p })),
            );
        }
        _ => {
            opened["text"] = "".into();
            let text = block["text"].as_str().unwrap_or_default();
            deltas.extend(
                cut(text, turn.pieces)
                    .into_iter()
                    .map(|p| json!({ "type": "text_delta", "text": p })),
            );
        }
    }
    let mut out =
        vec![json!({ "type": "content_block_start", "index": index, "content_block": opened })];
    out.extend(
        deltas
            .into_iter()
            .map(|d| json!({ "type": "content_block_delta", "index": index, "delta": d })),
    );
    out.push(json!({ "type": "content_block_stop", "index": index }));
    out
}
