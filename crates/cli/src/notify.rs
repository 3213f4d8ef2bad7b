//! Messages to a webhook, Slack or Teams.

use std::time::Duration;

use report::format::Seconds;
use report::{Localize, Report, say};
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use server::{Error, ErrorKind, Result};

use crate::args::{MessageForm, Notify};

/// Time that a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Characters of a text; chats cut longer ones.
const LONGEST: usize = 2000;

/// What is said, whatever the form.
pub(crate) struct Message {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) facts: Vec<(String, String)>,
}

impl Message {
    /// The result of an analysis.
    pub(crate) fn of(report: &Report) -> Message {
        let words = render::Words::of(report);
        let causes: Vec<_> = report.findings.iter().map(|f| f.cause).collect();
        let mut facts = Vec::new();
        if let Some(seconds) = report.job.elapsed_seconds {
            let time = Seconds(seconds).localize(report.language);
            facts.push((report.language.select("用时", "time").to_owned(), time));
        }
        if let Some(first) = report.suggestions.first() {
            facts.push((words.first().to_owned(), first.title.clone()));
        }
        facts.push((words.run().to_owned(), report.run_id.clone()));
        Message {
            title: format!(
                "{}: {}",
                report.job.label(),
                words.verdict(report.verdict, &causes)
            ),
            text: report
                .findings
                .first()
                .map(|f| f.summary.clone())
                .unwrap_or_default(),
            facts,
        }
    }

    fn body(&self, form: MessageForm) -> Value {
        let cut = |text: &str| -> String {
            let shown = report::visible_line(text);
            shown.chars().take(LONGEST).collect()
        };
        let (title, text) = (cut(&self.title), cut(&self.text));
        let facts = || {
            self.facts
                .iter()
                .map(|(name, value)| (cut(name), cut(value)))
        };
        match form {
            MessageForm::Json => {
                let facts: Vec<Value> = facts()
                    .map(|(name, value)| json!({"name": name, "value": value}))
                    .collect();
                json!({"title": title, "text": text, "facts": facts})
            }
            MessageForm::Slack => {
                let facts: Vec<String> = facts()
                    .map(|(name, value)| format!("*{}*: {}", slack(&name), slack(&value)))
                    .collect();
                let body = format!(
                    "*{}*\n{}\n{}",
                    slack(&title),
                    slack(&text),
                    facts.join("\n")
                );
                let section = json!({"type": "section", "text": {"type": "mrkdwn", "text": body}});
                json!({"text": title, "blocks": [section]})
            }
            MessageForm::Teams => {
                let facts: Vec<Value> = facts()
                    .map(|(title, value)| json!({"title": title, "value": value}))
                    .collect();
                let block = |text: &str, weight: &str| json!({"type": "TextBlock", "text": text, "weight": weight, "wrap": true});
                let card = json!({
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": "1.4",
                    "body": [block(&title, "Bolder"), block(&text, "Default"), {"type": "FactSet", "facts": facts}],
                });
                let card = json!({"contentType": "application/vnd.microsoft.card.adaptive", "content": card});
                json!({"type": "message", "attachments": [card]})
            }
        }
    }
}

/// Text in which no character acts in Slack.
fn slack(text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    text.replace(['*', '`', '~'], "\u{2009}")
}

impl Notify {
    /// Sends a message; without an address, does nothing.
    ///
    /// # Errors
    /// If the receiver cannot be reached or refuses it.
    pub(crate) async fn send(&self, message: &Message) -> Result<()> {
        let Some(url) = &self.notify else {
            return Ok(());
        };
        let body = llm::hide(&message.body(self.notify_format).to_string()).into_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(Policy::none())
            .build();
        let request = client.map(|client| {
            client
                .post(url.clone())
                .header("content-type", "application/json")
                .body(body)
        });
        let sent = match request {
            Ok(request) => request
                .send()
                .await
                .and_then(reqwest::Response::error_for_status),
            Err(error) => Err(error),
        };
        // The address of a channel is a secret: errors leave it out.
        sent.map(drop).map_err(|error| {
            let reason = error.without_url().to_string();
            let text = say!(
                "消息未能送达：{reason}",
                "the message was not delivered: {reason}"
            );
            let hint = say!(
                "请检查 `--notify` 的地址",
                "check the address of `--notify`"
            );
            Error::new(ErrorKind::Other, text).hint(hint)
        })
    }
}
