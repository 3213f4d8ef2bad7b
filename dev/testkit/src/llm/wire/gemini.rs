//! Gemini's generateContent. Its streams have CRLF line endings and no `[DONE]`.

use super::super::reply::{Said, Turn};
use super::{Event, Events, cut};
use serde_json::{Value, json};

/// Signature of the thoughts behind a call, to be sent back unchanged.
const SIGNATURE: &str = "EpwICpkIAXLI2nxlU6gsWZaZHRYkX1orzuM8vSUFwaAt";

fn finish(turn: &Turn) -> &str {
    match (turn.finish.as_deref(), &turn.said) {
        (Some("length"), _) => "MAX_TOKENS",
        (Some("content_filter"), _) | (_, Said::Refusal(_)) => "SAFETY",
        _ => "STOP",
    }
}

fn chunk(turn: &Turn, model: &str, parts: Vec<Value>, finish: Option<&str>) -> Value {
    let (p, c) = turn.usage;
    let mut candidate = json!({ "index": 0 });
    if !parts.is_empty() {
        candidate["content"] = json!({ "parts": parts, "role": "model" });
    }
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": { "promptTokenCount": p, "candidatesTokenCount": c, "totalTokenCount": p + c },
        "modelVersion": model, "responseId": "r1"
    })
}

fn thought(text: &str) -> Value {
    json!({ "text": text, "thought": true })
}

fn calls(turn: &Turn) -> Vec<Value> {
    let Said::Tools(calls) = &turn.said else {
        return Vec::new();
    };
    let call = |(index, (_, name, arguments)): (usize, &(String, String, String))| {
        let args: Value = serde_json::from_str(arguments).unwrap_or_default();
        let mut part = json!({ "functionCall": { "name": name, "args": args } });
        if index == 0 {
            // Only the first of several calls is signed.
            part["thoughtSignature"] = SIGNATURE.into();
        }
        part
    };
    calls.iter().enumerate().map(call).collect()
}

pub(super) fn whole(turn: &Turn, model: &str) -> Value {
    let mut parts: Vec<Value> = turn.reasoning.iter().map(|t| thought(t)).collect();
    if let Said::Text(text) = &turn.said {
        parts.push(json!({ "text": text }));
    }
    parts.extend(calls(turn));
    chunk(turn, model, parts, Some(finish(turn)))
}

pub(super) fn events(turn: &Turn, model: &str) -> Events {
    let mut out: Vec<Value> = Vec::new();
    for piece in cut(turn.reasoning.as_deref().unwrap_or_default(), turn.pieces) {
        out.push(chunk(turn, model, vec![thought(&piece)], None));
    }
    if let Said::Text(text) = &turn.said {
        for piece in cut(text, turn.pieces) {
            out.push(chunk(turn, model, vec![json!({ "text": piece })], None));
        }
    }
    let calls = calls(turn);
    if !calls.is_empty() {
        out.push(chunk(turn, model, calls, None));
    }
    let last = if matches!(turn.said, Said::Refusal(_)) {
        Vec::new()
    } else {
        vec![json!({ "text": "" })]
    };
    let ending = chunk(turn, model, last, Some(finish(turn)));
    (
        out.into_iter().map(Event::plain).collect(),
        vec![Event::plain(ending)],
    )
}
