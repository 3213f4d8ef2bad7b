//! OpenAI's chat completions, with the habits of its imitators.

use super::super::dialect::Dialect;
use super::super::reply::{Said, Turn};
use super::{Event, Events, cut};
use serde_json::{Value, json};

fn reason(turn: &Turn) -> &str {
    let usual = if matches!(turn.said, Said::Tools(_)) {
        "tool_calls"
    } else {
        "stop"
    };
    turn.finish.as_deref().unwrap_or(usual)
}

fn usage(turn: &Turn) -> Value {
    let (p, c) = turn.usage;
    json!({
        "prompt_tokens": p, "completion_tokens": c, "total_tokens": p + c,
        "completion_tokens_details": { "reasoning_tokens": 0 }
    })
}

pub(super) fn whole(turn: &Turn, dialect: Dialect, model: &str) -> Value {
    let mut message = json!({ "role": "assistant", "content": null });
    match &turn.said {
        Said::Text(text) => message["content"] = json!(text),
        Said::Refusal(text) => message["refusal"] = json!(text),
        Said::Tools(calls) => {
            message["tool_calls"] = calls.iter().map(|c| call_json(c, None)).collect();
        }
        Said::Raw(_) | Said::Trouble(_) => {}
    }
    if let Some(text) = &turn.reasoning {
        message[dialect.thoughts_field()] = json!(text);
    }
    json!({
        "id": "chatcmpl-test", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": reason(turn) }],
        "usage": usage(turn),
    })
}

pub(super) fn events(turn: &Turn, dialect: Dialect, model: &str, with_counts: bool) -> Events {
    let chunk = |choices: Value| {
        json!({
            "id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": model,
            "choices": choices,
        })
    };
    let choice = |delta: Value, finish: Value| {
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": finish }]))
    };
    let mut out = Vec::new();
    if dialect.begins_without_choice() {
        out.push(chunk(json!([])));
    }
    out.push(choice(
        json!({ "role": "assistant", "content": "" }),
        Value::Null,
    ));
    for piece in cut(turn.reasoning.as_deref().unwrap_or_default(), turn.pieces) {
        let mut delta = json!({});
        delta[dialect.thoughts_field()] = piece.into();
        out.push(choice(delta, Value::Null));
    }
    for delta in deltas(turn) {
        out.push(choice(delta, Value::Null));
    }
    let mut last = choice(json!({}), json!(reason(turn)));
    let mut ending = Vec::new();
    if with_counts && dialect.counts_in_last_choice() {
        last["usage"] = usage(turn);
        ending.push(last);
    } else {
        ending.push(last);
        if with_counts {
            let mut counts = chunk(json!([]));
            counts["usage"] = usage(turn);
            ending.push(counts);
        }
    }
    let mut ending: Vec<Event> = ending.into_iter().map(Event::plain).collect();
    ending.push(Event::done());
    (out.into_iter().map(Event::plain).collect(), ending)
}

fn deltas(turn: &Turn) -> Vec<Value> {
    match &turn.said {
        Said::Text(text) => cut(text, turn.pieces)
            .into_iter()
            .map(|p| json!({ "content": p }))
            .collect(),
        Said::Refusal(text) => cut(text, turn.pieces)
            .into_iter()
            .map(|p| json!({ "refusal": p }))
            .collect(),
        Said::Tools(calls) => {
            let mut out = Vec::new();
            for (i, call) in calls.iter().enumerate() {
                let opened = (call.0.clone(), call.1.clone(), String::new());
                out.push(json!({ "tool_calls": [call_json(&opened, Some(i))] }));
                out.extend(cut(&call.2, turn.pieces).into_iter().map(|piece| {
                    json!({ "tool_calls": [{ "index": i, "function": { "arguments": piece } }] })
                }));
            }
            out
        }
        Said::Raw(_) | Said::Trouble(_) => Vec::new(),
    }
}

fn call_json((id, name, arguments): &(String, String, String), index: Option<usize>) -> Value {
    let mut out = json!({
        "id": id, "type": "function", "function": { "name": name, "arguments": arguments }
    });
    if let Some(i) = index {
        out["index"] = json!(i);
    }
    out
}
