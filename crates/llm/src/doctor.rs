//! Looks whether a profile works: key, reachability, model, structured output, streaming; and what
//! to mend where it does not.

use serde::Serialize;
use serde_json::{Value, json};

use crate::level;
use crate::profile::{Level, Profile};
use crate::transport::{CallError, Chat, Piece, Transport};

/// Tokens that an answer of the examination may take; a thinking model needs room to think.
const ANSWER_TOKENS: u32 = 2_000;

/// What one look showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Symptom {
    /// What was looked at: `answer`, `structured output`, `streaming`.
    pub check: &'static str,
    /// Whether it works.
    pub ok: bool,
    /// What was seen.
    pub detail: String,
    /// What to mend; `None` where it works.
    pub hint: Option<String>,
}

/// Examines a profile. At most six short requests are sent.
pub async fn examine(profile: &Profile, transport: &dyn Transport) -> Vec<Symptom> {
    let mut symptoms = Vec::new();
    let plain = ask(transport, chat(None, Level::Text, false)).await;
    let reached = plain.result.is_ok();
    symptoms.push(symptom("answer", plain, "the model answered"));
    if !reached {
        // Without an answer the other looks would show the same.
        return symptoms;
    }
    symptoms.push(structured(profile, transport).await);
    let streamed = ask(transport, chat(None, Level::Text, true)).await;
    let detail = format!("the answer came in {} pieces", streamed.pieces);
    symptoms.push(symptom("streaming", streamed, &detail));
    symptoms
}

/// Tries the ways of structured output, strictest first.
async fn structured(profile: &Profile, transport: &dyn Transport) -> Symptom {
    let schema = json!({
        "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"], "additionalProperties": false
    });
    let mut next = Some(level::first(profile));
    let mut last = None;
    while let Some(level) = next {
        let seen = ask(transport, chat(Some(schema.clone()), level, false)).await;
        match &seen.result {
            Ok(text) if serde_json::from_str::<Value>(text).is_ok_and(|v| v["ok"].is_boolean()) => {
                return Symptom {
                    check: "structured output",
                    ok: true,
                    detail: format!("works as `{}`", level_name(level)),
                    hint: None,
                };
            }
            Err(CallError::LevelRefused { .. }) | Ok(_) => next = level::weaker(level),
            Err(_) => next = None,
        }
        last = Some(seen);
    }
    let mut symptom = symptom(
        "structured output",
        last.unwrap_or_default(),
        "the model answered, but not in JSON",
    );
    symptom.ok = false;
    symptom.hint.get_or_insert_with(|| {
        "answers will be read from text; a model that follows schemas does better".to_owned()
    });
    symptom
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Schema => "schema",
        Level::Tool => "tool",
        Level::JsonObject => "json_object",
        Level::Text => "text",
    }
}

struct Seen {
    result: Result<String, CallError>,
    pieces: usize,
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            result: Ok(String::new()),
            pieces: 0,
        }
    }
}

async fn ask(transport: &dyn Transport, chat: Chat) -> Seen {
    let mut pieces = 0;
    let mut count = |_: Piece<'_>| pieces += 1;
    let result = transport
        .send(&chat, &mut count)
        .await
        .map(|reply| reply.text);
    Seen { result, pieces }
}

fn chat(schema: Option<Value>, level: Level, stream: bool) -> Chat {
    Chat {
        step: "doctor".to_owned(),
        system: "You are asked whether you can be reached. Answer shortly.".to_owned(),
        user: "Answer with the JSON object {\"ok\": true}.".to_owned(),
        repair: None,
        schema,
        level,
        max_output_tokens: Some(ANSWER_TOKENS),
        stream,
        tools: Vec::new(),
        rounds: Vec::new(),
    }
}

fn symptom(check: &'static str, seen: Seen, fine: &str) -> Symptom {
    match seen.result {
        Ok(_) => Symptom {
            check,
            ok: true,
            detail: fine.to_owned(),
            hint: None,
        },
        Err(error) => Symptom {
            check,
            ok: false,
            detail: error.to_string(),
            hint: Some(mend(&error)),
        },
    }
}

fn mend(error: &CallError) -> String {
    match error {
        CallError::Permanent { hint, .. } => hint.clone(),
        CallError::Transient { reason, .. } if reason.contains("connection") => {
            "check `base_url`, the network and the proxy".to_owned()
        }
        CallError::Transient { .. } => "try again later".to_owned(),
        CallError::Unreadable { .. } => {
            "check `provider` and `base_url`: what answers there speaks another protocol".to_owned()
        }
        CallError::TooLong { .. } => "choose a model with a larger context".to_owned(),
        CallError::LevelRefused { .. } => {
            "set `structured_output = \"text\"` in the profile".to_owned()
        }
        CallError::Refused { .. } => {
            "the provider filters even this request; choose another profile".to_owned()
        }
    }
}
