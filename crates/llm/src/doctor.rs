//! Checks whether a profile works (key, reachability, model, structured output, streaming) and how
//! to fix it, and measures how fast the model reads and writes.

use std::time::Instant;

use report::format::Seconds;
use report::{Language, Localize};
use serde::Serialize;
use serde_json::{Value, json};

use crate::level;
use crate::profile::{Level, Profile};
use crate::transport::{CallError, Chat, Piece, Reply, Transport};

/// Token limit of an answer; reasoning models need some room.
const ANSWER_TOKENS: u32 = 2_000;

/// Lines of the text that measures the speed; about 1,500 tokens.
const LINES: u32 = 150;

/// Token limit of the answer that measures the speed.
const SPEED_TOKENS: u32 = 200;

/// Tokens that a model reads and writes in an ordinary analysis.
const ANALYSIS: [f64; 2] = [20_000.0, 3_000.0];

/// Bytes of a token where the server does not count them.
const BYTES_PER_TOKEN: f64 = 3.5;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Symptom {
    /// `answer`, `structured output`, `streaming` or `speed`.
    pub check: &'static str,
    pub ok: bool,
    pub detail: String,
    /// How to fix it; `None` if it works.
    pub hint: Option<String>,
}

/// Checks a profile with at most seven short requests.
pub async fn examine(profile: &Profile, transport: &dyn Transport) -> Vec<Symptom> {
    let mut symptoms = Vec::new();
    let plain = ask(transport, chat(None, Level::Text, false)).await;
    let reached = plain.result.is_ok();
    symptoms.push(symptom("answer", plain, "the model answered"));
    if !reached {
        // The other checks would fail for the same reason.
        return symptoms;
    }
    symptoms.push(structured(profile, transport).await);
    let streamed = ask(transport, chat(None, Level::Text, true)).await;
    let detail = format!("the answer came in {} pieces", streamed.pieces);
    symptoms.push(symptom("streaming", streamed, &detail));
    symptoms.push(speed(transport).await);
    symptoms
}

/// Measures how fast the model reads and writes, and estimates the time of an analysis.
async fn speed(transport: &dyn Transport) -> Symptom {
    let rows = (1..=LINES).map(|n| format!("stage {n}: {} rows in {} s", n * 7_919, n * 37 % 101));
    let rows: Vec<String> = rows.collect();
    let user = format!("{}\n\nDescribe these stages in 100 words.", rows.join("\n"));
    let bytes = user.len() as f64;
    let attempt = ask(
        transport,
        Chat {
            user,
            max_output_tokens: Some(SPEED_TOKENS),
            ..chat(None, Level::Text, true)
        },
    )
    .await;
    let Ok(reply) = &attempt.result else {
        return symptom("speed", attempt, "");
    };
    let tokens = |counted: Option<u64>, bytes: f64| match counted {
        Some(n @ 1..) => n as f64,
        _ => bytes / BYTES_PER_TOKEN,
    };
    let written = (reply.text.len() + reply.thoughts.len()) as f64;
    let [reading, writing] = [
        tokens(reply.tokens_in, bytes) / attempt.first_s.max(1e-3),
        tokens(reply.tokens_out, written) / (attempt.whole_s - attempt.first_s).max(1e-3),
    ];
    let needed = ANALYSIS[0] / reading + ANALYSIS[1] / writing.max(1e-3);
    let detail = format!(
        "reads {reading:.0} and writes {writing:.0} tokens per second; an analysis takes about {}",
        Seconds(needed).localize(Language::En)
    );
    symptom("speed", attempt, &detail)
}

/// Tries the levels of structured output, strictest first.
async fn structured(profile: &Profile, transport: &dyn Transport) -> Symptom {
    const CHECK: &str = "structured output";
    let schema = json!({
        "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"], "additionalProperties": false
    });
    let mut level = level::first(profile);
    let last = loop {
        let attempt = ask(transport, chat(Some(schema.clone()), level, false)).await;
        let weaker = match &attempt.result {
            Ok(reply)
                if serde_json::from_str::<Value>(&reply.text)
                    .is_ok_and(|v| v["ok"].is_boolean()) =>
            {
                let name = json!(level);
                let detail = format!("works as `{}`", name.as_str().unwrap_or_default());
                return symptom(CHECK, attempt, &detail);
            }
            Err(CallError::LevelRefused { .. }) | Ok(_) => level::weaker(level),
            Err(_) => None,
        };
        match weaker {
            Some(weaker) => level = weaker,
            None => break attempt,
        }
    };
    let mut symptom = symptom(CHECK, last, "the model answered, but not in JSON");
    symptom.ok = false;
    symptom.hint.get_or_insert_with(|| {
        "answers will be read from text; a model that follows schemas does better".to_owned()
    });
    symptom
}

struct Attempt {
    result: Result<Reply, CallError>,
    pieces: usize,
    /// Seconds until the first piece, and until the end.
    first_s: f64,
    whole_s: f64,
}

async fn ask(transport: &dyn Transport, chat: Chat) -> Attempt {
    let started = Instant::now();
    let (mut pieces, mut first) = (0, None);
    let mut count = |_: Piece<'_>| {
        pieces += 1;
        first.get_or_insert_with(|| started.elapsed());
    };
    let result = transport.send(&chat, &mut count).await;
    let whole = started.elapsed();
    Attempt {
        result,
        pieces,
        first_s: first.unwrap_or(whole).as_secs_f64(),
        whole_s: whole.as_secs_f64(),
    }
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

fn symptom(check: &'static str, attempt: Attempt, fine: &str) -> Symptom {
    let error = attempt.result.err();
    Symptom {
        check,
        ok: error.is_none(),
        detail: error
            .as_ref()
            .map_or_else(|| fine.to_owned(), CallError::to_string),
        hint: error.as_ref().map(remedy),
    }
}

fn remedy(error: &CallError) -> String {
    match error {
        CallError::Permanent { hint, .. } => hint.clone(),
        CallError::Transient { reason, .. } if reason.contains("connection") => {
            "check `base_url`, the network and the proxy".to_owned()
        }
        CallError::Transient { .. } => "try again later".to_owned(),
        CallError::Unreadable { .. } => {
            "check `provider` and `base_url`: the server there speaks another protocol".to_owned()
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
