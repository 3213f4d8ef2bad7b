//! How an answer ended: complete, cut short, refused, empty, or with tool calls.
//!
//! genai drops some of that, so the raw frames and bodies are read as well.

use genai::adapter::AdapterKind;
use genai::chat::{ContentPart, StopReason, StreamEnd};
use serde_json::Value;

use crate::profile::{Level, Provider};
use crate::target::adapter;
use crate::transport::{CallError, Chat, Finish, Reply};
use crate::{ToolCall, ToolCalls};

/// Tool that takes the answer as its argument.
pub(super) const SUBMIT: &str = "submit_step";

/// Stops a model that never ends; ten times the longest answer seen.
pub(super) const MAX_ANSWER_BYTES: usize = 512 << 10;

/// Parts of the raw frames that genai drops.
#[derive(Debug, Clone, Default)]
pub(super) struct RawDetails {
    refusal: String,
    finish: Option<String>,
    /// Body of an error inside the stream.
    pub(super) failed: Option<Value>,
}

impl RawDetails {
    pub(super) fn read(&mut self, json: &Value) {
        let texts = [
            "/choices/0/delta/refusal",
            "/choices/0/message/refusal",
            "/delta/stop_details/explanation",
            "/stop_details/explanation",
            "/promptFeedback/blockReason",
        ];
        let text = |pointer: &&str| json.pointer(pointer)?.as_str();
        self.refusal.extend(texts.iter().filter_map(text));
        match json["type"].as_str() {
            Some("response.refusal.delta") => self.refusal.extend(json["delta"].as_str()),
            Some("response.failed") => self.failed = Some(json["response"].clone()),
            _ => {}
        }
        let items = json["output"].as_array().into_iter().flatten();
        let parts = items.flat_map(|item| item["content"].as_array().into_iter().flatten());
        let refusals = parts.filter(|part| part["type"] == "refusal");
        let refusals = refusals.filter_map(|part| part["refusal"].as_str());
        self.refusal.extend(refusals);
        let reasons = [
            "/choices/0/finish_reason",
            "/delta/stop_reason",
            "/candidates/0/finishReason",
            "/stop_reason",
        ];
        if let Some(reason) = reasons.iter().find_map(text) {
            self.finish = Some(reason.to_owned());
        }
    }
}

pub(super) fn too_long() -> CallError {
    CallError::Permanent {
        reason: format!(
            "the answer went on beyond {} KB and was stopped",
            MAX_ANSWER_BYTES >> 10
        ),
        hint: "set `max_output_tokens` in the profile, or choose another model".to_owned(),
    }
}

/// Makes the reply, or the error that the ending amounts to.
pub(super) fn reply(
    provider: Provider,
    chat: &Chat,
    text: String,
    thoughts: String,
    end: Option<StreamEnd>,
    details: &RawDetails,
) -> Result<Reply, CallError> {
    if !details.refusal.is_empty() {
        return Err(CallError::Refused {
            reason: details.refusal.clone(),
        });
    }
    let had_text = !text.is_empty();
    let stopped = end.as_ref().and_then(|e| e.captured_stop_reason.as_ref());
    if is_cut_short(provider, chat, end.as_ref(), details) {
        return Err(CallError::Transient {
            reason: "the answer was cut short".to_owned(),
            wait: None,
            had_text,
        });
    }
    let finish = stopped.map_or(Finish::Done, finish_of);
    if finish == Finish::Filtered {
        // Text before the filter stopped it is not an answer either.
        let reason = details
            .finish
            .clone()
            .or(stopped.map(|s| s.raw().to_owned()));
        return Err(CallError::Refused {
            reason: reason.unwrap_or_else(|| "filtered".to_owned()),
        });
    }
    let submitted = end.as_ref().and_then(|e| submitted(chat, e));
    let calls = end
        .as_ref()
        .and_then(|e| calls(provider, chat, e, &thoughts));
    let usage = end.as_ref().and_then(|e| e.captured_usage.as_ref());
    let count = |n: Option<i32>| n.and_then(|n| u64::try_from(n).ok());
    let reply = Reply {
        text: submitted.unwrap_or(text),
        thoughts,
        finish,
        tokens_in: usage.and_then(|u| count(u.prompt_tokens)),
        tokens_out: usage.and_then(|u| count(u.completion_tokens)),
        calls,
    };
    if reply.text.trim().is_empty() && reply.calls.is_none() {
        return Err(empty(&reply));
    }
    Ok(reply)
}

/// Whether a stream broke off. For two protocols genai ends the stream itself when the connection
/// closes; such streams are complete only if the server gave a reason for stopping.
fn is_cut_short(
    provider: Provider,
    chat: &Chat,
    end: Option<&StreamEnd>,
    details: &RawDetails,
) -> bool {
    let Some(end) = end else {
        return details.finish.is_none();
    };
    let ended_by_client = matches!(
        adapter(provider),
        AdapterKind::Gemini | AdapterKind::OpenAIResp
    );
    chat.stream && ended_by_client && end.captured_stop_reason.is_none()
}

/// An empty answer is worth retrying unless the token limit caused it.
fn empty(reply: &Reply) -> CallError {
    match reply.finish {
        Finish::Length => CallError::Permanent {
            reason: "the model used up its tokens before it answered".to_owned(),
            hint: "raise `max_output_tokens` in the profile, or lower `reasoning_effort`"
                .to_owned(),
        },
        Finish::Done | Finish::Filtered => CallError::Transient {
            reason: "the answer was empty".to_owned(),
            wait: None,
            had_text: false,
        },
    }
}

fn submitted(chat: &Chat, end: &StreamEnd) -> Option<String> {
    if chat.level != Level::Tool {
        return None;
    }
    let calls = end.captured_tool_calls()?;
    let call = calls.into_iter().find(|call| call.fn_name == SUBMIT)?;
    Some(match &call.fn_arguments {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    })
}

/// Calls of offered tools, with the answer to send back.
fn calls(provider: Provider, chat: &Chat, end: &StreamEnd, thoughts: &str) -> Option<ToolCalls> {
    if chat.tools.is_empty() {
        return None;
    }
    let mut message = end.captured_content.clone()?;
    let call = |call: &genai::chat::ToolCall| ToolCall {
        id: call.call_id.clone(),
        name: call.fn_name.clone(),
        arguments: call.fn_arguments.clone(),
    };
    let calls: Vec<ToolCall> = message.tool_calls().into_iter().map(call).collect();
    if calls.is_empty() {
        return None;
    }
    // DeepSeek refuses tool results without the reasoning that led to the calls.
    if provider == Provider::DeepSeek && !thoughts.is_empty() {
        message.push(ContentPart::ReasoningContent(thoughts.to_owned()));
    }
    let message = serde_json::to_value(message).ok()?;
    Some(ToolCalls { message, calls })
}

fn finish_of(reason: &StopReason) -> Finish {
    match reason {
        StopReason::MaxTokens(_) => Finish::Length,
        StopReason::ContentFilter(_) => Finish::Filtered,
        StopReason::Completed(_)
        | StopReason::ToolCall(_)
        | StopReason::StopSequence(_)
        | StopReason::Other(_) => Finish::Done,
    }
}
