//! Sends requests through genai and guards against its defaults:
//!
//! - The reasoning effort is never derived from the model name.
//! - A stream without an end counts as cut short unless the server gave a finish reason.
//! - Error messages come from status and body; genai's own text may contain the whole request.
//! - Refusals are read from the raw frames.
//! - Connections, pauses and requests have deadlines, and the [`relay`](crate::relay) bounds the
//!   answer; dropping the future closes the stream.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ChatStreamEvent, JsonSpec,
    MessageContent, ReasoningEffort, StreamEnd, Tool, ToolChoice, ToolResponse,
};
use genai::{Headers, ServiceTarget};
use secrecy::SecretString;
use serde_json::Value;

use crate::ending::{self, MAX_ANSWER_BYTES, RawDetails, SUBMIT};
use crate::failure;
use crate::profile::{Level, Profile, Provider};
use crate::relay::{self, Relay, Route};
use crate::target::{ClientError, base_url, effort, target};
use crate::transport::{CallError, Chat, Piece, Reply, Transport};
use crate::{ToolResult, ToolRound};

pub struct Server {
    /// Connects only to the relay of a request.
    client: genai::Client,
    /// Reaches the server.
    http: reqwest::Client,
    base: String,
    key: Option<SecretString>,
    profile: Profile,
    effort: Option<ReasoningEffort>,
    /// The mark of the fences, one for all requests: their common beginning stays the same for a provider's cache.
    mark: String,
}

impl Server {
    /// `key` is the resolved value of the profile's `api_key…` fields.
    pub fn new(profile: &Profile, key: Option<&SecretString>) -> Result<Server, ClientError> {
        let key = key.or(profile.api_key.as_ref());
        if key.is_none() && profile.provider.needs_key() {
            return Err(ClientError::NoKey(profile.provider.name()));
        }
        // Fails if a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            let builder = reqwest::Client::builder();
            builder.redirect(reqwest::redirect::Policy::none())
        };
        let http = builder().connect_timeout(profile.connect_timeout()).build();
        let local = builder().no_proxy().pool_max_idle_per_host(0).build();
        Ok(Server {
            client: genai::Client::builder()
                .with_reqwest(local.map_err(ClientError::Http)?)
                .build()
                .map_err(|e| ClientError::BadBaseUrl(e.to_string()))?,
            http: http.map_err(ClientError::Http)?,
            base: base_url(profile)?,
            key: key.cloned(),
            effort: effort(profile)?,
            profile: profile.clone(),
            mark: relay::random(),
        })
    }

    fn options(&self, chat: &Chat, details: &Arc<Mutex<RawDetails>>) -> ChatOptions {
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_tool_calls(true)
            .with_capture_raw_body(true)
            .with_normalize_reasoning_content(true);
        if let Some(temperature) = self.profile.temperature {
            options = options.with_temperature(temperature);
        }
        if let Some(most) = chat.max_output_tokens.or(self.profile.answer_limit()) {
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
        if self.profile.provider == Provider::Anthropic && self.effort.is_some() {
            // Signed reasoning must go back with the tool results.
            options = options.with_capture_reasoning_content(!chat.tools.is_empty());
        }
        let details = Arc::clone(details);
        options.with_raw_frame_fn(move |_, frame| {
            if let (Some(json), Ok(mut details)) = (frame.json(), details.lock()) {
                details.read(&json);
            }
        })
    }

    async fn stream(
        &self,
        chat: &Chat,
        target: ServiceTarget,
        pieces: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<Reply, CallError> {
        let details = Arc::new(Mutex::new(RawDetails::default()));
        let options = self.options(chat, &details);
        let provider = self.profile.provider;
        let response = self
            .client
            .exec_chat_stream(target, request(chat), Some(&options))
            .await
            .map_err(|error| failure::classify(provider, &error, false))?;
        let mut stream = response.stream;
        let mut text = String::new();
        let mut thoughts = String::new();
        let mut called = 0;
        let mut end: Option<StreamEnd> = None;
        while let Some(event) = stream.next().await {
            let event = event.map_err(|error| {
                let failed = details.lock().ok().and_then(|d| d.failed.clone());
                match failed {
                    Some(body) => failure::by_event(provider, &body, !text.is_empty()),
                    None => failure::classify(provider, &error, !text.is_empty()),
                }
            })?;
            match event {
                ChatStreamEvent::Chunk(chunk) => {
                    pieces(Piece::Text(&chunk.content));
                    text.push_str(&chunk.content);
                }
                ChatStreamEvent::ReasoningChunk(chunk) => {
                    pieces(Piece::Thought(&chunk.content));
                    thoughts.push_str(&chunk.content);
                }
                ChatStreamEvent::ToolCallChunk(chunk) => {
                    let arguments = &chunk.tool_call.fn_arguments;
                    called = called.max(arguments.as_str().map_or(0, str::len));
                }
                ChatStreamEvent::End(ended) => end = Some(ended),
                _ => {}
            }
            if text.len() + thoughts.len() + called > MAX_ANSWER_BYTES {
                return Err(ending::too_long());
            }
        }
        let details = details.lock().map(|d| d.clone()).unwrap_or_default();
        ending::reply(provider, chat, text, thoughts, end, &details)
    }

    async fn unstreamed(&self, chat: &Chat, target: ServiceTarget) -> Result<Reply, CallError> {
        let details = Arc::new(Mutex::new(RawDetails::default()));
        let options = self.options(chat, &details);
        let response = self
            .client
            .exec_chat(target, request(chat), Some(&options))
            .await
            .map_err(|error| failure::classify(self.profile.provider, &error, false))?;
        let mut details = RawDetails::default();
        if let Some(body) = &response.captured_raw_body {
            details.read(body);
        }
        let end = StreamEnd {
            captured_usage: Some(response.usage),
            captured_stop_reason: response.stop_reason,
            captured_content: Some(response.content),
            captured_reasoning_content: response.reasoning_content,
            captured_response_id: None,
        };
        let text = end.captured_texts().map(|texts| texts.concat());
        let text = text.unwrap_or_default();
        if text.len() > MAX_ANSWER_BYTES {
            return Err(ending::too_long());
        }
        let thoughts = end.captured_reasoning_content.clone().unwrap_or_default();
        let provider = self.profile.provider;
        ending::reply(provider, chat, text, thoughts, Some(end), &details)
    }

    /// Sends a request through a new relay.
    async fn relayed(
        &self,
        chat: &Chat,
        pieces: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<Reply, CallError> {
        let profile = &self.profile;
        let route = Route {
            client: &self.http,
            base: &self.base,
            is_stream: chat.stream,
            // An unstreamed answer starts only when it is complete.
            first_timeout: match chat.stream {
                true => profile.first_token_timeout(),
                false => profile.timeout(),
            },
            read_timeout: profile.read_timeout(),
        };
        let relay = Relay::open(route).await.map_err(|error| {
            let reason = format!("no connection on the loopback interface: {error}");
            failure::transient(reason, false)
        })?;
        let target = target(&self.profile, self.key.as_ref(), relay.base());
        let mut has_text = false;
        let mut pieces = |piece: Piece<'_>| {
            has_text |= matches!(piece, Piece::Text(text) if !text.is_empty());
            pieces(piece);
        };
        let call = async {
            if chat.stream {
                self.stream(chat, target, &mut pieces).await
            } else {
                self.unstreamed(chat, target).await
            }
        };
        let result = tokio::select! {
            biased;
            result = call => result,
            never = relay.serve() => match never {},
        };
        result.map_err(|error| match relay.failure() {
            Some(CallError::Transient { reason, wait, .. }) => CallError::Transient {
                reason,
                wait,
                had_text: has_text,
            },
            known => known.unwrap_or(error),
        })
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
            let chat = chat.with_mark(&self.mark);
            let call = self.relayed(&chat, pieces);
            let ended = tokio::time::timeout(deadline, call).await;
            ended.unwrap_or_else(|_| Err(CallError::timed_out(deadline)))
        }
        .boxed()
    }
}

fn request(chat: &Chat) -> ChatRequest {
    let mut messages = vec![ChatMessage::user(&chat.user)];
    for round in &chat.rounds {
        messages.extend(tool_messages(round));
    }
    if let Some((answer, faults)) = &chat.repair {
        messages.push(ChatMessage::assistant(answer));
        messages.push(ChatMessage::user(faults));
    }
    let tool = |name: &str, description: &str, schema: &Value| {
        let tool = Tool::new(name).with_description(description);
        tool.with_schema(schema.clone())
    };
    let offered = chat.tools.iter();
    let mut tools: Vec<Tool> = offered
        .map(|t| tool(&t.name, &t.description, &t.schema))
        .collect();
    if let (Level::Tool, Some(schema)) = (chat.level, &chat.schema) {
        let description = "Hands in the conclusion of this step.";
        tools.push(tool(SUBMIT, description, schema));
    }
    let request = ChatRequest::new(messages).with_system(&chat.system);
    if tools.is_empty() {
        request
    } else {
        request.with_tools(tools)
    }
}

fn tool_messages(round: &ToolRound) -> Vec<ChatMessage> {
    let Ok(message) = serde_json::from_value::<MessageContent>(round.message.clone()) else {
        return Vec::new();
    };
    let result = |r: &ToolResult| ToolResponse::new(&r.id, &r.text).with_fn_name(&r.name);
    let results: Vec<ToolResponse> = round.results.iter().map(result).collect();
    vec![ChatMessage::assistant(message), ChatMessage::from(results)]
}
