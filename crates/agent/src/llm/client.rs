//! Requests through genai, with guards against what it hides.
//!
//! - The effort of reasoning is never read from the model's name.
//! - A stream without an end counts as cut short, unless the server had said why it finished.
//! - Errors are worded from status and body; their own text may hold the whole request.
//! - Refusals are read from the frames.
//! - Connections, pauses and whole requests have deadlines; dropping the future closes the stream.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ChatStreamEvent, JsonSpec,
    ReasoningEffort, StopReason, StreamEnd, Tool, ToolChoice,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Headers, ModelIden, ServiceTarget};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::failure;
use super::profile::{Level, Profile, Provider};
use super::transport::{CallError, Chat, Finish, Piece, Reply, Transport};

/// Tool whose argument is the answer.
pub(super) const SUBMIT: &str = "submit_step";

/// Most bytes of an answer; a model that goes on for ever is stopped here. Ten times the longest
/// conclusion seen.
const MAX_ANSWER_BYTES: usize = 512 << 10;

/// Why a client cannot be made from a profile.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// A compatible server or Azure resource has no address.
    #[error("profile of provider `{0}` has no `base_url`")]
    NoBaseUrl(&'static str),
    /// The address cannot be used.
    #[error("`base_url` is not an http or https address: {0}")]
    BadBaseUrl(String),
    /// There is no key.
    #[error("provider `{0}` needs a key: set `api_key_env` or `api_key_command` in its profile")]
    NoKey(&'static str),
    /// The name of the effort is not known.
    #[error(
        "`reasoning_effort = \"{0}\"` is not one of none, minimal, low, medium, high, xhigh, max"
    )]
    Effort(String),
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made")]
    Http(#[source] reqwest::Error),
}

/// A server reached over the network.
pub struct Server {
    client: genai::Client,
    target: ServiceTarget,
    profile: Profile,
    effort: Option<ReasoningEffort>,
}

impl Server {
    /// Makes a client for a profile; `key` is what its `api_key…` fields resolve to.
    ///
    /// # Errors
    /// If the profile lacks something that its provider needs.
    pub fn new(profile: &Profile, key: Option<&SecretString>) -> Result<Server, ClientError> {
        let key = key.or(profile.api_key.as_ref());
        if key.is_none() && profile.provider.needs_key() {
            return Err(ClientError::NoKey(profile.provider.name()));
        }
        let http = reqwest::Client::builder()
            .connect_timeout(profile.connect_timeout())
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(ClientError::Http)?;
        Ok(Server {
            client: genai::Client::builder()
                .with_reqwest(http)
                .build()
                .map_err(|e| ClientError::BadBaseUrl(e.to_string()))?,
            target: target(profile, key)?,
            effort: effort(profile)?,
            profile: profile.clone(),
        })
    }

    fn options(&self, chat: &Chat, notes: &Arc<Mutex<Notes>>) -> ChatOptions {
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_tool_calls(true)
            .with_capture_raw_body(true)
            .with_normalize_reasoning_content(true)
            .with_stream_header_timeout(self.profile.read_timeout())
            .with_stream_read_timeout(self.profile.read_timeout());
        if let Some(temperature) = self.profile.temperature {
            options = options.with_temperature(temperature);
        }
        if let Some(most) = chat.max_output_tokens.or(self.profile.max_output_tokens) {
            options = options.with_max_tokens(most);
        }
        if let Some(effort) = &self.effort {
            options = options.with_reasoning_effort(effort.clone());
        }
        if !self.profile.headers.is_empty() && self.profile.provider != Provider::Azure {
            let headers: Vec<(String, String)> = self.profile.headers.clone().into_iter().collect();
            options = options.with_extra_headers(Headers::from(headers));
        }
        options = match (chat.level, &chat.schema) {
            (Level::Schema, Some(schema)) => options.with_response_format(
                ChatResponseFormat::JsonSpec(JsonSpec::new("conclusion", schema.clone())),
            ),
            (Level::Tool, Some(_)) => options.with_tool_choice(ToolChoice::tool(SUBMIT)),
            (Level::JsonObject, Some(_)) => {
                options.with_response_format(ChatResponseFormat::JsonMode)
            }
            _ => options,
        };
        let notes = Arc::clone(notes);
        options.with_raw_frame_fn(move |_, frame| {
            if let (Some(json), Ok(mut notes)) = (frame.json(), notes.lock()) {
                notes.take(&json);
            }
        })
    }

    fn target_for(&self, _: &Chat) -> ServiceTarget {
        self.target.clone()
    }

    async fn stream(
        &self,
        chat: &Chat,
        pieces: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<Reply, CallError> {
        let notes = Arc::new(Mutex::new(Notes::default()));
        let options = self.options(chat, &notes);
        let provider = self.profile.provider;
        let response = self
            .client
            .exec_chat_stream(self.target_for(chat), request(chat), Some(&options))
            .await
            .map_err(|error| failure::sort(provider, &error, false))?;
        let mut stream = response.stream;
        let mut text = String::new();
        let mut thoughts = String::new();
        let mut end: Option<StreamEnd> = None;
        while let Some(event) = stream.next().await {
            match event.map_err(|error| failure::sort(provider, &error, !text.is_empty()))? {
                ChatStreamEvent::Chunk(chunk) => {
                    pieces(Piece::Text(&chunk.content));
                    text.push_str(&chunk.content);
                }
                ChatStreamEvent::ReasoningChunk(chunk) => {
                    pieces(Piece::Thought(&chunk.content));
                    thoughts.push_str(&chunk.content);
                }
                ChatStreamEvent::End(ended) => end = Some(ended),
                _ => {}
            }
            if text.len() + thoughts.len() > MAX_ANSWER_BYTES {
                return Err(too_much());
            }
        }
        let notes = notes.lock().map(|notes| notes.clone()).unwrap_or_default();
        settle(chat, text, thoughts, end, &notes)
    }

    async fn whole(&self, chat: &Chat) -> Result<Reply, CallError> {
        let notes = Arc::new(Mutex::new(Notes::default()));
        let options = self.options(chat, &notes);
        let response = self
            .client
            .exec_chat(self.target_for(chat), request(chat), Some(&options))
            .await
            .map_err(|error| failure::sort(self.profile.provider, &error, false))?;
        let mut notes = Notes::default();
        if let Some(body) = &response.captured_raw_body {
            notes.take(body);
        }
        let end = StreamEnd {
            captured_usage: Some(response.usage),
            captured_stop_reason: response.stop_reason,
            captured_content: Some(response.content),
            captured_reasoning_content: response.reasoning_content,
            captured_response_id: None,
        };
        let text = end
            .captured_texts()
            .map(|texts| texts.concat())
            .unwrap_or_default();
        if text.len() > MAX_ANSWER_BYTES {
            return Err(too_much());
        }
        let thoughts = end.captured_reasoning_content.clone().unwrap_or_default();
        settle(chat, text, thoughts, Some(end), &notes)
    }
}

impl Transport for Server {
    fn send<'a>(
        &'a self,
        chat: &'a Chat,
        pieces: &'a mut (dyn FnMut(Piece<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        let deadline = self.profile.timeout();
        async move {
            let call = async {
                if chat.stream {
                    self.stream(chat, pieces).await
                } else {
                    self.whole(chat).await
                }
            };
            match tokio::time::timeout(deadline, call).await {
                Ok(result) => result,
                Err(_) => Err(CallError::Transient {
                    reason: format!("no whole answer within {} s", deadline.as_secs()),
                    wait: None,
                    had_text: true,
                }),
            }
        }
        .boxed()
    }
}

/// What the frames say that genai leaves out.
#[derive(Debug, Clone, Default)]
struct Notes {
    refusal: String,
    finish: Option<String>,
}

impl Notes {
    fn take(&mut self, json: &Value) {
        let texts = ["/choices/0/delta/refusal", "/choices/0/message/refusal"];
        for text in texts
            .iter()
            .filter_map(|pointer| json.pointer(pointer)?.as_str())
        {
            self.refusal.push_str(text);
        }
        if json["type"] == "response.refusal.delta" {
            self.refusal
                .push_str(json["delta"].as_str().unwrap_or_default());
        }
        let reasons = [
            "/choices/0/finish_reason",
            "/delta/stop_reason",
            "/candidates/0/finishReason",
            "/stop_reason",
        ];
        if let Some(reason) = reasons
            .iter()
            .find_map(|pointer| json.pointer(pointer)?.as_str())
        {
            self.finish = Some(reason.to_owned());
        }
        if let Some(reason) = json
            .pointer("/promptFeedback/blockReason")
            .and_then(Value::as_str)
        {
            self.refusal.push_str(reason);
        }
    }
}

fn too_much() -> CallError {
    CallError::Permanent {
        reason: format!(
            "the answer went on beyond {} KB and was stopped",
            MAX_ANSWER_BYTES >> 10
        ),
        hint: "set `max_output_tokens` in the profile, or choose another model".to_owned(),
    }
}

/// Judges how an answer ended.
fn settle(
    chat: &Chat,
    text: String,
    thoughts: String,
    end: Option<StreamEnd>,
    notes: &Notes,
) -> Result<Reply, CallError> {
    if !notes.refusal.is_empty() {
        return Err(CallError::Refused {
            reason: notes.refusal.clone(),
        });
    }
    let had_text = !text.is_empty();
    let cut_short = end.is_none() && notes.finish.is_none();
    if cut_short {
        return Err(CallError::Transient {
            reason: "the answer was cut short".to_owned(),
            wait: None,
            had_text,
        });
    }
    let finish = end
        .as_ref()
        .and_then(|e| e.captured_stop_reason.as_ref())
        .map_or(Finish::Done, finish_of);
    let submitted = end.as_ref().and_then(|e| submitted(chat, e));
    let usage = end.as_ref().and_then(|e| e.captured_usage.as_ref());
    let count = |n: Option<i32>| n.and_then(|n| u64::try_from(n).ok());
    let reply = Reply {
        text: submitted.unwrap_or(text),
        thoughts,
        finish,
        tokens_in: usage.and_then(|u| count(u.prompt_tokens)),
        tokens_out: usage.and_then(|u| count(u.completion_tokens)),
    };
    if reply.text.trim().is_empty() {
        return Err(empty(&reply, notes));
    }
    Ok(reply)
}

/// An empty answer is worth another try unless a filter or the token limit made it so.
fn empty(reply: &Reply, notes: &Notes) -> CallError {
    match reply.finish {
        Finish::Filtered => CallError::Refused {
            reason: notes
                .finish
                .clone()
                .unwrap_or_else(|| "filtered".to_owned()),
        },
        Finish::Length => CallError::Permanent {
            reason: "the model used up its tokens before it answered".to_owned(),
            hint: "raise `max_output_tokens` in the profile, or lower `reasoning_effort`"
                .to_owned(),
        },
        Finish::Done => CallError::Transient {
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

fn request(chat: &Chat) -> ChatRequest {
    let mut messages = vec![ChatMessage::user(&chat.user)];
    if let Some((answer, faults)) = &chat.repair {
        messages.push(ChatMessage::assistant(answer));
        messages.push(ChatMessage::user(faults));
    }
    let mut request = ChatRequest::new(messages).with_system(&chat.system);
    if let (Level::Tool, Some(schema)) = (chat.level, &chat.schema) {
        let tool = Tool::new(SUBMIT)
            .with_description("Hands in the conclusion of this step.")
            .with_schema(schema.clone());
        request = request.with_tools(vec![tool]);
    }
    request
}

fn adapter(provider: Provider) -> AdapterKind {
    match provider {
        Provider::OpenAiResponses => AdapterKind::OpenAIResp,
        Provider::Anthropic => AdapterKind::Anthropic,
        Provider::Gemini => AdapterKind::Gemini,
        // All others speak OpenAI's chat protocol; their own adapters add fields that not every
        // model of theirs takes (DeepSeek's switches thinking on).
        _ => AdapterKind::OpenAI,
    }
}

fn target(profile: &Profile, key: Option<&SecretString>) -> Result<ServiceTarget, ClientError> {
    let provider = profile.provider;
    let base = profile
        .base_url
        .as_deref()
        .or(provider.base_url())
        .ok_or(ClientError::NoBaseUrl(provider.name()))?;
    let url = reqwest::Url::parse(base).map_err(|_| ClientError::BadBaseUrl(base.to_owned()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(ClientError::BadBaseUrl(base.to_owned()));
    }
    let base = format!("{}/", base.trim_end_matches('/'));
    // A server that needs no key still gets one: the client insists on it.
    let key = key.map_or_else(|| "none".to_owned(), |k| k.expose_secret().to_owned());
    let auth = if provider == Provider::Azure {
        azure(profile, &base, key)
    } else {
        AuthData::from_single(key)
    };
    Ok(ServiceTarget {
        endpoint: Endpoint::from_owned(base),
        auth,
        model: ModelIden::new(adapter(provider), profile.model.clone()),
    })
}

/// Azure has the deployment in the path and the key in a header of its own.
fn azure(profile: &Profile, base: &str, key: String) -> AuthData {
    let url = match &profile.api_version {
        Some(version) => {
            format!(
                "{base}openai/deployments/{}/chat/completions?api-version={version}",
                profile.model
            )
        }
        None => format!("{base}openai/v1/chat/completions"),
    };
    let mut headers = vec![("api-key".to_owned(), key)];
    headers.extend(profile.headers.clone());
    AuthData::RequestOverride {
        url,
        headers: Headers::from(headers),
    }
}

/// The effort to ask for. For OpenAI's protocol "no wish" must be said, or it would be read from
/// the end of the model's name.
fn effort(profile: &Profile) -> Result<Option<ReasoningEffort>, ClientError> {
    match profile.reasoning_effort.as_deref() {
        Some(name) => ReasoningEffort::from_keyword(name)
            .map(Some)
            .ok_or_else(|| ClientError::Effort(name.to_owned())),
        None if matches!(
            adapter(profile.provider),
            AdapterKind::OpenAI | AdapterKind::OpenAIResp
        ) =>
        {
            Ok(Some(ReasoningEffort::Budget(0)))
        }
        None => Ok(None),
    }
}

/// Longest wait that a server may ask for.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(120);
