//! Questions about a run in progress: the partial answer, for the waiting visitor.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::{Event, Observer};
use report::{speaking, visible};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::app::App;
use super::visitor::Visitor;
use crate::error::{Error, ErrorKind, Result};
use crate::question::{Answered, Question};

/// A question that is being answered; dropping it ends the work.
pub(super) struct Asking {
    heard: Arc<Mutex<PartialAnswer>>,
    changed: watch::Receiver<()>,
    _stop: DropGuard,
}

/// The answer so far.
#[derive(Default)]
struct PartialAnswer {
    /// The raw answer of the model: the start of a JSON object.
    sent: String,
    /// What it waits for.
    remark: Option<String>,
    end: Option<Result<Answered>>,
}

/// The next event for a visitor.
pub(super) enum Seen {
    /// All of the answer so far.
    Text(String),
    Remark(String),
    End(Result<Box<Answered>>),
}

/// Has a question about a saved run answered, as soon as there is a place.
pub(super) fn ask(app: &Arc<App>, visitor: &Visitor, run: String, text: String) -> Asking {
    let stop = app.stop.child_token();
    let (tell, changed) = watch::channel(());
    let heard = Arc::new(Mutex::default());
    let question = Question {
        run,
        text,
        reasoner: app.reasoner.clone(),
        save: true,
        cancel: stop.clone(),
    };
    let mut teller = AnswerObserver {
        heard: Arc::clone(&heard),
        tell,
    };
    let (app, language) = (Arc::clone(app), visitor.language);
    let running = app.running.clone();
    let waiting = stop.clone();
    running.spawn(async move {
        let place = tokio::select! {
            place = app.questions.take() => place,
            () = waiting.cancelled() => return,
        };
        let place = match place {
            Ok(place) => place,
            Err(busy) => return teller.end(Err(Error::new(ErrorKind::Other, busy))),
        };
        let work = move || {
            let _place = place;
            let answered = speaking(language, || app.session.ask(&question, &mut teller));
            teller.end(answered);
        };
        // A panic drops the sender, which ends the answer.
        let _ = tokio::task::spawn_blocking(work).await;
    });
    Asking {
        heard,
        changed,
        _stop: stop.drop_guard(),
    }
}

impl Asking {
    /// The next event; `None` after the end, or if the answer failed without a reason.
    pub(super) async fn next(&mut self, stop: &CancellationToken) -> Option<Seen> {
        tokio::select! {
            () = stop.cancelled() => return None,
            change = self.changed.changed() => {
                let end = locked(&self.heard).end.take();
                if let Some(end) = end {
                    return Some(Seen::End(end.map(Box::new)));
                }
                change.ok()?;
            }
        }
        let heard = locked(&self.heard);
        let text = beginning(&heard.sent);
        Some(match (&heard.remark, text.is_empty()) {
            (Some(remark), true) => Seen::Remark(remark.clone()),
            _ => Seen::Text(text),
        })
    }

    /// The whole answer.
    pub(super) async fn answer(
        mut self,
        stop: &CancellationToken,
    ) -> Option<Result<Box<Answered>>> {
        loop {
            if let Seen::End(end) = self.next(stop).await? {
                return Some(end);
            }
        }
    }
}

/// Collects the text of an answer, without secrets.
struct AnswerObserver {
    heard: Arc<Mutex<PartialAnswer>>,
    tell: watch::Sender<()>,
}

impl AnswerObserver {
    fn end(&self, answered: Result<Answered>) {
        locked(&self.heard).end = Some(answered);
        self.tell.send_replace(());
    }
}

impl Observer for AnswerObserver {
    fn event(&mut self, event: Event<'_>) {
        {
            let mut heard = locked(&self.heard);
            match event {
                Event::Token { text, .. } => heard.sent.push_str(&text),
                // An answer that broke off, or that is no answer, is asked for again.
                Event::StepStarted { title, .. } => {
                    heard.sent.clear();
                    heard.remark = Some(title.into_owned());
                }
                Event::Retry { reason, .. } | Event::Fallback { reason } => {
                    heard.sent.clear();
                    heard.remark = Some(visible(&llm::hide(&reason)).into_owned());
                }
                _ => return,
            }
        }
        self.tell.send_replace(());
    }
}

/// The text of a partial answer: `{"text":"It is a ho` gives `It is a ho`.
fn beginning(json: &str) -> String {
    let found = json.split_once("\"text\"").and_then(|(_, rest)| {
        let value = rest.trim_start().strip_prefix(':')?.trim_start();
        value.strip_prefix('"')
    });
    let Some(value) = found else {
        return String::new();
    };
    let mut end = value.len();
    let mut escaped = false;
    for (at, c) in value.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    // An incomplete escape at the end is left out until its rest arrives.
    let whole = |length: usize| serde_json::from_str(&format!("\"{}\"", &value[..length])).ok();
    let text: Option<String> = (0..7)
        .filter_map(|less| {
            end.checked_sub(less)
                .filter(|at| value.is_char_boundary(*at))
        })
        .find_map(whole);
    let text = text.unwrap_or_default();
    visible(&llm::hide(&text)).into_owned()
}

fn locked(heard: &Mutex<PartialAnswer>) -> MutexGuard<'_, PartialAnswer> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_answer_reads_as_far_as_it_has_come() {
        for (json, expected) in [
            ("", ""),
            ("{\"te", ""),
            ("{\"text\": \"", ""),
            ("{\"text\": \"It is a ho", "It is a ho"),
            (r#"{"text":"a \"key\" of"#, "a \"key\" of"),
            (r#"{"text":"a \"key\" of\"#, "a \"key\" of"),
            (r#"{"text":"倾\u659"#, "倾"),
            (r#"{"text":"倾\u659c"#, "倾斜"),
            (r#"{"answer":{"text":"done","evidence":["E1"]}}"#, "done"),
        ] {
            assert_eq!(beginning(json), expected, "{json}");
        }
    }
}
