//! OpenAI's Responses.

use super::super::reply::{Said, Turn};
use super::{Event, Events, cut};
use serde_json::{Value, json};

fn response(turn: &Turn, model: &str, output: Value) -> Value {
    let (p, c) = turn.usage;
    let (status, incomplete) = match turn.finish.as_deref() {
        Some("length") => ("incomplete", json!({ "reason": "max_output_tokens" })),
        Some("content_filter") => ("incomplete", json!({ "reason": "content_filter" })),
        _ => ("completed", Value::Null),
    };
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "error": null,
        "incomplete_details": incomplete, "model": model, "output": output, "parallel_tool_calls": true,
        "usage": {
            "input_tokens": p, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": c,
            "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": p + c
        }
    })
}

fn items(turn: &Turn) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(text) = &turn.reasoning {
        items.push(json!({
            "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": text }]
        }));
    }
    let message = |part: Value| {
        json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]
        })
    };
    match &turn.said {
        Said::Text(text) => items.push(message(
            json!({ "type": "output_text", "text": text, "annotations": [] }),
        )),
        Said::Refusal(text) => items.push(message(json!({ "type": "refusal", "refusal": text }))),
        Said::Tools(calls) => items.extend(calls.iter().map(|(id, name, arguments)| {
            json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
                "arguments": arguments, "status": "completed"
            })
        })),
        Said::Raw(_) | Said::Trouble(_) => {}
    }
    items
}

pub(super) fn whole(turn: &Turn, model: &str) -> Value {
    response(turn, model, items(turn).into())
}

pub(super) fn events(turn: &Turn, model: &str) -> Events {
    let mut begun = response(turn, model, json!([]));
    begun["status"] = "in_progress".into();
    begun["usage"] = Value::Null;
    let mut out = vec![
        json!({ "type": "response.created", "response": begun }),
        json!({ "type": "response.in_progress", "response": begun }),
    ];
    for (index, item) in items(turn).into_iter().enumerate() {
        out.extend(item_events(turn, index, &item));
    }
    let whole = whole(turn, model);
    let last = match whole["status"].as_str() {
        Some("incomplete") => "response.incomplete",
        _ => "response.completed",
    };
    let ending = json!({ "type": last, "response": whole });
    (
        out.into_iter().map(Event::named).collect(),
        vec![Event::named(ending)],
    )
}

/// Events that open, fill and close an item.
fn item_events(turn: &Turn, index: usize, item: &Value) -> Vec<Value> {
    let mut opened = item.clone();
    for emptied in ["arguments", "content", "summary"] {
        if opened.get(emptied).is_some() {
            opened[emptied] = if emptied == "arguments" {
                "".into()
            } else {
                json!([])
            };
        }
    }
    let delta = |kind: &str, text: &str| {
        cut(text, turn.pieces)
            .into_iter()
            .map(|piece| {
                json!({
                    "type": kind, "item_id": item["id"], "output_index": index, "content_index": 0,
                    "summary_index": 0, "delta": piece
                })
            })
            .collect::<Vec<_>>()
    };
    let mut out = vec![
        json!({ "type": "response.output_item.added", "output_index": index, "item": opened }),
    ];
    let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str);
    if let Some(arguments) = text("/arguments") {
        out.extend(delta("response.function_call_arguments.delta", arguments));
    } else if let Some(summary) = text("/summary/0/text") {
        out.extend(delta("response.reasoning_summary_text.delta", summary));
    } else if let Some(said) = text("/content/0/text") {
        out.push(json!({
            "type": "response.content_part.added", "item_id": item["id"], "output_index": index,
            "content_index": 0, "part": { "type": "output_text", "text": "", "annotations": [] }
        }));
        out.extend(delta("response.output_text.delta", said));
    } else if let Some(refusal) = text("/content/0/refusal") {
        out.extend(delta("response.refusal.delta", refusal));
    }
    out.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    out
}
