//! A run's report, feedback on its suggestions, and what can be downloaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use render::html::{Passage, Served, body, prose};
use report::{Report, visible_line};
use runs::store::{Action, Feedback, FeedbackRow, RunStatus};
use serde::Deserialize;

use crate::compare::no_report;
use crate::error::{Error, ErrorKind, Result};
use crate::web::app::{App, template};
use crate::web::guard::Change;
use crate::web::visitor::Visitor;

pub(super) async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(run): Path<String>,
) -> Response {
    app.answer(visitor, move |app, visitor| {
        if let Some(progress) = app.analyses.find(&run) {
            let seen = progress.seen(0);
            let failure = seen.end.clone().flatten();
            if seen.end.is_none() || failure.is_some() {
                let content = context! { run_id => &progress.run_id, job => visible_line(&progress.job), lines => seen.lines, failure };
                return app.page(visitor, "progress.html", content);
            }
        }
        report_page(app, visitor, &run)
    })
    .await
}

fn report_page(app: &App, visitor: &Visitor, run: &str) -> Result<Response> {
    let (row, feedback) = app
        .session
        .with_store(|store| Ok((store.run(run)?, store.feedback_of(run)?)))?;
    if row.verdict.is_none() {
        let failure = row.failure.unwrap_or_else(|| match row.status {
            RunStatus::Running => "the run is in progress in another process".to_owned(),
            _ => no_report(run).message,
        });
        let content = context! { run_id => row.run_id, job => visible_line(&row.job), failure => visible_line(&failure) };
        return app.page(visitor, "progress.html", content);
    }
    let key = format!("{} {feedback:?}", row.run_id);
    let body = app.kept_body(key, || report_body(app, &row.run_id, &feedback))?;
    let content = context! {
        run_id => row.run_id,
        name => visible_line(row.job_name.as_deref().unwrap_or(&row.job)),
        job => visible_line(&row.job),
        owner => row.owner.as_deref().map(visible_line),
        at => row.created_at.get(..16).unwrap_or_default().replace('T', " "),
        question => row.question,
        body => minijinja::Value::from_safe_string(body.to_string()),
    };
    app.page(visitor, "run.html", content)
}

fn report_body(app: &App, run: &str, feedback: &[FeedbackRow]) -> Result<String> {
    let report = app.session.report(run)?;
    let summary = app.session.with_store(|store| store.summary(run))?;
    let done = |row: &FeedbackRow| {
        let done = match row.action {
            Action::Accept => "accepted",
            Action::Ignore => "ignored",
        };
        (row.suggestion.clone(), done)
    };
    let served = Served {
        token: app.form_token.clone(),
        passages: passages(app, &report),
        feedback: feedback.iter().map(done).collect(),
    };
    let (language, summary) = (report.language, summary.unwrap_or_default());
    let body = body(app.templates(language), &report, &summary, &served);
    let body = body.map_err(|e| template(&e))?;
    Ok(format!(
        "<div class=\"report\" lang=\"{}\">{body}</div>",
        language.code()
    ))
}

/// The passages that suggestions cite, as far as the index has them.
fn passages(app: &App, report: &Report) -> BTreeMap<String, Passage> {
    let Ok(index) = app.session.index() else {
        return BTreeMap::new();
    };
    let cited = report.suggestions.iter().flat_map(|s| &s.sources);
    let known = cited.filter_map(|id| {
        let chunk = index.chunk(id)?;
        let title = [std::slice::from_ref(&chunk.title), &chunk.heading_path];
        let passage = Passage {
            title: title.concat().join(" › "),
            html: prose::render(&chunk.text),
        };
        Some((id.clone(), passage))
    });
    known.collect()
}

#[derive(Deserialize)]
pub(super) struct Opinion {
    suggestion: String,
    /// `accept`, `ignore` or `undo`.
    action: String,
}

pub(super) async fn feedback(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(run): Path<String>,
    Change(opinion): Change<Opinion>,
) -> Response {
    app.answer(visitor, move |app, _| {
        let Opinion { suggestion, action } = opinion;
        app.session.with_store(|store| {
            let action = match action.as_str() {
                "accept" => Action::Accept,
                "ignore" => Action::Ignore,
                _ => return store.undo_feedback(&run, &suggestion),
            };
            let feedback = Feedback {
                action,
                suggestion: suggestion.clone(),
                note: None,
                saved_seconds: None,
            };
            store.give_feedback(&run, &feedback).map(drop)
        })?;
        // The store knows the suggestion, so its id is one.
        let back = format!("/runs/{run}#{suggestion}");
        Ok(Redirect::to(&back).into_response())
    })
    .await
}

/// The diff of a suggestion as a file: `S1.diff`.
pub(super) async fn diff(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((run, name)): Path<(String, String)>,
) -> Response {
    app.answer(visitor, move |app, _| {
        let report = app.session.report(&run)?;
        let id = name.strip_suffix(".diff").unwrap_or(&name);
        let mut suggestions = report.suggestions.iter();
        let found = suggestions.find_map(|s| s.diff.as_ref().filter(|_| s.id == id));
        let diff = found.ok_or_else(|| {
            let name = visible_line(id);
            Error::new(
                ErrorKind::Input,
                format!("no suggestion `{name}` of this run has a diff"),
            )
            .hint("the page of the run has a button for each diff")
        })?;
        Ok(file(
            "text/x-diff; charset=utf-8",
            &format!("{}.diff", report.run_id),
            diff.clone(),
        ))
    })
    .await
}

/// The report as a file in one of its forms.
pub(super) async fn download(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((run, form)): Path<(String, String)>,
) -> Response {
    app.answer(visitor, move |app, _| {
        let report = app.session.report(&run)?;
        let name = |extension: &str| format!("{}.{extension}", report.run_id);
        Ok(match form.as_str() {
            "json" => {
                let text = serde_json::to_string_pretty(&report);
                let text = text.map_err(|e| Error::from_source(ErrorKind::Other, &e))?;
                file("application/json", &name("json"), text)
            }
            "markdown" => file(
                "text/markdown; charset=utf-8",
                &name("md"),
                render::markdown::render(&report),
            ),
            "html" => {
                let summary = app.session.with_store(|store| store.summary(&run))?;
                let page = render::html::render(&report, &summary.unwrap_or_default());
                file(
                    "text/html; charset=utf-8",
                    &name("html"),
                    page.map_err(|e| template(&e))?,
                )
            }
            _ => {
                return Err(
                    Error::new(ErrorKind::Input, "there is no such form of a report")
                        .hint("a report is there as json, markdown and html"),
                );
            }
        })
    })
    .await
}

/// A download; a name holds an identifier of this program only.
fn file(kind: &'static str, name: &str, text: String) -> Response {
    let saved_as = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, saved_as),
    ];
    (headers, llm::hide(&text).into_owned()).into_response()
}
