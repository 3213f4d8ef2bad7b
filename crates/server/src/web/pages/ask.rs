//! Questions about a run: as a form that leads back to the page, or with the answer as it comes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::{Serde, Value};
use report::{Evidence, ReasonerKind, visible};
use runs::store::Turn;
use serde::{Deserialize, Serialize};

use super::minute;
use crate::error::Result;
use crate::question::Answered;
use crate::web::app::App;
use crate::web::asking::{Asking, Seen, ask as start};
use crate::web::guard::Change;
use crate::web::visitor::Visitor;

/// Characters of a question.
const QUESTION: usize = 2000;
/// Time between two parts of an answer: all of it so far is sent each time.
const PACE: Duration = Duration::from_millis(60);

/// A question and its answer, for the template.
#[derive(Serialize)]
pub(super) struct Said {
    question: String,
    text: String,
    evidence: Vec<Evidence>,
    /// The phrase for the author of the answer.
    by: &'static str,
    at: String,
}

impl Said {
    pub(super) fn of(turn: &Turn) -> Said {
        Said {
            at: minute(&turn.created_at),
            ..Said::new(&turn.question, &turn.text, &turn.evidence, turn.reasoner)
        }
    }

    fn new(question: &str, text: &str, evidence: &[Evidence], reasoner: ReasonerKind) -> Said {
        Said {
            question: question.to_owned(),
            text: text.to_owned(),
            evidence: evidence.to_vec(),
            by: match reasoner {
                ReasonerKind::Offline => "by_rules",
                ReasonerKind::Llm => "by_llm",
            },
            at: String::new(),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Asked {
    question: String,
}

/// A script gets the answer as server-sent events, a form the page of the run.
pub(super) async fn ask(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    headers: HeaderMap,
    Path(run): Path<String>,
    Change(asked): Change<Asked>,
) -> Response {
    let question = match question(&asked.question) {
        Ok(question) => question,
        Err(error) => return app.explain(&visitor, &error),
    };
    let asking = start(&app, &visitor, run, question);
    if headers.contains_key("x-requested-with") {
        return stream(app, visitor, asking);
    }
    match asking.answer(&app.stop).await {
        Some(Ok(answered)) => {
            let back = format!("/runs/{}#asked", answered.run_id);
            Redirect::to(&back).into_response()
        }
        Some(Err(error)) => app.explain(&visitor, &error),
        None => app.refuse(&visitor, StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn question(text: &str) -> Result<String> {
    let length = text.trim().chars().count();
    if (1..=QUESTION).contains(&length) {
        return Ok(text.trim().to_owned());
    }
    Err(error!(
        Usage: "问题须有 1 到 {QUESTION} 个字符", "a question has 1 to {QUESTION} characters";
        "请修改后再问", "change it and ask again"
    ))
}

fn stream(app: Arc<App>, visitor: Visitor, asking: Asking) -> Response {
    let events = futures::stream::unfold(Some(asking), move |asking| {
        let (app, visitor) = (Arc::clone(&app), visitor.clone());
        async move {
            let mut asking = asking?;
            let seen = asking.next(&app.stop).await?;
            let rest = match &seen {
                Seen::End(_) => None,
                Seen::Text(_) | Seen::Remark(_) => {
                    tokio::time::sleep(PACE).await;
                    Some(asking)
                }
            };
            Some((Ok::<_, Infallible>(event(&app, &visitor, seen)), rest))
        }
    });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

fn event(app: &App, visitor: &Visitor, seen: Seen) -> Event {
    let (name, data) = match seen {
        Seen::Text(text) => ("text", text),
        Seen::Remark(text) => ("remark", text),
        Seen::End(Ok(answered)) => match turn(app, visitor, &answered) {
            Ok(html) => ("answer", html),
            Err(error) => ("failure", error.one_line()),
        },
        Seen::End(Err(error)) => {
            let hint = error.hint.as_deref().unwrap_or_default();
            let text = format!("{}\n{hint}", error.one_line());
            ("failure", visible(llm::hide(&text).trim_end()).into_owned())
        }
    };
    Event::default().event(name).data(data)
}

/// The answer as the page has it.
fn turn(app: &App, visitor: &Visitor, answered: &Answered) -> Result<String> {
    let Answered {
        question,
        text,
        evidence,
        engine,
        ..
    } = answered;
    let said = Said::new(question, text, evidence, engine.reasoner);
    let base = format!("/runs/{}", answered.run_id);
    let content = context! { turn => Value::from(Serde(&said)), base };
    app.render(visitor.language, "turn.html", content)
}
