//! Answers in the providers' protocols, whole and as events of a stream.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use super::dialect::Dialect;
use super::reply::{Fault, Said, Turn};

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// OpenAI's chat completions, which most others speak too.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's generateContent.
    Gemini,
}

impl Wire {
    /// The protocol of a path.
    pub(super) fn of(path: &str) -> Wire {
        let path = path.split('?').next().unwrap_or_default();
        if path.ends_with("/responses") {
            Wire::Responses
        } else if path.ends_with("/messages") {
            Wire::Anthropic
        } else if path.contains("enerateContent") {
            Wire::Gemini
        } else {
            Wire::Chat
        }
    }

    /// The answer as one body.
    pub(super) fn whole(self, turn: &Turn, dialect: Dialect, model: &str) -> String {
        if let Said::Raw(body) = &turn.said {
            return body.clone();
        }
        match self {
            Wire::Chat => chat::whole(turn, dialect, model),
            Wire::Responses => responses::whole(turn, model),
            Wire::Anthropic => anthropic::whole(turn, model),
            Wire::Gemini => gemini::whole(turn, model),
        }
        .to_string()
    }

    /// The answer as the frames of a stream.
    pub(super) fn frames(
        self,
        turn: &Turn,
        dialect: Dialect,
        model: &str,
        with_counts: bool,
    ) -> Vec<String> {
        let (mut events, ending) = match self {
            Wire::Chat => chat::events(turn, dialect, model, with_counts),
            Wire::Responses => responses::events(turn, model),
            Wire::Anthropic => anthropic::events(turn, model),
            Wire::Gemini => gemini::events(turn, model),
        };
        match &turn.fault {
            Some(Fault::NoEnd) => {}
            Some(Fault::ErrorEvent(error)) => events.push(match self {
                Wire::Chat | Wire::Gemini => Event::plain(serde_json::json!({ "error": error })),
                Wire::Anthropic => {
                    Event::named(serde_json::json!({ "type": "error", "error": error }))
                }
                Wire::Responses => {
                    let mut event = error.clone();
                    event["type"] = "error".into();
                    Event::named(event)
                }
            }),
            _ => events.extend(ending),
        }
        let end = if turn.crlf || self == Wire::Gemini {
            "\r\n"
        } else {
            "\n"
        };
        events.iter().map(|event| event.frame(end)).collect()
    }
}

/// An event of a stream.
struct Event {
    name: Option<String>,
    data: String,
}

impl Event {
    fn plain(data: serde_json::Value) -> Event {
        Event {
            name: None,
            data: data.to_string(),
        }
    }

    /// Named by its `type`.
    fn named(data: serde_json::Value) -> Event {
        Event {
            name: data["type"].as_str().map(str::to_owned),
            data: data.to_string(),
        }
    }

    fn done() -> Event {
        Event {
            name: None,
            data: "[DONE]".to_owned(),
        }
    }

    fn frame(&self, end: &str) -> String {
        let name = self
            .name
            .as_ref()
            .map_or(String::new(), |name| format!("event: {name}{end}"));
        format!("{name}data: {}{end}{end}", self.data)
    }
}

/// Events of the answer, and of its end.
type Events = (Vec<Event>, Vec<Event>);

/// Pieces of this many characters.
fn cut(text: &str, chars: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(chars.max(1))
        .map(|c| c.iter().collect())
        .collect()
}
